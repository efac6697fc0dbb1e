/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/collective.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/data/duplicate.h"
#include "mpi/finish.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

void collective_settle(struct mpi *mpi, starpu_data_handle_t handle)
{
	kin_settle(mpi, handle);
	if (data_flags(handle) & DATUM_CONTRIBUTED)
		reduce_settle(mpi, handle);
}

void collective_overwrites(struct mpi *mpi, starpu_data_handle_t handle)
{
	cache_clear(mpi, handle);
	kin_clear(mpi, handle);
}

/* ---- callbacks ------------------------------------------------------- */

/* Shared by what one call waits for on one rank. */
struct countdown {
	int nleft; /* atomic */
	void (*callback)(void *arg);
	void *arg;
};

static void count_down(void *arg)
{
	struct countdown *countdown = arg;

	if (orr_add(&countdown->nleft, -1) > 0)
		return;
	countdown->callback(countdown->arg);
	free(countdown);
}

static struct countdown *countdown_new(int n, void (*callback)(void *arg), void *arg)
{
	struct countdown *countdown;

	if (!callback || n == 0)
		return NULL;
	countdown = orr_alloc(sizeof(*countdown));
	*countdown = (struct countdown){n, callback, arg};
	return countdown;
}

/* A value that a callback waits for. */
struct awaited {
	starpu_data_handle_t handle;
	struct countdown *countdown;
};

static void value_is_here(void *arg)
{
	struct awaited awaited = *(struct awaited *)arg;

	free(arg);
	data_release(awaited.handle, STARPU_MAIN_RAM, STARPU_NONE);
	count_down(awaited.countdown);
}

/* When what was submitted to it so far is over, and its value here. */
static void await_value(struct mpi *mpi, starpu_data_handle_t handle,
			struct countdown *countdown)
{
	struct awaited *awaited = orr_alloc(sizeof(*awaited));
	struct data_wish wish = {.memory = STARPU_MAIN_RAM,
				 .mode = STARPU_R,
				 .callback = value_is_here,
				 .arg = awaited,
				 .sequential = 1};

	*awaited = (struct awaited){handle, countdown};
	data_acquire_cb(mpi->node, handle, &wish);
}

/* ---- scatter and gather ---------------------------------------------- */

static void check_spread(struct mpi *mpi, const struct spread *spread,
			 starpu_data_handle_t handle)
{
	int size = comm_at(&mpi->comms, spread->comm)->size;
	char text[128];

	if (handle->tag < 0 || handle->owner == OWNER_UNSET)
		orr_die(mpi->rank,
			"%s: %s has no %s; call starpu_mpi_data_register() with a rank "
			"and a tag, on all ranks",
			spread->what, data_describe(handle, text, sizeof(text)),
			handle->tag < 0 ? "tag" : "owner");
	if (handle->owner >= size)
		orr_die(mpi->rank, "%s: %s belongs to rank %d: expected 0 to %d",
			spread->what, data_describe(handle, text, sizeof(text)),
			handle->owner, size - 1);
}

/* Does this rank send or receive the value? */
static int takes_part(struct mpi *mpi, const struct spread *spread,
		      starpu_data_handle_t handle)
{
	int me = comm_at(&mpi->comms, spread->comm)->rank;

	if (!handle || handle->owner == OWNER_PER_NODE || handle->owner == spread->root)
		return 0;
	return me == spread->root || me == handle->owner;
}

static void spread_one(struct mpi *mpi, const struct spread *spread,
		       starpu_data_handle_t handle, struct countdown *countdown)
{
	struct post post = {.handle = handle,
			    .comm = spread->comm,
			    .tag = handle->tag,
			    .what = spread->what,
			    .callback = countdown ? count_down : NULL,
			    .arg = countdown};
	int from = spread->gathers ? handle->owner : spread->root;
	int to = spread->gathers ? spread->root : handle->owner;

	if (!mpi->is_fake)
		insert_post(mpi, &post, from, to);
	else if (to == comm_at(&mpi->comms, spread->comm)->rank)
		data_pretend_written_submit(mpi->node, handle);
}

