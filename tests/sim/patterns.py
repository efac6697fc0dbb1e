#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Transport "routes" shares links as SimGrid does: random patterns on many topologies.

usage: patterns.py [--seeds N] [--first SEED] [--table]
    --seeds: patterns on each platform; --first: others than those of the test
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import manual_platforms

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
PROGRAM = os.path.join(BUILD, "tests", "sim", "patterns-sim")

# Else SimGrid may load a link beyond its bandwidth: doc/decisions/011.
FULL = '<config><prop id="network/optim" value="Full"/></config>'
# Factors with what SimGrid takes for a slope elsewhere, and ignores here.
FACTORS = FULL.replace("</config>", '<prop id="smpi/bw-factor" value="0:0.3;1000:0.7;100000:0.9:1e-9"/>'
                       '<prop id="smpi/lat-factor" value="0:2:1e-6;5000:7"/></config>')
CLUSTER = ('<cluster id="%s" prefix="%s-" suffix="" radical="0-%d" speed="1Gf" bw="%s"'
           ' lat="%s" %s/>')

# name, nodes, bandwidth, attributes of a <cluster>
CLUSTERS = (
    ("pair", 4, "12.5GBps", ""),
    ("flat", 64, "25GBps", ""),
    ("half duplex", 32, "25GBps", 'sharing_policy="SHARED"'),
    ("backbone", 48, "12.5GBps", 'bb_bw="60GBps" bb_lat="1us"'),
    ("fatpipe backbone", 48, "12.5GBps",
     'bb_bw="5GBps" bb_lat="1us" bb_sharing_policy="FATPIPE"'),
    ("fat tree", 64, "25GBps", 'topology="FAT_TREE" topo_parameters="2;16,4;1,4;1,4"'),
    ("thin fat tree", 256, "25GBps", 'topology="FAT_TREE" topo_parameters="2;16,16;1,4;1,1"'),
    ("factors", 16, "1.25GBps", 'bb_bw="5GBps" bb_lat="20us"'),
    ("torus", 64, "8GBps", 'topology="TORUS" topo_parameters="4,4,4"'),
    ("dragonfly", 120, "15GBps",
     'topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"'),
)

# Slow ones, where a burst of short messages takes longer than the latency of one.
GIGABIT = (
    ("gigabit", 16, ""),
    ("gigabit fat tree", 64, 'topology="FAT_TREE" topo_parameters="3;4,4,4;1,4,4;1,1,1"'),
    ("gigabit torus", 12,
     'limiter_link="150MBps" topology="TORUS" topo_parameters="3,2,2"'),
)

# Two clusters of other speeds, joined by a fatpipe and by a link that both ways share.
MIXED = """
  <zone id="site" routing="Full">
    <cluster id="fast" prefix="fast-" suffix="" radical="0-23" speed="1Gf" bw="25GBps"
             lat="225ns" bb_bw="100GBps" bb_lat="300ns" router_id="fast-router"/>
    <cluster id="slow" prefix="slow-" suffix="" radical="0-39" speed="1Gf" bw="5GBps"
             lat="2us" router_id="slow-router"/>
    <link id="between" bandwidth="40GBps" latency="5us" sharing_policy="SHARED"/>
    <link id="wide" bandwidth="12GBps" latency="1us" sharing_policy="FATPIPE"/>
    <zoneRoute src="fast" dst="slow" gw_src="fast-router" gw_dst="slow-router">
      <link_ctn id="between"/><link_ctn id="wide"/>
    </zoneRoute>
  </zone>"""

# Sites of several hosts, joined by slow links that differ by the way.
WIDE = """
  <zone id="world" routing="Full">
    <cluster id="here" prefix="here-" suffix="" radical="0-5" speed="1Gf" bw="125MBps"
             lat="50us" router_id="here-router"/>
    <cluster id="there" prefix="there-" suffix="" radical="0-5" speed="1Gf" bw="1.25GBps"
             lat="10us" bb_bw="3GBps" bb_lat="1us" router_id="there-router"/>
    <link id="out" bandwidth="1GBps" latency="1ms"/>
    <link id="back" bandwidth="100MBps" latency="3ms"/>
    <zoneRoute src="here" dst="there" gw_src="here-router" gw_dst="there-router"
               symmetrical="NO"><link_ctn id="out"/></zoneRoute>
    <zoneRoute src="there" dst="here" gw_src="there-router" gw_dst="here-router"
               symmetrical="NO"><link_ctn id="back"/></zoneRoute>
  </zone>"""

# A dragonfly and another fast network, joined: what flows take of their way back is a
# twentieth, and on the other side of a slow link a level is a few times as high.
JOINED = """
  <zone id="two" routing="Full">
    <cluster id="a" prefix="a-" suffix="" radical="0-119" speed="1Gf" bw="10GBps" lat="1us"
             topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"/>
    <cluster id="b" prefix="b-" suffix="" radical="0-%d" speed="1Gf" bw="%s" lat="%s"
             topology="%s" topo_parameters="%s"/>
    <link id="between" bandwidth="%s" latency="%s"/>
    <zoneRoute src="a" dst="b" gw_src="a-0" gw_dst="b-0"><link_ctn id="between"/></zoneRoute>
  </zone>"""
JOINED_TORUS = JOINED % (63, "1GBps", "5us", "TORUS", "4,4,4", "20GBps", "10us")
JOINED_DRAGONFLY = JOINED % (35, "1.25GBps", "2us", "DRAGONFLY", "3,1;3,1;4,1;1", "2GBps",
                             "100us")
