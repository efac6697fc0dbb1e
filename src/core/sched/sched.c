/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/sched.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/edits.h"
#include "core/sched/contexts.h"
#include "core/sched/library.h"
#include "core/sched/observer.h"
#include "core/sched/sched_modular.h"
#include "core/sched/sched_own.h"
#include "core/sched/teams.h"
#include "core/task/blocked.h"
#include "core/task/exclusion.h"
#include "core/task/task.h"

#define OBJECT(policy)          &sched_##policy.object,
#define MODULAR_OBJECT(id, ...) &sched_modulars[MODULAR_##id].ops.object,
static const struct starpu_sched_policy *const policies[] = {
	MODULAR_POLICIES(MODULAR_OBJECT) SCHED_POLICIES(OBJECT) NULL};
#undef OBJECT
#undef MODULAR_OBJECT

/* Those made of components come first, as StarPU has it. */
enum { NPOLICIES = sizeof(policies) / sizeof(policies[0]) - 1 };

const struct starpu_sched_policy *const *sched_objects(void)
{
	return policies;
}

const struct sched_ops *sched_at(int i)
{
	return i < NPOLICIES ? ORR_CONTAINER(policies[i], struct sched_ops, object)
			     : NULL;
}

const struct sched_ops *sched_find(const char *name)
{
	for (int i = 0; i < NPOLICIES; i++)
		if (strcmp(policies[i]->policy_name, name) == 0)
			return sched_at(i);
	return NULL;
}

/* StarPU's names of what decides alike.  A name that ends with '*' is a beginning.  The
 * first that fits counts. */
static const char *const aliases[][2] = {
	{"heft*", "dmda"},
	{"pprio", "prio"},
};

static const struct sched_ops *find_alias(int rank, const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		const char *end = strchr(aliases[i][0], '*');
		size_t n = end ? (size_t)(end - aliases[i][0]) : strlen(name) + 1;

		if (strncmp(aliases[i][0], name, n) != 0)
			continue;
		if (rank <= 0)
			orr_complain(rank,
				     "scheduling policy \"%s\" is not offered under this "
				     "name; using %s, which decides alike",
				     name, aliases[i][1]);
		return sched_find(aliases[i][1]);
	}
	return NULL;
}

static void list_policies(const struct node *node)
{
	fprintf(stderr, "[orrery] scheduling policies for STARPU_SCHED:\n");
	for (int i = 0; i < NPOLICIES; i++)
		fprintf(stderr, "  %-31s %s\n", policies[i]->policy_name,
			policies[i]->policy_description);
	library_list(node, stderr);
}

/* As in: eager, prio or lws. */
static void name_policies(char *text, size_t bytes)
{
	size_t at = 0;

	for (int i = NMODULARS; i < NPOLICIES && at < bytes; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s",
				       i == NMODULARS       ? ""
				       : i == NPOLICIES - 1 ? " or "
							    : ", ",
				       policies[i]->policy_name);
}

/* At most two letters away, or fewer of a short name. */
static const char *nearest_to(const char *name)
{
	const char *nearest = NULL;
	int least = strlen(name) < 5 ? 2 : 3;

	/* Those made of components last: of two that are as near the shorter is meant. */
	for (int i = NPOLICIES - 1; i >= 0; i--) {
		int away = edits_between(name, policies[i]->policy_name);

		if (away < least ||
		    (nearest && away == least &&
		     strlen(policies[i]->policy_name) < strlen(nearest))) {
			least = away;
			nearest = policies[i]->policy_name;
		}
	}
	return nearest;
}

void sched_hint(const char *name, char *text, size_t bytes)
{
	const char *nearest = nearest_to(name);

	*text = '\0';
	if (nearest)
		snprintf(text, bytes, " (did you mean %s?)", nearest);
}

static struct starpu_sched_policy *object_of(const struct sched_ops *ops)
{
	return (struct starpu_sched_policy *)(uintptr_t)&ops->object;
}

/* Where durations are known, and differ by the worker, looking
 * at none makes a task of the GPUs' wait for a core. */
const struct sched_ops *sched_usual(struct node *node)
{
	int has_cpus = 0, has_others = 0;

	for (int i = 0; i < node->nworkers; i++) {
		has_cpus |= node->workers[i].type == STARPU_CPU_WORKER;
		has_others |= node->workers[i].type != STARPU_CPU_WORKER;
	}
	return node->machine->predicts && has_cpus && has_others ? &sched_dmdas
								 : &sched_lws;
}

