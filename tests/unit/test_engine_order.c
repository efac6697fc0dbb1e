/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <time.h>

#include "core/watchdog.h"
#include "mpi_world.h"

/* test_engine_order.c - receives in another order than the sends, and their window. */

enum { LARGE = 1000, N = 12 }; /* elements: above the eager size */

static int from[N][LARGE], to[N][LARGE];
static starpu_data_handle_t sources[N], targets[N];

static void open_vectors(int sender, int receiver, int size)
{
	world_open(size);
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < LARGE; k++) {
			from[i][k] = i * LARGE + k;
			to[i][k] = -1;
		}
		sources[i] = world_vector(sender, from[i], LARGE);
		targets[i] = world_vector(receiver, to[i], LARGE);
	}
}

static void close_vectors(int sender, int receiver)
{
	for (int i = 0; i < N; i++) {
		world_forget(sender, sources[i]);
		world_forget(receiver, targets[i]);
	}
	assert_memory_equal(from, to, sizeof(from));
	world_close();
}

/* Each send is waited for before the next; the receives come last, in reverse. */
static void any_order(int sender, int receiver, int size)
{
	open_vectors(sender, receiver, size);
	for (int i = 0; i < N; i++)
		assert_int_equal(finish_wait(world_post(sender, REQUEST_SEND, sources[i],
							receiver, i / 2)),
				 0);
	assert_int_equal(world_nodes[receiver]->early_transfers, N);
	assert_int_equal(world_mpi(receiver)->engine.earlies.bytes, sizeof(from));
	/* Two have one tag: they match in order. */
	for (int i = N - 2; i >= 0; i -= 2)
		for (int k = i; k < i + 2; k++)
			assert_int_equal(
				finish_wait(world_post(receiver, REQUEST_RECEIVE,
						       targets[k], sender, k / 2)),
				0);
	assert_int_equal(world_mpi(receiver)->engine.earlies.bytes, 0);
	close_vectors(sender, receiver);
}

static void reversed_receives(void **state)
{
	(void)state;
	any_order(0, 1, 2);
}

static void reversed_receives_of_its_own(void **state)
{
	(void)state;
	any_order(0, 0, 1);
}

/* The receive is posted, but its datum is held until the send has ended. */
static void a_held_datum_does_not_hold_the_sender(void **state)
{
	struct request *receive;

	(void)state;
	open_vectors(0, 1, 2);
	fake_select(1);
	assert_int_equal(starpu_data_acquire(targets[0], STARPU_RW), 0);
	receive = world_post(1, REQUEST_RECEIVE, targets[0], 0, 1);
	assert_int_equal(finish_wait(world_post(0, REQUEST_SEND, sources[0], 1, 1)), 0);
	assert_int_equal(to[0][0], -1);
	fake_select(1);
	starpu_data_release(targets[0]);
	assert_int_equal(finish_wait(receive), 0);
	memcpy(to[1], from[1], sizeof(from) - sizeof(from[0]));
	close_vectors(0, 1);
}

/* It is matched while it comes into temporary memory. */
static void matched_on_its_way(void **state)
{
	struct request *send, *receive;

	(void)state;
	open_vectors(0, 1, 2);
	send = world_post(0, REQUEST_SEND, sources[0], 1, 1);
	fake_run();
	assert_int_equal(world_nodes[1]->on_stuck(world_nodes[1]), 1);
	receive = world_post(1, REQUEST_RECEIVE, targets[0], 0, 1);
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(finish_wait(send), 0);
	assert_int_equal(world_mpi(1)->engine.earlies.bytes, 0);
	memcpy(to[1], from[1], sizeof(from) - sizeof(from[0]));
	close_vectors(0, 1);
}

