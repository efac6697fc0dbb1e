/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mpi/waiting.h"

/* test_waiting.c - which of the messages to one peer leaves next. */

enum { MOST = 300, BACKEND = 0x5a };

static struct {
	struct waiting waiting;
	struct waiting_orders orders;
	struct outgoing items[MOST];
	struct net_message messages[MOST];
	int nitems;
} scene;

static int set_up(void **state)
{
	(void)state;
	memset(&scene, 0, sizeof(scene));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	waiting_free(&scene.waiting);
	waiting_orders_free(&scene.orders);
	return 0;
}

static void append(uint64_t key, int priority)
{
	int i = scene.nitems++;

	memset(&scene.messages[i], BACKEND, sizeof(scene.messages[i]));
	scene.messages[i].head_bytes = 1;
	scene.messages[i].body_bytes = (size_t)i;
	scene.items[i] = (struct outgoing){.kind = OUTGOING_MESSAGE,
					   .priority = priority,
					   .key = key,
					   .what.message = &scene.messages[i]};
	waiting_append(&scene.waiting, &scene.items[i]);
}

/* Which one leaves; -1: none is left.  It is the transport's then. */
static int take(void)
{
	struct net_message *message = waiting_first(&scene.waiting, &scene.orders);

	if (!message)
		return -1;
	assert_ptr_equal(waiting_first(&scene.waiting, &scene.orders), message);
	waiting_take(&scene.waiting, &scene.orders);
	memset(message->backend, BACKEND, sizeof(message->backend));
	return (int)(message - scene.messages);
}

static void assert_leaves(const int *expected)
{
	for (; *expected >= 0; expected++)
		assert_int_equal(take(), *expected);
	assert_int_equal(take(), -1);
	assert_int_equal(scene.waiting.bytes, 0);
	assert_null(scene.waiting.order);
}

/* ---- one after the other --------------------------------------------- */

static void equals_leave_as_they_came(void **state)
{
	const int expected[] = {0, 1, 2, 3, -1};

	(void)state;
	for (int i = 0; i < 4; i++)
		append(1 + (uint64_t)i, 7);
	assert_int_equal(take(), 0);
	assert_null(scene.waiting.order); /* nobody sorted anything */
	assert_leaves(expected + 1);
}

static void the_urgent_leaves_first(void **state)
{
	const int expected[] = {3, 5, 0, 4, 2, -1};

	(void)state;
	append(1, 0);
	append(2, 1);
	append(3, -1);
	assert_int_equal(take(), 1);
	append(4, 5);
	append(5, 0);
	append(2, 1);
	assert_leaves(expected);
	/* And so do others that wait later. */
	append(1, 0);
	append(2, 1);
	assert_int_equal(take(), 7);
	assert_int_equal(take(), 6);
}

static void those_of_one_key_keep_their_order(void **state)
{
	const int expected[] = {2, 0, 1, 3, 4, -1};

	(void)state;
	append(1, 0);
	append(1, 9);
	append(2, 5);
	append(3, 0);
	append(1, 9);
	assert_leaves(expected);
	/* Once it has left the next one is free. */
	append(1, 0);
	append(2, 1);
	append(1, 9);
	assert_int_equal(take(), 6);
	assert_int_equal(take(), 5);
	append(3, 8);
	append(1, 9);
	assert_int_equal(take(), 8);
	assert_int_equal(take(), 7);
	assert_int_equal(take(), 9);
}

static void who_has_no_key_is_a_fence(void **state)
{
	const int expected[] = {1, 0, 2, 3, 5, 4, -1};

	(void)state;
	append(1, 0);
	append(2, 1);
	append(0, 0);
	append(0, 9);
	append(3, 0);
	append(4, 9);
	assert_leaves(expected);
}

/* ---- more urgent later ----------------------------------------------- */

static void raise_to(int i, int priority)
{
	waiting_raise(&scene.waiting, &scene.items[i], priority);
}