/* Has it the functions of one of ours, all of them? */
static int is_alike(const struct starpu_sched_policy *a,
		    const struct starpu_sched_policy *b)
{
	return a->init_sched == b->init_sched && a->deinit_sched == b->deinit_sched &&
	       a->push_task == b->push_task && a->pop_task == b->pop_task &&
	       a->simulate_push_task == b->simulate_push_task &&
	       a->push_task_notify == b->push_task_notify &&
	       a->submit_hook == b->submit_hook && a->pre_exec_hook == b->pre_exec_hook &&
	       a->post_exec_hook == b->post_exec_hook &&
	       a->do_schedule == b->do_schedule && a->add_workers == b->add_workers &&
	       a->remove_workers == b->remove_workers;
}

const struct sched_ops *sched_given(struct node *node,
				    struct starpu_sched_policy **policy)
{
	const char *name = (*policy)->policy_name ? (*policy)->policy_name : "";
	const struct sched_ops *ops;

	for (int i = 0; i < NPOLICIES; i++)
		if (is_alike(*policy, policies[i]))
			return sched_at(i);
	if ((*policy)->push_task)
		return &sched_own;
	ops = sched_find(name);
	if (ops)
		*policy = object_of(ops);
	else
		orr_complain(node->rank,
			     "policy object \"%s\" has no push_task(), and is not one of "
			     "starpu_sched_get_predefined_policies(); using lws",
			     name);
	return ops;
}

const struct sched_ops *sched_named(struct node *node, const char *name,
				    struct starpu_sched_policy **policy)
{
	const struct sched_ops *ops;

	*policy = library_find(node, name);
	if (*policy) {
		ops = sched_given(node, policy);
		if (ops)
			return ops;
	}
	ops = sched_find(name);
	if (!ops)
		ops = find_alias(node->rank, name);
	if (ops)
		*policy = object_of(ops);
	return ops;
}

const struct sched_ops *sched_choose(struct node *node,
				     struct starpu_sched_policy **policy)
{
	const char *name = node->conf->sched_policy_name;
	const struct sched_ops *ops = NULL;
	char names[1024], hint[80];

	if (name && strcmp(name, "help") == 0) {
		list_policies(node);
	} else if (name && *name) {
		ops = sched_named(node, name, policy);
		name_policies(names, sizeof(names));
		sched_hint(name, hint, sizeof(hint));
		if (!ops)
			orr_complain(node->rank,
				     "scheduling policy \"%s\" was not found%s; "
				     "expected %s, or a modular one (STARPU_SCHED=help "
				     "lists all); using lws",
				     name, hint, names);
	} else if (node->conf->sched_policy) {
		*policy = node->conf->sched_policy;
		ops = sched_given(node, policy);
	} else {
		ops = sched_usual(node);
		*policy = object_of(ops);
	}
	if (ops)
		return ops;
	*policy = object_of(&sched_lws);
	return &sched_lws;
}

/* Tasks bound to one worker bypass the policy, though it may reckon with them. */
static void push_bound(struct sched *sched, struct worker *worker, struct job *job)
{
	double expected_s = -1;

	if (sched->ops->expect)
		expected_s = sched->ops->expect(worker, job);
	worker_bind(worker, job, expected_s);
	orr_fence();
	plat_worker_wake(worker);
}

void sched_put_aside(struct sched *sched, struct job *job)
{
	observer_put_aside(job);
	orr_lock(&sched->lock);
	ready_append(&sched->aside, job);
	orr_unlock(&sched->lock);
}

/* With STARPU_SIMGRID_SCHED_COST a simulation charges the host's time for it. */
static double begin_deciding_s(const struct node *node)
{
	return node_knobs(node)->sched_cost ? plat_effort_s(node->plat) : 0;
}

static void charge_deciding(const struct node *node, double begin_s)
{
	if (node_knobs(node)->sched_cost)
		plat_owe(node->plat, plat_effort_s(node->plat) - begin_s);
}

void sched_missing(const struct node *node, const struct starpu_task *task)
{
	orr_die(node->rank,
		"starpu_task_submit: task \"%s\" is for scheduling context %u, which was "
		"deleted, or never created; expected a number that "
		"starpu_sched_ctx_create() returned (by STARPU_SCHED_CTX, "
		"task->sched_ctx, or of the thread by starpu_sched_ctx_set_context()); "
		"submit it before starpu_sched_ctx_delete(), or to another context",
		task_name(task), task->sched_ctx);
}

