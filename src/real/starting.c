/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/decimal.h"
#include "base/knobs.h"
#include "real/real.h"

/*
 * starting.c - says that this rank has waited for long in MPI_Init(), which returns when
 * all have called it that the launcher has started.
 *
 * That is where a rank of a master and its slaves (STARPU_NMPI_MS) waits when others do
 * not know that they are such: these never call it.  Each that waits says so, so that
 * who says nothing has not come.  Ranks may be late, for whatever they do before, and
 * many of them may take long to meet: it only says so, and later where no master and
 * slaves are asked for.
 */
enum { PATIENCE = 12, LOOKS_PER_LIMIT = 4, USUAL_S = 5 /* without ORRERY_WATCHDOG */ };

/* Without a launcher there is nobody to wait for. */
static int has_launcher(void)
{
	const char *text = knobs_raw("OMPI_COMM_WORLD_SIZE");

	if (!text)
		text = knobs_raw("SLURM_NTASKS");
	return text && atoi(text) > 1;
}

static int has_slaves(void)
{
	const char *text = knobs_raw("STARPU_NMPI_MS");

	return text && atoi(text) > 0;
}

static void tell(double for_s)
{
	orr_complain(
		peers_own_rank(),
		"has waited for %.3g s in MPI_Init(): all ranks that were started must "
		"call it, and those that say nothing here have not%s; the run goes on",
		for_s,
		has_slaves() ? ".  STARPU_NMPI_MS is set on this rank, so that "
			       "starpu_init() calls it: it must be set alike for all "
			       "(\"mpirun -x STARPU_NMPI_MS\" gives it to all hosts)"
			     : "");
}

static void *watch(void *arg)
{
	struct starting *starting = arg;
	double limit_s = starting->limit_s, waited_s = 0,
	       period_s = limit_s / LOOKS_PER_LIMIT;

	/* Looks count, not time: this process may be stopped meanwhile. */
	while (!orr_load(&starting->is_over)) {
		real_futex_wait(&starting->is_over, 0, period_s);
		waited_s += period_s;
		if (waited_s < limit_s || orr_load(&starting->is_over))
			continue;
		tell(waited_s);
		limit_s *= PATIENCE;
		period_s = limit_s / LOOKS_PER_LIMIT;
	}
	return NULL;
}

void starting_begin(void)
{
	struct starting *starting = &real_get()->starting;
	const char *limit = knobs_raw("ORRERY_WATCHDOG");

	/* Whoever initialises the library reads it, and what is wrong with it is told. */
	starting->limit_s = limit ? decimal_read(limit, NULL) : USUAL_S;
	if (!has_launcher() || starting->limit_s <= 0)
		return;
	if (starting->limit_s < PEERS_SILENCE_S)
		starting->limit_s = PEERS_SILENCE_S;
	if (!has_slaves())
		starting->limit_s *= PATIENCE;
	orr_store(&starting->is_over, 0);
	starting->has_thread =
		pthread_create(&starting->thread, NULL, watch, starting) == 0;
}

void starting_end(void)
{
	struct starting *starting = &real_get()->starting;

	if (!starting->has_thread)
		return;
	orr_store(&starting->is_over, 1);
	real_futex_wake(&starting->is_over, 1);
	pthread_join(starting->thread, NULL);
	starting->has_thread = 0;
}
