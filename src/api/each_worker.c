/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* One call on each worker, and what programs do with it. */
#include <stdlib.h>

#include "api/api.h"
#include "base/check.h"
#include "core/task/task.h"

struct call {
	void (*func)(void *);
	void *arg;
};

static void make_call(void *buffers[], void *arg)
{
	const struct call *call = arg;

	(void)buffers;
	call->func(call->arg);
}

/* Its own codelet, so that nothing shared is written. */
static struct starpu_codelet *new_codelet(const char *name)
{
	struct starpu_codelet *cl = orr_alloc(sizeof(*cl));

	cl->cpu_funcs[0] = make_call;
	cl->cuda_funcs[0] = make_call;
	cl->model = &starpu_perfmodel_nop;
	cl->flags = STARPU_CODELET_SIMGRID_EXECUTE;
	cl->name = name;
	return cl;
}

void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where,
				      const char *name)
{
	struct node *node = api_blocking_node(__func__);
	struct starpu_codelet *cl = new_codelet(name);
	struct starpu_task **tasks =
		orr_alloc((size_t)node->nworkers * sizeof(struct starpu_task *));
	struct call call = {func, arg};
	int ntasks = 0;

	for (int i = 0; i < node->nworkers; i++) {
		struct starpu_task *task;

		if (!(where & STARPU_WORKER_TO_MASK(node->workers[i].type)))
			continue;
		task = task_create(node);
		task->cl = cl;
		task->cl_arg = &call;
		task->cl_arg_size = sizeof(call);
		task->detach = 0;
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)i;
		task_submit(node, task);
		tasks[ntasks++] = task;
	}
	while (ntasks > 0)
		task_wait(node, tasks[--ntasks]);
	free(tasks);
	free(cl);
}

void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where)
{
	starpu_execute_on_each_worker_ex(func, arg, where, "execute_on_all_wrapper");
}
