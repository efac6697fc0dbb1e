/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Counters of tasks, and who waits until they have come down. */
#include "core/node.h"

#include <limits.h>

#include "core/sched/contexts.h"
#include "core/sched/sched.h"
#include "core/wait.h"

struct count_waiter {
	struct count_waiter *next;
	int limit, ready_only;
	struct sched *sched; /* whose jobs it counts; NULL: of the node */
	struct plat_gate gate;
};

/*
 * Of the initial one: those that are nobody else's.  A job is counted by the node before
 * and after it is elsewhere.  What was submitted there is asked before the node, and what
 * has ended after: what changes meanwhile makes it more, never less.
 */
static int count_jobs(const struct sched *sched)
{
	const struct node *node = sched->node;
	unsigned submitted, ended;
	int all;

	if (sched->id != 0)
		return orr_load(&sched->njobs);
	submitted = (unsigned)orr_load(&node->submitted_elsewhere);
	all = node_nsubmitted(node);
	ended = (unsigned)orr_load(&node->ended_elsewhere);
	return all - (int)(submitted - ended);
}

int node_nready_of(const struct sched *sched)
{
	const struct node *node = sched->node;
	int nready = count_jobs(sched);

	if (sched->id != 0)
		nready -= orr_load(&sched->nblocked);
	else
		nready -= orr_load(&node->nblocked) - orr_load(&node->blocked_elsewhere);
	return nready > 0 ? nready : 0;
}

static int count_now(const struct node *node, int ready_only)
{
	int blocked = ready_only ? orr_load(&node->nblocked) : 0;

	return node_nsubmitted(node) - blocked;
}

static int count_for(const struct node *node, const struct count_waiter *waiter)
{
	return waiter->sched ? count_jobs(waiter->sched)
			     : count_now(node, waiter->ready_only);
}

/* Of those who wait now; node->wait_lock is taken. */
static void note_limits(struct node *node)
{
	int limit[2] = {-1, -1};

	for (const struct count_waiter *waiter = node->waiters; waiter;
	     waiter = waiter->next)
		if (waiter->sched)
			limit[1] = INT_MAX; /* Whenever a task ends. */
		else if (waiter->limit > limit[waiter->ready_only])
			limit[waiter->ready_only] = waiter->limit;
	for (int i = 0; i < 2; i++)
		orr_store(&node->wait_limit[i], limit[i]);
}

void node_counted_for_some(struct node *node)
{
	struct count_waiter **at, *waiter;

	if (count_now(node, 0) > orr_load(&node->wait_limit[0]) &&
	    (orr_load(&node->wait_limit[1]) < 0 ||
	     count_now(node, 1) > orr_load(&node->wait_limit[1])))
		return;
	orr_lock(&node->wait_lock);
	for (at = &node->waiters; (waiter = *at);) {
		if (count_for(node, waiter) > waiter->limit) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		plat_gate_open(node->plat, &waiter->gate);
	}
	note_limits(node);
	orr_unlock(&node->wait_lock);
}

/* Nothing will open its gate. */
static void forget_waiter(struct node *node, struct count_waiter *waiter)
{
	struct count_waiter **at = &node->waiters;

	orr_lock(&node->wait_lock);
	while (*at && *at != waiter)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
	note_limits(node);
	orr_unlock(&node->wait_lock);
}

static int wait_count(struct node *node, struct count_waiter waiter)
{
	int ret;

	if (count_for(node, &waiter) <= waiter.limit)
		return 0;
	plat_gate_init(&waiter.gate);
	orr_lock(&node->wait_lock);
	waiter.next = node->waiters;
	node->waiters = &waiter;
	note_limits(node);
	orr_unlock(&node->wait_lock);
	/* The counter may have come down before the limit was seen. */
	orr_fence();
	node_counted(node);
	ret = wait_at(node, &waiter.gate, waiter.ready_only ? WAIT_READY : WAIT_ENDED,
		      NULL);
	if (ret < 0)
		forget_waiter(node, &waiter);
	return ret;
}

int node_wait_submitted(struct node *node, int limit)
{
	return wait_count(node, (struct count_waiter){.limit = limit});
}

int node_wait_ready(struct node *node, int limit)
{
	return wait_count(node, (struct count_waiter){.limit = limit, .ready_only = 1});
}

int node_wait_context(struct node *node, struct sched *sched, int limit)
{
	int ret;

	/* It may be deleted before this thread looks again. */
	contexts_join(sched);
	ret = wait_count(node, (struct count_waiter){.limit = limit, .sched = sched});
	contexts_leave(sched);
	return ret;
}
