/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi/afar.h"
#include "mpi_world.h"

/* test_raise.c - a later, more urgent reader hurries a transfer that waits. */

enum { N = 6, FEW_INTS = 20, INTS = 1000, BIG_INTS = 50000, MOST_RANKS = 5 };

static struct {
	int from[N][BIG_INTS], order[N * MOST_RANKS], norder;
	double read_s[MOST_RANKS];
	starpu_data_handle_t handles[MOST_RANKS][N];
} scene;

/* Each datum is read first by a task of its own. */
static void read_datum(void *buffers[], void *arg)
{
	int which, rank;

	starpu_codelet_unpack_args(arg, &which, &rank);
	assert_int_equal(*(const int *)STARPU_VECTOR_GET_PTR(buffers[0]), which);
	scene.order[scene.norder++] = which;
	scene.read_s[rank] = fake_now_s();
}

static void read_again(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet cl_first = {
	.cpu_funcs = {read_datum}, .nbuffers = 1, .modes = {STARPU_R}, .name = "first"};
static struct starpu_codelet cl_again = {
	.cpu_funcs = {read_again}, .nbuffers = 1, .modes = {STARPU_R}, .name = "again"};

static int insert(struct mpi *mpi, struct starpu_codelet *cl, ...)
{
	struct arg_walk args;
	int ret;

	va_start(args.list, cl);
	ret = insert_task(mpi, 0, cl, &args);
	va_end(args.list);
	return ret;
}

/* Rank 0 has all data. */
static void open_scene(int nranks, int nints)
{
	memset(&scene, 0, sizeof(scene));
	world_open(nranks);
	for (int rank = 0; rank < nranks; rank++)
		for (int i = 0; i < N; i++) {
			scene.from[i][0] = i;
			scene.handles[rank][i] = world_vector(
				rank, rank ? NULL : scene.from[i], (unsigned)nints);
			registry_register(world_mpi(rank), scene.handles[rank][i], i, 0,
					  0, "test");
		}
}

static void close_scene(void)
{
	fake_run();
	for (int rank = 0; rank < world_size; rank++) {
		assert_int_equal(world_mpi(rank)->engine.raising.requests.count, 0);
		assert_int_equal(world_mpi(rank)->engine.raising.nnoted, 0);
		for (int i = 0; i < N; i++)
			world_forget(rank, scene.handles[rank][i]);
	}
	world_close();
}

static void insert_at(int at, struct starpu_codelet *cl, int which, int reader,
		      int priority)
{
	assert_int_equal(insert(world_mpi(at), cl, STARPU_R, scene.handles[at][which],
				STARPU_VALUE, &which, sizeof(which), STARPU_VALUE,
				&reader, sizeof(reader), STARPU_EXECUTE_ON_NODE, reader,
				STARPU_PRIORITY, priority, 0),
			 0);
}

/* All are wanted, none is more urgent. */
static void all_are_read(int reader, int priority)
{
	for (int i = 0; i < N; i++)
		for (int at = 0; at < world_size; at++)
			insert_at(at, &cl_first, i, reader, priority);
}

/* The first goes; then, when the last was hurried, that one. */
static void check_order(int is_hurried)
{
	static const int hurried[N] = {0, 5, 1, 2, 3, 4};

	assert_int_equal(scene.norder, N);
	for (int i = 0; i < N; i++)
		assert_int_equal(scene.order[i], is_hurried ? hurried[i] : i);
}

/* Everything is announced, the first one moves; the others wait at one end only. */
static void until_the_first_moves(int at_receiver)
{
	world_mpi(1)->engine.large.max_moving = at_receiver ? 1 : 100;
	world_mpi(0)->engine.large.max_puts = at_receiver ? 0 : 1;
	all_are_read(1, 3);
	while (at_receiver && world_mpi(1)->engine.large.nmoving == 0)
		assert_true(fake_step());
	while (!at_receiver && world_mpi(0)->engine.large.nputs == 0)
		assert_true(fake_step());
	while (!at_receiver && world_mpi(0)->engine.large.puts.count < N - 1)
		assert_true(fake_step());
}

/* at: the rank that inserts the later reader, which the other has not reached yet. */
static void hurried_at(int at, int priority)
{
	open_scene(2, INTS);
	until_the_first_moves(at);
	insert_at(at, &cl_again, N - 1, 1, priority);
	fake_run();
	insert_at(!at, &cl_again, N - 1, 1, priority);
	fake_run();
	check_order(priority > 3);
	/* Nobody has looked for a transfer, so there is no table of them. */
	for (int rank = 0; priority <= 3 && rank < world_size; rank++)
		assert_null(world_mpi(rank)->engine.raising.requests.slots);
	close_scene();
}

static void the_receiver_grants_it_next(void **state)
{
	(void)state;
	hurried_at(1, 4);
}

static void the_sender_sends_it_next(void **state)
{
	(void)state;
	hurried_at(0, 4);
}

static void nobody_is_hurried_by_equals(void **state)
{
	(void)state;
	hurried_at(0, 3);
	hurried_at(1, 3);
	hurried_at(0, -1);
	hurried_at(1, -1);
}

/* Before it is announced at all: both ends remember. */
static void before_anything_moves(void **state)
{
	(void)state;
	open_scene(2, INTS);
	world_mpi(1)->engine.large.max_moving = 1;
	all_are_read(1, 0);
	for (int at = 0; at < 2; at++)
		insert_at(at, &cl_again, N - 1, 1, 1);
	fake_run();
	check_order(1);
	close_scene();
}

static void priorities_may_be_off(void **state)
{
	(void)state;
	open_scene(2, INTS);
	for (int at = 0; at < 2; at++)
		world_mpi(at)->has_priorities = 0;
	world_mpi(1)->engine.large.max_moving = 1;
	all_are_read(1, 0);
	for (int at = 0; at < 2; at++)
		insert_at(at, &cl_again, N - 1, 1, 1);
	fake_run();
	check_order(0);
	close_scene();
}

/* What comes by another rank is hurried on the first part of its way, too. */
static void by_another_rank(void **state)
{
	(void)state;
	open_scene(3, INTS);
	for (int at = 0; at < 3; at++)
		for (int i = 0; i < N; i++)
			assert_int_equal(
				sources_set(world_mpi(at), scene.handles[at][i], 2, 1),
				0);
	world_mpi(0)->engine.large.max_puts = 1;
	all_are_read(2, 0);
	for (int at = 0; at < 3; at++)
		insert_at(at, &cl_again, N - 1, 2, 1);
	fake_run();
	check_order(1);
	close_scene();
}

/* All have told that they wait for a value that receivers pass on; so many have it, and
 * the next gets it. */
static void open_shared(int nhave)
{
	double one_s = BIG_INTS * sizeof(int) / 1e9;

	setenv("ORRERY_MPI_COOP_BYTES", "0", 1);
	open_scene(MOST_RANKS, BIG_INTS);
	unsetenv("ORRERY_MPI_COOP_BYTES");
	world_mpi(0)->engine.large.max_puts = 1;
	for (int reader = 1; reader < MOST_RANKS; reader++)
		for (int at = 0; at < MOST_RANKS; at++)
			insert_at(at, &cl_first, 0, reader, 0);
	while (world_mpi(0)->engine.large.nputs == 0)
		assert_true(fake_step());
	fake_run_until(fake_now_s() + (nhave + 0.5) * one_s);
	assert_true(scene.read_s[nhave + 1] == 0);
}

/* The owner sends it to the urgent one next. */
static void of_those_who_wait_for_a_shared_one(void **state)
{
	(void)state;
	open_shared(0);
	insert_at(0, &cl_again, 0, MOST_RANKS - 1, 1);
	fake_run();
	assert_true(scene.read_s[1] < scene.read_s[4]);
	assert_true(scene.read_s[4] < scene.read_s[2]);
	assert_true(scene.read_s[4] < scene.read_s[3]);
	close_scene();
}

/* The owner has more urgent ones; who has it passes it on to the urgent rank. */
static void of_those_who_pass_it_on(void **state)
{
	(void)state;
	open_shared(1);
	for (int at = 0; at < MOST_RANKS; at++)
		insert_at(at, &cl_again, 1, 1, 5);
	insert_at(0, &cl_again, 0, MOST_RANKS - 1, 1);
	fake_run();
	assert_true(scene.read_s[2] < scene.read_s[4]);
	assert_true(scene.read_s[4] < scene.read_s[3]);
	close_scene();
}

/* ---- small ones ------------------------------------------------------ */

static const int as_inserted[N] = {0, 1, 2, 3, 4, 5};

static const struct net_ops *below;
static int left[N], nleft;

static int note_and_send(struct net *net, struct net_message *message)
{
	struct wire_head head = {0};

	for (struct net_message *m = message; m; m = m->next) {
		memcpy(&head, m->head, m->head_bytes);
		assert_int_equal(head.kind, WIRE_EAGER);
		assert_true(nleft < N);
		left[nleft++] = (int)head.tag;
	}
	return below->send(net, message);
}

/* The first one leaves, the others wait behind it, each with its priority. */
static void open_small(int has_priorities, int priority, int more)
{
	static struct net_ops ops;

	open_scene(2, FEW_INTS);
	below = world_mpi(0)->net->ops;
	ops = *below;
	ops.send = note_and_send;
	nleft = 0;
	world_mpi(0)->net->ops = &ops;
	world_mpi(0)->net->max_packets = 1;
	world_mpi(0)->has_priorities = has_priorities;
	for (int i = 0; i < N; i++)
		for (int at = 0; at < 2; at++)
			insert_at(at, &cl_first, i, 1, priority + i * more);
}

static void assert_order(const int *expected)
{
	fake_run();
	assert_int_equal(nleft, N);
	for (int i = 0; i < N; i++)
		assert_int_equal(left[i], expected[i]);
	world_mpi(0)->net->ops = below;
	close_scene();
}

static void small_ones_leave_by_priority(void **state)
{
	static const int urgent[N] = {0, 5, 4, 3, 2, 1};

	(void)state;
	open_small(1, 0, 1);
	assert_order(urgent);
	open_small(0, 0, 1);
	assert_order(as_inserted);
	open_small(1, 0, -1);
	assert_order(as_inserted);
}

static void small_ones_are_hurried(void **state)
{
	static const int hurried[N] = {0, 4, 1, 2, 3, 5};

	(void)state;
	open_small(1, 3, 0);
	insert_at(0, &cl_again, 0, 1, 5); /* on its way */
	insert_at(0, &cl_again, 3, 1, 3); /* no more than it was */
	insert_at(0, &cl_again, 4, 1, 4);
	assert_non_null(world_mpi(0)->engine.outbox.raised);
	assert_order(hurried);
}

/* Where nobody gives priorities nobody keeps account of small ones. */
static void small_ones_without_priorities_cost_nothing(void **state)
{
	(void)state;
	open_small(1, 0, 0);
	assert_int_equal(world_mpi(0)->engine.raising.nnoted, 0);
	assert_order(as_inserted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_receiver_grants_it_next),
		cmocka_unit_test(the_sender_sends_it_next),
		cmocka_unit_test(nobody_is_hurried_by_equals),
		cmocka_unit_test(before_anything_moves),
		cmocka_unit_test(priorities_may_be_off),
		cmocka_unit_test(by_another_rank),
		cmocka_unit_test(of_those_who_wait_for_a_shared_one),
		cmocka_unit_test(of_those_who_pass_it_on),
		cmocka_unit_test(small_ones_leave_by_priority),
		cmocka_unit_test(small_ones_are_hurried),
		cmocka_unit_test(small_ones_without_priorities_cost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
