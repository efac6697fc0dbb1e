#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
#
# Compile each public header alone, twice in a row to try its guard, as C11 and
# as C++11, for the real and for the simulated flavour.  A warning is a failure.
# Then compile use.c, which uses the macros and the inline functions as clients
# do, and layout.c, which compares structures with the reference.
#
# Usage: check_headers.sh [INCLUDE_FOLDER]
# Environment: CC, CXX, MPICC (the wrapper that tells where mpi.h is).

CC=${CC:-gcc}
CXX=${CXX:-g++}
MPICC=${MPICC:-mpicc}
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
warn="-Wall -Wextra -pedantic -Werror -fsyntax-only"
passed=0
failed=0

# Folders of mpi.h as system folders: its warnings are not ours.
mpi_flags=
for word in $($MPICC --showme:compile 2>/dev/null || $MPICC -show 2>/dev/null); do
	case $word in
	-I*) mpi_flags="$mpi_flags -isystem ${word#-I}" ;;
	esac
done

# check NAME SOURCE COMMAND...
check()
{
	name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "PASS header: $name"
		passed=$((passed + 1))
	else
		echo "FAIL header: $name"
		sed 's/^/    /' "$tmp/log"
		failed=$((failed + 1))
	fi
}

# check_source NAME FILE.c: the four combinations for one source.
check_source()
{
	cp "$2" "$tmp/source.c"
	cp "$2" "$tmp/source.cc"
	for flavour in real sim; do
		define=
		[ $flavour = sim ] && define=-DSTARPU_SIMGRID
		check "$1 (C11, $flavour)" $CC -std=c11 $warn $define -I"$include" \
			$mpi_flags "$tmp/source.c"
		check "$1 (C++11, $flavour)" $CXX -std=c++11 $warn $define -I"$include" \
			$mpi_flags "$tmp/source.cc"
	done
}

for header in "$include"/*.h; do
	base=$(basename "$header")
	case $base in
	starpu_mpi*)
		if [ -z "$mpi_flags" ] && ! echo '#include <mpi.h>' |
			$CC -fsyntax-only -xc - 2>/dev/null; then
			echo "SKIP header: $base (no mpi.h)"
			continue
		fi
		;;
	esac
	printf '#include <%s>\n#include <%s>\nextern int unused;\n' "$base" "$base" \
		>"$tmp/alone.c"
	check_source "$base" "$tmp/alone.c"
done
check_source "use of macros" "$here/use.c"
check_source "layout of structures" "$here/layout.c"

echo "headers: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