static void a_raised_one_leaves_first(void **state)
{
	const int expected[] = {2, 3, 0, 1, -1};

	(void)state;
	for (int i = 0; i < 4; i++)
		append(1 + (uint64_t)i, 0);
	raise_to(2, 3);
	raise_to(3, 1);
	raise_to(0, -1); /* no less than before */
	assert_leaves(expected);
	raise_to(1, 9); /* has left */
	assert_int_equal(take(), -1);
}

/* When they are sorted already: one that another one of its key stands before stays. */
static void also_when_they_are_sorted(void **state)
{
	const int expected[] = {3, 2, 0, 4, -1};

	(void)state;
	append(1, 0);
	append(2, 5);
	append(3, 0);
	append(4, 1);
	append(1, 0);
	assert_int_equal(take(), 1);
	raise_to(3, 7);
	raise_to(2, 6);
	raise_to(4, 9);
	assert_leaves(expected);
}

/* Its order is known before it waits. */
static void raised_before_it_came(void **state)
{
	struct outgoing *item = &scene.items[2];
	const int expected[] = {2, 0, 1, -1};

	(void)state;
	append(1, 0);
	append(2, 0);
	scene.messages[2] = (struct net_message){.head_bytes = 1};
	*item = (struct outgoing){.key = 3, .what.message = &scene.messages[2]};
	waiting_raise(NULL, item, 4);
	waiting_append(&scene.waiting, item);
	assert_leaves(expected);
}

/* ---- at random ------------------------------------------------------- */

static unsigned seed_below(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % n;
}

static int most_urgent(const int *priorities, const int *left, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!left[i] && (best < 0 || priorities[i] > priorities[best]))
			best = i;
	return best;
}

/* Keys of their own: the order is that of the priorities, then of the coming. */
static void as_a_sort_would(uint64_t seed)
{
	int priorities[MOST], left[MOST] = {0}, n = 0, nleft = 0;

	set_up(NULL);
	while (nleft < MOST) {
		int which;

		if (n < MOST && (n == nleft || seed_below(&seed, 3))) {
			priorities[n] = (int)seed_below(&seed, 4) - 2;
			append(1 + (uint64_t)n, priorities[n]);
			n++;
			continue;
		}
		which = (int)seed_below(&seed, (unsigned)n);
		raise_to(which, 3);
		priorities[which] = 3;
		which = most_urgent(priorities, left, n);
		assert_int_equal(take(), which);
		left[which] = 1;
		nleft++;
	}
	tear_down(NULL);
}

/* Few keys, and fences: what must not be overtaken is not, and all leave. */
static void nothing_overtakes_its_key(uint64_t seed)
{
	int left[MOST] = {0}, nleft = 0;

	set_up(NULL);
	while (nleft < MOST) {
		int which;

		if (scene.nitems < MOST &&
		    (scene.nitems == nleft || seed_below(&seed, 3))) {
			append(seed_below(&seed, 20) ? 1 + seed_below(&seed, 8) : 0,
			       (int)seed_below(&seed, 5));
			continue;
		}
		raise_to((int)seed_below(&seed, (unsigned)scene.nitems),
			 (int)seed_below(&seed, 8));
		which = take();
		assert_in_range(which, 0, scene.nitems - 1);
		assert_false(left[which]);
		left[which] = 1;
		nleft++;
		for (int i = 0; i < which; i++)
			if (!scene.items[i].key || !scene.items[which].key ||
			    scene.items[i].key == scene.items[which].key)
				assert_true(left[i]);
		for (int i = which + 1; i < scene.nitems; i++)
			if (!scene.items[i].key)
				assert_false(left[i]);
	}
	tear_down(NULL);
}

static void at_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		as_a_sort_would(seed);
		nothing_overtakes_its_key(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equals_leave_as_they_came, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_urgent_leaves_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(those_of_one_key_keep_their_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(who_has_no_key_is_a_fence, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_raised_one_leaves_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(also_when_they_are_sorted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(raised_before_it_came, set_up, tear_down),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
