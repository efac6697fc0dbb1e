# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What SimGrid and mpirun say on stderr, in our words.

A speech is fed the bytes that arrive and returns those to show.  Lines of the program pass
unchanged, and at once: a line is kept back only while it may become one to translate.
"""
import re
import signal
import sys

MAX_ALIKE = 5 # lines of one kind, from different ranks
STUCK = "[orrery] simulation stopped"
BESIDES = r"the program (was ended by signal|ended with status)|\] To see where: |^\[orrery\] and \d+ more"


# Open MPI's MPI_Finalize() waits 2 s for mpirun's answer, by a clock that runs while both are stopped.
UNFINISHED = ("[orrery][rank %s] mpirun has seen this program end on %s without MPI_Finalize(). If rank %s does "
              "not say here that it leaves, it has called it, and all processes were stopped meanwhile for more "
              "than 2 s (a debugger, a machine that sleeps), or it has become another program by exec")


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def last_words(lines):
    """Of a run that failed: what it was stuck in, else the library's, else the program's, but that
    a rank has ended only where nothing else was said."""
    stuck = [line for line in lines if line.startswith(STUCK)]
    told = stuck[:1] or [line for line in lines if not re.search(BESIDES, line)] or lines
    return ([line for line in told if line.startswith("[orrery]")] or told or [None])[-1]


class Speech:
    MATRIX = re.compile(rb"\[starpu_comm_stats\]\[(\d+)(?::(\d+))?\](?: TOTAL:)?\s+([\d.]+) B\t.*")
    MESSAGES = re.compile(rb"\[starpu_comm_stats\]\[(\d+):(\d+)\] (\d+) messages")
    STATS = b"[starpu_comm_stats]["

    def __init__(self):
        self.rest = b""
        self.counts = {}
        self.told = None # the exit status of the first rank that was said to have failed
        self.matrix = None # (from, to): [bytes, messages], when they are to be kept

    def feed(self, data):
        out = []
        self.rest += data
        while True:
            line, end, rest = self.rest.partition(b"\n")
            if not end:
                break
            self.rest = rest
            if not self.keep(line):
                out.append(self.translate(line))
        if self.rest and not self.may_be_ours(self.rest) and not (
                self.matrix is not None and self.rest[:1] == b"["):
            out.append(self.rest)
            self.rest = b""
        return b"".join(out)

    def close(self):
        out = (self.translate(self.rest)[:-1] if self.rest else b"") + self.end()
        self.rest = b""
        more = sum(n - MAX_ALIKE for n in self.counts.values() if n > MAX_ALIKE)
        return out + (b"[orrery] and %d lines like these from other ranks\n" % more
                      if more else b"")

    def keep(self, line):
        """Notes what a rank has sent; True: the line is for us only."""
        if self.matrix is None or not line.startswith(self.STATS):
            return False
        match = self.MATRIX.fullmatch(line)
        if match:
            pair = (int(match.group(1)), match.group(2) and int(match.group(2)))
            self.matrix.setdefault(pair, [0, 0])[0] += round(float(match.group(3)))
        match = self.MESSAGES.fullmatch(line)
        if match:
            pair = (int(match.group(1)), int(match.group(2)))
            self.matrix.setdefault(pair, [0, 0])[1] += int(match.group(3))
        return True

    def alike(self, kind, text):
        """The line, unless many like it were shown."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return text.encode() + b"\n" if self.counts[kind] <= MAX_ALIKE else b""

    def status(self, status):
        """What the run's exit status should be, where the launcher got it wrong."""
        return status

    def translate(self, line):
        return line + b"\n"

    def may_be_ours(self, start):
        return False

    def end(self):
        return b""


