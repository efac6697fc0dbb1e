#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
#
# Absurd values of each variable of the manual: see knob_values.c.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${ORRERY_BUILD:-$top/build}
names=$(sed -n 's/^| \([A-Z][A-Z_]*\) |.*/\1/p' "$top/doc/knobs.md")
if [ -z "$names" ]; then
	echo "FAIL absurd values: doc/knobs.md names no variable"
	exit 1
fi
# Some values name files and directories: those are left here, and nowhere else.
roots() {
	find / -maxdepth 1 \( -name '*.events' -o -name '.starpu' -o -name 'prof_file*' \) | sort
}
before=$(roots)
here=$(mktemp -d "${TMPDIR:-/tmp}/orrery-knobs-XXXXXX") && cd "$here" || exit 1
# shellcheck disable=SC2086 # One argument each.
"$build/tests/bad/knob_values" $names
status=$?
cd / && rm -rf "$here"
if [ "$(roots)" = "$before" ]; then
	echo "PASS nothing is left in the root of the file system"
else
	echo "FAIL nothing is left in the root of the file system: $(roots)"
	status=1
fi
exit "$status"
