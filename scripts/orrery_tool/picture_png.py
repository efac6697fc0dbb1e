# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Draws the boxes and texts of picture.py as PNG.  Exits 77 without matplotlib.

usage: picture_png.py FILE.png, with the picture as JSON on stdin
"""
import base64
import io
import json
import os
import sys

del sys.path[0] # beside us, platform.py would hide Python's own

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(77)

DPI = 100
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def draw(picture):
    width, height = picture["width"], picture["height"]
    # Two pixels for one, as far as viewers go.
    scale = min(2.0, 8000 / max(width, height))
    figure = plt.figure(figsize=(width / DPI, height / DPI), dpi=DPI * scale)
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    patches = [Rectangle((x, y), w, h, facecolor=fill, edgecolor=edge or "none",
                         linewidth=0.7 if edge else 0)
               for x, y, w, h, fill, edge in picture["boxes"]]
    axes.add_collection(PatchCollection(patches, match_original=True))
    for x, y, width, height, png in picture.get("images", []):
        pixels = plt.imread(io.BytesIO(base64.b64decode(png)))
        axes.imshow(pixels, extent=(x, x + width, y + height, y), interpolation="nearest",
                    aspect="auto", zorder=0.5)
    axes.set_xlim(0, picture["width"])
    axes.set_ylim(picture["height"], 0)
    for x, y, size, anchor, colour, text in picture["texts"]:
        axes.text(x, y, text.replace("$", r"\$"), fontsize=size * 72 / DPI, color=colour,
                  ha=ANCHORS[anchor], va="baseline", family="DejaVu Sans")
    return figure


def main():
    path = sys.argv[1]
    beside = "%s.new-%d.png" % (path, os.getpid())
    figure = draw(json.load(sys.stdin))
    try:
        figure.savefig(beside, dpi="figure")
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.remove(beside)
        sys.exit(error.strerror or str(error))


if __name__ == "__main__":
    main()
