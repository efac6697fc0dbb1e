/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_TRANSACTION_H
#define ORR_CORE_TASK_TRANSACTION_H

/*
 * transaction.h - tasks in epochs: before the tasks of each, a function of the
 * application's says whether their kernels run.
 *
 * Each epoch has a task that asks, the gate.  The tasks of an epoch wait for its gate,
 * and the next gate waits for them; it is made, and not submitted, as long as tasks may
 * come.  A skipped task does all that others do but run its kernel.  One thread at a time
 * opens, fills, advances and closes a transaction.
 */
#include "core/node.h"

struct starpu_transaction;

struct _starpu_trs_epoch {
	int (*asks)(void *buffer, void *arg);
	void *arg;
	int runs;                       /* what it said; read by the epoch's tasks */
	struct _starpu_trs_epoch *past; /* the one before, freed by the gate */
};

/* NULL: no worker can run its gates. */
struct starpu_transaction *
transaction_open(struct node *node, int (*asks)(void *buffer, void *arg), void *arg);
/* The task, which is not submitted yet, is of the present epoch. */
void transaction_join(struct node *node, struct starpu_transaction *transaction,
		      struct starpu_task *task);
void transaction_next(struct node *node, struct starpu_transaction *transaction,
		      void *arg);
/* Does not wait.  Its memory is freed when some others have been closed, so that who uses
 * it meanwhile can be told. */
void transaction_close(struct node *node, struct starpu_transaction *transaction);
/* The node closes: what is left of those that were closed. */
void transactions_clear(struct node *node);

/* The kernel does not run.  Asked when all that the task waits for has happened. */
static inline int transaction_skips(const struct starpu_task *task)
{
	return task->trs_epoch && !task->trs_epoch->runs;
}

#endif
