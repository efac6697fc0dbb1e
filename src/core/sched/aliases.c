/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/aliases.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/node.h"
#include "core/sched/teams.h"
#include "core/task/task.h"

/* In the field of struct starpu_task that no program sets. */
enum { ALIAS_MAGIC = 0x616c6173 };

struct gathering {
	struct job *job;
	int size, n;
	struct starpu_task *aliases[STARPU_NMAXWORKERS]; /* by worker */
	unsigned char has_come[STARPU_NMAXWORKERS];
};

/* That of the job, or NULL; the teams are locked. */
static struct gathering *find(const struct teams *teams, const struct job *job)
{
	return table_get(&teams->gatherings, (uint64_t)(uintptr_t)job);
}

void aliases_expect(struct job *job, int size)
{
	struct teams *teams = job->node->teams;
	struct gathering *gathering;
	int has_begun = 0;

	orr_lock(&teams->lock);
	gathering = find(teams, job);
	if (gathering) {
		has_begun = gathering->n > 0;
	} else {
		gathering = orr_alloc(sizeof(*gathering));
		gathering->job = job;
		table_put(&teams->gatherings, (uint64_t)(uintptr_t)job, gathering);
		orr_store(&teams->ngatherings, teams->ngatherings + 1);
	}
	gathering->size = size;
	orr_unlock(&teams->lock);
	if (has_begun)
		orr_die(job->node->rank,
			"starpu_parallel_task_barrier_init: workers have taken aliases "
			"of task \"%s\" already; call it once, before they are pushed",
			task_name(job->task));
}

int aliases_wanted(struct node *node, const struct job *job)
{
	int is_wanted;

	if (!job || !orr_load(&node->teams->ngatherings))
		return 0;
	orr_lock(&node->teams->lock);
	is_wanted = find(node->teams, job) != NULL;
	orr_unlock(&node->teams->lock);
	return is_wanted;
}

struct starpu_task *alias_make(const struct starpu_task *task)
{
	struct starpu_task *alias = orr_alloc(sizeof(*alias));

	*alias = *task;
	alias->magic = ALIAS_MAGIC;
	alias->prev = alias->next = NULL;
	return alias;
}

int alias_is(const struct starpu_task *task)
{
	return task->magic == ALIAS_MAGIC;
}

void alias_end(struct starpu_task *alias)
{
	if (alias && alias->destroy)
		free(alias);
}

/* ---- workers come ---------------------------------------------------- */

__attribute__((noreturn)) static void
refuse(const struct worker *worker, const struct starpu_task *task, const char *why)
{
	orr_die(worker->node->rank,
		"worker %d was given an alias of task \"%s\" %s; expected one for each "
		"of as many CPU workers as starpu_parallel_task_barrier_init*() was "
		"told, made after that call",
		worker->id, task_name(task), why);
}

/* All have come: they are a gang. */
static void start(struct node *node, struct gathering *gathering, const struct team *team)
{
	struct starpu_task **aliases = orr_alloc((size_t)team->size * sizeof(aliases[0]));

	for (int i = 0; i < team->size; i++) {
		struct worker *worker = &node->workers[team->ids[i]];

		aliases[i] = gathering->aliases[worker->id];
		/* Before it may have run the job, after which it pops again. */
		if (orr_load_ptr((void **)&worker->gathers) == gathering)
			orr_swap_ptr((void **)&worker->gathers, NULL);
	}
	gang_start_with(team, gathering->job, aliases);
	free(gathering);
}

/* The worker comes; the team if it is the last one.  The teams are locked. */
static const struct team *come(struct worker *worker, struct gathering *gathering)
{
	struct node *node = worker->node;
	int ids[STARPU_NMAXWORKERS], n = 0;

	gathering->has_come[worker->id] = 1;
	if (++gathering->n < gathering->size)
		return NULL;
	for (int i = 0; i < node->nworkers; i++)
		if (gathering->has_come[i])
			ids[n++] = i;
	table_remove(&node->teams->gatherings, (uint64_t)(uintptr_t)gathering->job);
	orr_store(&node->teams->ngatherings, node->teams->ngatherings - 1);
	return teams_of(node, ids, n);
}

int alias_taken(struct worker *worker, struct starpu_task *task, int is_popped)
{
	struct teams *teams = worker->node->teams;
	const struct team *team = NULL;
	struct gathering *gathering;
	int is_first = 0;

	if (!alias_is(task) && !orr_load(&teams->ngatherings))
		return 0;
	orr_lock(&teams->lock);
	gathering = find(teams, task->starpu_private);
	if (gathering && worker->type == STARPU_CPU_WORKER) {
		is_first = !gathering->has_come[worker->id];
		if (is_first && alias_is(task))
			gathering->aliases[worker->id] = task;
		/* Who comes last may pass this flag. */
		if (is_first && is_popped)
			orr_swap_ptr((void **)&worker->gathers, gathering);
		team = is_first ? come(worker, gathering) : NULL;
	}
	orr_unlock(&teams->lock);
	if (!gathering && !alias_is(task))
		return 0;
	if (!gathering)
		refuse(worker, task, "that is one too many, or that outlived its task");
	if (!is_first)
		refuse(worker, task,
		       worker->type == STARPU_CPU_WORKER ? "a second time"
							 : "and is no CPU worker");
	if (team)
		start(worker->node, gathering, team);
	return 1;
}
