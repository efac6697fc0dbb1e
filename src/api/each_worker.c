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

/* Calls in flight; then all have ended. */
struct calls {
	struct node *node;
	struct starpu_codelet *cl;
	struct call call;
	int ntasks;
	struct starpu_task *tasks[STARPU_NMAXWORKERS];
};

static struct calls *begin_calls(const char *api_func, const struct call *call,
				 const char *name)
{
	struct calls *calls = orr_alloc(sizeof(*calls));

	calls->node = api_blocking_node(api_func);
	calls->cl = new_codelet(name);
	calls->call = *call;
	return calls;
}

static void call_on(struct calls *calls, int worker)
{
	struct starpu_task *task = task_create(calls->node);

	task->cl = calls->cl;
	task->cl_arg = &calls->call;
	task->cl_arg_size = sizeof(calls->call);
	task->detach = 0;
	task->execute_on_a_specific_worker = 1;
	task->workerid = (unsigned)worker;
	task_submit(calls->node, task);
	calls->tasks[calls->ntasks++] = task;
}

static void end_calls(struct calls *calls)
{
	while (calls->ntasks > 0)
		task_wait(calls->node, calls->tasks[--calls->ntasks]);
	free(calls->cl);
	free(calls);
}

void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where,
				      const char *name)
{
	struct calls *calls = begin_calls(__func__, &(struct call){func, arg}, name);

	for (int i = 0; i < calls->node->nworkers; i++)
		if (where & STARPU_WORKER_TO_MASK(calls->node->workers[i].type))
			call_on(calls, i);
	end_calls(calls);
}

/* Each once, however often it is named. */
void starpu_execute_on_specific_workers(void (*func)(void *), void *arg,
					unsigned num_workers, unsigned *workers,
					const char *name)
{
	struct calls *calls = begin_calls(__func__, &(struct call){func, arg}, name);
	unsigned n = (unsigned)calls->node->nworkers;
	char is_called[STARPU_NMAXWORKERS] = {0};

	for (unsigned i = 0; i < num_workers; i++) {
		if (workers[i] >= n)
			orr_die(calls->node->rank, "%s: worker %u; expected 0 to %u",
				__func__, workers[i], n - 1);
		if (!is_called[workers[i]]++)
			call_on(calls, (int)workers[i]);
	}
	end_calls(calls);
}

void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where)
{
	starpu_execute_on_each_worker_ex(func, arg, where, "execute_on_all_wrapper");
}
