# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: descriptions of machines, where each figure stands, and what is wrong."""
import difflib
import os
import re
import tomllib

from orrery_tool.platform_hints import APART, IN_OTHER_WORDS, OTHER_NAMES, meant, shown, toml_remedy
from orrery_tool.platform_limits import check_count, check_figure, forget_shape
from orrery_tool.platform_links import LINK_KEYS, trimmed
from orrery_tool.platform_units import KINDS, read_quantity
from orrery_tool.words import Refusal

NETWORKS = ("switch", "fat tree", "dragonfly", "torus")
# name: kind of KINDS, or the texts that there are
NETWORK_KEYS = {
    "network": NETWORKS, "link": "text", "bandwidth": "bandwidth", "latency": "time",
    "hop_latency": "time", "message_cost": "time", "bandwidth_factors": "text", "latency_factors": "text", "link_latency": "time", "factors": ("exact", "smpi"),
    "backbone_bandwidth": "bandwidth", "loopback_bandwidth": "bandwidth",
    "loopback_latency": "time", "switch_ports": "count", "oversubscription": "number",
    "tree": "text", "shape": "lengths", "chassis": "count", "routers": "count",
    "nodes_per_router": "count", "router_links": "count", "chassis_links": "count",
    "group_links": "count",
}
TOP_KEYS = {"name": "text", "about": "text", "like": "text", "nodes": "count", **NETWORK_KEYS}
NODE_KEYS = {
    "machine": "text", "cpu": "text", "cpu_model": "text", "sockets": "count",
    "cores": "count", "workers": "count", "spare_cores": "count", "copies_messages": "count",
    "submit_cost": "time", "submit_datum_cost": "time", "insert_cost": "time",
    "post_cost": "time", "push_cost": "time", "push_costs": "text", "fetch_cost": "time",
    "wake_cost": "time", "main_wake_cost": "time", "poll_wait": "time", "switch_cost": "time", "page_cost": "time",
    "exchange_cost": "time", "lone_copy": "number",
    "copy_factors": "text", "small_copy_factors": "text", "cold_costs": "text",
    "cpu_sp": "gflops", "cpu_dp": "gflops",
    "numa_per_socket": "count", "numa_bandwidth": "bandwidth", "numa_latency": "time",
    "memory": "bytes", "host_bandwidth": "bandwidth", "host_shared": "count",
    "host_peers": "count", "peer_access": "count", "gpu": "text", "gpu_model": "text",
    "gpus": "count", "gpu_memory": "bytes", "gpu_sp": "gflops", "gpu_dp": "gflops", "gpu_kernels": "text",
    "gpu_launch": "time", "gpu_gap": "time", "gpu_launches": "text",
    "pcie_bandwidth": "bandwidth", "pcie_latency": "time", "nvlink_bandwidth": "bandwidth",
    "disks": "count", "disk_read_bandwidth": "bandwidth", "disk_write_bandwidth": "bandwidth",
    "disk_latency": "time",
}
DEVICE_KEYS = {name: NODE_KEYS[name] for name in (
    "gpu", "gpus", "gpu_model", "gpu_memory", "gpu_sp", "gpu_dp", "gpu_kernels", "gpu_launch", "gpu_gap",
    "gpu_launches", "pcie_bandwidth", "pcie_latency", "nvlink_bandwidth")}
# What a node has inside: the keys of each table, and what has one
TABLES_OF_NODE = {"device": (DEVICE_KEYS, "kind of GPUs"), "link": (LINK_KEYS, "group of GPUs with links to each other")}
PARTITION_KEYS = {"name": "text", "nodes": "count", "node": None}
TABLES = {"node": NODE_KEYS, "partition": PARTITION_KEYS}
# What else a table has inside: tables, by their names
INSIDE = {"the top": tuple(TABLES), "[node]": ("device", "link"), "[partition.node]": ("device", "link"),
          "[[partition]]": ("node",)}
