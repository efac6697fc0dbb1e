#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The Fortran modules: what they declare is in the libraries, with the types that C has;
"orrery cc" makes programs of them, in StarPU's way, too.

usage: run.py
"""
import importlib.machinery
import os
import subprocess
import sys
import tempfile

import interfaces

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
SMALL = os.path.join(SRC, "platforms", "xml", "small4.xml")
MODULES = ("fstarpu_mod", "fstarpu_mpi_mod")
make = importlib.machinery.SourceFileLoader(
    "make_fortran_modules", os.path.join(SRC, "scripts", "make-fortran-modules")).load_module()

# A program without a library: what the modules are to StarPU's users.
PROGRAM = """program alone
  use iso_c_binding
  use fstarpu_mod
  implicit none
  integer(c_int) :: major, minor, release
  type(c_ptr) :: mode
  integer(c_int) :: ctx, workers(1) = (/ 0 /)
  integer(c_int), target :: least = -7
  character(kind=c_char), target :: policy(5) = (/ 'p', 'r', 'i', 'o', C_NULL_CHAR /)

  call fstarpu_get_version(major, minor, release)
  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  mode = FSTARPU_R .ior. FSTARPU_W
  if (.not. c_associated(mode, FSTARPU_RW)) error stop "modes"
  if (p_to_ip(FSTARPU_SZ_REAL8) /= 8 .or. p_to_ip(FSTARPU_SZ_COMPLEX4) /= 8) error stop "sizes"
  if (FSTARPU_NMAXBUFS < 8) error stop "buffers"
  ctx = fstarpu_sched_ctx_create(workers, 1, C_CHAR_"mine"//C_NULL_CHAR, &
    (/ FSTARPU_SCHED_CTX_POLICY_NAME, c_loc(policy), FSTARPU_SCHED_CTX_POLICY_MIN_PRIO, &
       c_loc(least), FSTARPU_SCHED_CTX_AWAKE_WORKERS, C_NULL_PTR /))
  if (fstarpu_sched_ctx_get_nworkers(ctx) /= 1) error stop "workers of a context"
  if (fstarpu_sched_ctx_get_min_priority(ctx) /= least) error stop "priorities of a context"
  call fstarpu_sched_ctx_display_workers(ctx)
  call fstarpu_sched_ctx_delete(ctx)
  if (fstarpu_worker_is_blocked(0) /= 0) error stop "a worker is blocked"
  call fstarpu_data_descrg_free(fstarpu_data_descr_alloc())
  call fstarpu_display_memory_stats()
  print *, "version", major, "workers", fstarpu_cpu_worker_get_count()
  call fstarpu_shutdown()
end program alone
"""
failed = 0


def claim(name, wrong):
    """wrong: what was found instead, or nothing."""
    global failed
    failed += bool(wrong)
    print("FAIL %s: %s" % (name, wrong) if wrong else "PASS " + name, flush=True)


def conf():
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        return dict(line.strip().partition("=")[::2] for line in f)


def check_types(mpi_flags):
    """How C takes what the modules pass."""
    text = "".join('#include "%s"\n' % header for header in (
        "starpu.h", "starpu_mpi.h", "src/api/fortran.h", "src/api/mpi_fortran.h"))
    code = subprocess.run(["gcc", "-E", "-P", "-Iinclude", "-I."] + mpi_flags + ["-"],
                          input=text, cwd=SRC, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    prototypes, known = interfaces.prototypes(code), interfaces.typedefs(code)
    found = []
    for name in MODULES:
        with open(os.path.join(BUILD, "fortran", name + ".f90"), encoding="utf-8") as f:
            found += interfaces.procedures(f.read())
    claim("interfaces pass what C takes",
          "; ".join(interfaces.wrong(found, prototypes, known)))
    claim("an address instead of a value would be seen, and a value instead of an address",
          ", ".join("%s(%s)" % (other.name, arg.name)
                    for other, arg in interfaces.passed_otherwise(found)
                    if not interfaces.wrong([other], prototypes, known)))
    return {ours.name for ours in found}


def check_symbols(rows, library):
    path = os.path.join(BUILD, ".libs", library + ".so")
    names = subprocess.run(["nm", "-D", "--defined-only", path], text=True, check=True,
                           stdout=subprocess.PIPE).stdout
    there = {line.split()[2].split("@")[0] for line in names.splitlines()
             if len(line.split()) == 3}
    claim("%s has what the modules name" % library,
          ", ".join(row.c for row in rows if row.c not in there))


def run(*command, cwd):
    env = dict(os.environ, STARPU_NCPU="2", ORRERY_BUILD=BUILD, STARPU_SILENT="1")
    done = subprocess.run(command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def check_programs(directory, flavour, launch):
    def made(name, *arguments):
        status, output = run(sys.executable, ORRERY, "cc", *flavour, *arguments, cwd=directory)
        claim("%s, orrery cc %s" % (name, " ".join(flavour)),
              output if status or "arning" in output else "")

    def runs(name, program, says, nranks="1"):
        status, output = run(sys.executable, ORRERY, "run", *launch, "-n", nranks, program,
                             cwd=directory)
        claim("%s, %s" % (name, "sim" if launch else "real"),
              output if status or says not in output else "")

    with open(os.path.join(directory, "alone.f90"), "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    made("a program is made at once", "alone.f90", "-o", "alone")
    runs("it knows constants and sizes", "./alone", "version")
    for name in MODULES:
        made("%s compiles as a source" % name, "-c",
             os.path.join(BUILD, "fortran", name + ".f90"), "-o", name + ".o")
    ring = os.path.join(SRC, "examples", "fortran", "ring.f90")
    if flavour: # smpif90 writes beside its source
        with open(ring, encoding="utf-8") as f, \
                open(os.path.join(directory, "ring.f90"), "w", encoding="utf-8") as copy:
            copy.write(f.read())
        ring = "ring.f90"
    made("a program is made", ring, "-o", "ring")
    runs("it passes its token", "./ring", "the token is 6, expected 6", nranks="2")


def main():
    settings = conf()
    if settings.get("fortran") != "yes":
        return 77
    flags = subprocess.run(["mpicc", "--showme:compile"], text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split()
    all_rows = [row for module in MODULES for row in make.functions(module)]
    there = make.declared()
    rows = [row for row in all_rows if row.c in there]
    left_out = [row.name for row in all_rows if row.c not in there]
    print("left out, since C has no such function: " + " ".join(left_out))
    claim("all rows are read",
          " ".join({row.name for row in rows} - check_types(flags)))
    names = [row.name for row in all_rows]
    claim("each name is declared once", " ".join({n for n in names if names.count(n) > 1}))
    declared = {name for name in there if name.startswith("fstarpu_")}
    internal = {"fstarpu_get_constant", "fstarpu_mpi_argcv_alloc", "fstarpu_mpi_argcv_free",
                "fstarpu_mpi_argcv_set_arg", "fstarpu_mpi_init", "fstarpu_mpi_init_c"}
    claim("what is made for Fortran is declared to it",
          " ".join(sorted(declared - {row.c for row in rows} - internal)))
    flavours = [("liborrery", [], [])]
    if settings.get("sim") != "no":
        flavours.append(("liborrery-sim", ["--sim"], ["--sim", SMALL]))
    for library, _, _ in flavours:
        check_symbols(rows, library)
    if settings.get("sanitize"):
        return 1 if failed else 0
    for _, flavour, launch in flavours:
        with tempfile.TemporaryDirectory(prefix="orrery-fortran-") as directory:
            check_programs(directory, flavour, launch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
