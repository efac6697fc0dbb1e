/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include "base/check.h"
#include "mpi/collective.h"
#include "mpi/kin.h"

/* ---- scatter and gather ---------------------------------------------- */

static int spread(MPI_Comm comm, struct spread *spread)
{
	struct mpi *mpi = api_mpi(spread->what);
	const struct mpi_comm *members;

	spread->comm = api_comm(mpi, comm, spread->what);
	members = comm_at(&mpi->comms, spread->comm);
	if (spread->root < 0 || spread->root >= members->size)
		orr_die(mpi->rank, "%s: root is rank %d: expected 0 to %d", spread->what,
			spread->root, members->size - 1);
	if (spread->n > 0)
		api_given(spread->what, "data_handles", spread->handles);
	for (int i = 0; i < spread->n; i++)
		if (spread->handles[i])
			api_check_handle(mpi->node, spread->what, spread->handles[i]);
	collective_spread(mpi, spread);
	return 0;
}

/* The callback of senders or of receivers, by the part that this rank has. */
static int am_root(MPI_Comm comm, int root, const char *func)
{
	struct mpi *mpi = api_mpi(func);

	return comm_at(&mpi->comms, api_comm(mpi, comm, func))->rank == root;
}

int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
				MPI_Comm comm, void (*scallback)(void *), void *sarg,
				void (*rcallback)(void *), void *rarg)
{
	int sends = am_root(comm, root, __func__);
	struct spread wish = {.handles = data_handles,
			      .n = count,
			      .root = root,
			      .callback = sends ? scallback : rcallback,
			      .arg = sends ? sarg : rarg,
			      .what = __func__};

	return spread(comm, &wish);
}

int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
			       MPI_Comm comm, void (*scallback)(void *), void *sarg,
			       void (*rcallback)(void *), void *rarg)
{
	int receives = am_root(comm, root, __func__);
	struct spread wish = {.handles = data_handles,
			      .n = count,
			      .root = root,
			      .gathers = 1,
			      .callback = receives ? rcallback : scallback,
			      .arg = receives ? rarg : sarg,
			      .what = __func__};

	return spread(comm, &wish);
}

/* ---- copies ---------------------------------------------------------- */

static void check_owned(struct mpi *mpi, starpu_data_handle_t handle, const char *func)
{
	char text[128];

	api_check_handle(mpi->node, func, handle);
	if (handle->owner == OWNER_UNSET || handle->tag < 0)
		orr_die(mpi->rank,
			"%s: %s has no %s; call starpu_mpi_data_register() with a rank "
			"and a tag, on all ranks",
			func, data_describe(handle, text, sizeof(text)),
			handle->tag < 0 ? "tag" : "owner");
}

/* Both have one owner, or each rank its own values. */
static int copy_locally(struct mpi *mpi, const struct value_copy *copy)
{
	int owner = copy->dst->owner;
	int ret = 0;

	cache_clear(mpi, copy->dst);
	kin_clear(mpi, copy->dst);
	if (owner == OWNER_PER_NODE || owner == comm_at(&mpi->comms, copy->comm)->rank)
		ret = starpu_data_cpy_priority(copy->dst, copy->src, !copy->is_blocking,
					       copy->callback, copy->arg, copy->priority);
	else if (copy->callback)
		copy->callback(copy->arg);
	return ret;
}

int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle,
				 starpu_data_handle_t src_handle, MPI_Comm comm,
				 int asynchronous, void (*callback_func)(void *),
				 void *callback_arg, int priority)
{
	struct mpi *mpi = api_mpi("starpu_mpi_data_cpy");
	struct value_copy copy = {.dst = dst_handle,
				  .src = src_handle,
				  .is_blocking = !asynchronous,
				  .priority = priority,
				  .callback = callback_func,
				  .arg = callback_arg,
				  .what = "starpu_mpi_data_cpy"};

	copy.comm = api_comm(mpi, comm, copy.what);
	check_owned(mpi, dst_handle, copy.what);
	check_owned(mpi, src_handle, copy.what);
	if (!asynchronous)
		api_blocking_node(copy.what);
	if (dst_handle == src_handle) {
		if (callback_func)
			callback_func(callback_arg);
		return 0;
	}
	api_check_copy(mpi->node, copy.what, dst_handle, src_handle);
	kin_settle(mpi, src_handle);
	reduce_settle(mpi, src_handle);
	kin_settle(mpi, dst_handle);
	reduce_settle(mpi, dst_handle);
	if (dst_handle->owner == src_handle->owner)
		return copy_locally(mpi, &copy);
	if (dst_handle->owner == OWNER_PER_NODE || src_handle->owner == OWNER_PER_NODE)
		orr_die(mpi->rank,
			"%s: one of the data is of STARPU_MPI_PER_NODE, the other has an "
			"owner: which rank's value is meant is not defined",
			copy.what);
	return collective_copy(mpi, &copy);
}

int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
			void *callback_arg)
{
	return starpu_mpi_data_cpy_priority(dst_handle, src_handle, comm, asynchronous,
					    callback_func, callback_arg,
					    STARPU_DEFAULT_PRIO);
}
