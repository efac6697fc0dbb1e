/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DRIVE_H
#define ORR_CORE_DRIVE_H

/*
 * drive.h - workers that the application runs, on threads of its own.
 *
 * conf.not_launched_drivers names them.  Such a worker has no thread: it advances only
 * while one of the application's threads is in drive_on() or drive_once() for it. Between
 * drive_begin() and drive_end() it is attached, to one thread at a time; what it has
 * taken from the scheduler is run before it is let go.
 */
#include "core/node.h"

struct worker;

/* Mark the workers that the node's conf names. */
void drive_open(struct node *node);
/* The worker of that device, or NULL. */
struct worker *drive_find(struct node *node, const struct starpu_driver *driver);
/* All: 0, -EINVAL: it is not attached, or -EBUSY: another thread has it.  On the thread
 * that drives. */
int drive_begin(struct worker *worker);
/* At most one task, if there is one. */
int drive_once(struct worker *worker);
int drive_end(struct worker *worker);
/* From begin to end, until drive_dismiss(). */
int drive_on(struct worker *worker);
/* The application is to run it, and does not. */
int drive_is_missed(const struct worker *worker);
/* drive_on() of all workers returns, from now on. */
void drive_dismiss(struct node *node);
/* The same, and no thread is in any of these functions any more. */
void drive_close(struct node *node);

#endif