PARTS = {"link": "links", "cpu": "processors", "gpu": "GPUs"}
OWN_FIGURES = {"link": "bandwidth = \"25 GB/s\" and latency = \"1.2 us\"",
               "cpu": "cores = 64 and cpu_dp = \"39.2 GFlop/s\"",
               "gpu": "gpu_model = \"NAME\", gpu_memory = \"80 GB\" and gpu_dp = \"19.5 TFlop/s\""}
FIXED_TREE = ("switch_ports", "oversubscription")   # what a tree says itself


class Figure:
    """A value, and where it comes from: "lab.toml:4" and the words behind it."""

    def __init__(self, value, where, origin=""):
        self.value, self.where, self.origin = value, where, origin

    def __repr__(self):
        return "Figure(%r, %s)" % (self.value, self.where)


def comment_of(line):
    """The words behind "#" that is in no text."""
    match = re.match(r"(?:[^#\"']|\"(?:[^\"\\]|\\.)*\"|'[^']*')*#\s*(.*)", line)
    return match.group(1).strip() if match else ""


class Places:
    """In which line of a TOML text a key stands, and the comment there."""

    def __init__(self, text):
        self.lines, self.at = text.split("\n"), {}
        table, counts = (), {}
        for number, line in enumerate(self.lines, 1):
            head = re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line)
            key = re.match(r"\s*([\w.\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*=", line)
            if head:
                table = self.table_of(head, counts)
                self.at[table] = (number, "")
            elif key:
                path = table + self.names(key.group(1))
                for end in range(len(table) + 1, len(path) + 1):
                    self.at.setdefault(path[:end], (number, comment_of(line)))

    @staticmethod
    def names(text):
        """The parts of "gpu.A100"; dots inside quotes separate nothing."""
        return tuple(part.strip("\"'") for part in
                     re.findall(r"\"[^\"]*\"|'[^']*'|[\w-]+", text))

    def table_of(self, head, counts):
        path = ()
        names = self.names(head.group(2))
        for depth, name in enumerate(names):
            path += (name,)
            if head.group(1) == "[[" and depth == len(names) - 1:
                counts[path] = counts.get(path, -1) + 1
            if path in counts:
                path += (counts[path],)
        return path

    def find(self, path):
        """(line or None, comment) of a key, else of what it is in."""
        while path:
            for place in (path, path + (0,)):
                if place in self.at:
                    return self.at[place]
            path = path[:-1]
        return None, ""


def parse_toml(path, text):
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        number = int(at.group(1)) if at else len(text.split("\n"))
        line = (text.split("\n") + [""])[number - 1].strip()
        words = re.sub(r" \(at .*\)$", "", str(error))
        words = words.replace("Cannot overwrite a value", "it is said twice")
        name = re.match(r"\[+([\w. -]+)", line)
        if name and name.group(1).strip() not in ("node", "partition", "partition.node", "node.device", "node.link",
                                                  "partition.node.device", "partition.node.link") \
                and "twice" in words:
            words = "there is no such table"
        words = re.sub(r"Cannot declare \(.*\) twice", "it is there twice", words)
        remedy = toml_remedy(line, words)
        raise Refusal("%s:%d: \"%s\" is not understood (%s); %s"
                      % (path, number, line, words, remedy)) from None


