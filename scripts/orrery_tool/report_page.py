# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: figures and the page."""
import html
import json
import math
import os
import subprocess
import tempfile

from orrery_tool.picture import pythons
from orrery_tool.report_kinds import SERIAL
from orrery_tool.report_path import (COPIES, CALLS, PARTS, PROGRAM, QUEUE, RUNS, SCHEDULER,
                                     TRANSFER)
from orrery_tool.report_reasons import CHAINED, FASTER, NAMES, Reasons
from orrery_tool.report_time import (BINS, BUSY, CAUSES, DATA, DEPENDENCY, MEANING, REMEDY, REMEDY_OF_CORES,
                                     codelet_rows, model_errors,
                                     sampled)
from orrery_tool.report_view import busy_rows, view_html
from orrery_tool.report_words import seconds, several, times
from orrery_tool.summary import doubt_text, read_figures
from orrery_tool.words import Refusal, write_text

COLOURS = ["#1b6ca8", "#d1662b", "#a83a4a", "#c9a227", "#8e5aa8", "#5b8c5a", "#2a9d9d", "#dddddd"]
MAX_PATH_ROWS = 300
MAX_IMAGE_ROWS = 1024
MAX_NAMES = 4
MAX_REASONS = 4
CHANGE = {
    COPIES: "prefetch, or leave the data where they are",
    TRANSFER: "send less or earlier, or compute where the data are",
    QUEUE: "a higher priority of this message, or fewer before it",
    SCHEDULER: "another scheduler: the worker was free, and the task ready",
    PROGRAM: "submit earlier",
    CALLS: "a shorter callback, or a task that does its work",
}
PLURAL = {kind: name + "s" for kind, name in NAMES.items()}

STYLE = """body{font:15px/1.5 system-ui,sans-serif;color:#333;margin:2em auto;max-width:72em;
padding:0 1em}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;
font-size:13px}th,td{padding:.25em .8em;border-bottom:1px solid #e4e4e4;text-align:right}
th{background:#f5f5f5}td:first-child,th:first-child,td.t,th.t{text-align:left}td.t{min-width:6em}td:not(.t){white-space:nowrap}
svg{max-width:100%;height:auto;margin:.8em 0}.wide{overflow:auto;margin:1em 0}.path{max-height:32em}#gantt{width:100%;cursor:crosshair}#names span{margin-right:1em;
font-size:13px}#names i{display:inline-block;width:.9em;height:.9em;margin-right:.3em}
#tip{position:absolute;display:none;background:#333;color:#fff;font-size:12px;padding:.2em .5em;
border-radius:3px;pointer-events:none}#where{color:#666}
strong{color:#a83a4a}@media(max-width:40em){.figure{overflow-x:auto}.figure svg{max-width:none;
width:36em}}"""


def share(part, whole):
    return 100 * part / whole if whole > 0 else 0.0


def byte_text(value):
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return "%.4g %s" % (value, unit)
        value /= 1000
    return ""


