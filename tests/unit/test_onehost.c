/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_world.h"

/* test_onehost.c - receivers that take large values from their place at the sender. */

enum { INTS = 1000, COLUMNS = 20, ROWS = INTS / COLUMNS, LD = 30 };

static struct {
	int from[INTS], to[INTS], apart[LD * ROWS];
} scene;

static void open_near(int size, int refusal)
{
	world_open(size);
	for (int i = 0; i < size; i++)
		fake_net_reaches(world_mpi(i)->net, refusal);
	for (int i = 0; i < INTS; i++) {
		scene.from[i] = i + 1;
		scene.to[i] = 0;
	}
	memset(scene.apart, 0, sizeof(scene.apart));
}

static void close_near(starpu_data_handle_t source, starpu_data_handle_t target)
{
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

/* Do all run and end, without a message that asks the sender? */
static void transfer(int receive_first, int refusal, int is_sync)
{
	starpu_data_handle_t source, target;
	struct request *send, *receive = NULL;
	struct post what = {.kind = REQUEST_SEND,
			    .peer = 1,
			    .tag = 7,
			    .is_waited = 1,
			    .is_sync = is_sync};

	open_near(2, refusal);
	what.handle = source = world_vector(0, scene.from, INTS);
	target = world_vector(1, scene.to, INTS);
	if (receive_first)
		receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
	send = engine_post(world_mpi(0), &what);
	if (!receive_first) {
		fake_run_until(1e-3);
		receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
	}
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(finish_wait(send), 0);
	assert_memory_equal(scene.from, scene.to, sizeof(scene.from));
	/* A key is what a grant has. */
	assert_int_equal(world_mpi(1)->engine.large.nkeys, refusal ? 1 : 0);
	assert_int_equal(world_mpi(1)->engine.large.ntaking, 0);
	assert_int_equal(world_mpi(1)->engine.large.nmoving, 0);
	assert_int_equal(engine_nflying(world_mpi(0)), 0);
	assert_int_equal(engine_nflying(world_mpi(1)), 0);
	close_near(source, target);
}

static void is_taken_from_its_place(void **state)
{
	(void)state;
	for (int sync = 0; sync < 2; sync++) {
		transfer(1, 0, sync);
		transfer(0, 0, sync);
	}
}

static void what_is_refused_is_granted(void **state)
{
	(void)state;
	transfer(1, -EFAULT, 0);
	transfer(0, -EPERM, 1);
}

static starpu_data_handle_t apart_at(int rank)
{
	starpu_data_handle_t handle;

	fake_select(rank);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)scene.apart, LD,
				    COLUMNS, ROWS, sizeof(int));
	return handle;
}

static starpu_data_handle_t in_one_run_at(int rank, int *values)
{
	starpu_data_handle_t handle;

	fake_select(rank);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, COLUMNS,
				    COLUMNS, ROWS, sizeof(int));
	return handle;
}

static void check_apart(const int *run)
{
	for (int i = 0; i < ROWS; i++)
		assert_memory_equal(scene.apart + LD * i, run + COLUMNS * i,
				    COLUMNS * sizeof(int));
}

/* From apart, or to apart. */
static void across(int is_source, int refusal)
{
	starpu_data_handle_t source, target;
	struct request *send, *receive;

	open_near(2, refusal);
	for (int i = 0; i < LD * ROWS && is_source; i++)
		scene.apart[i] = i;
	source = is_source ? apart_at(0) : in_one_run_at(0, scene.from);
	target = is_source ? in_one_run_at(1, scene.to) : apart_at(1);
	receive = world_post(1, REQUEST_RECEIVE, target, 0, 1);
	send = world_post(0, REQUEST_SEND, source, 1, 1);
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(finish_wait(send), 0);
	check_apart(is_source ? scene.to : scene.from);
	assert_int_equal(world_mpi(1)->engine.large.nkeys, refusal ? 1 : 0);
	close_near(source, target);
}

