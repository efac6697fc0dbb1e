/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Collective operations on handles, beyond StarPU's. */
#include <orrery_mpi.h>

#include "api/mpi_api.h"

#include "base/check.h"
#include "mpi/collective.h"

static void check(struct mpi *mpi, const char *what, starpu_data_handle_t handle)
{
	char text[128];

	api_check_handle(mpi->node, what, handle);
	if (handle->owner < 0 || handle->tag < 0)
		orr_die(mpi->rank,
			"%s: %s has no %s; call starpu_mpi_data_register() with a rank "
			"and a tag, on all ranks",
			what, data_describe(handle, text, sizeof(text)),
			handle->tag < 0 ? "tag" : "owner");
}

static int broadcast(MPI_Comm comm, struct broadcast *wish)
{
	struct mpi *mpi = api_mpi(wish->what);

	wish->comm = api_comm(mpi, comm, wish->what);
	for (int i = 0; i < wish->n; i++)
		check(mpi, wish->what, wish->handles[i]);
	collective_broadcast(mpi, wish);
	return 0;
}

int orrery_mpi_allgather_detached(starpu_data_handle_t *data, int count, MPI_Comm comm,
				  int prio, void (*callback)(void *), void *arg)
{
	struct broadcast wish = {.handles = data,
				 .n = count,
				 .priority = prio,
				 .callback = callback,
				 .arg = arg,
				 .what = __func__};

	return broadcast(comm, &wish);
}

int orrery_mpi_broadcast_detached(starpu_data_handle_t data, MPI_Comm comm, int prio,
				  void (*callback)(void *), void *arg)
{
	struct broadcast wish = {.handles = &data,
				 .n = 1,
				 .priority = prio,
				 .callback = callback,
				 .arg = arg,
				 .what = __func__};

	return broadcast(comm, &wish);
}

static int combine(MPI_Comm comm, struct combination *wish)
{
	struct mpi *mpi = api_mpi(wish->what);
	char text[128];

	wish->comm = api_comm(mpi, comm, wish->what);
	check(mpi, wish->what, wish->result);
	api_check_handle(mpi->node, wish->what, wish->own);
	if (wish->own->owner != OWNER_PER_NODE)
		orr_die(mpi->rank,
			"%s: %s is the value of one rank; call "
			"starpu_mpi_data_register() with STARPU_MPI_PER_NODE, so that "
			"each rank has its own",
			wish->what, data_describe(wish->own, text, sizeof(text)));
	return collective_combine(mpi, wish);
}

int orrery_mpi_reduce_detached(starpu_data_handle_t own, starpu_data_handle_t result,
			       MPI_Comm comm, int prio, void (*callback)(void *),
			       void *arg)
{
	struct combination wish = {.own = own,
				   .result = result,
				   .priority = prio,
				   .callback = callback,
				   .arg = arg,
				   .what = __func__};

	return combine(comm, &wish);
}

int orrery_mpi_allreduce_detached(starpu_data_handle_t own, starpu_data_handle_t result,
				  MPI_Comm comm, int prio, void (*callback)(void *),
				  void *arg)
{
	struct combination wish = {.own = own,
				   .result = result,
				   .for_all = 1,
				   .priority = prio,
				   .callback = callback,
				   .arg = arg,
				   .what = __func__};

	return combine(comm, &wish);
}
