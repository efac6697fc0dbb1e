# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What tasks wait for, from the events of a run: data, declarations, tags, messages.

A vertex is a task, or something that takes no time: another holder of a datum (such as a
request), the end of a group of accesses, a tag.  Accesses to a datum form groups: a writer
alone, or neighbours that read, commute or contribute together.
"""
from array import array

from orrery_tool import events as e

NO_TASK = -1
HANDED = -2                # as NO_TASK: data are cut into parts, or put together again
TOGETHER = e.READS | e.COMMUTES | e.REDUCES


class Tag:
    """vertex: what it happens at."""
    __slots__ = ("vertex", "is_carried", "deps")

    def __init__(self):
        self.vertex, self.is_carried, self.deps = None, False, []


MANY_WRITERS = 8           # of one datum, worth to be remembered


class Graph:
    """Of all nodes; the events of one node after the other.  task: by vertex, its number."""

    def __init__(self):
        self.task, self.source, self.target = array("q"), array("q"), array("q")
        self.sends, self.receives = {}, {}
        self.again = set() # sends of a value that their receiver has had already
        self.commuting = {} # by the end of each group that commutes: who exclude each other
        self.turns = {}
        self.writers, self.written = {}, [] # vertices that write one datum in turn
        self.moved_on = {} # the same, by its tag, of data that messages bring to who writes them
        # By task that writes a datum and does not read it: whom it waits for to do so.
        self.overwrites = {}
        self.begin_node(None)

    def begin_node(self, rank):
        self.end_turns()
        self.rank, self.requests, self.ordinals = rank, {}, {}
        # vertices by number of their task, by address of their job
        self.vertices, self.jobs = {}, {}
        self.others, self.tags = {}, {}
        self.brought = {} # by datum that messages bring, its tag
        self.versions, self.sent = {}, {} # of data, and which went to whom, by (datum, rank)
        self.arriving, self.leaving = {}, {} # declared edges of jobs to be submitted
        self.contributed = {} # by datum, the ends of groups that are not combined yet

    def add(self, task=NO_TASK):
        self.task.append(task)
        return len(self.task) - 1

    def edge(self, source, target):
        if source is not None and target is not None and source != target:
            self.source.append(source)
            self.target.append(target)

    # ---- tasks ----

    def submitted(self, address, ident):
        vertex = self.vertices[ident] = self.jobs[address] = self.add(ident)
        for wish in self.arriving.pop(address, ()):
            wish[1] = vertex
            if wish[0] is not None:
                self.edge(*wish)
        for wish in self.leaving.pop(address, ()):
            wish[0] = vertex
            if wish[1] is not None:
                self.edge(*wish)

    def follows(self, ident, before):
        """A task, which has been submitted at the end of another."""
        self.edge(self.vertices.get(before), self.vertices.get(ident))

    def linked(self, after, before, is_submitted):
        wish = [self.jobs.get(before) if is_submitted else None, None]
        self.arriving.setdefault(after, []).append(wish)
        if not is_submitted:
            self.leaving.setdefault(before, []).append(wish)

    # ---- data ----

    def uses(self, date_s, flag, ident, datum):
        if flag & e.OTHER: # they come once, at addresses that others had
            date, vertex = self.others.get(ident, (None, None))
            if date != date_s:
                vertex = self.add()
                self.others[ident] = (date_s, vertex)
                where, place = self.requests.pop(ident, (None, None))
                if place:
                    where[place] = vertex
                    if where is self.sends:
                        self.note_send(place, datum)
                    else:
                        self.brought[datum] = place[2]
            else:
                self.task[vertex] = HANDED
        else:
            vertex = self.vertices.get(ident)
        if vertex is not None:
            self.take_turn(vertex, flag & TOGETHER, datum)
            if flag & (TOGETHER | e.WRITES | e.OTHER) == e.WRITES:
                self.overwrites[vertex] = self.turns[datum][0]

    def note_send(self, place, datum):
        version, key = self.versions.get(datum, 0), (datum, place[1])
        if self.sent.get(key) == version:
            self.again.add(place)
        self.sent[key] = version

    def take_turn(self, vertex, kind, datum):
        if kind != e.READS:
            self.versions[datum] = self.versions.get(datum, 0) + 1
        turn = self.turns.get(datum)
        if turn is None:
            turn = self.turns[datum] = [None, kind, []]
        elif not kind or kind != turn[1]:
            self.end_turn(turn, datum)
            turn[1], turn[2] = kind, []
        turn[2].append(vertex)
        self.edge(turn[0], vertex)
        if not kind:
            if datum not in self.writers:
                self.writers[datum] = array("q")
            self.writers[datum].append(vertex)

    def end_turn(self, turn, datum):
        """Those of its group are over where turn[0] is, from then on."""
        kind, members = turn[1:]
        if len(members) == 1 and kind != e.REDUCES:
            turn[0] = members[0]
            return
        turn[0] = self.add()
        for member in members:
            self.edge(member, turn[0])
        if kind == e.COMMUTES:
            self.commuting[turn[0]] = array("q", members)
        if kind == e.REDUCES:
            self.contributed.setdefault(datum, []).append(turn[0])

    def combined(self, last, datum):
        """last: the job that adds the last contribution; who is next waits for it, too."""
        ends = self.contributed.get(datum)
        if ends:
            end = ends.pop(0)
            if last:
                self.leaving.setdefault(last, []).append([None, end])

    def end_turns(self):
        for datum, turn in self.turns.items():
            self.end_turn(turn, datum)
        for datum in list(self.writers):
            self.end_writers(datum)
        self.turns = {}

    def end_writers(self, datum):
        writers, tag = self.writers.pop(datum, ()), self.brought.pop(datum, None)
        if len(writers) >= MANY_WRITERS:
            self.written.append(writers)
        if tag is not None and any(self.task[vertex] >= 0 for vertex in writers):
            self.moved_on.setdefault(tag, array("q")).extend(writers)

    def forgotten(self, datum):
        self.versions[datum] = self.versions.get(datum, 0) + 1
        turn = self.turns.pop(datum, None)
        if turn:
            self.end_turn(turn, datum)
        self.end_writers(datum)
        self.contributed.pop(datum, None)

    # ---- tags ----

    def tag(self, number):
        if number not in self.tags:
            self.tags[number] = Tag()
        return self.tags[number]

    def happens_at(self, tag):
        if tag.vertex is None:
            tag.vertex = self.add()
        return tag.vertex

    def tag_linked(self, after, before):
        self.tag(after).deps.append(before)

    def tagged(self, ident, number):
        vertex, tag = self.vertices.get(ident), self.tag(number)
        if vertex is None:
            return
        for before in tag.deps:
            self.edge(self.happens_at(self.tag(before)), vertex)
        if tag.is_carried: # it happens again, for those that come from now on
            tag.vertex = None
        tag.is_carried = True
        self.edge(vertex, self.happens_at(tag))

    # ---- messages ----

    def on_posted(self, date_s, flag, worker, n, ident, value):
        """The request will use its datum; it is the k-th of its tag, peer and direction."""
        key = (flag, n, value)
        k = self.ordinals[key] = self.ordinals.get(key, -1) + 1
        place = (n, self.rank, value, k) if flag else (self.rank, n, value, k)
        self.requests[ident] = (self.receives if flag else self.sends, place)

    def messages(self):
        """After the last node: what was received came from the send of the same name."""
        self.end_turns()
        for place, vertex in self.receives.items():
            self.edge(self.sends.get(place), vertex)

    # ---- a node ----

    HANDLERS = {e.TASK_SUBMITTED: "on_submitted", e.TASK_USES: "on_uses",
                e.TASK_LINKED: "on_linked", e.TASK_TAGGED: "on_tagged",
                e.TAG_LINKED: "on_tag_linked", e.FORGOTTEN: "on_forgotten",
                e.REQUEST_POSTED: "on_posted", e.COMBINED: "on_combined"}

    def handlers(self):
        return {kind: getattr(self, name) for kind, name in self.HANDLERS.items()}

    def on_submitted(self, date_s, flag, worker, n, ident, value):
        self.submitted(value, ident)

    def on_uses(self, date_s, flag, worker, n, ident, value):
        self.uses(date_s, flag, ident, value)

    def on_linked(self, date_s, flag, worker, n, ident, value):
        self.linked(ident, value, n)

    def on_tagged(self, date_s, flag, worker, n, ident, value):
        self.tagged(ident, value)

    def on_tag_linked(self, date_s, flag, worker, n, ident, value):
        self.tag_linked(ident, value)

    def on_forgotten(self, date_s, flag, worker, n, ident, value):
        self.forgotten(value)

    def on_combined(self, date_s, flag, worker, n, ident, value):
        self.combined(ident, value)

    # ---- questions ----

    def order(self):
        """(vertices so that edges lead on, first, targets): the edges of vertex v lead to
        targets[first[v]:first[v + 1]].  Vertices of circles, which tags that happen again
        and again may seem to make, are left out."""
        n = len(self.task)
        first, missing = array("q", bytes(8 * (n + 2))), array("l", bytes(8 * n))
        for source in self.source:
            first[source + 2] += 1
        for at in range(2, n + 2):
            first[at] += first[at - 1]
        targets = array("q", bytes(8 * len(self.source)))
        for source, target in zip(self.source, self.target):
            targets[first[source + 1]] = target
            first[source + 1] += 1
            missing[target] += 1
        order = array("q", (v for v in range(n) if missing[v] == 0))
        for v in order:
            for target in targets[first[v]:first[v + 1]]:
                missing[target] -= 1
                if missing[target] == 0:
                    order.append(target)
        return order, first, targets

    def nwaits_to_overwrite(self, chain):
        """How often a task of a chain needs nothing that the one before makes."""
        return sum(self.overwrites.get(after, NO_TASK) == before
                   for before, after in zip(chain, chain[1:]))

    def longest(self, seconds, turns=False):
        """(length, vertices) of the longest chain; seconds: by vertex.  turns: where vertices
        exclude each other, all of them are in it that have to."""
        order, first, targets = self.order()
        n = len(self.task)
        ends, before = array("d", bytes(8 * n)), array("q", [-1]) * n
        best, last, blocks = 0.0, -1, {}
        for v in order:
            if turns and v in self.commuting:
                end, block = self.one_by_one(self.commuting[v], ends, seconds)
                if end > ends[v]:
                    ends[v], blocks[v] = end, block
            end = ends[v] = ends[v] + seconds[v]
            if end > best:
                best, last = end, v
            for target in targets[first[v]:first[v + 1]]:
                if end > ends[target]:
                    ends[target], before[target] = end, v
        chain = []
        while last >= 0:
            chain.append(last)
            if last in blocks:
                chain += reversed(blocks[last])
                last = chain[-1]
            last = before[last]
        return best, chain[::-1]

    @staticmethod
    def one_by_one(members, ends, seconds):
        """(date, vertices): when all have had their turn, first come, first served, which no
        order betters; and those that followed each other without a gap at the end."""
        now, block = 0.0, []
        for start, v in sorted((ends[v] - seconds[v], v) for v in members):
            if start > now:
                now, block = start, []
            now += seconds[v]
            block.append(v)
        return now, block
