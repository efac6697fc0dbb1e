# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Bodies of platforms as SimGrid's manual teaches to write them, for patterns.py."""


def hosts(prefix, number):
    return "".join('<host id="%s%d" speed="1Gf"/>' % (prefix, i) for i in range(number))


def ring(routing):
    """Eight hosts around, each joined to the next; SimGrid finds the ways."""
    links = "".join('<link id="r%d" bandwidth="%dMBps" latency="%dus"/>' % (
        i, (125, 250, 500)[i % 3], (10, 20, 50)[i % 3]) for i in range(8))
    routes = "".join('<route src="h%d" dst="h%d"><link_ctn id="r%d"/></route>' % (
        i, (i + 1) % 8, i) for i in range(8))
    return '<zone id="ring" routing="%s">%s%s%s</zone>' % (routing, hosts("h", 8), links, routes)


# Routes said one by one, some other on the way back; cores, speeds and watts of hosts.
OFFICE = """
<zone id="office" routing="Full">
  <host id="alice" speed="2Gf,1Gf,0.5Gf" pstate="1" core="4">
    <prop id="wattage_per_state" value="95:120:200, 93:115:170, 90:110:150"/>
    <prop id="wattage_off" value="10"/>
    <disk id="scratch" read_bw="100MBps" write_bw="50MBps"><prop id="size" value="500GiB"/></disk>
  </host>
  <host id="bob" speed="1Gf" core="2"/><host id="carol" speed="1Gf"/><host id="dave" speed="4Gf"/>
  <link id="l1" bandwidth="125MBps" latency="50us"/><link id="l2" bandwidth="1GBps" latency="10us"/>
  <link id="l3" bandwidth="300MBps" latency="1ms"/>
  <link id="own" bandwidth="10GBps" latency="1us" sharing_policy="FATPIPE"/>
  <route src="alice" dst="alice"><link_ctn id="own"/></route>
  <route src="alice" dst="bob"><link_ctn id="l1"/></route>
  <route src="alice" dst="carol"><link_ctn id="l1"/><link_ctn id="l2"/></route>
  <route src="alice" dst="dave" symmetrical="NO"><link_ctn id="l1"/><link_ctn id="l3"/></route>
  <route src="dave" dst="alice" symmetrical="NO"><link_ctn id="l3"/><link_ctn id="l2"/></route>
  <route src="bob" dst="carol"><link_ctn id="l2"/></route>
  <route src="bob" dst="dave"><link_ctn id="l2"/><link_ctn id="l3"/></route>
  <route src="carol" dst="dave"><link_ctn id="l3"/></route>
</zone>"""

