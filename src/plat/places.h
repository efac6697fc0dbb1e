/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_PLACES_H
#define ORR_PLAT_PLACES_H

/*
 * places.h - which cores lie together, and how much of them the threads get: a part of
 * the contract that few ask for.
 */
#include "plat/plat.h"

enum plat_level {
	PLAT_MACHINE,
	PLAT_PACKAGE,
	PLAT_NUMA_NODE,
	PLAT_L3,
	PLAT_L2,
	PLAT_L1,
	PLAT_CORE,
	PLAT_PU,
	PLAT_NLEVELS
};

/* The object of the level in which the core of CPU worker i lies, by its number; -1: it
 * lies in none, or the machine does not tell. */
int plat_worker_place(struct plat *plat, int cpu_worker, enum plat_level level);

/* Seconds for which the thread of a worker, or for NULL the calling one, has run since it
 * began, and for which it could have run while its core ran others; or -ENODEV where
 * nothing counts them. */
int plat_kept_s(struct plat *plat, const struct worker *of, double *ran_s,
		double *kept_s);

/* Of a machine that tells no more than which main memory is near to a core. */
static inline int places_by_memory(struct plat *plat, int cpu_worker,
				   enum plat_level level)
{
	switch (level) {
	case PLAT_MACHINE:
		return 0;
	case PLAT_PACKAGE:
	case PLAT_NUMA_NODE:
		return (int)plat_worker_memory(plat, cpu_worker);
	case PLAT_CORE:
	case PLAT_PU:
		return cpu_worker;
	default:
		return -1;
	}
}

#endif
