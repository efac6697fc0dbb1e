/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/inner.h"

#include <math.h>

#include "base/check.h"
#include "core/sched/contexts.h"
#include "core/sched/sched_dmda.h"
#include "core/sched/sched_own.h"
#include "core/task/task.h"

/* ---- who calls ------------------------------------------------------- */

static struct sched *context(const char *function, unsigned id)
{
	struct node *node = plat_self();
	struct sched *outer = node ? contexts_find(node, id) : NULL;

	if (!outer)
		orr_die(node ? node->rank : -1,
			"%s of one of starpu_sched_get_predefined_policies() was called "
			"for scheduling context %u, which there is not; expected that a "
			"policy of the application's passes on the number that its own "
			"%s was given",
			function, id, function);
	return outer;
}

__attribute__((noreturn)) static void refuse(const char *function,
					     const struct sched *outer)
{
	orr_die(outer->node->rank,
		"%s of one of starpu_sched_get_predefined_policies() was called for "
		"scheduling context %d, whose policy \"%s\" has not called the "
		"init_sched of one; expected that its own init_sched does, and its "
		"deinit_sched the other's deinit_sched at the end",
		function, outer->id, outer->policy ? outer->policy->policy_name : "");
}

static struct sched *inner_of(const char *function, struct sched *outer)
{
	if (!outer->inner)
		refuse(function, outer);
	return outer->inner;
}

/* ---- life ------------------------------------------------------------ */

/* Unless it was given others, as with the policy alone. */
static void take_priorities(struct sched *outer, const struct sched_ops *ops)
{
	if (!outer->min_is_set)
		orr_store(&outer->min_priority, ops->least);
	if (!outer->max_is_set)
		orr_store(&outer->max_priority, ops->most);
}

static void check_init(const struct sched *outer, const struct sched_ops *ops)
{
	const char *name = ops->object.policy_name;

	if (outer->ops != &sched_own)
		orr_die(outer->node->rank,
			"init_sched of policy \"%s\" was called for scheduling context "
			"%d, whose policy is \"%s\"; expected a policy of the "
			"application's that calls it in its own init_sched",
			name, outer->id, outer->ops->object.policy_name);
	if (outer->inner)
		orr_die(outer->node->rank,
			"init_sched of policy \"%s\" was called for scheduling context "
			"%d, for which that of \"%s\" has been; expected that a policy "
			"of the application's is made of one other: use a context for "
			"each, or components (starpu_sched_component.h)",
			name, outer->id, outer->inner->ops->object.policy_name);
}

static void init(unsigned id, const struct sched_ops *ops)
{
	struct sched *outer = context("init_sched", id);
	struct node *node = outer->node;
	struct sched *inner;

	check_init(outer, ops);
	inner = ops->open(node);
	inner->ops = ops;
	inner->outer = outer;
	inner->policy = outer->policy;
	inner->node = node;
	inner->id = outer->id;
	inner->nwords = outer->nwords;
	inner->heir = inner->parent = -1;
	orr_lock_init(&inner->lock);
	take_priorities(outer, ops);
	orr_lock(&node->scheds_lock);
	SCHED_EACH_WORKER(worker, outer)
	inner_flip(inner, worker);
	orr_swap_ptr((void **)&outer->inner, inner);
	orr_unlock(&node->scheds_lock);
	if (ops->opened)
		ops->opened(inner);
}

