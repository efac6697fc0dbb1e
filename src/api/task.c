/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_sched_ctx.h>

#include "api/api.h"
#include "base/check.h"
#include "core/sched/aliases.h"
#include "core/task/codelet.h"
#include "core/data/specific.h"
#include "core/lasting.h"
#include "core/task/links.h"
#include "core/sched/contexts.h"
#include "core/task/task.h"

static const struct starpu_task task_default = STARPU_TASK_INITIALIZER;

void starpu_codelet_nop_func(void *descr[], void *arg)
{
	(void)descr;
	(void)arg;
}

/* The application may change it; we do not. */
__attribute__((section(".data.application"))) struct starpu_codelet starpu_codelet_nop = {
	.where = STARPU_CPU | STARPU_CUDA,
	.cpu_funcs = {starpu_codelet_nop_func},
	.cuda_funcs = {starpu_codelet_nop_func},
	.cpu_funcs_name = {"starpu_codelet_nop_func"},
	.model = &starpu_perfmodel_nop,
	.name = "nop",
};

void starpu_codelet_init(struct starpu_codelet *cl)
{
	memset(cl, 0, sizeof(*cl));
}

void starpu_codelet_display_stats(struct starpu_codelet *cl)
{
	struct node *node = plat_self();
	unsigned nworkers = node ? (unsigned)node->nworkers : 0;
	unsigned long total = 0;

	fprintf(stderr, "Statistics for codelet %s\n",
		cl->name                         ? cl->name
		: cl->model && cl->model->symbol ? cl->model->symbol
						 : "unknown");
	for (unsigned i = 0; i < nworkers; i++)
		total += codelet_counted(&node->workers[i], cl);
	for (unsigned i = 0; i < nworkers; i++) {
		char name[64];
		unsigned long n = codelet_counted(&node->workers[i], cl);

		starpu_worker_get_name((int)i, name, sizeof(name));
		fprintf(stderr, "\t%s -> %lu / %lu (%2.2f %%)\n", name, n, total,
			total ? 100.0 * (double)n / (double)total : 0.0);
	}
}

void starpu_task_init(struct starpu_task *task)
{
	struct node *node = plat_self();

	api_given(__func__, "task", task);
	/* What starpu_task_create() has made stays what starpu_task_destroy() frees. */
	if (node && task_make_anew(node, task))
		task->destroy = 0;
	else
		*task = task_default;
}

void starpu_task_clean(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct job *job = task->starpu_private;

	free(task->dyn_interfaces);
	task->dyn_interfaces = NULL;
	if (job && !job->block) {
		job_free(job);
		task->starpu_private = NULL;
	}
	task->status = STARPU_TASK_INIT;
}

/* Without a node it is as one that the application allocated. */
struct starpu_task *starpu_task_create(void)
{
	struct node *node = plat_self();
	struct starpu_task *task;

	if (node)
		return task_create(node);
	task = orr_alloc(sizeof(*task));
	*task = task_default;
	task->destroy = 1;
	return task;
}

struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
					    enum starpu_data_access_mode mode)
{
	api_check_handle(api_node(__func__), __func__, handle);

	struct starpu_task *task = starpu_task_create();

	task->nbuffers = 1;
	task->handles[0] = handle;
	task->modes[0] = mode;
	return task;
}

void starpu_task_destroy(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	if (alias_is(task)) {
		free(task);
		return;
	}

	const struct job *job = task->starpu_private;

	if (task_destroy_at_end(task))
		return;
	if (task->destroy && task->detach && task->status != STARPU_TASK_INIT)
		orr_die(api_node(__func__)->rank,
			"starpu_task_destroy: task \"%s\" is detached and frees itself; "
			"set destroy or detach to 0 before submitting it",
			task_name(task));
	if (job && job->life == LIFE_SUBMITTED)
		orr_die(api_node(__func__)->rank,
			"starpu_task_destroy: task \"%s\" has not ended; call "
			"starpu_task_wait() first, or starpu_task_set_destroy() instead",
			task_name(task));
	task_destroy(task);
}

void starpu_task_set_destroy(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	task_set_destroy(task);
}

/* Of elements for the buffers of the task; NULL when the task has none. */
static void *copy_of_array(const struct starpu_task *task, const void *array,
			   size_t bytes)
{
	size_t n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : (size_t)task->nbuffers;
	void *copy;

	if (!array)
		return NULL;
	copy = orr_alloc((n + 1) * bytes);
	memcpy(copy, array, n * bytes);
	return copy;
}

