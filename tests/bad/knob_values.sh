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
# shellcheck disable=SC2086 # One argument each.
exec "$build/tests/bad/knob_values" $names
