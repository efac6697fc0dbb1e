/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Messages of more bytes than an int counts.  On a real machine a rank needs 5 GiB. */
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { ROWS = 3 << 20, ROW_BYTES = 1024, NX = 1200000, NY = 500, LD = NX + 7 };

static size_t sent_to_1(void)
{
	size_t *sent = calloc((size_t)claim_size, sizeof *sent), bytes;

	starpu_mpi_comm_stats_retrieve(sent);
	bytes = sent[1];
	free(sent);
	return bytes;
}

/* By the owner, who has the memory of the runtime's; the others have none before. */
static starpu_data_handle_t owned(starpu_data_handle_t handle)
{
	starpu_mpi_data_register(handle, TAG, 0);
	return handle;
}

static void writes_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet writes = {.cpu_funcs = {writes_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &starpu_perfmodel_nop,
				       .name = "writes"};

/* Once by its owner's task, once by hand; the number of bytes is told. */
static void travel(starpu_data_handle_t handle, size_t bytes)
{
	starpu_mpi_comm_stats_enable();
	CLAIM_EQ(starpu_data_get_size(handle), bytes);
	starpu_mpi_task_insert(WORLD, &writes, STARPU_W, handle, 0);
	starpu_mpi_get_data_on_node(WORLD, handle, 1);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(sent_to_1(), RANK == 0 ? bytes : 0);
	if (RANK == 0)
		starpu_mpi_send(handle, 1, TAG, WORLD);
	else if (RANK == 1)
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	CLAIM_EQ(sent_to_1(), RANK == 0 ? 2 * bytes : 0);
	starpu_data_unregister(handle);
}

static void vectors_travel(void)
{
	starpu_data_handle_t handle;

	start();
	starpu_vector_data_register(&handle, -1, 0, ROWS, ROW_BYTES);
	travel(owned(handle), (size_t)ROWS * ROW_BYTES);
	stop();
}

static void matrices_travel(void)
{
	starpu_data_handle_t handle;

	start();
	starpu_matrix_data_register(&handle, -1, 0, LD, NX, NY, 8);
	travel(owned(handle), (size_t)NX * NY * 8);
	stop();
}

static const struct claim claims[] = {
	{"vectors of more than 2 GiB travel", vectors_travel},
	{"matrices of more than 4 GiB travel", matrices_travel},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
