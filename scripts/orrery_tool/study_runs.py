# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: running the points, several at a time."""
import ctypes
import hashlib
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from orrery_tool.speech import last_words
from orrery_tool.study_machine import changed_platform
from orrery_tool.study_plan import PLAIN, as_text, number_of
from orrery_tool.study_table import FIGURES
from orrery_tool.words import REFUSED, Refusal

PR_SET_PDEATHSIG = 1
GRACE_S = 10               # from the signal to the end of a run
MAX_OUTPUT = 64 << 20      # bytes of output in which results are looked for


def fill(text, point):
    """The words of a command, with the values of the point."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Refusal("study: %s: %s" % (text, error)) from None
    full = [(word, re.sub(r"\{(\w+)\}", lambda match: as_text(point[match.group(1)]), word))
            for word in words]
    return [word for before, word in full if word or not before] # "{option}" may be nothing


def duration(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "%d h %d min" % (hours, minutes) if hours else \
        "%d min %d s" % (minutes, seconds) if minutes else "%d s" % seconds


def in_words(point, names):
    return " ".join("%s=%s" % (name, as_text(point[name]) or "\"\"")
                    for name in names) or "the run"


def bind():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def result_of(pattern, output):
    """(the last text that a result's pattern finds, what is odd about that or "")."""
    found = list(re.finditer(pattern, output, re.M))
    if not found:
        return "", "it is found nowhere in what the program prints, and the column is empty"
    kinds = {}
    for match in found:
        start = output.rfind("\n", 0, match.start()) + 1
        line = output[start:start + 200].partition("\n")[0]
        kinds.setdefault(re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "...", line).strip())
    kinds = list(kinds)
    return found[-1].group(1) or "", "" if len(kinds) == 1 else "it is found in \"%s\" and in \"%s\", and the last " \
        "is taken; begin it with ^, or add words" % (kinds[0], kinds[-1])


