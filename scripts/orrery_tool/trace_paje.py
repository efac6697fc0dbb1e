# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery trace --paje: the run in the format of Paje, for ViTE and pj_dump.

Containers: the run, its nodes, and in each node its workers (with the codelet that runs),
its memories (with the bytes in them, and copies as links) and its network (with messages as
links).  All lines are in the order of their dates, as Paje asks for.
"""
import heapq

from orrery_tool import events as e

COLOURS = ("0.11 0.42 0.66", "0.82 0.40 0.17", "0.36 0.55 0.35", "0.56 0.35 0.66",
           "0.79 0.64 0.15", "0.66 0.23 0.29", "0.30 0.65 0.65", "0.50 0.50 0.30")

# name: (number, fields)
DEFINITIONS = {
    "PajeDefineContainerType": (0, "Alias string, Type string, Name string"),
    "PajeDefineStateType": (1, "Alias string, Type string, Name string"),
    "PajeDefineEventType": (2, "Alias string, Type string, Name string, Color color"),
    "PajeDefineVariableType": (3, "Alias string, Type string, Name string, Color color"),
    "PajeDefineLinkType": (4, "Alias string, Type string, StartContainerType string, "
                              "EndContainerType string, Name string"),
    "PajeDefineEntityValue": (5, "Alias string, Type string, Name string, Color color"),
    "PajeCreateContainer": (6, "Time date, Alias string, Type string, Container string, "
                               "Name string"),
    "PajeDestroyContainer": (7, "Time date, Type string, Name string"),
    "PajeSetState": (8, "Time date, Type string, Container string, Value string"),
    "PajeSetVariable": (9, "Time date, Type string, Container string, Value double"),
    "PajeStartLink": (10, "Time date, Type string, Container string, StartContainer string, "
                          "Value string, Key string"),
    "PajeEndLink": (11, "Time date, Type string, Container string, EndContainer string, "
                        "Value string, Key string"),
    "PajeNewEvent": (12, "Time date, Type string, Container string, Value string"),
}
NUMBER = {name[4:]: number for name, (number, _) in DEFINITIONS.items()}
BEGINS_LINK, ENDS_LINK = ("%d " % NUMBER[name] for name in ("StartLink", "EndLink"))
IDLE = "idle"
HIDES = {"events": (e.USER, e.USER_TEXT, e.USER_META), "counter": (e.ALLOCATED, e.FREED),
         "bus": (e.COPY_BEGINS, e.COPY_ENDS)}


def quoted(text):
    """Paje knows no escapes in strings."""
    return '"%s"' % text.replace('"', "'").replace("\n", " ")


def line(name, *fields):
    return "%d %s\n" % (NUMBER[name], " ".join(fields))


class Values:
    """Codelets by their names, of all nodes."""

    def __init__(self):
        self.aliases = {}

    def alias(self, name):
        return self.aliases.setdefault(name, "c%d" % len(self.aliases))

    def definitions(self):
        yield line("DefineEntityValue", IDLE, "S", quoted(IDLE), quoted("0.9 0.9 0.9"))
        for at, (name, alias) in enumerate(self.aliases.items()):
            yield line("DefineEntityValue", alias, "S", quoted(name),
                       quoted(COLOURS[at % len(COLOURS)]))


class NodeLines:
    """(date, line) of a node, in order."""

    def __init__(self, node, values, memories, hidden):
        self.node, self.values = node, values
        self.hidden = {kind for name in hidden for kind in HIDES[name]}
        self.name = "n%d" % node.rank
        self.memory, self.requests, self.ordinals, self.copies = {}, {}, {}, {}
        self.ncopies, self.now_s = 0, 0.0
        for _, memory in node.workers.values():
            self.memory[memory] = 0
        for memory in {0} | memories:
            self.memory.setdefault(memory, 0)

    def containers(self):
        create, name = "CreateContainer", self.name
        yield line(create, "0", name, "N", "run", quoted("node %d (%s)" % (
            self.node.rank, self.node.host)))
        yield line(create, "0", name + "net", "C", name, quoted("network %d" % self.node.rank))
        for memory in sorted(self.memory):
            yield line(create, "0", "%sm%d" % (name, memory), "M", name,
                       quoted("memory %s of %d" % (self.node.memory_name(memory),
                                                   self.node.rank)))
        for worker, (text, _) in sorted(self.node.workers.items()):
            yield line(create, "0", "%sw%d" % (name, worker), "W", name,
                       quoted("%s of %d" % (text, self.node.rank)))
            yield line("SetState", "0", "S", "%sw%d" % (name, worker), IDLE)

    def ends(self, date_s):
        for kind, places in (("W", ["w%d" % worker for worker in sorted(self.node.workers)]),
                             ("M", ["m%d" % memory for memory in sorted(self.memory)]),
                             ("C", ["net"]), ("N", [""])):
            for place in places:
                yield line("DestroyContainer", "%.9f" % date_s, kind, self.name + place)

    HANDLERS = {e.TASK_STARTED: "task_started", e.TASK_ENDED: "task_ended",
                e.HELP_BEGINS: "task_started", e.HELP_ENDS: "task_ended",
                e.COPY_BEGINS: "copy_begins", e.COPY_ENDS: "copy_ends",
                e.ALLOCATED: "allocated", e.FREED: "freed", e.USER: "user",
                e.USER_TEXT: "user", e.USER_META: "user", e.REQUEST_POSTED: "request_posted",
                e.REQUEST_READY: "request_ready", e.REQUEST_MOVED: "request_moved"}

    def lines(self):
        handlers = {kind: getattr(self, name) for kind, name in self.HANDLERS.items()
                    if kind not in self.hidden}
        later = [] # in the order of dates, then of records
        for count, (date_s, kind, flag, worker, n, ident, value) in enumerate(
                self.node.records()):
            handler = handlers.get(kind)
            if not handler:
                continue
            now_s = max(date_s - self.node.origin_s, self.now_s)
            text = handler("%.9f" % now_s, kind, flag, worker, n, ident, value)
            if text:
                heapq.heappush(later, (now_s, count, text))
            # The simulated program may be ahead of what its workers do, these are not.
            if worker != e.NO_WORKER:
                self.now_s = now_s
                while later and later[0][0] <= now_s:
                    yield later[0][0], heapq.heappop(later)[2]
        while later:
            yield later[0][0], heapq.heappop(later)[2]

    def task_started(self, date, kind, flag, worker, n, ident, value):
        return line("SetState", date, "S", "%sw%d" % (self.name, worker),
                    self.values.alias(self.node.text(value)))

    def task_ended(self, date, kind, flag, worker, n, ident, value):
        return line("SetState", date, "S", "%sw%d" % (self.name, worker), IDLE)

    def memory_name(self, memory):
        return "%sm%d" % (self.name, memory)

    def copy_begins(self, date, kind, flag, worker, n, ident, value):
        self.ncopies += 1
        self.copies[ident] = (n, "%scopy%d" % (self.name, self.ncopies))
        return line("StartLink", date, "Y", self.name, self.memory_name(n >> 16),
                    quoted("copy"), self.copies[ident][1])

    def copy_ends(self, date, kind, flag, worker, n, ident, value):
        if ident not in self.copies:
            return None
        n, key = self.copies.pop(ident)
        return line("EndLink", date, "Y", self.name, self.memory_name(n & 0xFFFF),
                    quoted("copy"), key)

    def bytes_changed(self, date, memory, change):
        self.memory[memory] += change
        return line("SetVariable", date, "B", self.memory_name(memory),
                    "%d" % self.memory[memory])

    def allocated(self, date, kind, flag, worker, n, ident, value):
        return self.bytes_changed(date, n, value)

    def freed(self, date, kind, flag, worker, n, ident, value):
        return self.bytes_changed(date, n, -value)

    def user(self, date, kind, flag, worker, n, ident, value):
        name = "event %d" % ident if kind == e.USER else self.node.texts.pop(value, "?")
        return line("NewEvent", date, "U", self.name, quoted(name))

    def request_posted(self, date, kind, flag, worker, n, ident, value):
        """The k-th send of a tag from one node to another is for the k-th receive."""
        key = (flag, n, value)
        k = self.ordinals[key] = self.ordinals.get(key, 0) + 1
        pair = (n, self.node.rank) if flag else (self.node.rank, n)
        self.requests[ident] = "t%d_%d_%d_%d" % (*pair, value, k)

    def request_ready(self, date, kind, flag, worker, n, ident, value):
        if flag or n == self.node.rank or ident not in self.requests:
            return None
        return line("StartLink", date, "X", "run", self.name + "net", quoted("message"),
                    self.requests[ident])

    def request_moved(self, date, kind, flag, worker, n, ident, value):
        key = self.requests.pop(ident, None)
        if not flag or n == self.node.rank or not key:
            return None
        return line("EndLink", date, "X", "run", self.name + "net", quoted("message"), key)


def header():
    for name, (number, fields) in DEFINITIONS.items():
        yield "%%EventDef %s %d\n" % (name, number)
        for field in fields.split(", "):
            yield "%% %s\n" % field
        yield "%EndEventDef\n"
    for alias, parent, name in (("R", "0", "run"), ("N", "R", "node"), ("W", "N", "worker"),
                                ("M", "N", "memory"), ("C", "N", "network")):
        yield line("DefineContainerType", alias, parent, quoted(name))
    yield line("DefineStateType", "S", "W", quoted("task"))
    yield line("DefineEventType", "U", "N", quoted("user event"), quoted("0.7 0.2 0.2"))
    yield line("DefineVariableType", "B", "M", quoted("bytes"), quoted("0.2 0.4 0.7"))
    yield line("DefineLinkType", "X", "R", "C", "C", quoted("messages"))
    yield line("DefineLinkType", "Y", "N", "M", "M", quoted("copies"))


def names_of(nodes, values):
    """Each codelet has to be defined before it runs, each memory before it is used, also one
    that no worker computes from.  The memories of each node."""
    memories = [set() for _ in nodes]
    for node, found in zip(nodes, memories):
        for _, kind, _, _, n, _, value in node.records():
            if kind == e.TASK_STARTED:
                values.alias(node.text(value))
            elif kind == e.COPY_BEGINS:
                found.update((n >> 16, n & 0xFFFF))
            elif kind in (e.ALLOCATED, e.FREED):
                found.add(n)
    return memories


class Links:
    """Copies and messages that are under way: those of a run that was cut end with it, since
    pj_dump refuses links without an end, or without a beginning."""

    def __init__(self, pictures):
        self.pictures, self.open, self.early = pictures, set(), {}

    def take(self, text):
        """What is to be written for a line.  One that begins and ends at one date may end first,
        or before it begins, where the simulated program is ahead of the date."""
        key = text.split()[-1]
        if text.startswith(BEGINS_LINK):
            if key in self.early:
                number, _, rest = self.early.pop(key).split(" ", 2)
                return text + " ".join((number, text.split(" ", 2)[1], rest))
            self.open.add(key)
        elif text.startswith(ENDS_LINK):
            if key not in self.open:
                self.early[key] = text
                return ""
            self.open.remove(key)
        return text

    def ends(self, date_s):
        date = "%.9f" % date_s
        for picture in self.pictures:
            for n, key in picture.copies.values():
                if key in self.open:
                    yield line("EndLink", date, "Y", picture.name,
                               picture.memory_name(n & 0xFFFF), quoted("copy"), key)
        nets = {picture.node.rank: picture.name + "net" for picture in self.pictures}
        for key in sorted(self.open):
            target = int(key.split("_")[1]) if key.startswith("t") else None
            if target is not None: # where its file is missing, it stays at its sender
                yield line("EndLink", date, "X", "run", nets.get(
                    target, nets[int(key[1:].split("_")[0])]), quoted("message"), key)


def write_paje(nodes, file, hidden=()):
    """hidden: of "events", "counter" and "bus" those that are left out."""
    values, last_s = Values(), 0.0
    memories = names_of(nodes, values)
    pictures = [NodeLines(node, values, found, hidden) for node, found in zip(nodes, memories)]
    file.writelines(header())
    file.writelines(values.definitions())
    file.write(line("CreateContainer", "0", "run", "R", "0", quoted("run")))
    for picture in pictures:
        file.writelines(picture.containers())
    links = Links(pictures)
    for last_s, text in heapq.merge(*(picture.lines() for picture in pictures),
                                    key=lambda item: item[0]):
        file.write(links.take(text))
    file.writelines(links.ends(last_s))
    for picture in pictures:
        file.writelines(picture.ends(last_s))
    file.write(line("DestroyContainer", "%.9f" % last_s, "R", "run"))
