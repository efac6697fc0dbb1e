#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The programs with StarPU's names: what scripts read from them."""
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

BUILD = os.environ.get("ORRERY_BUILD", os.path.join(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))), "build"))

FITTED = """45
2
1
0
0
1
1
1
1.0 2.0 3.0 4.0 2.5e-03 1.5 12 100 1000
3.0e-3 1.4 7.0
0
f0ac7beb 4915200 5.242880e+08 2.647095e+04 4.073263e+02 4.762124e+07 1.260878e+12 1799
1
1
2
1
1
2
0 0 0 0 nan nan 0 0 0
nan nan nan
0
f0ac7beb 4915200 5.242880e+08 8.944354e+02 3.828761e+01 5.687714e+06 5.096615e+09 6359
24c84a50 11059200 1.769472e+09 2.805491e+03 6.931361e+01 3.683329e+07 1.033985e+11 13129
"""

# As StarPU 1.3's tool prints these measurements, the last line of the file first.
ALL = """# performance model for cpu0_impl0 (Comb0)
\tRegression : #sample = 12
\tLinear: y = alpha size ^ beta
\t\talpha = 2.500000e-03
\t\tbeta = 1.500000e+00
\tNon-Linear: y = a size ^b + c
\t\ta = 3.000000e-03
\t\tb = 1.400000e+00
\t\tc = 7.000000e+00
# hash\t\tsize\t\tflops\t\tmean (us)\tstddev (us)\t\tn
f0ac7beb\t4915200        \t5.242880e+08   \t2.647095e+04   \t4.073263e+02   \t1799
# performance model for cuda2_impl0 (Comb1)
# hash\t\tsize\t\tflops\t\tmean (us)\tstddev (us)\t\tn
24c84a50\t11059200       \t1.769472e+09   \t2.805491e+03   \t6.931361e+01   \t13129
f0ac7beb\t4915200        \t5.242880e+08   \t8.944354e+02   \t3.828761e+01   \t6359
"""
# Two implementations: a power law, and coefficients of a multiple regression.
LINES = """45
1
1
0
0
1
2
1
1.0 2.0 3.0 4.0 2.5e-03 1.5 12 100 1000
nan nan nan
0
00000064 100 0 10 1 100 1010 10
1
0 0 0 0 nan nan 0 0 0
nan nan nan
3 10.0 2.0 3.5
00000064 100 0 20 1 200 4010 10
"""
LINES_XML = """    <implementation id="0">
      <!-- cpu0_impl0 (Comb0) -->
      <!-- time = alpha size ^ beta -->
      <l_regression sumlnx="1.000000e+00" sumlnx2="2.000000e+00" sumlny="3.000000e+00" \
sumlnxlny="4.000000e+00" alpha="2.500000e-03" beta="1.500000e+00" nsample="12" minx="100" \
maxx="1000"/>
      <entry footprint="00000064" size="100" flops="0.000000e+00" mean="1.000000e+01" \
deviation="1.000000e+00" sum="1.000000e+02" sum2="1.010000e+03" nsample="10"/>
    </implementation>
    <implementation id="1">
      <!-- cpu0_impl1 (Comb0) -->
      <ml_regression constant="1.000000e+01">
        <monomial name="x1" coef="2.000000e+00"/>
        <monomial name="x2" coef="3.500000e+00"/>
      </ml_regression>
"""
CUDA = ALL[ALL.index("# performance model for cuda2"):]
nfailed = 0


def verdict(claim, good, why):
    global nfailed
    print("PASS " + claim if good else "FAIL %s: %r" % (claim, why), flush=True)
    nfailed += not good


def run(home, name, *arguments):
    env = dict(os.environ, STARPU_HOME=home, XDG_CACHE_HOME="", HOME=home, STARPU_HOSTNAME="there",
               STARPU_PERF_MODEL_DIR="", STARPU_PERF_MODEL_PATH="", STARPU_NCPU="1")
    out = subprocess.run([os.path.join(BUILD, name), *arguments], env=env, text=True,
                         capture_output=True, timeout=60, cwd=home)
    return out.returncode, out.stdout, out.stderr


