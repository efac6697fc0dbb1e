/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Small values that only mains touch are right, even in a simulation without kernels. */
#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NROUNDS = 5, CARRIED = 4096 };

/* Each main adds one to a counter that goes round; no task is involved. */
static void a_counter_goes_round(void)
{
	long counter = -1;
	int left = (RANK + claim_size - 1) % claim_size;
	int right = (RANK + 1) % claim_size;
	starpu_data_handle_t handle;

	start();
	handle = variable(&counter);
	for (int round = 0; round < NROUNDS; round++) {
		if (round > 0 || RANK > 0)
			starpu_mpi_recv(handle, left, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_data_acquire(handle, STARPU_RW);
		counter = round == 0 && RANK == 0 ? 1 : counter + 1;
		starpu_data_release(handle);
		if (round < NROUNDS - 1 || RANK < claim_size - 1)
			starpu_mpi_send(handle, right, TAG, WORLD);
	}
	CLAIM_EQ(counter, (NROUNDS - 1) * claim_size + RANK + 1);
	starpu_data_unregister(handle);
	stop();
}

/* Into memory of the runtime's as well. */
static void small_vectors_arrive(void)
{
	unsigned char *mine = filled(CARRIED, 7);
	starpu_data_handle_t handle;

	start();
	if (RANK == 0) {
		handle = vector(mine, CARRIED);
		for (int to = 1; to < claim_size; to++)
			starpu_mpi_isend_detached(handle, to, TAG, WORLD, NULL, NULL);
	} else {
		starpu_vector_data_register(&handle, -1, 0, CARRIED, 1);
		starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_data_acquire(handle, STARPU_R);
		CLAIM(is_filled(starpu_data_get_local_ptr(handle), CARRIED, 7));
		starpu_data_release(handle);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	stop();
	free(mine);
}

/* Whether kernels run or not. */
static void memory_outlives_the_runtime(void)
{
	enum { BYTES = 3 << 20 };
	void *before, *during;

	CLAIM_EQ(starpu_malloc(&before, BYTES), 0);
	start();
	CLAIM_EQ(starpu_malloc(&during, BYTES), 0);
	memset(during, RANK + 1, BYTES);
	CLAIM_EQ(starpu_free_noflag(before, BYTES), 0);
	stop();
	MPI_Barrier(WORLD);
	CLAIM_EQ(((char *)during)[BYTES - 1], RANK + 1);
	CLAIM_EQ(starpu_free_noflag(during, BYTES), 0);
}

static const struct claim claims[] = {
	{"a counter that mains pass on is right", a_counter_goes_round},
	{"a small vector arrives in memory of the runtime's", small_vectors_arrive},
	{"memory outlives the runtime that gave it", memory_outlives_the_runtime},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
