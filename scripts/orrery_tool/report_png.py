# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Draws the figures of report_page.py.  Exits 77 without matplotlib.

usage: report_png.py DIRECTORY, with the figures as JSON on stdin; writes NAME.png,
NAME.pdf and NAME.svg of each
"""
import json
import os
import sys

del sys.path[0] # beside us, platform.py would hide Python's own

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
    import matplotlib.pyplot as plt
    import numpy as np
except ImportError:
    sys.exit(77)

DARK = "#333333"
BLUES = LinearSegmentedColormap.from_list("orrery", ["#ffffff", "#b9d3e8", "#1b6ca8", "#0b2c4a"])
WIDTH = 9.5


def scale_of(largest):
    """(factor, unit) for seconds."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if largest * factor >= 2:
            return factor, unit
    return 1e6, "us"


def style(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color("#888888")
    axes.tick_params(colors=DARK, labelsize=9)


def time_axis(axes, begin_s, end_s):
    factor, unit = scale_of(end_s - begin_s)
    axes.set_xlabel("time (%s)" % unit, fontsize=10, color=DARK)
    return factor


def legend(figure, handles, labels):
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False,
                  fontsize=9, ncol=min(len(labels), 8), columnspacing=1.2, handlelength=1.4)


def draw_causes(data):
    """How many workers are at what, over time: one chart for each kind."""
    kinds = data["kinds"]
    figure, grid = plt.subplots(len(kinds), 1, figsize=(WIDTH, 2.6 * len(kinds)), squeeze=False,
                                layout="constrained")
    for axes, kind in zip(grid[:, 0], kinds):
        factor = time_axis(axes, data["begin_s"], data["end_s"])
        edges = np.linspace(0, (data["end_s"] - data["begin_s"]) * factor,
                            len(kind["bins"][0]) + 1)
        stacked = axes.stackplot(edges[:-1], np.array(kind["bins"]), step="post",
                                 colors=data["colours"], labels=data["causes"], linewidth=0)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(0, kind["number"])
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_title(kind["title"], fontsize=10, loc="left", color=DARK)
        axes.set_ylabel("number of them", fontsize=10, color=DARK)
        style(axes)
    legend(figure, stacked, data["causes"])
    return figure


def keep_what_fits(figure, axes, labels):
    """Of the labels of bars, each with its bar's part of the width; small ones where that helps."""
    figure.draw_without_rendering()
    for label, part in labels:
        for size in (9, 7):
            label.set_fontsize(size)
            if label.get_window_extent().width < 0.95 * part * axes.bbox.width:
                break
        else:
            label.remove()


def draw_lost(data):
    kinds = data["kinds"]
    figure, axes = plt.subplots(figsize=(WIDTH, 0.8 + 0.55 * len(kinds)), layout="constrained")
    labels = []
    for place, kind in enumerate(reversed(kinds)):
        left = 0.0
        for share, colour in zip(kind["shares"], data["colours"]):
            axes.barh(place, share, left=left, color=colour, height=0.7)
            if share >= 0.5:
                label = axes.text(left + share / 2, place, "%.0f %%" % share, ha="center", va="center",
                                  fontsize=9, color="white" if colour != "#dddddd" else DARK)
                labels.append((label, share / 100))
            left += share
    axes.set_yticks(range(len(kinds)), [kind["title"] for kind in reversed(kinds)])
    axes.set_xlim(0, 100)
    axes.set_xlabel(data.get("axis", "share of the workers' time (%)"), fontsize=10, color=DARK)
    style(axes)
    legend(figure, [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in data["colours"]],
           data["causes"])
    keep_what_fits(figure, axes, labels)
    return figure


