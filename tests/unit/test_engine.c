/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "mpi_world.h"

enum { SMALL = 4, LARGE = 1000 }; /* elements: below and above the eager size */

static void count(void *arg)
{
	++*(int *)arg;
}

static void transfer(unsigned n, int receive_first)
{
	int *from = calloc(n, sizeof(int)), *to = calloc(n, sizeof(int));
	struct request *send, *receive;
	starpu_data_handle_t source, target;

	world_open(2);
	for (unsigned i = 0; i < n; i++)
		from[i] = (int)i + 1;
	source = world_vector(0, from, n);
	target = world_vector(1, to, n);
	if (receive_first) {
		receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
		send = world_post(0, REQUEST_SEND, source, 1, 7);
	} else {
		send = world_post(0, REQUEST_SEND, source, 1, 7);
		fake_run();
		assert_int_equal(world_mpi(1)->engine.earlies.unmatched.nentries, 1);
		receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
	}
	assert_int_equal(finish_wait(send), 0);
	assert_int_equal(finish_wait(receive), 0);
	assert_memory_equal(from, to, n * sizeof(int));
	assert_int_equal(world_mpi(0)->engine.npending, 0);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
	free(from);
	free(to);
}

static void small_and_large_arrive(void **state)
{
	(void)state;
	transfer(SMALL, 1);
	transfer(LARGE, 1);
}

static void early_ones_wait(void **state)
{
	(void)state;
	transfer(SMALL, 0);
	transfer(LARGE, 0);
}

/* A standard small send ends by itself; a large or synchronous one by its match. */
static void who_waits_for_the_match(void **state)
{
	static int values[LARGE];
	struct post what = {.kind = REQUEST_SEND, .peer = 1};
	int nsmall = 0, nlarge = 0, nsync = 0;
	starpu_data_handle_t small, large, target;

	(void)state;
	world_open(2);
	small = world_vector(0, values, SMALL);
	large = world_vector(0, values, LARGE);
	target = world_vector(1, values, SMALL);
	what.handle = small;
	world_post_detached(0, &what, count, &nsmall);
	what.tag = 1;
	what.is_sync = 1;
	world_post_detached(0, &what, count, &nsync);
	what.tag = 2;
	what.is_sync = 0;
	what.handle = large;
	world_post_detached(0, &what, count, &nlarge);
	fake_run();
	assert_int_equal(nsmall, 1);
	assert_int_equal(nsync, 0);
	assert_int_equal(nlarge, 0);
	assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, 1)), 0);
	fake_run();
	assert_int_equal(nsync, 1);
	assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, 0)), 0);
	world_forget(1, target);
	target = world_vector(1, values, LARGE);
	assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, 2)), 0);
	fake_run();
	assert_int_equal(nlarge, 1);
	world_forget(0, small);
	world_forget(0, large);
	world_forget(1, target);
	world_close();
}

