#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Simulated dates: the same in every run, and nearly the same by every transport.

usage: exact.py [--table]      --table: show all makespans
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
XML = os.path.join(SRC, "platforms", "xml")
PATTERNS = os.path.join(BUILD, "tests", "sim", "makespans-sim")
CHOLESKY = os.path.join(BUILD, "examples", "cholesky", "cholesky-sim")
TOLERANCE = 0.03
SIZES = (8, 20000, 2000000)  # one message, two of them, a long transfer
# Transport "mpi" starts no message while a rank's main inserts tasks; and a scheduler that
# looks at no duration turns a difference of a microsecond into another schedule.
STEADY = {"ORRERY_SUBMIT_COST": "0", "ORRERY_INSERT_COST": "0", "STARPU_SCHED": "dmdasd"}
# The wall-clock figures of examples/cholesky, which differ from run to run.
HOST_FIGURES = re.compile(r"^(wall time|simulation speed|peak memory):.*\n", re.MULTILINE)
nfailed = 0


def verdict(claim, good, why):
    global nfailed
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    nfailed += not good


def simulate(platform, n, program, *arguments, transport=None, **env):
    """(status, output)"""
    command = [sys.executable, ORRERY, "run", "--quiet", "--sim", platform, "-n", str(n)]
    if transport:
        command += ["--transport", transport]
    out = subprocess.run(command + [program, *arguments], text=True, timeout=400,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env=dict(os.environ, ORRERY_BUILD=BUILD, **env), check=False)
    return out.returncode, out.stdout


def makespan(result):
    found = re.search(r"^makespan: (\S+) s", result[1], re.MULTILINE)
    return float(found.group(1)) if found and result[0] == 0 else None


# ---- two runs are equal ----

def check_repeats(pool):
    cases = [("cholesky on 4 nodes", (os.path.join(XML, "small4.xml"), 4, CHOLESKY,
                                      "--nb", "16")),
             ("cholesky on 64 nodes", (os.path.join(XML, "gpu64.xml"), 64, CHOLESKY,
                                       "--nb", "32")),
             ("stencil by SMPI", (os.path.join(XML, "small4.xml"), 4, PATTERNS, "stencil",
                                  "20000")),
             # Has more routes than are remembered.
             ("cholesky on 1,024 nodes", (os.path.join(XML, "gpu1024.xml"), 1024, CHOLESKY,
                                          "--nb", "100", "--tile", "2048", "--prune"))]
    for name, command in cases:
        if not os.path.exists(command[2]):
            continue
        transport = "mpi" if name.endswith("SMPI") else None
        scheduler = {"STARPU_SCHED": "dmda"} if "1,024" in name else {}
        # Another address space, environment and load must not matter.
        first, second, third = (job.result() for job in [
            pool.submit(simulate, *command, transport=transport, **scheduler, **env)
            for env in ({}, {}, {"ORRERY_TEST_FILL": "x" * 5000})])
        same = [HOST_FIGURES.sub("", output) for _, output in (first, second, third)]
        verdict("two runs are equal: " + name,
                makespan(first) and same[0] == same[1] == same[2], "%s" % same)


# ---- transports agree ----