def read_text(path):
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as error:
        raise Refusal("%s cannot be read: %s" % (path, error.strerror)) from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refusal("%s is UTF-16: save it as UTF-8" % path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal("%s:%d: byte 0x%02x is no UTF-8: save it as UTF-8, or leave the character "
                      "out" % (path, data.count(b"\n", 0, error.start) + 1,
                              data[error.start])) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def home_of(name):
    """The tables whose keys contain the name."""
    return [table for table, keys in (("the top", TOP_KEYS), ("[node]", NODE_KEYS),
                                      ("[[partition]]", PARTITION_KEYS)) if name in keys]


def key_remedy(name, table, keys):
    """What to do about a key that a table does not have."""
    elsewhere = [home for home in home_of(name) if home != table]
    lower = name.lower()
    other = OTHER_NAMES.get(lower)
    near = difflib.get_close_matches(lower, keys, 3, 0.65)
    near.sort(key=lambda key: sorted(key) != sorted(lower)) # two letters that changed places
    if elsewhere and "partition" in table and elsewhere[0] == "[node]":
        return "it belongs in [partition.node] below it; move it there"
    if "partition" in table and name in NETWORK_KEYS:
        return "it belongs above the first [table]; " + APART
    if elsewhere:
        return "it belongs in %s; move it there" % elsewhere[0] if elsewhere[0] != "the top" \
            else "it belongs above the first [table]; move it there"
    if lower in IN_OTHER_WORDS:
        return IN_OTHER_WORDS[lower]
    if other in keys or near:
        return "did you mean %s?" % (other if other in keys else near[0])
    if other and home_of(other):
        home = home_of(other)[0]
        return "did you mean %s, %s?" % (other, "above the first [table]"
                                         if home == "the top" else "in " + home)
    return "there are " + ", ".join(keys)


def refuse_key(where, name, table, keys):
    if table == "the top":
        keys = list(keys) + list(TABLES)
    remedy = key_remedy(name, table, keys)
    for found, head in (("mean node?", "[node]"), ("mean partition?", "[[partition]]")):
        remedy = remedy.replace(found, "mean %s?" % head)
    raise Refusal("%s: %s has no \"%s\": %s" % (
        where, "a description" if table == "the top" else table, name, remedy))


def figure_of(where, origin, name, kind, value):
    if isinstance(kind, tuple):
        plain = re.sub("[-_]", " ", value.lower()) if isinstance(value, str) else value
        if plain not in kind:
            near = difflib.get_close_matches(str(plain), kind, 1)
            if isinstance(value, dict):
                raise Refusal("%s: %s is a table, expected one of the words %s at the top: %s = \"%s\"; "
                              "its figures stand beside it, without a [%s]" % (
                                  where, name, ", ".join("\"%s\"" % word for word in kind), name,
                                  value.get("kind") if value.get("kind") in kind else kind[0], name))
            raise Refusal("%s: %s is %s, expected %s%s" % (
                where, name, shown(value), " or ".join("\"%s\"" % word for word in kind),
                "; did you mean \"%s\"?" % near[0] if near else
                "; the kind of its links is said by link = \"%s\"" % (
                    "1G-Ethernet" if re.search("ethernet|giga|gbe", str(plain)) else "HDR")
                if name == "network" else ""))
        return Figure(plain, where, origin)
    quantity = read_quantity(kind, value)
    if kind == "count" and type(value) is int and value < 0:
        check_count(where, name, value) # says what is expected
    if quantity is None:
        raise Refusal("%s: %s is %s, expected %s%s" % (where, name, shown(value), KINDS[kind][2],
                                                       meant(kind, value)))
    check_figure(where, name, kind, quantity, value)
    return Figure(quantity, where, origin)


class Source:
    """A file or the command line, which says some of the figures."""

    def __init__(self, path, text):
        self.path, self.places = path, Places(text)

    def where(self, path):
        number, comment = self.places.find(path)
        return ("%s:%d" % (self.path, number) if number else self.path), comment

    def table(self, data, path, title, keys):
        """A table's figures; tables inside are left as they are."""
        figures = {}
        if not isinstance(data, dict):
            raise Refusal("%s: %s is %s, expected a table: %s%s" % (
                self.where(path)[0], path[-1] if isinstance(path[-1], str) else path[0],
                shown(data), "[partition.node]" if len(path) > 2 else "[[partition]]"
                if len(path) > 1 else "[%s]" % path[-1],
                "; did you mean nodes = %d?" % data
                if path[-1] == "node" and type(data) is int else ""))
        for name, value in data.items():
            where, comment = self.where(path + (name,))
            if name == "link" and name in INSIDE.get(title, ()) and isinstance(value, str):
                refuse_key(where, name, title, [k for k in keys]) # of the network
            if name not in keys and name not in INSIDE.get(title, ()):
                refuse_key(where, name, title, [k for k in keys])
            if name in INSIDE.get(title, ()):
                figures[name] = value
            else:
                figures[name] = figure_of(where, comment, name, keys[name], value)
        return figures


    def node(self, data, path, title):
        """A node's figures, and as "device" the tables of its GPUs, where it has several kinds, as "link" those of
        links between them."""
        figures = self.table(data, path, title, NODE_KEYS)
        for name, (keys, each) in TABLES_OF_NODE.items():
            if name not in figures:
                continue
            inner, tables = "[[%s.%s]]" % (title.strip("[]"), name), figures.pop(name)
            if not isinstance(tables, list):
                raise Refusal("%s: %s is %s, expected one %s for each %s" % (
                    self.where(path + (name,))[0], name, shown(tables) if not isinstance(tables, dict)
                    else "one table", inner, each))
            figures[name] = [(self.where(path + (name, i))[0], self.table(one, path + (name, i), inner, keys))
                             for i, one in enumerate(tables)]
        return figures


class Description:
    """What is said of a machine: {name: Figure} at the top, of a node, of each partition."""

    def __init__(self):
        self.top, self.node, self.partitions = {}, {}, []
        self.notes = []                # on what is taken otherwise than it was said

    def take(self, source, data):
        """What a file says, in place of what was known."""
        top = source.table(data, (), "the top", TOP_KEYS)
        node = top.pop("node", {})
        partitions = top.pop("partition", [])
        self.displace(top)
        self.top.update(top)
        self.take_node(self.node, source.node(node, ("node",), "[node]"))
        if not isinstance(partitions, list):
            raise Refusal("%s: [partition] is one table, expected one [[partition]] for each "
                          "part of the machine" % source.where(("partition",))[0])
        if partitions:
            self.partitions = [self.partition(source, i, part)
                               for i, part in enumerate(partitions)]
        names = [part["name"].value for part in self.partitions]
        for part, name in zip(self.partitions[::-1], names[::-1]):
            if names.count(name) > 1:
                raise Refusal("%s: two partitions are called \"%s\"; give each a name of its own"
                              % (part["name"].where, name))

    @staticmethod
    def take_node(known, said):
        """GPUs of several kinds take the place of alike ones, and the other way round; so do links of pairs and one
        figure for all, and other GPUs have other links."""
        if "link" in said:
            known.pop("nvlink_bandwidth", None)
        elif {"device", "gpu", "nvlink_bandwidth"} & set(said):
            known.pop("link", None)
        elif "gpus" in said and "link" in known:
            known["link"] = trimmed(known["link"], said["gpus"].value)
        if "device" in said:
            for name in DEVICE_KEYS:
                known.pop(name, None)
        elif "gpu" in said or "gpus" in said:
            known.pop("device", None)
        known.update(said)

    def displace(self, top):
        """What was said of a network's shape goes when another one is said."""
        known = self.top["network"].value if "network" in self.top else "switch"
        if "network" in top and top["network"].value != known:
            forget_shape(self.top, top["network"].value)
        for name in FIXED_TREE if "tree" in top else ("tree",) if set(top) & set(FIXED_TREE) \
                else ():
            self.top.pop(name, None)

    @staticmethod
    def partition(source, i, data):
        figures = source.table(data, ("partition", i), "[[partition]]", PARTITION_KEYS)
        where = source.where(("partition", i))[0]
        figures["node"] = source.node(figures.get("node", {}), ("partition", i, "node"), "[partition.node]")
        for name in ("name", "nodes"):
            if name not in figures:
                raise Refusal("%s: a [[partition]] lacks %s; say %s" % (
                    where, name, "name = \"gpu\"" if name == "name" else "nodes = 16"))
        if not re.fullmatch(r"[A-Za-z]\w*", figures["name"].value):
            raise Refusal("%s: the name of a partition is \"%s\", expected letters, digits "
                          "and _" % (figures["name"].where, figures["name"].value))
        return figures

    def override(self, text):
        """NAME=VALUE or node.NAME=VALUE of the command line."""
        name, equals, value = text.partition("=")
        table, _, key = name.rpartition(".")
        if not equals or table not in ("", "node"):
            raise Refusal("platform: \"%s\" is no file and no ready machine (\"orrery platform "
                          "--list\"), and no NAME=VALUE or node.NAME=VALUE%s" % (
                              text, "; did you mean -o %s?" % text if text.endswith(".xml") else
                              "; did you mean %s=VALUE?" % text if text in TOP_KEYS else
                              "; did you mean node.%s=VALUE?" % text if text in NODE_KEYS else ""))
        keys = NODE_KEYS if table else TOP_KEYS
        if key not in keys and not table and key in NODE_KEYS:
            raise Refusal("platform: %s: it is of a node; say node.%s" % (text, text))
        if key not in keys:
            refuse_key("platform: " + text, key, "[node]" if table else "the top", list(keys))
        figure = figure_of("platform: " + text, "given on the command line", key, keys[key],
                           value)
        if not table:
            self.displace({key: figure})
        if table:
            self.take_node(self.node, {key: figure})
        else:
            self.top[key] = figure
        if key == "nodes" and self.partitions:
            self.partitions = []
            self.notes.append("%s takes the place of the partitions: all nodes are as [node] says"
                              % text)


class Library:
    """Ready descriptions and parts, in directory platforms/."""

    def __init__(self, share):
        self.directory = os.path.join(share, "platforms")
        self.parts = None

    def ready(self):
        """Names of ready machines."""
        names = os.listdir(self.directory) if os.path.isdir(self.directory) else []
        return sorted(name[:-5] for name in names
                      if name.endswith(".toml") and name != "parts.toml")

    def path(self, name):
        return os.path.join(self.directory, name + ".toml")

    def part(self, table, figure):
        """{name: Figure} of a processor, GPU or link that a description names."""
        if self.parts is None:
            text = read_text(self.path("parts"))
            self.parts = Source("parts.toml", text), tomllib.loads(text)
        source, data = self.parts
        known = {name.lower(): name for name in data[table]}
        name = known.get(figure.value.lower())
        if not name:
            near = [key for key in known if figure.value.lower() in key] or \
                [key for key in known if key in re.split(r"[^a-z0-9-]+", figure.value.lower())] or \
                difflib.get_close_matches(figure.value.lower(), known, 1, 0.5)
            near = near or ["1g-ethernet"] * (table == "link" and figure.value.lower() in ("gigabit", "gbe", "1gbe"))
            raise Refusal("%s: there are no figures of the %s \"%s\"%s; known %s are %s, or say "
                          "its own figures instead of %s: %s" % (
                              figure.where, table, figure.value, "; did you mean \"%s\"?"
                              % known[near[0]] if near else "", PARTS[table],
                              ", ".join(data[table]), table, OWN_FIGURES[table]))
        keys = NETWORK_KEYS if table == "link" else NODE_KEYS
        return source.table(data[table][name], (table, name), "[%s]" % table, keys)

    def read(self, path, depth=0):
        """A description with that which it is like."""
        text = read_text(path)
        data, source = parse_toml(path, text), Source(path, text)
        description = Description()
        if "like" in data:
            base = data["like"]
            where = source.where(("like",))[0]
            if depth > 8:
                raise Refusal("%s: descriptions are like each other in a circle" % where)
            beside = os.path.join(os.path.dirname(path), str(base))
            if not os.path.isfile(beside):
                beside = self.path(str(base))
            if not os.path.isfile(beside):
                near = difflib.get_close_matches(re.sub(r"\.toml$|:.*", "", str(base)).lower(),
                                                 self.ready(), 1)
                raise Refusal("%s: like is %s, expected a file or one of %s%s" % (
                    where, shown(base), ", ".join(self.ready()),
                    "; did you mean \"%s\"?" % near[0] if near else ""))
            if beside.endswith(".xml"):
                raise Refusal("%s: like is %s, a platform: expected a description, a file .toml"
                              % (where, shown(base)))
            description = self.read(beside, depth + 1)
        description.take(source, data)
        return description