/* Messages of one tag match in the order of the posts, whatever their sizes. */
static void one_tag_keeps_its_order(void **state)
{
	enum { N = 20 };
	static int from[N][LARGE], to[N][LARGE];
	starpu_data_handle_t sources[N], targets[N];
	struct post what = {.tag = 3};
	int nended = 0;

	(void)state;
	world_open(2);
	for (int i = 0; i < N; i++) {
		unsigned n = i % 3 ? SMALL : LARGE;

		from[i][0] = i;
		sources[i] = world_vector(0, from[i], n);
		targets[i] = world_vector(1, to[i], n);
		what.kind = REQUEST_SEND;
		what.peer = 1;
		what.handle = sources[i];
		what.priority = i % 5;
		world_post_detached(0, &what, count, &nended);
	}
	for (int i = 0; i < N; i++) {
		what.kind = REQUEST_RECEIVE;
		what.peer = 0;
		what.handle = targets[i];
		world_post_detached(1, &what, count, &nended);
	}
	fake_run();
	assert_int_equal(nended, 2 * N);
	for (int i = 0; i < N; i++) {
		assert_int_equal(to[i][0], i);
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_close();
}

struct order {
	int *next, place;
};

static void note_place(void *arg)
{
	struct order *order = arg;

	order->place = (*order->next)++;
}

/* One large transfer moves at a time: the most urgent one that is granted is next. */
static void urgent_overtakes(void **state)
{
	enum { N = 4 };
	static int values[N][LARGE], to[N][LARGE];
	struct order orders[N];
	struct post what = {.kind = REQUEST_SEND, .peer = 1};
	starpu_data_handle_t sources[N], targets[N];
	int next = 0;

	(void)state;
	world_open(2);
	world_mpi(0)->engine.large.max_puts = 1;
	for (int i = 0; i < N; i++) {
		sources[i] = world_vector(0, values[i], LARGE);
		orders[i] = (struct order){.next = &next};
		what.handle = sources[i];
		what.tag = i;
		what.priority = i;
		world_post_detached(0, &what, note_place, &orders[i]);
	}
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	for (int i = 0; i < N; i++) {
		targets[i] = world_vector(1, to[i], LARGE);
		what.handle = targets[i];
		what.tag = i;
		world_post_detached(1, &what, NULL, NULL);
	}
	fake_run();
	/* The first one granted was alone, the others waited. */
	assert_int_equal(orders[0].place, 0);
	assert_int_equal(orders[3].place, 1);
	assert_int_equal(orders[2].place, 2);
	assert_int_equal(orders[1].place, 3);
	for (int i = 0; i < N; i++) {
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_close();
}

struct seen {
	struct mpi *mpi;
	starpu_data_handle_t handle;
	int npending, is_free;
};

static void look(void *arg)
{
	struct seen *seen = arg;

	seen->npending = seen->mpi->engine.npending;
	seen->is_free = data_body(seen->handle)->nholders == 0;
}

static void callback_runs_between_release_and_count(void **state)
{
	int from[SMALL] = {0}, to[SMALL] = {0};
	starpu_data_handle_t source, target;
	struct post what = {.kind = REQUEST_RECEIVE, .peer = 0, .tag = 1};
	struct seen seen = {0};

	(void)state;
	world_open(2);
	source = world_vector(0, from, SMALL);
	target = world_vector(1, to, SMALL);
	seen.mpi = world_mpi(1);
	seen.handle = what.handle = target;
	world_post_detached(1, &what, look, &seen);
	assert_int_equal(finish_wait(world_post(0, REQUEST_SEND, source, 1, 1)), 0);
	fake_select(1);
	assert_int_equal(finish_wait_all(world_mpi(1), NULL), 0);
	assert_int_equal(seen.npending, 1);
	assert_true(seen.is_free);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

/* Early data that a receive finds does not call back from inside the post. */
static void never_from_inside_the_call(void **state)
{
	int from[SMALL] = {5}, to[SMALL] = {0}, ncalls = 0;
	starpu_data_handle_t source, target;
	struct post what = {.kind = REQUEST_RECEIVE, .peer = 0, .tag = 1};

	(void)state;
	world_open(2);
	source = world_vector(0, from, SMALL);
	target = world_vector(1, to, SMALL);
	assert_int_equal(finish_wait(world_post(0, REQUEST_SEND, source, 1, 1)), 0);
	fake_run();
	what.handle = target;
	world_post_detached(1, &what, count, &ncalls);
	assert_int_equal(ncalls, 0);
	fake_run();
	assert_int_equal(ncalls, 1);
	assert_int_equal(to[0], 5);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

/* A node sends to itself, from and to one datum as well when it is small. */
static void to_itself(void **state)
{
	static int from[LARGE], to[LARGE];
	starpu_data_handle_t source, target;
	struct request *send, *receive;

	(void)state;
	world_open(1);
	for (int i = 0; i < LARGE; i++)
		from[i] = i;
	source = world_vector(0, from, LARGE);
	target = world_vector(0, to, LARGE);
	send = world_post(0, REQUEST_SEND, source, 0, 1);
	receive = world_post(0, REQUEST_RECEIVE, target, 0, 1);
	assert_int_equal(finish_wait(send), 0);
	assert_int_equal(finish_wait(receive), 0);
	assert_memory_equal(from, to, sizeof(from));
	world_forget(0, target);
	world_forget(0, source);
	source = world_vector(0, from, SMALL);
	send = world_post(0, REQUEST_SEND, source, 0, 1);
	receive = world_post(0, REQUEST_RECEIVE, source, 0, 1);
	assert_int_equal(finish_wait(send), 0);
	assert_int_equal(finish_wait(receive), 0);
	world_forget(0, source);
	world_close();
}

static void keep_line(void *arg, const char *line)
{
	strncat(arg, line, 400);
}

static void stuck_is_reported(void **state)
{
	static int values[LARGE];
	static char text[2000];
	starpu_data_handle_t source, target;
	struct request *send, *receive;

	(void)state;
	world_open(2);
	source = world_vector(0, values, LARGE);
	target = world_vector(1, values, LARGE);
	send = world_post(0, REQUEST_SEND, source, 1, 4);
	receive = world_post(1, REQUEST_RECEIVE, target, 0, 5);
	assert_int_equal(finish_wait(receive), -EDEADLK);
	assert_int_equal(finish_wait_all(world_mpi(1), NULL), -EDEADLK);
	assert_null(world_mpi(1)->engine.waiters);
	watch_describe(world_nodes[1], keep_line, text);
	assert_non_null(strstr(text, "receive from rank 0 tag 5"));
	assert_non_null(strstr(text, "tag 4 came from rank 0 (4000 bytes)"));
	assert_int_equal(finish_wait(world_post(0, REQUEST_SEND, source, 1, 5)), 0);
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, 4)), 0);
	assert_int_equal(finish_wait(send), 0);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

/* Pending receives cost nothing per message, and leave nothing behind. */
static void many_receives_are_pending(void **state)
{
	enum { N = 10000 };
	static int values[N], from[SMALL];
	static starpu_data_handle_t targets[N];
	struct post what = {.kind = REQUEST_RECEIVE, .peer = 0};
	starpu_data_handle_t source;
	int nended = 0;

	(void)state;
	world_open(2);
	source = world_vector(0, from, 1);
	for (int i = 0; i < N; i++) {
		targets[i] = world_vector(1, &values[i], 1);
		what.handle = targets[i];
		what.tag = (int64_t)i << 40;
		world_post_detached(1, &what, count, &nended);
	}
	assert_int_equal(world_mpi(1)->engine.posted.nkeys, N);
	for (int i = N - 1; i >= 0; i--)
		assert_int_equal(finish_wait(world_post(0, REQUEST_SEND, source, 1,
							(int64_t)i << 40)),
				 0);
	fake_run();
	assert_int_equal(nended, N);
	assert_int_equal(world_mpi(1)->engine.posted.nkeys, 0);
	for (int i = 0; i < N; i++)
		world_forget(1, targets[i]);
	world_forget(0, source);
	world_close();
}

/* Two communicators with the same members are apart; so are tags of 64 bits. */
static void communicators_are_apart(void **state)
{
	int from[2][SMALL] = {{1}, {2}}, to[2][SMALL] = {{0}, {0}};
	starpu_data_handle_t sources[2], targets[2];
	struct post what = {.tag = INT64_MAX};

	(void)state;
	world_open(2);
	for (int rank = 0; rank < 2; rank++) {
		int *reversed = orr_alloc(2 * sizeof(int));

		reversed[0] = 1;
		assert_int_equal(
			comm_add(&world_mpi(rank)->comms, 1 - rank, 2, reversed, 0), 1);
	}
	for (int i = 0; i < 2; i++) {
		sources[i] = world_vector(0, from[i], SMALL);
		targets[i] = world_vector(1, to[i], SMALL);
		what.kind = REQUEST_SEND;
		what.comm = 1 - i;
		what.peer = i == 0 ? 0 : 1; /* rank 1 is rank 0 of communicator 1 */
		what.handle = sources[i];
		world_post_detached(0, &what, NULL, NULL);
	}
	for (int i = 0; i < 2; i++) {
		what.kind = REQUEST_RECEIVE;
		what.comm = i;
		what.peer = i == 0 ? 0 : 1;
		what.handle = targets[i];
		world_post_detached(1, &what, NULL, NULL);
	}
	fake_run();
	assert_int_equal(to[0][0], 2);
	assert_int_equal(to[1][0], 1);
	for (int i = 0; i < 2; i++) {
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_close();
}

/* The transport takes one packet to each rank at a time: the others wait, those to one
 * rank in their order. */
static void one_packet_at_a_time(void **state)
{
	static int from[3][SMALL], to[2][3][SMALL];
	starpu_data_handle_t sources[3], targets[2][3];
	struct post what = {.kind = REQUEST_SEND};

	(void)state;
	world_open(3);
	world_mpi(0)->net->max_packets = 1;
	for (int i = 0; i < 3; i++) {
		from[i][0] = 10 + i;
		sources[i] = world_vector(0, from[i], SMALL);
		for (int rank = 1; rank < 3; rank++) {
			what.handle = sources[i];
			what.peer = rank;
			world_post_detached(0, &what, NULL, NULL);
		}
	}
	what.kind = REQUEST_RECEIVE;
	what.peer = 0;
	for (int i = 0; i < 6; i++) {
		int rank = 1 + i / 3;

		what.handle = targets[i / 3][i % 3] =
			world_vector(rank, to[i / 3][i % 3], SMALL);
		world_post_detached(rank, &what, NULL, NULL);
	}
	fake_run();
	assert_int_equal(world_mpi(0)->engine.npending, 0);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(to[i / 3][i % 3][0], 10 + i % 3);
		world_forget(1 + i / 3, targets[i / 3][i % 3]);
	}
	for (int i = 0; i < 3; i++)
		world_forget(0, sources[i]);
	world_close();
}

/* A copy travels: a small send needs its datum no more, whatever waits before it; but who
 * waits for one, and a value without room beside the head, go on needing it. */
static void small_sends_end_with_a_copy(void **state)
{
	enum { N = 3, COPIED = 8 };
	static int from[N][COPIED + 1], to[N][COPIED + 1];
	const int nelements[N] = {COPIED, COPIED, COPIED + 1};
	int ncalled = 0;
	starpu_data_handle_t sources[N], targets[N];
	struct request *waited;
	struct post what = {.kind = REQUEST_SEND, .peer = 1};

	(void)state;
	world_open(2);
	world_mpi(0)->net->max_packets = 1;
	world_mpi(0)->engine.copies_small = 1;
	for (int i = 0; i < N; i++) {
		from[i][0] = 10 + i;
		sources[i] = world_vector(0, from[i], (unsigned)nelements[i]);
		targets[i] = world_vector(1, to[i], (unsigned)nelements[i]);
		what.handle = sources[i];
		what.tag = i;
		world_post_detached(0, &what, i == 1 ? count : NULL, &ncalled);
	}
	/* By whoever sees a message leave. */
	assert_int_equal(ncalled, 0);
	from[0][0] = from[1][0] = 99;
	waited = world_post(0, REQUEST_SEND, sources[0], 1, N);
	assert_false(request_has_ended(waited));
	for (int i = 0; i < N; i++)
		assert_int_equal(
			finish_wait(world_post(1, REQUEST_RECEIVE, targets[i], 0, i)), 0);
	assert_int_equal(finish_wait(waited), 0);
	fake_run();
	assert_int_equal(ncalled, 1);
	assert_int_equal(world_mpi(0)->engine.npending, 0);
	for (int i = 0; i < N; i++) {
		assert_int_equal(to[i][0], 10 + i);
		world_forget(0, sources[i]);
	}
	assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE, targets[0], 0, N)),
			 0);
	assert_int_equal(to[0][0], 99);
	for (int i = 0; i < N; i++)
		world_forget(1, targets[i]);
	world_close();
}

