/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_OWN_H
#define ORR_CORE_SCHED_SCHED_OWN_H

/*
 * sched_own.h - a struct starpu_sched_policy of the application's, played as a scheduler.
 *
 * Its functions are called with nothing of ours locked but the worker's own lock
 * (relax.h) around pop_task().  The policy says itself whom to wake; who forgets is
 * served as well, for after each push all workers that sleep are woken.
 */
#include "core/sched/sched.h"

/* In no list: sched->policy says what to call. */
extern const struct sched_ops sched_own;

/* What the application finds in the objects of ours, which work by name only: whoever
 * calls one of these is told so, and the run ends. */
void sched_refuse_context(unsigned id);
int sched_refuse_push(struct starpu_task *task);
struct starpu_task *sched_refuse_pop(unsigned id);
void sched_refuse_workers(unsigned id, int *ids, unsigned n);

#define SCHED_REFUSES                                                                    \
	.init_sched = sched_refuse_context, .deinit_sched = sched_refuse_context,        \
	.push_task = sched_refuse_push, .pop_task = sched_refuse_pop,                    \
	.add_workers = sched_refuse_workers, .remove_workers = sched_refuse_workers,     \
	.worker_type = STARPU_WORKER_LIST

/* Is it one that the application wrote? */
static inline int sched_is_own(const struct starpu_sched_policy *policy)
{
	return policy->push_task && policy->push_task != sched_refuse_push;
}

/* Is it a copy of one of ours, with functions of the application's? */
static inline int sched_has_hooks(const struct starpu_sched_policy *policy)
{
	return policy->push_task == sched_refuse_push &&
	       (policy->init_sched != sched_refuse_context ||
		policy->pop_task != sched_refuse_pop || policy->submit_hook ||
		policy->pre_exec_hook || policy->post_exec_hook ||
		policy->push_task_notify || policy->do_schedule);
}

#endif
