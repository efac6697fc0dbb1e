/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * First the tasks after which most is to come (graph_test): their longest way to the end
 * of what was submitted, in tasks, or all tasks that depend on them
 * (STARPU_SCHED_GRAPH_TEST_DESCENDANTS).
 *
 * Nothing runs before the first decision, so that there is a graph to look at: that is
 * starpu_do_schedule(), or a thread of the application that waits.  From then on tasks
 * without a rank stand back until the next one, or until a worker has nothing else to
 * do.  As in StarPU, a task's rank becomes its priority.
 */
#include "core/sched/sched.h"

#include <limits.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"
#include "core/sched/ranks.h"

struct graph_test {
	struct sched base;
	int by_descendants;
	int has_begun; /* atomic: the first decision was made */
	struct queue queue;
	struct orr_lock lock; /* of: */
	struct ready unranked;
	int nunranked; /* atomic */
};

static struct graph_test *graph_test_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct graph_test, base);
}

static struct sched *graph_test_open(struct node *node)
{
	struct graph_test *test = orr_alloc(sizeof(*test));

	test->by_descendants = node_knobs(node)->graph_test_descendants;
	orr_lock_init(&test->lock);
	queue_init(&test->queue, 0);
	ranks_use(node);
	return &test->base;
}

static void graph_test_close(struct sched *sched)
{
	struct graph_test *test = graph_test_of(sched);

	ranks_leave(sched->node);
	queue_free(&test->queue);
	free(test);
}

static struct worker *graph_test_push(struct sched *sched, struct job *job)
{
	struct graph_test *test = graph_test_of(sched);
	int rank = ranks_find(sched->node, job->id);

	if (rank >= 0) {
		job->task->priority = rank;
		queue_push(&test->queue, job);
		return NULL;
	}
	orr_lock(&test->lock);
	ready_append(&test->unranked, job);
	orr_add(&test->nunranked, 1);
	orr_unlock(&test->lock);
	return NULL;
}

/* Rank what was submitted, and let all of it run. */
static void decide(struct graph_test *test)
{
	struct node *node = test->base.node;
	struct ready jobs;
	struct job *job;

	ranks_compute(node, test->by_descendants);
	orr_store(&test->has_begun, 1);
	orr_lock(&test->lock);
	jobs = test->unranked;
	test->unranked = (struct ready){0};
	orr_store(&test->nunranked, 0);
	orr_unlock(&test->lock);
	while ((job = jobs.first)) {
		int rank = ranks_find(node, job->id);

		jobs.first = job->next;
		job->task->priority = rank > 0 ? rank : 0;
		queue_push(&test->queue, job);
	}
}

static void graph_test_schedule(struct sched *sched)
{
	decide(graph_test_of(sched));
	orr_fence();
	workers_wake(sched, ~0u, 1);
}

static struct job *graph_test_pop(struct sched *sched, struct worker *worker)
{
	struct graph_test *test = graph_test_of(sched);
	struct job *job = queue_pop(&test->queue, worker);

	if (job || !orr_load(&test->has_begun) || orr_load(&test->nunranked) == 0)
		return job;
	decide(test);
	return queue_pop(&test->queue, worker);
}

static void graph_test_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	(void)worker;
	ranks_forget(sched->node, job->id);
}

const struct sched_ops sched_graph_test = {
	.object = {INNER_CALLS(graph_test), .policy_name = "graph_test",
		   .policy_description =
			   "first what most depends on, once asked to decide"},
	.takes_ranks = 1,
	.open = graph_test_open,
	.close = graph_test_close,
	.push = graph_test_push,
	.pop = graph_test_pop,
	.ended = graph_test_ended,
	.schedule = graph_test_schedule,
};
