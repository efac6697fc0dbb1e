/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STARPU_TASK_BUNDLE_H
#define STARPU_TASK_BUNDLE_H

/**
 * starpu_task_bundle.h - sets of tasks that belong together, as a hint for the policies
 * of the application: those of the library decide about each task by itself.
 *
 * A task is in one bundle at most (starpu_task.bundle), from its insertion to its end.
 * Any thread.
 */
#include <starpu_perfmodel.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An empty bundle.  It is freed when it is closed and its last task has left it. */
void starpu_task_bundle_create(starpu_task_bundle_t *bundle);

/** 0, also when it is there already; -EPERM: the bundle is closed; -EINVAL: the task is
 * in another bundle, or was submitted. */
int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);

/** 0; -ENOENT: the task is not in the bundle.  Tasks leave it by themselves when they end
 * or are destroyed. */
int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);

/** No more tasks will be inserted: do not use it after that. */
void starpu_task_bundle_close(starpu_task_bundle_t bundle);

/** Sums over its tasks: of starpu_task_expected_length() (microseconds), of
 * starpu_task_expected_data_transfer_time() (microseconds), of
 * starpu_task_expected_energy() (joules). */
double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch,
					  unsigned nimpl);
double starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
						      unsigned memory_node);
double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch,
					  unsigned nimpl);

#ifdef __cplusplus
}
#endif

#endif
