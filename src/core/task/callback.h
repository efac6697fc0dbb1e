/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_CALLBACK_H
#define ORR_CORE_TASK_CALLBACK_H

/*
 * callback.h - call the application's functions: of tasks, acquisitions, requests.
 *
 * While one runs, its thread must not be held back (callback_is_outside()), and
 * starpu_task_get_current() tells its task.  A callback may make other jobs ready, whose
 * callbacks make others ready, and so on: from some depth on they are put off until the
 * outermost callback has returned, so that a chain of any length fits on the stack.  The
 * same holds for acquisitions that end as soon as they have begun.
 */
#include "core/node.h"

struct job;
struct ready;

/* task: whose callback it is, or NULL. */
void callback_call(struct node *node, struct starpu_task *task, void (*func)(void *),
		   void *arg);
/* The same around a call with other arguments. */
struct starpu_task *callback_enter(struct node *node, struct starpu_task *task);
void callback_leave(struct node *node, struct starpu_task *outer);
/* Put job off if the calling thread is deep inside callbacks: 1, else 0. */
int callback_later(struct node *node, struct job *job);
/* The calling thread is about to wait in a callback, perhaps for what it has put off:
 * start that. */
void callback_catch_up(struct node *node, struct plat_caller *caller);
/* Who gives data back starts the jobs in ready, or puts them off if the calling thread is
 * deep inside such calls. */
void callback_run(struct node *node, struct ready *ready);
/* The calling thread is the application's own, and in none of its callbacks. */
int callback_is_outside(struct node *node);

#endif
