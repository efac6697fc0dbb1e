/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/wait.h"

#include "base/check.h"
#include "core/sched/contexts.h"
#include "core/task/callback.h"
#include "core/worker.h"

static const char *const whats[] = {
	[WAIT_ENDED] = "the end of tasks",
	[WAIT_READY] = "ready tasks to be started",
	[WAIT_TASK] = "the end of a task",
	[WAIT_TAG] = "a tag",
	[WAIT_ACQUIRE] = "its turn on data",
	[WAIT_UNREGISTER] = "the end of the users of data",
	[WAIT_FETCH] = "data",
	[WAIT_PARTITION] = "the end of the users of data",
	[WAIT_TRANSFER] = "a transfer",
	[WAIT_BARRIER] = "a barrier or the shutdown",
	[WAIT_THREAD] = "another thread",
};

/* Callbacks of tasks are told by the API, which knows the function. */
static void refuse(const struct node *node, enum wait_kind kind)
{
	orr_die(node->rank,
		"a callback calls a function that waits for %s, which a callback cannot "
		"do in simulation: use the form of the function that takes a callback, "
		"or wait in main() or in a thread that main has made",
		whats[kind]);
}

/* What a worker waits for in a callback is the end of a task. */
static void tell(struct node *node, enum wait_kind kind, double since_s)
{
	event_tell(node, NULL,
		   (struct event){.kind = EVENT_WAITED,
				  .n = (uint32_t)kind,
				  .value = event_bits(since_s)});
}

int wait_at(struct node *node, struct plat_gate *gate, enum wait_kind kind,
	    const void *object)
{
	struct wait wait = {.kind = kind, .object = object, .gate = gate}, *outer;
	struct plat_caller *caller;
	struct worker *worker;
	double since_s = -1; /* nobody wants to know */
	int ret;

	if (plat_gate_is_open(gate))
		return plat_gate_wait(node->plat, gate);
	wait.thread = plat_thread();
	if (!wait.thread)
		refuse(node, kind);
	caller = plat_caller(node->plat);
	if (caller->later)
		callback_catch_up(node, caller);
	worker = caller->worker;
	outer = caller->wait;
	wait.nending = caller->nending;
	/* Nobody else may ask for what was put off; policies wait for threads. */
	if (kind != WAIT_THREAD && !caller->has_asked)
		contexts_schedule(node);
	caller->has_asked = 0;
	orr_lock(&node->waits_lock);
	list_push_back(&node->waits, &wait.link);
	orr_next(&node->nwaits);
	orr_unlock(&node->waits_lock);
	caller->wait = &wait;
	if (worker)
		orr_store(&worker->is_waiting, 1);
	else if (events_want(&node->events, EVENT_WAITED))
		since_s = plat_now_s(node->plat);
	ret = plat_gate_wait(node->plat, gate);
	if (worker && !wait.is_left)
		orr_store(&worker->is_waiting, outer != NULL);
	caller->wait = outer;
	if (wait.is_left)
		return ret;
	orr_lock(&node->waits_lock);
	list_remove(&wait.link);
	orr_unlock(&node->waits_lock);
	if (since_s >= 0)
		tell(node, kind, since_s);
	return ret;
}

static int is_blocked(const struct wait *wait)
{
	return !plat_gate_is_open(wait->gate) && !orr_load(&wait->is_interrupted);
}

void wait_leave_all(struct node *node)
{
	enum wait_kind kind = WAIT_THREAD;
	int nlost = 0;

	orr_lock(&node->waits_lock);
	while (!list_is_empty(&node->waits)) {
		struct wait *wait = LIST_ENTRY(node->waits.next, struct wait, link);

		list_remove(&wait->link);
		wait->is_left = 1;
		if (wait->kind == WAIT_THREAD || !is_blocked(wait))
			continue;
		kind = nlost++ == 0 ? wait->kind : kind;
	}
	orr_unlock(&node->waits_lock);
	if (nlost > 0)
		orr_complain(
			node->rank,
			"starpu_shutdown: %d threads of the program still wait in "
			"the library (one for %s), and will for ever: nothing comes "
			"after the shutdown.  Let them return, and join them, before",
			nlost, whats[kind]);
}

struct wait *wait_interrupt(struct plat_caller *caller)
{
	struct wait *wait = caller->wait;

	if (wait)
		orr_store(&wait->is_interrupted, 1);
	return wait;
}

void wait_resume(struct plat_caller *caller, struct wait *wait)
{
	ORR_ASSERT(caller->wait == wait);
	if (wait)
		orr_store(&wait->is_interrupted, 0);
}

/* ---- reports --------------------------------------------------------- */

/* The next one, NULL after the last; first with NULL.  Locked. */
static const struct wait *next_of(const struct node *node, const struct wait *wait)
{
	const struct list *link = wait ? wait->link.next : node->waits.next;

	return link == &node->waits ? NULL : LIST_ENTRY(link, const struct wait, link);
}

int wait_is_any(struct node *node)
{
	int is_any;

	orr_lock(&node->waits_lock);
	is_any = !list_is_empty(&node->waits);
	orr_unlock(&node->waits_lock);
	return is_any;
}

/* The thread's innermost wait: one in a callback comes behind that which it interrupts.
 * Locked. */
static const struct wait *innermost_of(const struct node *node, const void *thread)
{
	const struct wait *wait = NULL, *found = NULL;

	while ((wait = next_of(node, wait)))
		if (wait->thread == thread)
			found = wait;
	return found;
}

int wait_blocks(struct node *node, const void *thread)
{
	const struct wait *wait;
	int blocks;

	orr_lock(&node->waits_lock);
	wait = innermost_of(node, thread);
	blocks = wait && is_blocked(wait);
	orr_unlock(&node->waits_lock);
	return blocks;
}

struct wait_census wait_survey(struct node *node,
			       int (*is_ours)(struct plat *plat, const void *thread))
{
	struct wait_census census = {0};
	const struct wait *wait = NULL;

	orr_lock(&node->waits_lock);
	while ((wait = next_of(node, wait))) {
		if (innermost_of(node, wait->thread) != wait)
			continue;
		if (!is_blocked(wait)) {
			census.nactive++;
			continue;
		}
		census.nending += wait->nending;
		census.nblocked += !is_ours || !is_ours(node->plat, wait->thread);
	}
	orr_unlock(&node->waits_lock);
	return census;
}

void wait_each(struct node *node, void (*show)(void *arg, const struct wait *wait),
	       void *arg)
{
	const struct wait *wait = NULL;

	orr_lock(&node->waits_lock);
	while ((wait = next_of(node, wait)))
		show(arg, wait);
	orr_unlock(&node->waits_lock);
}
