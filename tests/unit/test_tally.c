/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <starpu_mpi.h>

#include "said.h"

/* What rank 0 says in shutdown of programs whose ranks differ about who executes. */

enum { RANKS = 3, DATA = 6 };

#define WORLD   MPI_COMM_WORLD
#define LOST    "each of the others was left to a rank that left it to another one"
#define TWICE   "several ranks have each executed the same ones"
#define SHIFTED "some of them on several ranks and as many on none"

/* A program: what rank takes for the owner of datum i, and whether it inserts what is
 * for that datum. */
struct program {
	int (*owner)(int rank, int i);
	int (*inserts)(int rank, int i);
	int (*tag)(int rank, int i);
	int before_moved; /* when the owners are set a second time: until then 0 owns all
			   */
	int posts, submits;
};

static const struct program *program;
static long values[RANKS][DATA];

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet adds = {
	.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_W}, .name = "adds"};

static int me(void)
{
	int rank;

	starpu_mpi_comm_rank(WORLD, &rank);
	return rank;
}

static void post_letters(void)
{
	static long letters[RANKS][2];
	starpu_data_handle_t out, in;
	int rank = me();

	starpu_variable_data_register(&out, STARPU_MAIN_RAM, (uintptr_t)&letters[rank][0],
				      sizeof(long));
	starpu_variable_data_register(&in, STARPU_MAIN_RAM, (uintptr_t)&letters[rank][1],
				      sizeof(long));
	starpu_mpi_isend_detached(out, (rank + 1) % RANKS, 77, WORLD, NULL, NULL);
	starpu_mpi_irecv_detached(in, (rank + RANKS - 1) % RANKS, 77, WORLD, NULL, NULL);
	starpu_data_unregister(out);
	starpu_data_unregister(in);
}

static void play(void *arg)
{
	starpu_data_handle_t data[DATA];
	int rank = (int)(intptr_t)arg;

	if (starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL) != 0)
		exit(77);
	for (int i = 0; i < DATA; i++) {
		int owner = program->owner(rank, i), is_mine = owner == rank;

		starpu_variable_data_register(&data[i], is_mine ? STARPU_MAIN_RAM : -1,
					      is_mine ? (uintptr_t)&values[rank][i] : 0,
					      sizeof(long));
		starpu_mpi_data_register(data[i], program->tag(rank, i),
					 program->before_moved ? 0 : owner);
		if (program->before_moved)
			starpu_mpi_data_set_rank(data[i], owner);
	}
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < DATA; i++)
			if (program->inserts(rank, i))
				starpu_mpi_task_insert(WORLD, &adds, STARPU_W, data[i],
						       0);
	if (program->submits)
		starpu_task_insert(&adds, STARPU_W, data[0], 0);
	if (program->posts)
		post_letters();
	for (int i = 0; i < DATA; i++)
		starpu_data_unregister(data[i]);
	starpu_mpi_shutdown();
}

static void assert_says(const struct program *it, const char *what)
{
	static char said[SAID_BYTES];

	program = it;
	say_all(RANKS, play, said);
	if (what && !strstr(said, what))
		fail_msg("\"%s\" is not said; what is: %s", what, said);
	if (!what && strstr(said, "starpu_mpi_shutdown"))
		fail_msg("nothing shall be said, but: %s", said);
}

static int right(int rank, int i)
{
	(void)rank;
	return i % RANKS;
}

static int always_me(int rank, int i)
{
	(void)i;
	return rank;
}

static int never_me(int rank, int i)
{
	(void)i;
	return (rank + 1) % RANKS;
}

static int shifted(int rank, int i)
{
	return (rank + i) % RANKS;
}

/* They differ about one datum. */
static int almost_right(int rank, int i)
{
	return i == 3 && rank == 2 ? 2 : i % RANKS;
}

/* Of one each rank says that nobody but it has it; tasks do not write it. */
static int right_but_the_last(int rank, int i)
{
	return i == DATA - 1 ? rank : i % RANKS;
}

static int for_each_node(int rank, int i)
{
	(void)rank;
	(void)i;
	return STARPU_MPI_PER_NODE;
}

static int all(int rank, int i)
{
	(void)rank;
	(void)i;
	return 1;
}

static int what_is_mine(int rank, int i)
{
	return i % RANKS == rank;
}

static int all_but_the_last(int rank, int i)
{
	(void)rank;
	return i < DATA - 1;
}

static int same(int rank, int i)
{
	(void)rank;
	return i;
}

static int of_the_rank(int rank, int i)
{
	return rank * DATA + i;
}

static int none(int rank, int i)
{
	(void)rank;
	(void)i;
	return -1;
}

static void what_nobody_executes_is_told(void **state)
{
	const struct program it = {never_me, all, same, 0, 0, 0};

	(void)state;
	assert_says(&it, "rank 0 has inserted 24 tasks, and all ranks together have "
			 "executed 0");
	assert_says(&it, LOST);
}

static void what_several_execute_is_told(void **state)
{
	const struct program mine = {always_me, all, same, 0, 0, 0},
			     one = {almost_right, all, same, 0, 0, 0},
			     beside = {almost_right, all, same, 0, 1, 1},
			     moved = {almost_right, all, same, 1, 0, 0};

	(void)state;
	assert_says(&mine, "all 3 have registered the same tags and inserted 24 tasks "
			   "each, and together they have executed 72");
	assert_says(&mine, TWICE);
	assert_says(&one, "have executed 28: several");
	assert_says(&beside, "have executed 28: several");
	assert_says(&moved, "have executed 28: several");
}

static void what_one_executes_for_another_is_told(void **state)
{
	const struct program it = {shifted, all, same, 0, 0, 0};

	(void)state;
	assert_says(&it, "inserted 24 tasks each, and together they have executed 24");
	assert_says(&it, SHIFTED);
}

static void assert_silent(const struct program *its, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_says(&its[i], NULL);
}

static void programs_that_agree_end_in_silence(void **state)
{
	const struct program its[] = {
		{right, all, same, 0, 0, 0},
		{right, all, same, 0, 1, 1},
		{right, all, same, 1, 0, 0},
		{right, what_is_mine, same, 0, 0, 0},
		{right, what_is_mine, same, 0, 1, 0},
		{right, what_is_mine, same, 1, 0, 1},
		{for_each_node, all, same, 0, 0, 0},
	};

	(void)state;
	assert_silent(its, sizeof(its) / sizeof(*its));
}

/* Data of a rank's own; and what is said of data that no inserted task writes. */
static void what_may_be_meant_is_not_told(void **state)
{
	const struct program its[] = {
		{always_me, all, of_the_rank, 0, 0, 0},
		{always_me, all, none, 0, 0, 0},
		{right_but_the_last, all_but_the_last, same, 0, 1, 0},
		{right_but_the_last, all_but_the_last, same, 0, 0, 1},
		{right_but_the_last, all_but_the_last, same, 1, 0, 0},
	};

	(void)state;
	assert_silent(its, sizeof(its) / sizeof(*its));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_executes_is_told),
		cmocka_unit_test(what_several_execute_is_told),
		cmocka_unit_test(what_one_executes_for_another_is_told),
		cmocka_unit_test(programs_that_agree_end_in_silence),
		cmocka_unit_test(what_may_be_meant_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
