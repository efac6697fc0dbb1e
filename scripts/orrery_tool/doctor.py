# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery doctor."""
import ctypes
import glob
import os
import re
import resource
import shutil
import subprocess

from orrery_tool.limits import BASE_MAPS, MIN_OPEN_FILES, STACK_MAPS
from orrery_tool.memory import memory_left
from orrery_tool.words import MIB, REFUSED, free_bytes, read_number

USAGE = """usage: orrery doctor

Prints each prerequisite, and the remedy where one is missing.  Exits 1 then."""


def version_of(command, pattern=r"(\d+\.\d[\w.]*)"):
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, out.stdout + out.stderr)
    return match.group(1) if match and out.returncode == 0 else None


def gpus():
    """What CUDA's driver says; none is no fault."""
    name = os.environ.get("ORRERY_CUDA_LIBRARY") or "libcuda.so.1"
    count, version = ctypes.c_int(), ctypes.c_int()
    try:
        cuda = ctypes.CDLL(name)
        status = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
        cuda.cuDriverGetVersion(ctypes.byref(version))
    except OSError as error:
        return "no driver of CUDA (%s): workers are cores" % (
            name if not os.path.exists(name) else error)
    except AttributeError:
        return "%s lacks functions of a driver of CUDA: it is another library, or damaged: " \
            "workers are cores" % name
    if status or not count.value:
        return "the driver of CUDA finds no device (%d): workers are cores" % status
    found = [describe_gpu(cuda, i) for i in range(count.value)]
    return "%d: %s; driver of CUDA %d.%d; %s" % (
        count.value, ", ".join(found), version.value // 1000, version.value % 1000 // 10,
        cuda_libraries())


def describe_gpu(cuda, ordinal):
    """"NVIDIA H100 80GB HBM3 (79.1 GiB)", or CUDA's number of what is wrong."""
    device, text, total = ctypes.c_int(), ctypes.create_string_buffer(64), ctypes.c_size_t()
    status = cuda.cuDeviceGet(ctypes.byref(device), ordinal) or \
        cuda.cuDeviceGetName(text, 64, device) or \
        cuda.cuDeviceTotalMem_v2(ctypes.byref(total), device)
    return "CUDA's error %d" % status if status else "%s (%.1f GiB)" % (
        text.value.decode(errors="replace"), total.value / (1 << 30))


def cuda_libraries():
    """Those that programs get which are not linked with them."""
    found = []
    for name in ("cublas", "cusolver", "cusparse"):
        for release in range(14, 9, -1):
            try:
                ctypes.CDLL("lib%s.so.%d" % (name, release))
            except OSError:
                continue
            found.append("%s %d" % (name, release))
            break
    return "libraries: " + (", ".join(found) or "none where the system looks for them")


def ucx(library):
    """What UCX says, where the library can use it; none is no fault."""
    name = os.environ.get("ORRERY_UCX_LIBRARY") or "libucp.so.0"
    with open(library, "rb") as f:
        if b"ucp_am_send_nbx" not in f.read():
            return "built without (Debian: libucx-dev): ranks use transport mpi"
    try:
        version = ctypes.CDLL(name).ucp_get_version_string
    except (OSError, AttributeError):
        return "none (%s, Debian: libucx0): ranks use transport mpi" % name
    version.restype = ctypes.c_char_p
    return "%s, for \"orrery run --transport ucx\"" % version().decode(errors="replace")


def diagnose(place):
    """(what, value or None when missing, remedy)"""
    for tool, package in (("mpicc", "libopenmpi-dev"), ("mpirun", "openmpi-bin"),
                          ("smpicc", "libsimgrid-dev"), ("smpirun", "libsimgrid-dev"),
                          ("readelf", "binutils")):
        yield tool, shutil.which(tool), "apt-get install " + package
    for what, package in (("hwloc", "libhwloc-dev"), ("simgrid", "libsimgrid-dev")):
        yield (what, version_of(["pkg-config", "--modversion", what]),
               "apt-get install pkgconf " + package)
    for library, option in (("liborrery", ""), ("liborrery-sim", " (without --without-sim)")):
        yield library, place.library(library), "build and install Orrery" + option
    yield "orrery-map", place.program("orrery-map"), "build and install Orrery"
    platforms = glob.glob(os.path.join(place.share, "platforms", "xml", "*.xml"))
    yield ("platforms", platforms and "%d in %s" % (len(platforms),
           os.path.dirname(platforms[0])), "reinstall Orrery")
    yield "GPUs", gpus(), ""
    if place.library("liborrery"):
        yield "UCX", ucx(place.library("liborrery")), ""
    maps = read_number("/proc/sys/vm/max_map_count", 65530)
    ranks = (maps - BASE_MAPS) // (2 + STACK_MAPS)
    yield ("vm.max_map_count", ranks >= 1024 and "%d, up to %d simulated ranks" % (maps, ranks),
           "sysctl -w vm.max_map_count=262144")
    memory = memory_left()
    yield ("memory", memory >= 2 << 30 and "%.1f GiB available" % (memory / (1 << 30)),
           "free at least 2 GiB")
    shm = free_bytes("/dev/shm")
    yield ("/dev/shm", shm >= 64 * MIB and "%.1f GiB free" % (shm / (1 << 30)),
           "mount -o remount,size=1G /dev/shm")
    overcommit = read_number("/proc/sys/vm/overcommit_memory", 0)
    yield ("overcommit", overcommit != 2 and "vm.overcommit_memory is %d" % overcommit,
           "sysctl -w vm.overcommit_memory=0")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    yield ("open files", (files < 0 or files >= MIN_OPEN_FILES) and "at most %d" % files,
           "ulimit -n 1024")


def command_doctor(place, argv):
    if argv:
        print(USAGE)
        return 0 if argv[0] in ("-h", "--help") else REFUSED
    nmissing = 0
    for what, value, remedy in diagnose(place):
        nmissing += not value
        print("%-18s %-8s %s" % (what, "ok" if value else "missing", value or remedy))
    print("everything is there" if not nmissing else "%d missing" % nmissing)
    return 1 if nmissing else 0