/* The fake transport, watched: is the engine free while it works? */
static const struct net_ops *watched_ops;
static int ncalls, nlocked;

static void watch_call(struct net *net)
{
	struct engine *engine = &((struct mpi *)net->owner)->engine;

	ncalls++;
	if (!orr_trylock(&engine->lock))
		nlocked++;
	else
		orr_unlock(&engine->lock);
}

static int watched_send(struct net *net, struct net_message *message)
{
	watch_call(net);
	return watched_ops->send(net, message);
}

static int watched_put(struct net *net, struct net_bulk *bulk)
{
	watch_call(net);
	return watched_ops->put(net, bulk);
}

static int watched_get(struct net *net, struct net_bulk *bulk)
{
	watch_call(net);
	return watched_ops->get(net, bulk);
}

static void nobody_waits_for_the_transport(void **state)
{
	static int from[2][LARGE] = {{1}, {2}}, to[2][LARGE];
	starpu_data_handle_t source, target;
	struct net_ops ops;

	(void)state;
	world_open(2);
	watched_ops = world_mpi(0)->net->ops;
	ops = *watched_ops;
	ops.send = watched_send;
	ops.put = watched_put;
	ops.get = watched_get;
	world_mpi(0)->net->ops = world_mpi(1)->net->ops = &ops;
	ncalls = nlocked = 0;
	for (int i = 0; i < 2; i++) {
		unsigned n = i ? LARGE : SMALL;

		source = world_vector(0, from[i], n);
		target = world_vector(1, to[i], n);
		world_post_detached(0,
				    &(struct post){.kind = REQUEST_SEND,
						   .handle = source,
						   .peer = 1,
						   .tag = i},
				    NULL, NULL);
		assert_int_equal(
			finish_wait(world_post(1, REQUEST_RECEIVE, target, 0, i)), 0);
		assert_int_equal(to[i][0], i + 1);
		world_forget(0, source);
		world_forget(1, target);
	}
	assert_int_equal(ncalls, 4); /* small; announced, and both halves */
	assert_int_equal(nlocked, 0);
	world_mpi(0)->net->ops = world_mpi(1)->net->ops = watched_ops;
	world_close();
}

