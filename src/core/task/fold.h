/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_FOLD_H
#define ORR_CORE_TASK_FOLD_H

/*
 * fold.h - inserted tasks that wait, without their public structs.
 *
 * A large simulation submits most of its tasks long before they can start, and of the
 * 576 bytes of a struct starpu_task, which nobody may look at before the task is ready,
 * few differ from the defaults.  Where a process has one thread (machine->takes_turns),
 * the job of an inserted task lies apart from the struct; when the task is submitted and
 * has to wait, the words that differ are kept behind the job's accesses, and the struct
 * is the next task's.  It is filled again when the task starts, at another address.
 *
 * Of a folded job the task is NULL: who may meet one asks job_has_task(), job_unfold().
 */
#include "core/task/job.h"

/* Where a node's lie, from its first on: jobs by size, and structs. */
struct folder {
	struct pool small, large, wholes;
};

void fold_close(struct node *node);
/* A task and its job, with StarPU's defaults and destroy = 1, to be filled for cl, which
 * may be NULL. */
struct starpu_task *fold_create(struct node *node, const struct starpu_codelet *cl,
				const struct job_ops *ops);
/* Free both: the arguments have been freed. */
void fold_free(struct job *job);
/* Nobody but the job knows its task, and it waits: fold it, if it can be. */
void fold_away(struct job *job);
void fold_out(struct job *job);
/* Fill a struct of one's own in with what the task of a folded job is. */
void fold_look(const struct job *job, struct starpu_task *task);

static inline void job_unfold(struct job *job)
{
	if (job->is_folded)
		fold_out(job);
}

static inline int job_has_task(const struct job *job)
{
	return job->task || job->is_folded;
}

#endif
