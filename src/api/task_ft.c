/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks that are tried until they succeed: the task itself keeps its turn on its data and
 * runs nowhere; copies of it, the tries, use them meanwhile. */
#include <stdint.h>

#include <starpu.h>

#include "api/api.h"
#include "base/check.h"
#include "core/task/task.h"

static void try_again(void *arg)
{
	struct starpu_task *meta = arg, *last = starpu_task_get_current(), *next;

	if (!last->failed) {
		starpu_task_ft_success(meta);
		return;
	}
	next = starpu_task_ft_create_retry(meta, last, try_again);
	if (starpu_task_submit_nodeps(next) != 0)
		orr_die(api_rank(),
			"starpu_task_ft_prologue: task \"%s\" failed, and no worker can "
			"try it again",
			task_name(meta));
}

/* A try must find what the one before it found. */
static void check_data(const struct job *job, struct starpu_task *meta)
{
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(meta); i++) {
		unsigned mode = STARPU_TASK_GET_MODE(meta, i);

		if ((mode & STARPU_RW) == STARPU_RW || (mode & STARPU_REDUX) ||
		    (mode & STARPU_MPI_REDUX))
			orr_die(job->node->rank,
				"starpu_task_ft_prologue: task \"%s\": buffer %u has "
				"access mode %#x, which a failed try leaves changed; "
				"expected STARPU_R, STARPU_W or STARPU_SCRATCH",
				task_name(meta), i, mode);
	}
	if (orr_load(&job->exclusive))
		orr_die(job->node->rank,
			"starpu_task_ft_prologue: task \"%s\" uses data without "
			"sequential consistency, or beside tasks that do; expected data "
			"that are used in the order of submission",
			task_name(meta));
}

void starpu_task_ft_prologue(void *check_ft)
{
	struct node *node = api_node(__func__);
	struct starpu_task *meta = starpu_task_get_current(), *first;
	void (*check)(void *) = try_again;
	struct job *job;

	if (!meta || !meta->cl)
		orr_die(node->rank,
			"%s: it is called for no task with a codelet; give it as the "
			"prologue_callback_func of one",
			__func__);
	if (check_ft)
		check = (void (*)(void *))(uintptr_t)check_ft;
	job = task_job(node, meta);
	check_data(job, meta);
	job->where = STARPU_NOWHERE;
	starpu_task_end_dep_add(meta, 1);
	first = starpu_task_ft_create_retry(meta, meta, check);
	if (starpu_task_submit_nodeps(first) != 0)
		orr_die(node->rank, "%s: no worker can try task \"%s\"", __func__,
			task_name(meta));
}

struct starpu_task *starpu_task_ft_create_retry(const struct starpu_task *meta_task,
						const struct starpu_task *template_task,
						void (*check_ft)(void *))
{
	struct starpu_task *task;

	api_given(__func__, "meta_task", meta_task);
	api_given(__func__, "template_task", template_task);
	task = starpu_task_dup((struct starpu_task *)(uintptr_t)template_task);
	/* What belongs to the task itself, and lasts as long as that. */
	task->cl_arg_free = task->cl_ret_free = 0;
	task->prologue_callback_func = task->epilogue_callback_func = NULL;
	task->prologue_callback_arg_free = task->epilogue_callback_arg_free = 0;
	task->prologue_callback_pop_arg_free = 0;
	task->callback_func = check_ft ? check_ft : try_again;
	task->callback_arg = (void *)(uintptr_t)meta_task;
	task->callback_arg_free = 0;
	task->use_tag = task->regenerate = task->synchronous = task->failed = 0;
	task->detach = task->destroy = 1;
	task->handles_sequential_consistency = NULL;
	task->bundle = NULL;
	return task;
}

void starpu_task_ft_failed(struct starpu_task *task)
{
	api_given(__func__, "task", task);
	task->failed = 1;
}

void starpu_task_ft_success(struct starpu_task *meta_task)
{
	const struct job *job;

	api_given(__func__, "meta_task", meta_task);
	job = meta_task->starpu_private;
	if (!job || job->life == LIFE_NEW)
		orr_die(api_rank(),
			"%s: task \"%s\" has not been submitted, so nothing has been "
			"tried; expected the task whose prologue_callback_func is "
			"starpu_task_ft_prologue(), which check_ft is given",
			__func__, task_name(meta_task));
	starpu_task_end_dep_release(meta_task);
}
