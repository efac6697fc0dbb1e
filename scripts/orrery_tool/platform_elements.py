# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Platforms in XML: what SimGrid takes in silence, or refuses without saying what it expects."""
import difflib
import math
import re

from orrery_tool.platform_limits import usual, workers_doubt

# The attributes of SimGrid 3.32's elements, to tell which one was meant.
HOST = "id speed core pstate coordinates speed_file state_file"
ENDS = "src dst"
GATES = ENDS + " gw_src gw_dst"
ATTRIBUTES = {name: words.split() for name, words in {
    "platform": "version", "zone": "id routing", "AS": "id routing", "config": "id",
    "host": HOST, "prop": "id value", "router": "id coordinates", "disk": "id read_bw write_bw",
    "cluster": "id prefix suffix radical speed core bw lat sharing_policy topology topo_parameters "
               "bb_bw bb_lat bb_sharing_policy router_id limiter_link loopback_bw loopback_lat",
    "cabinet": "id prefix suffix radical speed bw lat",
    "peer": "id coordinates speed bw_in bw_out lat speed_file state_file",
    "link": "id bandwidth latency sharing_policy bandwidth_file latency_file state_file",
    "link_ctn": "id direction", "backbone": "id bandwidth latency", "host_link": "id up down",
    "route": ENDS + " symmetrical", "bypassRoute": ENDS, "zoneRoute": GATES + " symmetrical",
    "bypassZoneRoute": GATES, "ASroute": GATES + " symmetrical", "trace": "id file periodicity",
    "trace_connect": "kind trace element",
}.items()}
KNOWN = tuple(ATTRIBUTES) + ("include", "storage", "storage_type", "mount", "mstorage", "model_prop",
                             "bypassASroute", "actor", "process", "argument", "random")
VALUES = {
    "sharing_policy": "SHARED, SPLITDUPLEX or FATPIPE", "bb_sharing_policy": "SHARED or FATPIPE",
    "topology": "FLAT, TORUS, FAT_TREE or DRAGONFLY", "symmetrical": "YES or NO",
    "direction": "UP or DOWN",
}
ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "None", "Vivaldi")
MEANT = {"cores": "core", "power": "speed", "from": "src", "to": "dst", "name": "id",
         "availability_file": "speed_file", "source": "src", "destination": "dst"}
SHORT = {"bw": "bandwidth", "lat": "latency", "bandwidth": "bw", "latency": "lat"}
INSIDE = {"route": "<link_ctn id=\"...\"/>", "zoneRoute": "<link_ctn id=\"...\"/>",
          "cluster": "<prop id=\"...\" value=\"...\"/>"}
SHAPES = {
    "TORUS": (r"\d+(,\d+)*", "lengths: \"4,4,8\""),
    "FAT_TREE": (r"\d+(;\d+(,\d+)*){3}", "levels, then for each of them nodes below, switches above and "
                                         "cables: \"2;16,4;1,4;1,4\""),
    "DRAGONFLY": (r"(\d+,\d+;){3}\d+", "groups, chassis and routers with their cables, and nodes of a "
                                       "router: \"3,4;4,3;5,1;2\""),
}
# What is spoken of a GPU says nothing where there is none
OF_GPUS = ("gpu_mem_bytes", "pcie_bw", "pcie_lat", "host_bw", "host_shared", "host_peers", "nvlink_bw",
           "peer_access",
           "gpu_peak_sp_gflops", "gpu_peak_dp_gflops", "gpu_kernels", "gpu_speedup", "gpu_launch", "gpu_gap",
           "gpu_launches")
# How others call what has a name here
ALIASES = (
    ("gpus", r"(nb?|num|number_of|nbr)?_?(gpus?|cudas?|accelerators?|cuda_devices)(_(count|number|nb))?"),
    ("cpus", r"(nb?|num|number_of|nbr)_?(cpus?|cores?|workers?)|(cpus?|cores?)_(count|number|nb)|cores?"),
    ("numa_nodes", r"(nb?|num)_?numas?(_nodes)?|numas?(_count)?"),
    ("gpu_mem_bytes", r"(gpu|cuda|device)_?(mem(ory)?|ram)(_size|_bytes|_gb)?"),
)
SPEED = re.compile(r"\s*\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(.*?)\s*", re.S)
SPEED_UNIT = re.compile(r"(([kMGTPEZY]|[KMGTPEZY]i)?f|flops)?")


def unknown_element(name):
    """What is wrong with the name of an element, or "".  SimGrid names what stands around it."""
    near = difflib.get_close_matches(name, KNOWN, 1, 0.7) if name not in KNOWN else []
    return "SimGrid knows no such element; did you mean <%s>?" % near[0] if near else ""


