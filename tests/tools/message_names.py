#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Messages that name a variable name one that exists: each word STARPU_* or ORRERY_* in a
sentence of src/ or of the launcher is a row of doc/knobs.md, or a name of the headers."""
import os
import re
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LITERAL = r'"((?:\\.|[^"\\\n])*)"'
OF_OTHERS = {"ORRERY_BUILD"} # the launcher's own, README.md


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def files(directory, suffixes):
    for where, _, names in sorted(os.walk(os.path.join(SRC, directory))):
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.join(where, name)


def sentences(text):
    """Strings with a blank; those that stand side by side are one."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for match in re.finditer(LITERAL + r"(?:\s*" + LITERAL + ")*", text):
        sentence = "".join(re.findall(LITERAL, match.group(0)))
        if " " in sentence:
            yield sentence


def main():
    known = set(re.findall(r"^\| ([A-Z_0-9]+) \|", read(os.path.join(SRC, "doc/knobs.md")), re.M))
    nknobs = len(known)
    for path in files("include", ".h"):
        known.update(re.findall(r"\b(?:STARPU|ORRERY)_\w+", read(path)))
    known |= OF_OTHERS
    unknown, nnames = [], 0
    for path in list(files("src", (".c", ".cpp"))) + list(files("scripts/orrery_tool", ".py")):
        for sentence in sentences(read(path)):
            for name in re.findall(r"\b(?:STARPU|ORRERY)_[A-Z0-9_]*[A-Z0-9]\b(?!\*)", sentence):
                nnames += 1
                if name not in known:
                    unknown.append("%s: %s" % (os.path.relpath(path, SRC), name))
    good = not unknown and nknobs > 50 and nnames > 30
    print("PASS messages_name_existing_variables" if good else
          "FAIL messages_name_existing_variables: %d knobs, %d names, unknown: %s"
          % (nknobs, nnames, unknown))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
