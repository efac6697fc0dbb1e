/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A worker is drawn for each task, with a chance in proportion to its speed; it takes
 * them in order of arrival.  Each scheduler draws from a seed of its own, the same in
 * each run.
 */
#include "core/sched/sched.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_query.h"
#include "core/sched/draw.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"

struct random_worker {
	struct queue queue;
	double speed;
};

struct random {
	struct sched base;
	struct orr_lock lock; /* of: */
	uint64_t drawn;
	struct random_worker workers[];
};

static struct random *random_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct random, base);
}

static struct sched *random_open(struct node *node)
{
	struct random *random = orr_alloc_lines(
		sizeof(*random) + (size_t)node->nworkers * sizeof(random->workers[0]));

	orr_lock_init(&random->lock);
	for (int i = 0; i < node->nworkers; i++) {
		random->workers[i].speed = model_relative_speedup(&node->workers[i].arch);
		queue_init(&random->workers[i].queue, 1);
	}
	return &random->base;
}

static void random_close(struct sched *sched)
{
	struct random *random = random_of(sched);

	for (int i = 0; i < sched->node->nworkers; i++)
		queue_free(&random->workers[i].queue);
	free(random);
}

static double draw(struct random *random)
{
	uint64_t n;

	orr_lock(&random->lock);
	n = ++random->drawn;
	orr_unlock(&random->lock);
	return draw_number(n);
}

static struct worker *random_push(struct sched *sched, struct job *job)
{
	struct random *random = random_of(sched);
	struct worker *able[STARPU_NMAXWORKERS];
	double total = 0, left;
	unsigned implementation;
	int n = 0, i = 0;

	SCHED_EACH_WORKER(worker, sched)
	{
		if (!worker_can_run(worker, job->task, &implementation))
			continue;
		able[n++] = worker;
		total += random->workers[worker->id].speed;
	}
	if (n == 0) {
		sched_put_aside(sched, job);
		return NULL;
	}
	left = draw(random) * total - random->workers[able[0]->id].speed;
	while (left >= 0 && i + 1 < n)
		left -= random->workers[able[++i]->id].speed;
	queue_push(&random->workers[able[i]->id].queue, job);
	return able[i];
}

static struct job *random_pop(struct sched *sched, struct worker *worker)
{
	return queue_pop(&random_of(sched)->workers[worker->id].queue, worker);
}

static void random_remove_worker(struct sched *sched, struct worker *worker,
				 struct ready *left)
{
	queue_drain(&random_of(sched)->workers[worker->id].queue, left);
}

const struct sched_ops sched_random = {
	.object = {INNER_CALLS(random), .policy_name = "random",
		   .policy_description =
			   "a worker drawn by its speed; in order of arrival"},
	.places = 1,
	.open = random_open,
	.close = random_close,
	.push = random_push,
	.pop = random_pop,
	.remove_worker = random_remove_worker,
};
