# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Platforms in XML: what is wrong with what they say of nodes, with line and element."""
import codecs
import difflib
import os
import re
import sys
import xml.parsers.expat

from orrery_tool.platform_elements import (alias_of, element_doubt, element_mistake, figure_doubt,
                                           holder_doubts, malformed, unknown_element)
from orrery_tool.platform_quantities import (BANDWIDTHS, TIMES, doubt, factors_mistake, mistake,
                                             radical_mistake)
from orrery_tool.platform_kinds import gpu_kinds_mistake, prefix_mistake, ranges_of
from orrery_tool.platform_limits import MAX_GPUS, MAX_NUMAS, MOST, text_mistake
from orrery_tool.platform_links import holder_mistakes
from orrery_tool.words import Refusal

TEXTS = ("cpu_model", "gpu_model", "kinds", "gpu_kinds", "gpu_links", "push_costs", "copy_factors", "small_copy_factors",
         "cold_costs", "gpu_kernels", "gpu_launches")
NUMBERS = ("cpus", "gpus", "gpu_mem_bytes", "pcie_bw", "pcie_lat", "host_bw", "host_shared",
           "spare_cores", "copies_messages", "submit_cost", "submit_datum_cost", "insert_cost",
           "post_cost", "push_cost", "fetch_cost", "wake_cost", "main_wake_cost", "poll_wait",
           "switch_cost", "page_cost", "exchange_cost", "lone_copy",
           "host_peers", "peer_access", "nvlink_bw", "disks", "disk_read_bw", "disk_write_bw", "disk_lat",
           "numa_nodes", "numa_bw", "numa_lat", "numa_mem_bytes", "cpu_peak_sp_gflops", "cpu_peak_dp_gflops",
           "gpu_peak_sp_gflops", "gpu_peak_dp_gflops", "cpu_speedup", "gpu_speedup", "gpu_launch", "gpu_gap")
NEEDED = ("id", "prefix", "suffix", "radical", "speed", "bw", "lat")
HOLDERS = ("cluster", "host", "cabinet", "peer")
# Of these SimGrid makes hosts without properties
BARE = {"cabinet": "a <cluster> has the same attributes, and properties of its nodes inside",
        "peer": "leave the properties out: STARPU_NCPU says how many CPU workers its node has, STARPU_HOSTNAME under "
                "which name its models are found"}
SWITCHES = ("host_shared", "peer_access", "copies_messages")
COUNTS = ("cpus", "gpus", "spare_cores", "disks", "numa_nodes", "host_peers") + SWITCHES
MOST_UNITS, MOST_BYTES = 1e6, 1e18  # as src/sim/machine.c has them
AT_MOST_1 = r"\w+_cost|poll_wait|lone_copy|gpu_launch|gpu_gap" # seconds, and a part
KINDS = r"\w+:\d+-\d+(;\w+:\d+-\d+)*;?"
NOT_NEGATIVE = BANDWIDTHS + TIMES + ("speed",)
MAX_NOTES = 5              # of a file
VERSIONS = ("4", "4.0", "4.1")
# What changes while a run goes on: (element, attribute): why it cannot be
PROFILES = {
    ("host", "state_file"): "machines that fail",
    ("link", "state_file"): "links that fail",
    ("peer", "state_file"): "machines that fail",
    ("link", "bandwidth_file"): "links whose bandwidth changes",
    ("link", "latency_file"): "links whose latency changes",
}
CONNECTED = {"HOST_AVAIL": "machines that fail", "LINK_AVAIL": "links that fail",
             "BANDWIDTH": "links whose bandwidth changes", "LATENCY": "links whose latency changes"}
# Options that SimGrid ends for without saying which
NUMBERS_ONLY = {"network/loopback-bw": "bytes per second", "network/loopback-lat": "seconds",
                "network/TCP-gamma": "bytes", "network/weight-S": "bytes",
                "network/latency-factor": "times", "network/bandwidth-factor": "times"}
NO_STORAGE = "SimGrid has none since version 3.27: leave it out; a host has its disks inside: <disk id=\"d\" " \
    "read_bw=\"100MBps\" write_bw=\"50MBps\"/>"