# Patterns that had messages which were 1 to 4 % off.
AGAIN = {"dragonfly and torus": (62917, 62944, 62971, 62998), "two dragonflies": (701134, 701170)}


# Links that take no time but for their bytes: SimGrid has other weights for their flows.
TIMELESS = """
  <zone id="chain" routing="Floyd">%s
  </zone>""" % "".join(
    ["<host id=\"h%d\" speed=\"1Gf\"/>" % i for i in range(6)]
    + ["<link id=\"l%d\" bandwidth=\"%dMBps\" latency=\"0\"/>" % (i, (100, 1000, 250)[i % 3])
       for i in range(5)]
    + ["<route src=\"h%d\" dst=\"h%d\"><link_ctn id=\"l%d\"/></route>" % (i, i + 1, i)
       for i in range(5)])

# Hosts with links 100 times as fast as others', each way a link of its own, all over one
# backbone.
HUNDREDFOLD = """
  <zone id="both" routing="Full">
    <cluster id="fast" prefix="fast-" suffix="" radical="0-19" speed="1Gf" bw="12.5GBps" lat="1us"
             sharing_policy="SPLITDUPLEX" router_id="fast-router"/>
    <cluster id="slow" prefix="slow-" suffix="" radical="0-43" speed="1Gf" bw="125MBps" lat="50us"
             sharing_policy="SPLITDUPLEX" router_id="slow-router"/>
    <link id="backbone" bandwidth="2GBps" latency="10us"/>
    <zoneRoute src="fast" dst="slow" gw_src="fast-router" gw_dst="slow-router">
      <link_ctn id="backbone"/></zoneRoute>
  </zone>"""

# Four cabinets, a rail between each two and each way.
RAILS = """
  <zone id="rails" routing="Full">%s
  </zone>""" % "".join(
    ['<cluster id="c%d" prefix="c%d-" suffix="" radical="0-15" speed="1Gf" bw="%dGBps" lat="1us"'
     ' router_id="r%d"/>' % (i, i, (10, 10, 5, 25)[i], i) for i in range(4)]
    + ['<link id="l%d%d" bandwidth="%dGBps" latency="3us" sharing_policy="%s"/>'
       % (i, j, 8 + 4 * (i + j), ("SHARED", "SHARED", "SPLITDUPLEX")[(i + j) % 3])
       for i in range(4) for j in range(i)]
    + ['<zoneRoute src="c%d" dst="c%d" gw_src="r%d" gw_dst="r%d">%s</zoneRoute>'
       % (i, j, i, j, '<link_ctn id="l%d%d"%s/>' % (i, j, ' direction="UP"' * ((i + j) % 3 == 2)))
       for i in range(4) for j in range(i)])

# From here on seeds know all kinds of patterns.
FIRST_OF_ALL, LATER_SEEDS = 1000000, 14


def platforms():
    """(name, body of the platform)"""
    for name, nodes, bandwidth, attributes in CLUSTERS:
        yield name, CLUSTER % ("cluster", "node", nodes - 1, bandwidth, "225ns", attributes)
    yield "two clusters", MIXED
    for name, nodes, attributes in GIGABIT:
        yield name, CLUSTER % ("cluster", "node", nodes - 1, "125MBps", "50us", attributes)
    yield "wide area", WIDE
    yield "dragonfly and torus", JOINED_TORUS
    yield "two dragonflies", JOINED_DRAGONFLY
    yield "no latency", TIMELESS
    yield "100 times as fast", HUNDREDFOLD
    yield "rails", RAILS
    yield from manual_platforms.PLATFORMS


def play(path, first, seeds):
    """(status, output)"""
    out = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", path, "-n", "1",
                          PROGRAM, str(first), str(seeds), "--times"],
                         text=True, timeout=300, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT,
                         env=dict(os.environ, ORRERY_BUILD=BUILD), check=False)
    return out.returncode, out.stdout


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    nfailed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-patterns-") as directory:
        for number, (name, body) in enumerate(platforms()):
            path = os.path.join(directory, name.replace(" ", "-") + ".xml")
            with open(path, "w", encoding="utf-8") as f:
                f.write("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                        '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
                        "%s\n%s\n</platform>\n" % (FACTORS if name == "factors" else FULL, body))
            series = [(options.first + number * options.seeds, options.seeds)]
            if options.first < FIRST_OF_ALL:
                series.append((FIRST_OF_ALL + number * LATER_SEEDS, LATER_SEEDS))
                series += [(seed, 1) for seed in AGAIN.get(name, ())]
            status, output = 0, ""
            for one in series:
                again, more = play(path, *one)
                status, output = status or again, output + more
            if options.table:
                print(output)
            differences = re.findall(r"a message differs by (\S+) %.* by (\S+) %", output)
            bad = re.findall(r"^FAIL .*,.*", output, re.MULTILINE)
            good = status == 0 and differences and not bad
            print("%s %s: %d patterns as SimGrid's flows" %
                  ("PASS" if good else "FAIL", name, sum(n for _, n in series))
                  + ("" if good else ": " + ("; ".join(bad) or output[-300:])), flush=True)
            nfailed += not good
    return 1 if nfailed else 0


if __name__ == "__main__":
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as conf:
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            sys.exit(77)
    sys.exit(main())
