# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map --draw: nodes, sockets, cores and ranks, as SVG or PNG.

A picture is a list of boxes (x, y, width, height, fill, edge) and of texts (x, y, size,
anchor, colour, text), in pixels.  SVG is written here; PNG by picture_png.py, in a Python
that has matplotlib.
"""
import json
import os
import subprocess
import sys
from xml.sax.saxutils import escape

from orrery_tool.words import Refusal

# From the first rank to the last: equal steps look equal, also without colours.
SCALE = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962",
         "#addc30", "#fde725"]
INK, PALE, UNUSED, EDGE, PAPER = "#222222", "#666666", "#ececec", "#9a9a9a", "#ffffff"
MARGIN, HEAD = 24, 84
MAX_DETAIL_CORES = 4096     # more are drawn small
MAX_DETAIL_NODES = 64
MAX_SMALL_BLOCKS = 32       # of a node that is drawn small


def parts(colour):
    return [int(colour[i:i + 2], 16) for i in (1, 3, 5)]


def mix(one, other, share):
    """share 0: one; 1: the other."""
    return "#" + "".join("%02x" % round(a + (b - a) * share)
                         for a, b in zip(parts(one), parts(other)))


def rank_colour(rank, nranks):
    at = rank / max(nranks - 1, 1) * (len(SCALE) - 1)
    step = min(int(at), len(SCALE) - 2)
    return mix(SCALE[step], SCALE[step + 1], at - step)


def ink_on(colour):
    red, green, blue = parts(colour)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else PAPER


def ranges(text):
    """The numbers of "0-3,8"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def short_list(ranks):
    """[0, 1, 2, 8] as "0-2 8"."""
    out = []
    for rank in sorted(ranks):
        if out and rank == out[-1][1] + 1:
            out[-1][1] = rank
        else:
            out.append([rank, rank])
    return " ".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in out)


class Map:
    """What orrery-map prints for pictures."""

    def __init__(self, text):
        self.kinds, self.nodes = [], []     # cores as sockets; (kind, name)
        self.homes = []                     # by node: core to its ranks
        self.users = []                     # by node: core to a rank bound to it, or None
        self.whole = []                     # by node: ranks bound to all of it
        self.nranks = 0
        for line in text.split("\n"):
            words = line.split()
            if words and words[0] == "kind":
                self.kinds.append([int(word.split(":")[0]) for word in words[1:]])
            elif words and words[0] == "node":
                self.nodes.append((int(words[1]), words[2]))
                self.homes.append({})
                self.users.append({})
                self.whole.append([])
            elif words:
                self.add_rank(int(words[1]), int(words[2]), words[3])

    def add_rank(self, node, home, bound):
        rank = self.nranks
        self.nranks += 1
        self.homes[node].setdefault(home, []).append(rank)
        if bound == "0-%d" % (self.ncores(node) - 1):
            self.whole[node].append(rank)
            return
        for core in ranges(bound):
            self.users[node][core] = None if core in self.users[node] else rank

    def ncores(self, node):
        return len(self.kinds[self.nodes[node][0]])

    def colour(self, node, core):
        """Full for the place of a rank, pale for what else it is bound to."""
        ranks = self.homes[node].get(core)
        if ranks:
            return rank_colour(ranks[0], self.nranks)
        rank = self.pale_rank(node, core)
        return UNUSED if rank is None else mix(rank_colour(rank, self.nranks), PAPER, 0.65)

    def pale_rank(self, node, core):
        """Who alone is bound to a core that is nobody's place; a whole node is shown so
        where there is one rank."""
        if core in self.homes[node]:
            return None
        whole = self.whole[node]
        return whole[0] if len(whole) == 1 and len(self.node_ranks(node)) == 1 \
            else self.users[node].get(core)

    def has_pale(self):
        return any(self.pale_rank(node, core) is not None for node in range(len(self.nodes))
                   for core in range(self.ncores(node)))

    def node_ranks(self, node):
        return [rank for ranks in self.homes[node].values() for rank in ranks]


