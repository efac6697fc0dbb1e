/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_COUNTERS_H
#define ORR_CORE_COUNTERS_H

/*
 * counters.h - what happens to tasks, counted while the application wants it, and who is
 * told of each change.
 *
 * The hooks of core/event.h count, so it costs nothing while nobody counts, and a node
 * has counters from the first call on.  Tasks of the
 * application count; of those that were submitted before, only that they are executed.
 * Listeners are called with nothing locked, by the thread that counts.  The calls about
 * one tally never overlap: what changes during a call, also because of it, is told by one
 * more call of the same thread.
 */
#include "core/task/job.h"

struct counters_listener;

/* Of a node, a worker or a codelet, since counting began first. */
struct tally {
	int64_t total_submitted, peak_submitted, peak_ready, total_executed;
	double execution_us;
	/* The present numbers, of which these are the peaks: tasks that wait for others,
	 * and tasks that are ready and have not begun. */
	int64_t nwaiting, nready;
	struct counters_listener *listener; /* shared, counted; or NULL */
	struct plat_caller *teller;         /* the thread that is telling; or NULL */
	int is_behind;                      /* it has something more to tell */
};

/* Embedded in the API's. */
struct counters_listener {
	void (*heard)(struct counters_listener *listener, const struct tally *tally);
	void (*free)(struct counters_listener *listener);
	int nusers; /* atomic: its owner, tallies, calls; the last one frees it */
};

struct counters {
	struct orr_lock lock; /* of all below */
	int is_on;
	struct tally all;
	struct tally *workers;
	struct table codelets; /* struct tally by address of the codelet */
	struct table stages;   /* of tasks counted and not terminated, by number */
};

/* Nobody calls a hook any more. */
void counters_free(struct node *node);
/* Any thread. */
void counters_start(struct node *node);
void counters_stop(struct node *node);
/* The hook: the job of a task changes its state. */
void counters_task(struct job *job, enum event_kind kind);

/* Of the node (both NULL), of a worker, or of a codelet: tell it to listener from now on;
 * NULL: to nobody.  It returns when no call about it is under way, but for the caller's
 * own. */
struct counters_subject {
	const struct worker *worker;
	const struct starpu_codelet *cl;
};
void counters_listen(struct node *node, struct counters_subject subject,
		     struct counters_listener *listener);
/* One user less. */
void counters_drop(struct counters_listener *listener);

#endif
