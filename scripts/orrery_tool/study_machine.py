# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: platforms that are a little different from a given one."""
import os
import re
import xml.etree.ElementTree as ElementTree

from orrery_tool.platform import element_hosts, read_platform
from orrery_tool.study_plan import MACHINE, as_text, is_number
from orrery_tool.words import Refusal, write_text

# parameter: (attributes that say it, what a value looks like)
ATTRIBUTES = {
    "bandwidth": (("bw", "bandwidth", "bb_bw", "bw_in", "bw_out"), "25GBps"),
    "latency": (("lat", "latency", "bb_lat"), "225ns"),
}
LINKS = ("link", "cluster", "cabinet", "peer", "backbone")
HEAD = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"


def scaled(text, factor):
    """The number of "25GBps", times the factor; several are separated by commas."""
    return re.sub(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z/]*)",
                  lambda match: "%.12g%s" % (float(match.group(1)) * factor, match.group(2)), text)


def set_links(root, name, value):
    attributes, example = ATTRIBUTES[name]
    if not is_number(value) and not re.fullmatch(r"[0-9.]+(e-?[0-9]+)?[A-Za-z]+", value):
        raise Refusal("study: %s is \"%s\", expected a factor such as 2 or a value such as %s"
                      % (name, value, example))
    changed = 0
    for element in root.iter():
        for attribute in attributes:
            if element.tag in LINKS and attribute in element.attrib:
                old = element.get(attribute)
                element.set(attribute, scaled(old, value) if is_number(value) else value)
                changed += 1
    if not changed:
        raise Refusal("study: the platform says no %s that could be changed" % name)


def set_property(element, name, value):
    for prop in element.findall("prop"):
        if prop.get("id").endswith("." + name): # of one kind of node; all are to be alike
            element.remove(prop)
    for prop in element.findall("prop"):
        if prop.get("id") == name:
            prop.set("value", as_text(value))
            return
    ElementTree.SubElement(element, "prop", id=name, value=as_text(value))


def get_property(element, name, default):
    for prop in element.findall("prop"):
        if prop.get("id") == name:
            return prop.get("value", default)
    return default


def set_hosts(root, path, name, value):
    for element in root.iter():
        if not element_hosts(element, path):
            continue
        if name != "flops":
            set_property(element, name, value)
            continue
        if not is_number(value):
            raise Refusal("study: flops is \"%s\", expected a factor such as 2" % value)
        for kind in ("cpu_speedup", "gpu_speedup"):
            before = float(get_property(element, kind, "1"))
            set_property(element, kind, before * value)


def changed_platform(path, point, directory):
    """A platform for the point: the given one where nothing of it changes."""
    changes = [(name, point[name]) for name in MACHINE + ("gpus", "cpus")
               if name in point and not (name in MACHINE and point[name] == 1)]
    for name, value in changes:
        if is_number(value) and name in MACHINE and value <= 0:
            raise Refusal("study: %s is %s, expected a factor above 0" % (name, value))
    if not changes:
        return path
    root = read_platform(path)
    for name, value in changes:
        if name in ATTRIBUTES:
            set_links(root, name, value)
        else:
            set_hosts(root, path, name, value)
    new = os.path.join(directory, "platform.xml")
    write_text(new, HEAD + ElementTree.tostring(root, encoding="unicode") + "\n")
    return new
