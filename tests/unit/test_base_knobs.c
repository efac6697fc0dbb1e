/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/knobs.h"

/* What stderr says while the knobs are read in a child; its end in *status. */
static void read_in_child(char *said, size_t bytes, int *status)
{
	int ends[2];
	size_t used = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct knobs knobs;

		dup2(ends[1], STDERR_FILENO);
		knobs_read(&knobs);
		knobs_complain();
		_exit(0);
	}
	close(ends[1]);
	while (used < bytes - 1 && (n = read(ends[0], said + used, bytes - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(ends[0]);
	waitpid(child, status, 0);
}

static const char *const names[] = {
	"STARPU_NCPU",       "STARPU_NCPUS",     "STARPU_SCHED",      "STARPU_SCHED_BETA",
	"STARPU_SILENT",     "STARPU_CALIBRATE", "ORRERY_MPI_EAGER",  "STARPU_MPI_STATS",
	"STARPU_COMM_STATS", "STARPU_MPI_CACHE", "ORRERY_SUBMIT_COST"};

static int forget(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return 0;
}

static void reread(struct knobs *knobs)
{
	knobs_free(knobs);
	knobs_read(knobs);
}

static void presets_hold(void **state)
{
	struct knobs knobs;

	(void)state;
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, -1);
	assert_int_equal(knobs.mpi_cache, 1);
	assert_int_equal(knobs.mpi_stats, 0);
	assert_true(knobs.sched_beta == 1);
	assert_true(knobs.mpi_eager_bytes > 0);
	assert_string_equal(knobs.sched, "");
	knobs_free(&knobs);
}

static void values_are_read_each_time(void **state)
{
	struct knobs knobs;

	(void)state;
	setenv("STARPU_NCPU", "3", 1);
	setenv("STARPU_SCHED", "dmdas", 1);
	setenv("STARPU_SCHED_BETA", "2.5", 1);
	setenv("ORRERY_MPI_EAGER", "1000", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, 3);
	assert_string_equal(knobs.sched, "dmdas");
	assert_true(knobs.sched_beta == 2.5);
	assert_int_equal(knobs.mpi_eager_bytes, 1000);
	setenv("STARPU_NCPU", "4", 1);
	unsetenv("STARPU_SCHED");
	reread(&knobs);
	assert_int_equal(knobs.ncpu, 4);
	assert_string_equal(knobs.sched, "");
	assert_string_equal(knobs_raw("STARPU_NCPU"), "4");
	knobs_free(&knobs);
}

static void an_old_name_never_wins(void **state)
{
	struct knobs knobs;

	(void)state;
	setenv("STARPU_NCPUS", "5", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, 5);
	setenv("STARPU_NCPU", "2", 1);
	reread(&knobs);
	assert_int_equal(knobs.ncpu, 2);
	setenv("STARPU_COMM_STATS", "1", 1);
	reread(&knobs);
	assert_int_equal(knobs.mpi_stats, 1);
	setenv("STARPU_MPI_STATS", "0", 1);
	reread(&knobs);
	assert_int_equal(knobs.mpi_stats, 0);
	knobs_free(&knobs);
}

/* More than are picked out of the environment once. */
static void many_may_be_set(void **state)
{
	enum { OTHERS = 100 };
	struct knobs knobs;
	char name[40];

	(void)state;
	for (int i = 0; i < OTHERS; i++) {
		snprintf(name, sizeof(name), "STARPU_OF_OTHERS_%d", i);
		setenv(name, "7", 1);
	}
	setenv("STARPU_NCPU", "3", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, 3);
	for (int i = 0; i < OTHERS; i++) {
		snprintf(name, sizeof(name), "STARPU_OF_OTHERS_%d", i);
		unsetenv(name);
	}
	reread(&knobs);
	assert_int_equal(knobs.ncpu, 3);
	knobs_free(&knobs);
}

static void unset_can_be_said(void **state)
{
	struct knobs knobs;
	char said[1000];
	int status;

	(void)state;
	setenv("STARPU_NCPU", "-1", 1);
	setenv("STARPU_CALIBRATE", "", 1);
	setenv("STARPU_MPI_CACHE", "-1", 1);
	setenv("STARPU_MPI_NDETACHED_SEND", "-1", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, -1);
	assert_int_equal(knobs.calibrate, -1);
	assert_int_equal(knobs.mpi_cache, 1);
	assert_int_equal(knobs.mpi_ndetached_send, 10);
	read_in_child(said, sizeof(said), &status);
	assert_string_equal(said, "");
	knobs_free(&knobs);
}

static void out_of_range_is_clamped_aloud(void **state)
{
	struct knobs knobs;
	char said[1000];
	int status;

	(void)state;
	setenv("STARPU_CALIBRATE", "7", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.calibrate, 2);
	read_in_child(said, sizeof(said), &status);
	assert_int_equal(status, 0);
	assert_non_null(strstr(said, "STARPU_CALIBRATE"));
	assert_non_null(strstr(said, "7"));
	knobs_free(&knobs);
}

static void a_switch_takes_any_positive_number(void **state)
{
	struct knobs knobs;
	char said[1000];
	int status;

	(void)state;
	setenv("STARPU_SILENT", "2", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.silent, 1);
	read_in_child(said, sizeof(said), &status);
	assert_string_equal(said, "");
	knobs_free(&knobs);
}

static void no_number_ends_the_program(void **state)
{
	char said[1000];
	int status;

	(void)state;
	setenv("STARPU_NCPU", "many", 1);
	read_in_child(said, sizeof(said), &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, "STARPU_NCPU is \"many\""));
}

