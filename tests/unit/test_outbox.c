/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "mpi/outbox.h"

/*
 * A transport that writes down what it is asked, and during which "another thread", or a
 * callback, notes more.
 */
enum { MAX_NOTES = 200 };

static struct orr_lock lock;
static struct outbox outbox;
static struct net net;
static struct outgoing items[MAX_NOTES];
static struct net_message messages[MAX_NOTES];
static struct net_bulk bulk;
static struct net_barrier barrier;
static char told[1000];
static int nitems, depth;
static int nmore;                /* for the next calls to note */
static int polled_note;          /* for poll() to note, as a callback would */
static int has_more;             /* another callback follows, poll() says; */
static int follows_silently;     /* it does, and wants nothing */
static int unlocked_status = -1; /* of the last unlock */
static int sends_at_once;        /* packets have left when send() returns */
static int noted_as_left;        /* for the next call of left() to note */
static int tells_which;          /* a packet is told as its messages, not as its peer */

static void note(int peer)
{
	struct outgoing *item = &items[nitems];

	messages[nitems] = (struct net_message){.peer = peer};
	*item = (struct outgoing){.kind = OUTGOING_MESSAGE,
				  .what.message = &messages[nitems]};
	nitems++;
	outbox_note(&outbox, item);
}

/* Its number is told. */
static void note_urgent(int peer, uint64_t key, int priority)
{
	note(peer);
	items[nitems - 1].key = key;
	items[nitems - 1].priority = priority;
}

static void note_and_unlock(int peer)
{
	orr_lock(&lock);
	note(peer);
	unlocked_status = outbox_unlock(&outbox);
}

static void tell(const char *what, int peer)
{
	size_t used = strlen(told);

	/* Whoever wants the engine gets it while the transport works. */
	assert_true(orr_trylock(&lock));
	orr_unlock(&lock);
	assert_int_equal(depth, 0);
	snprintf(told + used, sizeof(told) - used, "%s%d ", what, peer);
	if (nmore == 0)
		return;
	nmore--;
	depth++;
	note_and_unlock(peer + 1);
	depth--;
}

/* A packet is told as its peer, and a plus for each other message in it. */
static int on_send(struct net *self, struct net_message *message)
{
	char plus[MAX_NOTES] = "";

	(void)self;
	if (tells_which) {
		for (; message->next; message = message->next)
			snprintf(plus + strlen(plus), sizeof(plus) - strlen(plus), "%d+",
				 (int)(message - messages));
		tell(plus, (int)(message - messages));
		return sends_at_once;
	}
	for (struct net_message *m = message; m->next; m = m->next) {
		assert_true(m->next > m); /* in their order */
		assert_int_equal(m->next->peer, message->peer);
		strcat(plus, "+");
	}
	tell(plus, message->peer);
	return sends_at_once;
}

static int on_put(struct net *self, struct net_bulk *half)
{
	(void)self;
	tell("put", half->peer);
	return 0;
}

static int on_get(struct net *self, struct net_bulk *half)
{
	(void)self;
	tell("get", half->peer);
	return 0;
}

static void on_barrier(struct net *self, struct net_barrier *started)
{
	(void)self;
	(void)started;
	tell("barrier", 0);
}

static int on_poll(struct net *self)
{
	tell("poll", 0);
	if (has_more) {
		self->has_more = 1;
		orr_lock(&lock);
		note(polled_note);
		outbox_unlock_deferring(&outbox);
		strcat(told, "noted ");
		self->has_more = !follows_silently;
	} else if (polled_note) {
		orr_lock(&lock);
		note(polled_note);
		outbox_unlock_polling(&outbox);
		strcat(told, "polled ");
	}
	return 1;
}

static const struct net_ops ops = {
	.name = "told",
	.send = on_send,
	.put = on_put,
	.get = on_get,
	.barrier = on_barrier,
	.poll = on_poll,
};

static void on_left(struct outbox *self, struct net_message *gone)
{
	(void)self;
	assert_false(orr_trylock(&lock));
	for (; gone; gone = gone->next)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "left%d ",
			 gone->peer);
	if (noted_as_left) {
		note(noted_as_left);
		noted_as_left = 0;
	}
}

