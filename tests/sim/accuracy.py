#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""bench/accuracy/run: its table, explanations and picture.  How near predictions are is no
matter of a test: other programs disturb the runs."""
import csv
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
RUN = os.path.join(SRC, "bench", "accuracy", "run")
CASES = ["lu 16x64, 2 x 1, lws", "pingpong 1048576, 2 x 1, lws"]
nfailed = 0


def verdict(claim, good, why):
    global nfailed
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    nfailed += not good


def run(directory, *words):
    return subprocess.run(
        [sys.executable, RUN, "--output", directory, "--repetitions", "1", "--messages", "10",
         "--patience", "0", *words], capture_output=True, text=True, timeout=500, check=False,
        env=dict(os.environ, ORRERY_BUILD=BUILD))


def check_table(directory):
    explanations = os.path.join(directory, "why")
    with open(explanations, "w", encoding="utf-8") as f:
        f.write("".join("%s,a test, on a busy machine\n" % case for case in CASES))
    out = run(directory, "--explain", explanations, *CASES)
    path = os.path.join(directory, "accuracy.csv")
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    rows = list(csv.DictReader(text.split("\n")))
    names = ["%(configuration)s, %(ranks)s x %(workers)s, %(scheduler)s" % row for row in rows]
    verdict("a row for each configuration, printed and written",
            names == CASES and out.stdout == text, out)
    verdict("each was run and simulated", rows and all(
        float(row["measured_s"]) > 0 and 0 < float(row["predicted_s"]) < 10 for row in rows) and
        all(abs(float(row["predicted_s"]) / float(row["measured_s"]) - 1
                - float(row["difference_percent"]) / 100) < 1e-3 for row in rows), text)
    verdict("what is explained is no failure", out.returncode == 0 and all(
        row["explanation"] == "a test, on a busy machine" for row in rows), out)
    verdict("a summary", "accuracy: 2 configurations: median difference" in out.stderr, out.stderr)
    drawn = os.path.exists(os.path.join(directory, "accuracy.svg"))
    verdict("a picture, or what it lacks", drawn or "python3-matplotlib" in out.stderr, out.stderr)


def check_figures():
    """Of a machine with a fast and a slow phase, means; medians are of one or the other."""
    loader = importlib.machinery.SourceFileLoader("accuracy_run", RUN)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy_run", loader))
    loader.exec_module(module)
    case = ("lu 16x64", 2, 1, "lws", "loads", ["lu", 64, 16])
    row = module.row_of(case, [[1], [1], [2], [2], [2]], [1, 1, 1, 2, 2], {})
    # The standard error of the first mean is 0.245 / 1.6, of the second 0.245 / 1.4.
    verdict("means, beside medians", (row["measured_s"], row["predicted_s"], row["difference_percent"],
                                      row["difference_of_medians_percent"], row["unsure_percent"],
                                      row["explanation"]) ==
            ("1.6", "1.4", "-12.5", "-50.0", "40.7", "noise: twice the standard error is 40.7 %"), row)
    # Of ten pairs of passes six are 1 and 2 apart.
    verdict("what two passes differ by", row["passes_apart_percent"] == "66.7", row)
    row = module.row_of(case, [[1, 1], [1, 1, 2]], [1.9, 1.9, 1.9, 1.9, 1.9], {})
    verdict("what lies between runs says where", row["explanation"] ==
            "between the fastest run, 1 s, and the slowest, 2 s", row)
    row = module.row_of(case, [[1, 1.01, 1], [1.01, 1]], [1.3, 1.3, 1.31, 1.3, 1.3], {})
    verdict("what is no noise wants an explanation", row["explanation"] == "" and
            row["difference_percent"] == "29.7" and float(row["unsure_percent"]) < 1, row)


def check_passes(directory):
    """What was run is not run again."""
    directory, name = os.path.join(directory, "by-pass"), CASES[1]
    path = os.path.join(directory, "pass-0", "runs.json")
    out = run(directory, "--pass", "1", name)
    with open(path, encoding="utf-8") as f:
        kept = json.load(f)
    verdict("a pass alone has no table", out.returncode == 0 and out.stdout == "" and
            list(kept) == [name] and len(kept[name]) == 2, (out, kept))
    with open(path, "w", encoding="utf-8") as f:
        json.dump({name: [3, 5]}, f)
    out = run(directory, name)
    verdict("the table is of the passes that are there", ",4,66.7," in out.stdout, out)
    out = run(directory, "--pass", "2", name)
    verdict("a pass beyond the last is refused", out.returncode == 1 and
            "--pass is 2, expected 1 to 1" in out.stderr, out)


def check_refusals(directory):
    out = run(directory, "hanoi")
    verdict("an unknown name is refused", out.returncode == 1 and
            "--list prints their names" in out.stderr, out)
    out = subprocess.run([sys.executable, RUN, "--list"], capture_output=True, text=True,
                         check=False, env=dict(os.environ, ORRERY_BUILD=BUILD))
    verdict("--list names them", out.returncode == 0 and
            all(case in out.stdout.split("\n") for case in CASES), out)


def main():
    loads = os.path.join(BUILD, "bench", "accuracy", "loads")
    if not os.path.exists(loads) or not os.path.exists(loads + "-sim"):
        print("one flavour is not built")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="orrery-accuracy-") as directory:
        check_figures()
        check_table(directory)
        check_passes(directory)
        check_refusals(directory)
    sys.exit(1 if nfailed else 0)


if __name__ == "__main__":
    main()
