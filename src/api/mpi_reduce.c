/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include "base/check.h"
#include "mpi/reduce.h"

static int reduce(MPI_Comm comm, const struct reduction *reduction)
{
	struct mpi *mpi = api_mpi(reduction->what);
	starpu_data_handle_t handle = reduction->handle;
	char text[128];

	api_comm(mpi, comm, reduction->what);
	api_check_handle(mpi->node, reduction->what, handle);
	if (handle->owner == OWNER_UNSET || handle->tag < 0)
		orr_die(mpi->rank,
			"%s: %s has no %s; call starpu_mpi_data_register() with a rank "
			"and a tag, on all ranks",
			reduction->what, data_describe(handle, text, sizeof(text)),
			handle->tag < 0 ? "tag" : "owner");
	reduce_data(mpi, reduction);
	return 0;
}

int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle)
{
	return reduce(comm, &(struct reduction){.handle = data_handle, .what = __func__});
}

int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio)
{
	return reduce(comm, &(struct reduction){.handle = data_handle,
						.priority = prio,
						.what = __func__});
}

int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int arity)
{
	return reduce(comm, &(struct reduction){.handle = data_handle,
						.arity = arity,
						.what = __func__});
}

int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle,
				    int prio, int arity)
{
	return reduce(comm, &(struct reduction){.handle = data_handle,
						.priority = prio,
						.arity = arity,
						.what = __func__});
}

char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle)
{
	struct mpi *mpi = api_mpi(__func__);
	char text[128];

	api_check_handle(mpi->node, __func__, handle);
	if (!(data_flags(handle) & DATUM_MPI))
		orr_die(mpi->rank,
			"%s: %s has neither tag nor owner; call "
			"starpu_mpi_data_register() first",
			__func__, data_describe(handle, text, sizeof(text)));
	return reduce_map(mpi, handle);
}
