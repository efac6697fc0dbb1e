/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_UNIT_SCHED_BY_HAND_H
#define ORR_TESTS_UNIT_SCHED_BY_HAND_H

/*
 * sched_by_hand.h - tasks with numbers, pushed to a policy and popped from it one by one.
 *
 * Included after cmocka.h.
 */
#include "core/sched/sched.h"
#include "core/task/codelet.h"
#include "fake_impl.h"
#include "one_node.h"

enum { MAX_NUMBER = 1000 };

static int ran_on[MAX_NUMBER]; /* the worker of each task */

static void note_worker(void *buffers[], void *arg)
{
	one_kernel(buffers, arg);
	ran_on[(intptr_t)arg] = starpu_worker_get_id();
}

static struct starpu_codelet anywhere = {.cpu_funcs = {note_worker},
					 .cuda_funcs = {note_worker}};
static struct starpu_codelet on_cpu = {.cpu_funcs = {note_worker}};

static const struct sched_ops *policy; /* of the test that runs */

/* ---- by hand ---------------------------------------------------------- */

static inline struct starpu_task *make(struct starpu_codelet *cl, int number,
				       int priority)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->priority = priority;
	task_job(one.node, task)->where = (unsigned short)codelet_where(cl);
	return task;
}

static inline struct worker *push_task(struct starpu_task *task)
{
	return policy->push(one.node->scheds[0], task_job(one.node, task));
}

static inline struct worker *push(struct starpu_codelet *cl, int number, int priority)
{
	return push_task(make(cl, number, priority));
}

/* The number of the task that the worker gets, or -1. */
static inline int pop(int worker)
{
	struct sched *sched = one.node->scheds[0];
	struct job *job;
	int number;

	if (policy->schedule)
		policy->schedule(sched);
	job = policy->pop(sched, &one.node->workers[worker]);
	number = job ? (int)(intptr_t)job->task->cl_arg : -1;

	if (job && policy->started)
		policy->started(sched, &one.node->workers[worker], job);
	if (job && policy->ended)
		policy->ended(sched, &one.node->workers[worker], job);
	if (job)
		task_destroy(job->task);
	return number;
}

static inline void by_hand(const char *name, int ncpus, int ngpus)
{
	policy = sched_find(name);
	assert_non_null(policy);
	one_open(ncpus, ngpus, name);
	assert_ptr_equal(one.node->scheds[0]->ops, policy);
}

#endif
