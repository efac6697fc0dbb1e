# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The files of events that the library writes to ORRERY_EVENTS; see doc/traces.md.

A node's records are read in the order of their dates, a piece of each ring at a time, so
that memory does not grow with the file.
"""
import functools
import glob
import heapq
import os
import re
import struct

from orrery_tool.words import Refusal

RECORD = struct.Struct("<dBBHIQQ") # date, kind, flag, worker, n, id, value
DATE = struct.Struct("<d")
WORD = struct.Struct("<Q")
FLOAT = struct.Struct("<f")
HALF = struct.Struct("<I")
MAGIC = 0x31746E766572726F
VERSION = 1
NO_WORKER = 0xFFFF
GAP = 64                   # between numbers of workers
MASK = (1 << 64) - 1
CHUNK = 1 << 12            # records read at a time from each ring
TAIL = 1 << 14             # and at most so many from its end, to say when ranks parted
HEADER = 1 << 14           # records within which a node says who it is
GPU_TYPES = (1, 2, 7)      # of enum starpu_worker_archtype: CUDA, OpenCL, HIP

# In the order of enum event_kind in src/core/event.h.
(NONE, OPENED, WORKER, HOST, RANK, CLOSED, TEXT, PIECE,
 TASK_SUBMITTED, TASK_PUSHED, TASK_TAKEN, TASK_FETCHING, TASK_STARTED, TASK_ENDED,
 TASK_RELEASING, TASK_RELEASED, TASK_CALLING, TASK_TERMINATED,
 COPY_BEGINS, COPY_ENDS, ALLOCATED, FREED, EVICTED,
 REQUEST_POSTED, REQUEST_MATCHED, REQUEST_READY, REQUEST_ANNOUNCED, REQUEST_GRANTED,
 REQUEST_MOVING, REQUEST_MOVED, REQUEST_DONE, MESSAGE_SENT, MESSAGE_RECEIVED,
 NET_BUSY, WORKER_BUSY, WORKER_IDLE, USER, USER_TEXT, USER_META, PAUSED,
 RESUMED, TASK_FLOPS, TASK_JOULES, TASK_USES, TASK_LINKED, TASK_TAGGED, TAG_LINKED,
 FORGOTTEN, MODEL, SETTING, COMBINED, WAITED, HELP_BEGINS, HELP_ENDS) = range(54)
# Of what has just been bound, in that order.
KIND_NAMES = [name.lower() for name in list(globals())[-HELP_ENDS - 1:]]
# Of enum wait_kind in src/core/wait.h, for WAITED: number of tasks, transfers, barriers.
(FOR_END, FOR_READY, FOR_TASK, FOR_TAG, FOR_TURN, FOR_USERS, FOR_DATA, FOR_PARTS, FOR_TRANSFER,
 FOR_BARRIER) = range(10)
# enum event_use_flag, of TASK_USES.
READS, COMMUTES, REDUCES, WRITES, UPDATES, OTHER, OWN = (1 << bit for bit in range(7))


def float_of(bits):
    return FLOAT.unpack(HALF.pack(bits))[0]


def date_of(bits):
    return DATE.unpack(WORD.pack(bits))[0]


# Seconds that no clock shows; and kinds whose value is a date, too.
NEVER_S = 1e12
DATED = {OPENED, RANK, TASK_ENDED, HELP_ENDS, NET_BUSY, WAITED}
LEAST_DRIFT_S = 5e-4 # at the end: less is not told from how soon ranks leave a meeting
# What comes of numbers that no run has.
NONSENSE = (ArithmeticError, LookupError, ValueError, TypeError, AttributeError, MemoryError,
            struct.error)


class Node:
    """One file."""

    reading = None # the node whose record is looked at

    def __init__(self, path):
        self.path, self.nread = path, 0
        self.rings = self.index()
        self.texts = {}
        self.parts = {}
        self.settings = {} # variables of the environment that it read, and "scheduler"
        self.rank, self.size, self.host = None, 1, ""
        self.workers, self.types = {}, {} # (name, memory); enum starpu_worker_archtype
        self.origin_s = self.meeting_s = 0.0
        self.parting_s = None # when all ranks met for the last time
        self.anchor_s, self.rate = 0.0, 1.0 # by which dates are corrected, for a clock that drifts
        self.read_header()
        self.read_end()

    def refuse(self, why):
        raise Refusal("%s %s; expected a file that a run with --trace DIRECTORY (or "
                      "ORRERY_EVENTS) has written" % (self.path, why))

    def index(self):
        """(offset, records) of the pieces of each ring."""
        rings = {}
        self.pieces = []
        with open(self.path, "rb") as f:
            left = os.fstat(f.fileno()).st_size // RECORD.size
            while left > 1:
                _, kind, _, _, n, ring, _ = RECORD.unpack(f.read(RECORD.size))
                if kind != PIECE or n == 0:
                    self.refuse("has no records of events where they should be")
                n = min(n, left - 1) # the end of a run that was killed
                rings.setdefault(ring, []).append((f.tell(), n))
                self.pieces.append((f.tell(), n))
                f.seek(n * RECORD.size, os.SEEK_CUR)
                left -= 1 + n
        return rings

    def ring_records(self, pieces):
        with open(self.path, "rb") as f:
            for offset, n in pieces:
                f.seek(offset)
                while n > 0:
                    data = f.read(min(n, CHUNK) * RECORD.size)
                    if not data:
                        return
                    n -= len(data) // RECORD.size
                    yield from RECORD.iter_unpack(data)

    def records(self):
        """All in the order of their dates; texts are taken in on the way."""
        rings = [self.ring_records(pieces) for pieces in self.rings.values()]
        self.nread = 0
        for record in heapq.merge(*rings, key=lambda r: r[0]) if len(rings) > 1 else rings[0]:
            self.nread += 1
            Node.reading = self
            if not -NEVER_S < record[0] < NEVER_S or record[1] in DATED and \
                    not -NEVER_S < date_of(record[6]) < NEVER_S:
                raise ValueError("its date is none")
            if record[1] == TEXT:
                self.note_text(record[5], record[4], record[6])
            else:
                yield record if self.rate == 1 else self.corrected(record)
        Node.reading = None

    def corrected(self, record):
        date_s, kind, flag, worker, n, ident, value = record
        if kind in DATED:
            value = WORD.unpack(DATE.pack(self.correct(date_of(value))))[0]
        return self.correct(date_s), kind, flag, worker, n, ident, value

    def stretch(self, anchor_s, rate):
        self.anchor_s, self.rate = anchor_s, rate

    def correct(self, date_s):
        return self.anchor_s + (date_s - self.anchor_s) * self.rate

    def note_text(self, key, offset, word):
        part = WORD.pack(word)
        text = self.parts.pop(key, b"") if offset else b""
        end = part.find(b"\0")
        if end < 0:
            self.parts[key] = text + part
        else:
            self.texts[key] = (text + part[:end]).decode(errors="replace")

    def text(self, key):
        return self.texts.get(key, "?")

    def memory_name(self, memory):
        """Which memory a number is: that of devices, or a disk."""
        for worker, (name, place) in sorted(self.workers.items()):
            if place == memory and self.kind_of(worker) == "gpu":
                return "%d (%s)" % (memory, (re.match(r"\w+ ?\d+", name) or ["GPU"])[0])
        if memory == 0 or any(place == memory for _, place in self.workers.values()):
            return "%d (main)" % memory
        return "%d (disk)" % memory

    def kind_of(self, worker):
        """Cores have memories of other numbers than 0, too: on NUMA nodes, of slaves."""
        return "gpu" if self.types.get(worker, 0) in GPU_TYPES else "cpu"

    def read_header(self):
        first = True
        if not self.rings:
            self.refuse("is empty")
        for count, (date_s, kind, _, worker, n, ident, value) in enumerate(self.records()):
            if first and (kind != OPENED or ident != MAGIC):
                self.refuse("does not begin as it should")
            if kind == OPENED and n != VERSION:
                self.refuse("has format %d, this command knows %d" % (n, VERSION))
            first = False
            if kind == OPENED:
                self.origin_s = self.meeting_s = date_of(value)
            elif kind == HOST:
                self.host = self.text(value)
            elif kind == SETTING:
                name, _, text = self.text(value).partition("=")
                self.settings[name] = text
            elif kind == WORKER:
                if worker > len(self.workers) + GAP: # they come in the order of their numbers
                    raise ValueError("worker %d" % worker)
                self.workers[worker], self.types[worker] = (self.text(value), ident), n
            elif kind == RANK:
                self.rank, self.size = ident, n
                self.origin_s = date_of(value)
                self.meeting_s = date_s
            if kind == RANK or count > HEADER:
                break
        Node.reading = None

    def read_end(self):
        """The setting "parted" comes after almost all."""
        left, nread = TAIL, self.nread
        for offset, n in reversed(self.pieces if "clock" in self.settings else []):
            skipped = max(n - left, 0)
            for record in self.ring_records([(offset + skipped * RECORD.size, n - skipped)]):
                if record[1] == TEXT:
                    self.note_text(record[5], record[4], record[6])
                elif record[1] == SETTING and self.text(record[6]).startswith("parted="):
                    self.parting_s = float(self.text(record[6])[len("parted="):])
            left -= n - skipped
            if left <= 0 or self.parting_s is not None:
                break
        self.nread = nread


def tells_damage(command):
    """Of a command that reads these files: one that is damaged is named, with the place."""
    @functools.wraps(command)
    def wrapped(place, argv):
        Node.reading = None
        try:
            return command(place, argv)
        except UnicodeError: # of the output
            raise
        except NONSENSE as error:
            why, node = "%s: %s" % (type(error).__name__, error), Node.reading
            if node:
                raise Refusal("%s is damaged: its record %d cannot be true (%s); record the run "
                              "again, or take this file away to see the other nodes" % (
                                  node.path, node.nread, why)) from None
            at = error.__traceback__
            while at.tb_next:
                at = at.tb_next
            raise Refusal("%s: what the files of events tell cannot be true together (%s, %s line "
                          "%d): one of them is damaged; record the run again" % (
                              " ".join(argv), why, os.path.basename(at.tb_frame.f_code.co_filename),
                              at.tb_lineno)) from None
    return wrapped


class Lives(Node):
    """Several files: lives of the library in one rank, one after the other.  Numbers of tasks
    go on from one to the next."""

    OF_TASKS = {*range(TASK_SUBMITTED, TASK_TERMINATED + 1), TASK_FLOPS, TASK_JOULES, TASK_TAGGED,
                TASK_USES, HELP_BEGINS, HELP_ENDS}

    def __init__(self, lives):
        first = lives[0]
        self.lives, self.path, self.host, self.texts = lives, first.path, first.host, {}
        self.rank, self.size = first.rank, first.size
        self.origin_s, self.meeting_s = first.origin_s, first.meeting_s
        self.parting_s = lives[-1].parting_s
        self.workers, self.types, self.settings = {}, {}, {}
        for life in lives:
            self.workers.update(life.workers)
            self.types.update(life.types)
            self.settings.update(life.settings)

    def stretch(self, anchor_s, rate):
        for life in self.lives:
            life.stretch(anchor_s, rate)

    def records(self):
        before = last = 0
        for life in self.lives:
            self.texts = life.texts
            for record in life.records():
                if record[1] in self.OF_TASKS and not (record[1] == TASK_USES and
                                                       record[2] & OTHER):
                    date_s, kind, flag, worker, n, ident, value = record
                    last = max(last, ident + before)
                    record = date_s, kind, flag, worker, n, ident + before, value
                yield record
            before = last


def join_lives(nodes):
    """What files of one rank, or without ranks of one process, tell."""
    found = {}
    for node in nodes:
        stem, life = re.fullmatch(r"(.*?)(?:\.(\d+))?(?:\.events)?", node.path).groups()
        key = stem if node.rank is None else node.rank
        found.setdefault(key, []).append((int(life or 1), node.path, node))
    return [Lives([node for _, _, node in sorted(lives, key=lambda item: item[:2])])
            if len(lives) > 1 else lives[0][2] for lives in found.values()]


def refuse_strangers(nodes):
    """Files of an earlier run on more ranks, which the later one has not written anew."""
    by_size = {}
    for node in nodes:
        if node.rank is not None:
            by_size.setdefault(node.size, node)
    if len(by_size) > 1:
        few, many = (by_size[size] for size in (min(by_size), max(by_size)))
        raise Refusal("%s is of a run on %d rank%s, and %s of one on %d: take away the files of one of them, "
                      "and give each run a directory of its own" % (
                          few.path, few.size, "" if few.size == 1 else "s", many.path, many.size))


def clock_of(node):
    """Whose it is.  Names of hosts need not tell them apart; older libraries tell nothing else."""
    return node.settings.get("clock", node.host)


def align(nodes):
    """Ranks met when the MPI layer started; those of one machine share its clock."""
    if all(node.origin_s == 0 for node in nodes):
        return
    first = {}
    for node in nodes:
        clock = clock_of(node)
        first[clock] = min(first.get(clock, node.meeting_s), node.meeting_s)
    for node in nodes:
        node.origin_s = first[clock_of(node)]
    correct_drift(nodes, first)


def correct_drift(nodes, first):
    """Clocks of several machines need not go alike: between the first meeting and the last all are
    stretched to the one of the first node."""
    last = {}
    for node in nodes:
        if node.parting_s is None:
            return
        clock = clock_of(node)
        last[clock] = min(last.get(clock, node.parting_s), node.parting_s)
    length_s = {clock: last[clock] - first[clock] for clock in first}
    wanted_s = length_s[clock_of(nodes[0])]
    for node in nodes:
        own_s = length_s[clock_of(node)]
        if own_s > 0 and wanted_s > 0 and abs(own_s - wanted_s) > LEAST_DRIFT_S:
            node.stretch(first[clock_of(node)], wanted_s / own_s)


def paths_in(directory):
    return sorted(glob.glob(os.path.join(glob.escape(directory), "*.events")))


def read_nodes(directory):
    paths = paths_in(directory)
    if not os.path.isdir(directory):
        raise Refusal("%s is no directory; give the one of \"orrery run --trace\""
                      % directory)
    if not paths:
        raise Refusal("there is no file *.events in %s; was the run started with "
                      "--trace?" % directory)
    return open_nodes(paths, directory)


def open_nodes(paths, where):
    """Of files, which where names."""
    nodes = [Node(path) for path in paths if os.path.getsize(path) >= 2 * RECORD.size]
    if not nodes:
        raise Refusal("the files in %s are empty" % where)
    nodes = join_lives(nodes)
    refuse_strangers(nodes)
    nodes.sort(key=lambda node: (node.rank is None, node.rank or 0, node.path))
    for number, node in enumerate(nodes):
        if node.rank is None:
            node.rank = number
    align(nodes)
    return nodes