ROUTERS = '<zone id="tree" routing="Floyd">%s%s</zone>' % (
    hosts("h", 9) + "".join('<router id="r%d"/>' % i for i in range(3)) + '<router id="top"/>',
    "".join('<link id="l%d" bandwidth="125MBps" latency="20us"/>' % i for i in range(9))
    + "".join('<link id="u%d" bandwidth="300MBps" latency="10us"/>' % i for i in range(3))
    + "".join('<route src="h%d" dst="r%d"><link_ctn id="l%d"/></route>' % (i, i // 3, i)
              for i in range(9))
    + "".join('<route src="r%d" dst="top"><link_ctn id="u%d"/></route>' % (i, i)
              for i in range(3)))

PEERS = '<zone id="net" routing="Vivaldi">%s</zone>' % "".join(
    '<peer id="peer-%d" coordinates="%.1f %.1f %.1f" speed="1Gf" bw_in="%dMBps" bw_out="%dMBps"/>'
    % (i, 3.1 * i % 11, 7.7 * i % 13, 0.5 + i % 3, 10 + i, 5 + i) for i in range(8))

# Ways without links: latencies only.
COORDINATES = '<zone id="net" routing="Vivaldi">%s</zone>' % "".join(
    '<host id="h%d" speed="1Gf" coordinates="%d.5 %d 0.%d"/>' % (i, 7 * i % 5, 3 * i % 4, i)
    for i in range(6))

STAR = '<zone id="star" routing="Full">%s%s%s</zone>' % (
    hosts("h", 6), "".join('<link id="l%d" bandwidth="125MBps" latency="50us" '
                           'sharing_policy="SPLITDUPLEX"/>' % i for i in range(6)),
    "".join('<route src="h%d" dst="h%d" symmetrical="NO"><link_ctn id="l%d" direction="UP"/>'
            '<link_ctn id="l%d" direction="DOWN"/></route>' % (i, j, i, j)
            for i in range(6) for j in range(6) if i != j))

CABINETS = """
<zone id="machine" routing="Cluster">
  <cabinet id="one" prefix="c-" suffix=".org" radical="0-5" speed="1Gf" bw="125MBps" lat="20us"/>
  <cabinet id="two" prefix="d-" suffix=".org" radical="0-5" speed="2Gf" bw="250MBps" lat="10us"/>
  <router id="gate"/><backbone id="bb" bandwidth="500MBps" latency="5us"/>
</zone>"""

HOST_LINKS = '<zone id="machine" routing="Cluster">%s%s%s<backbone id="bb" bandwidth="500MBps" ' \
    'latency="5us"/></zone>' % (
        hosts("h", 6),
        "".join('<link id="up%d" bandwidth="125MBps" latency="20us"/><link id="down%d" '
                'bandwidth="200MBps" latency="10us"/>' % (i, i) for i in range(6)),
        "".join('<host_link id="h%d" up="up%d" down="down%d"/>' % (i, i, i) for i in range(6)))

# Zones in zones, of several kinds; a torus has no router: one of its hosts is its gate.
GRID = """
<zone id="grid" routing="Floyd">
  <zone id="france" routing="Full">
    <cluster id="lyon" prefix="lyon-" suffix="" radical="0-5" speed="1Gf" bw="125MBps" lat="50us"
             bb_bw="1GBps" bb_lat="10us" router_id="lyon-router"/>
    <zone id="nancy" routing="Dijkstra">
      <host id="nancy-0" speed="1Gf"/><host id="nancy-1" speed="1Gf"/><router id="nancy-router"/>
      <link id="n0" bandwidth="125MBps" latency="30us"/>
      <link id="n1" bandwidth="125MBps" latency="30us"/>
      <route src="nancy-0" dst="nancy-router"><link_ctn id="n0"/></route>
      <route src="nancy-1" dst="nancy-router"><link_ctn id="n1"/></route>
    </zone>
    <link id="lyon-nancy" bandwidth="200MBps" latency="3ms"/>
    <zoneRoute src="lyon" dst="nancy" gw_src="lyon-router" gw_dst="nancy-router">
      <link_ctn id="lyon-nancy"/></zoneRoute>
  </zone>
  <zone id="japan" routing="Full">
    <cluster id="tokyo" prefix="tokyo-" suffix="" radical="0-11" speed="1Gf" bw="1GBps" lat="1us"
             topology="TORUS" topo_parameters="3,2,2"/>
  </zone>
  <link id="sea" bandwidth="100MBps" latency="120ms"/>
  <zoneRoute src="france" dst="japan" gw_src="lyon-router" gw_dst="tokyo-0">
    <link_ctn id="sea"/></zoneRoute>
</zone>"""

BYPASS = """
<zone id="top" routing="Floyd">
  <zone id="a" routing="Full">%s
    <link id="la" bandwidth="125MBps" latency="20us"/><link id="short" bandwidth="1GBps" latency="1us"/>
    %s<bypassRoute src="a0" dst="a1"><link_ctn id="short"/></bypassRoute></zone>
  <zone id="b" routing="Full">%s<link id="lb" bandwidth="250MBps" latency="20us"/>
    <route src="b0" dst="b1"><link_ctn id="lb"/></route></zone>
  <zone id="c" routing="Full"><host id="c0" speed="1Gf"/></zone>
  <link id="ab" bandwidth="50MBps" latency="1ms"/><link id="bc" bandwidth="60MBps" latency="2ms"/>
  <link id="ac" bandwidth="10MBps" latency="100us"/>
  <zoneRoute src="a" dst="b" gw_src="a0" gw_dst="b0"><link_ctn id="ab"/></zoneRoute>
  <zoneRoute src="b" dst="c" gw_src="b0" gw_dst="c0"><link_ctn id="bc"/></zoneRoute>
  <bypassZoneRoute src="a" dst="c" gw_src="a0" gw_dst="c0"><link_ctn id="ac"/></bypassZoneRoute>
</zone>""" % (hosts("a", 3), "".join(
    '<route src="a%d" dst="a%d"><link_ctn id="la"/></route>' % (i, j)
    for i in range(3) for j in range(i)), hosts("b", 2))

CLUSTER = '<cluster id="c" prefix="n-" suffix=".cluster" speed="100Mf,50Mf" core="8" bw="1.25GBps" ' \
    'lat="1us" loopback_bw="10GBps" loopback_lat="100ns" %s/>'

PLATFORMS = (
    ("office", OFFICE),
    ("ring by Floyd", ring("Floyd")),
    ("ring by Dijkstra", ring("Dijkstra")),
    ("ring by DijkstraCache", ring("DijkstraCache")),
    ("routers", ROUTERS),
    ("peers", PEERS),
    ("coordinates", COORDINATES),
    ("star of split links", STAR),
    ("star of duplex links", STAR.replace("SPLITDUPLEX", "FULLDUPLEX")),
    ("cabinets", CABINETS),
    ("host links", HOST_LINKS),
    ("grid of zones", GRID),
    ("bypasses", BYPASS),
    ("some numbers", CLUSTER % 'radical="0-3,8,10-12" bb_bw="2GBps" bb_lat="100us"'),
    ("loopbacks of a fat tree", CLUSTER % 'radical="0-15" topology="FAT_TREE" '
     'topo_parameters="2;4,4;1,2;1,2"'),
    ("shared torus", CLUSTER % 'radical="0-26" topology="TORUS" topo_parameters="3,3,3" '
     'sharing_policy="SHARED" limiter_link="2GBps"'),
    ("shared dragonfly", CLUSTER % 'radical="0-23" topology="DRAGONFLY" '
     'topo_parameters="2,1;3,2;2,1;2" sharing_policy="SHARED"'),
)
