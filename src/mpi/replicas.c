/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/check.h"
#include "core/task/args.h"
#include "mpi/afar.h"
#include "mpi/insert_parts.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

/*
 * replicas.c - tasks that several ranks execute, each with the same result.
 *
 * A value that they write is current on all of them at once, so nothing travels after it;
 * if none of them is the owner, the first one sends it there.
 */

static int executes(const struct replicas *replicas, int rank)
{
	for (int i = 0; i < replicas->n; i++)
		if (replicas->ranks[i] == rank)
			return 1;
	return 0;
}

static void check(const struct insert *insert, const struct replicas *replicas)
{
	const struct exchange *task = insert->task;
	int nown = 0;

	if (replicas->n < 1)
		orr_die(insert->mpi->rank,
			"%s: task %s shall be executed by %d ranks; give at least one",
			replicas->func, task->name, replicas->n);
	for (int i = 0; i < replicas->n; i++) {
		insert_check_executor(insert, replicas->ranks[i]);
		nown += replicas->ranks[i] == insert->me;
	}
	if (nown > 1)
		orr_die(insert->mpi->rank,
			"%s: task %s: rank %d is named %d times; name each rank once",
			replicas->func, task->name, insert->me, nown);
	for (int i = 0; i < task->ndata; i++)
		if (task->data[i].mode & (STARPU_REDUX | STARPU_MPI_REDUX))
			orr_die(insert->mpi->rank,
				"%s: task %s, argument %d contributes to a reduction, "
				"which would count it %d times; use "
				"starpu_mpi_task_insert(), or another mode",
				replicas->func, task->name, i, replicas->n);
	insert_die_unowned(insert, 1);
}

/* The replicas have the value, and nobody else. */
static void note_writers(struct insert *insert, const struct replicas *replicas, int use)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;
	const struct plan_move home = {
		.use = use, .from = replicas->ranks[0], .to = insert->uses[use].owner};

	if (!executes(replicas, home.to))
		insert_transfer(insert, &home);
	if (executes(replicas, insert->me))
		cache_clear_sent(insert->mpi, handle);
	else
		cache_clear(insert->mpi, handle);
	kin_clear(insert->mpi, handle);
	for (int i = 0; i < replicas->n; i++)
		if (replicas->ranks[i] != home.to)
			insert_holds(insert, use, replicas->ranks[i]);
}

/* Without cache. */
static void drop_copies(const struct insert *insert, const struct replicas *replicas,
			int use)
{
	for (int i = 0; i < replicas->n; i++)
		if (insert_keeps_none(insert, use, replicas->ranks[i])) {
			cache_drop_copy(insert->mpi, insert->task->data[use].handle);
			return;
		}
}

static void settle(struct insert *insert, const struct replicas *replicas)
{
	for (int i = 0; i < insert->task->ndata; i++) {
		const struct plan_use *use = &insert->uses[i];

		if (!insert->task->data[i].handle || use->owner == OWNER_PER_NODE ||
		    (use->mode & STARPU_SCRATCH))
			continue;
		if (plan_writes(use->mode))
			note_writers(insert, replicas, i);
		if (!insert->mpi->cache.is_on && !insert_has_halves(insert->mpi))
			drop_copies(insert, replicas, i);
	}
}

static int run(struct insert *insert, struct starpu_codelet *cl,
	       const struct replicas *replicas, va_list list)
{
	struct mpi *mpi = insert->mpi;
	struct starpu_task *task = NULL;
	int ret = 0;

	check(insert, replicas);
	for (int i = 0; i < replicas->n; i++) {
		insert->task->executor = replicas->ranks[i];
		insert_move_before(insert);
	}
	if (executes(replicas, insert->me)) {
		insert->task->executor = insert->me;
		ret = task_build_v(mpi->node, cl, list, replicas->func, &task);
		if (ret == 0)
			ret = insert_submit(mpi, task);
	}
	settle(insert, replicas);
	return ret;
}

int insert_replicas(struct mpi *mpi, int comm, struct starpu_codelet *cl,
		    const struct replicas *replicas, va_list list)
{
	struct arg_list args;
	struct exchange exchange = {.executor = OWNER_UNSET, .name = insert_name_of(cl)};
	struct insert insert;
	int ret;

	insert_count(mpi->node);
	orr_next(&mpi->tally.nleft_out);
	args_begin(&args, cl);
	args_scan(&args, mpi->rank, list);
	if (mpi->balances)
		lb_arrive(mpi, args.has_iteration, args.iteration);
	exchange.data = args.buffers;
	exchange.ndata = args.nbuffers;
	exchange.priority = args.priority;
	insert_open(&insert, mpi, comm, &exchange);
	ret = run(&insert, args.codelet, replicas, list);
	insert_close(&insert);
	insert_charge(mpi, executes(replicas, insert.me), exchange.ndata);
	args_end(&args);
	return ret;
}
