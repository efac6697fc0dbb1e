/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* One queue for all workers: in order of arrival (eager), or by priority (prio). */
#include "core/sched/sched.h"

#include <limits.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"

struct simple {
	struct sched base;
	struct queue queue;
};

static struct sched *open_simple(int ignores_priority)
{
	struct simple *simple = orr_alloc_lines(sizeof(*simple));

	queue_init(&simple->queue, ignores_priority);
	return &simple->base;
}

static struct sched *eager_open(struct node *node)
{
	(void)node;
	return open_simple(1);
}

static struct sched *prio_open(struct node *node)
{
	(void)node;
	return open_simple(0);
}

static void simple_close(struct sched *sched)
{
	struct simple *simple = ORR_CONTAINER(sched, struct simple, base);

	queue_free(&simple->queue);
	free(simple);
}

static struct worker *simple_push(struct sched *sched, struct job *job)
{
	queue_push(&ORR_CONTAINER(sched, struct simple, base)->queue, job);
	return NULL;
}

static struct job *simple_pop(struct sched *sched, struct worker *worker)
{
	return queue_pop(&ORR_CONTAINER(sched, struct simple, base)->queue, worker);
}

const struct sched_ops sched_eager = {
	.object = {INNER_CALLS(eager), .policy_name = "eager",
		   .policy_description = "one queue, in order of arrival"},
	.open = eager_open,
	.close = simple_close,
	.push = simple_push,
	.pop = simple_pop,
};

const struct sched_ops sched_prio = {
	.object = {INNER_CALLS(prio), .policy_name = "prio",
		   .policy_description = "one queue, by priority"},
	.least = INT_MIN,
	.most = INT_MAX,
	.open = prio_open,
	.close = simple_close,
	.push = simple_push,
	.pop = simple_pop,
};