class Run:
    """One point, while it runs."""

    def __init__(self, place, plan, point):
        self.plan, self.point = plan, point
        self.odd = {}                  # what is to be said of results
        self.directory = tempfile.mkdtemp(prefix="orrery-study-")
        self.log = os.path.join(self.directory, "log")
        self.summary = os.path.join(self.directory, "summary")
        self.process, self.ended_by, self.kill_s = None, None, None
        self.machine = None            # the file that the run takes for its platform
        self.refusal, self.start_s = None, time.monotonic()
        try:
            self.start(place)
        except Refusal as refusal:
            self.refusal = str(refusal)

    def start(self, place):
        nranks = "1" if self.plan.pretends else as_text(self.point["nodes"])
        command = [sys.executable, os.path.join(place.bin, "orrery"), "run", "--quiet",
                   "-n", nranks]
        if "platform" in self.point:
            path = place.platform(as_text(self.point["platform"]))
            self.machine = changed_platform(path, self.point, self.directory)
            command += ["--sim", self.machine]
        command += fill(self.plan.options, self.point) + fill(self.plan.program, self.point)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=bind)

    def environment(self):
        env = dict(os.environ, ORRERY_SUMMARY=self.summary)
        if self.plan.pretends:
            env.update(STARPU_MPI_FAKE_SIZE=as_text(self.point["nodes"]),
                       STARPU_MPI_FAKE_RANK=as_text(self.point["nodes"] // 3),
                       STARPU_DISABLE_KERNELS="1")
        for name, value in self.point.items():
            if name == "scheduler":
                env["STARPU_SCHED"] = as_text(value)
            elif name.isupper() and name not in PLAIN:
                env[name] = as_text(value)
        return env

    def stop(self, why):
        """Asks the run to end; it is killed when it does not."""
        if self.process.poll() is not None:
            return
        if self.ended_by is None:
            self.ended_by, self.kill_s = why, time.monotonic() + GRACE_S
            self.process.terminate()
        elif time.monotonic() > self.kill_s:
            os.killpg(self.process.pid, signal.SIGKILL)

    def output(self):
        with open(self.log, "rb") as f:
            return f.read(MAX_OUTPUT).decode(errors="replace")

    def figures(self):
        try:
            with open(self.summary, encoding="ascii") as f:
                return dict(line.strip().split("=", 1) for line in f if "=" in line)
        except OSError:
            return {}

    def by_its_name(self, text):
        """The platform by the name that the user knows, not that of our copy, whose lines are
        no lines of the user's."""
        if not self.machine:
            return text
        name = as_text(self.point["platform"])
        if os.path.realpath(self.machine) != os.path.realpath(name):
            text = re.sub(re.escape(self.machine) + r":\d+: (<\w+>: )?", name + ": ", text)
        return text.replace(self.machine, name)

    def verdict(self):
        """The row of the table."""
        wall_s = time.monotonic() - self.start_s
        found = {"status": "ok", "wall_s": "%.3f" % wall_s}
        if self.refusal is not None:
            return {"status": "refused", "what": self.refusal}
        output, figures = self.output(), self.figures()
        if self.ended_by or self.process.returncode:
            said = [line for line in output.split("\n") if line.strip()]
            ours = [line for line in said if line.startswith("[orrery]")]
            found["status"] = self.ended_by or (
                "refused" if self.process.returncode == REFUSED and ours[-1:] == said[-1:]
                and not figures else "failed")
            found["what"] = last_words(said) or "no word; exit status %d" % self.process.returncode
            found["what"] = self.by_its_name(found["what"])
            return found
        missed = re.search(r'scheduling policy "[^"]*" was not found.*', output)
        if missed and {"scheduler", "STARPU_SCHED"} & set(self.point):
            found["status"], found["what"] = "failed", missed.group(0)
            return found
        found["time_s"] = figures.get("insertion_s", "") if self.plan.pretends else \
            figures.get("date_s", "" if "platform" in self.point else found["wall_s"])
        found.update((name, figures.get(name, "")) for name in FIGURES + ["peak_bytes"])
        for name, pattern in self.plan.results.items():
            found[name], self.odd[name] = result_of(pattern, output)
        if found["time_s"] == "":
            found["status"], found["what"] = "failed", "the run left no time"
        elif number_of(found["time_s"]) is None:
            found["status"], found["what"] = "failed", "its time is \"%s\", which is no number" \
                % found["time_s"]
        return found

    def close(self, keep):
        """keep: where what the run said is to stay, or None."""
        if keep and os.path.exists(self.log):
            try:
                os.makedirs(os.path.dirname(keep), exist_ok=True)
                shutil.move(self.log, keep)
            except OSError:
                pass # the table has its last words
        shutil.rmtree(self.directory, ignore_errors=True)


class Runner:
    """Runs points and keeps what they found in the table."""

    def __init__(self, place, plan, table, quiet=False):
        self.place, self.plan, self.table, self.quiet = place, plan, table, quiet
        self.jobs = plan.jobs or (
            len(os.sched_getaffinity(0)) if "platform" in plan.parameters else 1)
        self.running, self.walls_s, self.nfailed = {}, [], 0
        self.told = set()              # results of which something has been said
        self.nwanted = self.ndone = 0
        self.selector = selectors.DefaultSelector()

    def say(self, text):
        if not self.quiet:
            print("[orrery] study: " + text, file=sys.stderr, flush=True)

    def run(self, points):
        """Rows of the points, in their order.  What is in the table is not run again."""
        points = list(points)
        todo = list({self.table.key(point): point for point in points
                     if not self.table.find(point)}.values())
        kept = len(points) - len(todo)
        self.nwanted, self.ndone = len(todo), 0
        if kept and todo:
            self.say("%d of %d runs are in the table already" % (kept, len(points)))
        try:
            while todo or self.running:
                while todo and len(self.running) < self.jobs:
                    self.start(todo.pop(0))
                self.wait()
        except BaseException:
            self.stop_all()
            raise
        return [self.table.find(point) for point in points]

    def start(self, point):
        run = Run(self.place, self.plan, point)
        if run.refusal is not None:
            self.note(run)
            return
        fd = os.pidfd_open(run.process.pid)
        self.running[fd] = run
        self.selector.register(fd, selectors.EVENT_READ)

    def wait(self):
        """Until a run has ended, or has to be ended."""
        if not self.running:
            return
        limit_s = self.plan.timeout_s
        ready = self.selector.select(1 if limit_s else None)
        for key, _ in ready:
            run = self.running.pop(key.fd)
            self.selector.unregister(key.fd)
            os.close(key.fd)
            run.process.wait()
            self.note(run)
        for run in self.running.values():
            if limit_s and time.monotonic() - run.start_s > limit_s:
                run.stop("timeout")

    def log_of(self, point):
        digest = hashlib.sha256(repr(self.table.key(point)).encode()).hexdigest()[:12]
        return os.path.join(self.table.directory, "logs", digest + ".log")

    def note(self, run):
        found = run.verdict()
        if found["status"] == "timeout":
            found["what"] = "ended after %g s" % self.plan.timeout_s
        good = found["status"] == "ok"
        try:
            run.close(None if good else self.log_of(run.point))
            self.table.add(run.point, found)
        finally:
            self.ndone += 1
        self.nfailed += not good
        self.walls_s.append(float(found.get("wall_s", 0)))
        self.progress(run.point, found)
        for name, words in run.odd.items():
            if words and name not in self.told:
                self.told.add(name)
                self.say("[results] %s = '%s': %s" % (name, self.plan.results[name], words))

    def progress(self, point, found):
        base, varied = self.plan.base(), self.plan.varied()
        names = [name for name in point if name in varied or point[name] != base[name]] \
            or list(self.plan.parameters)
        text = "%d of %d: %s: " % (self.ndone, self.nwanted, in_words(point, names))
        if found["status"] == "ok":
            text += "%s s" % found["time_s"]
        else:
            text += "%s: %s" % (found["status"], found.get("what", "")[:200])
        left = self.nwanted - self.ndone
        if left:
            rest_s = sum(self.walls_s) / len(self.walls_s) * left / self.jobs
            text += "; about %s left" % duration(max(rest_s, 1))
        self.say(text)

    def stop_all(self):
        """No run outlives us, and none that we ended leaves a row."""
        for run in self.running.values():
            run.stop("ended")
        for fd, run in self.running.items():
            try:
                run.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                os.killpg(run.process.pid, signal.SIGKILL)
                run.process.wait()
            os.close(fd)
            run.close(None)
        self.running = {}
