# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report and compare: how numbers are said."""


def several(number, name):
    return "%d %s%s" % (number, name, "s" * (number != 1))


def plain(value, digits=3):
    """So many digits that count, and no exponent: 1180 and 0.00312, not 1.18e+03."""
    text = "%.*g" % (digits, value)
    if "e" in text or abs(value) >= 10 ** digits:
        text = "%.0f" % float(text) if abs(value) >= 1 else ("%.12f" % float(text)).rstrip("0")
    return text.rstrip(".")


def times(ratio, digits=3):
    """How often: 1.18 times, 1,180 times."""
    text = plain(ratio, digits)
    return "%s times" % (text if ratio < 1000 else "{:,}".format(int(text)))


def percent(value):
    return plain(100 * value) + " %"


def seconds(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if abs(value) * factor >= 1:
            return plain(value * factor, 4) + " " + unit
    return plain(value * 1e6) + " us" if abs(value) > 1e-10 else "0 us"


def gigabytes(value):
    for least, unit, name in ((1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB")):
        if value >= least:
            return plain(value / unit) + " " + name
    return plain(value) + " bytes"