class Picture:
    def __init__(self):
        self.boxes, self.texts = [], []
        self.width = self.height = 0

    def box(self, x, y, width, height, fill, edge=None):
        self.boxes.append((round(x, 1), round(y, 1), round(width, 1), round(height, 1),
                           fill, edge))

    def text(self, x, y, size, text, anchor="start", colour=INK):
        self.texts.append((round(x, 1), round(y, 1), size, anchor, colour, text))

    def svg(self):
        out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
               'viewBox="0 0 %d %d" font-family="DejaVu Sans, sans-serif">'
               % (self.width, self.height, self.width, self.height),
               '<rect width="100%%" height="100%%" fill="%s"/>' % PAPER]
        for x, y, width, height, fill, edge in self.boxes:
            out.append('<rect x="%g" y="%g" width="%g" height="%g" fill="%s"%s/>'
                       % (x, y, width, height, fill, ' stroke="%s"' % edge if edge else ""))
        for x, y, size, anchor, colour, text in self.texts:
            out.append('<text x="%g" y="%g" font-size="%g" text-anchor="%s" fill="%s">%s</text>'
                       % (x, y, size, anchor, colour, escape(text)))
        return "\n".join(out + ["</svg>", ""])


def columns_for(nnodes, width, height):
    """So that the whole is about 16 to 10, with full rows where that is near enough."""
    def distance(n):
        ratio = n * width / (-(-nnodes // n) * height)
        return abs(ratio - 1.6) + (0.3 if nnodes % n else 0)
    return min(range(1, nnodes + 1), key=distance)


def head(picture, data, title, rules):
    """Title, and the scale of colours."""
    picture.text(MARGIN, MARGIN + 14, 18, title)
    picture.text(MARGIN, MARGIN + 34, 12, rules, colour=PALE)
    width, x, y = 160, MARGIN, MARGIN + 42
    if data.has_pale():
        picture.text(x, y + 24, 10, "pale: what a rank is bound to beside its place",
                     colour=PALE)
    if data.nranks < 2:
        return
    for i in range(32):
        picture.box(x + 46 + i * width / 32, y, width / 32 + 0.5, 9, rank_colour(i, 32))
    picture.text(x, y + 9, 10, "rank 0", colour=PALE)
    picture.text(x + 52 + width, y + 9, 10, "rank %s" % format(data.nranks - 1, ","),
                 colour=PALE)


# ---- Large: each core with its ranks ----

CORE_W, CORE_H, GAP, NAME_H = 34, 26, 8, 22


def socket_sizes(kind):
    """Columns and rows of the cores of each socket."""
    sizes = []
    for socket in sorted(set(kind)):
        n = kind.count(socket)
        columns = n if n <= 8 else 8 if n <= 64 else 16
        sizes.append((columns, -(-n // columns)))
    return sizes


def node_size(kind):
    sizes = socket_sizes(kind)
    return (sum(columns * CORE_W + 2 * GAP for columns, _ in sizes) + GAP,
            max(rows for _, rows in sizes) * CORE_H + NAME_H + 3 * GAP)


def draw_core(picture, data, node, core, x, y):
    colour = data.colour(node, core)
    ranks = data.homes[node].get(core, [])
    picture.box(x + 1, y + 1, CORE_W - 2, CORE_H - 2, colour)
    if not ranks:
        return
    label = short_list(ranks)
    if len(label) > 7:
        label = "%d +%d" % (ranks[0], len(ranks) - 1)
    picture.text(x + CORE_W / 2, y + CORE_H / 2 + 4, 11 if len(label) < 5 else 8, label,
                 "middle", ink_on(colour))


def draw_large(picture, data, node, x, y):
    kind = data.kinds[data.nodes[node][0]]
    width, height = node_size(kind)
    picture.box(x, y, width, height, "#fafafa", EDGE)
    picture.text(x + GAP, y + 16, 12, data.nodes[node][1])
    core, left = 0, x + GAP
    for columns, rows in socket_sizes(kind):
        top = y + NAME_H + GAP / 2
        picture.box(left, top, columns * CORE_W + GAP, rows * CORE_H + GAP, PAPER, EDGE)
        for i in range(kind.count(kind[core])):
            draw_core(picture, data, node, core + i, left + GAP / 2 + i % columns * CORE_W,
                      top + GAP / 2 + i // columns * CORE_H)
        core += kind.count(kind[core])
        left += columns * CORE_W + 2 * GAP


# ---- Small: a bar of cores, the ranks in words ----

SMALL_W, SMALL_H = 62, 40


def draw_small(picture, data, node, x, y, name):
    ncores = data.ncores(node)
    picture.box(x, y, SMALL_W - 6, SMALL_H - 6, PAPER, EDGE)
    picture.text(x + 3, y + 10, 9, name)
    nblocks = min(ncores, MAX_SMALL_BLOCKS)
    kind = data.kinds[data.nodes[node][0]]
    gap = 2 if len(set(kind)) <= 8 else 0 # between sockets
    width = (SMALL_W - 10 - gap * (len(set(kind)) - 1)) / nblocks
    for block in range(nblocks):
        cores = range(ncores * block // nblocks, ncores * (block + 1) // nblocks)
        colours = [data.colour(node, core) for core in cores]
        used = [colour for colour in colours if colour != UNUSED]
        picture.box(x + 2 + block * width + gap * kind[cores[0]], y + 13, width, 9,
                    used[0] if used else UNUSED)
    ranks = data.node_ranks(node)
    label = short_list(ranks) if ranks else "none"
    if len(label) > 12:
        label = "%d, %d more" % (min(ranks), len(ranks) - 1)
    picture.text(x + 3, y + 31, 7.5 if len(label) <= 11 else 6.5, label, colour=PALE)


def common_prefix(names):
    prefix = os.path.commonprefix(names) if len(names) > 1 else ""
    return prefix.rstrip("0123456789")


def compose(data, rules):
    """The picture of a map."""
    picture = Picture()
    nnodes = len(data.nodes)
    ncores = sum(data.ncores(node) for node in range(nnodes))
    is_large = nnodes <= MAX_DETAIL_NODES and ncores <= MAX_DETAIL_CORES
    sizes = [node_size(kind) for kind in data.kinds] if is_large else [(SMALL_W - 6, SMALL_H - 6)]
    step_x = max(width for width, _ in sizes) + (14 if is_large else 6)
    step_y = max(height for _, height in sizes) + (14 if is_large else 6)
    columns = columns_for(nnodes, step_x, step_y)
    prefix = common_prefix([name for _, name in data.nodes])
    for node in range(nnodes):
        x = MARGIN + node % columns * step_x
        y = MARGIN + HEAD + node // columns * step_y
        if is_large:
            draw_large(picture, data, node, x, y)
        else:
            draw_small(picture, data, node, x, y, data.nodes[node][1][len(prefix):])
    title = "%s rank%s on %s node%s" % (format(data.nranks, ","), "s" * (data.nranks != 1),
                                        format(nnodes, ","), "s" * (nnodes != 1))
    if not is_large:
        title += ", %s to %s" % (data.nodes[0][1], data.nodes[-1][1])
    head(picture, data, title, rules)
    picture.width = max(2 * MARGIN + columns * step_x, 420)
    picture.height = MARGIN + HEAD + -(-nnodes // columns) * step_y + 10
    return picture


def pythons():
    """A Python that may have matplotlib: this one, then the system's."""
    return dict.fromkeys(path for path in (sys.executable, "/usr/bin/python3")
                         if path and os.access(path, os.X_OK))


def write_png(picture, path):
    helper = os.path.join(os.path.dirname(os.path.realpath(__file__)), "picture_png.py")
    text = json.dumps(vars(picture))
    for python in pythons():
        out = subprocess.run([python, helper, path], input=text, text=True,
                             capture_output=True, check=False)
        if out.returncode == 0:
            return
        if out.returncode != 77: # it has no matplotlib
            raise Refusal("%s cannot be drawn: %s" % (path, out.stderr.strip()[-300:]))
    raise Refusal("%s needs matplotlib; install the Debian package python3-matplotlib, or "
                  "draw an .svg" % path)
