# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Platforms in the eyes of SimGrid, and where it is installed."""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys

from orrery_tool.app import App
from orrery_tool.platform import platform_hosts
from orrery_tool.platform_elements import bad_attribute, misplaced
from orrery_tool.words import Refusal

MAX_LOAD_S = 100           # for SimGrid to read a platform
MAX_SEALS = 200            # of platforms that it has taken


class Smpi:
    """What smpirun knows of its installation.  It is not started itself: the shell script
    splits and swallows arguments, and looks for libraries in a directory open to all."""

    def __init__(self):
        smpirun = shutil.which("smpirun")
        if not smpirun:
            raise Refusal("smpirun was not found; install the Debian package libsimgrid-dev")
        with open(smpirun, encoding="utf-8", errors="replace") as f:
            text = f.read()
        main = re.search(r'"(/[^"$]*/smpimain)"', text)
        options = re.search(r'^SIMOPTS="([^"$]*)"', text, re.M)
        libraries = re.search(r'export LD_LIBRARY_PATH="([^"$]*)', text)
        if not main or not options or not os.access(main.group(1), os.X_OK):
            raise Refusal("%s does not name its smpimain; reinstall the Debian package "
                          "libsimgrid-dev" % smpirun)
        self.main = main.group(1)
        self.options = options.group(1).split()
        self.libraries = libraries.group(1).strip(":") if libraries else ""

    def search_path(self, env):
        path = ":".join(part for part in (self.libraries, env.get("LD_LIBRARY_PATH")) if part)
        return dict(env, LD_LIBRARY_PATH=path) if path else dict(env)


# Run by another Python, since SimGrid ends the process when it dislikes a platform.
LOAD_PLATFORM = """
import ctypes, os, sys
simgrid = ctypes.CDLL(sys.argv[1])
argv = (ctypes.c_char_p * 3)(b"orrery", b"--cfg=network/model:SMPI", None) # as smpirun says
simgrid.simgrid_init(ctypes.byref(ctypes.c_int(2)), argv)
if hasattr(simgrid, "smpi_init_options"):
    simgrid.smpi_init_options() # a platform may have them in its <config>
simgrid.simgrid_load_platform(os.fsencode(sys.argv[2]))
simgrid.sg_host_by_name.restype = ctypes.c_void_p
hosts = [(name, simgrid.sg_host_by_name(os.fsencode(name))) for name in sys.argv[3:]]
for name, host in hosts:
    if not host:
        print("host", name)
if hosts[1:]:
    simgrid.simgrid_run_until(ctypes.c_double(0)) # now zones know their routes
bandwidth = simgrid.sg_host_get_route_bandwidth # below 0: no link
latency = simgrid.sg_host_get_route_latency # that of coordinates needs none
for ask in bandwidth, latency:
    ask.argtypes, ask.restype = [ctypes.c_void_p] * 2, ctypes.c_double
hosts = [(name, host) for name, host in hosts if host]
for at, (name, host) in enumerate(hosts[1:], 1):
    for other, there in (hosts[0], hosts[at - 1]):
        for ends in ((name, host), (other, there)), ((other, there), (name, host)):
            print("route", ends[0][0], ends[1][0], flush=True)
            if bandwidth(ends[0][1], ends[1][1]) < 0 and latency(ends[0][1], ends[1][1]) <= 0:
                os._exit(1)
os._exit(0)
"""


