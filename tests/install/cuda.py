#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What configure makes of --with-cuda and --without-cuda: the flags that clients get, on
the headers of the stand-in for CUDA, and the sentences where there are none.  The library
is the same either way: clients of both link with the one of this build."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build")))
HEADERS = os.path.join(SRC, "tests", "cuda", "include")
STANDIN = os.path.join(BUILD, "tests", "cuda")
CLIENT = os.path.join(SRC, "tests", "install", "cuda.c")
# What this test does not ask about is left out: that is faster.
LEAN = ["--without-sim", "--without-mpi", "--without-blas", "--without-fortran"]


class Suite:
    def __init__(self, top):
        self.top, self.nfailed = top, 0
        with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
            self.is_instrumented = bool(re.search(r"^sanitize=\S", f.read(), re.M))
        self.env = {key: value for key, value in os.environ.items()
                    if not re.match(r"ORRERY|STARPU|MAKE|MFLAGS|CUDA|CONFIG_SITE", key)}
        self.env["LD_LIBRARY_PATH"] = os.path.join(BUILD, ".libs") + ":" + STANDIN
        self.env["ORRERY_CUDA_LIBRARY"] = os.path.join(STANDIN, "libcuda-standin.so")

    def verdict(self, claim, good, why):
        print("PASS " + claim if good else "FAIL %s: %s" % (claim, str(why)[-800:]), flush=True)
        self.nfailed += not good
        return good

    def run(self, *command, cwd=None):
        """(status, output)"""
        out = subprocess.run(command, cwd=cwd or self.top, text=True, timeout=200,
                             check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=self.env)
        return out.returncode, out.stdout

    def configure(self, name, option):
        """(status, output, folder); what one run finds out of the compiler the next knows."""
        folder = os.path.join(self.top, name)
        os.mkdir(folder)
        status, output = self.run(os.path.join(SRC, "configure"), option, *LEAN,
                                  "--cache-file=" + os.path.join(self.top, "cache"),
                                  cwd=folder)
        return status, output, folder

    def flags(self, folder):
        """Those of CUDA that clients of the configured folder get."""
        status, output = self.run("make", "-s", "pkgconfig/real/orrery.pc", cwd=folder)
        if status:
            return [output]
        with open(os.path.join(folder, "pkgconfig/real/orrery.pc"), encoding="utf-8") as f:
            words = re.search(r"^Cflags: (.*)$", f.read(), re.M).group(1).split()
        return [word for word in words if re.search("CU|NVML|toolkit", word)]

    def serves(self, claim, words, flags, *more):
        """A client compiles with these flags, and says the words."""
        if self.is_instrumented:
            return
        program = os.path.join(self.top, "client")
        status, output = self.run("gcc", "-Wall", "-Werror", "-Wno-unused-function", *flags,
                                  "-I" + os.path.join(SRC, "include"), CLIENT, *more,
                                  "-L" + os.path.join(BUILD, ".libs"), "-lorrery",
                                  "-o", program)
        if status == 0:
            status, output = self.run(program)
        self.verdict(claim, status == 0 and words in output, output)

    def check_without(self):
        status, output, folder = self.configure("without", "--without-cuda")
        if not self.verdict("--without-cuda configures", status == 0 and
                            "headers of CUDA: no" in output, output):
            return
        self.verdict("clients then get no flag of CUDA's", self.flags(folder) == [],
                     self.flags(folder))
        self.serves("a client without CUDA's headers runs, also where there are devices",
                    "without CUDA: 10 of 10", [])

    def check_with(self):
        place = os.path.join(self.top, "toolkit")
        shutil.copytree(HEADERS, os.path.join(place, "include"))
        status, output, folder = self.configure("with", "--with-cuda=" + place)
        if not self.verdict("--with-cuda=DIR finds the headers there", status == 0 and
                            "headers of CUDA: yes" in output, output):
            return
        flags = self.flags(folder)
        wanted = ["-DSTARPU_USE_CUDA=1", "-DSTARPU_HAVE_CUDA=1",
                  "-DSTARPU_HAVE_CUDA_MEMCPY_PEER=1", "-I%s/include" % place] + [
            "-DSTARPU_HAVE_%s=1" % name
            for name in ("LIBCUBLASLT", "LIBCUSPARSE", "LIBCUSOLVER", "NVML_H")]
        self.verdict("clients get its flags, and those of its libraries",
                     sorted(flags) == sorted(wanted), flags)
        if os.path.exists(os.path.join(STANDIN, "libcuda-standin.so")):
            self.serves("a client with a kernel runs on the device",
                        "with CUDA: 10 of 10", flags, "-L" + STANDIN, "-lcuda-standin")

    def refuses(self, claim, option, words):
        status, output, _ = self.configure("refused-%d" % len(os.listdir(self.top)), option)
        self.verdict(claim, status != 0 and all(word in output for word in words), output)

    def check_refused(self):
        self.refuses("a DIR without the headers is refused", "--with-cuda=/nowhere",
                     ["no cuda.h and cuda_runtime.h in include/ of: /nowhere", "--with-cuda=DIR"])
        self.refuses("a relative DIR is refused", "--with-cuda=cuda",
                     ["--with-cuda=cuda: expected the absolute path"])