/* It is taken from its place all the same, which its sender describes. */
static void rows_that_lie_apart(void **state)
{
	(void)state;
	for (int is_source = 0; is_source < 2; is_source++) {
		across(is_source, 0);
		across(is_source, -EFAULT);
	}
}

static void write_over(void *buffers[], void *arg)
{
	(void)arg;
	memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0xff, sizeof(scene.from));
}

/* The sender keeps its value until the receiver has it. */
static void writers_wait(void **state)
{
	static struct starpu_codelet cl = {
		.cpu_funcs = {write_over}, .nbuffers = 1, .modes = {STARPU_W}};
	starpu_data_handle_t source, target;
	struct request *send, *receive;

	(void)state;
	open_near(2, 0);
	source = world_vector(0, scene.from, INTS);
	target = world_vector(1, scene.to, INTS);
	send = world_post(0, REQUEST_SEND, source, 1, 1);
	assert_int_equal(starpu_task_insert(&cl, STARPU_W, source, 0), 0);
	fake_run_until(1e-3);
	receive = world_post(1, REQUEST_RECEIVE, target, 0, 1);
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(finish_wait(send), 0);
	for (int i = 0; i < INTS; i++)
		assert_int_equal(scene.to[i], i + 1);
	fake_run();
	close_near(source, target);
}

struct order {
	int *next, place;
};

static void note_place(void *arg)
{
	struct order *order = arg;

	order->place = (*order->next)++;
}

/* Two are taken at a time, in the order of the receiver's priorities. */
static void urgent_ones_first(void **state)
{
	enum { N = 6 };
	static int values[N][INTS], to[N][INTS];
	starpu_data_handle_t sources[N], targets[N];
	struct post what = {.kind = REQUEST_SEND, .peer = 1};
	struct order orders[N];
	int next = 0;

	(void)state;
	open_near(2, 0);
	for (int i = 0; i < N; i++) {
		what.handle = sources[i] = world_vector(0, values[i], INTS);
		what.tag = i;
		world_post_detached(0, &what, NULL, NULL);
	}
	fake_run_until(1e-4);
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	for (int i = 0; i < N; i++) {
		orders[i] = (struct order){.next = &next};
		what.handle = targets[i] = world_vector(1, to[i], INTS);
		what.tag = i;
		what.priority = i;
		world_post_detached(1, &what, note_place, &orders[i]);
	}
	assert_int_equal(world_mpi(1)->engine.large.ntaking, 2);
	fake_run();
	assert_int_equal(orders[0].place, 0);
	assert_int_equal(orders[1].place, 1);
	for (int i = 2; i < N; i++)
		assert_int_equal(orders[i].place, N + 1 - i);
	for (int i = 0; i < N; i++) {
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_close();
}

static void take_from_the_dead(void)
{
	starpu_data_handle_t source, target;

	open_near(2, -ESRCH);
	source = world_vector(0, scene.from, INTS);
	target = world_vector(1, scene.to, INTS);
	world_post(0, REQUEST_SEND, source, 1, 33);
	finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, 33));
}

/* The run ends, and it is said what for. */
static void a_sender_that_is_gone_is_named(void **state)
{
	char text[1000] = "";
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		take_from_the_dead();
		_exit(0);
	}
	close(ends[1]);
	for (size_t n = 0; n < sizeof(text) - 1;) {
		ssize_t more = read(ends[0], text + n, sizeof(text) - 1 - n);

		if (more <= 0)
			break;
		n += (size_t)more;
	}
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_non_null(strstr(text, "the process of rank 0 is gone"));
	assert_non_null(strstr(text, "receive from rank 0 tag 33"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_taken_from_its_place),
		cmocka_unit_test(what_is_refused_is_granted),
		cmocka_unit_test(rows_that_lie_apart),
		cmocka_unit_test(writers_wait),
		cmocka_unit_test(urgent_ones_first),
		cmocka_unit_test(a_sender_that_is_gone_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