EXCEPTION = re.compile(r"^Uncaught exception [\w:]+( by [\w/]+)?: ")
# For what SimGrid says.
REMEDIES = (
    ("parent of this NetZone", "several clusters stand inside one <zone id=\"all\" routing=\"Full\">, with a "
     "<zoneRoute> between each two of them"),
    ("Empty route", "put <link_ctn id=\"LINK\"/> inside it, for each link on the way"),
    ("Cannot open file", "say where it is, as seen from here, or leave it out"),
    ("sto[di]$", "a number is missing or misspelt in a <trace>, a profile or topo_parameters"),
    ("unknown unit", "bandwidths are such as \"1.25GBps\" or \"10Gbps\", latencies \"10us\", "
     "speeds \"2.5Gf\""),
    ("Link not found", "write a <link> with that id before the <route> that names it"),
    (r"Route (src|dst)=", "the <route> ends at what is no <host> and no <router> of its zone: "
     "correct its name"),
    ("Bad attribute", "its name is misspelt, or its value is none of those that SimGrid knows (for "
     "topology: FLAT, TORUS, FAT_TREE, DRAGONFLY)"),
    ("include> tag", "put the content of that file in its place"),
    ("number of radicals", "make radical name as many hosts as topo_parameters have places"),
    ("Bad config key", "correct its name, or leave it out"),
    ("Bad declaration <!DOCTYPE", "write <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"),
    ("network selective update", "leave network/maxmin-selective-update out"),
    ("tag <storage", "since version 4.1 a <host> has its disks inside: <disk id=\"d\" "
     "read_bw=\"100MBps\" write_bw=\"50MBps\"/>"),
    ("is not allowed here", "<config> comes first, then <trace>, then zones; in a zone hosts and "
     "routers, then links, then routes"),
    ("creating an actor", "a platform has no <actor> here: \"orrery run\" starts ranks, -n and --hostfile "
     "say how many and where"),
    ("cannot parse number: *$", "give each link its bandwidth and latency, and each host its speed"),
    ("route between .* already exist", "leave one of both out, or say symmetrical=\"NO\" in each of "
     "them"),
    ("Not a valid model", "routing is one of Full, Floyd, Dijkstra, DijkstraCache, Cluster, None, "
     "Vivaldi"),
    ("define trace .* twice", "SimGrid reads the file of a profile for one host only: give each a copy of its "
     "own, or leave speed_file and availability_file out, since they change nothing here"),
    ("Profile loop conditions", "in the file of a profile PERIODICITY is more than its last date"),
    ("In a StarZone", "with routing=\"Cluster\" each host has its links by <host_link id=\"HOST\" "
     "up=\"LINK\" down=\"LINK\"/>; routes between two hosts want routing=\"Full\""),
    ("gw_(src|dst)=", "a gateway is a <router> or <host> of its zone; that of a <cluster> is what its "
     "router_id says, else PREFIX, its id, \"_router\" and SUFFIX; with a topology, one of its hosts"),
    ("lready exist|[Rr]efusing to create", "each host, link and zone needs a name of its own"),
)


# What SimGrid names without saying where: the element that has it.
PLACES = (
    ("Empty route .between (\\S+ and [^ )]+)", "<route [^>]*src=\"%s\""),
    ("second NetZone called '([^']*)'", "<(?:zone|cluster|AS) [^>]*id=\"%s\""),
    ("Cannot open file '([^']*)'", "_?file=\"%s\""),
    ("Link not found: (\\S+)", "<(?:link_ctn|host_link) [^>]*\"%s\""),
    ("Bad config key: (\\S+)", "<prop [^>]*id=\"%s\""),
    ("disable (network) selective update", "<prop [^>]*id=\"%s/maxmin-selective-update\""),
    ("route between (\\S+ and \\S+) already", "<route [^>]*src=\"%s\""),
    ("add route from (\\S+) to .*StarZone", "<route [^>]*src=\"%s\""),
    ("define trace (\\S+) twice", "_?file=\"%s\""),
    ("for CPU (\\S+)", "<host [^>]*id=\"%s\""),
    ("named '([^']*)'", "<(?:host|cluster|link|zone|router) [^>]*id=\"%s\""),
)


def place_of(path, words):
    """PATH:LINE of the last element that SimGrid speaks of, where it is known."""
    for pattern, element in PLACES:
        found = re.search(pattern, words)
        if not found or path.endswith(".so"):
            continue
        name = "\" +dst=\"".join(map(re.escape, found.group(1).split(" and ")))
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        at = [match.start() for match in re.finditer(element % name, text)]
        if at:
            return "%s:%d" % (path, text.count("\n", 0, at[-1]) + 1)
    return path


def cache_directory(name):
    """Below the user's cache; None: nothing can be kept there."""
    path = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                        "orrery", name)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def seal_of(path, library, names):
    """A name for "this SimGrid takes this platform with these hosts"."""
    digest = hashlib.sha256("\0".join([library, *names]).encode(errors="surrogateescape"))
    with open(path, "rb") as f:
        digest.update(f.read())
    return digest.hexdigest()[:32]


