/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Parts of data between nodes: sent, received, used by tasks of other ranks. */
#include <stdint.h>
#include <string.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

#define WORLD MPI_COMM_WORLD
#define RANK  claim_rank

enum { NX = 4, NY = 6, LD = 5, PARTS = 3, N = 12, TAG = 30 };

static void start(void)
{
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL), 0);
}

/* Columns of a matrix with gaps, from rank 0 to the parts of all others. */
static void parts_are_sent_and_received(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_matrix_filter_vertical_block,
				       .nchildren = PARTS};
	int x[NY][LD];
	starpu_data_handle_t whole;

	start();
	for (int j = 0; j < NY; j++)
		for (int i = 0; i < LD; i++)
			x[j][i] = RANK == 0 && i < NX ? 100 * j + i : -1;
	starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, LD, NX, NY,
				    sizeof(int));
	starpu_data_partition(whole, &f);
	for (int i = 0; i < PARTS; i++) {
		starpu_data_handle_t part = starpu_data_get_child(whole, (unsigned)i);

		for (int to = 1; RANK == 0 && to < claim_size; to++)
			starpu_mpi_isend_detached(part, to, TAG + i, WORLD, NULL, NULL);
		if (RANK != 0)
			starpu_mpi_irecv_detached(part, 0, TAG + i, WORLD, NULL, NULL);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(whole);
	for (int j = 0; j < NY; j++)
		for (int i = 0; i < LD; i++)
			CLAIM_EQ(x[j][i], i < NX ? 100 * j + i : -1);
	starpu_mpi_shutdown();
}

static void add_cpu(void *buffers[], void *arg)
{
	int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		to[i] += from[i];
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW, STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void twice_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] *= 2;
}

static struct starpu_codelet twice = {.cpu_funcs = {twice_cpu},
				      .nbuffers = 1,
				      .modes = {STARPU_RW},
				      .model = &starpu_perfmodel_nop,
				      .name = "twice"};

/* A vector of rank 0 and its parts, which have owners of their own. */
static void parts_are_used_elsewhere(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = PARTS};
	starpu_data_handle_t whole, part[PARTS], sum;
	int x[N], other[N / PARTS] = {0}, last = claim_size - 1;

	start();
	for (int i = 0; i < N; i++)
		x[i] = i + 1;
	starpu_vector_data_register(&whole, RANK == 0 ? STARPU_MAIN_RAM : -1,
				    RANK == 0 ? (uintptr_t)x : 0, N, sizeof(int));
	starpu_mpi_data_register(whole, TAG, 0);
	starpu_data_partition_plan(whole, &f, part);
	for (int i = 0; i < PARTS; i++)
		starpu_mpi_data_register(part[i], TAG + 1 + i, 0);
	starpu_vector_data_register(&sum, RANK == last ? STARPU_MAIN_RAM : -1,
				    RANK == last ? (uintptr_t)other : 0, N / PARTS,
				    sizeof(int));
	starpu_mpi_data_register(sum, TAG + 10, last);
	for (int i = 0; i < PARTS; i++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &add, STARPU_RW, sum, STARPU_R,
						part[i], 0),
			 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &twice, STARPU_RW, whole, 0), 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &twice, STARPU_RW, part[1], 0), 0);
	CLAIM_EQ(
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, sum, STARPU_R, part[1], 0),
		0);
	/* A part is written where it is not owned, and comes home. */
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &twice, STARPU_RW, part[2],
					STARPU_EXECUTE_ON_NODE, last, 0),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_partition_clean(whole, PARTS, part);
	starpu_data_unregister(whole);
	starpu_data_unregister(sum);
	for (int i = 0; i < N / PARTS && RANK == last; i++)
		CLAIM_EQ(other[i], (i + 1) + (i + 5) + (i + 9) + 4 * (i + 5));
	for (int i = 0; i < N && RANK == 0; i++)
		CLAIM_EQ(x[i], (i + 1) * (i < 4 ? 2 : 4));
	starpu_mpi_shutdown();
}

