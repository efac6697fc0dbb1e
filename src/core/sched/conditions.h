/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_CONDITIONS_H
#define ORR_CORE_SCHED_CONDITIONS_H

/*
 * conditions.h - a mutex and a condition for each worker, by which policies of the
 * application's wake it.  The library itself neither takes nor waits for them: a signal
 * is heard by the functions of starpu_thread.h, which wake the worker.
 */
#include "core/worker.h"

struct condition {
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
};

/* Those of the worker; they last as long as the node. */
struct condition *conditions_of(struct worker *worker);
/* The condition, whose it ever is, was signalled: wake the worker that has it, if any
 * does. node may be NULL. */
void conditions_signalled(struct node *node, const starpu_pthread_cond_t *cond);

#endif
