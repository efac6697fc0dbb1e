# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: the picture and the page of what was found."""
import html
import json
import os
import re
import subprocess

from orrery_tool.picture import pythons
from orrery_tool.study_plan import as_text, is_number, number_of
from orrery_tool.words import Refusal, write_text

MAX_LINES = 12             # in one chart
MAX_CHARTS = 9
MAX_ROWS = 5000            # of the page's table
WIDE = 8                   # from this ratio on, an axis is logarithmic

STYLE = """body{font:15px/1.45 system-ui,sans-serif;color:#333;margin:2em auto;max-width:75em;
padding:0 1em}table{border-collapse:collapse;font-size:13px}th,td{padding:.25em .7em;
border-bottom:1px solid #e4e4e4;text-align:right;white-space:nowrap}th{cursor:pointer;
background:#f5f5f5;position:sticky;top:0}td.t{text-align:left;white-space:normal}
tr.bad{background:#fbeeee}svg{max-width:100%;height:auto}code{background:#f5f5f5;padding:.1em .3em}
.wide{overflow-x:auto}"""
SORT = """document.querySelectorAll('th').forEach((th,i)=>th.onclick=()=>{const b=th.closest('table')
.tBodies[0],up=th.dataset.up=th.dataset.up==='1'?'':'1';[...b.rows].sort((p,q)=>{const
x=p.cells[i].textContent,y=q.cells[i].textContent,d=x-y;return (isNaN(d)?x.localeCompare(y):d)*
(up?1:-1)}).forEach(r=>b.append(r))})"""


def choose_axes(plan):
    """(parameter of the x axis, those of the lines, that of the charts or None)"""
    varied = plan.varied()
    given = plan.picture.get("x")
    numbers = [name for name in varied if all(map(is_number, plan.parameters[name]))]
    numbers.sort(key=lambda name: (name != "nodes", -len(plan.parameters[name])))
    x = given or (numbers + varied + ["nodes"])[0]
    others = sorted((name for name in varied if name != x), key=lambda name: name in numbers)
    nlines, lines = 1, []
    for name in others:
        if nlines * len(plan.parameters[name]) > MAX_LINES or (len(others) > 1 and lines):
            continue
        nlines *= len(plan.parameters[name])
        lines.append(name)
    return x, lines, [name for name in others if name not in lines]


def spread(values):
    values = [value for value in values if value > 0]
    return max(values) / min(values) if values else 1


def short(program):
    """A command for a title."""
    name, space, rest = program.partition(" ")
    text = os.path.basename(name) + space + rest
    return text if len(text) <= 80 else text[:77] + "..."


def title_of(plan):
    """The program, with the values of what does not vary, and names of what does."""
    def value(match):
        values = plan.parameters.get(match.group(1), ())
        return as_text(values[0]) if len(values) == 1 else match.group(1).upper()

    text = short(re.sub(r"\{(\w+)\}", value, plan.program))
    platforms = plan.parameters.get("platform", ())
    return "%s on %s" % (text, os.path.basename(as_text(platforms[0]))) if len(platforms) == 1 else text


class Charts:
    def __init__(self, plan, rows):
        self.plan = plan
        self.y = plan.picture.get("y", "time_s")
        self.x, self.lines, self.facets = choose_axes(plan)
        self.good = []
        for row in rows:
            if row and row["status"] == "ok" and number_of(row[self.y]) is not None:
                self.good.append(row)

    def group(self, rows, names):
        """Rows by the values of some parameters, in the order of the values."""
        order = {name: {as_text(value): i for i, value in enumerate(self.plan.parameters[name])}
                 for name in names}
        groups = {}
        for row in rows:
            groups.setdefault(tuple(row[name] for name in names), []).append(row)
        return sorted(groups.items(), key=lambda item: [
            order[name].get(value, 0) for name, value in zip(names, item[0])])

    @staticmethod
    def label(names, values):
        return ", ".join("%s %s" % (name, value or "\"\"") for name, value in zip(names, values))

    def chart(self, rows, title, log_y):
        values = self.plan.parameters[self.x]
        is_numeric = all(map(is_number, values))
        place = {as_text(value): value if is_numeric else i for i, value in enumerate(values)}
        series = []
        for key, group in self.group(rows, self.lines):
            points = sorted((place[row[self.x]], float(row[self.y])) for row in group
                            if row[self.x] in place)
            series.append({"label": self.label(self.lines, key), "x": [p[0] for p in points],
                           "y": [p[1] for p in points]})
        there = {row[self.x] for row in self.good}
        values = [value for value in values if as_text(value) in there] or values
        log_x = is_numeric and min(values) > 0 and spread(values) >= WIDE
        return {"title": title, "x": self.x, "series": series, "log_y": log_y, "log_x": log_x,
                "x_ticks": sorted(values) if is_numeric and len(values) <= 12 else
                [v for i, v in enumerate(sorted(values)) if i % 2 == 0] if is_numeric else [],
                "names": [] if is_numeric else list(place)}

    def page(self):
        """What study_png.py draws; None: there is nothing to draw."""
        if not self.good:
            return None
        ys = [float(row[self.y]) for row in self.good]
        log_y = min(ys) > 0 and spread(ys) >= WIDE
        groups = self.group(self.good, self.facets)[:MAX_CHARTS]
        unit = {"time_s": "simulated time (s)" if "platform" in self.plan.parameters
                else "time (s)", "wall_s": "time to compute it (s)"}.get(self.y, self.y)
        return {"title": title_of(self.plan), "y": unit,
                "charts": [self.chart(rows, self.label(self.facets, key), log_y)
                           for key, rows in groups]}


