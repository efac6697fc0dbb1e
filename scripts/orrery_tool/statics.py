# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Variables of a program that all simulated ranks share.

G++ marks static variables of inline functions and of templates as unique in a process
(STB_GNU_UNIQUE), so that the loader gives all copies of the program the same one.  And with
sanitizers there is one copy of the program, and of each variable.
"""
import os
import re
import subprocess

SECTION = re.compile(r"^\s*\[\s*(\d+)\] (\.\S+)", re.M)
UNIQUE = re.compile(r"\bOBJECT\s+UNIQUE\s+\S+\s+(\d+)\s+(\S+)$", re.M)
ANY = re.compile(r"\s([1-9]\d*|0x[0-9a-f]+) OBJECT\s+(?:LOCAL|GLOBAL|WEAK)\s+\S+\s+(\d+)\s+(\S+)$", re.M)
# Guards of initialisation, and what belongs to the C++ library.
OF_TOOLS = re.compile(r"__|completed\.|.*@") # compilers, sanitizers and the C library
ALIEN = re.compile(r"_ZGV|_ZT[VIS]|_ZZ?NK?St|_ZZ?NK?9__gnu_cxx")


def tool_says(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True,
                              env=dict(os.environ, LC_ALL="C")).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def plain_name(name):
    return tool_says(["c++filt", name]).strip() or name


def written_sections(text):
    """Those that nobody writes to do no harm."""
    return {number for number, name in SECTION.findall(text)
            if re.match(r"\.(t?data|t?bss)(?!\.rel\.ro)", name)}


def shared_statics(app):
    """Their names."""
    if not app.uses("libstdc++"):
        return []
    text = tool_says(["readelf", "-SW", "--dyn-syms", app.path])
    written = written_sections(text)
    found = [name for number, name in UNIQUE.findall(text)
             if number in written and not ALIEN.match(name)]
    return [plain_name(found[0])] + found[1:] if found else []


def variables(app):
    """All that a program can write to, but for threads' own."""
    text = tool_says(["readelf", "-SW", "--syms", app.path])
    written = written_sections(text) - {number for number, name in SECTION.findall(text)
                                        if name.startswith(".t")}
    found = [name for _, number, name in ANY.findall(text) if number in written
             and not OF_TOOLS.match(name) and not ALIEN.match(name)]
    found = list(dict.fromkeys(found))
    return [plain_name(found[0])] + found[1:] if found else []


def listed(names):
    """The first, and how many more."""
    others = " and %d more variable%s" % (len(names) - 1, "s"[:len(names) > 2])
    return names[0] + (others if len(names) > 1 else "")


def statics_warning(app):
    """What to say of them, or ""."""
    names = shared_statics(app)
    if not names:
        return ""
    return ("all ranks share %s of %s, which g++ makes unique in a process; compile with "
            "-fno-gnu-unique, as \"orrery cc --sim\" does"
            % (listed(names), os.path.basename(app.path)))


def sanitized_warning(app):
    """The same where a sanitizer needs all ranks in one copy of the program."""
    names = variables(app)
    if not names:
        return ""
    return ("with a sanitizer all ranks share %s of %s, since it does not follow copies of a "
            "program: what one rank writes there others read; without a sanitizer each has its "
            "own (--no-privatize: not said)" % (listed(names), os.path.basename(app.path)))
