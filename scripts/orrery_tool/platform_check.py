# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Platforms in XML: what is wrong with what they say of nodes, with line and element."""
import difflib
import re
import xml.parsers.expat

from orrery_tool.words import Refusal

TEXTS = ("cpu_model", "gpu_model", "kinds", "push_costs", "copy_factors")
NUMBERS = ("cpus", "gpus", "gpu_mem_bytes", "pcie_bw", "pcie_lat", "host_bw", "host_shared",
           "spare_cores", "copies_messages", "submit_cost", "submit_datum_cost", "insert_cost",
           "post_cost", "push_cost", "fetch_cost", "wake_cost", "main_wake_cost", "poll_wait",
           "switch_cost",
           "host_peers", "nvlink_bw", "disks", "disk_read_bw", "disk_write_bw", "disk_lat", "numa_nodes", "numa_bw",
           "numa_lat", "numa_mem_bytes", "cpu_peak_sp_gflops", "cpu_peak_dp_gflops",
           "gpu_peak_sp_gflops", "gpu_peak_dp_gflops", "cpu_speedup", "gpu_speedup")
NEEDED = ("id", "radical", "speed", "bw", "lat")
HOLDERS = ("cluster", "host", "cabinet", "peer")


class Reader:
    """Follows the elements of a file with their lines."""

    def __init__(self, path):
        self.path, self.open, self.nhosts = path, [], 0
        self.parser = xml.parsers.expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.has_doctype = False
        self.parser.EndElementHandler = lambda _: self.open.pop()

    def refuse(self, element, words):
        raise Refusal("%s:%d: <%s>: %s" % (self.path, self.parser.CurrentLineNumber, element,
                                           words))

    def doctype(self, *_):
        self.has_doctype = True

    def start(self, name, attributes):
        if not self.open and name == "platform" and not self.has_doctype:
            self.refuse(name, "SimGrid wants a line before it: <!DOCTYPE platform SYSTEM "
                        "\"https://simgrid.org/simgrid.dtd\">")
        if name == "prop" and self.open and self.open[-1][0] in HOLDERS:
            self.property(attributes)
        if name == "cluster":
            missing = [word for word in NEEDED if word not in attributes]
            if missing:
                self.refuse("cluster", "it lacks %s; a cluster has %s" % (
                    missing[0], ", ".join("%s=\"...\"" % word for word in NEEDED)))
        self.nhosts += name in HOLDERS
        self.open.append((name, attributes))

    def property(self, attributes):
        name, value = attributes.get("id"), attributes.get("value")
        if name is None or value is None:
            self.refuse("prop", "expected <prop id=\"NAME\" value=\"VALUE\"/>")
        kind, _, plain = name.rpartition(".")
        if plain in NUMBERS:
            self.number(name, value)
        elif plain not in TEXTS and not kind:
            short = plain.lower().replace("bandwidth", "bw").replace("latency", "lat")
            near = difflib.get_close_matches(short, NUMBERS + TEXTS, 1, 0.75)
            if near:
                self.refuse("prop", "id=\"%s\" means nothing; did you mean \"%s\"?"
                            % (name, near[0]))

    def number(self, name, value):
        if re.fullmatch(r"\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value):
            return
        unit = re.fullmatch(r"\s*[0-9.]+\s*([A-Za-z/]+)\s*", value)
        what = "seconds" if name.endswith("lat") else "bytes per second" if name.endswith(
            "_bw") else "bytes" if "bytes" in name else "GFlop/s" if "gflops" in name else "units"
        self.refuse("prop", "%s is \"%s\", expected a number of %s%s" % (
            name, value, what, ", without a unit" if unit else ""))

    def read(self):
        try:
            with open(self.path, "rb") as f:
                self.parser.ParseFile(f)
        except OSError as error:
            raise Refusal("platform file %s cannot be read: %s" % (self.path, error.strerror)) \
                from None
        except xml.parsers.expat.ExpatError as error:
            where = ", inside <%s>" % self.open[-1][0] if self.open else ""
            raise Refusal("%s:%d: platform file is malformed or truncated%s: %s; it must be a "
                          "complete SimGrid platform" % (
                              self.path, error.lineno, where,
                              xml.parsers.expat.ErrorString(error.code))) from None


def check_file(path):
    """Refuses what is wrong; words on what is good."""
    reader = Reader(path)
    reader.read()
    return "%s: nothing is wrong with what it says of nodes" % path