/* A synchronous send ends with its match only, and what has no room waits as well. */
static void who_still_waits(void **state)
{
	static char text[2000];
	struct request *sends[3];

	(void)state;
	open_vectors(0, 1, 2);
	world_mpi(1)->engine.earlies.max_bytes = sizeof(from[0]);
	for (int i = 0; i < 3; i++) {
		struct post what = {.kind = REQUEST_SEND,
				    .handle = sources[i],
				    .peer = 1,
				    .tag = i,
				    .is_waited = 1,
				    .is_sync = i == 0};

		sends[i] = engine_post(world_mpi(0), &what);
	}
	assert_int_equal(finish_wait(sends[0]), -EDEADLK);
	assert_int_equal(finish_wait(sends[1]), 0);
	assert_int_equal(finish_wait(sends[2]), -EDEADLK);
	for (int i = 0; i < 3; i++) {
		const struct engine *engine = &world_mpi(1)->engine;
		struct match_entry *entry = NULL;
		size_t cursor = 0;

		while (match_next(&engine->earlies.unmatched, &cursor, &entry))
			if (entry->tag == i)
				early_describe(world_mpi(1), (struct early *)entry, text,
					       sizeof(text));
		if (i == 0)
			assert_non_null(strstr(text, "waits for the match"));
		if (i == 1)
			assert_null(strstr(text, "the sender waits"));
		if (i == 2)
			assert_non_null(strstr(text, "ORRERY_MPI_EARLY_BYTES"));
	}
	for (int i = 2; i >= 0; i--)
		assert_int_equal(
			finish_wait(world_post(1, REQUEST_RECEIVE, targets[i], 0, i)), 0);
	assert_int_equal(finish_wait(sends[0]), 0);
	assert_int_equal(finish_wait(sends[2]), 0);
	memcpy(to[3], from[3], (N - 3) * sizeof(from[0]));
	close_vectors(0, 1);
}

static void count_ended(void *arg)
{
	++*(int *)arg;
}

/*
 * Whoever polls asks whether something is to be taken in.  With many that are not, since
 * their senders wait for the match or there is no room, that takes no longer.
 */
static void many_that_wait_cost_nothing(void **state)
{
	enum { COUNT = 20000, LOOKS = 2000 };
	struct post what = {.peer = 1};
	struct node *node;
	clock_t start;
	int nended = 0;

	(void)state;
	open_vectors(0, 1, 2);
	node = world_nodes[1];
	world_mpi(1)->engine.earlies.max_bytes = sizeof(from[0]) - 1;
	what.kind = REQUEST_SEND;
	what.handle = sources[0];
	for (what.tag = 0; what.tag < 2 * COUNT; what.tag++) {
		what.is_sync = what.tag % 2;
		world_post_detached(0, &what, count_ended, &nended);
	}
	fake_run();
	assert_int_equal(nended, 0);
	fake_select(1);
	assert_int_equal(node->on_stuck(node), 0);
	start = clock();
	for (int i = 0; i < LOOKS; i++)
		assert_int_equal(node->on_stuck(node), 0);
	assert_true(clock() - start < CLOCKS_PER_SEC / 20);
	/* They are not forgotten. */
	world_mpi(1)->engine.earlies.max_bytes = 3 * sizeof(from[0]);
	assert_int_equal(node->on_stuck(node), 1);
	fake_run();
	assert_int_equal(nended, 3);
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	what.handle = targets[0];
	for (what.tag = 0; what.tag < 2 * COUNT; what.tag++)
		world_post_detached(1, &what, count_ended, &nended);
	fake_run();
	assert_int_equal(nended, 4 * COUNT);
	assert_int_equal(world_mpi(1)->engine.earlies.bytes, 0);
	memcpy(to[1], from[1], sizeof(from) - sizeof(from[0]));
	close_vectors(0, 1);
}

