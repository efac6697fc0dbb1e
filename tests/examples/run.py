#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What examples/cholesky promises on its command line and about its models."""
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("ORRERY_SRC", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
CHOLESKY = os.path.join(BUILD, "examples", "cholesky", "cholesky")
PLATFORM = os.path.join(SRC, "platforms", "xml", "small4.xml")
ENTRY = "%s\t%d\t1e6\t%g\t0\t%g\t%g\t10\n"
# Footprints of one to three matrices of 320 x 320, and the bytes of one of floats.
FOOTPRINTS = {1: "cea37d6d", 2: "2c1922b7", 3: "d46431bb"}
TILE_BYTES = 320 * 320 * 4
failures = 0


def claim(name, holds, why=""):
    global failures
    print("PASS %s" % name if holds else "FAIL %s: %s" % (name, why), flush=True)
    failures += not holds


def run(options, program, arguments, **environment):
    command = [os.path.join(SRC, "scripts", "orrery"), "run"] + options
    env = dict(os.environ, ORRERY_BUILD=BUILD, STARPU_SCHED="dmda", **environment)
    return subprocess.run(command + [program] + arguments, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          check=False)


def simulate(*arguments, **environment):
    return run(["--sim", PLATFORM, "-n", "4"], CHOLESKY + "-sim", list(arguments),
               **environment)


def figure(result, name):
    found = re.search("^%s: (.*)$" % name, result.stdout, re.MULTILINE)
    return found.group(1) if found else "no %s in %s" % (name, result.stdout[-500:])


def gpu_of_platform():
    with open(PLATFORM, encoding="utf-8") as f:
        return re.search('id="gpu_model" value="([^"]*)"', f.read()).group(1)


def check_balance():
    """A load balancer makes an imbalanced stencil faster."""
    program = os.path.join(os.path.dirname(CHOLESKY), "..", "balance-sim")
    us = []
    for arguments in (["fixed"], []):
        result = run(["--sim", PLATFORM, "-n", "4"], program, arguments)
        found = re.search(r"iterations took (\d+) us", result.stdout)
        us.append(int(found.group(1)) if found else 0)
    claim("balanced, the imbalanced stencil takes at most 6 tenths of the time",
          0 < us[1] <= 0.6 * us[0], "%d us after %d us" % (us[1], us[0]))


def run_checkpoints(nranks, every, lost="", options=()):
    """(status, microseconds, output)"""
    result = run(["--sim", "gpu64", "-n", str(nranks)] + list(options),
                 os.path.join(os.path.dirname(CHOLESKY), "..", "checkpoints-sim"), [str(every)],
                 ORRERY_MPI_LOSE=lost)
    found = re.search(r"iterations took (\d+) us", result.stdout)
    return result.returncode, int(found.group(1)) if found else 0, result.stdout


def check_checkpoints():
    """A stencil goes on after the loss of a node, and checkpoints cost little."""
    _, without_us, _ = run_checkpoints(64, 0)
    _, with_us, _ = run_checkpoints(64, 20)
    claim("a checkpoint every 20 iterations costs at most 5 % on 64 nodes",
          0 < with_us <= 1.05 * without_us, "%d us after %d us" % (with_us, without_us))
    status, _, output = run_checkpoints(64, 20, "7@0.005")
    claim("one of 64 nodes may be lost", status == 0 and
          re.search(r"rank 7 is lost, rank 63 takes its place: 0, back to iteration [1-9]",
                    output) and re.search(r"[1-9]\d* were repeated", output), output)
    status, _, output = run_checkpoints(12, 20, "3@0.001,0@0.006", ["--execute"])
    claim("after two losses the result is the same", status == 0 and
          output.count("takes its place: 0") == 2 and "0 wrong blocks" in output, output)


def write_models(directory, gpu):
    codelets = os.path.join(directory, "codelets", "45")
    os.makedirs(codelets)
    for kernel, ntiles in (("potrf", 1), ("trsm", 2), ("syrk", 2), ("gemm", 3)):
        path = os.path.join(codelets, "orrery_s%s.%s" % (kernel, gpu))
        with open(path, "w", encoding="utf-8") as f:
            for device in (0, 1):
                if device == 0:
                    f.write("45\n2\n")
                f.write("1\n%d\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
                        % device)
                f.write(ENTRY % (FOOTPRINTS[ntiles], ntiles * TILE_BYTES, 1000, 1e4, 1e7))
    return path


def check_command_line():
    result = run(["-n", "1"], CHOLESKY, ["--help"])
    claim("help_is_printed", result.returncode == 0 and "--prune" in result.stdout,
          result.stdout)
    result = run(["-n", "1"], CHOLESKY, ["--tiles", "3"])
    claim("an_unknown_option_is_refused",
          result.returncode != 0 and "--tiles is not an option" in result.stdout,
          result.stdout)
    result = run(["-n", "1"], CHOLESKY, ["-p", "3", "-q", "2"])
    claim("a_grid_of_another_size_is_refused",
          result.returncode != 0 and "needs 6 nodes, there are 1" in result.stdout,
          result.stdout)


def check_simulation():
    first, second = simulate("--nb", "10"), simulate("--nb", "10")
    claim("two_simulations_are_identical",
          first.returncode == 0 and figure(first, "makespan") == figure(second, "makespan"),
          "%s and %s" % (figure(first, "makespan"), figure(second, "makespan")))
    pruned = simulate("--nb", "10", "--prune")
    for name in ("tasks", "messages", "bytes"):
        claim("pruning_keeps_the_%s" % name, figure(pruned, name) == figure(first, name),
              "%s and %s" % (figure(pruned, name), figure(first, name)))
    executed = run(["--sim", PLATFORM, "-n", "4", "--execute"], CHOLESKY + "-sim",
                   ["--nb", "5", "--tile", "48", "--double", "--check"])
    claim("kernels_run_in_simulation_when_asked",
          executed.returncode == 0 and "residual: " in executed.stdout, executed.stdout)


def check_models():
    with tempfile.TemporaryDirectory() as directory:
        last = write_models(directory, gpu_of_platform())
        only_gpus = {"STARPU_NCPU": "0", "STARPU_PERF_MODEL_DIR": directory}
        result = simulate("--nb", "6", "--tile", "320", **only_gpus)
        claim("measured_sizes_are_calibrated",
              figure(result, "uncalibrated tasks").startswith("0 "), result.stdout)
        # Sixteen tasks of 1 ms follow one another: potrf, then trsm, syrk, potrf ...
        makespan = float(figure(result, "makespan").split()[0])
        claim("tasks_take_their_measured_time", 0.016 <= makespan < 0.056,
              "makespan %g s" % makespan)
        with open(last, "r+", encoding="utf-8") as f:
            beginning = f.readlines()[:8]
            f.seek(0)
            f.writelines(beginning)
            f.truncate()
        result = simulate("--nb", "6", "--tile", "320", **only_gpus)
        claim("a_truncated_model_is_named",
              result.returncode != 0 and os.path.basename(last) in result.stdout
              and "truncated" in result.stdout, result.stdout)


def check_calibration():
    with tempfile.TemporaryDirectory() as directory:
        result = run(["-n", "1"], CHOLESKY, ["--nb", "6", "--tile", "32"],
                     STARPU_CALIBRATE="1", STARPU_PERF_MODEL_DIR=directory,
                     STARPU_HOSTNAME="here", STARPU_NCPU="1")
        path = os.path.join(directory, "codelets", "45", "orrery_sgemm.here")
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        # 20 gemms, the first of which is not counted; outliers may restart the count.
        claim("a_real_run_writes_what_it_measured", re.search(
            r"^6e96d715\t12288 .*\t\d+$", text, re.MULTILINE), text or result.stdout)


check_command_line()
check_calibration()
if os.path.exists(CHOLESKY + "-sim"):
    check_balance()
    check_checkpoints()
    check_simulation()
    check_models()
sys.exit(1 if failures else 0)
