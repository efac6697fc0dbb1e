# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map --optimise: a better order of the ranks for what they send, and its gain."""
import os
import re
import subprocess
import sys
import tempfile
from array import array

from orrery_tool.app import App
from orrery_tool.mapping import compute
from orrery_tool.scotch import first_order
from orrery_tool.platform_simgrid import MAX_LOAD_S, Smpi
from orrery_tool.speech import last_words
from orrery_tool.words import Refusal

MAX_HOSTS = 4096 # whose distances are asked for in pairs

# Run by another Python, since SimGrid ends the process when it dislikes a platform.
LATENCIES = """
import ctypes, os, sys
simgrid = ctypes.CDLL(sys.argv[1])
argv = (ctypes.c_char_p * 2)(b"orrery", None)
simgrid.simgrid_init(ctypes.byref(ctypes.c_int(1)), argv)
simgrid.simgrid_load_platform(os.fsencode(sys.argv[2]))
simgrid.sg_host_by_name.restype = ctypes.c_void_p
latency = simgrid.sg_host_get_route_latency
latency.restype = ctypes.c_double
latency.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
hosts = [simgrid.sg_host_by_name(os.fsencode(name)) for name in sys.stdin.read().split()]
if None in hosts:
    sys.exit("a host is missing")
for i, a in enumerate(hosts):
    print(" ".join("%.6g" % latency(a, b) if a != b else "0" for b in hosts))
sys.stdout.flush()
os._exit(0)
"""


def write_distances(platform, machine, path):
    """The latency of the route between each two hosts, as SimGrid knows it."""
    if len(machine.nodes) > MAX_HOSTS:
        raise Refusal("map: --optimise looks at the routes between at most %d hosts, and %s "
                      "has %d; name fewer with --hostfile" % (MAX_HOSTS, platform,
                                                              len(machine.nodes)))
    smpi = Smpi()
    library = [name for name in App(smpi.main).needed if name.startswith("libsimgrid")]
    if not library:
        raise Refusal("map: %s is not linked with libsimgrid; reinstall the Debian package "
                      "libsimgrid-dev" % smpi.main)
    names = "\n".join(name for name, _ in machine.nodes)
    with open(path, "w", encoding="ascii") as f:
        try:
            out = subprocess.run(
                [sys.executable, "-c", LATENCIES, library[0], platform], input=names,
                text=True, stdout=f, stderr=subprocess.PIPE, timeout=MAX_LOAD_S, check=False,
                env=smpi.search_path(os.environ))
        except subprocess.TimeoutExpired:
            raise Refusal("map: SimGrid has not found all routes of %s after %d s; name fewer "
                          "hosts with --hostfile" % (platform, MAX_LOAD_S)) from None
    if out.returncode != 0:
        raise Refusal("map: SimGrid does not take the platform %s: %s"
                      % (platform, out.stderr.strip()[-300:]))


def percent(before, after):
    if before <= 0:
        return "no change"
    return "%.1f %% %s" % (abs(1 - after / before) * 100, "less" if after <= before else "more")


class Optimiser:
    def __init__(self, place, args, words, machine, directory):
        self.place, self.args, self.machine = place, args, machine
        self.words, self.directory = words, directory
        self.platform = args.sim and place.platform(args.sim)

    def path(self, name):
        return os.path.join(self.directory, name)

    def hosts(self, words):
        return compute(self.place, words + ["--print", "hostfile"], self.machine, quiet=True)

    def simulate(self, hosts, matrix=None):
        """The simulated time of the program on these hosts, in seconds."""
        with open(self.path("hosts"), "w", encoding="utf-8") as f:
            f.write(hosts)
        summary = self.path("summary")
        command = [sys.executable, os.path.join(self.place.bin, "orrery"), "run", "--quiet",
                   "--sim", self.platform, "-n", str(hosts.count("\n")), "--hostfile",
                   self.path("hosts")]
        command += (["--comm-matrix", matrix] if matrix else []) + self.args.app
        out = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, env=dict(os.environ, ORRERY_SUMMARY=summary), check=False)
        if out.returncode != 0:
            said = last_words([line for line in out.stderr.split("\n") if line])
            raise Refusal("map: %s failed in simulation with status %d%s" % (
                self.args.app[0], out.returncode,
                ": " + said.replace("[orrery] ", "") if said else ""))
        with open(summary, encoding="ascii") as f:
            date = re.search(r"^date_s=(.*)$", f.read(), re.M)
        return float(date.group(1)) if date else 0.0

    def run(self):
        """The words that make the better map; says what was gained."""
        matrix, before_s = self.args.matrix, None
        if self.args.app:
            hosts = self.hosts(self.words)
            before_s = self.simulate(hosts, None if matrix else self.path("matrix"))
            matrix = matrix or self.path("matrix")
        if not matrix:
            raise Refusal("map: --optimise needs what the ranks send: --matrix FILE.csv of "
                          "\"orrery run --comm-matrix\", or --sim with a program to ask")
        better = self.words + ["--matrix", matrix]
        if self.platform:
            write_distances(self.platform, self.machine, self.path("distances"))
            better += ["--distances", self.path("distances")]
        better += self.begin_with_scotch(matrix)
        said = []
        hosts = compute(self.place, better + ["--print", "hostfile"], self.machine, said=said)
        self.say_distances(said)
        if self.args.app:
            after_s = self.simulate(hosts)
            self.say("simulated time %.6g s before, %.6g s after: %s"
                     % (before_s, after_s, percent(before_s, after_s)))
            if after_s >= before_s:
                self.say("that gains nothing, and the map stays as it was")
                return self.words
        return better

    def begin_with_scotch(self, matrix):
        """The option that gives the search SCOTCH's order, where there is one."""
        distances = None
        if self.platform:
            with open(self.path("distances"), encoding="ascii") as f:
                distances = [array("d", map(float, line.split())) for line in f]
        order = first_order(self.hosts(self.words).split(), [name for name, _ in
                                                             self.machine.nodes],
                            matrix, distances, self.directory)
        if isinstance(order, str):
            if order:
                self.say(order)
            return []
        with open(self.path("first"), "w", encoding="ascii") as f:
            f.write("".join("%d\n" % place for place in order))
        self.say("the search begins with an order of SCOTCH")
        return ["--first", self.path("first")]

    def say_distances(self, said):
        match = re.search(r"weighted distance (\S+) before, (\S+) after", "\n".join(said))
        if match:
            self.say("%s: %s" % (match.group(0), percent(*map(float, match.groups()))))

    @staticmethod
    def say(text):
        print("[orrery] map: " + text, file=sys.stderr, flush=True)


def optimised(place, args, words, machine, directory):
    if args.app and not args.sim:
        raise Refusal("map: --optimise starts %s in simulation only; give --sim PLATFORM"
                      % args.app[0])
    return Optimiser(place, args, words, machine, directory).run()


def temporary():
    return tempfile.TemporaryDirectory(prefix="orrery-")
