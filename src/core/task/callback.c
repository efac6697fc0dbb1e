/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/callback.h"

#include "core/outside.h"
#include "core/task/job.h"
#include "core/wait.h"

enum { CALLBACK_MAX_DEPTH = 64, CALLBACK_MAX_RUNS = 64 };

struct starpu_task *callback_enter(struct node *node, struct starpu_task *task)
{
	struct plat_caller *caller = plat_caller(node->plat);
	struct starpu_task *outer = caller->task;

	caller->task = task;
	caller->depth++;
	return outer;
}

static void run_later(struct node *node, struct plat_caller *caller)
{
	caller->is_late = 1;
	while (caller->later) {
		struct ready ready = {.first = caller->later, .last = caller->later_last};

		caller->later = caller->later_last = NULL;
		ready_run(node, &ready);
	}
	caller->is_late = 0;
}

/* As if the caller were in its outermost callback: those jobs would be put off again. */
void callback_catch_up(struct node *node, struct plat_caller *caller)
{
	int depth = caller->depth;
	unsigned char nruns = caller->nruns;

	caller->depth = 1;
	caller->nruns = 0;
	while (caller->later) {
		struct ready ready = {.first = caller->later, .last = caller->later_last};

		caller->later = caller->later_last = NULL;
		ready_run(node, &ready);
	}
	caller->depth = depth;
	caller->nruns = nruns;
}

void callback_leave(struct node *node, struct starpu_task *outer)
{
	struct plat_caller *caller = plat_caller(node->plat);

	caller->task = outer;
	if (--caller->depth == 0 && caller->later && !caller->is_late)
		run_later(node, caller);
}

void callback_call(struct node *node, struct starpu_task *task, void (*func)(void *),
		   void *arg)
{
	struct starpu_task *outer = callback_enter(node, task);
	struct wait *wait = wait_interrupt(plat_caller(node->plat));
	OUTSIDE(outside);

	outside_begin(&outside, node, plat_caller(node->plat), "a callback");
	func(arg);
	outside_end(&outside);
	wait_resume(plat_caller(node->plat), wait);
	callback_leave(node, outer);
}

static void put_off(struct plat_caller *caller, struct job *first, struct job *last)
{
	last->next = NULL;
	if (caller->later)
		caller->later_last->next = first;
	else
		caller->later = first;
	caller->later_last = last;
}

int callback_later(struct node *node, struct job *job)
{
	struct plat_caller *caller = plat_caller(node->plat);

	if (caller->depth < CALLBACK_MAX_DEPTH)
		return 0;
	put_off(caller, job, job);
	return 1;
}

void callback_run(struct node *node, struct ready *ready)
{
	struct plat_caller *caller;

	if (!ready->first)
		return;
	caller = plat_caller(node->plat);
	if (caller->nruns == CALLBACK_MAX_RUNS) {
		put_off(caller, ready->first, ready->last);
		return;
	}
	caller->nruns++;
	ready_run(node, ready);
	if (--caller->nruns == 0 && caller->depth == 0 && caller->later &&
	    !caller->is_late)
		run_later(node, caller);
}

int callback_is_outside(struct node *node)
{
	const struct plat_caller *caller = plat_caller(node->plat);

	return caller->depth == 0 && !caller->worker && !caller->is_runtime;
}
