/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Prints doc/knobs.md from the table of src/base/knobs.c: see scripts/make-knobs-manual.
 */
#include <stdio.h>

#include "base/environment.h"
#include "base/knobs.h"

static const char before[] =
	"# Environment variables\n"
	"\n"
	"`orrery help NAME` prints one row of this page, and names the nearest "
	"variable when there is none\n"
	"of that name. First steps: STARPU_NCPU and STARPU_NCUDA say how many "
	"workers there are,\n"
	"STARPU_SCHED which policy, ORRERY_WATCHDOG how long a run may stand "
	"still before it is told why,\n"
	"STARPU_SILENT=1 that there be no informative messages.\n"
	"\n"
	"- Variables are read at each initialisation, not later: a program may "
	"set them before\n"
	"  `starpu_init()`.\n"
	"- \"unset\" means that the library decides; -1 says so explicitly, and\n"
	"  leaves other variables of StarPU's that count from 0 at their default.\n"
	"- What is not a number, where one is expected, ends the program with "
	"a message that names the\n"
	"  variable.  A number out of range is replaced by the nearest one in "
	"range, with a message;\n"
	"  a switch (0 or 1) takes any larger number for 1.\n"
	"- Names that begin with STARPU_ mean what they mean in StarPU; those "
	"of ORRERY_ are ours.\n"
	"- `orrery run` sets ORRERY_TRANSPORT, ORRERY_EXECUTE, "
	"ORRERY_PROGRESS, ORRERY_TRACE and\n"
	"  ORRERY_EVENTS by its options.\n"
	"- Variables of StarPU's that nothing reads stand at the end, with the reason.\n"
	"\n"
	"Printed by `scripts/make-knobs-manual` from the table in "
	"`src/base/knobs.c`, which is the only\n"
	"place of the library that reads the environment.  Change a line "
	"there, then run the script.\n"
	"\n";

static const char between[] =
	"\n"
	"## Variables of StarPU's that nothing reads\n"
	"\n"
	"A star stands for all names that begin like this.  \"none needed\": what the "
	"variable asks\n"
	"for is always so, or concerns a part of StarPU's that has no counterpart.  "
	"\"none, said at\n"
	"start\": rank 0 says so once, unless it is 0 or STARPU_SILENT is 1; it also "
	"names every other\n"
	"variable that begins with STARPU_ or ORRERY_ and is none, with the nearest that "
	"is one.\n"
	"\n";

int main(void)
{
	fputs(before, stdout);
	knobs_print_manual(stdout);
	fputs(between, stdout);
	environment_print_manual(stdout);
	return fflush(stdout) ? 1 : 0;
}
