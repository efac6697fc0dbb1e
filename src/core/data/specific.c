/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/specific.h"

#include "base/check.h"
#include "core/data/copies.h"
#include "core/task/job.h"
#include "core/task/task.h"

static void refuse(const struct job *job, int i, int wish) __attribute__((noreturn));

static void refuse(const struct job *job, int i, int wish)
{
	orr_die(job->node->rank,
		"task \"%s\": %s wants buffer %d in memory node %d; expected "
		"STARPU_SPECIFIC_NODE_* or one of the %d memory nodes that is no disk, "
		"see nodes[] of struct starpu_codelet",
		task_name(job->task), job->task->specific_nodes ? "it" : "its codelet", i,
		wish, node_nmemories(job->node));
}

/* In the worker's memory if the value is there, else in main memory if it has one. */
static unsigned local_or_cpu(const struct access *access, unsigned memory)
{
	uint64_t valid = data_glance(&data_body(access->datum)->valid);

	if (!(access->mode & STARPU_R) || !valid || (valid & memory_bit(memory)))
		return memory;
	return data_haven(access->datum);
}

unsigned specific_memory(const struct job *job, int i, unsigned memory)
{
	const struct access *access = &job->accesses[i];
	const struct starpu_task *task = job->task;
	int is_own = task->specific_nodes != 0, wish;

	if (i >= STARPU_NMAXBUFS && !(is_own ? task->dyn_nodes : task->cl->dyn_nodes))
		return memory;
	wish = STARPU_TASK_GET_NODE(task, i);
	/* A contribution is its worker's own. */
	if (access->mode & STARPU_REDUX)
		return memory;
	switch (wish) {
	case STARPU_SPECIFIC_NODE_LOCAL:
	case STARPU_SPECIFIC_NODE_SLOW: /* No worker has two memories of its own. */
	case STARPU_SPECIFIC_NODE_FAST:
		return memory;
	case STARPU_SPECIFIC_NODE_CPU:
		return data_haven(access->datum);
	case STARPU_SPECIFIC_NODE_LOCAL_OR_CPU:
		return local_or_cpu(access, memory);
	case STARPU_SPECIFIC_NODE_NONE:
		return SPECIFIC_NOWHERE;
	default:
		if (wish < 0 || wish >= node_nmemories(job->node) ||
		    job->node->memories[wish].kind == STARPU_DISK_RAM)
			refuse(job, i, wish);
		return (unsigned)wish;
	}
}
