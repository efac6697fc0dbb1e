#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The files of starpu_bound_print_lp() and _mps(): both say the same program, and GLPK's own
reader of MPS finds the minimum that starpu_bound_compute() found."""
import ctypes
import ctypes.util
import os
import re
import subprocess
import sys
import tempfile

from run import BUILD, configured


PROGRAM = os.path.join(BUILD, "tests/api/bounds")


def read_lp(path):
    """(rows: {(row, column): factor}, limits: {row: (type, limit)}, whole)"""
    with open(path) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    entries, limits, whole = {}, {}, set()
    for sentence in text.split(";"):
        sentence = sentence.strip()
        row = re.match(r"R(\d+): 0 (.*?) (<=|>=|=) (\S+)$", sentence, flags=re.S)
        if row:
            for factor, name in re.findall(r"([+-]\S+) (\w+)", row[2]):
                entries["R" + row[1], name] = float(factor)
            limits["R" + row[1]] = ({"<=": "L", ">=": "G", "=": "E"}[row[3]], float(row[4]))
        elif sentence.startswith(("int", "bin")):
            whole |= set(re.findall(r"\w+", sentence)[1:])
    return entries, limits, whole


def read_mps(path):
    entries, limits, whole = {}, {}, set()
    section, is_whole, full = None, False, {}
    with open(path) as f:
        comment = None
        for line in f:
            words = line.split()
            if line.startswith("*"):
                comment = words[1] if len(words) == 2 else None
            elif not line.startswith(" "):
                section = words[0]
            elif section == "ROWS":
                limits[words[1]] = (words[0], 0.0)
            elif section == "COLUMNS" and "'MARKER'" in words:
                is_whole = "'INTORG'" in words
            elif section == "COLUMNS":
                if comment:
                    full[words[0]] = comment
                comment = None
                name = full.get(words[0], words[0])
                entries[words[1], name] = float(words[2])
                if is_whole:
                    whole.add(name)
            elif section == "RHS":
                limits[words[1]] = (limits[words[1]][0], float(words[2]))
    assert entries.pop(("COST", "tmax")) == 1
    assert limits.pop("COST")[0] == "N"
    return entries, limits, whole


def minimum(path):
    """What GLPK makes of the file; None: it is not here."""
    name = ctypes.util.find_library("glpk")
    if not name:
        return None
    glpk = ctypes.CDLL(name)
    glpk.glp_create_prob.restype = ctypes.c_void_p
    glpk.glp_mip_obj_val.restype = ctypes.c_double
    glpk.glp_term_out(0)
    problem = ctypes.c_void_p(glpk.glp_create_prob())
    if glpk.glp_read_mps(problem, 1, None, path.encode()) != 0:
        return "unreadable"
    glpk.glp_simplex(problem, None)
    glpk.glp_intopt(problem, None)
    return glpk.glp_mip_obj_val(problem)


def close(a, b):
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


def same(one, other):
    return one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)


def check(name, deps, directory):
    lp, mps = os.path.join(directory, "b.lp"), os.path.join(directory, "b.mps")
    env = dict(os.environ, STARPU_NCPU="3", STARPU_SILENT="1", STARPU_HOME=directory)
    done = subprocess.run([PROGRAM, lp, mps, str(deps)], capture_output=True, text=True, env=env)
    why = None
    if done.returncode:
        why = "the program ends with %d: %s" % (done.returncode, done.stderr)
    else:
        _, whole = (float(word) for word in done.stdout.split())
        (entries, limits, integers), of_mps = read_lp(lp), read_mps(mps)
        found = minimum(mps)
        if configured("glpk") != (whole > 0):
            why = "configured with GLPK: %s, found %s" % (configured("glpk"), whole)
        elif not same(entries, of_mps[0]):
            why = "the files have other factors"
        elif limits.keys() != of_mps[1].keys() or any(
                limits[row][0] != of_mps[1][row][0] or
                not close(limits[row][1], of_mps[1][row][1]) for row in limits):
            why = "the files have other rows"
        elif integers != of_mps[2]:
            why = "other variables are whole: %s, %s" % (integers, of_mps[2])
        elif found is not None and (isinstance(found, str) or whole > 0
                                        and not close(found, whole)):
            why = "GLPK reads %s, the library found %s" % (found, whole)
    print("FAIL %s: %s" % (name, why) if why else "PASS %s" % name)
    return bool(why)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        failed += check("the program by area in both formats", 0, directory)
        failed += check("the program by graph in both formats", 1, directory)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