/*
 * The first of several large sends is announced alone, and pushed, the others together,
 * since the transport is busy; what is announced together is granted together.
 */
static void heads_and_grants_travel_together(void **state)
{
	enum { COUNT = 5 };
	static int from[COUNT][LARGE], to[COUNT][LARGE];
	starpu_data_handle_t sources[COUNT], targets[COUNT];
	struct net_ops ops;

	(void)state;
	world_open(2);
	watched_ops = world_mpi(0)->net->ops;
	ops = *watched_ops;
	ops.send = watched_send;
	for (int rank = 0; rank < 2; rank++) {
		world_mpi(rank)->net->ops = &ops;
		world_mpi(rank)->net->packet_bytes = 1000;
		world_mpi(rank)->net->max_packets = 1;
	}
	ncalls = nlocked = 0;
	for (int i = 0; i < COUNT; i++) {
		struct post what = {.peer = 0, .tag = i};

		from[i][LARGE - 1] = i + 1;
		sources[i] = world_vector(0, from[i], LARGE);
		what.handle = targets[i] = world_vector(1, to[i], LARGE);
		what.kind = REQUEST_RECEIVE;
		world_post_detached(1, &what, NULL, NULL);
		what.handle = sources[i];
		what.kind = REQUEST_SEND;
		what.peer = 1;
		world_post_detached(0, &what, NULL, NULL);
	}
	fake_run();
	assert_int_equal(ncalls, 3); /* one announced, four announced, and granted */
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(to[i][LARGE - 1], i + 1);
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_mpi(0)->net->ops = world_mpi(1)->net->ops = watched_ops;
	world_close();
}

