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
	int nending;        /* ends of requests that the thread is in */
	int is_interrupted; /* atomic: by a callback, whose own waits come behind it */
	int is_left;        /* its node has closed: nobody may look at that */
};

/* What the threads do that wait. */
struct wait_census {
	int nblocked; /* threads of the program that can only go on when a gate opens */
	int nending;  /* ends of requests that all blocked threads are in */
	int nactive;  /* their gate is open, or they are in a callback */
};

/* As plat_gate_wait(). */
int wait_at(struct node *node, struct plat_gate *gate, enum wait_kind kind,
	    const void *object);

/* The node closes: threads that wait for each other go on to, without it. */
void wait_leave_all(struct node *node);

/* For reports.  Any thread; what they find may change at once. */
int wait_is_any(struct node *node);
/* Is the thread blocked, at the gate of its innermost wait? */
int wait_blocks(struct node *node, const void *thread);
/* All threads that wait, each once; the program's are those that are not is_ours(). */
struct wait_census wait_survey(struct node *node,
			       int (*is_ours)(struct plat *plat, const void *thread));
/* A callback begins inside the calling thread's wait, if there is one, and has ended;
 * what the former returns is for the latter. */
struct wait *wait_interrupt(struct plat_caller *caller);
void wait_resume(struct plat_caller *caller, struct wait *wait);
/* Show all waits, oldest first; they are locked meanwhile. */
void wait_each(struct node *node, void (*show)(void *arg, const struct wait *wait),
	       void *arg);

#endif