/* Nothing is taken in when the receive comes in time, whatever the order of events. */
static void not_without_need(void **state)
{
	struct request *requests[2][N];

	(void)state;
	open_vectors(0, 1, 2);
	for (int i = 0; i < N; i++)
		requests[0][i] = world_post(0, REQUEST_SEND, sources[i], 1, i);
	fake_run();
	for (int i = N - 1; i >= 0; i--)
		requests[1][i] = world_post(1, REQUEST_RECEIVE, targets[i], 0, i);
	for (int i = 0; i < N; i++)
		for (int side = 0; side < 2; side++)
			assert_int_equal(finish_wait(requests[side][i]), 0);
	assert_int_equal(world_nodes[1]->early_transfers, 0);
	close_vectors(0, 1);
}

struct order {
	int *next, place;
};

static void note_place(void *arg)
{
	struct order *order = arg;

	order->place = (*order->next)++;
}

/* As many move as the window has room for; the most urgent receive is next. */
static void the_window(int max_moving, size_t max_bytes)
{
	struct order orders[N];
	struct post what = {.kind = REQUEST_SEND, .peer = 1};
	int next = 0, most = 0;

	open_vectors(0, 1, 2);
	world_mpi(1)->engine.large.max_moving = max_moving;
	world_mpi(1)->engine.large.max_moving_bytes = max_bytes;
	for (int i = 0; i < N; i++) {
		what.handle = sources[i];
		what.tag = i;
		world_post_detached(0, &what, NULL, NULL);
	}
	fake_run();
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	for (int i = 0; i < N; i++) {
		orders[i] = (struct order){.next = &next};
		what.handle = targets[i];
		what.tag = i;
		what.priority = i;
		world_post_detached(1, &what, note_place, &orders[i]);
	}
	do {
		if (world_mpi(1)->engine.large.nmoving > most)
			most = world_mpi(1)->engine.large.nmoving;
	} while (fake_step());
	assert_int_equal(most, 2);
	/* The first two went alone, then the most urgent ones. */
	for (int i = 0; i < N; i++)
		assert_int_equal(orders[i].place, i < 2 ? i : N + 1 - i);
	close_vectors(0, 1);
}

static void a_window_of_two(void **state)
{
	(void)state;
	the_window(2, SIZE_MAX);
}

static void a_window_of_bytes(void **state)
{
	(void)state;
	the_window(100, 2 * sizeof(from[0]) + 1);
}

static void one_moves_in_any_case(void **state)
{
	struct request *send, *receive;

	(void)state;
	open_vectors(0, 1, 2);
	world_mpi(1)->engine.large.max_moving_bytes = 1;
	for (int i = 0; i < N; i++) {
		send = world_post(0, REQUEST_SEND, sources[i], 1, i);
		receive = world_post(1, REQUEST_RECEIVE, targets[i], 0, i);
		assert_int_equal(finish_wait(send), 0);
		assert_int_equal(finish_wait(receive), 0);
	}
	close_vectors(0, 1);
}

/* So many bytes may move beside what is more urgent; else there are no limits. */
static struct large *limit(size_t beside_bytes)
{
	struct mpi *mpi = world_mpi(0);

	mpi->engine.large.max_puts = 0;
	mpi->engine.large.max_put_bytes = SIZE_MAX;
	mpi->engine.large.beside_bytes = beside_bytes;
	mpi->net->may_push = 0;
	return &mpi->engine.large;
}

static struct request *halves[N][2];

static void transfer(int i, int priority)
{
	for (int rank = 0; rank < 2; rank++) {
		struct post what = {.kind = rank ? REQUEST_RECEIVE : REQUEST_SEND,
				    .handle = rank ? targets[i] : sources[i],
				    .peer = !rank,
				    .tag = i,
				    .priority = priority,
				    .what = "test",
				    .is_waited = 1};

		halves[i][rank] = engine_post(world_mpi(rank), &what);
	}
}

static void end_transfers(void)
{
	for (int i = 0; i < N; i++)
		for (int rank = 0; rank < 2; rank++)
			assert_int_equal(finish_wait(halves[i][rank]), 0);
	close_vectors(0, 1);
}