def draw_nodes(data):
    """Busy share of each node over time."""
    share = np.array(data["rows"])
    figure, axes = plt.subplots(figsize=(WIDTH, min(6, 1.6 + 0.22 * len(share))),
                                layout="constrained")
    factor = time_axis(axes, data["begin_s"], data["end_s"])
    # Where nodes are hardly ever busy, the colours are for what there is.
    most = 100
    while most > 1 and share.size and share.max() <= most / 2:
        most /= 2
    image = axes.imshow(share, aspect="auto", cmap=BLUES, vmin=0, vmax=most, origin="upper",
                        interpolation="nearest", extent=(
                            0, (data["end_s"] - data["begin_s"]) * factor,
                            len(share) - 0.5, -0.5))
    axes.set_ylabel("node", fontsize=10, color=DARK)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_title(data["title"], fontsize=10, loc="left", color=DARK)
    bar = figure.colorbar(image, ax=axes, pad=0.01)
    bar.set_label("busy (%)", fontsize=9)
    style(axes)
    return figure


def draw_matrix(data):
    """Bytes from each node to each other one."""
    size = data["size"]
    matrix = np.zeros((size, size))
    for source, target, count in data["cells"]:
        matrix[source, target] = count
    figure, axes = plt.subplots(figsize=(6.2, 5.2), layout="constrained")
    masked = np.ma.masked_less_equal(matrix, 0)
    axes.set_facecolor("#f5f5f5")
    factor, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
                         if masked.count() and masked.max() >= pair[0]), (1, "bytes"))
    masked = masked / factor
    # Of like amounts no colour may say that one is much more than another.
    norm = LogNorm(masked.min(), masked.max()) if masked.count() and \
        masked.max() > 10 * masked.min() else Normalize(0, masked.max() or 1)
    image = axes.imshow(masked, cmap="viridis", norm=norm, origin="upper", interpolation="nearest")
    axes.set_xlabel("to node", fontsize=10, color=DARK)
    axes.set_ylabel("from node", fontsize=10, color=DARK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    bar = figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label(unit, fontsize=9)
    axes.set_title("what nodes have sent to others", fontsize=10, loc="left", color=DARK)
    style(axes)
    return figure


def draw_lines(data):
    """Quantities over time, one below the other."""
    charts = data["charts"]
    figure, grid = plt.subplots(len(charts), 1, figsize=(WIDTH, 1.9 * len(charts)), squeeze=False,
                                layout="constrained", sharex=True)
    for axes, chart in zip(grid[:, 0], charts):
        factor = scale_of(data["end_s"] - data["begin_s"])[0]
        for colour, (label, values) in zip(("#1b6ca8", "#d1662b", "#5b8c5a", "#8e5aa8"),
                                           chart["lines"]):
            dates = np.linspace(0, (data["end_s"] - data["begin_s"]) * factor, len(values) + 1)[1:]
            axes.plot(dates, values, color=colour, linewidth=1.3, label=label)
        axes.set_title(chart["title"], fontsize=10, loc="left", color=DARK)
        highest = max(max(values, default=0) for _, values in chart["lines"])
        axes.set_ylim(0, None if highest > 0 else 1)
        axes.set_xlim(0, (data["end_s"] - data["begin_s"]) * factor or 1)
        axes.grid(True, color="#e4e4e4", linewidth=0.8)
        if len(chart["lines"]) > 1:
            axes.legend(frameon=False, fontsize=8, loc="upper right")
        style(axes)
    time_axis(grid[-1, 0], data["begin_s"], data["end_s"])
    return figure


DRAW = {"causes": draw_causes, "lost": draw_lost, "nodes": draw_nodes, "matrix": draw_matrix,
        "lines": draw_lines}


def save(figure, path):
    beside = "%s.new-%d%s" % (path, os.getpid(), os.path.splitext(path)[1])
    try:
        figure.savefig(beside, dpi=150, bbox_inches="tight", pad_inches=0.1)
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.remove(beside)
        sys.exit("%s: %s" % (path, error.strerror or error))


def main():
    directory, figures = sys.argv[1], json.load(sys.stdin)
    for name, data in figures.items():
        figure = DRAW[data["figure"]](data)
        for suffix in (".png", ".pdf", ".svg"):
            save(figure, os.path.join(directory, name + suffix))
        plt.close(figure)


if __name__ == "__main__":
    main()