static int nwaiting(int rank, int flag)
{
	const struct early *early;
	struct match_entry *entry = NULL;
	size_t cursor = 0;
	int count = 0;

	while ((early = early_next(world_mpi(rank), &cursor, &entry)))
		count += (early->head.flags & flag) != 0;
	return count;
}

/* The payload of one goes with its announcement; the next ones do when that has ended,
 * whatever order they are received in. */
static void one_is_pushed(void **state)
{
	enum { COUNT = 4 };
	static int from[COUNT][LARGE], to[COUNT][LARGE];
	starpu_data_handle_t sources[COUNT], targets[COUNT];
	struct request *sends[COUNT];

	(void)state;
	world_open(2);
	for (int i = 0; i < COUNT; i++) {
		from[i][LARGE - 1] = i + 1;
		to[i][LARGE - 1] = 0;
		sources[i] = world_vector(0, from[i], LARGE);
		targets[i] = world_vector(1, to[i], LARGE);
	}
	for (int round = 0; round < 2; round++) {
		int first = 2 * round;

		for (int i = first; i < first + 2; i++)
			sends[i] = world_post(0, REQUEST_SEND, sources[i], 1, i);
		fake_run();
		assert_int_equal(nwaiting(1, WIRE_PUSHED), 1);
		assert_int_equal(world_mpi(0)->engine.large.has_pushed, 1);
		assert_int_equal(engine_nflying(world_mpi(0)), 0);
		for (int i = first + 1; i >= first; i--)
			assert_int_equal(finish_wait(world_post(1, REQUEST_RECEIVE,
								targets[i], 0, i)),
					 0);
		for (int i = first; i < first + 2; i++)
			assert_int_equal(finish_wait(sends[i]), 0);
		fake_run();
		assert_int_equal(world_mpi(0)->engine.large.has_pushed, 0);
	}
	assert_int_equal(world_mpi(1)->engine.large.nfree_keys, 1);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(to[i][LARGE - 1], i + 1);
		world_forget(0, sources[i]);
		world_forget(1, targets[i]);
	}
	world_close();
}

/* What rank 0 sends to rank 1: one that it waits for, then one that it does not. */
struct sender {
	starpu_data_handle_t handles[2];
	int ncalled;
};

