/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/wait.h"

#include "base/check.h"

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
	int ret;

	if (plat_gate_is_open(gate))
		return plat_gate_wait(node->plat, gate);
	wait.thread = plat_thread();
	if (!wait.thread)
		refuse(node, kind);
	orr_lock(&node->waits_lock);
	list_push_back(&node->waits, &wait.link);
	orr_next(&node->nwaits);
	orr_unlock(&node->waits_lock);
	ret = plat_gate_wait(node->plat, gate);
	orr_lock(&node->waits_lock);
	list_remove(&wait.link);
	orr_unlock(&node->waits_lock);
	return ret;
}