static void numbers_are_taken_as_people_write_them(void **state)
{
	struct knobs knobs;
	char said[1000];
	int status;

	(void)state;
	setenv("STARPU_NCPU", " 4 \n", 1);
	setenv("ORRERY_MPI_EAGER", "1e3", 1);
	setenv("STARPU_SCHED_BETA", "2.5 ", 1);
	knobs_read(&knobs);
	assert_int_equal(knobs.ncpu, 4);
	assert_int_equal(knobs.mpi_eager_bytes, 1000);
	assert_true(knobs.sched_beta == 2.5);
	knobs_free(&knobs);
	setenv("STARPU_NCPU", "3.7", 1);
	read_in_child(said, sizeof(said), &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, "a whole number from 0 to 1000000000"));
}

static void texts_may_be_long(void **state)
{
	enum { LONG = 100000 };
	char *text = malloc(LONG + 1);
	struct knobs knobs, again;

	(void)state;
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	setenv("STARPU_SCHED", text, 1);
	knobs_read(&knobs);
	assert_string_equal(knobs.sched, text);
	unsetenv("STARPU_SCHED");
	knobs_read(&again);
	assert_string_equal(again.sched, "");
	assert_string_equal(knobs.sched, text);
	assert_false(knobs_same(&knobs, &again));
	knobs_free(&knobs);
	knobs_free(&again);
	free(text);
}

static void the_manual_names_all(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	knobs_print_manual(out);
	fclose(out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(strstr(text, names[i]));
	free(text);
}

static void complaints_say_who(void **state)
{
	char said[200] = "";
	int ends[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	orr_complain(3, "no %s", "bread");
	orr_complain(ORR_NO_RANK, "no %s", "wine");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	assert_string_equal(said, "[orrery][rank 3] no bread\n[orrery] no wine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(presets_hold, forget),
		cmocka_unit_test_setup(values_are_read_each_time, forget),
		cmocka_unit_test_setup(an_old_name_never_wins, forget),
		cmocka_unit_test_setup(many_may_be_set, forget),
		cmocka_unit_test_setup(unset_can_be_said, forget),
		cmocka_unit_test_setup(out_of_range_is_clamped_aloud, forget),
		cmocka_unit_test_setup(a_switch_takes_any_positive_number, forget),
		cmocka_unit_test_setup(no_number_ends_the_program, forget),
		cmocka_unit_test_setup(numbers_are_taken_as_people_write_them, forget),
		cmocka_unit_test_setup(texts_may_be_long, forget),
		cmocka_unit_test_setup(the_manual_names_all, forget),
		cmocka_unit_test_setup(complaints_say_who, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