/* What the library frees with a task it frees once: of what is known in size the copy has
 * its own, the rest stays the other's. */
static void own_arguments(struct starpu_task *copy)
{
	void *argument = NULL;

	if (copy->cl_arg_free && copy->cl_arg && copy->cl_arg_size) {
		argument = orr_alloc(copy->cl_arg_size);
		memcpy(argument, copy->cl_arg, copy->cl_arg_size);
		copy->cl_arg = argument;
	}
	copy->cl_arg_free = argument != NULL;
	copy->cl_ret_free = 0;
	copy->callback_arg_free = 0;
	copy->prologue_callback_arg_free = 0;
	copy->prologue_callback_pop_arg_free = 0;
	copy->epilogue_callback_arg_free = 0;
}

struct starpu_task *starpu_task_dup(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct node *node = plat_self();

	if (node && aliases_wanted(node, task->starpu_private))
		return alias_make(task);

	struct starpu_task *copy = starpu_task_create();
	void *job = copy->starpu_private;

	*copy = *task;
	copy->starpu_private = job;
	copy->status = STARPU_TASK_INIT;
	copy->profiling_info = NULL;
	copy->bundle = NULL;
	copy->dyn_interfaces = NULL;
	copy->dyn_handles =
		copy_of_array(task, task->dyn_handles, sizeof(*task->dyn_handles));
	copy->dyn_modes = copy_of_array(task, task->dyn_modes, sizeof(*task->dyn_modes));
	copy->dyn_nodes = copy_of_array(task, task->dyn_nodes, sizeof(*task->dyn_nodes));
	own_arguments(copy);
	return copy;
}

int starpu_task_submit(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct node *node = api_node(__func__);
	const struct knobs *knobs = node_knobs(node);

	if (task->synchronous)
		api_blocking_node(__func__);
	if (knobs->submit_cost)
		api_charge_task(node, task);
	return task_submit(node, task);
}

int starpu_task_submit_nodeps(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	return task_submit_nodeps(api_node(__func__), task);
}

int starpu_task_finished(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct job *job = task->starpu_private;
	int ended;

	if (task->detach)
		orr_die(api_rank(),
			"starpu_task_finished: task \"%s\" is detached and may have "
			"freed itself; set task->detach to 0 before submitting it",
			task_name(task));
	if (!job)
		return 0;
	orr_lock(&job->lock);
	ended = job->life == LIFE_ENDED;
	orr_unlock(&job->lock);
	if (!ended && plat_self())
		plat_looked(plat_self()->plat);
	return ended;
}

int starpu_task_wait(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct node *node = api_blocking_node(__func__);

	if (task->detach)
		orr_die(node->rank,
			"starpu_task_wait: task \"%s\" is detached and cannot be waited "
			"for; set task->detach to 0 before submitting it",
			task_name(task));
	return task_wait(node, task);
}

int starpu_task_wait_array(struct starpu_task **tasks, unsigned nb_tasks)
{
	for (unsigned i = 0; i < nb_tasks; i++) {
		int ret = starpu_task_wait(tasks[i]);

		if (ret)
			return ret;
	}
	return 0;
}

/* Also when there is nothing to wait for; the wait itself does not ask again. */
static void ask_to_decide(struct node *node, int begins)
{
	if (begins)
		contexts_schedule(node);
	if (orr_load(&node->nputting_off) > 0)
		plat_caller(node->plat)->has_asked = begins;
}

int starpu_task_wait_for_all(void)
{
	struct node *node = plat_self() ? api_blocking_node(__func__) : NULL;
	int ret;

	if (!node)
		return 0;
	node_end_insertion(node);
	if (orr_load(&node->callers_choose) && plat_caller(node->plat)->context)
		return starpu_task_wait_for_all_in_ctx(starpu_sched_ctx_get_context());
	ask_to_decide(node, 1);
	ret = node_wait_submitted(node, 0);
	ask_to_decide(node, 0);
	return ret;
}

int starpu_task_wait_for_n_submitted(unsigned n)
{
	return plat_self() ? node_wait_submitted(api_blocking_node(__func__),
						 n < INT_MAX ? (int)n : INT_MAX)
			   : 0;
}