/* What all ranks insert tells all that a copy is of the past. */
static void copies_follow_the_whole(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = PARTS};
	starpu_data_handle_t whole, part[PARTS], half[2], sum;
	int x[N], other[N / PARTS] = {0}, last = claim_size - 1;

	start();
	for (int i = 0; i < N; i++)
		x[i] = i + 1;
	starpu_vector_data_register(&whole, RANK == 0 ? STARPU_MAIN_RAM : -1,
				    RANK == 0 ? (uintptr_t)x : 0, N, sizeof(int));
	starpu_mpi_data_register(whole, TAG, 0);
	starpu_data_partition_plan(whole, &f, part);
	f.nchildren = 2;
	starpu_data_partition_plan(whole, &f, half);
	for (int i = 0; i < PARTS; i++)
		starpu_mpi_data_register(part[i], TAG + 1 + i, 0);
	for (int i = 0; i < 2; i++)
		starpu_mpi_data_register(half[i], TAG + 10 + i, 0);
	starpu_vector_data_register(&sum, RANK == last ? STARPU_MAIN_RAM : -1,
				    RANK == last ? (uintptr_t)other : 0, N / PARTS,
				    sizeof(int));
	starpu_mpi_data_register(sum, TAG + 20, last);
	/* The same part, as the whole and a part of another plan are written between. */
	for (int i = 0; i < 3; i++) {
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &add, STARPU_RW, sum, STARPU_R,
						part[0], 0),
			 0);
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &twice, STARPU_RW,
						i == 0 ? whole : half[0], 0),
			 0);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_partition_clean(whole, PARTS, part);
	starpu_data_partition_clean(whole, 2, half);
	starpu_data_unregister(whole);
	starpu_data_unregister(sum);
	for (int i = 0; i < N / PARTS && RANK == last; i++)
		CLAIM_EQ(other[i], (1 + 2 + 4) * (i + 1));
	for (int i = 0; i < N && RANK == 0; i++)
		CLAIM_EQ(x[i], (i < 6 ? 8 : 2) * (i + 1));
	starpu_mpi_shutdown();
}

static void neutral_cpu(void *buffers[], void *arg)
{
	(void)arg;
	memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(int));
}

static struct starpu_codelet neutral = {.cpu_funcs = {neutral_cpu},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "neutral"};
static struct starpu_codelet combine = {.cpu_funcs = {add_cpu},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "combine"};

static void one_more_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i]++;
}

static struct starpu_codelet one_more = {.cpu_funcs = {one_more_cpu},
					 .nbuffers = STARPU_VARIABLE_NBUFFERS,
					 .model = &starpu_perfmodel_nop,
					 .name = "one more"};

static void contribute_everywhere(starpu_data_handle_t handle, unsigned mode)
{
	for (int rank = 0; rank < claim_size; rank++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &one_more, mode, handle,
						STARPU_EXECUTE_ON_NODE, rank, 0),
			 0);
}

/* Contributions of all ranks to parts and to the whole, by turns; the last ones are
 * reduced when their parts end. */
static void parts_are_reduced_between_nodes(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = PARTS};
	starpu_data_handle_t whole, part[PARTS];
	int x[N], all = claim_size;

	start();
	for (int i = 0; i < N; i++)
		x[i] = 100 * i;
	starpu_vector_data_register(&whole, RANK == 0 ? STARPU_MAIN_RAM : -1,
				    RANK == 0 ? (uintptr_t)x : 0, N, sizeof(int));
	starpu_data_set_reduction_methods(whole, &combine, &neutral);
	starpu_mpi_data_register(whole, TAG, 0);
	starpu_data_partition_plan(whole, &f, part);
	for (int i = 0; i < PARTS; i++)
		starpu_mpi_data_register(part[i], TAG + 1 + i, 0);
	contribute_everywhere(part[1], STARPU_REDUX);
	contribute_everywhere(whole, STARPU_REDUX);
	contribute_everywhere(part[0], STARPU_MPI_REDUX);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &twice, STARPU_RW, whole, 0), 0);
	contribute_everywhere(part[2], STARPU_MPI_REDUX);
	starpu_data_partition_clean(whole, PARTS, part);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(whole);
	for (int i = 0; i < N && RANK == 0; i++)
		CLAIM_EQ(x[i], 2 * (100 * i + (i < 8 ? 2 : 1) * all) + (i < 8 ? 0 : all));
	starpu_mpi_shutdown();
}

/* The same with starpu_data_partition(). */
static void partitioning_reduces(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = PARTS};
	starpu_data_handle_t whole;
	int x[N] = {0};

	start();
	starpu_vector_data_register(&whole, RANK == 0 ? STARPU_MAIN_RAM : -1,
				    RANK == 0 ? (uintptr_t)x : 0, N, sizeof(int));
	starpu_data_set_reduction_methods(whole, &combine, &neutral);
	starpu_mpi_data_register(whole, TAG, 0);
	contribute_everywhere(whole, STARPU_REDUX);
	starpu_data_partition(whole, &f);
	for (int i = 0; i < PARTS; i++)
		starpu_mpi_data_register(starpu_data_get_child(whole, (unsigned)i),
					 TAG + 1 + i, 0);
	contribute_everywhere(starpu_data_get_child(whole, 1), STARPU_MPI_REDUX);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int i = 0; i < N && RANK == 0; i++)
		CLAIM_EQ(x[i], claim_size * (i >= 4 && i < 8 ? 2 : 1));
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"parts are sent and received", parts_are_sent_and_received},
	{"parts are used elsewhere", parts_are_used_elsewhere},
	{"copies follow the whole", copies_follow_the_whole},
	{"parts are reduced between nodes", parts_are_reduced_between_nodes},
	{"partitioning reduces", partitioning_reduces},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
