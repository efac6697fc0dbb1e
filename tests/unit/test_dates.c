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

/* Events of one date are a run, whether they come in their order or against it. */
static void one_date_is_one_run(void **state)
{
	enum { N = 1000 };
	struct dates dates = {0};
	struct plat_timer *events = orr_alloc(N * sizeof(*events));

	(void)state;
	for (int i = 0; i < N / 2; i++) {
		dates_push(&dates, &events[N / 2 + i], 1, (uint64_t)(N / 2 + i));
		dates_push(&dates, &events[N / 2 - 1 - i], 1, (uint64_t)(N / 2 - 1 - i));
	}
	assert_int_equal(dates.count, N);
	assert_int_equal(dates.heap.count, 1);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(dates_pop(&dates), &events[i]);
	assert_null(dates_pop(&dates));
	dates_free(&dates);
	free(events);
}

/* All to another date, as when flows are rated anew. */
static void a_run_moves(void **state)
{
	enum { N = 1000 };
	struct dates dates = {0};
	struct plat_timer *events = orr_alloc(N * sizeof(*events));

	(void)state;
	for (int i = 0; i < N; i++)
		dates_push(&dates, &events[i], 2, (uint64_t)i);
	for (int i = 0; i < N; i++)
		dates_move(&dates, &events[i], i % 2 ? 1 : 3, (uint64_t)i);
	assert_int_equal(dates.heap.count, 2);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(dates_pop(&dates),
				 &events[i < N / 2 ? 2 * i + 1 : 2 * (i - N / 2)]);
	dates_free(&dates);
	free(events);
}

static struct plat_timer *earliest(struct plat_timer *events, int n)
{
	struct plat_timer *best = NULL;

	for (int i = 0; i < n; i++) {
		struct plat_timer *e = &events[i];

		if (e->entry.place != 0 &&
		    (!best || e->entry.date_s < best->entry.date_s ||
		     (e->entry.date_s == best->entry.date_s &&
		      e->entry.order < best->entry.order)))
			best = e;
	}
	return best;
}

/* Pushes, moves, pops and removals at random, compared with a plain search.  More dates
 * than runs are known share them. */
static void agrees_with_a_search(double ndates, unsigned seed)
{
	enum { N = 200, STEPS = 50000 };
	struct dates dates = {.heap.next_order = N};
	struct plat_timer *events = orr_alloc(N * sizeof(*events));
	size_t count = 0;

	for (int step = 0; step < STEPS; step++) {
		int i = rand_r(&seed) % N, what = rand_r(&seed) % 8;
		struct plat_timer *e = &events[i];
		double date_s = (int)(ndates * rand_r(&seed) / ((double)RAND_MAX + 1));
		/* Old numbers come back, each to its event alone. */
		uint64_t order =
			rand_r(&seed) % 2 ? (uint64_t)i : dates.heap.next_order++;

		if (what == 0) {
			struct plat_timer *best = earliest(events, N);

			count -= best != NULL;
			assert_ptr_equal(dates_pop(&dates), best);
		} else if (what == 1) {
			count -= e->entry.place != 0;
			dates_remove(&dates, e);
			assert_int_equal(e->entry.place, 0);
		} else if (what < 5 && e->entry.place == 0) {
			count++;
			dates_push(&dates, e, date_s, order);
		} else {
			count += e->entry.place == 0;
			dates_move(&dates, e, date_s, order);
		}
		assert_int_equal(dates.count, count);
	}
	while (count-- > 0) {
		struct plat_timer *best = earliest(events, N);

		assert_ptr_equal(dates_pop(&dates), best);
	}
	assert_null(dates_pop(&dates));
	dates_free(&dates);
	free(events);
}

static void agree_with_a_search(void **state)
{
	(void)state;
	agrees_with_a_search(3, 1);
	agrees_with_a_search(20, 2);
	agrees_with_a_search(1000, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_date_is_one_run),
		cmocka_unit_test(a_run_moves),
		cmocka_unit_test(agree_with_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
