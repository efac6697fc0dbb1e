#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""scripts/calibrate-gpu, from the measurements to the table, on the stand-in for CUDA, which
is no GPU: what is written says so, and nothing of it lies where a shipped model would."""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
QUICK = ["--largest", "128", "--runs", "2", "--repeats", "2", "--tasks", "200",
         "--sizes", "128:64,256:64,384:128"]
KERNELS = 14 * 2  # in both precisions, of tiles of 64 and 128 rows
nfailed = 0


def claim(name, holds, why=""):
    global nfailed
    print("PASS %s" % name if holds else "FAIL %s: %s" % (name, why), flush=True)
    nfailed += not holds


def rows(path):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Suite:
    def __init__(self, top):
        self.top, self.cuda = top, os.path.join(top, "cuda")
        standin = os.path.join(BUILD, "tests", "cuda", "libcuda-standin.so")
        os.makedirs(os.path.join(self.cuda, "lib64"))
        os.symlink(os.path.join(SRC, "tests", "cuda", "include"),
                   os.path.join(self.cuda, "include"))
        for name in ("cublas", "cusolver", "cudart"):
            os.symlink(standin, os.path.join(self.cuda, "lib64", "lib%s.so" % name))
        self.env = dict(os.environ, ORRERY_BUILD=BUILD, ORRERY_CUDA_LIBRARY=standin,
                        CUDA=self.cuda, NVCC="/nowhere/nvcc", STARPU_SILENT="0")
        for name in ("STARPU_NCPU", "STARPU_HOSTNAME", "STARPU_PERF_MODEL_DIR"):
            self.env.pop(name, None)

    def call(self, *arguments, **environment):
        found = subprocess.run(
            [os.path.join(SRC, "scripts", "calibrate-gpu"), "--programs",
             os.path.join(self.top, "programs")] + list(arguments), text=True, check=False,
            env=dict(self.env, **environment), cwd=self.top, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=400)
        return found.returncode, found.stdout

    def path(self, *words):
        return os.path.join(self.top, *words)

    # ---- claims ------------------------------------------------------------

    def all_of_it(self, has_sim):
        status, said = self.call(*QUICK, "standin", "all")
        claim("one call does it all", status == (0 if has_sim else 3), said)
        kernels = rows(self.path("all", "kernels.csv"))
        claim("kernels are measured in both precisions",
              len(kernels) == KERNELS and all(float(row["median_us"]) > 0 for row in kernels),
              str(kernels))
        copies = rows(self.path("all", "copies.csv"))
        claim("copies are measured in both directions, pinned and not",
              {(row["direction"], row["memory"]) for row in copies} ==
              {(d, m) for d in ("host to device", "device to host")
               for m in ("pinned", "pageable")}, str(copies))
        costs = {row["what"] for row in rows(self.path("all", "costs.csv"))}
        claim("costs of launches, events, rows, both directions and streams are measured",
              {"launch", "record an event", "rows of 8 KiB to the device",
               "MiB in each direction at once", "dgemm of 128 on 16 streams"} <= costs, str(costs))
        tasks = {row["what"]: float(row["us"]) for row in rows(self.path("all", "tasks.csv"))}
        claim("what a task costs is measured, alone and in a chain, with a model and without",
              set(tasks) == {"task", "task in a chain", "task with a model",
                             "task with a model in a chain"} and min(tasks.values()) > 0, str(tasks))
        claim("all sizes were factorised", [row["rows"] for row in rows(
            self.path("all", "cholesky.csv"))] == ["128", "256", "384"], said)
        claim("what needs a compiler of CUDA is said to be skipped",
              "skipped: no nvcc" in text_of(self.path("all", "check.txt")))

    def factorisations(self):
        """What scripts/check-gpu runs on a device: the residual is the program's to check."""
        for what, environment in (
                ("with queued kernels", {}),
                ("with kernels one by one", {"STARPU_CUDA_PIPELINE": "0"}),
                ("with dmdas", {"STARPU_SCHED": "dmdas"}),
                ("with two workers on each device", {"STARPU_NWORKER_PER_CUDA": "2"}),
                ("in a fifth of the memory it needs", {"STARPU_LIMIT_CUDA_MEM": "1",
                                                       "STARPU_NCUDA": "1"}),
                ("with copies by main memory", {"STARPU_ENABLE_CUDA_GPU_GPU_DIRECT": "0"})):
            said = subprocess.run(
                [self.path("programs", "gpu_cholesky"), "--check", "1024", "128"], text=True,
                check=False, env=dict(self.env, STARPU_NCPU="2", **environment),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
            claim("Cholesky has no residual %s" % what, said.returncode == 0, said.stdout)

    def what_it_says(self, has_sim):
        models = glob.glob(self.path("all", "standin", "perfmodels", "codelets", "45", "*"))
        claim("each kernel has a model", len(models) == 14 and
              all(path.endswith(".standin") for path in models), str(models))
        platform = self.path("all", "standin", "platforms", "standin-node.toml")
        said = subprocess.run([os.path.join(SRC, "scripts", "orrery"), "platform", "--check",
                               platform], text=True, check=False, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        claim("the platform is one", said.returncode == 0, said.stdout)
        claim("it says what launches take", re.search(
            r'^gpu_launch = "[\d.]+ us".*\ngpu_gap = "[\d.]+ us"', text_of(platform), re.MULTILINE),
              text_of(platform))
        written = models + [platform, self.path("all", "device.txt")]
        if has_sim:
            path = self.path("all", "standin", "doc", "accuracy-standin-node")
            written += [path + ".csv", path + ".md"]
            table = rows(path + ".csv")
            claim("each size stands beside its simulation", len(table) == 3 and all(
                float(row["real_s"]) > 0 and float(row["simulated_s"]) > 0 and
                row["uncalibrated_tasks"] == "0" for row in table), str(table))
            claim("the difference is that of the two", all(
                abs(float(row["difference_percent"]) - 100 * (
                    float(row["simulated_s"]) / float(row["real_s"]) - 1)) < 0.1
                for row in table), str(table))
            text = text_of(path + ".md")
            claim("the table has its median, and the demo's calibration",
                  re.search(r"median of the differences: \d+\.\d %", text) and
                  ("uncalibrated tasks: 0 (0.0 %)" in text or "was not built" in text), text)
        claim("each file says that no GPU was measured",
              all("NO GPU" in text_of(path) for path in written), str(written))

    def cut_off(self):
        """A line that was not finished is measured again, the others stay as they are."""
        path = self.path("all", "kernels.csv")
        before = text_of(path)
        with open(path, "w", encoding="utf-8") as f:
            f.write(before[:-7])
        status, said = self.call(*QUICK, "--part", "kernels,models", "--seconds", "1e-6", "x",
                                 "all")
        claim("without time nothing is begun, and it says what is left",
              status == 3 and "not finished: kernels" in said, said)
        status, said = self.call(*QUICK, "--part", "kernels", "x", "all")
        after = text_of(path)
        claim("a further call goes on where it was cut off", status == 0 and
              after.splitlines()[:-1] == before.splitlines()[:-1] and
              len(after.splitlines()) == len(before.splitlines()), said)

    def refusals(self):
        inside = os.path.join(SRC, "perfmodels", "codelets", "45", "standin-test")
        status, said = self.call(*QUICK, "--part", "device,kernels", "x", inside)
        claim("the stand-in's figures are not to lie among the shipped ones",
              status == 1 and "no GPU" in said, said)
        for path in glob.glob(os.path.join(inside, "*")):
            os.remove(path)
        if os.path.isdir(inside):
            claim("nothing is written there", False, inside)
            os.rmdir(inside)
        status, said = self.call("--part", "kernels,nothing")
        claim("a wrong part is refused", status == 2 and "'nothing' is no part" in said, said)
        status, said = self.call("--sizes", "128x64")
        claim("wrong sizes are refused", status == 2 and "ROWS:TILE" in said, said)
        status, said = self.call("--part", "device", "standin", "none",
                                 STANDIN_FAIL="cuInit:1:100")
        claim("no device is said in CUDA's words", status == 77 and "skipped: no device" in said
              and "no CUDA-capable device is detected" in said, said)
        status, said = self.call("--part", "table", "standin", "empty")
        claim("a table needs measurements", status == 1 and "measure first" in said, said)
        with open(self.path("all", "copies.csv"), "r+", encoding="utf-8") as f:
            f.write("something")
        status, said = self.call(*QUICK, "--part", "copies", "x", "all")
        claim("a file of something else is not written to", status == 1 and
              "its first line is another one" in said, said)
        with open(self.path("all", "device.txt"), "r+", encoding="utf-8") as f:
            text = f.read().replace("device: Stand-in 0", "device: Another One")
            f.seek(0)
            f.write(text)
        status, said = self.call("--part", "device", "standin", "all")
        claim("another device's folder is refused", status == 1 and "Another One" in said, said)

    def doctor(self):
        for library, devices, words in (
                (self.env["ORRERY_CUDA_LIBRARY"], "3", "3: Stand-in 0 (0.1 GiB), Stand-in 1"),
                ("libm.so.6", "1", "it is another library, or damaged"),
                ("/nowhere/libcuda.so.1", "1", "no driver of CUDA")):
            said = subprocess.run(
                [os.path.join(SRC, "scripts", "orrery"), "doctor"], text=True, check=False,
                env=dict(self.env, ORRERY_CUDA_LIBRARY=library, STANDIN_DEVICES=devices),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            claim("the doctor says of GPUs: %s" % words, words in said, said)

    def compiler(self):
        """orrery cc of CUDA files, with a file in nvcc's place."""
        folder = self.path("bin")
        os.mkdir(folder)
        with open(os.path.join(folder, "nvcc"), "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\necho \"nvcc: $*\"\n")
        os.chmod(os.path.join(folder, "nvcc"), 0o755)
        env = dict(self.env, PATH=folder + os.pathsep + os.environ["PATH"])
        for name, options, words in (
                ("orrery cc calls nvcc for .cu files", ["-O2", "kernels.cu", "-o", "app"],
                 r"nvcc: -ccbin \S*mpicxx .*-DSTARPU_USE_CUDA=1.* -O2 kernels.cu -o app "
                 r".*-lorrery .*-Xlinker -rpath"),
                ("orrery cc -c does not link", ["-c", "kernels.cu"],
                 r"nvcc: ((?!-lorrery).)*-c kernels.cu$"),
                ("a simulation has no CUDA files", ["--sim", "kernels.cu"],
                 "a simulation runs no CUDA kernels")):
            said = subprocess.run([os.path.join(SRC, "scripts", "orrery"), "cc"] + options,
                                  text=True, check=False, env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT).stdout
            claim(name, re.search(words, said, re.MULTILINE), said)

    def failures(self):
        status, said = self.call(*QUICK, "--part", "device,kernels", "standin", "broken",
                                 STANDIN_FAIL="cuEventRecord:600:214")
        claim("a device that breaks down is told in CUDA's words", status == 1 and
              "cudaEventRecord" in said and "uncorrectable ECC error" in said and
              0 < len(rows(self.path("broken", "kernels.csv"))) < KERNELS, said)
        status, said = self.call(*QUICK, "--part", "kernels,copies,models,cholesky", "x",
                                 "broken", STANDIN_FAIL="cublasCreate_v2:1:3")
        claim("what was measured stays", status == 1 and
              len(rows(self.path("broken", "kernels.csv"))) > 0, said)
        self.call(*QUICK, "--part", "kernels,copies,models", "x", "broken")
        status, said = self.call(*QUICK, "--part", "cholesky", "x", "broken",
                                 STANDIN_FAIL_RUN="60:700")
        claim("a factorisation that fails does not end the others", status == 1 and
              "FAIL 256 rows" in said and "ILLEGAL_ADDRESS" in said, said)


def main():
    conf = text_of(os.path.join(BUILD, "build.conf"))
    if re.search("^sanitize=.+$", conf, re.MULTILINE):
        return 77  # the programs would have to be instrumented, too
    if not os.path.exists(os.path.join(BUILD, "tests", "cuda", "libcuda-standin.so")):
        return 77
    has_sim = os.path.exists(os.path.join(BUILD, "bench", "gpu_cholesky-sim"))
    with tempfile.TemporaryDirectory() as top:
        suite = Suite(top)
        suite.all_of_it(has_sim)
        suite.factorisations()
        suite.what_it_says(has_sim)
        suite.cut_off()
        suite.failures()
        suite.refusals()
        suite.doctor()
        suite.compiler()
    return nfailed != 0


if __name__ == "__main__":
    sys.exit(main())
