/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_NEARNESS_H
#define ORR_CORE_DATA_NEARNESS_H

/*
 * nearness.h - how far the values that a job reads are from a memory: what schedulers
 * ask.  Looks at data without their locks, so an answer is a guess while values move.
 */
#include "core/data/data.h"

/* For each memory of a set: bytes that would have to move for job to run there, in
 * expected seconds; not what is on its way there or was promised to tasks that come
 * before. */
void nearness_expected_s(struct job *job, uint64_t memories,
			 double seconds[NODE_MAX_MEMORIES]);
/* Bytes of its values that are neither in memory nor on their way there; any thread, a
 * guess while they move. */
size_t nearness_lacks_bytes(const struct job *job, unsigned memory);
/* The job is going to run in memory: its data will come there. */
void nearness_promise(struct job *job, unsigned memory);
/* Expected seconds until the datum's value is in memory for an access in mode. */
double nearness_datum_s(starpu_data_handle_t handle, unsigned memory, unsigned mode);

#endif
