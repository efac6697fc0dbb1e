#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""scripts/check-tree accepts this tree and reports each breach seeded into a copy."""
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(SRC, "scripts", "check-tree")
HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Copyright (c) 2026 The Orrery authors */\n"
LONG_BODY = "".join("\tx++;\n" for _ in range(61))

# (claim, file, contents after the SPDX lines, line and part of the message expected)
BREACHES = [
    ("core_must_not_include_mpi", "src/core/bad.c", '#include "mpi/engine.h"\n',
     "3: core must not include mpi/engine.h"),
    ("base_must_not_include_plat", "src/base/bad.h", '#include "plat/plat.h"\n',
     "3: base must not include plat/plat.h"),
    ("base_must_not_include_public_headers", "src/base/bad.c", "#include <starpu.h>\n",
     "3: base must not include public header starpu.h"),
    ("sinks_see_records_only", "src/trace/bad.c", '#include "core/event.h"\n'
     '#include "core/node.h"\n', "4: trace must not include core/node.h"),
    ("mpi_must_not_include_sinks", "src/mpi/bad.c", '#include "trace/sinks.h"\n',
     "3: mpi must not include trace/sinks.h"),
    ("shared_must_not_include_a_backend", "src/mpi/bad.c", '\n#include "sim/sim.h"\n',
     "4: mpi must not include sim/sim.h"),
    ("backends_must_not_include_mpi", "src/sim/bad.c", '#include "mpi/engine.h"\n',
     "3: sim must not include mpi/engine.h"),
    ("backends_must_not_include_each_other", "src/real/bad.c", '#include "sim/sim.h"\n',
     "3: real must not include sim/sim.h"),
    ("unknown_layers_are_reported", "src/extra/bad.c", "", "1: src/extra is no layer"),
    ("mpi_h_is_foreign_to_core", "src/core/bad.c", "#include <mpi.h>\n",
     "3: <mpi.h> (MPI) does not belong here"),
    ("starpu_mpi_h_is_foreign_to_core", "src/core/bad.c", "#include <starpu_mpi.h>\n",
     "3: <starpu_mpi.h> (MPI) does not belong here"),
    ("mpi_h_is_foreign_to_the_engine", "src/mpi/bad.c", "#include <mpi.h>\n",
     "3: <mpi.h> (MPI) does not belong here"),
    ("threads_are_foreign_to_sim", "src/sim/bad.c", "#include <pthread.h>\n",
     "3: <pthread.h> (threads) does not belong here"),
    ("hwloc_is_foreign_to_core", "src/core/bad.c", "#include <hwloc.h>\n",
     "3: <hwloc.h> (hwloc) does not belong here"),
    ("simgrid_is_foreign_to_real", "src/real/bad.c", "#include <simgrid/engine.h>\n",
     "3: <simgrid/engine.h> (SimGrid) does not belong here"),
    ("cuda_is_foreign_to_core", "src/core/bad.c", "#include <cuda_runtime.h>\n",
     "3: <cuda_runtime.h> (CUDA) does not belong here"),
    ("ifdef_in_shared_code", "src/core/bad.c", "\n#ifdef SIM\n#endif\n",
     "4: conditional compilation"),
    ("second_ifndef_in_shared_header", "src/api/bad.h",
     "#ifndef BAD_H\n#define BAD_H\n#ifndef SIM\n#endif\n#endif\n", "5: conditional compilation"),
    ("if_in_shared_code", "src/mpi/bad.c", "#if 1\n#endif\n", "3: conditional compilation"),
    ("getenv_outside_knobs", "src/real/bad.c", "\nint x = getenv(\"A\") != 0;\n",
     "4: getenv: declare a knob"),
    ("core_asks_for_the_backend", "src/core/bad.c", "int f(struct m *m)\n{\n\treturn "
     "m->simulated;\n}\n", "5: asks whether the machine is simulated"),
    ("mpi_asks_for_the_backend", "src/mpi/bad.c", "int f(void)\n{\n\treturn "
     "plat_is_simulated();\n}\n", "5: asks whether the machine is simulated"),
    ("long_functions", "src/core/bad.c", "int f(int x)\n{\n" + LONG_BODY + "}\n",
     "3: function f has 61 lines"),
    ("many_parameters", "src/core/bad.c", "int f(int a, int b, int c, int d,\n\tint e, int f, "
     "int g)\n{\n\treturn 0;\n}\n", "3: function f has 7 parameters"),
    ("long_files", "src/core/bad.c", "/* */\n" * 800, "802: file has 802 lines"),
    ("long_lines", "src/core/bad.c", "/*\t%s */\n" % ("x" * 90), "3: 101 columns"),
    ("words_of_unfinished_work", "examples/bad.c", "/* TO" "DO later */\n", '3: "TO' 'DO"'),
    ("paths_of_one_machine", "doc/bad.md", "see /ho" "me/me/x\n", '3: "/ho' 'me/m"'),
    ("files_not_listed", "src/core/bad.c", "", "1: not listed in src/sources.am"),
]

GOOD = "#ifndef G_H\n#define G_H\n#ifdef __cplusplus\n#endif\n#endif\n/* getenv(x) #if */\n"


def check(root, *arguments):
    out = subprocess.run([sys.executable, CHECK, "--root", root, *arguments],
                         capture_output=True, text=True)
    return out.returncode, out.stdout + out.stderr


def verdict(claim, good, why):
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why))
    return not good