def platforms(directory):
    """(name, path, nodes)"""
    with open(os.path.join(XML, "small4.xml"), encoding="utf-8") as f:
        text = f.read()
    yield "flat", os.path.join(XML, "small4.xml"), 4
    for name, topology in (("torus", 'topology="TORUS" topo_parameters="2,2,4"'),
                           ("fat tree", 'topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"')):
        path = os.path.join(directory, name.replace(" ", "-") + ".xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace('radical="0-3"', 'radical="0-15" ' + topology))
        yield name, path, 16


def check_slow_networks(pool, directory):
    """Ranks leave a barrier together, also where the first messages of the start take long."""
    jobs = []
    for name, attributes in (("switch", 'lat="5us"'), (
            "torus", 'lat="50us" topology="TORUS" topo_parameters="3,2,2"'), (
                "fat tree", 'lat="50us" topology="FAT_TREE" topo_parameters="2;4,3;1,1;1,1"')):
        path = os.path.join(directory, "slow-%s.xml" % name.replace(" ", "-"))
        with open(path, "w", encoding="utf-8") as f:
            f.write("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                    '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
                    '<cluster id="slow" prefix="node-" suffix="" radical="0-11" speed="1Gf" '
                    'bw="125MBps" core="4" %s/></platform>\n' % attributes)
        for case in (("gather", "20000"), ("ring", "8")):
            jobs.append((name, case, [pool.submit(simulate, path, 12, PATTERNS, *case,
                                                  transport=transport)
                                      for transport in ("mpi", "routes", "flows")]))
    for name, case, runs in jobs:
        dates = [makespan(run.result()) for run in runs]
        if "--table" in sys.argv:
            print("%-32s mpi %s routes %s flows %s" % ("%s %s on a slow %s" % (*case, name), *dates))
        verdict("transports agree within 1 %%: %s on a slow %s" % (case[0], name), all(dates)
                and all(abs(date / dates[1] - 1) <= 0.01 for date in dates),
                "mpi, routes, flows: %s" % dates)


UNLIKE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Floyd">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
    <link id="near" bandwidth="125MBps" latency="1ms"/>
    <link id="far" bandwidth="20MBps" latency="3ms"/>
    <route src="a" dst="b"><link_ctn id="near"/></route>
    <route src="b" dst="c" symmetrical="NO"><link_ctn id="near"/></route>
    <route src="c" dst="b" symmetrical="NO"><link_ctn id="far"/></route>
    <route src="a" dst="c"><link_ctn id="far"/></route>
  </zone>
</platform>
"""

EQUALS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" suffix="" radical="0-23" speed="1Gf" core="4" bw="1.25GBps" lat="10us"
           topology="DRAGONFLY" topo_parameters="2,1;3,2;2,1;2"/>
</platform>
"""


# What comes over a near link is not delayed by what is on its way over a far one; and of what ends at one
# date, the same is told first: it is granted first.  name, platform, nodes, tiles
MACHINES = (("unlike latencies", UNLIKE, 3, ("10", "12", "14")),
            ("a dragonfly", EQUALS, 12, ("12", "14", "18")))


def check_cholesky(pool, directory, name, platform, n, sizes):
    path = os.path.join(directory, name.replace(" ", "-") + ".xml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(platform)
    jobs = [pool.submit(simulate, path, n, CHOLESKY, "--nb", nb, "--tile", "256",
                        transport=transport, STARPU_HOSTNAME="epyc-9xx4", **STEADY)
            for nb in sizes for transport in ("mpi", "routes", "flows")]
    for i, nb in enumerate(sizes):
        dates = [makespan(job.result()) for job in jobs[3 * i:3 * i + 3]]
        if "--table" in sys.argv:
            print("cholesky %s on %s   mpi %s routes %s flows %s" % (nb, name, *dates))
        verdict("transports agree within 1 %%: cholesky %s on %s" % (nb, name),
                all(dates) and all(abs(date / dates[1] - 1) <= 0.01 for date in dates),
                "mpi, routes, flows: %s" % dates)


def check_transports(pool, directory):
    jobs = []
    for name, path, n in platforms(directory):
        cases = [(pattern, str(size)) for pattern in ("ring", "stencil", "gather", "pairs")
                 for size in SIZES]
        cases += [("cholesky", "--nb", "12"), ("cholesky", "--nb", "20")]
        for case in cases:
            program = [CHOLESKY] if case[0] == "cholesky" else [PATTERNS, case[0]]
            if os.path.exists(program[0]):
                env = STEADY if case[0] == "cholesky" else {}
                jobs.append((name, case, [
                    pool.submit(simulate, path, n, *program, *case[1:], transport=transport,
                                **env)
                    for transport in ("mpi", "routes", "flows")]))
    apart = {}
    for name, case, runs in jobs:
        dates = [makespan(run.result()) for run in runs]
        what = "%s %s on a %s" % (case[0], case[-1], name)
        if "--table" in sys.argv:
            print("%-32s mpi %s routes %s flows %s" % (what, *dates))
        good = all(dates) and all(abs(date / dates[0] - 1) <= TOLERANCE for date in dates)
        if not good:
            apart.setdefault((case[0], name), []).append("%s: %s" % (what, dates))
    for pattern, name in dict.fromkeys((case[0], name) for name, case, _ in jobs):
        verdict("transports agree within 3 %%: %s on a %s" % (pattern, name),
                (pattern, name) not in apart,
                "mpi, routes, flows: " + "; ".join(apart.get((pattern, name), [])))


# ---- machines ----

def check_workers():
    small = os.path.join(XML, "small4.xml")
    both = makespan(simulate(small, 4, CHOLESKY, "--nb", "10"))
    gpus = makespan(simulate(small, 4, CHOLESKY, "--nb", "10", STARPU_NCPU="0"))
    cpus = makespan(simulate(small, 4, CHOLESKY, "--nb", "10", STARPU_NCUDA="0"))
    verdict("CPU and GPU workers can be left out", both and gpus and cpus and cpus > gpus,
            "makespans %s, without CPUs %s, without GPUs %s" % (both, gpus, cpus))
    status, output = simulate(small, 4, CHOLESKY, STARPU_NCPU="0", STARPU_NCUDA="0")
    verdict("without workers nothing starts", status == 77, "status %d: %s" % (status, output))
    status, output = simulate(small, 4, CHOLESKY, "--help")
    verdict("a program's --help is its own", status == 0 and "--nb N" in output, output[:300])


def main():
    workers = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="orrery-exact-") as directory, \
            concurrent.futures.ThreadPoolExecutor(min(2, workers)) as pool:
        check_repeats(pool)
        check_transports(pool, directory)
        check_slow_networks(pool, directory)
        if os.path.exists(CHOLESKY):
            for machine in MACHINES:
                check_cholesky(pool, directory, *machine)
    if os.path.exists(CHOLESKY):
        check_workers()
    return 1 if nfailed else 0


if __name__ == "__main__":
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as conf:
        # With sanitizers the ranks share the globals of the programs.
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            sys.exit(77)
    sys.exit(main())
