/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Deques by priority, and questions about a task's data, for the application's policies.
 */
#include <stdlib.h>

#include <schedulers/starpu_scheduler_toolbox.h>

#include "api/api.h"
#include "api/toolbox.h"
#include "base/check.h"
#include "core/data/data.h"
#include "core/sched/tasks.h"

void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque)
{
	api_given(__func__, "pdeque", pdeque);
	pdeque->tasks = orr_alloc(sizeof(struct tasks));
}

void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque)
{
	api_given(__func__, "pdeque", pdeque);
	tasks_free(pdeque->tasks);
	free(pdeque->tasks);
	pdeque->tasks = NULL;
}

int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque)
{
	const struct tasks *tasks = pdeque->tasks;

	return orr_load(&tasks->ntasks) == 0;
}

int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque,
					struct starpu_task *task)
{
	tasks_push(pdeque->tasks, task, task->priority, 0);
	return 0;
}

int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque,
					 struct starpu_task *task)
{
	tasks_push(pdeque->tasks, task, task->priority, 1);
	return 0;
}

struct starpu_task *starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque)
{
	return tasks_first(pdeque->tasks);
}

struct starpu_task *starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque)
{
	return tasks_pop(pdeque->tasks);
}

static struct starpu_task *take(starpu_st_prio_deque_t pdeque, struct starpu_task *task)
{
	if (task)
		tasks_take(pdeque->tasks, task);
	return task;
}

struct starpu_task *starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque)
{
	return take(pdeque, tasks_last(pdeque->tasks));
}

static int can_run(struct starpu_task *task, void *worker)
{
	return toolbox_can_run(*(int *)worker, task);
}

/* *skipped: the first task, if the worker cannot run it. */
static struct starpu_task *search(starpu_st_prio_deque_t pdeque, int from_last,
				  int worker, struct starpu_task **skipped)
{
	const struct tasks *tasks = pdeque->tasks;
	struct starpu_task *first = from_last ? tasks_last(tasks) : tasks_first(tasks);
	struct starpu_task *task =
		tasks_find(tasks, from_last, can_run, toolbox_kinds, &worker);

	if (skipped)
		*skipped = task != first ? first : NULL;
	return take(pdeque, task);
}

struct starpu_task *
starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque, int workerid,
					 struct starpu_task **skipped)
{
	return search(pdeque, 0, workerid, skipped);
}

struct starpu_task *
starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque, int workerid,
					   struct starpu_task **skipped)
{
	return search(pdeque, 1, workerid, skipped);
}

struct starpu_task *
starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
					    unsigned workerid)
{
	return take(pdeque, toolbox_readiest(pdeque->tasks, workerid));
}

int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque, int workerid,
				       struct starpu_task *task)
{
	return toolbox_can_run(workerid, task) && take(pdeque, task);
}

void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque, struct starpu_task *task)
{
	tasks_take(pdeque->tasks, task);
}

int starpu_st_normalize_prio(int priority, int num_priorities, unsigned sched_ctx_id)
{
	double min = starpu_sched_ctx_get_min_priority(sched_ctx_id);
	double max = starpu_sched_ctx_get_max_priority(sched_ctx_id);
	double at = max > min ? (priority - min) / (max - min) : 0;

	if (num_priorities <= 1 || at <= 0)
		return 0;
	return (int)((num_priorities - 1) * (at < 1 ? at : 1));
}

/* ---- where a task's data are ----------------------------------------- */

struct lack {
	int n;
	size_t unready, unloading, unallocated;
};

/* The end of the datum may have been submitted behind the task. */
static void lack_add(struct lack *lack, starpu_data_handle_t handle, unsigned memory)
{
	const struct data_body *body = data_body(handle);
	const struct copy_state *copy;
	size_t bytes = data_moved_bytes(handle);
	int is_valid, is_arriving, has_room;

	orr_lock(&handle->lock);
	copy = data_find_copy(handle, memory);
	has_room = copy && copy->allocated;
	is_valid = (body->valid & memory_bit(memory)) != 0;
	is_arriving = (body->arriving & memory_bit(memory)) != 0;
	orr_unlock(&handle->lock);
	if (is_valid)
		return;
	lack->n++;
	lack->unready += bytes;
	lack->unloading += is_arriving ? 0 : bytes;
	lack->unallocated += is_arriving || has_room ? 0 : bytes;
}

static struct lack lack_of(const char *func, struct starpu_task *task, unsigned worker)
{
	unsigned node = starpu_worker_get_memory_node(worker);
	struct lack lack = {0};

	api_given(func, "task", task);
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		lack_add(&lack, STARPU_TASK_GET_HANDLE(task, i), node);
	}
	return lack;
}

int starpu_st_non_ready_buffers_count(struct starpu_task *task, unsigned worker)
{
	return lack_of(__func__, task, worker).n;
}

void starpu_st_non_ready_buffers_size(struct starpu_task *task, unsigned worker,
				      size_t *non_readyp, size_t *non_loadingp,
				      size_t *non_allocatedp)
{
	struct lack lack = lack_of(__func__, task, worker);

	api_given(__func__, "non_readyp", non_readyp);
	api_given(__func__, "non_loadingp", non_loadingp);
	api_given(__func__, "non_allocatedp", non_allocatedp);
	*non_readyp = lack.unready;
	*non_loadingp = lack.unloading;
	*non_allocatedp = lack.unallocated;
}
