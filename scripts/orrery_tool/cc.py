# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery cc: the compiler with the right flags."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from orrery_tool.words import Refusal

# SMPI's macro malloc() keeps programs from including <malloc.h>.
SIM_CFLAGS = ["-DSTARPU_SIMGRID=1", "-DSMPI_NO_OVERRIDE_MALLOC"]
SIM_LDFLAGS = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-lorrery-sim-alone",
               "-Wl,-e,orrery_sim_alone"]
USAGE = """usage: orrery cc [--sim] [--show] COMPILER-ARGUMENTS

Compiles with mpicc, or smpicc with --sim (mpicxx, smpicxx for C++ files), with the
flags of Orrery added.  --show prints the command instead.

CUDA files (.cu) are compiled with nvcc, which has mpicxx as its host compiler; what nvcc
does not know stands behind -Xcompiler and -Xlinker.

Fortran files (.f90, .F90, .f, .F) are compiled with mpif90 or smpif90, which finds the
modules fstarpu_mod and fstarpu_mpi_mod; a program links with them.  Who compiles and
links in separate steps compiles the modules, too: they are beside starpu.h."""
FORTRAN = re.compile(r"\.(f90|F90|f|F)$")
MODULES = ("fstarpu_mod", "fstarpu_mpi_mod")
NO_LINK = {"-c", "-E", "-S", "-M", "-MM"}
STANDARDS = ("11", "14", "17", "20", "23")
PACKAGES = {"mpicc": "libopenmpi-dev", "mpicxx": "libopenmpi-dev", "mpif90": "libopenmpi-dev",
            "smpicc": "libsimgrid-dev", "smpicxx": "libsimgrid-dev",
            "smpif90": "libsimgrid-dev", "gfortran": "gfortran"}


def tool(name):
    """The path of a compiler."""
    path = shutil.which(name)
    if not path:
        raise Refusal("%s was not found; install the Debian package %s"
                      % (name, PACKAGES[name]))
    return path


def command_cuda(place, rest):
    """The command for CUDA files."""
    flags = place.cuda_flags()
    folders = [flag[2:-len("include")] + "bin" for flag in flags if flag.startswith("-I")]
    path = shutil.which("nvcc", path=os.pathsep.join(
        [os.environ.get("PATH", "")] + folders + ["/usr/local/cuda/bin"]))
    if not path:
        raise Refusal("nvcc was not found, which compiles .cu files; install CUDA's toolkit, or "
                      "add the folder of nvcc to PATH")
    if "-DSTARPU_USE_CUDA=1" not in flags: # Configured where there was no toolkit.
        flags = ["-DSTARPU_USE_CUDA=1", "-DSTARPU_HAVE_CUDA=1",
                 "-DSTARPU_HAVE_CUDA_MEMCPY_PEER=1"]
    command = [path, "-ccbin", tool("mpicxx"), "-I" + place.include, "-DSTARPU_HAVE_HWLOC=1",
               *flags, *rest]
    if not set(rest) & NO_LINK:
        command += ["-L" + place.libdir, "-lorrery", "-lhwloc", "-Xlinker", "-rpath", "-Xlinker",
                    place.libdir]
    return command


def compiler_name(sources, sim):
    kind = "cc"
    if any(re.search(r"\.(cpp|cc|cxx|C)$", source) for source in sources):
        kind = "cxx"
    if any(FORTRAN.search(source) for source in sources):
        tool("gfortran") # which both of them call
        kind = "f90"
    return ("smpi" if sim else "mpi") + kind


