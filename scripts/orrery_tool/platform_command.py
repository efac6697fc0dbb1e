# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: platforms from descriptions, ready machines, StarPU's calibrations."""
import hashlib
import os
import re
import sys
import tempfile

from orrery_tool.platform import read_platform
from orrery_tool.platform_check import check_file
from orrery_tool.platform_describe import Description, Figure, Library, read_text
from orrery_tool.platform_simgrid import cache_directory, simgrid_takes
from orrery_tool.platform_starpu import bus_of, calibrations_in, is_bus, is_machine
from orrery_tool.platform_write import Writer
from orrery_tool.words import Parser, Refusal, near_file, write_text


def platform_parser():
    parser = Parser(
        prog="orrery platform", allow_abbrev=False,
        description="Writes a SimGrid platform for a machine that a few lines describe, for a "
        "ready machine, or for nodes that StarPU has measured; the origin of each figure stands "
        "beside it.",
        epilog="NAME=VALUE, such as nodes=64 or node.gpus=8, changes what the description says. "
        "\"orrery help platforms\" explains descriptions; \"orrery run --sim\" takes them, "
        "too, and ready machines as NAME:NODES.")
    parser.add_argument("--list", action="store_true", help="the ready machines")
    parser.add_argument("--parts", action="store_true",
                        help="the processors, GPUs and links that descriptions may name")
    parser.add_argument("--describe", action="store_true",
                        help="print the description of a ready machine, to begin with")
    parser.add_argument("--check", action="store_true",
                        help="only say what is wrong with a description or a platform")
    parser.add_argument("-o", "--output", metavar="FILE", help="where it goes (standard output)")
    parser.add_argument("machine", nargs="?", help="a description FILE.toml, a ready machine, "
                        "StarPU's machine.platform.xml or bus/NAME")
    parser.add_argument("changes", nargs="*", metavar="NAME=VALUE", help="figures")
    return parser


def nodes_of_starpu(path):
    """A description of nodes that StarPU measured; of a network it says nothing."""
    description = Description()
    bus_of(path, read_platform) # says what is wrong
    description.node["machine"] = Figure(os.path.abspath(path), path)
    words = "StarPU's calibration says nothing of a network: this is a guess"
    description.top = {"nodes": Figure(1, path, words), "link": Figure("HDR", path, words)}
    return description


def say_guess(description):
    """Nodes of StarPU's have a network that somebody must have said."""
    link, nodes = description.top.get("link"), description.top.get("nodes")
    if link and "this is a guess" in link.origin and nodes and nodes.value > 1 \
            and "bandwidth" not in description.top:
        description.notes.append("%s: nothing says what network joins %d nodes: link = \"%s\" is taken; "
                                 "say link=NAME" % (link.where, nodes.value, link.value))


def description_of(library, machine):
    """(description, name, directory of its files)."""
    if machine is None:
        return Description(), "the command line", "."
    if os.path.isfile(machine) and machine.endswith(".xml"):
        if not is_machine(read_platform(machine)):
            raise Refusal("%s is a platform already; --check says what is wrong with it" % machine)
        return nodes_of_starpu(machine), machine, "."
    if os.path.isfile(machine) and not is_bus(machine):
        return library.read(machine), machine, os.path.dirname(machine)
    if is_bus(machine):
        return nodes_of_starpu(machine), machine, "."
    name, _, nodes = machine.partition(":")
    if os.path.isdir(machine):
        inside = calibrations_in(machine)
        raise Refusal("platform: %s is a directory; %s" % (machine, "with calibrations of StarPU's: say %s" %
                                                          " or ".join(inside[:5]) if inside else
                                                          "expected a file NAME.toml, or a calibration of StarPU's"))
    if name not in library.ready():
        inside = calibrations_in(os.path.dirname(machine)) if os.path.dirname(machine) else []
        raise Refusal("platform: %s is no file and no ready machine; there are %s%s" % (
            machine, ", ".join(library.ready()), "; calibrations of StarPU's there are " + ", ".join(inside[:5])
            if inside else near_file(machine)))
    description = library.read(library.path(name))
    if nodes:
        description.override("nodes=" + nodes)
        description.top.pop("tree", None)
    return description, name + ".toml", library.directory


def writer_of(library, machine, changes):
    description, name, directory = description_of(library, machine)
    for change in changes:
        description.override(change)
    if any(change.startswith("nodes=") for change in changes):
        for fixed in ("tree", "shape"):
            if not any(change.startswith(fixed + "=") for change in changes):
                description.top.pop(fixed, None)
    say_guess(description)
    return Writer(description, library, name, directory, read_platform)


