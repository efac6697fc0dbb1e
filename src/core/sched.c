/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/exclusion.h"
#include "core/task.h"

static const struct sched_ops *const policies[] = {&sched_eager, &sched_prio, &sched_lws,
						   &sched_dmda};

enum { NPOLICIES = sizeof(policies) / sizeof(policies[0]) };

const struct sched_ops *sched_at(int i)
{
	return i < NPOLICIES ? policies[i] : NULL;
}

const struct sched_ops *sched_find(const char *name)
{
	for (int i = 0; i < NPOLICIES; i++)
		if (strcmp(policies[i]->name, name) == 0)
			return policies[i];
	return NULL;
}

static void list_policies(void)
{
	fprintf(stderr, "[orrery] scheduling policies for STARPU_SCHED:\n");
	for (int i = 0; i < NPOLICIES; i++)
		fprintf(stderr, "  %-8s %s\n", policies[i]->name,
			policies[i]->description);
}

static const struct sched_ops *choose(struct node *node)
{
	const char *name = node->conf.sched_policy_name;
	const struct sched_ops *ops = NULL;

	if (name && strcmp(name, "help") == 0) {
		list_policies();
	} else if (name && *name) {
		ops = sched_find(name);
		if (!ops)
			orr_complain(
				node->rank,
				"scheduling policy \"%s\" was not found; expected eager, "
				"prio, lws or dmda (STARPU_SCHED=help lists them); using "
				"lws",
				name);
	} else if (node->conf.sched_policy && node->conf.sched_policy->policy_name) {
		ops = sched_find(node->conf.sched_policy->policy_name);
		if (!ops)
			orr_complain(node->rank,
				     "policy object \"%s\" is not one of "
				     "starpu_sched_get_predefined_policies(); using lws",
				     node->conf.sched_policy->policy_name);
	}
	return ops ? ops : &sched_lws;
}

struct sched *sched_open(struct node *node)
{
	const struct sched_ops *ops = choose(node);
	struct sched *sched = ops->open(node);

	sched->ops = ops;
	sched->node = node;
	if (ops->has_priorities) {
		node->min_priority = -2147483647 - 1;
		node->max_priority = 2147483647;
	}
	if (node->conf.global_sched_ctx_min_priority != -1)
		node->min_priority = node->conf.global_sched_ctx_min_priority;
	if (node->conf.global_sched_ctx_max_priority != -1)
		node->max_priority = node->conf.global_sched_ctx_max_priority;
	return sched;
}

/* Tasks bound to one worker bypass the policy. */
static void push_bound(struct worker *worker, struct job *job)
{
	orr_lock(&worker->lock);
	levels_push(&worker->bound, job, job->task->priority);
	orr_store(&worker->nbound, worker->nbound + 1);
	orr_unlock(&worker->lock);
	orr_fence();
	plat_worker_wake(worker);
}

void sched_push(struct job *job)
{
	struct node *node = job->node;
	struct starpu_task *task = job->task;
	unsigned where = job->where;
	int filtered = task->cl->can_execute || task->workerids;
	struct worker *chosen;

	TASK_STAMP(job, push_start_time);
	if (task->execute_on_a_specific_worker) {
		push_bound(&node->workers[task->workerid], job);
		return;
	}
	chosen = node->sched->ops->push(node->sched, job);
	/* The job may have run and be gone.  After the push, before looking who is
	 * parked: see plat_workers_start(). */
	orr_fence();
	if (chosen)
		plat_worker_wake(chosen);
	else
		workers_wake(node, where, filtered);
}

static struct job *pop_bound(struct worker *worker)
{
	unsigned implementation = 0;
	struct job *job;

	if (!orr_load(&worker->nbound))
		return NULL;
	orr_lock(&worker->lock);
	job = levels_pop(&worker->bound);
	if (job)
		orr_store(&worker->nbound, worker->nbound - 1);
	orr_unlock(&worker->lock);
	if (job) {
		worker_can_run(worker, job->task, &implementation);
		job->implementation = (unsigned char)implementation;
	}
	return job;
}

/*
 * Exclusion is taken only when a worker is there to use it, so that few hold what many
 * want.  A job that does not get it comes back by task_start() when it has it.
 */
static int exclude(struct job *job)
{
	struct node *node = job->node;
	struct ready ready = {0};
	int held;

	job->was_blocked = 1;
	orr_add(&node->nblocked, 1);
	held = exclusion_take(job, &ready);
	if (held) {
		job->was_blocked = 0;
		orr_add(&node->nblocked, -1);
	} else {
		node_counted(node);
	}
	ready_run(node, &ready);
	return held;
}

struct job *sched_pop(struct worker *worker)
{
	struct sched *sched = worker->node->sched;
	struct job *job;

	do {
		job = pop_bound(worker);
		if (!job)
			job = sched->ops->pop(sched, worker);
	} while (job && orr_load(&job->exclusive) && !exclude(job));
	return job;
}
