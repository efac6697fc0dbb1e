/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_UNIT_ONE_TASK_H
#define ORR_TESTS_UNIT_ONE_TASK_H

/*
 * one_task.h - tasks of one node that write down their numbers.
 *
 * Included after cmocka.h.
 */
#include "one_node.h"

static struct starpu_codelet log_it = {.cpu_funcs = {one_kernel}};

/* A task of the caller that writes down its number. */
static inline void init_task(struct starpu_task *task, int number)
{
	starpu_task_init(task);
	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)number;
	task->detach = 0;
}

static inline struct starpu_task *create_task(int number)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)number;
	return task;
}

static inline void submit(struct starpu_task *task)
{
	assert_int_equal(starpu_task_submit(task), 0);
	fake_run();
}

#endif