int starpu_task_wait_for_no_ready(void)
{
	struct node *node = plat_self() ? api_blocking_node(__func__) : NULL;
	int ret;

	if (!node)
		return 0;
	ask_to_decide(node, 1);
	ret = node_wait_ready(node, 0);
	ask_to_decide(node, 0);
	return ret;
}

/* Programs ask for the number of tasks in a loop, until there are few. */
static int looked_at(struct node *node, int ntasks)
{
	if (ntasks > 0)
		plat_looked(node->plat);
	return ntasks;
}

int starpu_task_nready(void)
{
	struct node *node = plat_self();
	int nready;

	if (!node)
		return 0;
	/* Tasks may be submitted that wait for others, between the two numbers. */
	nready = node_nsubmitted(node) - orr_load(&node->nblocked);
	return looked_at(node, nready > 0 ? nready : 0);
}

int starpu_task_nsubmitted(void)
{
	struct node *node = plat_self();

	return node ? looked_at(node, node_nsubmitted(node)) : 0;
}

void starpu_set_limit_min_submitted_tasks(int limit_min)
{
	orr_store(&api_node(__func__)->limit_min, limit_min);
}

void starpu_set_limit_max_submitted_tasks(int limit_max)
{
	orr_store(&api_node(__func__)->limit_max, limit_max);
}

/* Iterations only label tasks in traces, which do not exist yet for tasks. */
void starpu_iteration_push(unsigned long iteration)
{
	(void)iteration;
	api_node(__func__);
}

void starpu_iteration_pop(void)
{
	api_node(__func__);
}

void starpu_do_schedule(void)
{
	contexts_schedule(api_node(__func__));
}

struct starpu_task *starpu_task_get_current(void)
{
	struct node *node = plat_self();

	return node ? plat_caller(node->plat)->task : NULL;
}

int starpu_task_get_current_data_node(unsigned i)
{
	struct starpu_task *task = starpu_task_get_current();
	struct job *job = task ? task->starpu_private : NULL;

	if (!job || (int)i >= job->naccesses ||
	    job->accesses[i].memory == SPECIFIC_NOWHERE)
		return -1;
	return job->accesses[i].memory;
}

const char *starpu_task_get_model_name(struct starpu_task *task)
{
	if (!task->cl)
		return NULL;
	return task->cl->model && task->cl->model->symbol ? task->cl->model->symbol
							  : task->cl->name;
}

const char *starpu_task_get_name(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	return task ? task_name(task) : "unknown";
}

unsigned long starpu_task_get_job_id(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct job *job = task->starpu_private;

	return job ? job->id : 0;
}

unsigned starpu_task_get_implementation(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	struct job *job = task->starpu_private;

	return job ? job->implementation : 0;
}

void starpu_task_set_implementation(struct starpu_task *task, unsigned impl)
{
	api_given(__func__, "task", task);

	struct node *node = api_node(__func__);

	if (impl >= STARPU_MAXIMPLEMENTATIONS)
		orr_die(node->rank, "%s: implementation %u, expected 0 to %d", __func__,
			impl, STARPU_MAXIMPLEMENTATIONS - 1);
	task_job(node, task)->implementation = (unsigned char)impl;
}

void starpu_create_callback_task(void (*callback)(void *), void *callback_arg)
{
	struct starpu_task *task = starpu_task_create();

	task->callback_func = callback;
	task->callback_arg = callback_arg;
	task_submit(api_node(__func__), task);
}

char *starpu_task_status_get_as_string(enum starpu_task_status status)
{
	static const char *const names[] = {
		"STARPU_TASK_INIT",
		"STARPU_TASK_BLOCKED",
		"STARPU_TASK_READY",
		"STARPU_TASK_RUNNING",
		"STARPU_TASK_FINISHED",
		"STARPU_TASK_BLOCKED_ON_TAG",
		"STARPU_TASK_BLOCKED_ON_TASK",
		"STARPU_TASK_BLOCKED_ON_DATA",
		"STARPU_TASK_STOPPED",
	};
	unsigned i = (unsigned)status;

	return (char *)(i < sizeof(names) / sizeof(names[0]) ? names[i]
							     : "STARPU_TASK_UNKNOWN");
}

void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg)
{
	struct lasting *lasting = lasting_get();

	lasting->watchdog_arg = hook_arg;
	lasting->watchdog_hook = hook;
}