NO_ACTOR = "this is a deployment file, or a part of one, and a platform has none of it: \"orrery run\" starts the " \
    "ranks, -n says how many, --hostfile where"
# Elements that SimGrid knew once, or knows elsewhere
ELSEWHERE = {"storage": NO_STORAGE, "storage_type": NO_STORAGE, "mount": NO_STORAGE, "mstorage": NO_STORAGE,
             "actor": NO_ACTOR, "process": NO_ACTOR}


class Reader:
    """Follows the elements of a file with their lines."""

    def __init__(self, path):
        self.path, self.open, self.nhosts = path, [], 0
        self.kinds, self.of_kinds = None, [] # of the holder; (line, name, prefix, plain) of its properties
        self.gpu_kinds, self.links = {}, {} # of the holder: {prefix: (line, value)}
        self.properties = {}           # of the holder: values of those that are numbers
        self.wide = {}                 # links that are FATPIPE, and a line with a route over each
        self.policies, self.notes = {}, [] # of links, by their names; what a run does not follow
        self.said = set()              # elements that have one of these
        self.parser = xml.parsers.expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartCdataSectionHandler = self.cdata
        self.has_doctype = False
        self.parser.EndElementHandler = self.end

    def refuse(self, element, words, line=None):
        raise Refusal("%s:%d: <%s>: %s" % (self.path, line or self.parser.CurrentLineNumber,
                                           element, words))

    def note(self, element, words):
        self.notes.append("%s:%d: <%s>: %s" % (self.path, self.parser.CurrentLineNumber, element,
                                               words))

    def once(self, element, words):
        """Of what stands at many hosts."""
        if element not in self.said:
            self.said.add(element)
            self.note(element, words)

    def doctype(self, *_):
        self.has_doctype = True

    def cdata(self):
        if self.open and self.open[-1][0] != "trace":
            self.refuse(self.open[-1][0], "SimGrid reads no <![CDATA[...]]> inside it; leave it out, or make "
                        "it a comment: <!-- ... -->")

    def start(self, name, attributes):
        if not self.open and name == "platform" and not self.has_doctype:
            self.refuse(name, "SimGrid wants a line before it: <!DOCTYPE platform SYSTEM "
                        "\"https://simgrid.org/simgrid.dtd\">")
        if name == "platform" and "version" not in attributes:
            self.refuse(name, "its version is missing: <platform version=\"4.1\">")
        if name == "platform" and attributes["version"] not in VERSIONS:
            self.refuse(name, "version is \"%s\", and SimGrid reads 4.1; convert it: "
                        "simgrid_update_xml %s" % (attributes["version"], self.path))
        self.judge(name, unknown_element(name))
        self.changes(name, attributes)
        self.quantities(name, attributes)
        self.directions(name, attributes)
        if name in ELSEWHERE:
            self.refuse(name, ELSEWHERE[name])
        if name == "include":
            self.refuse(name, "SimGrid 3.32 reads no files inside of others; put the content of %s in "
                        "its place" % attributes.get("file", "the file"))
        if name == "prop" and self.open and self.open[-1][0] == "config":
            self.option(attributes)
        if name == "prop" and self.open and self.open[-1][0] == "disk":
            self.content(attributes)
        if name == "prop" and self.open and self.open[-1][0] in HOLDERS:
            self.property(attributes)
        elif name == "prop" and self.open and attributes.get("id") in NUMBERS + TEXTS:
            self.refuse(name, "%s says nothing of a <%s>; put it into each <cluster> or <host> that it "
                        "is about" % (attributes["id"], self.open[-1][0]))
        if name == "cluster":
            missing = [word for word in NEEDED if word not in attributes]
            if missing:
                self.refuse("cluster", "it lacks %s; a cluster has %s" % (
                    missing[0], ", ".join("%s=\"...\"" % word for word in NEEDED)))
        self.nhosts += name in HOLDERS
        self.judge(name, element_mistake(name, attributes))
        self.wonder(name, "radical", element_doubt(name, attributes))
        if name in HOLDERS:
            self.kinds, self.of_kinds, self.properties = None, [], {}
            self.gpu_kinds, self.links = {}, {}
        self.open.append((name, attributes))

    def end(self, name):
        self.open.pop()
        if name not in HOLDERS:
            return
        for words in holder_doubts(self.properties):
            self.wonder(name, words, words)
        known = list(dict.fromkeys(re.findall(r"(\w+):", self.kinds or "")))
        for prefix, (line, value) in self.gpu_kinds.items():
            count = self.properties.get(prefix + "gpus", self.properties.get("gpus"))
            words = "gpu_kinds changes nothing while nothing says how many GPUs a node has; say <prop id=\"gpus\" " \
                "value=\"%d\"/>" % len(ranges_of(value)) if not any(
                    name.rpartition(".")[2] == "gpus" for name in self.properties) else \
                gpu_kinds_mistake(prefix + "gpu_kinds", value, count, known)
            if words:
                self.refuse("prop", words, line)
        for line, words in holder_mistakes(self.links, self.properties):
            self.refuse("prop", words, line)
        gpus = {kind: self.gpu_kinds.get(kind + ".", self.gpu_kinds.get("", (0, "")))[1] for kind in known + [""]}
        for line, prop, kind, plain in self.of_kinds:
            words = prefix_mistake(prop, kind, plain, known, gpus, NUMBERS + TEXTS)
            if words:
                self.refuse("prop", words, line)

    def quantities(self, name, attributes):
        """With no bandwidth a run never ends."""
        for attribute in NOT_NEGATIVE:
            value = attributes.get(attribute, "").strip()
            if value.startswith("-") or (attribute in BANDWIDTHS and
                                         re.match(r"\+?0*\.?0*([A-Za-z]|$)", value) and value):
                self.refuse(name, "%s=\"%s\": expected more than 0" % (attribute, value))
        for attribute in BANDWIDTHS + TIMES:
            if attribute in attributes:
                self.judge(name, mistake(attribute, attributes[attribute]))
                self.wonder(name, attribute, doubt(attribute, attributes[attribute]))
        if name in ("cluster", "cabinet") and "radical" in attributes:
            self.judge(name, radical_mistake(attributes["radical"]))

    def wonder(self, element, attribute, words):
        if words and (element, attribute) not in self.said:
            self.said.add((element, attribute))
            self.note(element, words)

    def judge(self, element, words):
        if words:
            self.refuse(element, words)

    def changes(self, name, attributes):
        """What SimGrid knows and a run does not follow."""
        for (element, attribute), what in PROFILES.items():
            if name == element and attribute in attributes:
                self.refuse(name, "%s: %s are not simulated; leave it out" % (attribute, what))
        if name == "trace_connect" and attributes.get("kind") in CONNECTED:
            self.refuse(name, "kind=\"%s\": %s are not simulated; leave it out"
                        % (attributes["kind"], CONNECTED[attributes["kind"]]))
        if attributes.get("sharing_policy") == "WIFI" or attributes.get("routing", "").lower() == "wifi":
            self.refuse(name, "wireless networks are not simulated; where a medium that all share is near "
                        "enough, write <cluster id=\"wifi\" prefix=\"n\" suffix=\"\" radical=\"0-3\" "
                        "speed=\"1Gf\" bw=\"54Mbps\" lat=\"0us\" bb_bw=\"54Mbps\" bb_lat=\"1ms\"/>, with the "
                        "bandwidth of the access point as bb_bw")

        if name == "host" and ("speed_file" in attributes or "availability_file" in attributes) or \
                name == "trace_connect" and attributes.get("kind") == "SPEED":
            self.wonder(name, "speed", "the speed of a host changes nothing: kernels take their time from "
                      "performance models")
        if name == "prop" and re.match("watt", attributes.get("id", "")):
            self.once("prop", "%s: the energy of a run is that of energy models and STARPU_IDLE_POWER; "
                      "watts of hosts and links change nothing" % attributes["id"])
        if name == "disk":
            self.once(name, "disks of programs have the bandwidths that the properties disk_read_bw and "
                      "disk_write_bw of their host say; those of SimGrid's change nothing")

    def directions(self, name, attributes):
        """A link that each direction has for itself is two, and a route says which it takes."""
        link = attributes.get("id", "")
        if name == "link":
            self.policies[link] = attributes.get("sharing_policy", "SHARED")
        if name != "link_ctn" or link not in self.policies:
            return
        has_direction = attributes.get("direction", "NONE") != "NONE"
        if self.policies[link] in ("SPLITDUPLEX", "FULLDUPLEX") and not has_direction:
            self.refuse(name, "link \"%s\" is %s, two links: say direction=\"UP\" or "
                        "direction=\"DOWN\"" % (link, self.policies[link]))
        ends = self.open[-1][1] if self.open else {}
        if self.policies[link] == "FATPIPE" and ends.get("src") != ends.get("dst"):
            self.wide.setdefault(link, self.parser.CurrentLineNumber)
        if self.policies[link] not in ("SPLITDUPLEX", "FULLDUPLEX") and has_direction:
            self.refuse(name, "link \"%s\" is %s and has no directions: leave direction=\"%s\" out, or "
                        "give the link sharing_policy=\"SPLITDUPLEX\"" % (
                            link, self.policies[link], attributes["direction"]))

    def option(self, attributes):
        """smpirun says the model of the network, and what a command says goes first."""
        name, value = attributes.get("id"), attributes.get("value")
        self.judge("prop", factors_mistake(name, value or ""))
        if name in ("network/latency-factor", "network/bandwidth-factor"):
            self.note("prop", "%s changes nothing: messages of MPI programs follow smpi/%s-factor"
                      % (name, "lat" if "lat" in name else "bw"))
        if name in NUMBERS_ONLY and not re.fullmatch(r"[0-9.]+([eE][+-]?[0-9]+)?", value or ""):
            self.refuse("prop", "%s is \"%s\", expected a number of %s, without a unit" % (
                name, value, NUMBERS_ONLY[name]))
        if name == "network/model" and value != "SMPI":
            self.note("prop", "network/model is \"%s\", and simulations of MPI programs use SMPI; this "
                      "changes nothing" % value)
        for option, plain in (("host/model", ("default", "compound")), ("network/solver", ("maxmin",)),
                              ("maxmin/concurrency-limit", ("-1",))):
            if name == option and value not in plain:
                self.refuse("prop", "%s is \"%s\", by whose laws messages are not simulated; say \"%s\", "
                            "or leave it out" % (name, value, plain[0]))

    def content(self, attributes):
        """SimGrid reads a list of a disk's files, and ends where there is none."""
        path = attributes.get("value", "")
        beside = os.path.join(os.path.dirname(os.path.abspath(self.path)), path)
        if attributes.get("id") == "content" and not os.path.exists(path) \
                and not os.path.exists(beside):
            self.refuse("prop", "content is \"%s\", a list of files that does not exist; leave it out, "
                        "or say where it is" % path)

    def property(self, attributes):
        name, value = attributes.get("id"), attributes.get("value")
        if self.open[-1][0] in BARE:
            self.refuse(self.open[-1][0], "SimGrid allows nothing inside it; " + BARE[self.open[-1][0]])
        if name is None or value is None:
            self.refuse("prop", "expected <prop id=\"NAME\" value=\"VALUE\"/>")
        self.judge("prop", factors_mistake(name, value))
        kind, _, plain = name.rpartition(".")
        self.judge("prop", text_mistake(plain, value))
        if name == "kinds":
            if not re.fullmatch(KINDS, value):
                self.refuse("prop", "kinds is \"%s\", expected the numbers of each kind's nodes: "
                            "\"cpu:0-99;gpu:100-149\"" % value)
            self.kinds = value
        if plain == "gpu_kinds":
            self.gpu_kinds[name[:-len(plain)]] = (self.parser.CurrentLineNumber, value)
        if plain == "gpu_links":
            self.links[name[:-len(plain)]] = (self.parser.CurrentLineNumber, value)
        if kind:
            self.of_kinds.append((self.parser.CurrentLineNumber, name, kind, plain))
        if name in self.properties:
            self.refuse("prop", "%s is said twice of one <%s>; leave one of both out"
                        % (name, self.open[-1][0]))
        if plain in NUMBERS:
            self.number(name, value)
            self.properties[name] = value
            self.wonder("prop", plain, figure_doubt(name, value))
        elif plain not in TEXTS and not kind:
            short = plain.lower().replace("bandwidth", "bw").replace("latency", "lat")
            short = re.sub("^(gpu|numa)_memory", r"\1_mem_bytes", short)
            near = [alias_of(name)] if alias_of(name) else \
                difflib.get_close_matches(short, NUMBERS + TEXTS, 1, 0.75)
            if near and near[0] in COUNTS and not re.fullmatch(r"\s*\d{1,7}\s*", value):
                self.wonder("prop", name, "id=\"%s\" is nobody's: it is no number of %s, and changes "
                            "nothing" % (name, near[0]))
            elif near:
                self.refuse("prop", "id=\"%s\" means nothing; did you mean \"%s\"?"
                            % (name, near[0]))

    def number(self, name, value):
        plain = name.rpartition(".")[2]
        if re.fullmatch(r"\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value):
            self.limits(name, plain, value)
            return
        unit = re.fullmatch(r"\s*[0-9.]+\s*([A-Za-z/]+)\s*", value)
        what = "seconds" if name.endswith("lat") else "bytes per second" if name.endswith(
            "_bw") else "bytes" if "bytes" in name else "GFlop/s" if "gflops" in name else None
        expected = "0 or 1" if plain in SWITCHES else "a whole number" if plain in COUNTS else \
            "a number of " + what if what else "a number"
        self.refuse("prop", "%s is \"%s\", expected %s%s" % (
            name, value, expected, ", without a unit" if unit else ""))

    def limits(self, name, plain, value):
        most = 1 if plain in SWITCHES else 2 if plain == "host_peers" else \
            MAX_GPUS if plain == "gpus" else MAX_NUMAS if plain == "numa_nodes" else \
            MOST_UNITS if plain in COUNTS else MOST_BYTES if "bytes" in plain else \
            1 if re.fullmatch(AT_MOST_1, plain) else MOST
        if float(value) > most or plain in COUNTS and float(value) % 1:
            self.refuse("prop", "%s is \"%s\", expected %s from 0 to %g" % (
                name, value, "a whole number" if plain in COUNTS else "a number of bytes"
                if "bytes" in plain else "seconds" if most == 1 and plain != "lone_copy" else "a number", most))

    def say_wide(self):
        for link, line in sorted(self.wide.items(), key=lambda item: item[1])[:1]:
            self.notes.append(
                "%s:%d: <link_ctn>: link \"%s\" is FATPIPE: under transport routes each message has "
                "all of it; under flows and mpi SimGrid slows those with longer latencies"
                % (self.path, line, link))

    def read(self):
        try:
            with open(self.path, "rb") as f:
                mark = f.read(3)
                if not mark:
                    raise Refusal("%s is empty; expected a SimGrid platform, or a description NAME.toml" % self.path)
                if mark.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise Refusal("%s:1: it begins with a byte order mark, and SimGrid reads none; save it "
                                  "as UTF-8 without one" % self.path)
                f.seek(0)
                self.parser.ParseFile(f)
        except OSError as error:
            raise Refusal("platform file %s cannot be read: %s" % (self.path, error.strerror)) \
                from None
        except xml.parsers.expat.ExpatError as error:
            where = ", inside <%s>" % self.open[-1][0] if self.open else ""
            with open(self.path, encoding="utf-8", errors="replace") as f:
                more = malformed(f.read(), error.lineno, xml.parsers.expat.ErrorString(error.code),
                                 self.open[-1][0] if self.open else None)
            raise Refusal("%s:%d: platform file is malformed or truncated%s: %s; %s" % (
                self.path, error.lineno, where, xml.parsers.expat.ErrorString(error.code),
                more or "it must be a complete SimGrid platform")) from None


class Structure(Reader):
    """Of a file that may be of another version: only whether it is XML."""

    def start(self, name, attributes):
        self.open.append((name, attributes))

    def cdata(self):
        """It is good XML."""

    def end(self, name):
        self.open.pop()


def check_file(path, is_quiet=False):
    """Refuses what is wrong, says what is not followed."""
    reader = Reader(path)
    reader.read()
    reader.say_wide()
    for note in [] if is_quiet else reader.notes[:MAX_NOTES]:
        print("[orrery] " + note, file=sys.stderr)
