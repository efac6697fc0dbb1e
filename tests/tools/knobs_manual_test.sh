#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
#
# doc/knobs.md is what the table of environment variables says now.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
claim=knobs_manual_is_up_to_date
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
if ! "$top/scripts/make-knobs-manual" "$fresh"; then
	echo "FAIL $claim: scripts/make-knobs-manual cannot print the manual"
	exit 1
fi
if ! cmp -s "$fresh" "$top/doc/knobs.md"; then
	diff "$top/doc/knobs.md" "$fresh"
	echo "FAIL $claim: doc/knobs.md is not what src/base/knobs.c says; run" \
		"scripts/make-knobs-manual"
	exit 1
fi
echo "PASS $claim"