#define INIT(policy)                                                                     \
	void inner_init_##policy(unsigned id)                                            \
	{                                                                                \
		init(id, &sched_##policy);                                               \
	}
#define INIT_MODULAR(policy, ...)                                                        \
	void inner_init_##policy(unsigned id)                                            \
	{                                                                                \
		init(id, &sched_modulars[MODULAR_##policy].ops);                         \
	}
SCHED_POLICIES(INIT)
MODULAR_POLICIES(INIT_MODULAR)

void inner_close(struct sched *outer)
{
	struct sched *inner = outer->inner;

	if (!inner)
		return;
	ORR_ASSERT(!inner->aside.first);
	orr_swap_ptr((void **)&outer->inner, NULL);
	inner->ops->close(inner);
}

void inner_deinit(unsigned id)
{
	struct sched *outer = context("deinit_sched", id);

	inner_of("deinit_sched", outer);
	inner_close(outer);
}

/* ---- workers --------------------------------------------------------- */

void inner_flip(struct sched *inner, const struct worker *worker)
{
	int *word;

	if (!inner)
		return;
	word = &inner->members[worker->id / 32];
	orr_store(word, *word ^ (int)(1u << (worker->id % 32)));
	orr_add(&inner->changes, 1);
}

static void collect(struct sched *inner, struct ready *left)
{
	struct node *node = inner->node;
	struct ready aside;
	struct job *job;

	for (int i = 0; inner->ops->remove_worker && i < node->nworkers; i++)
		if (!sched_has(inner, &node->workers[i]))
			inner->ops->remove_worker(inner, &node->workers[i], left);
	orr_lock(&inner->lock);
	aside = inner->aside;
	inner->aside = (struct ready){0};
	orr_unlock(&inner->lock);
	while ((job = aside.first)) {
		aside.first = job->next;
		ready_append(left, job);
	}
}

/* The job may have run and be gone afterwards. */
static void push(struct sched *inner, struct job *job)
{
	struct node *node = inner->node;
	int filtered = job->task->cl->can_execute || job->task->workerids;
	unsigned where = job->where;
	int changes = orr_load(&inner->changes);
	struct worker *chosen = inner->ops->push(inner, job);

	/* As in sched_push(). */
	orr_fence();
	if (orr_load(&inner->changes) != changes)
		inner_settle(inner);
	if (chosen)
		plat_worker_wake(chosen);
	else if (orr_load(&node->nidle) > 0)
		workers_wake(inner, where, filtered);
}

void inner_settle(struct sched *inner)
{
	struct ready left = {0};
	struct job *job;

	if (!inner)
		return;
	collect(inner, &left);
	while ((job = left.first)) {
		left.first = job->next;
		push(inner, job);
	}
}

void inner_workers(unsigned id, int *ids, unsigned n)
{
	(void)ids;
	(void)n;
	inner_of("add_workers or remove_workers",
		 context("add_workers or remove_workers", id));
}

/* ---- tasks ----------------------------------------------------------- */

static struct job *job_pushed(const char *function, const struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	if (!job || job->life == LIFE_NEW || !job->sched)
		orr_die(-1,
			"%s of one of starpu_sched_get_predefined_policies() was given "
			"task \"%s\", which has not been submitted; expected one that a "
			"policy's own push_task was given",
			function, task_name(task));
	return job;
}

int inner_push_task(struct starpu_task *task)
{
	struct job *job = job_pushed("push_task", task);

	push(inner_of("push_task", job->sched), job);
	return 0;
}

/* Of a policy whose object has it, but another one's init_sched() may have been called.
 */
double inner_simulate_push_task(struct starpu_task *task)
{
	struct job *job = job_pushed("simulate_push_task", task);
	struct sched *inner = inner_of("simulate_push_task", job->sched);
	double end_s = INFINITY;

	if (inner->ops->object.simulate_push_task)
		end_s = dmda_soonest_end_s(inner, job);
	return isinf(end_s) ? NAN : 1e6 * end_s;
}

struct job *inner_pop(struct sched *inner, struct worker *worker)
{
	return inner ? inner->ops->pop(inner, worker) : NULL;
}

struct starpu_task *inner_pop_task(unsigned id)
{
	struct sched *outer = context("pop_task", id);
	struct sched *inner = inner_of("pop_task", outer);
	struct worker *worker = plat_current_worker(outer->node->plat);
	struct job *job;

	if (!worker)
		orr_die(outer->node->rank,
			"pop_task of policy \"%s\" was called by a thread that is no "
			"worker; expected the call in a policy's own pop_task",
			inner->ops->object.policy_name);
	job = inner_pop(inner, worker);
	return job ? job->task : NULL;
}

void inner_schedule(struct sched *inner)
{
	if (inner && inner->ops->schedule)
		inner->ops->schedule(inner);
}

void inner_do_schedule(unsigned id)
{
	inner_schedule(inner_of("do_schedule", context("do_schedule", id)));
}

void inner_hook(struct starpu_task *task, unsigned id)
{
	(void)task;
	inner_of("pre_exec_hook or post_exec_hook",
		 context("pre_exec_hook or post_exec_hook", id));
}

void inner_notify(struct starpu_task *task, int worker, int perf_worker, unsigned id)
{
	(void)worker;
	(void)perf_worker;
	inner_hook(task, id);
}