class SimgridSpeech(Speech):
    LINE = re.compile(r"\[(?:\S+:(\d+):\(\d+\) )?[\d.]+\] (?:\S+:\d+: )?"
                      r"\[(\w+)/(CRITICAL|ERROR|WARNING|INFO|VERBOSE|DEBUG)\] (.*)")
    BLOCK = (b"Access violation or Bus error detected.",
             b"of the fault captured with gdb or valgrind.")
    SILENT = (b"Segmentation fault.",)
    # (what SimGrid says, what we say); None: somebody has said it already
    WORDS = [
        (r"Oops! Deadlock detected.*", None),
        (r"MPI_Abort was called.*", None),
        (r"You're trying to send data from (\S+) to \1 but there is no connecting path.*",
         r"several ranks are on host \1, or a rank sends to itself, and the host has no route to "
         r"itself on this platform: give its cluster loopback_bw and loopback_lat"),
        (r"Process called exit when leaving.*", None),
        (r"SMPI process did not return 0\. Return value : (\d+)",
         r"the program ended with status \1"),
        (r"P?(MPI_\w+): MPI_Init was not called.*",
         r"\1: called before MPI_Init() or starpu_mpi_init_conf()"),
        (r"P(MPI_\w+): (.*)", r"\1: \2; the call did nothing"),
        (r"(\w+) - returned (MPI_ERR_TRUNCATE) instead of MPI_SUCCESS",
         r"\2: in \1(), a message is longer than the buffer of its receive"),
        (r"(\w+) - returned (MPI_\w+) instead of MPI_SUCCESS", r"\2: in \1()"),
    ]

    def __init__(self):
        super().__init__()
        self.in_block = self.is_stuck = self.is_told = False

    def may_be_ours(self, start):
        return self.in_block or start.startswith(b"[") or any(
            text.startswith(start) for text in self.SILENT + self.BLOCK[:1])

    def translate(self, line):
        if line == self.BLOCK[0]:
            self.in_block = True
            return (b"[orrery] the program used memory that is not its own, or more stack "
                    b"than the 8 MiB of a simulated rank: large arrays belong on the heap\n")
        if self.in_block:
            self.in_block = line != self.BLOCK[1]
            return b""
        if line in self.SILENT:
            return b""
        self.is_told |= line.startswith(STUCK.encode())
        match = self.LINE.fullmatch(line.decode(errors="replace"))
        return self.reword(*match.groups()) if match else line + b"\n"

    def reword(self, rank, category, _, text):
        who = "[orrery][rank %s] " % rank if rank else "[orrery] "
        self.is_stuck |= text.startswith("Oops! Deadlock")
        for pattern, ours in self.WORDS:
            if re.fullmatch(pattern, text):
                return b"" if ours is None else self.alike(
                    pattern, who + re.sub(pattern, ours, text))
        return self.alike(category, who + "SimGrid: " + text)

    def end(self):
        if not self.is_stuck or self.is_told:
            return b""
        return STUCK.encode() + (b": nothing can make progress: the ranks wait for each other, "
                                 b"or for messages that nobody sends\n")

    def status(self, status):
        return 3 if self.is_stuck and status == 0 else status