def is_known_good(args, seal):
    """What orrery wrote itself needs no second opinion, and no file a second time."""
    if args.sim != args.machine and not args.machine.endswith(".so"):
        return True
    directory = cache_directory("checked")
    return bool(directory) and os.path.exists(os.path.join(directory, seal))


def keep_seal(seal):
    """For the next run, as the youngest of MAX_SEALS."""
    directory = cache_directory("checked")
    if not directory:
        return
    try:
        with open(os.path.join(directory, seal), "wb"):
            pass
        seals = sorted(os.scandir(directory), key=lambda entry: entry.stat().st_mtime)
        for entry in seals[:-MAX_SEALS]:
            os.remove(entry.path)
    except OSError:
        pass # it is read again


def check_platform(args, smpi, names):
    """SimGrid's objections to the platform, in one sentence."""
    library = [name for name in App(smpi.main).needed if name.startswith("libsimgrid")]
    if not library:
        return
    seal = seal_of(args.sim, library[0], names)
    if is_known_good(args, seal):
        return
    command = [sys.executable, "-c", LOAD_PLATFORM, library[0], args.sim]
    command += list(dict.fromkeys(names))[:1000]
    try:
        out = subprocess.run(command, capture_output=True, text=True, errors="replace",
                             timeout=MAX_LOAD_S, env=smpi.search_path(os.environ))
    except subprocess.TimeoutExpired:
        raise Refusal("SimGrid has not read the platform %s after %d s; use a smaller one"
                      % (args.sim, MAX_LOAD_S)) from None
    missing = re.findall(r"^host (.*)$", out.stdout, re.M)
    if out.returncode == 0 and missing:
        raise Refusal("SimGrid finds no host %s in the platform %s" % (missing[0], args.sim))
    if out.returncode == 0:
        keep_seal(seal)
        return
    said = [re.sub(r"^\[[^]]*\] *(?:\S+:\d+: *)?(?:\[[^]]*\] *)?", "", line)
            for line in out.stderr.split("\n") if "CRITICAL" in line or "rror" in line]
    ends = re.findall(r"^route (.*) (.*)$", out.stdout, re.M)
    if ends:
        if out.returncode < 0 and not said:
            raise Refusal("platform file %s: SimGrid ends by signal %d where it looks for a route from "
                          "host %s to host %s; a dragonfly needs as many routers in a chassis as it has "
                          "groups: topo_parameters=\"3,1;2,1;3,1;2\", not \"3,1;2,1;2,1;2\""
                          % (args.sim, -out.returncode, *ends[-1]))
        raise Refusal("platform file %s: there is no route from host %s to host %s%s; add a %s "
                      "with its links, or take hosts that reach each other (--hostfile)" % (
                          args.sim, *ends[-1], ": " + EXCEPTION.sub("", said[0])[:200] if said else "",
                          "<zoneRoute> between their zones" if re.search("gateways|No route from", "".join(said))
                          else "<route>"))
    words = bad_attribute(said[0], args.sim) or misplaced(said[0], args.sim) if said else ""
    if words:
        raise Refusal(words)
    words = EXCEPTION.sub("", said[0])[:300].replace(
        "does name a node", "names no host or router") if said else \
        "it ends without saying why (status %d)" % out.returncode
    # It puts names on lines of their own, and its place into the sentence.
    words = re.sub(r"\.? *(Existing netpoints: *)?$", "", words)
    place = re.match(r"Parse error at (\S.*?:\d+): ", words)
    raise Refusal("platform file %s: SimGrid does not take it: %s%s" % (
        place.group(1) if place else place_of(args.sim, words), words[place.end() if place else 0:],
        next(("; " + remedy for pattern, remedy in REMEDIES if re.search(pattern, words)), "")))


def simgrid_takes(path):
    """For --check: SimGrid's objections are refusals, too; words on what it says else."""
    names = platform_hosts(path)
    if not shutil.which("smpirun"):
        return "; SimGrid is not installed here and was not asked"
    check_platform(argparse.Namespace(sim=path, machine=path), Smpi(), names)
    return "; SimGrid takes it: %d host%s" % (len(names), "s" * (len(names) != 1))
