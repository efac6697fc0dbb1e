/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_CODELET_H
#define ORR_CORE_CODELET_H

/*
 * codelet.h - read a codelet.
 *
 * It belongs to the application, may lie in read-only memory, and several nodes may
 * share it: nothing here writes to it.  What is counted for it is kept by the workers.
 */
#include "core/worker.h"

/* STARPU_CPU | ...: what it says, or where it has an implementation. */
unsigned codelet_where(const struct starpu_codelet *cl);
/* The worker, which calls, has executed a task of cl; how many it has. */
void codelet_count(struct worker *worker, const struct starpu_codelet *cl);
unsigned long codelet_counted(struct worker *worker, const struct starpu_codelet *cl);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The i-th kernel, or NULL; the first may be in the deprecated field. */
static inline starpu_cpu_func_t codelet_cpu(const struct starpu_codelet *cl, unsigned i)
{
	if (i > 0 || cl->cpu_funcs[0] ||
	    cl->cpu_func == STARPU_MULTIPLE_CPU_IMPLEMENTATIONS)
		return cl->cpu_funcs[i];
	return cl->cpu_func;
}

static inline starpu_cuda_func_t codelet_cuda(const struct starpu_codelet *cl, unsigned i)
{
	if (i > 0 || cl->cuda_funcs[0] ||
	    cl->cuda_func == STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS)
		return cl->cuda_funcs[i];
	return cl->cuda_func;
}

#pragma GCC diagnostic pop

static inline unsigned task_where(const struct starpu_task *task)
{
	return task->where != -1 ? (unsigned)task->where : codelet_where(task->cl);
}

#endif
