/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_FORESEE_H
#define ORR_CORE_TASK_FORESEE_H

/*
 * foresee.h - what a start tells of the end: when the task will have run, and which tasks
 * will be ready then.
 *
 * Nothing of this is reckoned before the first who asks.
 */
#include "core/worker.h"

/* The job is told of an event. */
void foresee(struct job *job, enum event_kind kind);
/* Tell call of the tasks for which nothing but the end of one that starts is missing, as
 * soon as it does; call NULL: nobody from now on. */
void foresee_tell(struct node *node, starpu_notify_ready_soon_func call, void *arg);
/* The date at which the worker's task will have run; 0: it runs none, or none that
 * anybody knows, or one that started before the first such question. */
double foresee_end_s(struct worker *worker);

#endif