def display(home):
    models = os.path.join(home, ".starpu", "sampling", "codelets", "45")
    os.makedirs(models)
    path = os.path.join(models, "fitted.there")
    with open(path, "w", encoding="ascii") as f:
        f.write(FITTED)
    with open(os.path.join(models, "gemm.elsewhere"), "w", encoding="ascii") as f:
        f.write(FITTED)

    def shows(claim, expected, *arguments, status=0):
        found = run(home, "starpu_perfmodel_display", *arguments)
        verdict(claim, found[:2] == (status, expected), found)

    shows("files_are_listed", "file: <fitted.there>\nfile: <gemm.elsewhere>\n", "-l")
    shows("directories_are_told", "directory: <%s/>\n" % models, "-d")
    shows("a_model_is_shown", ALL, "-s", "fitted")
    shows("a_file_is_shown", ALL, "-i", path)
    shows("one_type_of_device", CUDA, "-s", "fitted", "-a", "cuda")
    for word in "cuda2", "cuda_2", "cuda2_impl0", "cuda2_impl0 (Comb1)":
        shows("one_device_%s" % word.split()[-1], CUDA, "-s", "fitted", "-a", word)
    kinds = {1: "cuda", 2: "opencl", 3: "mic", 4: "max_fpga", 5: "mpi_ms", 6: "tcpip_ms", 7: "hip"}
    with open(os.path.join(models, "kinds.there"), "w", encoding="ascii") as f:
        f.write("45\n%d\n" % len(kinds) + "".join(
            "1\n%d\n3\n1\n1\n0\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n" % kind for kind in kinds))
    lines = ["# performance model for %s3_impl0 (Comb%d)\n" % (name, i) for i, name in enumerate(kinds.values())]
    shows("kinds_have_starpus_names", "".join(lines), "-s", "kinds")
    for line, name in zip(lines, kinds.values()):
        shows("one_of_the_kind_" + name, line, "-s", "kinds", "-a", name + "3_impl0")
    os.remove(os.path.join(models, "kinds.there"))
    with open(os.path.join(models, "unmeasured.there"), "w", encoding="ascii") as f:
        f.write("##################\n# Performance Model Version\n45\n\n####################\n"
                "# COMBs\n# number of combinations\n0\n")
    shows("a_model_without_measurements", "", "-s", "unmeasured")
    shows("one_size", "".join(CUDA.splitlines(True)[:3]), "-s", "fitted", "-a", "cuda", "-f",
          "24c84a50")
    shows("one_figure_of_one_size", "# performance model for cuda2_impl0 (Comb1)\n"
          "2.805491e+03   \n", "-s", "fitted", "-a", "cuda", "-f", "24c84a50", "-p", "mean")
    shows("one_figure_of_a_fit", "# performance model for cpu0_impl0 (Comb0)\n1.400000e+00\n",
          "-s", "fitted", "-a", "cpu:1", "-p", "b")
    status, text, _ = run(home, "starpu_perfmodel_display", "-x", "-s", "fitted")
    root = ElementTree.fromstring(text.split("-->\n", 2)[2]) if status == 0 else None
    verdict("xml_has_all_measurements", root is not None and root.get("version") == "45" and [
        entry.get("footprint") for entry in root.iter("entry")] == ["f0ac7beb", "24c84a50",
                                                                     "f0ac7beb"], text)
    with open(os.path.join(models, "lines.there"), "w", encoding="ascii") as f:
        f.write(LINES)
    status, text, _ = run(home, "starpu_perfmodel_display", "-x", "-s", "lines")
    verdict("xml_has_the_fits", status == 0 and LINES_XML in text, text)
    for claim, arguments, words in (
            ("unknown_symbol", ("-s", "nothing"), "no usable model of nothing"),
            ("unknown_architecture", ("-s", "fitted", "-a", "hip"), "knows no architecture hip"),
            ("unknown_device", ("-s", "fitted", "-a", "cuda1"), "knows no architecture cuda1"),
            ("unknown_implementation", ("-s", "fitted", "-a", "cuda2_impl1"),
             "knows no architecture cuda2_impl1"),
            ("odd_architecture", ("-s", "fitted", "-a", "cuda2x"), "knows no architecture cuda2x"),
            ("unknown_parameter", ("-s", "fitted", "-p", "z"), "there is no such parameter"),
            ("no_footprint", ("-s", "fitted", "-f", "xyz"), "hexadecimal"),
            ("nothing_wanted", (), "Incorrect usage")):
        status, _, said = run(home, "starpu_perfmodel_display", *arguments)
        verdict(claim + "_is_refused", status == 1 and words in said, (status, said))