def seeded(claim, path, text, expected):
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "src"))
        with open(os.path.join(root, "src", "sources.am"), "w") as f:
            f.write("# SPDX-License-Identifier: BSD-3-Clause\n# Copyright\n")
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w") as f:
            f.write(HEAD + text)
        status, output = check(root)
    found = any(line.startswith("%s:%s" % (path, expected)) for line in output.split("\n"))
    return verdict(claim, found and status == 1,
                   "expected %s:%s, exit 1; got exit %d and %r" % (path, expected, status, output))


def allowed_is_silent():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "src", "core"))
        with open(os.path.join(root, "src", "core", "good.h"), "w") as f:
            f.write(HEAD + GOOD)
        status, output = check(root)
    return verdict("guards_and_comments_are_no_breach", status == 0 and not output, output)


def compile_tree(root, files):
    """Objects laid out as in a build tree."""
    for path, text in files.items():
        obj = os.path.join(root, path)
        os.makedirs(os.path.dirname(obj), exist_ok=True)
        subprocess.run(["gcc", "-fPIC", "-x", "c", "-c", "-", "-o", obj], input=text, text=True,
                       check=True)


def writable_state():
    bad = 0
    with tempfile.TemporaryDirectory() as root:
        build = os.path.join(root, "build")
        compile_tree(build, {
            "src/core/.libs/bss.o": "static int n; int f(void) { return n++; }",
            "src/mpi/.libs/data.o": "int n = 4;",
            "src/api/.libs/tls.o": "__thread int n;",
            "src/base/.libs/const.o": "int f(void); int (*const t[])(void) = { f, f };",
            "src/real/.libs/one.o": "void *the_node;",
            "src/sim/.libs/one.o": "void *the_node;",
            "src/sim/.libs/two.o": "int extra;"})
        status, output = check(root, "--objects", build)
    for claim, expected, wanted in (
            ("static_counter_is_reported", "src/core/.libs/bss.o:0: 4 bytes", True),
            ("initialised_global_is_reported", "src/mpi/.libs/data.o:0: 4 bytes", True),
            ("thread_local_is_reported", "src/api/.libs/tls.o:0: 4 bytes", True),
            ("second_word_of_a_backend_is_reported", "src/sim/.libs/two.o:0: 4 bytes", True),
            ("const_table_is_no_state", "src/base/.libs/const.o", False),
            ("one_pointer_of_a_backend_is_allowed", "src/real/.libs/one.o", False)):
        bad += verdict(claim, (expected in output) == wanted and status == 1, repr(output))
    return bad


def write_tree(root, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w") as f:
            f.write(text)


SCRIPT = "# SPDX-License-Identifier: BSD-3-Clause\n# Copyright (c) 2026 The Orrery authors\n"


def lists_of_tests():
    bad = 0
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, {
            "src/sources.am": SCRIPT,
            "tests/programs.am": SCRIPT + "A = tests/api/good tests/api/idle\n",
            "tests/list.txt": "good | real 1 | tests/api/good\nall | script | tests/all/run.py\n",
            "tests/all/run.py": SCRIPT + "# runs named.c\n",
            "tests/all/named.c": HEAD, "tests/api/good.c": HEAD, "tests/api/idle.c": HEAD,
            "tests/api/lost.c": HEAD, "tests/api/lost.py": SCRIPT})
        status, output = check(root)
    for claim, expected in (
            ("test_that_is_not_built", "tests/api/lost.c:1: not built"),
            ("test_that_is_not_run", "tests/api/idle.c:1: built but not run"),
            ("script_that_is_not_run", "tests/api/lost.py:1: not run")):
        bad += verdict(claim, expected in output and status == 1, repr(output))
    return bad + verdict("listed_tests_are_no_breach", output.count("\n") == 3, repr(output))


def formats():
    if not shutil.which("clang-format"):
        return 0
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(os.path.join(SRC, ".clang-format"), root)
        write_tree(root, {"bench/good.c": HEAD + "int f(void)\n{\n\treturn 0;\n}\n",
                          "bench/bad.c": HEAD + "int  f(void)\n{\n\treturn 0;\n}\n"})
        status, output = check(root)
    if not output:
        return 0 # another version of clang-format
    return verdict("missing_format_is_reported", status == 1 and output
                   == "bench/bad.c:3: not formatted: clang-format -i bench/bad.c\n", repr(output))


def calls_upward():
    bad = 0
    with tempfile.TemporaryDirectory() as root:
        build = os.path.join(root, "build")
        call = "int %s(void); int f%d(void) { return %s(); }"
        compile_tree(build, {
            "src/core/.libs/up.o": call % (("starpu_task_submit", 1, "starpu_task_submit")),
            "src/api/.libs/own.o": call % (("starpu_init", 2, "starpu_init")),
            "src/mpi/.libs/down.o": call % (("engine_post", 3, "engine_post")),
            "src/sim/.libs/defines.o": "int starpu_pthread_self(void) { return 0; }",
            "src/sim/.libs/uses.o": call % (("starpu_pthread_self", 4, "starpu_pthread_self"))})
        status, output = check(root, "--objects", build)
    bad += verdict("call_upward_is_reported", status == 1 and "src/core/.libs/up.o:0: core calls "
                   "starpu_task_submit() of the layer above" in output, repr(output))
    return bad + verdict("other_calls_are_no_breach", output.count("\n") == 1, repr(output))


def this_tree():
    arguments = []
    build = os.environ.get("ORRERY_BUILD")
    if build and shutil.which("size"):
        arguments = ["--objects", build]
    status, output = check(SRC, *arguments)
    print(output, end="")
    return verdict("this_tree_keeps_its_rules", status == 0,
                   "%d breaches" % output.count("\n"))


def main():
    bad = sum(seeded(*breach) for breach in BREACHES)
    bad += allowed_is_silent() + writable_state() + lists_of_tests() + formats()
    bad += calls_upward() + this_tree()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
