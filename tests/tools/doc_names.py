#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The documents name functions and files that exist.

In doc/ and the Markdown files at the top, `name()` must be called or defined somewhere in
the code; `name()` [file] in that file (below src/ or from the top); links and paths
in backquotes or brackets must lead to files.
"""
import glob
import os
import re
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CODE = ("src", "include", "examples", "tests", "bench")
FILE = r"[\w./-]+\.(?:c|h|cpp|py|am|ac|xml|txt|md)"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def code_words():
    words = set()
    for directory in CODE:
        for where, _, names in os.walk(os.path.join(SRC, directory)):
            for name in names:
                if re.search(r"\.(c|h|cpp)$", name):
                    words.update(re.findall(r"(\w+)\s*\(", read(os.path.join(where, name))))
    return words


def find(name):
    """The file of that name, from the top or below src/."""
    for directory in ("", "src"):
        path = os.path.join(SRC, directory, name)
        if os.path.exists(path):
            return path
    return None


def faults(path, words):
    text = read(path)
    for name in re.findall(r"`(\w+)\(\)`", text):
        if name not in words:
            yield "%s() is nowhere in the code" % name
    for name, place in re.findall(r"`(\w+)\(\)`\s+\[(%s)\]" % FILE, text):
        found = find(place)
        if not found:
            yield "%s does not exist" % place
        elif not re.search(r"\b%s\s*\(" % name, read(found)):
            yield "%s() is not in %s" % (name, place)
    for name in re.findall(r"`((?:src|include|examples|tests|bench|scripts|platforms|perfmodels"
                           r"|doc)/[\w./-]+)`", text):
        if not glob.glob(os.path.join(SRC, name)) and not glob.glob(
                os.path.join(SRC, name + ".*")):
            yield "%s does not exist" % name
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            yield "the link to %s leads nowhere" % link


def main():
    words, bad = code_words(), 0
    documents = glob.glob(os.path.join(SRC, "*.md")) + glob.glob(
        os.path.join(SRC, "doc", "**", "*.md"), recursive=True)
    for path in sorted(documents):
        name, found = os.path.relpath(path, SRC), sorted(set(faults(path, words)))
        print("FAIL %s_is_true: %s" % (name, "; ".join(found)) if found
              else "PASS %s_names_what_exists" % name)
        bad += bool(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