def written(home, name):
    try:
        with open(os.path.join(home, name), encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def plot(home):
    status, _, said = run(home, "starpu_perfmodel_plot", "-s", "fitted")
    data = [line.split() for line in written(home, "starpu_fitted_avg.data").splitlines()]
    verdict("measurements_are_columns", status == 0 and data == [
        ["4915200", "2.647095e+01", "4.073263e-01", "8.944354e-01", "3.828761e-02"],
        ["11059200", '""', '""', "2.805491e+00", "6.931361e-02"]], (status, data, said))
    program = written(home, "starpu_fitted.gp")
    verdict("gnuplot_draws_each_curve", 'Model for codelet fitted on there"' in program and
            'using 1:2:3 with errorlines title "Average cpu0-impl0 (Comb0)"' in program and
            'using 1:4:5 with errorlines title "Average cuda2-impl0 (Comb1)"' in program, program)
    verdict("gnuplot_draws_the_fit", "plot\t0.001 * 0.003 * x ** 1.4 + 0.001 * 7 title "
            '"Non-Linear Regression cpu0-impl0 (Comb0)",\\\n\t"starpu_fitted_avg.data"' in program
            and os.access(os.path.join(home, "starpu_fitted.gp"), os.X_OK), program)
    run(home, "starpu_perfmodel_plot", "-s", "lines")
    verdict("a_power_law_is_drawn", '0.001 * 0.0025 * x ** 1.5 title "Linear Regression cpu0-impl0'
            in written(home, "starpu_lines.gp"), written(home, "starpu_lines.gp"))
    if shutil.which("gnuplot"):
        out = subprocess.run(["gnuplot", "starpu_fitted.gp"], cwd=home, capture_output=True,
                             text=True, timeout=60)
        verdict("gnuplot_reads_it", out.returncode == 0 and
                len(written(home, "starpu_fitted.eps")) > 1000, out.stderr)
    status, _, said = run(home, "starpu_perfmodel_plot", "-s", "fitted", "-c", "1", "-f")
    data = [line.split() for line in written(home, "starpu_fitted_avg.data").splitlines()]
    verdict("one_combination_in_gflops", status == 0 and [row[:2] for row in data] == [
        ["4915200", "%e" % (5.24288e8 / 8.944354e2 / 1e3)],
        ["11059200", "%e" % (1.769472e9 / 2.805491e3 / 1e3)]] and
            "Regression" not in written(home, "starpu_fitted.gp"), (status, data, said))
    with open(os.path.join(home, "run.rec"), "w", encoding="ascii") as f:
        f.write("Name: a\nModel: fitted\nStartTime: 1.5\nEndTime: 29.5\nFootprint: f0ac7beb\n"
                "Sizes: 4 5\n\nName: b\nModel: other\nStartTime: 1\nEndTime: 2\nFootprint: 1\n\n"
                "Name: c\nModel: fitted\nStartTime: 30\nEndTime: 32\nFootprint: 7\nSizes: 40 8\n")
    status, _, said = run(home, "starpu_perfmodel_plot", "-s", "fitted", "-i", "run.rec")
    verdict("tasks_of_a_run_are_points", status == 0 and written(
        home, "starpu_fitted_prof.data") == "4915200\t2.800000e+01\n48\t2.000000e+00\n" and written(
            home, "starpu_fitted.gp").endswith(',\\\n\t"starpu_fitted_prof.data" title "Profiling"\n'),
            (status, said, written(home, "starpu_fitted.gp")))
    run(home, "starpu_perfmodel_plot", "-s", "fitted", "-f", "-i", "run.rec")
    verdict("and_their_speed", written(home, "starpu_fitted_prof.data") == "4915200\t%e\n" %
            (5.24288e8 / 28e-3 / 1e9), written(home, "starpu_fitted_prof.data"))
    status, text, _ = run(home, "starpu_perfmodel_plot", "-lc", "-s", "fitted")
    verdict("combinations_are_listed", status == 0 and "Comb 0: 1 device" in text and
            "type: CUDA" in text.replace("cuda", "CUDA"), text)
    for arguments, words in ((("-s", "nothing"), "no usable model of nothing"),
                             (("-s", "fitted", "-c", "7"), "has no measurements of these"),
                             (("-s", "fitted", "-i", "absent"), "cannot be read"),
                             (("-s", "fitted", "-i", "starpu_fitted.gp"), "it is no tasks.rec"),
                             (("-s", "lines", "-i", "run.rec"), "no task of the model lines"),
                             (("-s", "fitted", "-e", "-i", "run.rec"), "-i with -e"),
                             ((), "Incorrect usage")):
        status, _, said = run(home, "starpu_perfmodel_plot", *arguments)
        verdict("plot_refuses_" + "_".join(arguments), status == 1 and words in said, said)


def complete(home):
    """What StarPU 1.3's tool adds to the same records."""
    text = ("Name: a\nModel: fitted\nFootprint: f0ac7beb\n\nName: b\nModel: fitted\n"
            "Footprint: 24c84a50\n\nName: c\n\nName: d\nModel: nothing\nFootprint: 1\n")
    with open(os.path.join(home, "tasks.rec"), "w", encoding="ascii") as f:
        f.write(text)
    status, _, said = run(home, "starpu_tasks_rec_complete", "tasks.rec", "more.rec")
    expected = text.replace("f0ac7beb\n", "f0ac7beb\nEstimatedTime: 2.647095e+04\n").replace(
        "24c84a50\n", "24c84a50\nEstimatedTime: inf\n")
    verdict("tasks_get_estimates", status == 0 and written(home, "more.rec") == expected and
            "no usable model of nothing" in said, (status, written(home, "more.rec"), said))
    status, _, said = run(home, "starpu_tasks_rec_complete", "nowhere.rec")
    verdict("no_records_are_refused", status == 1 and "nowhere.rec cannot be read" in said, said)


def recdump(home):
    """As StarPU 1.3's tool, which says this of the same records and calibration."""
    with open(os.path.join(home, "asked.rec"), "w", encoding="ascii") as f:
        f.write("Name: a\nModel: fitted\nFootprint: f0ac7beb\n\n\nModel: fitted\n"
                "Footprint: f0ac7beb\nName: b\n\nName: c\n\nModel: nothing\nFootprint: 1\n")
    status, _, said = run(home, "starpu_perfmodel_recdump", "asked.rec", "-o", "models.rec")
    text = written(home, "models.rec")
    tables = text.split("%rec: ")
    verdict("recdump_has_its_tables", status == 0 and [table.split("\n")[0] for table in tables] ==
            ["", "worker_count", "memory_workers", "timing"] and
            "Architecture: cpu0\nNbWorkers: " in tables[1] and
            "MemoryNode: 0\nName: " in tables[2] and "\nWorkers: 0" in tables[2],
            (status, text, said))
    # Once for both tasks.
    records = tables[-1].strip().split("\n\n")[1:]
    verdict("recdump_has_what_was_measured", len(records) >= 1 and
            len(set(records)) == len(records) and
            all(record.startswith("Model: fitted\nArchitecture: ") and
                "\nFootprint: f0ac7beb\n" in record for record in records) and
            any("\nMean: 2.647095e+04" in record for record in records), tables[-1])
    with open(os.path.join(home, "asked.rec"), "w", encoding="ascii") as f:
        f.write("Model: fitted\nFootprint: f0ac7beb\n\nModel: lines\nFootprint: 64\n\n"
                "Model: fitted\nFootprint: 24c84a50\n")

    def timings(*arguments):
        text = run(home, "starpu_perfmodel_recdump", *arguments)[1].split("%rec: timing\n\n")
        return text[0], [(record.split("\n")[0][7:], record.split("\n")[1][14:], footprint)
                         for record in text[-1].strip().split("\n\n") for footprint in
                         record.split("\n") if footprint.startswith("Footprint: ")]

    fitted = [("fitted", "cpu0", "Footprint: f0ac7beb"),
              ("fitted", "cuda2", "Footprint: 24c84a50"), ("fitted", "cuda2", "Footprint: f0ac7beb")]
    lines = [("lines", "cpu0", "Footprint: 00000064")] * 2
    verdict("recdump_has_the_order_of_starpu", timings("asked.rec")[1] ==
            [fitted[1], fitted[0], fitted[2], *lines], timings("asked.rec"))
    verdict("recdump_of_nothing_has_all", timings() == ("", fitted + lines), timings())
    verdict("recdump_names_what_is_missing", "no usable model of nothing" in said, said)


def machine(home):
    status, text, said = run(home, "starpu_machine_display")
    verdict("machine_has_workers_and_links", status == 0 and "StarPU has found :\n1 CPU worker:\n"
            "\tCPU 0\nNo CUDA worker\n" in text and text.endswith(
                "\nbandwidth (MB/s) and latency (us)...\nfrom/to\tNUMA 0\t\nNUMA 0\t0\t\n\n"
                "NUMA 0\t0\t\n"), (status, text, said))
    status, _, said = run(home, "starpu_calibrate_bus")
    bus = os.path.join(home, ".starpu", "sampling", "bus")
    verdict("bus_files_are_written", status == 0 and "there.bandwidth" in os.listdir(bus),
            (status, said))
    status, text, _ = run(home, "starpu_machine_display", "--info")
    verdict("bus_files_are_told", status == 0 and text.startswith(
        "bandwidth: <%s>\n affinity: <%s>\n  latency: <%s>\n" % tuple(os.path.join(
            bus, "there." + word) for word in ("bandwidth", "affinity", "latency"))), text)
    status, text, _ = run(home, "starpu_sched_display")
    verdict("schedulers_are_listed", status == 0 and {"eager", "prio", "lws", "dmda"}
            <= set(text.split()), text)
    for name in ("starpu_machine_display", "starpu_calibrate_bus", "starpu_sched_display",
                 "starpu_perfmodel_display", "starpu_perfmodel_plot",
                 "starpu_tasks_rec_complete", "starpu_perfmodel_recdump"):
        found = [run(home, name, option) for option in ("--help", "--version", "--nonsense")]
        verdict(name + "_knows_its_options", [f[0] for f in found] == [0, 0, 1]
                and "Usage: " + name in found[0][1] and "Orrery" in found[1][1], found)


def main():
    with tempfile.TemporaryDirectory() as home:
        display(home)
        plot(home)
        complete(home)
        recdump(home)
        machine(home)
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