void collective_spread(struct mpi *mpi, const struct spread *spread)
{
	struct countdown *countdown = NULL;
	int ntransfers = 0;

	for (int i = 0; i < spread->n; i++) {
		if (!spread->handles[i])
			continue;
		check_spread(mpi, spread, spread->handles[i]);
		collective_settle(mpi, spread->handles[i]);
		ntransfers += takes_part(mpi, spread, spread->handles[i]);
	}
	if (spread->callback && ntransfers > 0 && !mpi->is_fake) {
		countdown = orr_alloc(sizeof(*countdown));
		*countdown =
			(struct countdown){ntransfers, spread->callback, spread->arg};
	}
	for (int i = 0; i < spread->n; i++)
		if (takes_part(mpi, spread, spread->handles[i]))
			spread_one(mpi, spread, spread->handles[i], countdown);
	/* What others hold of data that were scattered is of the past. */
	for (int i = 0; i < spread->n && !spread->gathers; i++)
		if (spread->handles[i])
			collective_overwrites(mpi, spread->handles[i]);
}

/* ---- copies ---------------------------------------------------------- */

/*
 * As a task of the owner of dst that reads src.  A message of src that goes into dst at
 * once would have dst's tag, and could overtake one of dst itself from the same rank: it
 * waits for src only, the other for the task that writes dst there.
 */
int collective_copy(struct mpi *mpi, const struct value_copy *copy)
{
	int me = comm_at(&mpi->comms, copy->comm)->rank, to = copy->dst->owner;
	struct fetch fetch = {.handle = copy->src,
			      .comm = copy->comm,
			      .to = to,
			      .priority = copy->priority,
			      .is_blocking = copy->is_blocking,
			      .what = copy->what};
	struct copy_wish wish = {.asynchronous = !copy->is_blocking,
				 .priority = copy->priority,
				 .callback = copy->callback,
				 .arg = copy->arg};
	int ret = mpi->is_fake ? 0 : insert_fetch(mpi, &fetch);

	collective_overwrites(mpi, copy->dst);
	if (ret || me != to)
		return ret;
	if (mpi->is_fake) {
		data_pretend_written_submit(mpi->node, copy->dst);
		return 0;
	}
	return duplicate_copy(mpi->node, copy->dst, copy->src, &wish);
}

/* ---- to all ranks ---------------------------------------------------- */

static void broadcast_one(struct mpi *mpi, const struct broadcast *broadcast,
			  starpu_data_handle_t handle)
{
	const struct mpi_comm *members = comm_at(&mpi->comms, broadcast->comm);
	struct fetch fetch = {.handle = handle,
			      .comm = broadcast->comm,
			      .to = members->rank,
			      .priority = broadcast->priority,
			      .what = broadcast->what};

	/* Others than the owner take part in one of the transfers only, unless they
	 * send in its place. */
	if (members->rank != handle->owner && !(data_flags(handle) & DATUM_SOURCED)) {
		insert_fetch(mpi, &fetch);
		return;
	}
	for (fetch.to = 0; fetch.to < members->size; fetch.to++)
		insert_fetch(mpi, &fetch);
}

void collective_broadcast(struct mpi *mpi, const struct broadcast *broadcast)
{
	struct countdown *countdown =
		countdown_new(broadcast->n, broadcast->callback, broadcast->arg);

	for (int i = 0; i < broadcast->n; i++)
		broadcast_one(mpi, broadcast, broadcast->handles[i]);
	for (int i = 0; countdown && i < broadcast->n; i++)
		await_value(mpi, broadcast->handles[i], countdown);
}

/* ---- combined -------------------------------------------------------- */

int collective_combine(struct mpi *mpi, const struct combination *combination)
{
	const struct mpi_comm *members = comm_at(&mpi->comms, combination->comm);
	starpu_data_handle_t result = combination->result;
	struct reduction reduction = {.handle = result,
				      .arity = 2,
				      .priority = combination->priority,
				      .what = combination->what};
	struct broadcast broadcast = {.handles = &result,
				      .n = 1,
				      .comm = combination->comm,
				      .priority = combination->priority,
				      .callback = combination->callback,
				      .arg = combination->arg,
				      .what = combination->what};
	struct countdown *countdown;
	int ret;

	/* Data that share bytes with them may have others as well, which stay. */
	kin_settle(mpi, combination->own);
	kin_settle(mpi, result);
	/* What was contributed before is of the value that is lost. */
	reduce_forget(mpi, result);
	collective_overwrites(mpi, result);
	data_invalidate_submit(mpi->node, result);
	for (int rank = 0; rank < members->size; rank++)
		reduce_note(mpi, combination->comm, result, rank, combination->what);
	ret = reduce_add(mpi, &reduction, combination->own);
	reduce_data(mpi, &reduction);
	if (combination->for_all) {
		collective_broadcast(mpi, &broadcast);
	} else if (members->rank == result->owner) {
		countdown = countdown_new(1, combination->callback, combination->arg);
		if (countdown)
			await_value(mpi, result, countdown);
	}
	return ret;
}
