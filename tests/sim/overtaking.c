/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Messages of one tag keep their order beside a large value, whose start comes later than
 * that of messages that are sent after it.  ORRERY_MPI_EAGER is less than that value. */
#include <stdint.h>

#include <starpu_mpi.h>

#include "../api/claim.h"

int claim_failures;

#define WORLD MPI_COMM_WORLD

enum { VALUE_TAG = 7, MESSAGE_TAG, VALUE_BYTES = 40000, N = 60, LONGS = 512 };

static long numbers[N][LONGS];
static char value[VALUE_BYTES];

static int nlongs(int i)
{
	return i % 2 ? 1 : LONGS;
}

static void send_all(starpu_data_handle_t large, starpu_data_handle_t *small)
{
	starpu_mpi_isend_detached(large, 1, VALUE_TAG, WORLD, NULL, NULL);
	for (int i = 0; i < N; i++) {
		starpu_mpi_isend_detached(small[i], 1, MESSAGE_TAG, WORLD, NULL, NULL);
		starpu_sleep(1e-4f);
	}
}

static void receive_all(starpu_data_handle_t large, starpu_data_handle_t *small)
{
	starpu_mpi_irecv_detached(large, 0, VALUE_TAG, WORLD, NULL, NULL);
	for (int i = 0; i < N; i++)
		starpu_mpi_irecv_detached(small[i], 0, MESSAGE_TAG, WORLD, NULL, NULL);
}

static void messages_keep_their_order(void)
{
	starpu_data_handle_t large, small[N];
	int rank;

	if (starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL) != 0)
		exit(77);
	starpu_mpi_comm_rank(WORLD, &rank);
	starpu_vector_data_register(&large, STARPU_MAIN_RAM, (uintptr_t)value,
				    VALUE_BYTES, 1);
	for (int i = 0; i < N; i++) {
		numbers[i][0] = rank ? -1 : i;
		starpu_vector_data_register(&small[i], STARPU_MAIN_RAM,
					    (uintptr_t)numbers[i], (uint32_t)nlongs(i),
					    sizeof(long));
	}
	if (rank == 0)
		send_all(large, small);
	else
		receive_all(large, small);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < N; i++) {
		starpu_data_unregister(small[i]);
		CLAIM_EQ(numbers[i][0], i);
	}
	starpu_data_unregister(large);
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"messages_keep_their_order", messages_keep_their_order},
	{0},
};

int main(int argc, char **argv)
{
	int failed, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	failed = claims_run(claims, rank != 0);
	MPI_Finalize();
	return failed;
}
