# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Draws the charts of study_page.py.  Exits 77 without matplotlib.

usage: study_png.py FILE.png FILE.svg, with the charts as JSON on stdin
"""
import json
import os
import sys

del sys.path[0] # beside us, platform.py would hide Python's own

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(77)

COLOURS = ["#1b6ca8", "#d1662b", "#5b8c5a", "#8e5aa8", "#a83a4a", "#7a6a4f", "#2a9d9d", "#999999",
           "#c9a227", "#444444", "#e07a9a", "#3d5a80"]
MARKERS = "osD^vPX*<>hp"
DARK = "#333333"


def number(value, _=None):
    return "%.10g" % value if 1e-3 <= abs(value) < 1e6 or value == 0 else "%.3g" % value


def style(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color("#888888")
    axes.tick_params(colors=DARK, labelsize=9)
    axes.grid(True, color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)


def are_apart(ticks):
    """So that their figures do not overlap beside each other."""
    return 0 < len(ticks) < 9 and all(b - a > 0.08 * (ticks[-1] - ticks[0]) for a, b in zip(ticks, ticks[1:]))


def lines(axes, chart):
    for i, series in enumerate(chart["series"]):
        axes.plot(series["x"], series["y"], label=series["label"].replace("$", r"\$"),
                  color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                  markersize=5, linewidth=1.6)
    if chart["log_x"]:
        axes.set_xscale("log", base=2)
        axes.set_xticks(chart["x_ticks"])
        axes.xaxis.set_major_formatter(FuncFormatter(number))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    elif chart["names"]:
        axes.set_xticks(range(len(chart["names"])))
        axes.set_xticklabels(chart["names"], rotation=0 if len(chart["names"]) < 6 else 30,
                             ha="center" if len(chart["names"]) < 6 else "right")
    elif are_apart(chart["x_ticks"]):
        axes.set_xticks(chart["x_ticks"])
        axes.xaxis.set_major_formatter(FuncFormatter(number))
    elif all(float(x).is_integer() for series in chart["series"] for x in series["x"]):
        axes.xaxis.get_major_locator().set_params(integer=True)
    if chart["log_y"]:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(number))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_title(chart["title"], fontsize=10, color=DARK, loc="left")
    axes.set_xlabel(chart["x"], fontsize=10, color=DARK)
    style(axes)


def bars(axes, chart):
    """One bar from the least to the largest change of each parameter."""
    for place, bar in enumerate(reversed(chart["bars"])):
        sides = {}
        for share, label in bar["ends"]:
            axes.barh(place, max(-chart["limit"], min(share, chart["limit"])), height=0.6,
                      color=COLOURS[0 if share < 0 else 1])
            sides.setdefault(share >= 0, []).append((share, label))
        for is_right, ends in sides.items():
            far = min(chart["limit"], max(abs(share) for share, _ in ends))
            axes.annotate(", ".join(label for _, label in ends),
                          (far if is_right else -far, place), textcoords="offset points",
                          xytext=(4 if is_right else -4, 0), va="center", fontsize=8, color=DARK,
                          ha="left" if is_right else "right")
    axes.set_yticks(range(len(chart["bars"])))
    axes.set_yticklabels([bar["label"] for bar in reversed(chart["bars"])])
    axes.axvline(0, color="#888888", linewidth=1)
    axes.set_xlim(-1.7 * chart["limit"], 1.7 * chart["limit"])
    axes.set_xlabel(chart["x"], fontsize=10, color=DARK)
    style(axes)
    axes.grid(False, axis="y")


def draw(page):
    charts = page["charts"]
    columns = 2 if len(charts) == 4 else min(len(charts), 3)
    rows = -(-len(charts) // columns)
    height = max([3.9] + [1.2 + 0.42 * len(chart.get("bars", [])) for chart in charts])
    width = 7.5 if columns == 1 else 4.6 * columns
    figure, grid = plt.subplots(rows, columns, figsize=(width, height * rows), squeeze=False,
                                sharey=columns > 1, layout="constrained")
    for axes in grid.flat[len(charts):]:
        axes.axis("off")
    for axes, chart in zip(grid.flat, charts):
        (bars if "bars" in chart else lines)(axes, chart)
    # All charts of a picture share their y axis: it holds the points of each.
    most = max(axes.dataLim.y1 for axes in grid.flat[:len(charts)])
    if not any("bars" in chart or chart["log_y"] for chart in charts):
        grid.flat[0].set_ylim(0, 1.05 * most if 0 < most < float("inf") else None) # room for the markers
    for axes in grid[:, 0]:
        axes.set_ylabel(page["y"], fontsize=10, color=DARK)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False,
                      fontsize=9, ncol=min(len(labels), 4 if columns > 1 else 3))
    figure.suptitle(page["title"].replace("$", r"\$"), fontsize=11, x=0.01, ha="left", color=DARK)
    return figure


def main():
    figure = draw(json.load(sys.stdin))
    for path in sys.argv[1:]:
        beside = "%s.new-%d%s" % (path, os.getpid(), os.path.splitext(path)[1])
        try:
            figure.savefig(beside, dpi=150, bbox_inches="tight", pad_inches=0.15)
            os.replace(beside, path)
        except OSError as error:
            if os.path.exists(beside):
                os.remove(beside)
            sys.exit(error.strerror or str(error))


if __name__ == "__main__":
    main()
