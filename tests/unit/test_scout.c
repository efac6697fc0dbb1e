/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/check.h"
#include "sim/dates.h"
#include "sim/scout.h"

enum { N = 64, NSTEPS = 3 };

static struct thing {
	struct plat_timer event;
	unsigned nsteps;
	int has_left;
} * things;

static void stepped(struct plat_timer *event)
{
	(void)event;
}

static void other(struct plat_timer *event)
{
	(void)event;
}

static int make_step(const struct plat_timer *event, unsigned step)
{
	struct thing *thing = ORR_CONTAINER(event, struct thing, event);

	assert_int_equal(thing->has_left, 0);
	if (step == 0) /* Once more, where the run has changed before it. */
		thing->nsteps = 0;
	assert_int_equal(step, thing->nsteps++);
	return step + 1 < NSTEPS;
}

static const struct scout_kind kind = {stepped, make_step};
static const struct scout_kind *const kinds[] = {&kind, NULL};

static void push(struct dates *dates, int i, double date_s)
{
	things[i] = (struct thing){.event.fire = i % 5 == 4 ? other : stepped};
	dates_push(dates, &things[i].event, date_s, (uint64_t)i);
}

/* Takes out the first, and says which it is. */
static int pop(struct dates *dates, struct scout *scout)
{
	struct plat_timer *event = dates_pop(dates);
	struct thing *thing = ORR_CONTAINER(event, struct thing, event);

	thing->has_left = 1;
	scout_look(scout, dates);
	return (int)(thing - things);
}

static int begin(void **state)
{
	(void)state;
	things = orr_alloc(N * sizeof(*things));
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(things);
	return 0;
}

/* Of many events of one date each of those that have steps has made all when it comes. */
static void all_steps_are_made(void **state)
{
	struct dates dates = {0};
	struct scout scout = {.kinds = kinds};

	(void)state;
	for (int i = 0; i < N; i++)
		push(&dates, i, 1);
	for (int i = 0; i < N; i++) {
		assert_int_equal(pop(&dates, &scout), i);
		if (i >= N / 2)
			assert_int_equal(things[i].nsteps, i % 5 == 4 ? 0 : NSTEPS);
	}
	dates_free(&dates);
}

/* Who has left, or comes at another date, is not looked at in its old place. */
static void who_leaves_makes_none(void **state)
{
	struct dates dates = {0};
	struct scout scout = {.kinds = kinds};

	(void)state;
	for (int i = 0; i < N; i++)
		push(&dates, i, 1);
	for (int i = 0; i < N / 4; i++)
		pop(&dates, &scout);
	for (int i = N / 4 + 3; i < N / 2; i += 2) {
		if (i % 3 == 0)
			dates_move(&dates, &things[i].event, 2, (uint64_t)i);
		else
			dates_remove(&dates, &things[i].event);
		things[i].has_left = 1;
	}
	for (int i = N / 4; i < N - 3; i++)
		if (!things[i].has_left)
			assert_int_equal(pop(&dates, &scout), i);
	for (int i = N / 4; i < N / 2; i++)
		things[i].has_left = 0;
	while (dates.count > 0)
		pop(&dates, &scout);
	dates_free(&dates);
}

/* Each has a date of its own: nobody knows of the next, and nothing is brought. */
static void single_ones_make_none(void **state)
{
	struct dates dates = {0};
	struct scout scout = {.kinds = kinds};

	(void)state;
	for (int i = 0; i < N; i++)
		push(&dates, i, i);
	for (int i = 0; i < N; i++) {
		assert_int_equal(pop(&dates, &scout), i);
		assert_int_equal(things[i].nsteps, 0);
	}
	dates_free(&dates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_steps_are_made, begin, end),
		cmocka_unit_test_setup_teardown(who_leaves_makes_none, begin, end),
		cmocka_unit_test_setup_teardown(single_ones_make_none, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