static void send_and_wait_for_all(void *arg)
{
	struct sender *sender = arg;
	struct post what = {
		.kind = REQUEST_SEND, .handle = sender->handles[1], .peer = 1, .tag = 8};

	assert_int_equal(
		finish_wait(world_post(0, REQUEST_SEND, sender->handles[0], 1, 7)), 0);
	world_post_detached(0, &what, count, &sender->ncalled);
	assert_int_equal(finish_wait_all(world_mpi(0), NULL), 0);
	assert_int_equal(sender->ncalled, 1);
}

/*
 * Who ends the last pending request opens the gate of the thread that waits for it, which
 * then posts another one and waits for all before the former looks who waits for all.
 */
static void all_are_those_posted_meanwhile_too(void **state)
{
	enum { SEEDS = 32 };
	static int from[2][LARGE], to[2][LARGE];

	(void)state;
	for (unsigned long seed = 1; seed <= SEEDS; seed++) {
		struct sender sender = {.ncalled = 0};
		struct post what = {.kind = REQUEST_RECEIVE};
		starpu_data_handle_t targets[2];
		int nreceived = 0;

		world_open(2);
		fake_shuffle(seed);
		for (int i = 0; i < 2; i++) {
			sender.handles[i] = world_vector(0, from[i], LARGE);
			targets[i] = world_vector(1, to[i], LARGE);
			what.handle = targets[i];
			what.tag = 7 + i;
			world_post_detached(1, &what, count, &nreceived);
		}
		fake_select(0);
		fake_spawn(0, send_and_wait_for_all, &sender);
		fake_play();
		assert_int_equal(nreceived, 2);
		for (int i = 0; i < 2; i++) {
			world_forget(0, sender.handles[i]);
			world_forget(1, targets[i]);
		}
		world_close();
	}
}

static void writes_one(void *buffers[], void *arg)
{
	(void)arg;
	((int *)STARPU_VECTOR_GET_PTR(buffers[0]))[0] = 1;
}

/* Policies that put tasks off until somebody waits see that a loop of tests does. */
static void who_tests_in_a_loop_waits(void **state)
{
	static struct starpu_codelet writes = {
		.cpu_funcs = {writes_one}, .nbuffers = 1, .modes = {STARPU_W}};
	int to[SMALL] = {0};
	starpu_data_handle_t source, target;
	struct starpu_task *task;
	struct request *send, *receive;

	(void)state;
	setenv("STARPU_SCHED", "graph_test", 1);
	world_open(2);
	unsetenv("STARPU_SCHED");
	source = world_vector(0, NULL, SMALL);
	target = world_vector(1, to, SMALL);
	fake_select(0);
	task = starpu_task_create();
	task->cl = &writes;
	task->handles[0] = source;
	assert_int_equal(starpu_task_submit(task), 0);
	send = world_post(0, REQUEST_SEND, source, 1, 7);
	receive = world_post(1, REQUEST_RECEIVE, target, 0, 7);
	fake_run();
	assert_int_equal(to[0], 0);
	fake_select(0);
	for (int i = 0; i < 1000 && !finish_test(send); i++)
		assert_true(i < 999);
	fake_select(1);
	assert_int_equal(finish_wait(receive), 0);
	assert_int_equal(to[0], 1);
	world_forget(0, source);
	world_forget(1, target);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_and_large_arrive),
		cmocka_unit_test(early_ones_wait),
		cmocka_unit_test(who_waits_for_the_match),
		cmocka_unit_test(one_tag_keeps_its_order),
		cmocka_unit_test(urgent_overtakes),
		cmocka_unit_test(callback_runs_between_release_and_count),
		cmocka_unit_test(never_from_inside_the_call),
		cmocka_unit_test(to_itself),
		cmocka_unit_test(stuck_is_reported),
		cmocka_unit_test(many_receives_are_pending),
		cmocka_unit_test(communicators_are_apart),
		cmocka_unit_test(one_packet_at_a_time),
		cmocka_unit_test(small_sends_end_with_a_copy),
		cmocka_unit_test(heads_and_grants_travel_together),
		cmocka_unit_test(one_is_pushed),
		cmocka_unit_test(who_tests_in_a_loop_waits),
		cmocka_unit_test(nobody_waits_for_the_transport),
		cmocka_unit_test(all_are_those_posted_meanwhile_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