class Report:
    def __init__(self, run, accounts, path):
        self.run, self.accounts, self.path = run, accounts, path
        self.span_s = run.end_s - run.begin_s
        self.kind = accounts.main_kind()
        self.main = accounts.by_kind[self.kind]
        self.chain = run.longest_chain()
        self.reasons = Reasons(run, accounts, path, self.kind)
        self.gpu_gains = self.reasons.faster_on_gpus()

    # ---- sentences ----

    def headline(self):
        nnodes = len(self.run.nodes)
        workers = ", ".join("%s busy %.1f %%" % (
            several(self.accounts.nworkers[kind], NAMES[kind]),
            share(self.accounts.by_kind[kind].total[BUSY], self.accounts.capacity_s(kind)))
            for kind in reversed(self.run.kinds))
        return "%s on %s, %s; %s" % (seconds(self.span_s), several(nnodes, "node"),
                                     several(self.run.ntasks(), "task"), workers)

    def largest_loss(self):
        """(cause, share of the time of the main kind)"""
        cause = max(range(1, len(CAUSES)), key=lambda c: self.main.total[c])
        return cause, share(self.main.total[cause], self.accounts.capacity_s(self.kind))

    def verdict(self):
        cause, lost = self.largest_loss()
        if lost < 1:
            return "The %s hardly ever wait." % PLURAL[self.kind]
        return "Most of what the %s lose: %.1f %% of their time, each %s (%s). %s." % (
            PLURAL[self.kind], lost, MEANING[cause], CAUSES[cause], self.remedy(cause, lost))

    def remedy(self, cause, lost):
        """What helps in general, or where a reason explains it, that."""
        first = self.reasons.found[:1]
        if cause == DEPENDENCY and first and first[0].name in (*SERIAL, "placement") and \
                100 * first[0].share >= 0.5 * lost:
            return "The first reason below says why, and what helps"
        return "What helps: " + (REMEDY[cause] if (cause, self.kind) != (DATA, "cpu") else
                                 REMEDY_OF_CORES)

    def bound(self):
        area_s, chain_s = self.accounts.area_s(), self.chain[0]
        least_s = max(area_s, chain_s)
        rows = ", ".join("%d of %s" % (n, name) for name, n, _ in self.chain[1][:MAX_NAMES])
        if len(self.chain[1]) > MAX_NAMES:
            rows += ", ..."
        return ("Without any wait, the same tasks would keep the same workers busy for at least "
                "%s; the longest chain of tasks that wait for each other takes %s%s. So no order "
                "of them takes less than %s: the run took %s that%s." % (
                    seconds(area_s), seconds(chain_s), " (%s)" % rows if rows else "",
                    seconds(least_s), times(self.span_s / least_s if least_s else 0),
                    "; more workers cannot help, shorter chains can"
                    if chain_s > area_s and chain_s >= CHAINED * self.span_s else ""))

    def path_sentence(self):
        whole = sum(self.path.seconds)
        parts = sorted(zip(self.path.seconds, PARTS), reverse=True)
        return "Of the critical path %s." % ", ".join(
            "%.1f %% %s" % (share(part, whole), "are " + name) for part, name in parts
            if share(part, whole) >= 0.05) if whole > 0 else "There is no critical path."

    def doubt(self):
        """What the durations of a simulation rest on; see doc/simulation.md."""
        figures = read_figures(os.path.join(self.run.directory, "summary"))
        sentence = doubt_text(figures).partition("] ")[2].strip()
        error_s = self.path_error_s(figures)
        if error_s:
            sentence += "; the tasks of the critical path, to +-%s" % seconds(error_s)
        return sentence[:1].upper() + sentence[1:] + "."

    def path_error_s(self, figures):
        """One standard error of the sum of the durations on the critical path."""
        of_tasks = [step.end_s - step.begin_s for step in self.path.steps if step.part == RUNS]
        work_s, ntasks = float(figures.get("work_s", 0)), int(figures.get("tasks", 0))
        if not of_tasks or not work_s or not ntasks:
            return 0.0
        return math.hypot(math.sqrt(len(of_tasks) / ntasks * float(figures["variance_s2"])),
                          sum(of_tasks) / work_s * float(figures["mean_error_s"]))

    def sentences(self):
        return [sentence for sentence in (
            self.run.cut(), self.run.around(), self.verdict(), *self.reason_sentences(), self.bound(), self.path_sentence(),
            self.doubt()) if len(sentence) > 1]

    def reason_sentences(self):
        return [reason.sentence() for reason in self.reasons.found[:MAX_REASONS]]

    # ---- figures ----

    def figures(self):
        run = self.run
        span = {"begin_s": run.begin_s, "end_s": run.end_s}
        figures = {"lost": {"figure": "lost", "causes": CAUSES, "colours": COLOURS, "kinds": [
            {"title": several(self.accounts.nworkers[kind], NAMES[kind]), "shares": [
                share(part, self.accounts.capacity_s(kind))
                for part in self.accounts.by_kind[kind].total]} for kind in reversed(run.kinds)]}}
        figures["time"] = dict(span, figure="causes", causes=CAUSES, colours=COLOURS, kinds=[
            self.kind_over_time(kind) for kind in reversed(run.kinds)
            if kind == self.kind or self.accounts.by_kind[kind].total[BUSY] > 0])
        if len(run.nodes) > 1:
            figures["nodes"] = dict(span, figure="nodes", rows=self.image_rows(),
                                    title="%s of each node" % PLURAL[self.kind])
            cells = self.cells()
            if cells:
                figures["messages"] = {"figure": "matrix", "cells": cells,
                                       "size": 1 + max(node.rank for node in run.nodes)}
        figures["memory"] = dict(span, figure="lines", charts=self.charts())
        return figures

    def kind_over_time(self, kind):
        """Workers by cause, in each bin."""
        shares = self.accounts.by_kind[kind]
        return {"title": "%s by what they do" % PLURAL[kind],
                "number": max(self.accounts.nworkers[kind], 1),
                "bins": [[part / shares.width_s for part in bins] for bins in shares.bins]}

    def image_rows(self):
        data = busy_rows(self.run, self.accounts, self.kind)
        rows = [[value / 2.55 for value in data[i:i + BINS]] for i in range(0, len(data), BINS)]
        return rows[:MAX_IMAGE_ROWS]

    def cells(self):
        counts = {}
        for node in self.run.nodes:
            requests = node.requests
            for i in range(len(requests)):
                if not requests.is_receive[i] and requests.peer[i] != node.rank:
                    key = (node.rank, requests.peer[i])
                    counts[key] = counts.get(key, 0) + requests.bytes[i]
        return [(source, target, count) for (source, target), count in sorted(counts.items())]

    def charts(self):
        run = self.run
        places = (run.begin_s, run.end_s)
        charts = [{"title": "tasks that are ready and do not run yet, all nodes", "lines": [
            ("", sampled([node.ready for node in run.nodes], *places, most=False))]}]
        for title, has in (("main memory", lambda node, memory: memory in node.mains),
                           ("a GPU's memory", lambda node, memory: memory in node.devices),
                           ("a disk", lambda node, memory:
                            memory not in node.mains | node.devices)):
            steps = [steps for node in run.nodes for memory, steps in node.memory.items()
                     if has(node, memory)]
            if steps:
                values = sampled(steps, *places, most=True)
                factor, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
                                     if max(values) >= pair[0]), (1, "bytes"))
                charts.append({"title": "%s %s %s, the fullest one" % (
                    unit, "on" if title == "a disk" else "in", title), "lines": [
                        ("", [value / factor for value in values])]})
        return charts

    # ---- the page ----

    def codelets(self):
        errors = model_errors(self.run)
        lines = ["<div class=wide><table><tr><th>codelet<th class=t>on<th>tasks<th>time<th>share<th>mean"
                 "<th>deviation<th>least<th>most%s</tr>" % (
                     "<th>model's error<th>of each task" if errors else "")]
        for name, kind, n, total, mean, deviation, least, most in codelet_rows(self.run):
            found = errors.get((name, kind))
            lines.append("<tr><td>%s<td class=t>%s<td>%d<td>%s<td>%.1f %%<td>%s<td>%s<td>%s<td>%s"
                         "%s</tr>" % (html.escape(name), kind, n, seconds(total), share(
                             total, self.accounts.by_kind[kind].total[BUSY]), seconds(mean),
                             seconds(deviation), seconds(least), seconds(most),
                             "<td>%+.1f %%<td>%.1f %%" % (100 * found[0], 100 * found[1])
                             if found else ""))
        return "\n".join(lines + ["</table></div>"])

    def causes_table(self):
        lines = ["<div class=wide><table><tr><th>cause%s<th class=t>a worker</tr>" % "".join(
            "<th>%s" % PLURAL[kind] for kind in reversed(self.run.kinds))]
        for cause, name in enumerate(CAUSES):
            cells = "".join("<td>%.1f %%" % share(self.accounts.by_kind[kind].total[cause],
                                                  self.accounts.capacity_s(kind))
                            for kind in reversed(self.run.kinds))
            lines.append("<tr><td>%s%s<td class=t>%s</tr>" % (name, cells, MEANING[cause]))
        return "\n".join(lines + ["</table></div>"])

    def path_tables(self):
        whole = sum(self.path.seconds)
        lines = ["<div class=wide><table><tr><th>part<th>time<th>share</tr>"]
        lines += ["<tr><td>%s<td>%s<td>%.1f %%</tr>" % (name, seconds(part), share(part, whole))
                  for part, name in sorted(zip(self.path.seconds, PARTS), reverse=True)]
        lines.append("</table></div><div class=wide><table><tr><th>codelet on the path<th>tasks<th>time</tr>")
        lines += ["<tr><td>%s<td>%d<td>%s</tr>" % (html.escape(name), n, seconds(total))
                  for name, n, total in self.path.by_codelet()]
        lines.append("</table></div>")
        steps = self.path.steps
        shown = sorted(sorted(steps, key=lambda step: step.begin_s - step.end_s)[:MAX_PATH_ROWS],
                       key=lambda step: step.begin_s)
        lines.append("<p>%s</p><div class=\"wide path\"><table><tr><th>from<th>for<th class=t>part"
                     "<th class=t>what<th class=t>where<th class=t>what to change</tr>" % (
                         "All steps:" if len(shown) == len(steps) else
                         "The %d longest of %d steps:" % (len(shown), len(steps))))
        for step in shown:
            lines.append("<tr><td>%s<td>%s<td class=t>%s<td class=t>%s<td class=t>node %d%s"
                         "<td class=t>%s</tr>" % (
                seconds(step.begin_s - self.run.begin_s), seconds(step.end_s - step.begin_s),
                PARTS[step.part], html.escape(step.what), step.rank,
                ", " + html.escape(step.worker) if step.worker else "",
                html.escape(self.change(step))))
        return "\n".join(lines + ["</table></div>"])

    def change(self, step):
        """What would make this step of the critical path shorter."""
        if step.part != RUNS:
            return CHANGE[step.part]
        gain = self.gpu_gains.get(step.what, 0.0) if step.kind == "cpu" else 0.0
        if gain >= FASTER:
            return "run it on a GPU, %s as fast" % times(gain)
        if step.holds:
            return "%s was ready and waited for this worker: run it first by priority, or " \
                "elsewhere" % step.holds
        return "a faster kernel, or smaller tasks: what follows waits for it"

    def page(self, pictures):
        def figure(name):
            if name not in pictures:
                return "<p>(no picture: python3-matplotlib is missing)</p>" if name == "time" else ""
            return "<div class=figure>%s</div>" % pictures[name]

        title = html.escape(os.path.basename(os.path.abspath(self.run.directory)))
        parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>%s</title>" % title,
                 "<style>%s</style><h1>%s</h1><p>%s</p>" % (STYLE, title, self.headline()),
                 *("<p>%s</p>" % said for said in (self.run.cut(), self.run.around()) if said),
                 "<p><strong>%s</strong></p>" % html.escape(self.verdict()),
                 "<ul>%s</ul>" % "".join("<li>%s" % html.escape(sentence) for sentence in
                                         self.reason_sentences()),
                 "<p>%s %s</p>" % (html.escape(self.bound()), self.path_sentence()),
                 "<h2>Where the time goes</h2>", figure("lost"), self.causes_table(),
                 figure("time"), "<h2>Nodes, workers, tasks</h2>",
                 view_html(self.run, self.accounts, self.path, self.kind, PLURAL[self.kind]),
                 "<h2>The critical path</h2><p>From the end of the last task back: what each step "
                 "waited for longest, and what would shorten it.</p>", self.path_tables(),
                 "<h2>Codelets</h2>", self.codelets()]
        if "messages" in pictures:
            parts += ["<h2>Bytes between nodes</h2>", figure("messages")]
        parts += ["<h2>Ready tasks and memory</h2>", figure("memory"), "</html>"]
        return "\n".join(parts) + "\n"


def draw(figures, directory):
    """The figures as SVG; {} where nothing draws here."""
    helper = os.path.join(os.path.dirname(os.path.realpath(__file__)), "report_png.py")
    for python in pythons():
        out = subprocess.run([python, helper, directory], input=json.dumps(figures), text=True,
                             capture_output=True, check=False)
        if out.returncode == 0:
            return {name: read_svg(os.path.join(directory, name + ".svg")) for name in figures}
        if out.returncode != 77: # it has no matplotlib
            raise Refusal("report: a figure cannot be drawn: %s; where there is no room, or no right to "
                          "write, give another directory with -o" % out.stderr.strip()[-300:])
    return {}


def read_svg(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return text[text.find("<svg"):]


def page_with_figures(report):
    """The page alone."""
    with tempfile.TemporaryDirectory() as directory:
        return report.page(draw(report.figures(), directory))


def write_report(report, directory):
    """index.html and its figures; returns whether there are figures."""
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise Refusal("report: %s cannot be made: %s; give another directory with -o"
                      % (directory, error.strerror)) from None
    pictures = draw(report.figures(), directory)
    write_text(os.path.join(directory, "index.html"), report.page(pictures))
    return bool(pictures)