static int set_up(void **state)
{
	(void)state;
	memset(&outbox, 0, sizeof(outbox));
	orr_lock_init(&lock);
	net = (struct net){.ops = &ops, .size = 100};
	outbox_init(&outbox, &lock, on_left);
	outbox.net = &net;
	nitems = depth = nmore = polled_note = sends_at_once = noted_as_left = 0;
	tells_which = has_more = follows_silently = 0;
	told[0] = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	outbox_free(&outbox);
	return 0;
}

static void sent(int peer)
{
	outbox_sent_lock(&outbox, peer);
	orr_unlock(&lock);
}

/* Everything was done, and nobody carries. */
static void assert_told(const char *expected)
{
	assert_string_equal(told, expected);
	assert_null(outbox.first);
	assert_int_equal(outbox.nclaims, 0);
	assert_true(orr_trylock(&lock));
	orr_unlock(&lock);
}

static void in_the_order_of_the_notes(void **state)
{
	struct outgoing get = {.kind = OUTGOING_GET, .what.bulk = &bulk};
	struct outgoing put = {.kind = OUTGOING_PUT, .what.bulk = &bulk};
	struct outgoing all = {.kind = OUTGOING_BARRIER, .what.barrier = &barrier};

	(void)state;
	bulk.peer = 4;
	orr_lock(&lock);
	note(5);
	outbox_note(&outbox, &get);
	note(4);
	outbox_note(&outbox, &put);
	note(5);
	outbox_note(&outbox, &all);
	assert_string_equal(told, ""); /* not under the lock */
	assert_int_equal(outbox_unlock(&outbox), 0);
	/* Receives first: places for what the messages call for. */
	assert_told("get4 5 4 put4 5 barrier0 ");
}

/* What others note while one carries is carried by that one, not inside of its call. */
static void the_carrier_looks_again(void **state)
{
	(void)state;
	nmore = 3;
	note_and_unlock(1);
	assert_told("1 2 3 4 ");
}

static void a_poller_carries(void **state)
{
	(void)state;
	nmore = 1;
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_told("poll0 1 ");
}

static void a_callback_need_not_wait_for_the_end_of_the_poll(void **state)
{
	(void)state;
	polled_note = 7;
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_told("poll0 7 polled ");
}

/* A sender is not kept for ever by others; who polls goes on. */
static void a_busy_carrier_leaves(void **state)
{
	int nsent;

	(void)state;
	nmore = 50;
	note_and_unlock(1);
	nsent = nitems - 1; /* the last one is noted */
	assert_int_equal(unlocked_status, 1);
	assert_true(nsent < 20);
	nmore = 0;
	told[0] = 0;
	note_and_unlock(99);
	assert_string_equal(told, "");
	assert_true(outbox_poll(&outbox) > 0);
	assert_true(strlen(told) > strlen("poll0 99 "));
	assert_string_equal(told + strlen(told) - 4, " 99 ");
	assert_int_equal(outbox.nclaims, 0);
	told[0] = 0;
	note_and_unlock(1);
	assert_told("1 ");
}

static void alone_with_mpi(void **state)
{
	(void)state;
	outbox_hold(&outbox, NULL);
	note_and_unlock(1);
	assert_int_equal(outbox_poll(&outbox), -1);
	assert_string_equal(told, "");
	assert_int_equal(outbox_let_go(&outbox), 0);
	assert_told("1 ");
}

static void what_is_ready_travels_together(void **state)
{
	const int peers[] = {1, 2, 1, 1, 1, 1, 1, 2};

	(void)state;
	net.packet_bytes = 3 * NET_FRAME_BYTES;
	orr_lock(&lock);
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		note(peers[i]);
	assert_int_equal(outbox_unlock(&outbox), 0);
	assert_told("++1 +2 ++1 ");
}

