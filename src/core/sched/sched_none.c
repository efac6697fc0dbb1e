/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* No policy: the context keeps its workers' cores for code that runs in parallel, and one
 * of them, its master, runs its tasks in the order of their arrival.  Where the others
 * are awake, all cores run each task together. */
#include "core/sched/contexts.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/sched/queue.h"
#include "core/sched/teams.h"

struct none {
	struct sched base;
	struct queue queue;
};

static struct sched *none_open(struct node *node)
{
	struct none *none = orr_alloc_lines(sizeof(*none));

	(void)node;
	queue_init(&none->queue, 1);
	return &none->base;
}

static void none_close(struct sched *sched)
{
	struct none *none = ORR_CONTAINER(sched, struct none, base);

	queue_free(&none->queue);
	free(none);
}

/* Those cores that can run the job, if there are several; NULL: the master runs it. */
static const struct team *team_for(struct sched *sched, struct job *job)
{
	struct node *node = sched->node;
	const struct team *team = NULL;
	int ids[STARPU_NMAXWORKERS], n = 0;

	for (int i = 0; sched->is_awake && i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];

		if (worker->type == STARPU_CPU_WORKER && sched_has(sched, worker) &&
		    worker_can_run_job(worker, job))
			ids[n++] = i;
	}
	if (n > 1) {
		orr_lock(&node->teams->lock);
		team = teams_of(node, ids, n);
		orr_unlock(&node->teams->lock);
	}
	return team;
}

static struct worker *none_push(struct sched *sched, struct job *job)
{
	const struct team *team = team_for(sched, job);

	if (team) {
		gang_start(team, job);
		return NULL;
	}
	queue_push(&ORR_CONTAINER(sched, struct none, base)->queue, job);
	return contexts_master(sched);
}

static struct job *none_pop(struct sched *sched, struct worker *worker)
{
	if (contexts_master(sched) != worker)
		return NULL;
	return queue_pop(&ORR_CONTAINER(sched, struct none, base)->queue, worker);
}

const struct sched_ops sched_none = {
	.object = {.policy_name = "",
		   .policy_description = "no policy",
		   .worker_type = STARPU_WORKER_LIST},
	.has_master = 1,
	.open = none_open,
	.close = none_close,
	.push = none_push,
	.pop = none_pop,
};
