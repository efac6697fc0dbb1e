# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: quantities with units, as descriptions of machines have them."""
import math
import re

PREFIXES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
TIMES = {"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
NUMBER = r"([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*"


def prefixed(text, unit):
    """The number of "25 GB/s" where unit is a pattern such as "B/s"; None: it is none."""
    match = re.fullmatch(NUMBER + r"(%s)(%s)" % ("|".join(PREFIXES), unit), text.strip())
    return float(match.group(1)) * PREFIXES[match.group(2)] if match else None


def bandwidth(text):
    value = prefixed(text, r"B/s|Bps")
    if value is None:
        bits = prefixed(text, r"bit/s|bits/s|b/s|bps")
        value = bits / 8 if bits is not None else None
    return value


def duration(text):
    match = re.fullmatch(NUMBER + r"(%s)" % "|".join(TIMES), text.strip())
    return float(match.group(1)) * TIMES[match.group(2)] if match else None


def size(text):
    return prefixed(text, r"B|bytes")


def gflops(text):
    value = prefixed(text, r"(?i:flops?/s|flops?|f/s|f)")
    return value / 1e9 if value is not None else None


def count(text):
    return int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else None


def number(text):
    match = re.fullmatch(NUMBER, text.strip())
    return float(match.group(1)) if match else None


def lengths(text):
    parts = re.split(r"\s*[x,]\s*", text.strip().strip("[]"))
    return [int(part) for part in parts] if all(
        re.fullmatch("[0-9]{1,7}", part) for part in parts) else None


def numbers(text):
    parts = re.split(r"\s*,\s*", text.strip().strip("[]"))
    return [int(part) for part in parts] if all(re.fullmatch("[0-9]{1,6}", part) for part in parts) else None


# kind: (reader of a text, whether a bare number is one, what is expected)
KINDS = {
    "bandwidth": (bandwidth, True, "a bandwidth such as \"25 GB/s\" or \"200 Gbit/s\""),
    "time": (duration, True, "a time such as \"1.2 us\""),
    "bytes": (size, True, "a size such as \"80 GB\" or \"512 GiB\""),
    "gflops": (gflops, True, "a speed such as \"19.5 TFlop/s\""),
    "count": (count, True, "a whole number"),
    "number": (number, True, "a number"),
    "lengths": (lengths, False, "lengths such as [8, 8, 16]"),
    "numbers": (numbers, False, "numbers such as [0, 1]"),
    "text": (str, False, "a text in quotes"),
}


def read_quantity(kind, value):
    """The value in bytes, seconds, GFlop/s or as it is; None: it is no such quantity."""
    reader, takes_numbers, _ = KINDS[kind]
    if isinstance(value, bool):
        return None
    if kind == "lengths" and isinstance(value, list):
        return value if value and all(type(v) is int and v > 0 for v in value) else None
    if kind == "numbers" and isinstance(value, list):
        return value if all(type(v) is int and v >= 0 for v in value) else None
    if isinstance(value, (int, float)):
        if not takes_numbers or not 0 <= value < math.inf or (kind == "count" and value != int(value)):
            return None
        return int(value) if kind == "count" else float(value)
    return reader(value) if isinstance(value, str) else None
