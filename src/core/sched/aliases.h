/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_ALIASES_H
#define ORR_CORE_SCHED_ALIASES_H

/*
 * aliases.h - a policy of the application's has several processors run a task.
 *
 * It says how many, makes an alias of the task for each, and hands it over as it does
 * with tasks: a worker's pop_task returns it, or it is pushed to the worker.  An alias is
 * a struct starpu_task with the job of another one, which the policy may change and link
 * as it likes.  A worker that has popped one takes no other task of the policy; when as
 * many have one as the policy said they are a gang, see core/sched/teams.h.
 */
#include "core/worker.h"

/* This many processors come, each with an alias.  The job is ready and the policy's. */
void aliases_expect(struct job *job, int size);
/* Have aliases been asked for that not all processors have?  Any thread. */
int aliases_wanted(struct node *node, const struct job *job);
struct starpu_task *alias_make(const struct starpu_task *task);
int alias_is(const struct starpu_task *task);
/* Its part has been done; it is freed unless the policy wants to. */
void alias_end(struct starpu_task *alias);
/* The worker gets a task from a policy, by popping it (is_popped) or by a push: 1 when it
 * is an alias, or the task that others have aliases of, so that a gang will run it. */
int alias_taken(struct worker *worker, struct starpu_task *task, int is_popped);
/* Has the worker popped one, and others have not come yet? */
static inline int alias_is_awaiting(struct worker *worker)
{
	return orr_load_ptr((void **)&worker->gathers) != NULL;
}

#endif
