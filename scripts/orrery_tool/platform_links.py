# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Links between GPUs of a node that differ by pair: in platforms, and in descriptions."""
import re

from orrery_tool.platform_limits import MOST, is_said
from orrery_tool.words import Refusal

# The keys of a [[node.link]]
LINK_KEYS = {"gpus": "numbers", "bandwidth": "bandwidth", "latency": "time", "switch": "count", "host_peers": "count"}
NUMBER = r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
# Of src/sim/links.c: GPUs, bytes per second, seconds, crossings
GROUP = re.compile(r"(switch,)?(\d{1,6}(?:,\d{1,6})*):%s(?:(?::%s|:(?=:))(?::([012]))?)?" % (NUMBER, NUMBER))


def groups_mistakes(groups, count):
    """What is wrong with lists of GPUs that have links to each other, in a node with so many (None: that is not
    said): (index of the list, words, remedy) of each mistake."""
    pairs = {}
    for index, gpus in enumerate(groups):
        absent = [gpu for gpu in gpus if count is not None and gpu >= count]
        twice = [gpu for gpu in gpus if gpus.count(gpu) > 1]
        if absent:
            yield index, "GPU %d, and gpus is %d, numbers 0 to %d" % (absent[0], count, count - 1), "make both agree"
        elif twice:
            yield index, "GPU %d twice" % twice[0], "leave it out once"
        elif len(gpus) < 2:
            yield index, "GPU %d alone" % gpus[0] if gpus else "no GPU", "name those that are linked to each other"
        for pair in {(min(a, b), max(a, b)) for a in gpus for b in gpus if a != b}:
            if pairs.setdefault(pair, index) != index:
                yield index, "GPUs %d and %d, which another one has, too" % pair, \
                    "say once what all links between them reach together"


def links_mistake(name, text, count):
    """What is wrong with a property gpu_links of a node with so many GPUs (a text, or None), or ""."""
    parts = re.sub(";$", "", text).split(";")
    found = [GROUP.fullmatch(part) for part in parts]
    for part, match in zip(parts, found):
        if not match or not 1 <= float(match.group(3)) <= MOST or float(match.group(4) or 0) > MOST:
            return "%s: \"%s\" is no group of GPUs with bytes per second each way, and, if need be, a latency in " \
                "seconds, without units: \"0,1:50e9;2,3:25e9:2e-6\", or \"switch,0,1,2,3:450e9\"" % (name, part)
    groups = [[int(gpu) for gpu in match.group(2).split(",")] for match in found]
    for index, words, remedy in groups_mistakes(groups, int(float(count)) if count else None):
        return "%s: \"%s\" has %s; %s" % (name, parts[index], words, remedy)
    return ""


def holder_mistakes(links, properties):
    """(line, words) on each gpu_links of a <cluster> or <host>.  links: {prefix: (line, text)}; properties: those
    that are numbers."""
    for prefix, (line, text) in links.items():
        name = prefix + "gpu_links"
        count = properties.get(prefix + "gpus", properties.get("gpus"))
        others = [known for known, value in properties.items() if known.rpartition(".")[2] == "nvlink_bw" and
                  float(value) > 0 and (known.startswith(prefix) or "." not in known)]
        if count is None or not float(count):
            if prefix or not any(known.endswith(".gpus") for known in properties):
                yield line, "%s changes nothing while nothing says how many GPUs a node has; say <prop id=\"%sgpus\" " \
                    "value=\"4\"/>" % (name, prefix)
                continue
            count = None
        if others:
            yield line, "%s beside %s, which says it of all GPUs; leave one of both out, and name all of the latter in " \
                "a group of the former" % (name, others[0])
        words = links_mistake(name, text, count)
        if words:
            yield line, words


def trimmed(links, count):
    """Tables of links as far as there are GPUs."""
    found = []
    for where, table in links:
        gpus = table.get("gpus")
        kept = [gpu for gpu in gpus.value if gpu < count] if gpus else []
        if len(kept) > 1:
            found.append((where, dict(table, gpus=type(gpus)(kept, gpus.where, gpus.origin))))
    return found


def check_links(node):
    """Refuses what is wrong with the [[node.link]] tables of a node, and what stands beside them."""
    links, count = node.links, node.value("gpus", 0)
    where = links[0][0]
    if not count:
        raise Refusal("%s: a link of GPUs changes nothing while nothing says how many a node has; say gpus = 4"
                      % where)
    for where, table in links:
        for name, such in (("gpus", "gpus = [0, 1]"), ("bandwidth", "bandwidth = \"50 GB/s\"")):
            if name not in table:
                raise Refusal("%s: a [[node.link]] lacks %s; say %s" % (where, name, such))
    groups = [table["gpus"].value for _, table in links]
    for index, words, remedy in groups_mistakes(groups, count):
        raise Refusal("%s: gpus of a [[node.link]] are %s: %s; %s" % (
            links[index][1]["gpus"].where, groups[index], words, remedy))
    for table in [node.figures] + (node.kinds or []):
        other = table.pop("nvlink_bandwidth", None)
        if other and is_said(other):
            raise Refusal("%s: nvlink_bandwidth beside [[node.link]], whose tables say it of each pair of GPUs; leave "
                          "one of both out" % other.where)


def links_text(links):
    """The property."""
    parts = []
    for _, table in links:
        part = "%s%s:%.9g" % ("switch," if "switch" in table and table["switch"].value else "",
                              ",".join(map(str, table["gpus"].value)), table["bandwidth"].value)
        if "latency" in table:
            part += ":%.9g" % table["latency"].value
        if "host_peers" in table:
            part += "%s:%d" % ("" if "latency" in table else ":", table["host_peers"].value)
        parts.append(part)
    return ";".join(parts)


def links_origin(links):
    """The words behind each."""
    words = [table["bandwidth"].origin or "from " + table["bandwidth"].where for _, table in links]
    return "each way between the GPUs of each group: " + "; ".join(dict.fromkeys(words))
