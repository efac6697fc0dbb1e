# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --comm-matrix FILE.svg|.png: what each rank sends to each other one.

Two squares, of bytes and of messages: a row for each sender, a column for each receiver,
dark where nothing or little goes, paper where nothing goes at all.  Cells of few ranks
have their number; those of many are one raster image, so that a thousand ranks stay small.
"""
import base64
import math
import struct
import zlib

from orrery_tool.picture import INK, PALE, PAPER, EDGE, Picture, ink_on, parts, rank_colour, \
    write_png
from orrery_tool.words import write_text

SIDE, MARGIN, LABELS, HEAD = 640, 28, 52, 78
MAX_CELLS = 1024 # more ranks share cells
MAX_NUMBERED = 16
NCOLOURS = 255
WIDE = 20 # from this ratio of the largest to the least on, colours are logarithms
BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
COUNT_UNITS = ["", "k", "M", "G", "T"]


def short(value, units, base):
    """1536 as "1.5 KiB"."""
    step = 0
    while value >= base and step < len(units) - 1:
        value, step = value / base, step + 1
    text = "%d" % value if step == 0 or value >= 100 else "%.3g" % value
    return (text + " " + units[step]).strip()


def bytes_text(value):
    return short(value, BYTE_UNITS, 1024)


def count_text(value):
    return short(value, COUNT_UNITS, 1000)


def raster(cells):
    """Rows of numbers, 0 to NCOLOURS, as PNG: 0 is paper."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    palette = b"".join(bytes(parts(colour)) for colour in [PAPER] + [
        rank_colour(i, NCOLOURS) for i in range(NCOLOURS)])
    rows = b"".join(b"\0" + bytes(row) for row in cells)
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", len(cells[0]), len(cells), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", palette) + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b""))


class Scale:
    """From values to colours, 1 to NCOLOURS."""

    def __init__(self, values):
        self.least, self.most = min(values), max(values)
        self.is_log = self.most >= WIDE * self.least

    def colour(self, value):
        if not value:
            return 0
        share = (math.log(value / self.least) / math.log(self.most / self.least)
                 if self.is_log else value / self.most)
        return 1 + round(share * (NCOLOURS - 1))

    def value(self, share):
        if self.is_log:
            return self.least * (self.most / self.least) ** share
        return share * self.most


def rank_steps(n):
    """Ranks that are named on an axis, about ten."""
    step = 1
    while n / step > 12:
        step *= 2 if str(step)[0] in "15" else 2.5
        step = int(step)
    return range(0, n, step)


class Panel:
    def __init__(self, n, values, text):
        self.n, self.values, self.text = n, values, text # (from, to): value
        self.share = -(-n // MAX_CELLS)                   # ranks of a cell
        self.ncells = -(-n // self.share)
        self.side = max(SIDE // self.ncells, 1) * self.ncells
        self.cells = {}
        for (a, b), value in values.items():
            at = (a // self.share, b // self.share)
            self.cells[at] = self.cells.get(at, 0) + value
        self.scale = Scale([v for v in self.cells.values() if v] or [1])

    def draw(self, picture, x, y, title):
        picture.text(x, y - 36, 14, title)
        picture.text(x + self.side / 2, y - 6, 10, "to rank", "middle", PALE)
        if self.ncells <= MAX_NUMBERED:
            self.draw_numbered(picture, x, y)
        else:
            rows = [[0] * self.ncells for _ in range(self.ncells)]
            for (a, b), value in self.cells.items():
                rows[a][b] = self.scale.colour(value)
            picture.image(x, y, self.side, self.side, raster(rows))
        picture.frame(x, y, self.side, self.side)
        self.draw_axes(picture, x, y)
        self.draw_scale(picture, x, y + self.side + 30)

    def draw_numbered(self, picture, x, y):
        size = self.side / self.ncells
        for (a, b), value in sorted(self.cells.items()):
            if not value:
                continue
            colour = rank_colour(self.scale.colour(value) - 1, NCOLOURS)
            picture.box(x + b * size, y + a * size, size, size, colour)
            picture.text(x + (b + 0.5) * size, y + (a + 0.5) * size + 4,
                         11 if self.ncells <= 8 else 7.5, self.text(value), "middle",
                         ink_on(colour))

    def draw_axes(self, picture, x, y):
        size = self.side / self.n
        for rank in rank_steps(self.n):
            middle = (rank + 0.5) * size
            picture.text(x - 6, y + middle + 4, 10, "%d" % rank, "end", PALE)
            picture.text(x + middle, y + self.side + 14, 10, "%d" % rank, "middle", PALE)
        picture.text(x - 6, y - 6, 10, "from", "end", PALE)

    def draw_scale(self, picture, x, y):
        width, steps = min(self.side, 320), 64
        for i in range(steps):
            picture.box(x + i * width / steps, y, width / steps + 0.5, 9,
                        rank_colour(i, steps))
        for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end")):
            picture.text(x + share * width, y + 22, 10, self.text(self.scale.value(share)),
                         anchor, PALE)
        picture.text(x + width + 12, y + 9, 10, "logarithmic" if self.scale.is_log else "linear",
                     colour=PALE)


class HeatPicture(Picture):
    """Also with raster images: x, y, width, height, PNG in base64."""

    def __init__(self):
        super().__init__()
        self.images = []

    def image(self, x, y, width, height, png):
        self.images.append((x, y, width, height, base64.b64encode(png).decode()))

    def frame(self, x, y, width, height):
        for box in ((x - 1, y - 1, width + 2, 1), (x - 1, y + height, width + 2, 1),
                    (x - 1, y - 1, 1, height + 2), (x + width, y - 1, 1, height + 2)):
            self.box(*box, EDGE)

    def svg(self):
        images = "\n".join(
            '<image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" '
            'style="image-rendering:pixelated" href="data:image/png;base64,%s"/>' % image
            for image in self.images)
        return super().svg().replace("</svg>", images + "\n</svg>")


def compose(nranks, sent):
    """sent: (from, to): (bytes, messages)."""
    nbytes = {pair: values[0] for pair, values in sent.items()}
    counts = {pair: values[1] for pair, values in sent.items()}
    panels = [(Panel(nranks, nbytes, bytes_text), "bytes"),
              (Panel(nranks, counts, count_text), "messages")]
    picture = HeatPicture()
    side = panels[0][0].side
    picture.text(MARGIN, MARGIN + 14, 18, "What %s ranks send to each other"
                 % format(nranks, ","), colour=INK)
    total = "%s in %s messages" % (bytes_text(sum(nbytes.values())),
                                   format(sum(counts.values()), ","))
    if sent:
        a, b = max(sent, key=lambda pair: (nbytes[pair], -pair[0], -pair[1]))
        total += "; most from %d to %d: %s" % (a, b, bytes_text(nbytes[a, b]))
    if panels[0][0].share > 1:
        total += "; a cell is %d by %d ranks" % (panels[0][0].share, panels[0][0].share)
    picture.text(MARGIN, MARGIN + 34, 12, total, colour=PALE)
    for i, (panel, title) in enumerate(panels):
        panel.draw(picture, MARGIN + LABELS + i * (side + LABELS + MARGIN), MARGIN + HEAD + 20,
                   title)
    picture.width = max(2 * (side + LABELS + MARGIN) + MARGIN, 560)
    picture.height = MARGIN + HEAD + side + 90
    return picture


def draw(path, nranks, sent):
    picture = compose(nranks, sent)
    if path.endswith(".svg"):
        write_text(path, picture.svg())
    else:
        write_png(picture, path)
