/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_SPECIFIC_H
#define ORR_CORE_DATA_SPECIFIC_H

/*
 * specific.h - buffers that a task or its codelet wants in other memories than the
 * worker's: specific_nodes and nodes[].
 */
#include <limits.h>

#include "core/data/data.h"
#include "core/task/job.h"

/* In access->memory: nowhere, and the value stays where it is. */
enum { SPECIFIC_NOWHERE = UCHAR_MAX };

static inline int specific_is(const struct job *job)
{
	return job->is_specific;
}

/*
 * Where the job's i-th buffer is to be while a worker with that memory runs it, or
 * SPECIFIC_NOWHERE.  Ends the program when they say nonsense.  Of those that are
 * wherever the value is the answer is a guess while it moves.
 */
unsigned specific_memory(const struct job *job, int i, unsigned memory);

#endif