def sensitivity_page(plan, rows):
    bars = []
    for row in rows:
        ends = [(100 * share, "%s: %+.1f %%" % (as_text(value), 100 * share))
                for value, share in row["shares"].items() if value != row["value"]]
        ends.sort()
        ends = ends[:1] + ends[-1:] if len(ends) > 1 else ends
        bars.append({"label": "%s (%s)" % (row["parameter"], as_text(row["value"])),
                     "ends": ends})
    # Choices may change more than any quantity does: their bars are cut off.
    most = [max(abs(share) for share, _ in bar["ends"]) for bar in bars if bar["ends"]]
    slopes = [100 * row["effect"] for row in rows if row["slope"] is not None]
    limit = max(most, default=0.0) # none: all runs with a change have failed
    if slopes and max(slopes) > 0:
        limit = min(limit, 1.5 * max(slopes))
    return {"title": "Change of time when one parameter changes: " + title_of(plan), "y": "",
            "charts": [{"bars": bars, "x": "change of time (%)", "title": "",
                        "limit": limit or 1}]}


def draw(page, directory, name):
    """Writes NAME.png; returns the picture as SVG, or "" when nothing draws here."""
    helper = os.path.join(os.path.dirname(os.path.realpath(__file__)), "study_png.py")
    png, svg = (os.path.join(directory, name + suffix) for suffix in (".png", ".svg"))
    for python in pythons():
        out = subprocess.run([python, helper, png, svg], input=json.dumps(page), text=True,
                             capture_output=True, check=False)
        if out.returncode == 0:
            with open(svg, encoding="utf-8") as f:
                return f.read()
        if out.returncode != 77: # it has no matplotlib
            raise Refusal("study: %s cannot be drawn: %s; the table is whole, and the same "
                          "command draws it when there is room" % (png, out.stderr.strip()[-300:]))
    return ""


def table_html(table, rows):
    numeric = re.compile(r"[-+0-9.eE]*")
    lines = ["<div class=wide><table><thead><tr>%s</tr></thead><tbody>" % "".join(
        "<th>%s</th>" % html.escape(name) for name in table.columns)]
    for row in rows[:MAX_ROWS]:
        cells = "".join("<td%s>%s</td>" % (
            "" if numeric.fullmatch(row[name]) else " class=t", html.escape(row[name]))
            for name in table.columns)
        lines.append("<tr%s>%s</tr>" % ("" if row["status"] == "ok" else " class=bad", cells))
    lines.append("</tbody></table></div>")
    if len(rows) > MAX_ROWS:
        lines.append("<p>and %d rows more in runs.csv</p>" % (len(rows) - MAX_ROWS))
    return "\n".join(lines)


def write_page(plan, table, directory, pictures, notes):
    """index.html, which needs nothing beside it."""
    rows = list(table.rows.values())
    nbad = sum(row["status"] != "ok" for row in rows)
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>orrery study</title>",
             "<style>%s</style>" % STYLE,
             "<h1>%d run%s%s</h1>" % (len(rows), "s" * (len(rows) != 1),
                                      ", %d of them failed" % nbad if nbad else ""),
             "<p><code>%s</code></p>" % html.escape(plan.program)]
    parts += ["<p>%s</p>" % html.escape(note) for note in notes]
    for svg in pictures:
        parts.append(svg[svg.find("<svg"):])
    parts += ["<h2>Runs</h2>", table_html(table, rows), "<script>%s</script></html>" % SORT]
    write_text(os.path.join(directory, "index.html"), "\n".join(parts) + "\n")
