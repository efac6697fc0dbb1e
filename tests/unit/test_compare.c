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

/* With ORRERY_MPI_COMPARE the first task is named that ranks insert differently.  None of
 * these writes anything, so that nothing else would show it. */

enum { RANKS = 4, CALLS = 21 };

#define WORLD MPI_COMM_WORLD

/* Where a rank differs: from, and in what. */
static struct {
	int rank, call; /* of which rank, from 0 */
	enum { EXECUTOR, CODELET, FEWER, MORE, UNKNOWN } what;
} odd;

static void nothing_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet codelets[] = {
	{.cpu_funcs = {nothing_cpu}, .name = "first"},
	{.cpu_funcs = {nothing_cpu}, .name = "second_with_a_long_name"},
	{.cpu_funcs = {nothing_cpu}, .name = "third"},
};

static int is_odd(int rank, int call)
{
	return rank == odd.rank && call == odd.call;
}

static void insert(int rank, int call)
{
	int executor = call % RANKS, which = call % 2;

	if (is_odd(rank, call) && odd.what == EXECUTOR)
		executor = (executor + 1) % RANKS;
	if (is_odd(rank, call) && odd.what == CODELET)
		which = 2;
	starpu_mpi_task_insert(WORLD, &codelets[which], STARPU_EXECUTE_ON_NODE, executor,
			       0);
}

/* Tasks with NULL for a handle do not say who executes them. */
static void insert_unknown(void)
{
	struct starpu_codelet writes = codelets[2];

	writes.nbuffers = 1;
	writes.modes[0] = STARPU_W;
	starpu_mpi_task_insert(WORLD, &writes, STARPU_W, NULL, 0);
}

static void play(void *arg)
{
	int rank = (int)(intptr_t)arg, n = CALLS;

	if (starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL) != 0)
		exit(77);
	if (rank == odd.rank && odd.what == FEWER)
		n--;
	if (rank == odd.rank && odd.what == MORE)
		n++;
	for (int call = 0; call < n; call++)
		insert(rank, call);
	if (rank == odd.rank && odd.what == UNKNOWN)
		insert_unknown();
	starpu_mpi_shutdown();
}

static const char *said(int rank, int call, int what)
{
	static char text[SAID_BYTES];

	odd.rank = rank;
	odd.call = call;
	odd.what = what;
	say_all(RANKS, play, text);
	return text;
}

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not said; what is: %s", what, text);
}

static void assert_says_nothing(const char *text)
{
	if (strstr(text, "ORRERY_MPI_COMPARE"))
		fail_msg("nothing shall be said, but: %s", text);
}

/* Each may be the first one. */
static void the_first_call_is_named(void **state)
{
	char what[256];

	(void)state;
	for (int call = 0; call < CALLS; call++) {
		snprintf(
			what, sizeof(what),
			"[rank 2] starpu_mpi_shutdown: the ranks have inserted different "
			"tasks (ORRERY_MPI_COMPARE): the first is call %d of",
			call + 1);
		assert_says(said(2, call, EXECUTOR), what);
		assert_says(said(2, call, CODELET), what);
	}
}

static void both_sides_are_named(void **state)
{
	(void)state;
	assert_says(
		said(3, 16, EXECUTOR),
		"here task \"first\", which rank 1 executes, on rank 0 task \"first\", "
		"which rank 0 executes");
	assert_says(said(1, 5, CODELET),
		    "here task \"third\", which rank 1 executes, on rank 0 task "
		    "\"second_with_a_lo\", which rank 1 executes");
}

/* When it is rank 0 that differs, all others say so. */
static void all_compare_with_rank_0(void **state)
{
	const char *text = said(0, 7, EXECUTOR);

	(void)state;
	assert_says(text, "[rank 1] starpu_mpi_shutdown: the ranks have inserted");
	assert_says(text, "[rank 2] starpu_mpi_shutdown: the ranks have inserted");
	assert_says(text, "[rank 3] starpu_mpi_shutdown: the ranks have inserted");
}

static void numbers_are_told(void **state)
{
	(void)state;
	assert_says(
		said(1, 0, FEWER),
		"[rank 1] starpu_mpi_shutdown: this rank has inserted 20 tasks, rank 0 "
		"21 (ORRERY_MPI_COMPARE), and they agree until one has no more");
	assert_says(said(3, 0, MORE), "[rank 3] starpu_mpi_shutdown: this rank has "
				      "inserted 22 tasks, rank 0 21");
}

static void what_is_not_said_is_not_compared(void **state)
{
	(void)state;
	assert_says(said(2, 0, UNKNOWN),
		    "[rank 2] ORRERY_MPI_COMPARE: not compared with rank 0");
}

static void who_agrees_is_silent(void **state)
{
	(void)state;
	assert_says_nothing(said(-1, 0, EXECUTOR));
}

static void without_it_nothing_is_compared(void **state)
{
	(void)state;
	unsetenv("ORRERY_MPI_COMPARE");
	assert_says_nothing(said(2, 3, EXECUTOR));
	setenv("ORRERY_MPI_COMPARE", "1", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_call_is_named),
		cmocka_unit_test(both_sides_are_named),
		cmocka_unit_test(all_compare_with_rank_0),
		cmocka_unit_test(numbers_are_told),
		cmocka_unit_test(what_is_not_said_is_not_compared),
		cmocka_unit_test(who_agrees_is_silent),
		cmocka_unit_test(without_it_nothing_is_compared),
	};

	setenv("ORRERY_MPI_COMPARE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
