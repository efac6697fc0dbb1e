# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study --submission: what it costs to submit a graph as one rank of many."""
import copy
import os

from orrery_tool.study_page import title_of
from orrery_tool.study_plan import MACHINE, as_text
from orrery_tool.study_runs import Runner, in_words
from orrery_tool.study_table import Table, csv_line
from orrery_tool.words import Refusal, write_text

OF_MACHINE = ("platform", "gpus", "cpus") + MACHINE


def pretending(plan):
    """The same study of a real process that takes itself for a rank of so many."""
    fake = copy.copy(plan)
    fake.parameters = {name: values for name, values in plan.parameters.items()
                       if name not in OF_MACHINE}
    fake.program, fake.pretends = plan.real or plan.program, True
    fake.check()
    return fake


def rate_ns(row):
    inserted = int(row["inserted"] or 0)
    return 1e9 * float(row["insertion_s"]) / inserted if inserted else None


class Submission:
    def __init__(self, place, plan, directory, quiet):
        self.plan, self.fake, self.directory = plan, pretending(plan), directory
        self.others = [name for name in self.fake.varied() if name != "nodes"]
        self.runner = Runner(place, self.fake, Table(os.path.join(directory, "submitted"),
                                                     self.fake), quiet)
        self.sim = None
        if "platform" in plan.parameters:
            if not plan.real:
                raise Refusal("study: --submission runs the program for real, too; give that "
                              "build of it with --real \"./app ARGS\", or real = ... in the file")
            self.sim = Runner(place, plan, Table(os.path.join(directory, "simulated"), plan), quiet)

    def forget_failures(self):
        for runner in (self.runner, self.sim):
            if runner:
                runner.table.forget_failures()

    def run(self):
        rows = self.runner.run(self.fake.points())
        if self.sim:
            self.sim.run(self.plan.points())
        self.rows = [row for row in rows if row["status"] == "ok"]
        if not self.rows:
            raise Refusal("study: no run has submitted anything; the rows of %s say why"
                          % self.runner.table.path)
        if not any(int(row["inserted"] or 0) for row in self.rows):
            raise Refusal("study: the program inserted no task with starpu_mpi_task_insert()")

    def simulated(self, row):
        """(point, seconds) of each simulated run of the same parameters."""
        for point in self.plan.points() if self.sim else ():
            found = self.sim.table.find(point)
            if all(as_text(point[name]) == row[name] for name in self.fake.parameters) \
                    and found["status"] == "ok":
                yield point, float(found["time_s"])

    def limits(self):
        """From how many nodes on submission takes longer than the simulated run."""
        least = {}
        for row in self.rows:
            for point, time_s in self.simulated(row):
                key = in_words(point, [name for name in self.plan.varied() if name != "nodes"])
                least.setdefault(key, [])
                if float(row["insertion_s"]) > time_s:
                    least[key].append(int(row["nodes"]))
        return least

    def sentences(self):
        said = []
        for key, nodes in self.limits().items():
            what = "" if key == "the run" else " (%s)" % key
            said.append("submission takes longer than the simulated run from %d nodes on%s"
                        % (min(nodes), what) if nodes else
                        "submission is faster than the simulated run at each of these sizes" + what)
        return said

    def write(self):
        names = list(self.fake.parameters)
        lines = [csv_line(names + ["inserted", "insertion_s", "ns_per_task", "simulated_s"])]
        for row in self.rows:
            rate = rate_ns(row)
            times = [time_s for _, time_s in self.simulated(row)]
            cells = [row[name] for name in names] + [
                row["inserted"], row["insertion_s"], "" if rate is None else "%.1f" % rate,
                "%.6g" % min(times) if times else ""]
            lines.append(csv_line(cells))
            if rate is not None:
                print("%s: %s tasks inserted in %.4g s, %.1f ns each%s" % (
                    in_words(row, ["nodes"] + self.others), row["inserted"],
                    float(row["insertion_s"]), rate,
                    "; simulated run %.4g s" % min(times) if times else ""))
        write_text(os.path.join(self.directory, "submission.csv"), "".join(lines))

    def series(self):
        """Lines over the number of nodes."""
        lines = {}
        for row in self.rows:
            label = in_words(row, self.others) if self.others else ""
            lines.setdefault(("submission " + label).strip(), []).append(
                (int(row["nodes"]), float(row["insertion_s"])))
            for point, time_s in self.simulated(row):
                names = [name for name in self.plan.varied() if name != "nodes"]
                label = in_words(point, names) if names else ""
                lines.setdefault(("simulated run " + label).strip(), []).append(
                    (int(row["nodes"]), time_s))
        return [{"label": label, "x": [p[0] for p in sorted(points)],
                 "y": [p[1] for p in sorted(points)]} for label, points in sorted(lines.items())]

    def page(self):
        ticks = sorted({int(row["nodes"]) for row in self.rows})
        series = self.series()
        for line in series: # what submits nothing has no place on a logarithmic axis
            points = [(x, y) for x, y in zip(line["x"], line["y"]) if y > 0]
            line["x"], line["y"] = [p[0] for p in points], [p[1] for p in points]
        return {"title": "Submitting as one rank: " + title_of(self.fake), "y": "seconds",
                "charts": [{"title": "", "x": "nodes", "series": series, "names": [],
                            "log_x": len(ticks) > 1, "x_ticks": ticks[:12],
                            "log_y": all(y > 0 for line in series for y in line["y"])}]}
