/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/bindings.h"

#include <stdio.h>

#include "api/api.h"
#include "core/worker.h"
#include "mpi/mpi.h"

int bindings_are_made(const struct node *node)
{
	return plat_worker_bindid(node->plat, 0) >= 0;
}

void starpu_display_bindings(void)
{
	struct node *node = api_node(__func__);

	for (int i = 0; i < node->nworkers; i++) {
		int core = starpu_worker_get_bindid(i);
		char name[64], where[32] = "not bound";

		starpu_worker_get_name(i, name, sizeof(name));
		if (core >= 0 && bindings_are_made(node))
			snprintf(where, sizeof(where), "core %d", core);
		printf("[orrery][rank %d] worker %d, %s: %s\n", node->rank, i, name,
		       where);
	}
	fflush(stdout);
}

static void display_wanted(const struct node *node)
{
	if (node_knobs(node)->display_bindings == 1)
		starpu_display_bindings();
	else
		starpu_topology_print(stdout);
}

/* The lines around are StarPU's: what programs read of it looks for them. */
void bindings_display(const struct node *node)
{
	if (!node_knobs(node)->display_bindings)
		return;
	printf("== Binding ==\n");
	display_wanted(node);
	printf("== End of binding ==\n");
	fflush(stdout);
}

static void display_own(struct mpi *mpi)
{
	printf("== Binding for rank %d on node %s ==\n", mpi->rank,
	       mpi->node->machine->hostname);
	display_wanted(mpi->node);
	if (mpi->rank == mpi->size - 1)
		printf("== End of bindings ==\n");
	fflush(stdout);
}

void bindings_display_by_rank(struct mpi *mpi)
{
	if (!node_knobs(mpi->node)->display_bindings)
		return;
	for (int rank = 0; rank < mpi->size; rank++) {
		if (rank == mpi->rank)
			display_own(mpi);
		mpi_barrier(mpi, 0);
	}
}
