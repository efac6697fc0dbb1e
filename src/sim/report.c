/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <unistd.h>

#include <simgrid/engine.h>

#include "core/stuck.h"
#include "sim.h"

enum { REPORT_RANKS = 20, EXIT_DEADLOCK = 3 };

void report_exit(int code)
{
	fflush(NULL);
	_exit(code);
}

static void say(void *arg, const char *line)
{
	struct plat *plat = arg;

	fprintf(stderr, "[orrery][rank %d]   %s\n", plat->node->rank, line);
}

static void describe(struct plat *plat)
{
	if (plat->gate)
		fprintf(stderr, "[orrery][rank %d] waits for:\n", plat->node->rank);
	else
		fprintf(stderr,
			"[orrery][rank %d] its main is blocked outside the library, for "
			"example in an MPI call of the program; the library waits for:\n",
			plat->node->rank);
	stuck_describe(plat->node, say, plat);
}

void report_deadlock(void)
{
	struct sim *sim = sim_get();
	int nshown = 0;

	if (sim->nplats == 0)
		return; /* Not ours: SimGrid says what it knows. */
	fflush(stdout);
	fprintf(stderr,
		"[orrery] simulation stopped at t=%.9g s: nothing can make progress; "
		"%d ranks wait:\n",
		simgrid_get_clock(), sim->nplats);
	for (struct plat *plat = sim->first; plat && nshown < REPORT_RANKS;
	     plat = plat->next, nshown++)
		describe(plat);
	if (nshown < sim->nplats)
		fprintf(stderr, "[orrery] and %d more\n", sim->nplats - nshown);
	report_exit(EXIT_DEADLOCK);
}