def check_library(suite):
    """One binary for machines with a driver and without."""
    status, output = suite.run("readelf", "-d", os.path.join(BUILD, ".libs", "liborrery.so"))
    needs = re.findall(r"NEEDED.*\[(.*)\]", output)
    suite.verdict("the library starts without anything of CUDA's", status == 0 and needs and
                  not re.search("cuda|cudart|cublas|nvidia", " ".join(needs)), needs)


def check_structs(suite):
    """Where CUDA's own headers are, our structs are laid out as theirs."""
    place = next((place for place in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda")
                  if os.path.exists(os.path.join(place, "include", "cuda.h"))), None)
    if not place:
        return
    ends = [(ours, theirs) for ours, theirs in (
        ("x", "XInBytes"), ("y", "Y"), ("z", "Z"), ("level", "LOD"), ("type", "MemoryType"),
        ("host", "Host"), ("device", "Device"), ("array", "Array"), ("pitch", "Pitch"),
        ("height", "Height"))]
    same = [("cuda_box", kind, end + "." + ours, side + theirs)
            for kind in ("CUDA_MEMCPY3D", "CUDA_MEMCPY3D_PEER")
            for end, side in (("from", "src"), ("to", "dst")) for ours, theirs in ends]
    same += [("cuda_box", "CUDA_MEMCPY3D_PEER", end + ".context", side + "Context")
             for end, side in (("from", "src"), ("to", "dst"))]
    same += [("cuda_box", "CUDA_MEMCPY3D", ours, theirs) for ours, theirs in (
        ("bytes", "WidthInBytes"), ("rows", "Height"), ("planes", "Depth"))]
    same += [("cuda_rectangle", "CUDA_MEMCPY2D", ours, theirs) for ours, theirs in (
        ("from_x", "srcXInBytes"), ("from_type", "srcMemoryType"), ("from_host", "srcHost"),
        ("from_device", "srcDevice"), ("from_pitch", "srcPitch"), ("to_type", "dstMemoryType"),
        ("to_host", "dstHost"), ("to_device", "dstDevice"), ("to_pitch", "dstPitch"),
        ("bytes", "WidthInBytes"), ("rows", "Height"))]
    source = os.path.join(suite.top, "structs.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("#include <cuda.h>\n#include <stddef.h>\n"
                "#define CUDA_SUCCESS OURS_SUCCESS\n#include \"real/cuda.h\"\n" + "".join(
                    "_Static_assert(offsetof(struct %s, %s) == offsetof(%s, %s) && "
                    "sizeof(struct %s) == sizeof(%s), \"%s\");\n"
                    % (ours, field, theirs, name, ours, theirs, name)
                    for ours, theirs, field, name in same))
    status, output = suite.run(
        "gcc", "-std=gnu11", "-fsyntax-only", "-I" + os.path.join(SRC, "src"),
        "-iquote", os.path.join(SRC, "src", "real"), "-I" + os.path.join(SRC, "include"),
        "-isystem", os.path.join(place, "include"), source)
    suite.verdict("structs of copies are laid out as in CUDA's headers", status == 0, output)


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-cuda-") as top:
        suite = Suite(top)
        suite.check_without()
        suite.check_with()
        suite.check_refused()
        check_library(suite)
        check_structs(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