class MpirunSpeech(Speech):
    DASHES = re.compile(rb"(.*[^-])?(-{74})") # so many; maybe behind an unfinished line of a rank
    ERROR = re.compile(rb"\[\S+:\d+\] \*\*\* +(.*)")
    LEAVES = re.compile(rb"\[orrery\]\[rank (\d+)\] the program leaves .* without MPI_Finalize\(\).*")
    ABORT = re.compile(rb"\[orrery\]\[rank \d+\] MPI_Abort: .*")
    SILENT = re.compile(rb"\[\S+:\d+\] (\d+ more process(es)? ha(s|ve) sent help message .*|"
                        rb"Set MCA parameter \"orte_base_help_aggregate\".*|"
                        rb"\[\[\d+,\d+\],\d+\] ORTE_ERROR_LOG: .*show_help\.c.*)")

    def __init__(self):
        super().__init__()
        self.block = self.error = None
        self.aborts = set() # what was said of them: the rank says it, and mpirun unless it is lost
        self.leavers = set() # ranks that have said that they leave

    def may_be_ours(self, start):
        return self.block is not None or start[:1] in (b"[", b"-")

    def translate(self, line):
        match = self.DASHES.fullmatch(line)
        if match:
            before = match.group(1) + b"\n" if match.group(1) else b""
            block, self.block = self.block, [] if self.block is None else None
            return before + (self.reword(match.group(2), block) if block is not None else b"")
        if self.block is not None:
            self.block.append(line)
            return b""
        if self.SILENT.fullmatch(line):
            return b""
        if self.ABORT.fullmatch(line):
            return self.aborted(line.decode(errors="replace"))
        match = self.LEAVES.fullmatch(line)
        if match:
            self.leavers.add(match.group(1).decode())
        match = self.ERROR.fullmatch(line)
        return self.mpi_error(match.group(1).decode(errors="replace"), line) if match \
            else line + b"\n"

    def end(self):
        block, self.block = self.block, None
        if not block: # the last line of a program that draws such lines itself
            return b"" if block is None else b"-" * 74 + b"\n"
        return self.reword(b"-" * 74, block)

    def reword(self, dashes, block):
        text = b"\n".join(block).decode(errors="replace")
        if "Primary job  terminated normally" in text:
            return b""
        match = re.search(r"Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+)", text)
        if match:
            self.told = self.told or int(match.group(2))
            return self.alike("exit", "[orrery][rank %s] the program ended with status %s"
                              % match.groups())
        match = re.search(r"process rank (\d+) with PID \d+ on node (\S+) exited on signal (\d+)",
                          text)
        if match:
            self.told = self.told or 128 + int(match.group(3))
            return self.alike("signal", "[orrery][rank %s] the program was ended by signal %s "
                              "(%s) on %s" % (match.group(1), match.group(3),
                                              signal_name(int(match.group(3))), match.group(2)))
        match = re.search(r"MPI_ABORT was invoked on rank (\d+).*with errorcode (-?\d+)", text, re.S)
        if match:
            self.told = self.told or int(match.group(2)) & 255
            return self.aborted("[orrery][rank %s] MPI_Abort: the program asks to end the run, "
                                "with status %s" % match.groups())
        match = re.search(r"process rank (\d+) with PID \d+ on\s+node (\S+) exiting improperly", text)
        if match:
            self.told = self.told or 1
            text = self.alike("improper", UNFINISHED % (match.group(1), match.group(2), match.group(1)))
            return b"" if match.group(1) in self.leavers else text
        if "not enough slots available" in text:
            return (b"[orrery] the host file has fewer slots than -n asks for; add hosts, or "
                    b"lines like \"HOST slots=COUNT\"\n")
        return b"\n".join([dashes, *block, dashes, b""])

    def aborted(self, text):
        if text in self.aborts:
            return b""
        self.aborts.add(text)
        return self.alike("abort", text)

    def status(self, status):
        """Open MPI may lose its own words when several ranks end at once."""
        if status != 0 and not self.counts:
            print("[orrery] the program ended with status %d" % status, file=sys.stderr)
        return status

    def mpi_error(self, text, line):
        """The lines that Open MPI writes when a call of MPI fails."""
        match = re.fullmatch(r"An error occurred in (\w+)", text)
        if match:
            self.error = [match.group(1), "?"]
            return b""
        if self.error is None:
            return line + b"\n"
        match = re.fullmatch(r"reported by process \[\d+,(\d+)\]", text)
        if match:
            self.error[1] = match.group(1)
        match = re.fullmatch(r"(MPI_ERR_\w+: .*)", text)
        if match:
            return self.alike("error", "[orrery][rank %s] %s: %s; the run ends"
                              % (self.error[1], self.error[0], match.group(1)))
        if "potentially your MPI job" in text:
            self.error = None
        return b""


def speech_of(args, kind):
    """What translates, unless all is to be shown."""
    speech = Speech() if args.verbose else kind()
    speech.matrix = {} if args.comm_matrix else None
    return speech
