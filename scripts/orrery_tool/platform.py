# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run, simulated: the platform and the host of each rank."""
import difflib
import os
import re
import xml.etree.ElementTree as ElementTree

from orrery_tool.platform_check import Structure, check_file
from orrery_tool.words import Refusal

MAX_HOSTS = 1 << 22
MAX_NAMES = 10000          # that a misspelt one is compared with


def expand_radical(radical, where):
    """The numbers of "0-3,7"."""
    numbers = []
    for part in radical.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        if not match:
            raise Refusal("%s: radical \"%s\" of a cluster is not understood; expected "
                          "something like \"0-1023\"" % (where, radical))
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if last - first + len(numbers) >= MAX_HOSTS:
            raise Refusal("%s: radical \"%s\" of a cluster names more than %d hosts"
                          % (where, radical, MAX_HOSTS))
        numbers += range(first, last + 1)
    return numbers


def read_platform(path):
    """The outermost element of a SimGrid platform."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        Structure(path).read() # which has more to say of it
        raise Refusal("%s:%d: platform file is malformed or truncated: %s; it must be a "
                      "complete SimGrid platform" % (
                          path, error.position[0], str(error).partition(": line")[0])) from None
    except (OSError, UnicodeDecodeError, LookupError, ValueError) as error:
        raise Refusal("platform file %s cannot be read: %s" % (
            path, getattr(error, "strerror", None) or error)) from None
    if root.tag != "platform":
        raise Refusal("%s is no SimGrid platform: its outermost element is <%s>, expected "
                      "<platform>" % (path, root.tag))
    return root


def element_hosts(element, path):
    """The names of the hosts that an element of a platform stands for."""
    if element.tag == "cluster":
        missing = [name for name in ("id", "radical", "speed", "bw", "lat")
                   if name not in element.attrib]
        if missing:
            raise Refusal("%s: a <cluster> lacks the attribute %s" % (path, missing[0]))
    if element.tag in ("cluster", "cabinet"):
        return [element.get("prefix", "") + str(number) + element.get("suffix", "")
                for number in expand_radical(element.get("radical", ""), path)]
    return [element.get("id", "")] if element.tag in ("host", "peer") else []


def host_counts(path, element, name, props):
    """(cores for workers, GPUs) of a host; props: of its element."""
    kind = host_kind(props.get("kinds", ""), name)
    counts = []
    for prop, absent in (("cpus", element.get("core", "1")), ("gpus", "0")):
        text = props.get("%s.%s" % (kind, prop), props.get(prop, absent))
        if not re.fullmatch(r"[0-9]{1,6}(\.0*)?", text):
            raise Refusal("%s: host %s has \"%s\" cores or GPUs, expected a number"
                          % (path, name, text))
        counts.append(int(float(text)))
    return max(counts[0], 1), counts[1]


def host_kind(kinds, name):
    """Of "cpu:0-99;gpu:100-149", the kind that the number at the end of a name has."""
    number = re.search(r"(\d+)\D*$", name)
    for kind, first, last in re.findall(r"(\w+):(\d+)-(\d+)", kinds):
        if number and int(first) <= int(number.group(1)) <= int(last):
            return kind
    return None


def platform_nodes(path):
    """(name, cores for workers, GPUs) of each host of a SimGrid platform, in order."""
    nodes = []
    for element in read_platform(path).iter():
        names = element_hosts(element, path)
        if not names:
            continue
        props = {prop.get("id"): prop.get("value", "") for prop in element.findall("prop")}
        if "kinds" in props:
            nodes += [(name, *host_counts(path, element, name, props)) for name in names]
        else:
            counts = host_counts(path, element, names[0], props)
            nodes += [(name, *counts) for name in names]
    if not nodes:
        raise Refusal("%s has no hosts: expected <cluster> or <host> elements" % path)
    return nodes


def platform_hosts(path):
    """The host names of a SimGrid platform, in order."""
    hosts = [name for element in read_platform(path).iter()
             for name in element_hosts(element, path)]
    if not hosts:
        raise Refusal("%s has no hosts: expected <cluster> or <host> elements" % path)
    return hosts


def hostfile_lines(path):
    """The lines of a host file that say something, with their numbers."""
    if os.path.isdir(path):
        raise Refusal("host file %s is a directory; expected a file with lines HOST or HOST:COUNT" % path)
    if not os.path.isfile(path):
        raise Refusal("host file %s does not exist" % path)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as f:
            lines = [(number, re.sub(r"(^|\s)#.*", "", line).strip())
                     for number, line in enumerate(f, 1)]
    except OSError as error:
        raise Refusal("host file %s cannot be read: %s" % (path, error.strerror)) from None
    lines = [(number, line) for number, line in lines if line]
    if not lines:
        raise Refusal("host file %s is empty: expected lines with HOST or HOST:COUNT" % path)
    return lines


HOST_LINE = r"([^\s:,#]+)(?::([0-9]{1,9})|((?:\s+(?:slots|max[_-]slots)\s*=\s*[0-9]{1,9})+))?"


def host_line(path, number, line):
    """(host, ranks) of a line."""
    match = re.fullmatch(HOST_LINE, line)
    if not match:
        count = re.fullmatch(r"([^\s:,#]+)\s+([0-9]{1,9})", line)
        raise Refusal("%s:%d: \"%s\" is not understood; expected HOST, HOST:COUNT or HOST "
                      "slots=COUNT%s" % (path, number, line, ", one host on each line"
                                         if "," in line else "; did you mean %s:%s?" % count.groups()
                                         if count else ""))
    slots = re.search(r"\sslots\s*=\s*([0-9]+)", match.group(3) or "")
    count = int(match.group(2) or (slots.group(1) if slots else 1))
    if count == 0:
        raise Refusal("%s:%d: host %s has 0 ranks; leave the line out, or say how many"
                      % (path, number, match.group(1)))
    return match.group(1), count


def near_host(name, hosts):
    """A hint at the host that is meant, or nothing."""
    span = re.fullmatch(r"(.*)\[.*\](.*)", name)
    if span:
        return "; one host on each line: %s" % hosts[0]
    short = name.lower().partition(".")[0]
    near = [host for host in hosts[:MAX_NAMES] if host.lower() == short] or \
        difflib.get_close_matches(name, hosts[:MAX_NAMES], 1)
    return "; did you mean %s?" % near[0] if near else ""


def read_hostfile(path, hosts, nranks):
    known, names = set(hosts or ()), []
    for number, line in hostfile_lines(path):
        name, count = host_line(path, number, line)
        if hosts and name not in known:
            raise Refusal("%s:%d: the platform has no host %s (its hosts are %s to %s%s)"
                          % (path, number, name, hosts[0], hosts[-1], near_host(name, hosts)))
        names += [name] * min(count, nranks)
    return names


def choose_hosts(args):
    """The host of each rank."""
    if args.sim.endswith(".so"):
        if not args.hostfile:
            raise Refusal("a platform in a .so needs --hostfile with the names of its hosts")
        hosts = None
    else:
        check_file(args.sim, args.quiet)
        hosts = platform_hosts(args.sim)
    names = read_hostfile(args.hostfile, hosts, args.n) if args.hostfile else hosts
    if len(names) < args.n:
        larger = "--sim %s:%d" % (args.machine, args.n) if re.fullmatch(r"[a-z]+[0-9]*", args.machine) \
            and not args.hostfile and not os.path.exists(args.machine) else \
            "nodes = %d in %s" % (args.n, args.machine) \
            if args.machine.endswith(".toml") and not args.hostfile else "a larger platform"
        raise Refusal("%s has %d host%s, -n asks for %d ranks; use -n %d, %s, "
                      "or a --hostfile that names hosts several times"
                      % (args.hostfile or args.machine, len(names), "s" * (len(names) != 1), args.n,
                         len(names), larger))
    return names[:args.n]
