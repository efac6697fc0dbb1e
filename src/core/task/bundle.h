/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_BUNDLE_H
#define ORR_CORE_TASK_BUNDLE_H

/*
 * bundle.h - sets of tasks that the application says belong together.
 *
 * task->bundle is that in which it is; it goes with its last task once it is closed.
 */
#include "base/table.h"
#include "core/node.h"

struct _starpu_task_bundle {
	struct orr_lock lock; /* of all below */
	int is_closed;
	int nslots, capacity;
	struct starpu_task **tasks; /* in their order; NULL: left */
	struct table slots;         /* by task: its number in tasks, plus one */
};

starpu_task_bundle_t bundle_new(void);
/* 0, -EPERM, -EINVAL; 0, -ENOENT: as the public functions. */
int bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);
int bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);
/* The task ends, perhaps while another thread removes it and closes its bundle, which may
 * be gone then. */
void bundle_leave(struct starpu_task *task);
void bundle_close(starpu_task_bundle_t bundle);

#endif