/* Many to one peer do not hold up those to others, and each peer's stay in order. */
static void beyond_the_limit_each_peer_has_a_share(void **state)
{
	const int peers[] = {1, 1, 1, 1, 1, 2, 2, 3};

	(void)state;
	net.max_packets = 4;
	orr_lock(&lock);
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		note(peers[i]);
	assert_int_equal(outbox_unlock(&outbox), 1); /* some wait: somebody must poll */
	assert_told("1 2 3 1 ");
	note_and_unlock(1);
	assert_int_equal(unlocked_status, 0); /* as is known */
	note_and_unlock(4);                   /* has nothing on its way */
	assert_told("1 2 3 1 4 ");
	sent(3);
	sent(2); /* frees a place for its own */
	assert_told("1 2 3 1 4 2 ");
	sent(4);
	for (int i = 0; i < 4; i++)
		sent(1);
	assert_told("1 2 3 1 4 2 1 1 1 1 ");
	sent(1);
	sent(1);
	sent(2);
	assert_int_equal(outbox.nsending, 0);
	note_and_unlock(1);
	assert_told("1 2 3 1 4 2 1 1 1 1 1 ");
}

/* A few leave as they come; then full packets only, until some have left. */
static void many_to_one_peer_become_few(void **state)
{
	(void)state;
	net.packet_bytes = 3 * NET_FRAME_BYTES;
	net.max_packets = 8;
	for (int i = 0; i < 4; i++)
		note_and_unlock(1);
	assert_told("1 1 ");
	for (int i = 0; i < 7; i++)
		note_and_unlock(1);
	assert_told("1 1 ++1 ++1 ");
	sent(1); /* frees a place for a full one */
	assert_told("1 1 ++1 ++1 ++1 ");
	for (int i = 0; i < 3; i++)
		sent(1);
	assert_told("1 1 ++1 ++1 ++1 ");
	note_and_unlock(1);
	assert_told("1 1 ++1 ++1 ++1 1 ");
}

/* What the limit does not count. */
static void halves_do_not_wait_for_messages(void **state)
{
	struct outgoing get = {.kind = OUTGOING_GET, .what.bulk = &bulk};

	(void)state;
	net.max_packets = 1;
	bulk.peer = 1;
	orr_lock(&lock);
	note(1);
	note(1);
	outbox_note(&outbox, &get);
	assert_int_equal(outbox_unlock(&outbox), 1);
	assert_told("get1 1 ");
	sent(1);
	assert_told("get1 1 1 ");
}

/* To receive what has come already may be to copy it, while others wait for a grant. */
static void what_was_pushed_is_received_last(void **state)
{
	struct net_bulk pushed_bulk = {.peer = 2, .is_pushed = 1};
	struct outgoing pushed = {.kind = OUTGOING_GET, .what.bulk = &pushed_bulk};
	struct outgoing get = {.kind = OUTGOING_GET, .what.bulk = &bulk};

	(void)state;
	bulk.peer = 1;
	orr_lock(&lock);
	outbox_note(&outbox, &pushed);
	note(3);
	outbox_note(&outbox, &get);
	note(1);
	assert_int_equal(outbox_unlock(&outbox), 0);
	assert_told("get1 3 1 get2 ");
}

/* A callback that was told that another one follows leaves its notes to that one. */
static void what_follows_none_is_handed_over(void **state)
{
	(void)state;
	polled_note = 3;
	has_more = 1;
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_told("poll0 noted 3 ");
	assert_int_equal(net.has_more, 0);
}

/* A barrier's end, or that of a frame of its own, which the engine never hears of. */
static void what_follows_may_be_silent(void **state)
{
	(void)state;
	polled_note = 3;
	has_more = follows_silently = 1;
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_told("poll0 noted 3 ");
	/* And all of it is over. */
	has_more = polled_note = 0;
	outbox_poll(&outbox);
	assert_told("poll0 noted 3 poll0 ");
}

/* Messages that MPI has taken over need no poll, however many. */
static void what_has_left_takes_no_place(void **state)
{
	(void)state;
	net.max_packets = 4;
	sends_at_once = 1;
	for (int i = 0; i < 4; i++)
		note_and_unlock(1);
	assert_told("1 left1 1 left1 1 left1 1 left1 ");
	assert_int_equal(outbox.nsending, 0);
	/* What is noted as they leave is carried, too. */
	noted_as_left = 2;
	note_and_unlock(1);
	assert_told("1 left1 1 left1 1 left1 1 left1 1 left1 2 left2 ");
}