def bad_attribute(words, name_of_file):
    """A sentence for what SimGrid calls a bad attribute, or ""."""
    found = re.search(r"error at \S*?:(\d+):.*Bad attribute `([^']*)' in `([^']*)'", words)
    if not found or found.group(3) not in ATTRIBUTES:
        return ""
    line, name, element = found.groups()
    known = ATTRIBUTES[element]
    where = "%s:%s: <%s>: " % (name_of_file, line, element)
    if name in known:
        return where + "the value of %s is none that SimGrid knows: expected %s" % (
            name, VALUES.get(name, "another one"))
    meant = next((word for word in (MEANT.get(name), SHORT.get(name)) if word in known), None) \
        or next(iter(difflib.get_close_matches(name, known, 1, 0.7)), None)
    if name == "power":
        return where + "power is called speed since version 4: simgrid_update_xml converts old files"
    return where + "SimGrid knows no attribute %s there; %s" % (
        name, "did you mean %s?" % meant if meant else
        "it has %s%s" % (", ".join(known), "; what is inside a node is said by <prop id=\"%s\" value=\"...\"/>"
                         % name if element in ("host", "cluster") else ""))


def misplaced(words, name_of_file):
    """The same for an element where none of its kind may be."""
    found = re.search(r"error at \S*?:(\d+):.*Starting tag <([^>]*)> is not allowed", words)
    if not found:
        return ""
    line, element = found.groups()
    remedy = {"link": "a <route> has <link_ctn id=\"...\"/> inside, and a <link> stands before all routes",
              "prop": "a <prop> stands inside <cluster> or <host>",
              "host": "a <host> stands inside <zone routing=\"...\">, before links and routes",
              "router": "a <router> stands inside <zone routing=\"...\">, before links and routes",
              "route": "a <route> stands inside <zone routing=\"...\">, behind hosts and links",
              }.get(element)
    return remedy and "%s:%s: <%s> is not allowed here: %s" % (name_of_file, line, element, remedy) or ""


def speed_mistake(value):
    """Of the operations per second of a host; several for its states."""
    for part in value.split(","):
        found = SPEED.fullmatch(part)
        if found and not SPEED_UNIT.fullmatch(found.group(1)):
            number = part.strip()[:-len(found.group(1))].strip()
            near = re.fullmatch(r"\s*([kmgtp]?)flops?(/s)?", found.group(1).lower())
            if near:
                return "speed=\"%s\": SimGrid knows no unit \"%s\"; did you mean \"%s%sf\"?" % (
                    value, found.group(1), number, near.group(1).upper().replace("K", "k"))
            return "speed=\"%s\": SimGrid knows no unit \"%s\"; write operations per second, such as " \
                "\"2.5Gf\"" % (value, found.group(1))
    return ""


def core_mistake(value):
    found = re.fullmatch(r"\s*0*([1-9]\d*)\s*", value)
    number = re.match(r"\s*([1-9]\d*)\D", value)
    return "" if found else "core=\"%s\": expected a whole number of 1 or more, without a unit%s" % (
        value, "; did you mean \"%s\"?" % number.group(1)
        if number and not re.match(r"\s*\d+[.,]\d", value) else "")


def places_of(topology, parameters):
    """How many hosts a topology has places for."""
    if topology == "TORUS":
        return math.prod(map(int, parameters.split(",")))
    if topology == "FAT_TREE":
        return math.prod(map(int, parameters.split(";")[1].split(",")))
    return math.prod(int(part.split(",")[0]) for part in parameters.split(";"))


def hosts_of(radical):
    """How many numbers it names; None: it is not understood."""
    parts = [re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part) for part in radical.split(",")]
    if not all(parts):
        return None
    return sum(int(part.group(2) or part.group(1)) - int(part.group(1)) + 1 for part in parts)


def topology_mistake(attributes):
    topology, parameters = attributes.get("topology", "FLAT"), attributes.get("topo_parameters")
    if topology not in SHAPES:
        return "topo_parameters changes nothing without topology=\"TORUS\", \"FAT_TREE\" or " \
            "\"DRAGONFLY\"; say which, or leave it out" \
            if parameters is not None and topology == "FLAT" else ""
    pattern, expected = SHAPES[topology]
    text = re.sub(r"\s", "", parameters or "")
    good = re.fullmatch(pattern, text) is not None
    if good and topology == "FAT_TREE":
        levels, *lists = text.split(";")
        good = all(len(part.split(",")) == int(levels) for part in lists)
    if not good:
        return "topo_parameters=\"%s\": expected for topology=\"%s\" %s" % (
            parameters or "", topology, expected)
    nhosts, nplaces = hosts_of(attributes.get("radical", "")), places_of(topology, text)
    if nhosts is not None and nhosts != nplaces:
        return "radical=\"%s\" names %d host%s, and topo_parameters=\"%s\" has %d places; make both " \
            "agree" % (attributes["radical"], nhosts, "s" * (nhosts != 1), parameters, nplaces)
    return ""


