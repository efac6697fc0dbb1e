/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi/collective.h"
#include "mpi_world.h"

/* Scatter, gather and copies: who gets what, who hears of it, and what the cache keeps.
 */

enum { RANKS = 5, DATA = 11, INTS = 100 };

static int values[RANKS][DATA][INTS];
static starpu_data_handle_t handles[RANKS][DATA];
static int nends[RANKS];

static void ended(void *arg)
{
	++*(int *)arg;
}

/* Every second one is larger than what is sent without being announced. */
static unsigned length_of(int i)
{
	return i % 2 ? INTS : 3;
}

static void open_all(void)
{
	world_open(RANKS);
	memset(values, 0, sizeof(values));
	memset(nends, 0, sizeof(nends));
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < DATA; i++) {
			handles[rank][i] =
				world_vector(rank, values[rank][i], length_of(i));
			registry_register(world_mpi(rank), handles[rank][i], i, i % RANKS,
					  0, "test");
		}
}

static void close_all(void)
{
	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < DATA; i++)
			world_forget(rank, handles[rank][i]);
	world_close();
}

static void spread(int root, int gathers)
{
	for (int rank = 0; rank < RANKS; rank++) {
		struct spread wish = {.handles = handles[rank],
				      .n = DATA,
				      .root = root,
				      .gathers = gathers,
				      .callback = ended,
				      .arg = &nends[rank],
				      .what = "test"};

		collective_spread(world_mpi(rank), &wish);
	}
}

static void each_owner_gets_its_own_only(void **state)
{
	(void)state;
	open_all();
	for (int i = 0; i < DATA; i++)
		for (unsigned j = 0; j < length_of(i); j++)
			values[2][i][j] = 10 + i;
	spread(2, 0);
	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(nends[rank], 0); /* Not from inside the call. */
	fake_run();
	for (int rank = 0; rank < RANKS; rank++) {
		assert_int_equal(nends[rank], 1);
		for (int i = 0; i < DATA; i++) {
			int gets = rank == 2 || i % RANKS == rank;

			assert_int_equal(values[rank][i][0], gets ? 10 + i : 0);
			assert_int_equal(values[rank][i][length_of(i) - 1],
					 gets ? 10 + i : 0);
		}
	}
	close_all();
}

static void the_root_gets_all(void **state)
{
	(void)state;
	open_all();
	for (int i = 0; i < DATA; i++)
		for (unsigned j = 0; j < length_of(i); j++)
			values[i % RANKS][i][j] = 20 + i;
	spread(1, 1);
	fake_run();
	for (int i = 0; i < DATA; i++) {
		assert_int_equal(values[1][i][0], 20 + i);
		assert_int_equal(values[1][i][length_of(i) - 1], 20 + i);
	}
	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(nends[rank], 1);
	close_all();
}

/* Its owner sends a value to a rank, which has it from then on. */
static void fetch(int i, int to)
{
	for (int rank = 0; rank < RANKS; rank++) {
		struct fetch wish = {
			.handle = handles[rank][i], .to = to, .what = "test"};

		insert_fetch(world_mpi(rank), &wish);
	}
}

static void what_was_replaced_is_fetched_again(void **state)
{
	(void)state;
	open_all();
	values[0][0][0] = 7;
	fetch(0, 3);
	fake_run();
	assert_int_equal(values[3][0][0], 7);
	assert_true(handles[3][0]->flags & DATUM_RECEIVED);
	values[2][2][0] = 9;
	for (int rank = 0; rank < RANKS; rank++) {
		struct value_copy copy = {.dst = handles[rank][0],
					  .src = handles[rank][2],
					  .callback = ended,
					  .arg = &nends[rank],
					  .what = "test"};

		assert_int_equal(collective_copy(world_mpi(rank), &copy), 0);
	}
	assert_false(handles[3][0]->flags & DATUM_RECEIVED);
	assert_false(handles[0][0]->flags & DATUM_SENT);
	fake_run();
	assert_int_equal(values[0][0][0], 9);
	assert_int_equal(nends[0], 1);
	assert_int_equal(nends[2], 0);
	fetch(0, 3);
	fake_run();
	assert_int_equal(values[3][0][0], 9);
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_owner_gets_its_own_only),
		cmocka_unit_test(the_root_gets_all),
		cmocka_unit_test(what_was_replaced_is_fetched_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
