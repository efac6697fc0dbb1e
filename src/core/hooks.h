/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_HOOKS_H
#define ORR_CORE_HOOKS_H

/*
 * hooks.h - functions of the application's that workers call between their steps.
 *
 * They outlive the nodes, as all in struct lasting.  One that returns 0 wants to be
 * called again soon: a timer of the node then wakes the workers, at intervals that grow
 * while these find nothing to do.  Nothing is locked while a hook runs.
 */
#include "core/worker.h"

/* Called at each step; only when the worker has no task. */
enum hook_kind { HOOK_PROGRESSION, HOOK_IDLE, HOOK_KINDS };

enum { HOOKS_MOST = 16 }; /* of each kind, as StarPU */

/* A number from 0 on, or -1 when there are as many as there may be.  node: the one that
 * is open, or NULL; its workers call the hook soon. */
int hooks_add(struct lasting *lasting, struct node *node, enum hook_kind kind,
	      unsigned (*call)(void *arg), void *arg);
/* When it returns, no other thread is in the hook.  0, or -EINVAL: there is none. */
int hooks_remove(struct lasting *lasting, struct node *node, enum hook_kind kind, int id);
/* The node's workers run; they are about to stop. */
void hooks_open(struct node *node);
void hooks_close(struct node *node);
/* They have. */
void hooks_closed(struct lasting *lasting);
/* The worker has advanced, or found nothing to do. */
void hooks_step(struct worker *worker, int advanced);

#endif
