# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Variables of a C++ program that all simulated ranks share.

G++ marks static variables of inline functions and of templates as unique in a process
(STB_GNU_UNIQUE), so that the loader gives all copies of the program the same one.
"""
import os
import re
import subprocess

SECTION = re.compile(r"^\s*\[\s*(\d+)\] (\.\S+)", re.M)
UNIQUE = re.compile(r"\bOBJECT\s+UNIQUE\s+\S+\s+(\d+)\s+(\S+)$", re.M)
# Guards of initialisation, and what belongs to the C++ library.
ALIEN = re.compile(r"_ZGV|_ZT[VIS]|_ZZ?NK?St|_ZZ?NK?9__gnu_cxx")


def tool_says(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True,
                              env=dict(os.environ, LC_ALL="C")).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def plain_name(name):
    return tool_says(["c++filt", name]).strip() or name


def shared_statics(app):
    """Their names; those that nobody writes to do no harm."""
    if not app.uses("libstdc++"):
        return []
    text = tool_says(["readelf", "-SW", "--dyn-syms", app.path])
    written = {number for number, name in SECTION.findall(text)
               if re.match(r"\.(t?data|t?bss)(?!\.rel\.ro)", name)}
    found = [name for number, name in UNIQUE.findall(text)
             if number in written and not ALIEN.match(name)]
    return [plain_name(found[0])] + found[1:] if found else []


def statics_warning(app):
    """What to say of them, or ""."""
    names = shared_statics(app)
    if not names:
        return ""
    others = " and %d more variable%s" % (len(names) - 1, "s"[:len(names) > 2])
    return ("all ranks share %s%s of %s, which g++ makes unique in a process; compile with "
            "-fno-gnu-unique, as \"orrery cc --sim\" does"
            % (names[0], others if len(names) > 1 else "", os.path.basename(app.path)))