/* Small ones that have left keep their places until somebody polls, so that those
 * behind them become full packets, which leave at any time. */
static void what_has_left_lets_others_gather(void **state)
{
	(void)state;
	net.packet_bytes = 3 * NET_FRAME_BYTES;
	net.max_packets = 8;
	sends_at_once = 1;
	for (int i = 0; i < 4; i++)
		note_and_unlock(1);
	assert_told("1 left1 1 left1 ");
	for (int i = 0; i < 7; i++)
		note_and_unlock(1);
	assert_told("1 left1 1 left1 ++1 left1 left1 left1 ++1 left1 left1 left1 "
		    "++1 left1 left1 left1 ");
	assert_int_equal(outbox.nsending, 2);
	told[0] = 0;
	note_and_unlock(1);
	note_and_unlock(1);
	note_and_unlock(2);
	assert_told("2 left2 ");
	note_and_unlock(1);
	assert_told("2 left2 ++1 left1 left1 left1 ");
	note_and_unlock(1);
	told[0] = 0;
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_told("1 left1 poll0 ");
	assert_int_equal(outbox.nsending, 1);
	assert_int_equal(outbox_poll(&outbox), 1);
	assert_int_equal(outbox.nsending, 0);
}

/* ---- priorities ------------------------------------------------------ */

static int unlock(void)
{
	return outbox_unlock(&outbox);
}

static void the_urgent_leaves_before_others_to_its_peer(void **state)
{
	(void)state;
	net.max_packets = 1;
	tells_which = 1;
	orr_lock(&lock);
	note_urgent(1, 10, 0);
	note_urgent(1, 11, 0);
	note_urgent(1, 12, 2);
	note_urgent(2, 13, 0);
	note_urgent(1, 11, 3); /* behind the one with its key */
	unlock();
	assert_told("2 3 ");
	orr_lock(&lock);
	note_urgent(1, 14, 1);
	unlock();
	for (int i = 0; i < 4; i++)
		sent(1);
	assert_told("2 3 5 0 1 4 ");
}

/* No limit: what is noted in one hold of the lock leaves in the order of priorities. */
static void also_where_nothing_waits(void **state)
{
	(void)state;
	net.packet_bytes = 2 * NET_FRAME_BYTES;
	tells_which = 1;
	orr_lock(&lock);
	for (int i = 0; i < 5; i++)
		note_urgent(1, 10 + (uint64_t)i, i);
	unlock();
	assert_told("4+3 2+1 0 ");
	assert_int_equal(outbox.queues.count, 0);
}

static void raise(int which, int priority)
{
	orr_lock(&lock);
	outbox_raise(&outbox, &items[which], priority);
	orr_unlock(&lock);
}

/* Whether it waits already, or is only noted, or has left. */
static void one_becomes_more_urgent(void **state)
{
	(void)state;
	net.max_packets = 1;
	tells_which = 1;
	orr_lock(&lock);
	for (int i = 0; i < 5; i++)
		note_urgent(1, 10 + (uint64_t)i, 0);
	outbox_raise(&outbox, &items[2], 1);
	unlock();
	assert_told("2 ");
	raise(2, 9);
	raise(4, 1);
	raise(4, 2);
	sent(1);
	assert_told("2 4 ");
	assert_null(outbox.raised);
	sent(1);
	raise(3, 1);
	sent(1);
	assert_told("2 4 0 3 ");
	sent(1);
	assert_told("2 4 0 3 1 ");
	/* Of one that has left nothing is remembered when it has been told. */
	raise(1, 5);
	sent(1);
	assert_null(outbox.raised);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_the_order_of_the_notes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_carrier_looks_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_poller_carries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_callback_need_not_wait_for_the_end_of_the_poll, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_busy_carrier_leaves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(alone_with_mpi, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_ready_travels_together, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(beyond_the_limit_each_peer_has_a_share,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_to_one_peer_become_few, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_has_left_takes_no_place, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_has_left_lets_others_gather, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(halves_do_not_wait_for_messages, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_pushed_is_received_last, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_follows_none_is_handed_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_follows_may_be_silent, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			the_urgent_leaves_before_others_to_its_peer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(also_where_nothing_waits, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_becomes_more_urgent, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
