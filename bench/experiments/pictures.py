#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Draws an experiment's picture.

usage: pictures.py FILE.svg|.png ..., with the charts as JSON on stdin

A picture has a title and charts side by side; a chart has title, x, y, y_from, log_x, log_y,
ticks, bands and lines; a line has label, x, y, and style when it is no measurement.
"""
import json
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.ticker import FuncFormatter, NullFormatter
    import matplotlib.pyplot as plt
except ImportError as error:
    sys.exit("no picture: %s; install the Debian package python3-matplotlib" % error)

COLOURS = ["#1b6ca8", "#d1662b", "#5b8c5a", "#8e5aa8", "#a83a4a", "#7a6a4f"]
MARKERS = "osD^vP"
DARK = "#333333"
matplotlib.rcParams.update({"svg.hashsalt": "orrery", "svg.fonttype": "none"})


def number(value, _=None):
    return "{:,.10g}".format(value) if 1e-3 <= abs(value) < 1e6 or value == 0 else "%.3g" % value


def draw_chart(axes, chart):
    for i, line in enumerate(chart["lines"]):
        points = [(x, y) for x, y in zip(line["x"], line["y"]) if y is not None]
        plain = line.get("style") == "reference"
        axes.plot([x for x, _ in points], [y for _, y in points], label=line["label"],
                  color="#777777" if plain else COLOURS[i % len(COLOURS)],
                  marker="" if plain else MARKERS[i % len(MARKERS)], markersize=5,
                  linestyle="--" if plain else "-", linewidth=1.2 if plain else 1.7)
    for low, high, label in chart.get("bands", []):
        axes.axhspan(low, high, color="#d1662b", alpha=0.13, lw=0, label=label)
    if chart.get("log_x"):
        axes.set_xscale("log", base=2)
    if chart.get("log_y"):
        axes.set_yscale("log")
    else:
        values = [y for line in chart["lines"] for y in line["y"] if y is not None]
        low = chart.get("y_from", 0)
        top = max(values + [band[1] for band in chart.get("bands", [])], default=1)
        axes.set_ylim(low, low + 1.08 * (top - low))
    if chart.get("ticks"):
        axes.set_xticks(chart["ticks"])
        axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(number))
    axes.yaxis.set_major_formatter(FuncFormatter(number))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(chart["x"], color=DARK)
    axes.set_ylabel(chart["y"], color=DARK)
    axes.set_title(chart["title"], fontsize=10, color=DARK, loc="left")
    axes.grid(True, color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=DARK, labelsize=9)
    axes.legend(frameon=False, fontsize=8.5, labelcolor=DARK, loc=chart.get("legend", "best"))


def main():
    picture = json.load(sys.stdin)
    charts = picture["charts"]
    columns = 2 if len(charts) == 4 else min(3, len(charts))
    rows = -(-len(charts) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(1.2 + 4.6 * columns, 4 * rows),
                                squeeze=False, layout="constrained")
    for axes in grid.flat[len(charts):]:
        axes.axis("off")
    for axes, chart in zip(grid.flat, charts):
        draw_chart(axes, chart)
    figure.suptitle(picture["title"], fontsize=11, x=0.01, ha="left", color=DARK)
    for path in sys.argv[1:]:
        figure.savefig(path, dpi=110,
                       metadata={"Date": None} if path.endswith(".svg") else None)


if __name__ == "__main__":
    main()
