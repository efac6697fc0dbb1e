/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/heap.h"

struct dated {
	struct heap_entry entry;
	int number, is_in;
};

static struct dated *dated_of(struct heap_entry *entry)
{
	return entry ? ORR_CONTAINER(entry, struct dated, entry) : NULL;
}

static void empty_gives_nothing(void **state)
{
	struct heap heap = {0};
	struct heap_entry entry = {0};

	(void)state;
	assert_null(heap_pop(&heap));
	heap_remove(&heap, &entry);
	assert_int_equal(heap.count, 0);
	heap_free(&heap);
}

static void earliest_leaves_first(void **state)
{
	static const double dates_s[] = {3, 1, 2, -1, 0.5};
	static const int order[] = {3, 4, 1, 2, 0};
	struct heap heap = {0};
	struct dated entries[5] = {{.number = 0}};

	(void)state;
	for (int i = 0; i < 5; i++) {
		entries[i].number = i;
		heap_push(&heap, &entries[i].entry, dates_s[i]);
	}
	assert_true(heap_first_date_s(&heap) == -1);
	for (int i = 0; i < 5; i++) {
		struct heap_entry *entry = heap_pop(&heap);

		assert_int_equal(dated_of(entry)->number, order[i]);
		assert_true(entry->date_s == dates_s[order[i]]);
		assert_int_equal(entry->place, 0);
	}
	heap_free(&heap);
}

static void equal_dates_keep_their_order(void **state)
{
	enum { N = 500 };
	struct heap heap = {0};
	struct dated *entries = orr_alloc(N * sizeof(*entries));

	(void)state;
	for (int i = 0; i < N; i++) {
		entries[i].number = i;
		heap_push(&heap, &entries[i].entry, i % 2);
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(dated_of(heap_pop(&heap))->number,
				 i < N / 2 ? 2 * i : 2 * (i - N / 2) + 1);
	heap_free(&heap);
	free(entries);
}

static struct dated *earliest(struct dated *entries, int n)
{
	struct dated *best = NULL;

	for (int i = 0; i < n; i++) {
		struct dated *e = &entries[i];

		if (e->is_in && (!best || e->entry.date_s < best->entry.date_s ||
				 (e->entry.date_s == best->entry.date_s &&
				  e->entry.order < best->entry.order)))
			best = e;
	}
	return best;
}

/* Pushes, moves, pops and removals at random, compared with a plain search. */
static void agrees_with_a_search(void **state)
{
	enum { N = 100, STEPS = 20000 };
	/* The first numbers are for those that keep theirs. */
	struct heap heap = {.next_order = N};
	struct dated *entries = orr_alloc(N * sizeof(*entries));
	size_t count = 0;
	unsigned seed = 7;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		struct dated *e = &entries[rand_r(&seed) % N];

		if (rand_r(&seed) % 4 == 0) {
			struct dated *best = earliest(entries, N);

			assert_ptr_equal(dated_of(heap_pop(&heap)), best);
			if (best)
				best->is_in = 0;
			count -= best != NULL;
		} else if (rand_r(&seed) % 3 == 0) {
			int keeps = rand_r(&seed) % 2;
			uint64_t order =
				keeps ? (uint64_t)(e - entries) : heap.next_order;

			if (keeps)
				heap_move_ordered(&heap, &e->entry, rand_r(&seed) % 20,
						  order);
			else
				heap_move(&heap, &e->entry, rand_r(&seed) % 20);
			assert_int_equal(e->entry.order, order);
			count += !e->is_in;
			e->is_in = 1;
		} else if (e->is_in) {
			heap_remove(&heap, &e->entry);
			e->is_in = 0;
			count--;
		} else {
			heap_push(&heap, &e->entry, rand_r(&seed) % 20);
			e->is_in = 1;
			count++;
		}
		assert_int_equal(heap.count, count);
	}
	heap_free(&heap);
	free(entries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_gives_nothing),
		cmocka_unit_test(earliest_leaves_first),
		cmocka_unit_test(equal_dates_keep_their_order),
		cmocka_unit_test(agrees_with_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
