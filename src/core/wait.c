/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/wait.h"

#include "base/check.h"
#include "core/sched/contexts.h"
#include "core/worker.h"

/* Callbacks of tasks are told by the API, which knows the function. */
static void refuse(const struct node *node, enum wait_kind kind)
{
	static const char *const whats[] = {
		[WAIT_ENDED] = "the end of tasks",
		[WAIT_READY] = "ready tasks to be started",
		[WAIT_TASK] = "the end of a task",
		[WAIT_TAG] = "a tag",
		[WAIT_ACQUIRE] = "its turn on data",
		[WAIT_UNREGISTER] = "the end of the users of data",
		[WAIT_FETCH] = "data",
		[WAIT_TRANSFER] = "a transfer",
		[WAIT_BARRIER] = "a barrier or the shutdown",
		[WAIT_THREAD] = "another thread",
	};

	orr_die(node->rank,
		"a callback calls a function that waits for %s, which a callback cannot "
		"do in simulation: use the form of the function that takes a callback, "
		"or wait in main() or in a thread (starpu_pthread_create())",
		whats[kind]);
}

int wait_at(struct node *node, struct plat_gate *gate, enum wait_kind kind,
	    const void *object)
{
	struct wait wait = {.kind = kind, .object = object, .gate = gate};
	struct worker *worker;
	int ret;

	if (plat_gate_is_open(gate))
		return plat_gate_wait(node->plat, gate);
	wait.thread = plat_thread();
	if (!wait.thread)
		refuse(node, kind);
	worker = plat_current_worker(node->plat);
	/* Nobody else may ask for what was put off; policies wait for threads. */
	if (kind != WAIT_THREAD)
		contexts_schedule(node);
	orr_lock(&node->waits_lock);
	list_push_back(&node->waits, &wait.link);
	orr_next(&node->nwaits);
	orr_unlock(&node->waits_lock);
	if (worker)
		orr_store(&worker->is_waiting, 1);
	ret = plat_gate_wait(node->plat, gate);
	if (worker)
		orr_store(&worker->is_waiting, 0);
	orr_lock(&node->waits_lock);
	list_remove(&wait.link);
	orr_unlock(&node->waits_lock);
	return ret;
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

/* The thread's first wait on the list: a callback may wait inside a wait.  Locked. */
static const struct wait *first_of(const struct node *node, const void *thread)
{
	const struct wait *wait = NULL;

	while ((wait = next_of(node, wait)) && wait->thread != thread)
		;
	return wait;
}

int wait_has_thread(struct node *node, const void *thread)
{
	int has;

	orr_lock(&node->waits_lock);
	has = first_of(node, thread) != NULL;
	orr_unlock(&node->waits_lock);
	return has;
}

int wait_count_threads(struct node *node,
		       int (*is_ours)(struct plat *plat, const void *thread))
{
	const struct wait *wait = NULL;
	int n = 0;

	orr_lock(&node->waits_lock);
	while (n >= 0 && (wait = next_of(node, wait))) {
		int whose = is_ours(node->plat, wait->thread);

		if (plat_gate_is_open(wait->gate) || whose > 0)
			n = -1;
		else if (whose == 0)
			n += first_of(node, wait->thread) == wait;
	}
	orr_unlock(&node->waits_lock);
	return n;
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
