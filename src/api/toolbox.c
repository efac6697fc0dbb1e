/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Queues in order of arrival or by priority, for policies of the application's. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <schedulers/starpu_scheduler_toolbox.h>

#include "api/api.h"
#include "api/toolbox.h"
#include "base/check.h"
#include "core/sched/tasks.h"
#include "core/worker.h"

/* ---- tasks for a worker ---------------------------------------------- */

int toolbox_can_run(int worker, struct starpu_task *task)
{
	unsigned nimpl;

	if (worker < 0)
		return 1;
	if (!starpu_worker_can_execute_task_first_impl((unsigned)worker, task, &nimpl))
		return 0;
	starpu_task_set_implementation(task, nimpl);
	return 1;
}

unsigned toolbox_kinds(void *arg)
{
	int worker = *(const int *)arg;
	const struct node *node = plat_self();

	return node && worker >= 0 && worker < node->nworkers
		       ? (unsigned)STARPU_WORKER_TO_MASK(node->workers[worker].type)
		       : TASKS_OF_ALL;
}

struct readiest {
	unsigned worker;
	struct starpu_task *first, *best;
	size_t bytes; /* that the best one needs */
};

/* 1: no other can be better. */
static int look_at(struct starpu_task *task, void *arg)
{
	struct readiest *r = arg;
	size_t bytes, other;

	if (r->first && task->priority != r->first->priority)
		return 1;
	if (!toolbox_can_run((int)r->worker, task))
		return 0;
	starpu_st_non_ready_buffers_size(task, r->worker, &bytes, &other, &other);
	if (!r->first)
		r->first = task;
	if (!r->best || bytes < r->bytes) {
		r->best = task;
		r->bytes = bytes;
	}
	return bytes == 0;
}

struct starpu_task *toolbox_readiest(const struct tasks *tasks, unsigned worker)
{
	struct readiest r = {.worker = worker};

	tasks_find(tasks, 0, look_at, NULL, &r);
	return r.best;
}

/* ---- queues ---------------------------------------------------------- */

void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo)
{
	api_given(__func__, "fifo", fifo);
	*fifo = (struct starpu_st_fifo_taskq){.exp_start = starpu_timing_now()};
	fifo->tasks = orr_alloc(sizeof(struct tasks));
	fifo->exp_end = fifo->exp_start;
	fifo->exp_len_per_priority = orr_alloc(STARPU_ST_NPRIORITIES * sizeof(double));
	fifo->ntasks_per_priority = orr_alloc(STARPU_ST_NPRIORITIES * sizeof(unsigned));
}

starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void)
{
	starpu_st_fifo_taskq_t fifo = orr_alloc(sizeof(*fifo));

	starpu_st_fifo_taskq_init(fifo);
	return fifo;
}

void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo)
{
	api_given(__func__, "fifo", fifo);
	tasks_free(fifo->tasks);
	free(fifo->tasks);
	free(fifo->exp_len_per_priority);
	free(fifo->ntasks_per_priority);
	free(fifo);
}

int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo)
{
	const struct tasks *tasks = fifo->tasks;

	return orr_load(&tasks->ntasks) == 0;
}

struct before {
	const struct starpu_task *task;
	int worker, nimpl, n;
	double us;
};

static int count_before(struct starpu_task *task, void *arg)
{
	struct before *before = arg;
	double us;

	if (task->priority < before->task->priority)
		return 1;
	us = starpu_task_worker_expected_length(task, (unsigned)before->worker,
						task->sched_ctx, (unsigned)before->nimpl);
	before->n++;
	before->us += isnan(us) ? 0 : us;
	return 0;
}

double starpu_st_fifo_taskq_get_exp_len_prev_task_list(starpu_st_fifo_taskq_t fifo_queue,
						       struct starpu_task *task,
						       int workerid, int nimpl,
						       int *fifo_ntasks)
{
	struct before before = {.task = task, .worker = workerid, .nimpl = nimpl};

	api_given(__func__, "task", task);
	tasks_find(fifo_queue->tasks, 0, count_before, NULL, &before);
	if (fifo_ntasks)
		*fifo_ntasks = before.n;
	return before.us;
}

/* ---- what a queue keeps for its policy ------------------------------- */

#define GET(type, name, field)                                                           \
	type starpu_st_fifo_##name##_get(starpu_st_fifo_taskq_t fifo)                    \
	{                                                                                \
		return fifo->field;                                                      \
	}
#define SET(name)                                                                        \
	void starpu_st_fifo_##name##_set(starpu_st_fifo_taskq_t fifo, double name)       \
	{                                                                                \
		fifo->name = name;                                                       \
	}
#define INC(name)                                                                        \
	void starpu_st_fifo_##name##_inc(starpu_st_fifo_taskq_t fifo, double name)       \
	{                                                                                \
		fifo->name += name;                                                      \
	}
#define INC_COUNT(name)                                                                  \
	void starpu_st_fifo_##name##_inc(starpu_st_fifo_taskq_t fifo, int n)             \
	{                                                                                \
		fifo->name += (unsigned)n;                                               \
	}

GET(unsigned, ntasks, ntasks)
INC_COUNT(ntasks)
GET(unsigned, nprocessed, nprocessed)
INC_COUNT(nprocessed)
GET(unsigned *, ntasks_per_priority, ntasks_per_priority)
GET(double *, exp_len_per_priority, exp_len_per_priority)
GET(double, exp_start, exp_start)
SET(exp_start)
GET(double, exp_end, exp_end)
SET(exp_end)
GET(double, exp_len, exp_len)
SET(exp_len)
INC(exp_len)
GET(double, pipeline_len, pipeline_len)
SET(pipeline_len)
INC(pipeline_len)

/* ---- putting and taking ---------------------------------------------- */

static int push(starpu_st_fifo_taskq_t fifo, struct starpu_task *task, int key)
{
	tasks_push(fifo->tasks, task, key, 0);
	fifo->ntasks++;
	fifo->nprocessed++;
	return 0;
}

static struct starpu_task *take(starpu_st_fifo_taskq_t fifo, struct starpu_task *task)
{
	if (!task)
		return NULL;
	tasks_take(fifo->tasks, task);
	fifo->ntasks--;
	return task;
}

int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo_queue,
					  struct starpu_task *task)
{
	return push(fifo_queue, task, task->priority);
}

int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo, struct starpu_task *task)
{
	return push(fifo, task, INT_MIN);
}

int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo_queue,
					struct starpu_task *task)
{
	return push(fifo_queue, task, INT_MIN);
}

int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo_queue, int workerid,
				       struct starpu_task *task)
{
	return toolbox_can_run(workerid, task) && take(fifo_queue, task);
}

static int can_run(struct starpu_task *task, void *arg)
{
	return toolbox_can_run(*(int *)arg, task);
}

struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo,
						  int workerid)
{
	return take(fifo, tasks_find(fifo->tasks, 0, can_run, toolbox_kinds, &workerid));
}

struct starpu_task *starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo)
{
	return take(fifo, tasks_first(fifo->tasks));
}

struct starpu_task *
starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo_queue,
					  unsigned workerid, int num_priorities)
{
	struct starpu_task *task =
		take(fifo_queue, toolbox_readiest(fifo_queue->tasks, workerid));
	int level;

	if (!task || num_priorities <= 0)
		return task;
	level = starpu_st_normalize_prio(task->priority, num_priorities, task->sched_ctx);
	for (int i = 0; i <= level && i < STARPU_ST_NPRIORITIES; i++)
		fifo_queue->ntasks_per_priority[i]--;
	return task;
}
