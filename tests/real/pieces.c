/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "core/node.h"
#include "mpi/mpi.h"
#include "real/real.h"

/*
 * A large value moves in pieces: between them its ranks answer others, and the watchdog
 * sees that it moves.
 */
enum { BYTES = 300 << 20, TAG = 7, PIECES = 4 };

int main(void)
{
	struct starpu_conf conf;
	starpu_data_handle_t handle;
	char *value = calloc(1, BYTES);
	unsigned long nbefore, n;
	int rank, is_right;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (!value || starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, &conf) != 0)
		return 77;
	rank = starpu_mpi_world_rank();
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)value, BYTES, 1);
	nbefore = orr_count(&plat_self()->mpi->net->npieces);
	if (rank == 0) {
		value[BYTES - 1] = 1;
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	} else {
		starpu_mpi_recv(handle, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	n = orr_count(&plat_self()->mpi->net->npieces) - nbefore;
	starpu_data_unregister(handle);
	is_right = value[BYTES - 1] == 1 && n >= PIECES;
	starpu_mpi_shutdown();
	free(value);
	if (is_right && rank == 0)
		printf("PASS large values move in pieces\n");
	if (!is_right)
		printf("FAIL large values move in pieces: rank %d saw %lu of them, "
		       "expected %d or more\n",
		       rank, n, PIECES);
	return !is_right;
}