def cluster_mistake(attributes):
    for latency, bandwidth in (("bb_lat", "bb_bw"), ("loopback_lat", "loopback_bw")):
        if latency in attributes and bandwidth not in attributes:
            return "%s without %s: SimGrid makes a link without bandwidth, over which nothing comes; " \
                "say %s=\"10GBps\", too, or leave %s out" % (latency, bandwidth, bandwidth, latency)
    return topology_mistake(attributes)


def element_mistake(element, attributes):
    """What is wrong with an element's attributes, or ""."""
    said = ""
    if element in ("host", "cluster") and "core" in attributes:
        said = core_mistake(attributes["core"])
    if not said and "speed" in attributes:
        said = speed_mistake(attributes["speed"])
    if not said and element == "cluster":
        said = cluster_mistake(attributes)
    if not said and element == "peer" and "coordinates" not in attributes:
        said = "a peer needs coordinates=\"X Y Z\": with routing=\"Vivaldi\" they are the latencies " \
            "between peers, in milliseconds"
    routing = attributes.get("routing", ROUTINGS[0]).lower()
    if not said and element in ("zone", "AS") and routing not in [name.lower() for name in ROUTINGS]:
        near = difflib.get_close_matches(routing.title(), ROUTINGS, 1, 0.7)
        said = "routing=\"%s\": expected one of %s; %s" % (
            attributes["routing"], ", ".join(ROUTINGS), "did you mean \"%s\"?" % near[0] if near else
            "a fat tree, torus or dragonfly is a <cluster> with topology=\"...\" inside such a zone")
    return said


def element_doubt(element, attributes):
    """What is taken, and hardly meant, or ""."""
    radical = attributes.get("radical", "")
    if element == "cluster" and re.fullmatch(r"\s*([2-9]|\d{2,})\s*", radical):
        return "radical=\"%s\" is one host, number %s; for %s of them say \"0-%d\"" % (
            radical, radical.strip(), radical.strip(), int(radical) - 1)
    return ""


def alias_of(name):
    """The property that somebody means who calls it otherwise, or None."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return next((known for known, pattern in ALIASES if re.fullmatch(pattern, plain)), None)


def figure_doubt(name, value):
    """A number that no machine has, as one in other units, or ""."""
    plain = name.rpartition(".")[2]
    kind, key = ("bytes", "gpu_memory" if plain == "gpu_mem_bytes" else "memory") \
        if plain.endswith("_mem_bytes") else \
        ("bandwidth", plain.replace("_bw", "_bandwidth")) if plain.endswith("_bw") else \
        ("time", plain.replace("_lat", "_latency")) if plain.endswith("_lat") else \
        ("gflops", plain[:3] + "_sp") if plain.endswith("_gflops") else (None, None)
    range_ = usual(kind, key) if kind else None
    if not range_ or float(value) == 0 or range_[0][0] <= float(value) <= range_[0][1]:
        return ""
    return "%s is %s %s; is that meant? Usual are %s" % (name, value.strip(), range_[1], range_[2])


def holder_doubts(properties):
    """Sentences on the properties of a node, by their names, that say nothing together."""
    plain = {name.rpartition(".")[2] for name in properties}
    counts = [value for name, value in properties.items() if name.rpartition(".")[2] == "gpus"]
    idle = [name for name in OF_GPUS if name in plain]
    if idle and not any(float(value) for value in counts):
        yield "%s changes nothing while gpus says of no GPU; say <prop id=\"gpus\" value=\"1\"/>" \
            % " and ".join(idle[:2])
    if properties.get("cpus") and float(properties["cpus"]) == 0 and not counts:
        yield "cpus is 0 and there are no GPUs: nothing runs tasks; say how many, or leave cpus out"
    if properties.get("cpus") and workers_doubt("cpus", float(properties["cpus"])):
        yield workers_doubt("cpus", float(properties["cpus"]))


def malformed(text, line, words, innermost):
    """What is wrong with a file that is no XML, more than expat says.  innermost: the name of the
    element that is open, or None."""
    lines = text.split("\n")
    if not text.lstrip().startswith("<"):
        return "it begins like a description: \"orrery platform\" reads these in files NAME.toml" \
            if re.search(r"^\s*(nodes|network|link|like|bandwidth)\s*=", text, re.M) else ""
    here = lines[line - 1] if line <= len(lines) else ""
    if "mismatched tag" in words:
        found = re.search(r"</\s*([\w-]+)", here)
        return "</%s> stands where </%s> is expected" % (found.group(1), innermost) \
            if found and innermost else ""
    for number in range(max(0, line - 4), min(line, len(lines))):
        if re.search(r"&(?!(#\w+|\w+);)", lines[number]):
            return "line %d: write &amp; for a \"&\"" % (number + 1)
        if re.search(r"<!--.*--.+-->", lines[number]):
            return "line %d: a comment must not have \"--\" in it" % (number + 1)
        if re.sub(r"<!--.*?-->", "", lines[number]).count("\"") % 2:
            return "line %d: a quotation mark is missing" % (number + 1)
    return ""
