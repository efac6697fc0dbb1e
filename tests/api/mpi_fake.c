/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * One process in the role of one rank of many: started with STARPU_MPI_FAKE_SIZE,
 * STARPU_MPI_FAKE_RANK and STARPU_DISABLE_KERNELS, it submits that rank's tasks and
 * communicates with nobody.
 */
#include <starpu_mpi.h>

#include "claim.h"

int claim_failures;

enum { NDATA = 64 };

static int nkernels, ncallbacks;

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	nkernels++;
}

static void called(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&ncallbacks, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet cl = {.cpu_funcs = {kernel},
				   .nbuffers = 2,
				   .modes = {STARPU_RW, STARPU_R},
				   .model = &starpu_perfmodel_nop,
				   .name = "kernel"};

static struct starpu_codelet first = {.cpu_funcs = {kernel},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &starpu_perfmodel_nop,
				      .name = "first"};

static int start(void)
{
	if (starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL) != 0)
		exit(77);
	return starpu_getenv_number_default("STARPU_MPI_FAKE_SIZE", 0);
}

/* What would come from others is taken for written, by whatever call it would come. */
static void look_at_what_never_came(int me, int size)
{
	int other = (me + 1) % size, nread = 0;
	starpu_data_handle_t mine, handles[3];

	starpu_variable_data_register(&mine, -1, 0, sizeof(long));
	starpu_mpi_data_register(mine, NDATA, me);
	CLAIM_EQ(starpu_mpi_task_insert(MPI_COMM_WORLD, &first, STARPU_W, mine, 0), 0);
	for (int i = 0; i < 3; i++) {
		starpu_variable_data_register(&handles[i], -1, 0, sizeof(long));
		starpu_mpi_data_register(handles[i], NDATA + 1 + i, other);
	}
	starpu_mpi_data_migrate(MPI_COMM_WORLD, handles[0], me);
	CLAIM_EQ(starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, handles[1], me,
						      called, NULL),
		 0);
	CLAIM_EQ(starpu_mpi_irecv_detached(handles[2], other, 7, MPI_COMM_WORLD, NULL,
					   NULL),
		 0);
	for (int i = 0; i < 3; i++) {
		nread += starpu_task_insert(&cl, STARPU_RW, mine, STARPU_R, handles[i],
					    0) == 0;
		starpu_data_acquire(handles[i], STARPU_R);
		starpu_data_release(handles[i]);
	}
	CLAIM_EQ(nread, 3);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(handles[i]);
	starpu_data_unregister(mine);
}

/* In one function, since MPI starts only once. */
static void one_rank_alone(void)
{
	int size = start(), me = starpu_getenv_number_default("STARPU_MPI_FAKE_RANK", 0);
	int seen_rank, seen_size, nmine = 0;
	starpu_data_handle_t handles[NDATA];
	static long values[NDATA];

	CLAIM(size > 1);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &seen_rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &seen_size);
	CLAIM_EQ(seen_rank, me);
	CLAIM_EQ(seen_size, size);
	for (int i = 0; i < NDATA; i++) {
		starpu_variable_data_register(&handles[i], i % size == me ? 0 : -1,
					      (uintptr_t)&values[i], sizeof(long));
		starpu_mpi_data_register(handles[i], i, i % size);
	}
	/* Twice: what was read is stale in between, and is not received again. */
	for (int k = 0; k < 2 * NDATA; k++) {
		int i = k % NDATA;

		CLAIM_EQ(starpu_mpi_task_insert(
				 MPI_COMM_WORLD, &cl, STARPU_RW, handles[i], STARPU_R,
				 handles[(i + 1) % NDATA], STARPU_CALLBACK, called, 0),
			 0);
		nmine += i % size == me;
	}
	CLAIM_EQ(starpu_mpi_isend_detached(handles[0], (me + 1) % size, 0, MPI_COMM_WORLD,
					   called, NULL),
		 0);
	CLAIM_EQ(starpu_mpi_irecv_detached(handles[0], (me + 1) % size, 0, MPI_COMM_WORLD,
					   called, NULL),
		 0);
	CLAIM_EQ(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
	CLAIM_EQ(starpu_mpi_wait_for_all(MPI_COMM_WORLD), 0);
	CLAIM_EQ(ncallbacks, nmine);
	look_at_what_never_came(me, size);
	CLAIM_EQ(ncallbacks, nmine);
	CLAIM_EQ(nkernels, 0);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(handles[i]);
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"one rank of many runs alone", one_rank_alone},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
