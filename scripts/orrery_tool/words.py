# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What all parts of the tool say and use."""
import argparse
import difflib
import os
import re

MIB = 1 << 20
REFUSED = 2                # exit status of every refusal


class Refusal(Exception):
    """One sentence for the user: what was found, what to do."""


def unknown_option(message):
    """Of argparse's message about one, or ""."""
    found = re.match("unrecognized arguments: (-[^ =]*)", message)
    return found.group(1) if found else ""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One sentence; argparse would print the usage before it."""
        option = unknown_option(message)
        near = difflib.get_close_matches("--" + option.lstrip("-"), self._option_string_actions,
                                         1, 0.75)
        if option and near:
            raise Refusal("%s has no option %s: did you mean %s? \"%s --help\" lists all"
                          % (self.prog, option, near[0], self.prog))
        raise Refusal("%s: %s; see \"%s --help\"" % (self.prog.removeprefix("orrery "), message,
                                                        self.prog))


def near_file(name):
    """"; did you mean NAME.toml?" of a description or platform that is there under another ending, or ""."""
    stem = re.sub(r"\.(toml|xml)$", "", name)
    near = [stem + end for end in (".toml", ".xml") if os.path.isfile(stem + end)]
    return "; did you mean %s?" % " or ".join(near) if near else ""


def read_number(path, default):
    try:
        with open(path, encoding="ascii") as f:
            return int(f.read())
    except (OSError, ValueError):
        return default


def meminfo_bytes(name):
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return 0


def free_bytes(directory):
    try:
        stat = os.statvfs(directory)
        return stat.f_bavail * stat.f_frsize if os.access(directory, os.W_OK) else 0
    except OSError:
        return 0


def write_text(path, text):
    """A file that is replaced as a whole."""
    beside = "%s.new-%d" % (path, os.getpid())
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            beside = path
        with open(beside, "w", encoding="utf-8") as f:
            f.write(text)
        if beside != path:
            os.replace(beside, path)
    except OSError as error:
        if beside != path and os.path.exists(beside):
            os.remove(beside)
        raise Refusal("%s cannot be written: %s" % (path, error.strerror)) from None