/* Who was chosen because it slept, where any may take the job, may have been woken for
 * another one since: then it is as if nobody had been chosen. */
static void wake_for(struct sched *sched, struct worker *chosen, unsigned where, int all)
{
	const struct sched_ops *ops = sched->ops;

	if (chosen && (plat_worker_wake(chosen) || ops->places || ops->has_master ||
		       sched->node->machine->takes_turns))
		return;
	if (orr_load(&sched->node->nidle) > 0)
		workers_wake(sched, where, all);
}

void sched_push(struct job *job)
{
	struct starpu_task *task = job->task;
	struct sched *sched = job->sched;
	unsigned where = job->where;
	int filtered = task->cl->can_execute || task->workerids;
	struct node *node = job->node;
	int counts = sched->id != 0, changes;
	double begin_s = begin_deciding_s(node);
	struct worker *chosen;
	int tells;

	task_event(job->node, job, EVENT_TASK_PUSHED);
	observer_ready(job);
	tells = observer_will_place(job);
	if (task->execute_on_a_specific_worker &&
	    task->workerid >= (unsigned)job->node->nworkers) {
		gang_start(teams_find(job->node, task->workerid), job);
		return;
	}
	if (task->execute_on_a_specific_worker) {
		if (tells)
			observer_pushed(sched, (int)task->workerid);
		push_bound(sched, &job->node->workers[task->workerid], job);
		return;
	}
	/* The job may have run and be gone after the push; then so may the scheduler. */
	if (counts)
		contexts_join(sched);
	changes = orr_load(&sched->changes);
	chosen = sched->ops->push(sched, job);
	charge_deciding(node, begin_s);
	if (tells && chosen)
		observer_pushed(sched, chosen->id);
	/* After the push, before looking who is parked: see plat_workers_start(). */
	orr_fence();
	if (orr_load(&sched->changes) != changes)
		contexts_settle(sched);
	wake_for(sched, chosen, where, filtered);
	if (counts)
		contexts_leave(sched);
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

	job_blocked(job);
	held = exclusion_take(job, &ready);
	if (held)
		job_unblocked(job);
	else
		node_counted(node);
	ready_run(node, &ready);
	return held;
}

/* Of the highest rank first; among equal ones in turns. */
static struct job *pop_in_turn(struct worker *worker)
{
	int n = worker->njoined;
	unsigned tried = 0;

	for (int k = 0; k < n; k++) {
		int best = -1, best_rank = -1;
		struct sched *sched;
		struct job *job;

		for (int i = 0; i < n; i++) {
			int at = (worker->next_turn + i) % n;
			int rank = orr_load(&worker->ranks[worker->joined[at]->id]);

			if (!(tried >> at & 1) && rank > best_rank) {
				best = at;
				best_rank = rank;
			}
		}
		sched = worker->joined[best];
		job = sched->ops->pop(sched, worker);
		if (job) {
			worker->next_turn = (best + 1) % n;
			return job;
		}
		tried |= 1u << best;
	}
	return NULL;
}

static struct job *pop_any(struct worker *worker)
{
	struct job *job;

	/* Who belongs to nobody, or is held, runs nothing. */
	if (worker->njoined == 0)
		return NULL;
	job = worker_next_bound(worker);
	if (job)
		return job;
	if (worker->njoined == 1)
		return worker->joined[0]->ops->pop(worker->joined[0], worker);
	return pop_in_turn(worker);
}

static struct job *pop(struct worker *worker)
{
	struct job *job = NULL;

	if (!orr_load_ptr((void **)&worker->gangs))
		job = pop_any(worker);
	/* Perhaps a policy has just made one. */
	if (!job && orr_load_ptr((void **)&worker->gangs))
		job = gang_come(worker);
	return job;
}

/* 1: the job can run now.  0: it will come back, and perhaps has. */
static int get_exclusion(struct worker *worker, struct job *job)
{
	if (exclude(job))
		return 1;
	if (gang_of(worker, job))
		gang_disband(worker);
	return 0;
}

struct job *sched_pop(struct worker *worker)
{
	double begin_s = begin_deciding_s(worker->node);
	struct job *job;

	if (orr_load(&worker->nchanges) != worker->nfollowed)
		contexts_follow(worker);
	do {
		job = pop(worker);
	} while (job && orr_load(&job->exclusive) && !get_exclusion(worker, job));
	if (job)
		charge_deciding(worker->node, begin_s);
	return job;
}
