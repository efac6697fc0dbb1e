# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Starting a program, and its end."""
import ctypes
import glob
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import threading
import time

from orrery_tool.memory import Guard
from orrery_tool.processes import is_rank, send, started_by
from orrery_tool.speech import signal_name
from orrery_tool.words import Refusal, write_text

GRACE_S = 5                # from a signal to the end of the program
AGAIN_S = 0.2              # between two signals that are not one, sent twice
DRAIN_S = 2                # from its end to that of what it has said
LOOK_S = (0.1, 2)          # between two looks at mpirun's ranks: least, most
HANG_S = 20                # from the end of the last rank to mpirun's: it hangs
PR_SET_PDEATHSIG = 1
# What batch systems and Open MPI name hosts by: Slurm, PBS, LSF, Grid Engine, a default hostfile
ALLOCATIONS = ("SLURM_JOB_ID", "SLURM_JOBID", "PBS_NODEFILE", "LSB_HOSTS", "LSB_AFFINITY_HOSTFILE",
               "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile")
HINTS = {signal.SIGSEGV: ": a pointer leads nowhere, or the stack is full",
         signal.SIGKILL: ": somebody killed it, often the system for lack of memory"}


def is_readable(file, limit_s=0):
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(1000 * limit_s))


def await_process(process, limit_s):
    """As its wait(), which wakes up more and more seldom to look where it can have a limit; the
    system tells us."""
    try:
        end = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return process.wait(limit_s)
    try:
        is_readable(end, limit_s)
        return process.wait(0)
    finally:
        os.close(end)


class Patience:
    """Time that passes while we look.  Of that between two looks a part counts at most: when we are
    stopped (SIGSTOP, a machine that sleeps), those whom we wait for often are, too."""

    def __init__(self):
        self.spent_s, self.seen_s = 0, time.monotonic()

    def spend(self, most_s):
        """A look.  Returns what has been spent so far."""
        before_s, self.seen_s = self.seen_s, time.monotonic()
        self.spent_s += min(self.seen_s - before_s, most_s)
        return self.spent_s


class Ranks:
    """Those of mpirun that run here.  It passes a signal on to them only after
    odls_base_sigkill_timeout, and not at all when Ctrl-C and we have both told it."""

    def __init__(self, pids):
        self.ends = {} # pid: what can be read once it has ended
        for pid in pids:
            try:
                self.ends[pid] = os.pidfd_open(pid)
            except (AttributeError, OSError):
                pass # it has ended, or this Linux cannot tell us when it will

    def left(self):
        """Those that have not ended."""
        return [pid for pid, end in self.ends.items() if not is_readable(end)]

    def tell(self, number):
        for pid in self.left():
            send(pid, number)

    def wait(self, limit_s):
        """Whether all have ended by then."""
        patience = Patience()
        left = self.left()
        while left and patience.spend(2 * LOOK_S[0]) < limit_s:
            is_readable(self.ends[left[0]], LOOK_S[0])
            left = self.left()
        return not left