/* How many move, at most, until that one has moved, NULL: until all have. */
static int most_until(const struct request *request, const struct large *large)
{
	int most = 0;

	do {
		if (request && request->state == REQUEST_MOVED)
			break;
		if (large->nputs > most)
			most = large->nputs;
	} while (fake_step());
	return most;
}

/* The first is more urgent, the others are alike: how many move with it, and then? */
static void beside(size_t beside_bytes, int most)
{
	const struct large *large;

	open_vectors(0, 1, 2);
	large = limit(beside_bytes);
	for (int i = 0; i < N; i++)
		transfer(i, i == 0);
	assert_int_equal(most_until(halves[0][0], large), most);
	assert_int_equal(most_until(NULL, large), N - 1);
	end_transfers();
}

static void few_leave_beside_a_more_urgent_one(void **state)
{
	(void)state;
	beside(0, 2);
	beside(5 * sizeof(from[0]), 5);
	beside(SIZE_MAX, N);
}

/* Neither equals nor what is more urgent than all that moves. */
static void others_need_not_wait(void **state)
{
	(void)state;
	for (int step = 0; step < 2; step++) {
		const struct large *large;

		open_vectors(0, 1, 2);
		large = limit(0);
		for (int i = 0; i < N; i++)
			transfer(i, i * step);
		assert_int_equal(most_until(NULL, large), N);
		end_transfers();
	}
}

/* Ordinals that differ are no error; they are told with one. */
static void ordinals_only_explain(void **state)
{
	static char text[600];
	struct post what = {.kind = REQUEST_SEND, .peer = 1, .ordinal = 4};

	(void)state;
	open_vectors(0, 1, 2);
	what.handle = sources[0];
	world_post_detached(0, &what, NULL, NULL);
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	what.ordinal = 3;
	what.handle = targets[0];
	assert_null(engine_suspicion(world_mpi(1), text, sizeof(text)));
	world_post_detached(1, &what, NULL, NULL);
	fake_run();
	assert_ptr_equal(engine_suspicion(world_mpi(1), text, sizeof(text)), text);
	assert_non_null(strstr(text, "tag 0, it is number 4 of those that rank 0"));
	assert_non_null(strstr(text, "number 3 (for test)"));
	memcpy(to[1], from[1], sizeof(from) - sizeof(from[0]));
	close_vectors(0, 1);
}

/* The watchdog sees that a transfer in many pieces moves. */
static void pieces_are_events(void **state)
{
	unsigned long before;

	(void)state;
	world_open(2);
	before = watchdog_signature(world_nodes[0]);
	assert_int_equal(watchdog_signature(world_nodes[0]), before);
	orr_next(&world_mpi(0)->net->npieces);
	assert_int_not_equal(watchdog_signature(world_nodes[0]), before);
	world_close();
}

static int nacquired;

static void note_acquired(void *arg)
{
	(void)arg;
	nacquired++;
}

/* Two ranks that copy what is small, with a datum each. */
static void open_copying(int *value, starpu_data_handle_t *datum, int *came,
			 starpu_data_handle_t *other)
{
	world_open(2);
	world_mpi(0)->engine.copies_small = 1;
	*datum = world_vector(0, value, 1);
	*other = world_vector(1, came, 1);
}

/* The application's thread releases the datum of a small send at once when nobody hears
 * of it, and leaves that to who polls when somebody would. */
static void copied_sends_are_over_unheard(void **state)
{
	int value = 7, came = 0;
	starpu_data_handle_t datum, other;
	struct post what = {.kind = REQUEST_SEND, .peer = 1};

	(void)state;
	open_copying(&value, &datum, &came, &other);
	what.handle = datum;
	world_post_detached(0, &what, NULL, NULL);
	assert_int_equal(engine_npending(world_mpi(0)), 0);
	assert_int_equal(datum->body->npending, 0);
	/* It begins when a writer ends, and another one waits for its end. */
	assert_int_equal(starpu_data_acquire_try(datum, STARPU_RW), 0);
	value = 8;
	what.tag = 1;
	world_post_detached(0, &what, NULL, NULL);
	assert_int_equal(starpu_data_acquire_cb(datum, STARPU_W, note_acquired, NULL), 0);
	starpu_data_release(datum);
	assert_int_equal(nacquired, 0);
	assert_int_equal(engine_npending(world_mpi(0)), 1);
	fake_run();
	assert_int_equal(nacquired, 1);
	assert_int_equal(engine_npending(world_mpi(0)), 0);
	fake_select(0);
	starpu_data_release(datum);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, other, 0, i)),
				 0);
		assert_int_equal(came, 7 + i);
	}
	world_forget(0, datum);
	world_forget(1, other);
	world_close();
}