def list_ready(library):
    for name in library.ready():
        description = library.read(library.path(name))
        print("%-10s %5d nodes  %s" % (name, description.top["nodes"].value,
                                       description.top["about"].value))
    print("\"orrery platform NAME --describe\" prints one with the origin of each figure; "
          "NAME:1000 has 1000 nodes")
    return 0


def list_parts(library):
    figures = library.path("parts")
    for line in read_text(figures).split("\n"):
        head = re.match(r"\[(\w+)\.(.*)\]", line)
        if head:
            print("%s = \"%s\"" % head.groups())
    print("the figures and where they come from: " + figures)
    return 0


def from_place(share, machine):
    """For orrery run --sim: the path of a platform made of it, kept for the next run; None
    when it is no description."""
    library = Library(share)
    if os.path.isdir(machine):
        description_of(library, machine) # says what it has
    ready = re.fullmatch(r"([\w-]+)(?::(\d+))?", machine)
    if not (machine.endswith(".toml") or is_bus(machine)
            or (ready and ready.group(1) in library.ready())
            or (machine.endswith(".xml") and os.path.isfile(machine)
                and is_machine(read_platform(machine)))):
        return None
    writer = writer_of(library, machine, [])
    text = writer.text()
    for note in writer.shape.notes:
        print("[orrery] %s%s" % ("" if note.startswith(machine) else machine + ": ", note), file=sys.stderr)
    base = cache_directory("platforms") or tempfile.gettempdir()
    stem = re.sub(r"[^\w-]", "-", os.path.basename(machine))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = os.path.join(base, "%s-%s.xml" % (stem, digest))
    try:
        known = read_text(path)
    except Refusal:
        known = None
    if known != text:
        write_text(path, text)
    return path


def is_whole_machine(path):
    """Is it StarPU's, and can be read?  Of what cannot, the other check says more."""
    try:
        return is_machine(read_platform(path))
    except Refusal:
        return False


def check_output(args):
    """A platform that took the place of its description would be the end of that."""
    if args.output and args.output.endswith(".toml") and not args.describe:
        stem = args.output[:-len(".toml")]
        raise Refusal("platform: -o %s: a platform is XML, and a .toml is read as a description; say -o %s.xml%s" % (
            args.output, stem, "" if args.machine and os.path.exists(args.machine) else
            ", or --describe for the description of a ready machine"))
    if args.output and args.machine and os.path.exists(args.output) and os.path.exists(args.machine) \
            and os.path.samefile(args.output, args.machine):
        raise Refusal("platform: -o %s is the file that is read; say another one" % args.output)


def command_platform(place, argv):
    args = platform_parser().parse_args(argv)
    library = Library(place.share)
    if args.list or args.parts:
        return list_ready(library) if args.list else list_parts(library)
    if args.machine and "=" in args.machine:
        args.changes.insert(0, args.machine)
        args.machine = None
    if not args.machine and not args.changes:
        raise Refusal("platform: no machine given; give a description FILE.toml, one of %s, or "
                      "NAME=VALUE; see \"orrery help platforms\"" % ", ".join(library.ready()))
    check_output(args)
    if args.describe:
        if args.machine not in library.ready():
            raise Refusal("platform: --describe needs one of %s" % ", ".join(library.ready()))
        text = read_text(library.path(args.machine))
        if args.output:
            write_text(args.output, text)
        else:
            sys.stdout.write(text)
        return 0
    if args.check and args.machine and args.machine.endswith(".so"):
        raise Refusal("platform: --check reads descriptions and platforms in XML; %s is compiled: a run "
                      "says what is wrong with it" % args.machine)
    if args.check and args.machine and args.machine.endswith(".xml") \
            and not is_whole_machine(args.machine):
        check_file(args.machine)
        print("%s: nothing is wrong with what it says of nodes%s"
              % (args.machine, simgrid_takes(args.machine)))
        return 0
    writer = writer_of(library, args.machine, args.changes)
    text = writer.text()
    for note in writer.shape.notes:
        print("[orrery] platform: " + note, file=sys.stderr)
    if args.check:
        print("%s: good: %s" % (writer.name, writer.shape.words))
    elif args.output:
        write_text(args.output, text)
        print("%s: %s" % (args.output, writer.shape.words))
    else:
        sys.stdout.write(text)
    return 0
