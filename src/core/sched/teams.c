/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/teams.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/node.h"
#include "core/sched/aliases.h"
#include "core/sched/contexts.h"
#include "core/sched/sched.h"
#include "core/task/task.h"

/* ---- teams ----------------------------------------------------------- */

void teams_open(struct node *node)
{
	node->teams = orr_alloc(sizeof(*node->teams));
	orr_lock_init(&node->teams->lock);
}

void teams_close(struct node *node)
{
	for (int i = 0; i < node->teams->n; i++)
		free(node->teams->at[i]);
	while (node->teams->unnumbered) {
		struct team *team = node->teams->unnumbered;

		node->teams->unnumbered = team->next;
		free(team);
	}
	table_free(&node->teams->gatherings);
	free(node->teams);
	node->teams = NULL;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static struct team *make(const int *ids, int n)
{
	struct team *team = orr_alloc(sizeof(*team) + (size_t)n * sizeof(team->ids[0]));

	team->number = -1;
	team->size = n;
	memcpy(team->ids, ids, (size_t)n * sizeof(*ids));
	qsort(team->ids, (size_t)n, sizeof(team->ids[0]), by_number);
	team->device = (struct starpu_perfmodel_device){STARPU_CPU_WORKER, 0, n};
	team->arch = (struct starpu_perfmodel_arch){1, &team->device};
	return team;
}

static int is_same(const struct team *team, const struct team *other)
{
	return team->size == other->size &&
	       memcmp(team->ids, other->ids, (size_t)team->size * sizeof(int)) == 0;
}

const struct team *teams_declare(struct node *node, const int *ids, int n)
{
	struct teams *teams = node->teams;
	struct team *team = make(ids, n), *known = NULL;

	orr_lock(&teams->lock);
	for (int i = 0; i < teams->n && !known; i++)
		known = is_same(teams->at[i], team) ? teams->at[i] : NULL;
	if (!known && teams->n < STARPU_NMAX_COMBINEDWORKERS) {
		team->number = node->nworkers + teams->n;
		known = teams->at[teams->n] = team;
		orr_store(&teams->n, teams->n + 1);
	}
	orr_unlock(&teams->lock);
	if (known != team)
		free(team);
	return known;
}

const struct team *teams_of(struct node *node, const int *ids, int n)
{
	struct teams *teams = node->teams;
	struct team *team = make(ids, n), *known = NULL;

	for (int i = 0; i < teams->n && !known; i++)
		known = is_same(teams->at[i], team) ? teams->at[i] : NULL;
	for (struct team *at = teams->unnumbered; at && !known; at = at->next)
		known = is_same(at, team) ? at : NULL;
	if (known) {
		free(team);
		return known;
	}
	team->next = teams->unnumbered;
	return teams->unnumbered = team;
}

const struct team *teams_find(const struct node *node, unsigned number)
{
	unsigned n = (unsigned)orr_load(&node->teams->n);
	unsigned first = (unsigned)node->nworkers;

	return number >= first && number - first < n ? node->teams->at[number - first]
						     : NULL;
}

/* Parts of as equal sizes as possible; processors of one memory stay together. */
static void declare_parts(struct node *node, const int *ids, int n)
{
	const struct knobs *knobs = node_knobs(node);
	int nparts = knobs->combined_arity, begin = 0;

	if (n < knobs->min_workersize || n < 2)
		return;
	if (n <= knobs->max_workersize)
		teams_declare(node, ids, n);
	if (node->workers[ids[0]].memory != node->workers[ids[n - 1]].memory)
		for (int i = 1; i <= n; i++) {
			if (i < n && node->workers[ids[i]].memory ==
					     node->workers[ids[begin]].memory)
				continue;
			declare_parts(node, ids + begin, i - begin);
			begin = i;
		}
	else
		for (int i = 1; i <= nparts && begin < n; i++) {
			int end = n * i / nparts;

			if (end - begin < n)
				declare_parts(node, ids + begin, end - begin);
			begin = end;
		}
}

void teams_declare_usual(struct sched *sched)
{
	int ids[STARPU_NMAXWORKERS], n = 0;

	SCHED_EACH_WORKER(worker, sched)
	if (worker->type == STARPU_CPU_WORKER)
		ids[n++] = worker->id;
	/* These share the first, so they work one after the other. */
	if (sched->node->conf->single_combined_worker)
		for (int i = 2; i <= n; i++)
			teams_declare(sched->node, ids, i);
	else
		declare_parts(sched->node, ids, n);
}

int team_has(const struct team *team, const struct worker *worker)
{
	for (int i = 0; i < team->size; i++)
		if (team->ids[i] == worker->id)
			return 1;
	return 0;
}

int team_can_run(const struct team *team, struct sched *sched, struct job *job)
{
	for (int i = 0; i < team->size; i++) {
		struct worker *worker = &sched->node->workers[team->ids[i]];

		if (!sched_has(sched, worker) || !worker_can_run_job(worker, job))
			return 0;
	}
	return 1;
}

/* ---- gangs ----------------------------------------------------------- */

static struct worker *member(const struct gang *gang, int rank)
{
	return &gang->job->node->workers[gang->team->ids[rank]];
}

static int rank_of(const struct team *team, const struct worker *worker)
{
	int rank = 0;

	while (team->ids[rank] != worker->id)
		rank++;
	return rank;
}

void gang_start(const struct team *team, struct job *job)
{
	gang_start_with(team, job, NULL);
}

void gang_start_with(const struct team *team, struct job *job,
		     struct starpu_task **aliases)
{
	struct node *node = job->node;
	struct gang *gang =
		orr_alloc(sizeof(*gang) + (size_t)team->size * sizeof(gang->next[0]));

	gang->team = team;
	gang->job = job;
	gang->aliases = aliases;
	/* Where there is no policy, but workers are awake, all call the kernel. */
	gang->is_spmd =
		job->task->cl->type == STARPU_SPMD ||
		(job->sched->ops->has_master && job->task->cl->type != STARPU_FORKJOIN);
	orr_lock(&node->teams->lock);
	for (int i = 0; i < team->size; i++) {
		struct worker *worker = member(gang, i);
		struct gang **last = &worker->gangs;

		while (*last)
			last = &(*last)->next[rank_of((*last)->team, worker)];
		orr_swap_ptr((void **)last, gang);
	}
	orr_unlock(&node->teams->lock);
	orr_fence();
	/* It may have ended by now: the team stays. */
	for (int i = 0; i < team->size; i++)
		plat_worker_wake(&node->workers[team->ids[i]]);
}

/* Who does not lead never looks at a gang to which it has come: it may be over. */
struct job *gang_come(struct worker *worker)
{
	struct gang *gang;
	int size;

	if (worker->npipeline > 0 || (orr_load(&worker->has_come) && !worker->leads))
		return NULL;
	/* The one that it had come to may be over since the caller looked. */
	gang = orr_load_ptr((void **)&worker->gangs);
	if (!gang)
		return NULL;
	size = gang->team->size;
	if (!worker->has_come) {
		struct worker *lead = member(gang, 0);

		worker->leads = worker == lead;
		orr_store(&worker->has_come, 1);
		if (orr_add(&gang->narrived, 1) == size && worker != lead)
			plat_worker_wake(lead);
		if (worker != lead)
			return NULL;
	}
	if (orr_load(&gang->narrived) < size)
		return NULL;
	worker_choose_implementation(worker, gang->job);
	return gang->job;
}

/* Its members go on to what comes next in their lines. */
static void release(struct worker *lead)
{
	struct node *node = lead->node;
	struct gang *gang = lead->gangs;
	const struct team *team = gang->team;

	orr_lock(&node->teams->lock);
	for (int i = 0; i < team->size; i++) {
		struct worker *worker = &node->workers[team->ids[i]];

		ORR_ASSERT(worker->gangs == gang);
		/* Who sees that it may go on sees where. */
		orr_swap_ptr((void **)&worker->gangs, gang->next[i]);
		orr_store(&worker->has_come, 0);
	}
	orr_unlock(&node->teams->lock);
	for (int i = 0; gang->aliases && i < team->size; i++)
		alias_end(gang->aliases[i]);
	free(gang->aliases);
	free(gang);
	orr_fence();
	for (int i = 0; i < team->size; i++)
		if (team->ids[i] != lead->id)
			plat_worker_wake(&node->workers[team->ids[i]]);
}

void gang_disband(struct worker *lead)
{
	release(lead);
}

/* Does the lead call the kernel for all? */
static int calls_all(const struct gang *gang)
{
	return gang->job->node->machine->takes_turns || !gang->is_spmd;
}

/* The lead is in the events of the task itself. */
static void tell(struct worker *lead, const struct gang *gang, struct event event)
{
	event.date_s = plat_now_s(lead->node->plat);
	event.id = gang->job->id;
	for (int i = 0; i < gang->team->size; i++)
		if (gang->team->ids[i] != lead->id)
			event_tell(lead->node, member(gang, i), event);
}

static void tell_begin(struct worker *lead, struct gang *gang)
{
	struct node *node = lead->node;

	gang->since_s = plat_now_s(node->plat);
	if (events_want(&node->events, EVENT_HELP_BEGINS))
		tell(lead, gang,
		     (struct event){
			     .kind = EVENT_HELP_BEGINS,
			     .value = event_text(node, task_name(gang->job->task))});
}

void gang_tell_end(struct worker *lead, struct gang *gang)
{
	double since_s = gang->since_s > lead->node->events.since_s
				 ? gang->since_s
				 : lead->node->events.since_s;

	if (events_want(&lead->node->events, EVENT_HELP_ENDS))
		tell(lead, gang,
		     (struct event){.kind = EVENT_HELP_ENDS,
				    .value = event_bits(since_s)});
}

void gang_run(struct worker *lead, struct gang *gang)
{
	int is_lone = calls_all(gang) && !gang->aliases;

	tell_begin(lead, gang);
	orr_store(&gang->nparts, is_lone ? 1 : gang->team->size);
	for (int i = 1; !is_lone && i < gang->team->size; i++) {
		orr_store(&member(gang, i)->is_called, 1);
		orr_fence();
		plat_worker_wake(member(gang, i));
	}
}

int gang_part_ended(struct gang *gang)
{
	return orr_add(&gang->nparts, -1) == 0;
}

int gang_step(struct worker *worker)
{
	struct gang *gang;
	struct worker *lead;

	if (!orr_load(&worker->is_called))
		return 0;
	gang = orr_load_ptr((void **)&worker->gangs);
	lead = member(gang, 0);
	orr_store(&worker->is_called, 0);
	if (gang->aliases)
		sched_started(worker, gang->job);
	if (!calls_all(gang))
		worker->driver->execute(worker, gang->job);
	if (gang->aliases)
		sched_ended(worker, gang->job);
	if (gang_part_ended(gang))
		plat_worker_wake(lead);
	return 1;
}

struct starpu_perfmodel_arch *gang_arch(struct worker *worker,
					const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;
	struct starpu_perfmodel_arch *leads_as;
	struct gang *gang = NULL;

	/* Others ask about a worker and jobs that it does not run. */
	if (job && job->worker == worker)
		gang = gang_of(worker, job);
	if (gang)
		return (struct starpu_perfmodel_arch *)&gang->team->arch;
	leads_as = orr_load_ptr((void **)&worker->leads_as);
	return leads_as ? leads_as : &worker->arch;
}

struct gang_place gang_place(const struct worker *worker, const struct job *job)
{
	struct gang_place place = {0, 1, -1};
	const struct gang *gang = gang_of(worker, job);

	if (gang) {
		place.size = gang->team->size;
		place.number = gang->team->number;
		place.rank = worker == member(gang, 0) ? gang->rank
						       : rank_of(gang->team, worker);
	} else if (job->sched->ops->has_master &&
		   job->task->cl->type == STARPU_FORKJOIN) {
		/* Called once, it may use all cores; so many calls of one that
		 * shares its work (STARPU_SPMD) there would not be. */
		place.size = 0;
		for (int i = 0; i < worker->node->nworkers; i++)
			place.size +=
				contexts_owns(job->sched, &worker->node->workers[i]) &&
				worker->node->workers[i].type == STARPU_CPU_WORKER;
	}
	return place;
}

struct starpu_task *gang_task(const struct worker *worker, const struct job *job)
{
	const struct gang *gang = gang_of(worker, job);
	struct starpu_task *alias =
		gang && gang->aliases ? gang->aliases[rank_of(gang->team, worker)] : NULL;

	return alias ? alias : job->task;
}

void gang_call_kernel(struct worker *worker, struct job *job, kernel_t kernel)
{
	struct starpu_task *task = job->task;
	struct gang *gang = gang_of(worker, job);
	int n = gang && gang->is_spmd ? gang->team->size : 1;

	for (int rank = 0; rank < n; rank++) {
		if (gang)
			gang->rank = rank;
		kernel(task->dyn_interfaces ? task->dyn_interfaces : task->interfaces,
		       task->cl_arg);
	}
	if (gang)
		gang->rank = 0;
}
