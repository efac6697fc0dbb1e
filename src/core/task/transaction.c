/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/transaction.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/task/task.h"

struct starpu_transaction {
	int (*asks)(void *buffer, void *arg);
	struct _starpu_trs_epoch *epoch;
	struct starpu_task *gate, *next; /* the epoch's, and that after it */
	int is_closed;                   /* kept for a while: see transaction_close() */
};

/* The kernel of a gate. */
static void ask(void *buffers[], void *arg)
{
	struct _starpu_trs_epoch *epoch = arg;

	free(epoch->past);
	epoch->past = NULL;
	epoch->runs = epoch->asks(buffers, epoch->arg) != 0;
}

/* Where kernels are not called, this one is. */
static const struct starpu_codelet gate_codelet = {.where = STARPU_CPU,
						   .cpu_funcs = {ask},
						   .cpu_funcs_name = {"ask"},
						   .flags =
							   STARPU_CODELET_SIMGRID_EXECUTE,
						   .name = "transaction"};

static struct starpu_task *make_gate(struct node *node)
{
	struct starpu_task *gate = task_create(node);

	gate->cl = (struct starpu_codelet *)(uintptr_t)&gate_codelet;
	gate->destroy = 0; /* Tasks may be linked to it after its end. */
	return gate;
}

/* transaction->next is submitted, as the gate of a new epoch, and the one after it made.
 */
static int advance(struct node *node, struct starpu_transaction *transaction, void *arg)
{
	struct _starpu_trs_epoch *epoch = orr_alloc(sizeof(*epoch));

	*epoch = (struct _starpu_trs_epoch){
		.asks = transaction->asks, .arg = arg, .past = transaction->epoch};
	transaction->next->cl_arg = epoch;
	if (task_submit(node, transaction->next) < 0) {
		free(epoch);
		return -1;
	}
	if (transaction->gate)
		task_set_destroy(transaction->gate);
	transaction->epoch = epoch;
	transaction->gate = transaction->next;
	transaction->next = make_gate(node);
	task_declare_deps(node, transaction->next, 1, &transaction->gate);
	return 0;
}

struct starpu_transaction *
transaction_open(struct node *node, int (*asks)(void *buffer, void *arg), void *arg)
{
	struct starpu_transaction *transaction = orr_alloc(sizeof(*transaction));

	*transaction = (struct starpu_transaction){.asks = asks, .next = make_gate(node)};
	if (advance(node, transaction, arg) == 0)
		return transaction;
	task_destroy(transaction->next);
	free(transaction);
	return NULL;
}

/* what: of the transaction's, comes too late. */
__attribute__((noreturn)) static void die_closed(const struct node *node,
						 const char *what)
{
	orr_die(node->rank,
		"%s comes after starpu_transaction_close() of its transaction; "
		"expected one that is open: let it come before, or open another "
		"one with starpu_transaction_open()",
		what);
}

static void die_late_task(const struct node *node, const struct starpu_task *task)
{
	char what[JOB_NAME_BYTES];

	snprintf(what, sizeof(what), "task \"%s\"", task_name(task));
	die_closed(node, what);
}

void transaction_join(struct node *node, struct starpu_transaction *transaction,
		      struct starpu_task *task)
{
	if (transaction->is_closed)
		die_late_task(node, task);
	task->transaction = transaction;
	task->trs_epoch = transaction->epoch;
	task_declare_deps(node, task, 1, &transaction->gate);
	task_declare_deps(node, transaction->next, 1, &task);
}

void transaction_next(struct node *node, struct starpu_transaction *transaction,
		      void *arg)
{
	if (transaction->is_closed)
		die_closed(node, "starpu_transaction_next_epoch()");
	if (advance(node, transaction, arg) < 0)
		orr_die(node->rank, "starpu_transaction_next_epoch: no worker can ask "
				    "whether the tasks of the epoch run");
}

/* Whose turn it is to be freed, for one that has been closed now; it may be NULL. */
static struct starpu_transaction *keep(struct node *node,
				       struct starpu_transaction *transaction)
{
	struct starpu_transaction **kept, *oldest;

	orr_lock(&node->links_lock);
	kept = &node->closed[node->nclosed++ % NODE_CLOSED_TRANSACTIONS];
	oldest = *kept;
	*kept = transaction;
	orr_unlock(&node->links_lock);
	return oldest;
}

void transaction_close(struct node *node, struct starpu_transaction *transaction)
{
	struct starpu_task *last = transaction->next;

	if (transaction->is_closed)
		die_closed(node, "another starpu_transaction_close()");
	/* After all tasks, what is left can go. */
	last->cl = NULL;
	last->callback_func = free;
	last->callback_arg = transaction->epoch;
	last->destroy = 1;
	task_set_destroy(transaction->gate);
	transaction->is_closed = 1;
	free(keep(node, transaction));
	task_submit(node, last);
}

void transactions_clear(struct node *node)
{
	for (int i = 0; i < NODE_CLOSED_TRANSACTIONS; i++)
		free(node->closed[i]);
}
