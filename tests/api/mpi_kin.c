/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A datum and its parts, used by turns in calls of all ranks: what is contributed to one
 * of them is in the others, and what replaces one replaces the others. */
#include <orrery_mpi.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { PARTS = 3, PER_PART = 4, N = PARTS * PER_PART };

static int at[N];
static starpu_data_handle_t whole, part[PARTS];

/* ---- tasks ------------------------------------------------------------ */

static void add_cpu(void *buffers[], void *arg)
{
	int *to = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const int *from = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		to[i] += from[i];
}

static void zero_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = 0;
}

static void one_more_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i]++;
}

static void expect_cpu(void *buffers[], void *arg)
{
	const int *x = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int expected;

	starpu_codelet_unpack_args(arg, &expected);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		CLAIM_EQ(x[i], expected);
}

#define CODELET(function, n, ...)                                                        \
	{                                                                                \
		.cpu_funcs = {function}, .nbuffers = (n), .modes = {__VA_ARGS__},        \
		.model = &starpu_perfmodel_nop, .name = #function                        \
	}

static struct starpu_codelet combine =
	CODELET(add_cpu, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
static struct starpu_codelet neutral = CODELET(zero_cpu, 1, STARPU_W);
static struct starpu_codelet contribute = CODELET(one_more_cpu, 1, STARPU_MPI_REDUX);
static struct starpu_codelet one_more = CODELET(one_more_cpu, 1, STARPU_RW);
static struct starpu_codelet expect = CODELET(expect_cpu, 1, STARPU_R);

/* All ranks read it, and hold it from now on. */
static void expect_everywhere(starpu_data_handle_t handle, int expected)
{
	for (int rank = 0; rank < claim_size; rank++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &expect, STARPU_R, handle,
						STARPU_VALUE, &expected, sizeof(expected),
						STARPU_EXECUTE_ON_NODE, rank, 0),
			 0);
}

static void contribute_everywhere(starpu_data_handle_t handle)
{
	for (int rank = 0; rank < claim_size; rank++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &contribute, STARPU_MPI_REDUX,
						handle, STARPU_EXECUTE_ON_NODE, rank, 0),
			 0);
}

/* ---- data -------------------------------------------------------------- */

/* On rank 0, of zeros. */
static void open_whole(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = PARTS};

	start();
	memset(at, 0, sizeof(at));
	starpu_vector_data_register(&whole, RANK == 0 ? STARPU_MAIN_RAM : -1,
				    RANK == 0 ? (uintptr_t)at : 0, N, sizeof(int));
	starpu_mpi_data_register(whole, TAG, 0);
	starpu_data_set_reduction_methods(whole, &combine, &neutral);
	starpu_data_partition_plan(whole, &f, part);
	for (int i = 0; i < PARTS; i++) {
		starpu_mpi_data_register(part[i], TAG + 1 + i, 0);
		starpu_data_set_reduction_methods(part[i], &combine, &neutral);
	}
}

static void close_whole(void)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_partition_clean(whole, PARTS, part);
	starpu_data_unregister(whole);
	stop();
}

static starpu_data_handle_t another(int owner)
{
	starpu_data_handle_t handle;

	starpu_data_register_same(&handle, whole);
	starpu_mpi_data_register(handle, TAG + 10, owner);
	return handle;
}

/* ---- claims ------------------------------------------------------------ */

static void copy_to(int owner)
{
	starpu_data_handle_t copy;

	open_whole();
	copy = another(owner);
	for (int i = 0; i < PARTS; i++)
		contribute_everywhere(part[i]);
	CLAIM_EQ(starpu_mpi_data_cpy(copy, whole, WORLD, 1, NULL, NULL), 0);
	expect_everywhere(copy, claim_size);
	starpu_data_unregister(copy);
	close_whole();
}

static void copies_have_what_parts_got(void)
{
	copy_to(0);
	copy_to(claim_size - 1);
}

static void copy_from(int owner)
{
	starpu_data_handle_t from;

	open_whole();
	from = another(owner);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &neutral, STARPU_W, from, 0), 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &one_more, STARPU_RW, from, 0), 0);
	expect_everywhere(part[0], 0);
	contribute_everywhere(part[1]);
	CLAIM_EQ(starpu_mpi_data_cpy(whole, from, WORLD, 1, NULL, NULL), 0);
	expect_everywhere(part[0], 1);
	expect_everywhere(part[1], 1);
	starpu_data_unregister(from);
	close_whole();
}

static void copies_replace_parts(void)
{
	copy_from(0);
	copy_from(claim_size - 1);
}

/* Rank 0, the owner, changes its copy by itself, as programs do before they scatter;
 * then the last rank gathers. */
static void spread_data_are_parts_and_wholes(void)
{
	starpu_data_handle_t away[1];
	int last = claim_size - 1;

	open_whole();
	away[0] = part[1];
	expect_everywhere(part[0], 0);
	if (RANK == 0)
		CLAIM_EQ(starpu_task_insert(&one_more, STARPU_RW, whole, 0), 0);
	starpu_mpi_scatter_detached(&whole, 1, 0, WORLD, NULL, NULL, NULL, NULL);
	expect_everywhere(part[0], 1);
	contribute_everywhere(whole);
	starpu_mpi_gather_detached(away, 1, last, WORLD, NULL, NULL, NULL, NULL);
	if (RANK == last)
		CLAIM_EQ(starpu_task_insert(&expect, STARPU_R, part[1], STARPU_VALUE,
					    &(int){1 + claim_size}, sizeof(int), 0),
			 0);
	close_whole();
}

static void results_replace_parts(void)
{
	starpu_data_handle_t own;

	open_whole();
	own = another(STARPU_MPI_PER_NODE);
	CLAIM_EQ(starpu_task_insert(&neutral, STARPU_W, own, 0), 0);
	CLAIM_EQ(starpu_task_insert(&one_more, STARPU_RW, own, 0), 0);
	expect_everywhere(part[0], 0);
	contribute_everywhere(part[1]);
	CLAIM_EQ(orrery_mpi_reduce_detached(own, whole, WORLD, 0, NULL, NULL), 0);
	for (int i = 0; i < PARTS; i++)
		expect_everywhere(part[i], claim_size);
	starpu_data_unregister(own);
	close_whole();
}

/* Copies and contributions of after the checkpoint are of a past that never was. */
static void what_is_restored_replaces_parts(void)
{
	starpu_mpi_checkpoint_template_t template;

	open_whole();
	CLAIM_EQ(starpu_mpi_checkpoint_init(), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_register(&template, 1, 0, STARPU_R, whole,
							 1, 0),
		 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &one_more, STARPU_RW, whole, 0), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(template, 0), 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &one_more, STARPU_RW, part[0], 0), 0);
	expect_everywhere(part[0], 2);
	contribute_everywhere(part[1]);
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, NULL, NULL, 0), 0);
	for (int i = 0; i < PARTS; i++)
		expect_everywhere(part[i], 1);
	expect_everywhere(whole, 1);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(starpu_mpi_checkpoint_shutdown(), 0);
	close_whole();
}

static const struct claim claims[] = {
	{"copies have what parts got", copies_have_what_parts_got},
	{"copies replace parts", copies_replace_parts},
	{"spread data are parts and wholes", spread_data_are_parts_and_wholes},
	{"results replace parts", results_replace_parts},
	{"what is restored replaces parts", what_is_restored_replaces_parts},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