def copies_flags(compiler):
    """Each simulated rank has its own statics of inline functions and templates."""
    flag = "-fno-gnu-unique" # g++'s only
    taken = subprocess.run([compiler, flag, "-E", "-x", "c++", os.devnull], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [flag] if taken.returncode == 0 else []


def standard_flags(compiler, rest):
    """smpicxx asks for C++11: the standard that the same compiler has under mpicxx, or nothing."""
    if any(arg.startswith(("-std=", "--std")) for arg in rest):
        return []
    shown = subprocess.run([compiler, "-show"], check=False, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL).stdout.split()
    if not shown or not shutil.which(shown[0]):
        return []
    said = subprocess.run([shown[0], "-E", "-P", "-x", "c++", "-"], check=False, text=True,
                          input="__cplusplus", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = re.search(r"^20(\d\d)\d\dL$", said.stdout, re.M)
    return ["-std=gnu++" + found.group(1)] if found and found.group(1) in STANDARDS else []


def module_objects(place, compiler, directory, is_shown):
    """Compile the modules in a directory: what a Fortran program needs of them."""
    sources = [os.path.join(place.modules, name + ".f90") for name in MODULES]
    if not is_shown:
        for source in sources: # a copy, since smpif90 writes beside the source
            shutil.copy(source, directory)
            status = subprocess.call([compiler, "-O2", "-c", os.path.basename(source)],
                                     cwd=directory)
            if status != 0:
                raise Refusal("%s could not compile %s" % (compiler, source))
    return [os.path.join(directory, name + ".o") for name in MODULES]


def says_cuda(path):
    """Does a source use CUDA, or the parts of StarPU's interface that need it?"""
    if not re.search(r"\.(c|cpp|cc|cxx|C|h)$", path):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return bool(re.search(r"\b(cuda[A-Z]\w+|cuda_runtime|cublas\w*|cusparse\w*|cusolver\w*|"
                                  r"starpu_cuda_get\w+)\b", f.read()))
    except OSError:
        return False


def say_cuda(rest, sim, flags):
    """Of a source that could not be compiled or linked, and uses CUDA."""
    source = next((path for path in rest if says_cuda(path)), None)
    if not source:
        return
    guard = "put what includes CUDA's headers or calls CUDA between #ifdef STARPU_USE_CUDA and #endif"
    if sim:
        words = "a simulation has no CUDA, and STARPU_USE_CUDA is not defined: %s. For tasks on simulated " \
            "GPUs a codelet has .cuda_funcs = {(void *)1}, which is not called: #ifdef STARPU_SIMGRID" % guard
    elif "-DSTARPU_USE_CUDA=1" in flags:
        folder = next((flag[2:-len("/include")] for flag in flags if flag.startswith("-I")
                       and flag.endswith("cuda/include")), "/usr/local/cuda")
        words = "link with -L%s/lib64 -lcudart behind the sources, and with -lcublas, -lcusparse or -lcusolver where it calls " \
            "these; or compile it without CUDA: %s, and say -USTARPU_USE_CUDA" % (folder, guard)
    else:
        words = "Orrery was built without CUDA's headers, and STARPU_USE_CUDA is not defined: configure it " \
            "with --with-cuda=DIR where the toolkit is, or %s" % guard
    print("[orrery] cc: %s uses CUDA: %s" % (source, words), file=sys.stderr)


def command_cc(place, argv):
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    flags = [arg for arg in argv if arg in ("--sim", "--show")]
    rest = [arg for arg in argv if arg not in flags]
    sim = "--sim" in flags
    library = "liborrery-sim" if sim else "liborrery"
    if not place.library(library):
        raise Refusal("%s.so was not found; build Orrery first (scripts/check), or set "
                      "ORRERY_BUILD to the build directory" % library)
    if any(arg.endswith(".cu") for arg in rest):
        if sim:
            raise Refusal("a simulation runs no CUDA kernels: give their codelets functions of "
                          "a C file there, which are not called")
        command = command_cuda(place, rest)
        if "--show" in flags:
            print(shlex.join(command))
            return 0
        return subprocess.call(command)
    name = compiler_name(rest, sim)
    own = [arg for arg in rest if os.path.basename(arg)[:-len(".f90")] in MODULES]
    with tempfile.TemporaryDirectory(prefix="orrery-") as directory:
        command = [tool(name), *place.instrument_flags(), "-I" + place.include]
        command += SIM_CFLAGS if sim else ["-DSTARPU_HAVE_HWLOC=1", *place.cuda_flags()]
        if name == "smpicxx":
            command += standard_flags(command[0], rest) + copies_flags(command[0])
        objects = []
        if name.endswith("f90") and not own:
            objects = module_objects(place, command[0], directory, "--show" in flags)
            command += ["-I" + directory]
        command += rest
        if not set(rest) & NO_LINK:
            command += objects
            command += ["-L" + place.libdir, "-l" + library[3:], "-Wl,-rpath," + place.libdir]
            command += SIM_LDFLAGS if sim else ["-lhwloc"]
        if "--show" in flags:
            print(shlex.join(command))
            return 0
        status = subprocess.call(command)
        if status:
            say_cuda(rest, sim, command)
        return status
