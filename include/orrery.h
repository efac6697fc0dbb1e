/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What Orrery offers beyond StarPU's interface.  A program that includes only
 * starpu.h and starpu_mpi.h compiles with StarPU too.
 */

#ifndef ORRERY_H
#define ORRERY_H

#ifdef __cplusplus
extern "C" {
#endif

#define ORRERY_VERSION_MAJOR 0
#define ORRERY_VERSION_MINOR 1
#define ORRERY_VERSION_PATCH 0
#define ORRERY_VERSION       "0.1.0"

/** 1 when this library simulates, 0 when it runs for real; any thread, any time. */
int orrery_is_simulated(void);

/**
 * Seconds on the clock of the run: virtual time in simulation, wall-clock time
 * otherwise.  The origin is the start of the run and all nodes of a simulation
 * share it.  Any thread, any time.
 */
double orrery_virtual_time(void);

/** Counts of one node since the last initialisation. */
struct orrery_stats {
	unsigned long tasks_submitted; /* to this node's runtime */
	unsigned long tasks_executed;  /* by this node's workers */
	unsigned long tasks_inserted;  /* calls, also those that concern other nodes */
	unsigned long messages_sent;   /* to other nodes */
	unsigned long long bytes_sent; /* payload of those messages */
	double makespan_s;             /* clock of the run since initialisation */
	double host_wall_s;            /* wall-clock time of the process */
	unsigned long long peak_memory_bytes; /* resident, of the process */
	unsigned long uncalibrated_tasks;     /* timed without a calibrated model */
	/* Messages above ORRERY_MPI_EAGER received into temporary memory, since somebody
	 * waited and their receive was not ready; and their payload. */
	unsigned long early_transfers;
	unsigned long long early_bytes;
};

/**
 * Fill *stats for the calling node.  In simulation all nodes live in one
 * process: host_wall_s and peak_memory_bytes are those of the whole run.
 *
 * @return 0; -EINVAL: stats is NULL; -ENODEV: not initialised
 */
int orrery_get_stats(struct orrery_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* ORRERY_H */
