/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi/assembly.h"
#include "mpi/lb.h"
#include "mpi/afar.h"
#include "mpi_world.h"

/* How load flows, and rounds among ranks that take turns. */

enum { RANKS = 5, PER_RANK = 8, DATA = RANKS * PER_RANK, ROUNDS = 12 };

static starpu_data_handle_t handles[RANKS][DATA];
static int values[RANKS][DATA];

/* ---- the law ------------------------------------------------------------ */

static struct lb_state state(double load_s, int nneighbours)
{
	return (struct lb_state){
		.load_s = load_s, .nworkers = 1, .nneighbours = nneighbours};
}

static void load_flows_downhill_only(void **unused)
{
	struct lb_state high = state(10, 2), low = state(4, 1);

	(void)unused;
	assert_float_equal(lb_heat_flow_s(&high, &low, 1), 2, 1e-12);
	assert_float_equal(lb_heat_flow_s(&low, &high, 1), 0, 0);
	assert_float_equal(lb_heat_flow_s(&high, &high, 0), 0, 0);
	assert_float_equal(lb_heat_flow_s(&high, &low, 6), 0, 0);
	low.nneighbours = 5;
	assert_float_equal(lb_heat_flow_s(&high, &low, 1), 1, 1e-12);
}

/* ---- all ranks hear all --------------------------------------------------- */

enum { MANY = 3000 };

static int heard[RANKS][RANKS * MANY];

static void speak(void *arg)
{
	int rank = (int)(intptr_t)arg;
	int *own = calloc(MANY, sizeof(*own));

	for (int i = 0; i < MANY; i++)
		own[i] = 10000 * rank + i;
	for (int again = 0; again < 3; again++)
		assert_int_equal(assembly_hear(world_nodes[rank]->mpi, own, heard[rank],
					       MANY * sizeof(*own), "test"),
				 0);
	free(own);
}

static void all_hear_all(void **unused)
{
	(void)unused;
	world_open(RANKS);
	for (int rank = 0; rank < RANKS; rank++)
		fake_spawn(rank, speak, (void *)(intptr_t)rank);
	fake_play();
	for (int rank = 0; rank < RANKS; rank++)
		for (int from = 0; from < RANKS; from++)
			for (int i = 0; i < MANY; i += 7)
				assert_int_equal(heard[rank][from * MANY + i],
						 10000 * from + i);
	world_close();
}

/* ---- rounds ---------------------------------------------------------------- */

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet adds = {
	.cpu_funcs = {add_one}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "adds"};
static int all_read_the_first; /* of the data */

static int me(void)
{
	return fake_selected();
}

static void beside(int **ids, int *n)
{
	*ids = malloc(2 * sizeof(**ids));
	*n = 0;
	if (me() > 0)
		(*ids)[(*n)++] = me() - 1;
	if (me() + 1 < RANKS)
		(*ids)[(*n)++] = me() + 1;
}

static void any_datum(starpu_data_handle_t **unit, int *n, int dst)
{
	(void)dst;
	*n = 0;
	for (int i = 0; i < DATA && *n == 0; i++)
		if (handles[me()][i]->owner == me()) {
			*unit = malloc(sizeof(**unit));
			(*unit)[(*n)++] = handles[me()][i];
		}
}

static int insert(struct mpi *mpi, int dummy, ...)
{
	struct arg_walk args;
	int ret;

	va_start(args.list, dummy);
	ret = insert_task(mpi, 0, &adds, &args);
	va_end(args.list);
	return ret;
}

static void insert_one(struct mpi *mpi, starpu_data_handle_t *of_rank, int i,
		       int iteration)
{
	starpu_tag_t tag = (starpu_tag_t)iteration;
	int ret;

	if (i > 0 && all_read_the_first)
		ret = insert(mpi, 0, STARPU_RW, of_rank[i], STARPU_R, of_rank[0],
			     STARPU_TAG_ONLY, tag, 0);
	else
		ret = insert(mpi, 0, STARPU_RW, of_rank[i], STARPU_TAG_ONLY, tag, 0);
	assert_int_equal(ret, 0);
}

static void insert_rounds(void *arg)
{
	struct lb_wish wish = {.policy = "heat",
			       .given_by = "test",
			       .calls = {beside, any_datum},
			       .threshold = 3,
			       .ratio = 0.5};
	int rank = (int)(intptr_t)arg;
	struct mpi *mpi = world_nodes[rank]->mpi;

	lb_open(mpi, &wish);
	for (int iteration = 0; iteration < 3 * ROUNDS + 1; iteration++)
		for (int i = 0; i < DATA; i++)
			insert_one(mpi, handles[rank], i, iteration);
	lb_close(mpi);
	assert_int_equal(finish_wait_all(mpi, NULL), 0);
}

/* One rank has all; in the end each has its part, and all ranks know alike. */
static void expect_equal_shares(void)
{
	int count[RANKS] = {0};

	world_open(RANKS);
	memset(values, 0, sizeof(values));
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < DATA; i++) {
			handles[rank][i] = world_vector(
				rank, rank == 2 ? &values[rank][i] : NULL, 1);
			registry_register(world_mpi(rank), handles[rank][i], i, 2, 0,
					  "test");
		}
	for (int rank = 0; rank < RANKS; rank++)
		fake_spawn(rank, insert_rounds, (void *)(intptr_t)rank);
	fake_play();
	for (int i = 0; i < DATA; i++) {
		count[handles[0][i]->owner]++;
		for (int rank = 1; rank < RANKS; rank++)
			assert_int_equal(handles[rank][i]->owner, handles[0][i]->owner);
	}
	for (int rank = 0; rank < RANKS; rank++)
		assert_in_range(count[rank], PER_RANK - 1, PER_RANK + 1);
	for (int i = 0; i < DATA; i++) {
		int owner = handles[0][i]->owner;

		fake_select(owner);
		assert_int_equal(starpu_data_acquire(handles[owner][i], STARPU_R), 0);
		assert_int_equal(*(int *)starpu_data_get_local_ptr(handles[owner][i]),
				 3 * ROUNDS + 1);
		starpu_data_release(handles[owner][i]);
	}
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < DATA; i++)
			world_forget(rank, handles[rank][i]);
	world_close();
}

static void ranks_end_with_equal_shares(void **unused)
{
	(void)unused;
	all_read_the_first = 0;
	expect_equal_shares();
}

/* Else the first, which is named first, would seem to cost as much as all. */
static void what_is_read_costs_nothing(void **unused)
{
	(void)unused;
	all_read_the_first = 1;
	expect_equal_shares();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(load_flows_downhill_only),
		cmocka_unit_test(all_hear_all),
		cmocka_unit_test(ranks_end_with_equal_shares),
		cmocka_unit_test(what_is_read_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
