#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A cluster of this machine's namespaces, on which mpirun starts ranks as on several hosts.

usage: cluster.py [--hosts N] [--slots N] [--same-names] [--same-clocks] [--rate RATE] COMMAND...

Each host has a name, processes numbered from 1, a clock that began at another time, an address on a
network that joins them, /dev/shm and a place for temporary files of its own; files are those of all.
The command runs beside them, as on a node from which jobs are started, with what mpirun needs in its
environment: a host file, an agent in the place of ssh, which passes nothing of the environment on,
and messages by TCP.  Within, "nsenter" reaches a host by the numbers in $CLUSTER/hN/pid.
All ends with the command.  It takes root.
"""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

NAMESPACES = ["--net", "--uts", "--ipc", "--mount", "--pid"]
CLOCK_STEP_S = 5000
AGENT = """#!/bin/sh
# agent HOST COMMAND...: in the place of ssh.
here=%(place)s/$1
shift
exec nsenter -t "$(cat "$here/pid")" --net --uts --ipc --mount --pid %(time)s \\
    env -i PATH="$PATH" HOME="$here/home" LOGNAME=root SHELL=/bin/sh TMPDIR="$here/tmp" \\
    $(cat "$here/environment") $(cat "$here/before") /bin/sh -c "cd '%(home)s'; $*"
"""


def why_not():
    """Why there is no cluster here, or None."""
    for tool in ("unshare", "nsenter", "ip", "mpirun"):
        if not shutil.which(tool):
            return tool + " was not found"
    if os.geteuid() != 0:
        return "it takes root"
    trial = "ip link add name br0 type bridge && ip link add name v0 type veth peer name v1 && mount -t tmpfs t /dev/shm"
    command = ["unshare"] + NAMESPACES + ["--fork", "--mount-proc", "--kill-child", "sh", "-c", trial]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def has_clocks():
    return subprocess.run(["unshare", "--time", "--monotonic", "1", "--fork", "true"],
                          capture_output=True, check=False).returncode == 0


def run(text, *words):
    subprocess.run(text.split() + list(words), check=True)


class Cluster:
    """To be made where nothing else is: see enter()."""

    def __init__(self, args):
        self.args = args
        self.place = tempfile.mkdtemp(prefix="orrery-cluster-")
        self.names = ["h%d" % i for i in range(args.hosts)]
        self.has_clocks = not args.same_clocks and has_clocks()
        run("ip link set lo up")
        run("ip link add name br0 type bridge")
        run("ip addr add 10.77.0.254/24 dev br0")
        run("ip link set br0 up")
        self.processes = [self.start(i, name) for i, name in enumerate(self.names)]
        self.write("hostfile", "".join("%s slots=%d\n" % (name, args.slots) for name in self.names))
        self.write("agent", AGENT % {"place": self.place, "home": os.getcwd(),
                                     "time": "--time" if self.has_clocks else ""})
        os.chmod(os.path.join(self.place, "agent"), 0o755)

    def write(self, name, text):
        with open(os.path.join(self.place, name), "w", encoding="utf-8") as f:
            f.write(text)

    def start(self, number, name):
        for directory in ("home", "tmp"):
            os.makedirs(os.path.join(self.place, name, directory))
        self.write(name + "/environment", "")
        self.write(name + "/before", "")
        clock = ["--time", "--monotonic", str(CLOCK_STEP_S * (number + 1))] if self.has_clocks else []
        uts = "node" if self.args.same_names else name
        inner = ("hostname %s; mount -t tmpfs shm /dev/shm; ip link set lo up; echo up; "
                 "sleep infinity & wait" % uts)
        process = subprocess.Popen(["unshare"] + NAMESPACES + clock + ["--fork", "--mount-proc",
                                   "--kill-child", "sh", "-c", inner], stdout=subprocess.PIPE)
        process.stdout.readline()
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="utf-8") as f:
            pid = f.read().split()[0]
        self.write(name + "/pid", pid)
        self.join(number, name, pid)
        return process

    def join(self, number, name, pid):
        run("ip link add name %s type veth peer name eth0 netns %s" % (name, pid))
        run("ip link set %s master br0 up" % name)
        inside = ["nsenter", "-t", pid, "--net"]
        subprocess.run(inside + ["ip", "addr", "add", "10.77.0.%d/24" % (number + 1), "dev", "eth0"],
                       check=True)
        subprocess.run(inside + ["ip", "link", "set", "eth0", "up"], check=True)
        if self.args.rate:
            tbf = "tc qdisc add dev eth0 root tbf burst 64kb latency 100ms rate"
            subprocess.run(inside + tbf.split() + [self.args.rate], check=True)

    def environment(self):
        env = dict(os.environ, CLUSTER=self.place, HOSTFILE=os.path.join(self.place, "hostfile"))
        env.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_plm_rsh_agent": os.path.join(self.place, "agent"),
                    "OMPI_MCA_plm_rsh_no_tree_spawn": "1", "OMPI_MCA_plm": "rsh",
                    "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self,vader",
                    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                    "OMPI_MCA_orte_default_hostfile": os.path.join(self.place, "hostfile"),
                    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                    "OMPI_MCA_mpi_yield_when_idle": "1"})
        return env

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        # Whatever still runs within may write there once more.
        shutil.rmtree(self.place, ignore_errors=True)


def enter(argv):
    """This program again, where it is alone."""
    os.execvp("unshare", ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork",
                          "--mount-proc", "--kill-child", sys.executable] + argv)


def parser():
    made = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:], description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--hosts", type=int, default=2)
    made.add_argument("--slots", type=int, default=2, help="ranks on each")
    made.add_argument("--same-names", action="store_true")
    made.add_argument("--same-clocks", action="store_true")
    made.add_argument("--rate", help="of each host's network, as tc's tbf takes it")
    made.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("command", nargs=argparse.REMAINDER)
    return made


def main():
    args = parser().parse_args()
    args.command = args.command[args.command[:1] == ["--"]:]
    if not args.inside:
        why = why_not()
        if why:
            print("no cluster of namespaces: " + why)
            return 77
        enter([os.path.abspath(__file__), "--inside"] + sys.argv[1:])
    cluster = Cluster(args)
    try:
        return subprocess.run(args.command, env=cluster.environment(), check=False).returncode
    finally:
        cluster.end()


if __name__ == "__main__":
    sys.exit(main())
