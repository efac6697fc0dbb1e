/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_trace.h"

#include <stdlib.h>

#include "base/check.h"
#include "trace/sinks.h"

void mpi_trace_gather(struct node *node, MPI_Comm comm)
{
	const int bytes = (int)sizeof(struct utilisation_bins);
	struct mpi *mpi = node->mpi;
	struct utilisation_row *row = node->sinks ? node->sinks->row : NULL;
	struct utilisation_bins *all = NULL;
	const struct utilisation_bins *own;

	if (!row || !mpi->all_trace || mpi->is_fake || mpi->size == 1 ||
	    node->machine->one_environment)
		return;
	if (comm == MPI_COMM_NULL) {
		orr_complain(mpi->rank,
			     "ORRERY_TRACE: the table has this rank's own row only: the "
			     "communicator given at init has been freed; free it after "
			     "starpu_mpi_shutdown()");
		return;
	}
	if (mpi->rank == 0)
		all = orr_alloc((size_t)mpi->size * sizeof(*all));
	events_drain(node);
	own = utilisation_bins_at(row, plat_now_s(node->plat));
	engine_hold_mpi(mpi);
	MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, comm);
	engine_let_go_mpi(mpi);
	for (int i = 1; all && i < mpi->size; i++)
		utilisation_add(row, &all[i]);
	if (mpi->rank > 0)
		utilisation_give_away(row);
	free(all);
}