class Child:
    """The program, which ends when we do, and whom we end when we are told to.  With nranks it is
    mpirun, which starts as many; with has_hosts perhaps elsewhere, by agents that it starts here
    and that end at once.  A wrapper such as gdb gets Ctrl-C from the terminal, and goes on.  A guard
    ends what has too much memory."""

    def __init__(self, command, env, speech, nranks=0, is_wrapped=False, guard=None,
                 has_hosts=False):
        self.received, self.received_s = None, None
        self.nranks, self.ranks = nranks, None
        self.has_hosts, self.seen = has_hosts, set()
        self.guard, self.why = guard, ""
        self.speech = speech
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, self.on_signal)
        if is_wrapped and os.isatty(0):
            signal.signal(signal.SIGINT, lambda number, frame: None)
        signal.signal(signal.SIGALRM, lambda number, frame: self.kill())
        self.process = None
        # On a terminal the program sees one, too: it writes progress on one line.
        ours, theirs = pty.openpty() if os.isatty(2) else os.pipe()
        try:
            self.process = subprocess.Popen(command, env=env, preexec_fn=self.bind,
                                            stderr=theirs)
        except OSError as error:
            raise Refusal("%s cannot be started: %s" % (command[0], error.strerror)) from None
        os.close(theirs)
        self.listener = threading.Thread(target=self.listen, args=(ours,), daemon=True)
        self.listener.start()

    @staticmethod
    def bind():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def listen(self, ours):
        while True:
            try:
                data = os.read(ours, 1 << 16)
            except OSError: # a terminal ends so
                data = b""
            if os.isatty(ours):
                data = data.replace(b"\r\n", b"\n")
            self.say(self.speech.feed(data) if data else self.speech.close())
            if not data:
                return

    @staticmethod
    def say(data):
        try:
            while data:
                data = data[os.write(2, data):]
        except OSError:
            pass # nobody listens to us

    def on_signal(self, number, frame):
        """A second one, of somebody who does not want to wait, ends the program at once."""
        before_s, self.received_s = self.received_s, time.monotonic()
        self.received = self.received or number
        if not self.process or self.process.poll() is not None:
            return
        if before_s is not None and self.received_s - before_s > AGAIN_S:
            self.kill()
            return
        signal.alarm(GRACE_S)
        if self.nranks and not self.ranks:
            self.ranks = Ranks(self.find_ranks())
            threading.Thread(target=self.hurry, args=(number,), daemon=True).start()
        if self.ranks:
            self.ranks.tell(number)
        self.process.send_signal(number)

    def find_ranks(self):
        """Those that mpirun has started here: whether each still runs."""
        found = started_by(self.process.pid)
        if not self.has_hosts:
            return found
        self.seen.update(pid for pid in found if pid not in self.seen and is_rank(pid))
        return {pid: found[pid] for pid in found if pid in self.seen}

    def hurry(self, number):
        """Told again, mpirun ends; alone it would wait for ranks that have ended."""
        if len(self.ranks.ends) == self.nranks and self.ranks.wait(GRACE_S):
            self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        if self.ranks:
            self.ranks.tell(signal.SIGKILL)

    def await_guarded(self):
        """As its wait(); the guard may end it."""
        while True:
            self.why, look_s = self.guard.look(self.process.pid)
            if self.why:
                self.kill()
            try:
                return await_process(self.process, look_s) if look_s else self.process.wait()
            except subprocess.TimeoutExpired:
                pass

    def await_end(self):
        """Its return code; None: it was killed since it hung.  Open MPI's mpirun may lock itself up
        when several ranks are ended at once."""
        if self.guard:
            return self.await_guarded()
        nseen, look_s, patience = 0, LOOK_S[0], Patience()
        while True:
            try:
                return await_process(self.process, look_s) if self.nranks else self.process.wait()
            except subprocess.TimeoutExpired:
                look_s = min(2 * look_s, LOOK_S[1])
            ranks = self.find_ranks()
            nseen = max(nseen, len(ranks))
            if nseen < self.nranks or any(ranks.values()): # Some may be elsewhere.
                patience = Patience()
            elif patience.spend(2 * LOOK_S[1]) > HANG_S:
                self.process.kill()
                self.process.wait()
                return None

    def wait(self):
        """Its exit status, as a shell would say it."""
        status = self.await_end()
        if self.ranks:
            self.ranks.wait(GRACE_S)
        signal.alarm(0)
        self.listener.join(DRAIN_S)
        if self.received:
            return 128 + self.received
        if status is None:
            print("[orrery] all ranks have ended, but mpirun has not within %d s; it was killed"
                  % HANG_S, file=sys.stderr)
            return self.speech.told or 1
        if self.why:
            print("[orrery] the simulation was ended: " + self.why, file=sys.stderr)
        elif status < 0:
            print("[orrery] the program was ended by signal %d (%s)%s"
                  % (-status, signal_name(-status), HINTS.get(-status, "")),
                  file=sys.stderr)
        return self.speech.status(status) if status >= 0 else 128 - status


def write_matrix(path, nranks, matrix):
    """What each rank sends to each other one: bytes as CSV, or a picture."""
    if not matrix:
        raise Refusal("--comm-matrix: %s is not written: no rank reached "
                      "starpu_mpi_shutdown()" % path)
    sent = {pair: values for pair, values in matrix.items() if pair[1] is not None}
    if path.endswith((".svg", ".png")):
        from orrery_tool import heat # which seldom is worth what it takes to read
        heat.draw(path, nranks, sent)
        return
    rows = ["%d,%d,%d\n" % (pair + (values[0],)) for pair, values in sorted(sent.items())]
    write_text(path, "# bytes sent by starpu_mpi, %d ranks\nfrom,to,bytes\n%s"
               % (nranks, "".join(rows)))


def make_room(directory):
    """For the events of this run alone; what cannot be is no reason not to run."""
    try:
        os.makedirs(directory, exist_ok=True)
        for name in ("*.events", "summary"): # the latter of a simulation, which this may not be
            for path in glob.glob(os.path.join(glob.escape(directory), name)):
                os.remove(path)
    except OSError as error:
        print("[orrery] --trace %s: %s: %s; the run goes on"
              % (directory, error.filename, error.strerror), file=sys.stderr, flush=True)


def has_hosts(args):
    """May mpirun start ranks on other machines, which have neither our environment nor our
    directories?  Within a job of a batch system it takes the hosts of that."""
    return bool(args.hostfile) or any(name in os.environ for name in ALLOCATIONS)


def tell_wishes(args, env):
    """What the library does for options, by its variables."""
    if args.progress:
        env["ORRERY_PROGRESS"] = "1"
    if args.trace and args.trace.endswith(".csv"):
        env["ORRERY_TRACE"] = os.path.abspath(args.trace)
    elif args.trace:
        env["ORRERY_EVENTS"] = os.path.abspath(args.trace)


def launch(command, args, env, speech):
    """With an environment that tell_wishes() has seen."""
    if args.show:
        print(shlex.join(command))
        return 0
    if "ORRERY_EVENTS" in env and args.trace:
        make_room(env["ORRERY_EVENTS"])
    guard = Guard(args.memory) if args.sim else None
    status = Child(command, env, speech, 0 if args.sim else args.n, bool(args.wrapper), guard,
                   has_hosts(args)).wait()
    if args.comm_matrix and status == 0:
        write_matrix(args.comm_matrix, args.n, speech.matrix)
    return status
