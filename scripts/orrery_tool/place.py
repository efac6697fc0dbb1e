# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Where we are: flags and files of a build tree or of an installed prefix."""
import difflib
import glob
import os
import re
import shlex

from orrery_tool.words import Refusal, near_file


class Place:
    """Flags and files of a build tree or of an installed prefix."""

    def __init__(self, directory):
        """directory: that of the command."""
        top = os.path.dirname(directory)
        self.conf = {}
        self.bin = directory
        if os.path.exists(os.path.join(top, "configure.ac")):
            self.share = top
            self.build = self.find_build(top)
            self.include = os.path.join(top, "include")
            self.libdir = os.path.join(self.build, ".libs") if self.build else None
            self.modules = os.path.join(self.build or "", "fortran")
        else:
            self.share = os.path.join(top, "share", "orrery")
            self.build = None
            self.include = os.path.join(top, "include", "starpu", "1.4")
            self.modules = self.include
            found = glob.glob(os.path.join(top, "lib*", "liborrery.so")) + \
                glob.glob(os.path.join(top, "lib", "*", "liborrery.so"))
            self.libdir = os.path.dirname(found[0]) if found else None

    def find_build(self, top):
        for build in (os.environ.get("ORRERY_BUILD"), os.getcwd(),
                      os.path.join(top, "build"), top):
            if build and os.path.exists(os.path.join(build, "build.conf")):
                self.conf = read_conf(os.path.join(build, "build.conf"))
                if os.path.realpath(self.conf.get("srcdir", "")) == top:
                    return os.path.abspath(build)
        return None

    def version(self):
        name, pattern = os.path.join(self.share, "configure.ac"), r"AC_INIT\(\[\w+\], \[([^]]+)"
        if not os.path.exists(name):
            name, pattern = os.path.join(self.libdir or "", "pkgconfig", "orrery.pc"), r"Version: (.*)"
        try:
            with open(name, encoding="utf-8") as f:
                match = re.search(pattern, f.read())
        except OSError:
            match = None
        return match.group(1) if match else "(unknown)"

    def cuda_flags(self):
        """What programs of the real flavour are compiled with where CUDA's headers are."""
        path = (os.path.join(self.build, "pkgconfig", "real") if self.build else
                os.path.join(self.libdir or "", "pkgconfig"))
        try:
            with open(os.path.join(path, "orrery.pc"), encoding="utf-8") as f:
                words = re.search(r"^Cflags: (.*)$", f.read(), re.M).group(1).split()
        except (OSError, AttributeError):
            return []
        wanted = re.compile(r"-DSTARPU_(USE_CUDA|HAVE_(CUDA|CUDA_MEMCPY_PEER|LIBCU\w+|NVML_H))=1"
                            r"|-I\S*cuda\S*/include")
        return [word for word in words if wanted.fullmatch(word)]

    def instrument_flags(self):
        """What a build with sanitizers gives programs: the sanitizer must be linked with them."""
        return shlex.split(self.conf.get("instrument", "")) if self.build else []

    def library(self, name):
        path = self.libdir and os.path.join(self.libdir, name + ".so")
        return path if path and os.path.exists(path) else None

    def program(self, name):
        """A program of ours that is not a script; None: it was not built."""
        path = os.path.join(self.build or self.bin, name)
        return path if os.access(path, os.X_OK) else None

    def helper(self, name):
        """A program that users do not start themselves; None: it was not built."""
        top = os.path.dirname(self.bin)
        paths = [os.path.join(self.build, "bench", name)] if self.build else \
            glob.glob(os.path.join(top, "lib*", "orrery", name)) + \
            glob.glob(os.path.join(top, "lib", "*", "orrery", name))
        return next((path for path in paths if os.access(path, os.X_OK)), None)

    def platform(self, name):
        """A platform file: a path, the name of one that is shipped, or what is made of a
        description or a ready machine."""
        for shipped in (name, name + ".xml"):
            path = os.path.join(self.share, "platforms", "xml", shipped)
            if "/" not in name and os.path.exists(path) and not os.path.exists(name):
                return path
        # Most of the command's modules, which a shipped platform does not need.
        from orrery_tool.platform_command import from_place
        from orrery_tool.platform_describe import Library
        made = from_place(self.share, name)
        if made or os.path.exists(name):
            return made or name
        shipped = sorted(os.path.basename(path)[:-4] for path in glob.glob(
            os.path.join(self.share, "platforms", "xml", "*.xml")))
        names = sorted(set(shipped + Library(self.share).ready()))
        near = difflib.get_close_matches(name.partition(":")[0], names, 1)
        raise Refusal("platform file %s does not exist; give the path of a SimGrid "
                      "platform or of a description, or one of the shipped names (%s)%s"
                      % (name, ", ".join(names),
                         near_file(name) or ("; did you mean %s?" % near[0] if near else "")))


def read_conf(path):
    with open(path, encoding="utf-8") as f:
        return dict(line.strip().partition("=")[::2] for line in f if "=" in line)
