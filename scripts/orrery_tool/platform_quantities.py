# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Platforms in XML: units as SimGrid reads them, and figures that no machine has."""
import re

BANDWIDTHS = ("bw", "bandwidth", "bw_in", "bw_out", "bb_bw", "loopback_bw")
TIMES = ("lat", "latency", "bb_lat", "loopback_lat")
BANDWIDTH_UNIT = re.compile(r"([kMGTPEZY]|[KMGTPEZY]i)?[bB]ps")
TIME_UNIT = re.compile(r"[munp]?s|[wdhm]")
NUMBER = re.compile(r"\s*\+?((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(.*)", re.S)
LEAST_BYTES_PER_S, MOST_LATENCY_S = 1e4, 0.5  # of what is meant
PIECE = r"[0-9]+(:[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)+"
FACTORS = re.compile("%s(;%s)*;?" % (PIECE, PIECE))
MAX_PIECES = 32            # as src/sim/wire.h has it
COSTS = ("ABOVE_BYTES:SECONDS:SECONDS_PER_BYTE", "0:3e-7:0;65536:5e-7:0")
PARTS = ("ABOVE_BYTES:FACTOR", "0:0.8;65536:0.95")
PIECES = {"smpi/os": COSTS, "smpi/or": COSTS, "smpi/ois": COSTS, "smpi/bw-factor": PARTS,
          "smpi/lat-factor": PARTS}


def meant_bandwidth(unit):
    """SimGrid's unit for a wrong one, or ""."""
    found = re.fullmatch(r"([kKMGT]i?)?(b|bits?|B|[bB]ytes?)(/s|/sec|ps|)", unit.strip())
    if not found:
        return ""
    letter = "B" if re.match("B|byte", found.group(2)) else "b"
    return re.sub("^K$", "k", re.sub("^ki", "Ki", found.group(1) or "")) + letter + "ps"


def meant_time(unit):
    found = re.fullmatch("(n|u|\u00b5|\u03bc|m|)(s|sec|secs|seconds?)", unit.strip().lower())
    return re.sub("[\u00b5\u03bc]", "u", found.group(1)) + "s" if found else ""


def mistake(attribute, value):
    """What is wrong with a bandwidth or a time, or ""; numbers themselves are SimGrid's to judge."""
    found = NUMBER.fullmatch(value)
    if not found or not found.group(2):
        return ""
    number, unit = found.groups()
    good, meant, such = (BANDWIDTH_UNIT, meant_bandwidth, "1.25GBps or 10Gbps") \
        if attribute in BANDWIDTHS else (TIME_UNIT, meant_time, "1.2us")
    if good.fullmatch(unit):
        return ""
    return "%s=\"%s\": SimGrid knows no unit \"%s\"; %s" % (
        attribute, value, unit,
        "did you mean \"%s%s\"?" % (number, meant(unit)) if meant(unit) else
        "write it as " + such)


def doubt(attribute, value):
    """What is hardly meant, as a bare number that was in other units, or ""."""
    found = NUMBER.fullmatch(value)
    if not found or found.group(2):
        return ""
    number = float(found.group(1))
    if attribute in BANDWIDTHS and number < LEAST_BYTES_PER_S:
        return "%s=\"%s\" is %g bytes per second; is that meant?" % (attribute, value, number)
    if attribute in TIMES and number > MOST_LATENCY_S:
        return "%s=\"%s\" is %g seconds; is that meant?" % (attribute, value, number)
    return ""


def radical_mistake(radical):
    """What is wrong with the numbers of a cluster's hosts, or ""."""
    for part in radical.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if not found:
            return "radical=\"%s\" is not understood; expected something like \"0-1023\"" % radical
        if found.group(2) and int(found.group(1)) > int(found.group(2)):
            return "radical=\"%s\" names no host: did you mean \"%s-%s\"?" % (
                radical, found.group(2), found.group(1))
    return ""


def factors_mistake(name, value):
    """The same of SimGrid's properties and options on what a message costs, by its size."""
    if name not in PIECES or FACTORS.fullmatch(value) and value.strip(";").count(";") < MAX_PIECES:
        return ""
    expected, such = PIECES[name]
    return "%s is \"%s\", expected %s with ; between pieces, at most %d of them: \"%s\"" % (
        name, value, expected, MAX_PIECES, such)
