/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "dates.h"

#include <string.h>

#include "base/check.h"

/* In an entry's place: it is in a run, behind the event whose address this is as well. */
#define FOLLOWS ((size_t)1 << (8 * sizeof(size_t) - 2))

void dates_free(struct dates *dates)
{
	heap_free(&dates->heap);
	memset(dates, 0, sizeof(*dates));
}

/* Several dates share one, which is then of the last: events that come for another find
 * no run, and begin one. */
static struct dates_run *run_of(struct dates *dates, double date_s)
{
	uint64_t bits;

	memcpy(&bits, &date_s, sizeof(bits));
	return &dates->runs[bits * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DATES_RUN_BITS)];
}

static void follow(struct plat_timer *event, struct plat_timer *previous)
{
	event->entry.place = FOLLOWS | (size_t)previous;
	previous->next = event;
}

static struct plat_timer *previous_of(const struct plat_timer *event)
{
	return (struct plat_timer *)(event->entry.place & ~FOLLOWS);
}

static int is_followed(const struct plat_timer *event)
{
	return event->next || event->entry.place & FOLLOWS;
}

static int has_run(const struct dates_run *run, double date_s)
{
	return run->first && run->date_s == date_s;
}

static void begin_run(struct dates_run *run, struct plat_timer *event)
{
	*run = (struct dates_run){event->entry.date_s, event, event, event->entry.order};
}

/* Whether it could, before the first or behind the last. */
static int join(struct dates *dates, struct dates_run *run, struct plat_timer *event)
{
	uint64_t order = event->entry.order;

	if (order > run->last_order) {
		follow(event, run->last);
		run->last = event;
		run->last_order = order;
		return 1;
	}
	if (order < run->first->entry.order) {
		heap_replace(&dates->heap, &run->first->entry, &event->entry);
		follow(run->first, event);
		run->first = event;
		return 1;
	}
	return 0;
}

void dates_push(struct dates *dates, struct plat_timer *event, double date_s,
		uint64_t order)
{
	struct dates_run *run = run_of(dates, date_s);

	dates->count++;
	event->next = NULL;
	event->entry.date_s = date_s;
	event->entry.order = order;
	if (has_run(run, date_s) && join(dates, run, event))
		return;
	heap_push_ordered(&dates->heap, &event->entry, date_s, order);
	begin_run(run, event);
}

static void remove_follower(struct dates_run *run, struct plat_timer *event)
{
	struct plat_timer *previous = previous_of(event);

	previous->next = NULL;
	if (event->next)
		follow(event->next, previous);
	if (run->last == event) {
		run->last = previous;
		run->last_order = previous->entry.order;
	}
	event->entry.place = 0;
}

static void remove_first(struct dates *dates, struct dates_run *run,
			 struct plat_timer *event)
{
	struct plat_timer *next = event->next;

	if (next) {
		next->entry.place = 0;
		heap_replace(&dates->heap, &event->entry, &next->entry);
	} else {
		heap_remove(&dates->heap, &event->entry);
	}
	if (run->first == event)
		run->first = next;
}

void dates_remove(struct dates *dates, struct plat_timer *event)
{
	struct dates_run *run = run_of(dates, event->entry.date_s);

	if (event->entry.place == 0)
		return;
	dates->count--;
	if (event->entry.place & FOLLOWS)
		remove_follower(run, event);
	else
		remove_first(dates, run, event);
}

void dates_move(struct dates *dates, struct plat_timer *event, double date_s,
		uint64_t order)
{
	struct dates_run *run = run_of(dates, date_s), *left;

	if (event->entry.place == 0 || is_followed(event) || has_run(run, date_s)) {
		dates_remove(dates, event);
		dates_push(dates, event, date_s, order);
		return;
	}
	left = run_of(dates, event->entry.date_s);
	if (left->first == event)
		left->first = NULL;
	heap_move_ordered(&dates->heap, &event->entry, date_s, order);
	begin_run(run, event);
}

struct plat_timer *dates_pop(struct dates *dates)
{
	struct plat_timer *event;

	if (dates->count == 0)
		return NULL;
	event = ORR_CONTAINER(dates->heap.keys[0].entry, struct plat_timer, entry);
	dates_remove(dates, event);
	return event;
}
