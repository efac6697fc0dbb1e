/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Locality work stealing: a queue per worker; who is idle takes from its nearest. */
#include "core/sched.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/queue.h"

struct lws {
	struct sched base;
	int nqueues;
	int next; /* where the next task from outside a worker goes */
	struct queue queues[];
};

static struct lws *lws_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct lws, base);
}

static struct sched *lws_open(struct node *node)
{
	struct lws *lws =
		orr_alloc(sizeof(*lws) + (size_t)node->nworkers * sizeof(lws->queues[0]));

	lws->nqueues = node->nworkers;
	for (int i = 0; i < lws->nqueues; i++)
		queue_init(&lws->queues[i], 0);
	return &lws->base;
}

static void lws_close(struct sched *sched)
{
	struct lws *lws = lws_of(sched);

	for (int i = 0; i < lws->nqueues; i++)
		queue_free(&lws->queues[i]);
	free(lws);
}

/* A worker keeps what it made ready; others deal round, skipping who cannot run it. */
static struct worker *target(struct lws *lws, struct node *node, struct job *job)
{
	struct worker *self = plat_current_worker(node->plat);
	unsigned implementation;
	int next = orr_load(&lws->next);

	if (self && worker_can_run(self, job->task, &implementation))
		return self;
	for (int i = 0; i < lws->nqueues; i++) {
		struct worker *worker = &node->workers[(next + i) % lws->nqueues];

		if (!worker_can_run(worker, job->task, &implementation))
			continue;
		orr_store(&lws->next, (worker->id + 1) % lws->nqueues);
		return worker;
	}
	orr_bug(__FILE__, __LINE__, "a task was pushed that no worker can run");
}

static struct worker *lws_push(struct sched *sched, struct job *job)
{
	struct lws *lws = lws_of(sched);
	struct worker *worker = target(lws, sched->node, job);

	queue_push(&lws->queues[worker->id], job);
	/* Any idle worker may steal it: wake the owner only when it sleeps. */
	return orr_load(&worker->parked) ? worker : NULL;
}

static struct job *lws_pop(struct sched *sched, struct worker *worker)
{
	struct lws *lws = lws_of(sched);
	struct job *job = queue_pop(&lws->queues[worker->id], worker);

	/* Nearest first: ids follow the topology. */
	for (int d = 1; !job && d < lws->nqueues; d++) {
		int up = worker->id + d, down = worker->id - d;

		if (up < lws->nqueues)
			job = queue_pop(&lws->queues[up], worker);
		if (!job && down >= 0)
			job = queue_pop(&lws->queues[down], worker);
	}
	return job;
}

const struct sched_ops sched_lws = {
	.name = "lws",
	.description =
		"a queue per worker, by priority; idle workers steal from neighbours",
	.has_priorities = 1,
	.open = lws_open,
	.close = lws_close,
	.push = lws_push,
	.pop = lws_pop,
};
