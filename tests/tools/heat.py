#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Pictures of what ranks send: what they say and how large they are, for 1 to 3,000 ranks."""
import base64
import os
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                                "scripts"))

from orrery_tool import heat # pylint: disable=wrong-import-position

FAILED = []


def verdict(claim, holds, why=""):
    print("%s %s%s" % ("PASS" if holds else "FAIL", claim, "" if holds else ": %s" % why))
    if not holds:
        FAILED.append(claim)


def ring(n):
    """Each rank to the next: 1 KiB from rank 0, 2 KiB from rank 1 and so on."""
    return {(i, (i + 1) % n): (1024 * (i + 1), i + 1) for i in range(n) if n > 1}


def pixels(svg, number):
    """Rows of palette numbers of an embedded image."""
    data = base64.b64decode(re.findall(r"base64,([^\"]+)", svg)[number])
    width, height = struct.unpack(">II", data[16:24])
    at, rows = 8, b""
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            rows += data[at + 8:at + 8 + length]
        at += 12 + length
    rows = zlib.decompress(rows)
    return [rows[1 + i * (width + 1):(i + 1) * (width + 1)] for i in range(height)]


def main():
    svg = heat.compose(4, ring(4)).svg()
    verdict("cells_of_few_ranks_have_numbers",
            all(">%s<" % text in svg for text in ("1 KiB", "4 KiB", "3")), svg)
    svg = heat.compose(64, ring(64)).svg()
    rows = pixels(svg, 0)
    verdict("senders_are_rows", len(rows) == 64 and all(
        [b for b in range(64) if row[b]] == [(a + 1) % 64] for a, row in enumerate(rows)), rows)
    verdict("more_is_brighter", rows[0][1] < rows[10][11] < rows[63][0] == heat.NCOLOURS)
    verdict("messages_as_well", pixels(svg, 1)[63][0] == heat.NCOLOURS)
    svg = heat.compose(1024, ring(1024)).svg()
    width = int(re.search(r'width="(\d+)"', svg).group(1))
    verdict("a_thousand_ranks_have_a_pixel_each", len(pixels(svg, 0)) == 1024
            and 2048 < width < 2600, width)
    verdict("a_thousand_ranks_are_a_small_file", len(svg) < 200000, len(svg))
    verdict("axes_name_few_ranks", len(re.findall(r'text-anchor="end"[^>]*>\d+<', svg)) <= 26)
    svg = heat.compose(3000, ring(3000)).svg()
    verdict("more_ranks_share_cells", len(pixels(svg, 0)) == 1000
            and "a cell is 3 by 3 ranks" in svg)
    svg = heat.compose(2, {}).svg()
    verdict("nothing_sent_is_a_picture", "0 B in 0 messages" in svg, svg)
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
