/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "core/choice.h"
#include "plat/places.h"
#include "sim.h"

/*
 * cores.c - on which of a node's cores the CPU workers are.
 *
 * The cores are those that run CPU workers, each with one hardware thread.  A worker is
 * on that with its number, unless the user names others: then it has the memory that is
 * near to these.  Threads are bound nowhere.
 */
static void add(void *at, int id)
{
	struct plat *plat = at;

	plat->cores = orr_realloc(plat->cores,
				  ((size_t)plat->ncores + 1) * sizeof(*plat->cores));
	plat->cores[plat->ncores++] = id;
}

void sim_cores_read(struct plat *plat)
{
	choice_cores(plat->node, plat->machine.devices[STARPU_CPU_WORKER].count,
		     &plat->sim->cores_told, add, plat);
}

void sim_cores_close(struct plat *plat)
{
	free(plat->cores);
	plat->cores = NULL;
	plat->ncores = 0;
}

static int core_of(const struct plat *plat, int cpu_worker)
{
	return plat->ncores ? plat->cores[cpu_worker % plat->ncores] : cpu_worker;
}

int plat_bind_thread(struct plat *plat, int core)
{
	(void)plat;
	return core >= PLAT_MAIN_CORE ? 0 : -1;
}

int plat_core_os_index(struct plat *plat, int core)
{
	(void)plat;
	return core;
}

int plat_worker_bindid(struct plat *plat, int cpu_worker)
{
	return plat->ncores ? core_of(plat, cpu_worker) : -1;
}

int plat_worker_place(struct plat *plat, int cpu_worker, enum plat_level level)
{
	int place = places_by_memory(plat, cpu_worker, level);

	return place == cpu_worker && (level == PLAT_CORE || level == PLAT_PU)
		       ? core_of(plat, cpu_worker)
		       : place;
}

/* Cores that follow each other are near to one memory. */
unsigned plat_worker_memory(struct plat *plat, int cpu_worker)
{
	int n = plat->machine.devices[STARPU_CPU_WORKER].count;

	if (n == 0)
		return STARPU_MAIN_RAM;
	return (unsigned)((long)(core_of(plat, cpu_worker) % n) * plat->machine.nnumas /
			  n);
}