/* Each send is over as soon as it has its datum, and its release starts a task without a
 * kernel, whose end gives the next one its datum: the stack must not grow with them. */
static void a_long_chain_of_copied_sends(void **state)
{
	enum { MANY = 100000 };
	static struct starpu_codelet nothing = {
		.where = STARPU_NOWHERE, .nbuffers = 1, .modes = {STARPU_RW}};
	starpu_data_handle_t datum, other;
	struct post what = {.kind = REQUEST_SEND, .peer = 1};
	int value = 7, came = 0, nended = 0;

	(void)state;
	open_copying(&value, &datum, &came, &other);
	what.handle = datum;
	fake_select(0);
	assert_int_equal(starpu_data_acquire(datum, STARPU_RW), 0);
	for (int i = 0; i < MANY; i++) {
		world_post_detached(0, &what, i % 2 ? count_ended : NULL, &nended);
		assert_int_equal(starpu_task_insert(&nothing, STARPU_RW, datum, 0), 0);
	}
	starpu_data_release(datum);
	fake_run();
	assert_int_equal(nended, MANY / 2);
	assert_int_equal(engine_npending(world_mpi(0)), 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, other, 0, 0)),
				 0);
	world_forget(0, datum);
	world_forget(1, other);
	world_close();
}

/* At shutdown, one that the engine is about to free is not taken for one that the program
 * has forgotten. */
static void waited_ones_are_not_forgotten(void **state)
{
	starpu_data_handle_t source, target;
	struct request *send, *receive;
	int value = 0;
	struct mpi *mpi;

	(void)state;
	world_open(2);
	mpi = world_mpi(0);
	source = world_vector(0, &value, 1);
	target = world_vector(1, &value, 1);
	send = world_post(0, REQUEST_SEND, source, 1, 7);
	receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
	assert_false(request_is_forgotten(send));
	orr_add(&send->holders, REQUEST_HOLDER);
	fake_run();
	assert_true(request_is_forgotten(send));
	assert_int_equal(finish_wait(send), 0);
	assert_ptr_equal(engine_next(mpi, NULL), send);
	assert_false(request_is_forgotten(send));
	orr_add(&mpi->engine.npending, 1);
	finish_let_go(send);
	assert_null(engine_next(mpi, NULL));
	assert_int_equal(finish_wait(receive), 0);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reversed_receives),
		cmocka_unit_test(reversed_receives_of_its_own),
		cmocka_unit_test(a_held_datum_does_not_hold_the_sender),
		cmocka_unit_test(matched_on_its_way),
		cmocka_unit_test(who_still_waits),
		cmocka_unit_test(many_that_wait_cost_nothing),
		cmocka_unit_test(not_without_need),
		cmocka_unit_test(a_window_of_two),
		cmocka_unit_test(a_window_of_bytes),
		cmocka_unit_test(one_moves_in_any_case),
		cmocka_unit_test(few_leave_beside_a_more_urgent_one),
		cmocka_unit_test(others_need_not_wait),
		cmocka_unit_test(ordinals_only_explain),
		cmocka_unit_test(pieces_are_events),
		cmocka_unit_test(copied_sends_are_over_unheard),
		cmocka_unit_test(a_long_chain_of_copied_sends),
		cmocka_unit_test(waited_ones_are_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
