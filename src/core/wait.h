/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_WAIT_H
#define ORR_CORE_WAIT_H

/*
 * wait.h - block a thread of the application, and remember what it waits for.
 *
 * Whoever blocks says why, so that stuck.h can tell what a node waits for, and whether
 * all threads that it knows of are blocked.  A wait that need not block costs one look.
 */
#include "core/node.h"

enum wait_kind {
	WAIT_ENDED,      /* tasks and acquisitions, until few enough have not ended */
	WAIT_READY,      /* the same, until few enough are ready */
	WAIT_TASK,       /* object: struct starpu_task */
	WAIT_TAG,        /* object: starpu_tag_t */
	WAIT_ACQUIRE,    /* object: the handle, as in the next three */
	WAIT_UNREGISTER, /* its users, before it is freed */
	WAIT_FETCH,
	WAIT_PARTITION,
	WAIT_TRANSFER, /* object: text, which transfer */
	WAIT_BARRIER,
	WAIT_THREAD /* object: text, the function of starpu_pthread_*() */
};

/* On the stack of the thread that waits. */
struct wait {
	struct list link; /* in node->waits */
	enum wait_kind kind;
	const void *object;
	const struct plat_gate *gate;
	const void *thread; /* plat_thread() */
};

/* As plat_gate_wait(). */
int wait_at(struct node *node, struct plat_gate *gate, enum wait_kind kind,
	    const void *object);

/* For reports.  Any thread; what they find may change at once. */
int wait_is_any(struct node *node);
/* Does the thread wait? */
int wait_has_thread(struct node *node, const void *thread);
/* Threads that wait, each once, without those of kernels, for which is_ours() says -1;
 * -1: a gate among theirs is open already, or one of the threads is_ours. */
int wait_count_threads(struct node *node,
		       int (*is_ours)(struct plat *plat, const void *thread));
/* Show all waits, oldest first; they are locked meanwhile. */
void wait_each(struct node *node, void (*show)(void *arg, const struct wait *wait),
	       void *arg);

#endif
