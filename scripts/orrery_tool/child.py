# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Starting a program, and its end."""
import ctypes
import glob
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading

from orrery_tool import heat
from orrery_tool.speech import signal_name
from orrery_tool.words import Refusal, write_text

GRACE_S = 5                # from a signal to the end of the program
DRAIN_S = 2                # from its end to that of what it has said
PR_SET_PDEATHSIG = 1
HINTS = {signal.SIGSEGV: ": a pointer leads nowhere, or the stack is full",
         signal.SIGKILL: ": somebody killed it, often the system for lack of memory"}


class Child:
    """The program, which ends when we do, and whom we end when we are told to."""

    def __init__(self, command, env, speech):
        self.received = None
        self.speech = speech
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, self.on_signal)
        signal.signal(signal.SIGALRM, lambda number, frame: self.process.kill())
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
        self.received = self.received or number
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            signal.alarm(GRACE_S)

    def wait(self):
        """Its exit status, as a shell would say it."""
        status = self.process.wait()
        signal.alarm(0)
        self.listener.join(DRAIN_S)
        if self.received:
            return 128 + self.received
        if status < 0:
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
        heat.draw(path, nranks, sent)
        return
    rows = ["%d,%d,%d\n" % (pair + (values[0],)) for pair, values in sorted(sent.items())]
    write_text(path, "# bytes sent by starpu_mpi, %d ranks\nfrom,to,bytes\n%s"
               % (nranks, "".join(rows)))


def make_room(directory):
    """For the events of this run alone; what cannot be is no reason not to run."""
    try:
        os.makedirs(directory, exist_ok=True)
        for path in glob.glob(os.path.join(glob.escape(directory), "*.events")):
            os.remove(path)
    except OSError as error:
        print("[orrery] --trace %s: %s: %s; the run goes on"
              % (directory, error.filename, error.strerror), file=sys.stderr, flush=True)


def launch(command, args, env, speech):
    if args.progress:
        env["ORRERY_PROGRESS"] = "1"
    if args.trace and args.trace.endswith(".csv"):
        env["ORRERY_TRACE"] = os.path.abspath(args.trace)
    elif args.trace:
        env["ORRERY_EVENTS"] = os.path.abspath(args.trace)
    if args.show:
        print(shlex.join(command))
        return 0
    if "ORRERY_EVENTS" in env and args.trace:
        make_room(env["ORRERY_EVENTS"])
    status = Child(command, env, speech).wait()
    if args.comm_matrix and status == 0:
        write_matrix(args.comm_matrix, args.n, speech.matrix)
    return status
