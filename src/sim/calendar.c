/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

#include <simgrid/engine.h>

/*
 * calendar.c - the events of all nodes, and how they meet SimGrid's.
 *
 * A step of SimGrid's costs more than most events of ours, and most concern nobody there.
 * So when SimGrid is about to step, and knows the date of its next event, ours before it
 * are fired at once, ahead of its clock, until one wakes a thread: this waits for SimGrid
 * to come to that date (calendar_reach()).  Where events start something else of
 * SimGrid's, its clock must be theirs: then each date is a step (sim->is_bound).
 */

/* In an entry's place: it is due now, at the index that follows. */
#define DUE (~(SIZE_MAX >> 1))

/* SimGrid takes dates that differ by 1e-9 for one: so near to its own, ours wait. */
#define NEAR_S 2e-9

static void pump(void *arg);

/* At most one kernel timer exists, so that none is left behind at the end. */
static void arm_at(struct sim *sim, double date_s)
{
	if (sim->timer && sim->armed_s == date_s)
		return;
	if (sim->timer)
		kernel_timer_remove(sim->timer);
	sim->armed_s = date_s;
	sim->timer = kernel_timer_set(date_s, pump, sim);
}

/* The first event's, not before now. */
static double next_date_s(const struct sim *sim)
{
	return fmax(heap_first_date_s(&sim->calendar.heap), simgrid_get_clock());
}

/* Naps start nothing; and SimGrid does not tell what comes after a timer. */
static int is_bound(const struct sim *sim)
{
	return sim->is_bound && !quiet_is_all(sim);
}

static void arm(struct sim *sim)
{
	if (!is_bound(sim) || sim->calendar.count == 0 || sim->in_kernel)
		return;
	if (!sim->timer || sim->armed_s > heap_first_date_s(&sim->calendar.heap))
		arm_at(sim, next_date_s(sim));
}

void calendar_bind(struct sim *sim)
{
	sim->is_bound = 1;
	arm(sim);
}

void calendar_reach(struct sim *sim, void (*run)(void *arg), void *arg)
{
	if (!sim->is_ahead) {
		run(arg);
		return;
	}
	if (sim->nput_off == sim->put_off_capacity) {
		sim->put_off_capacity =
			sim->put_off_capacity ? 2 * sim->put_off_capacity : 64;
		sim->put_off = orr_realloc(sim->put_off, (size_t)sim->put_off_capacity *
								 sizeof(*sim->put_off));
	}
	sim->put_off[sim->nput_off++] = (struct sim_put_off){run, arg};
}

static void fire(struct sim *sim, struct plat_timer *event)
{
	sim->current = event->plat;
	sim->spent_s = 0;
	sim->looks.n = 0;
	sim->nslept = 0;
	sim->nsteps++;
	event->fire(event);
}

/* ---- what is due now ------------------------------------------------- */

static void append_due(struct sim *sim, struct heap_entry *entry)
{
	struct due *due = &sim->due;

	ORR_ASSERT(entry->place == 0);
	if (due->end == due->capacity) {
		due->capacity = due->capacity ? 2 * due->capacity : 64;
		due->entries =
			orr_realloc(due->entries, due->capacity * sizeof(*due->entries));
	}
	entry->date_s = sim->now_s;
	entry->order = calendar_order(sim);
	entry->place = DUE | due->end;
	due->entries[due->end++] = entry;
}

static int is_due(const struct plat_timer *event)
{
	return (event->entry.place & DUE) != 0;
}

static void remove_due(struct sim *sim, struct heap_entry *entry)
{
	sim->due.entries[entry->place & ~DUE] = NULL;
	entry->place = 0;
}

/* The first one, or NULL. */
static struct heap_entry *first_due(struct sim *sim)
{
	struct due *due = &sim->due;

	while (due->first < due->end && !due->entries[due->first])
		due->first++;
	if (due->first < due->end)
		return due->entries[due->first];
	due->first = due->end = 0;
	return NULL;
}

/* They wait in the calendar for SimGrid to come back. */
static void put_off_due(struct sim *sim)
{
	struct heap_entry *entry;

	while ((entry = first_due(sim))) {
		remove_due(sim, entry);
		dates_push(&sim->calendar, ORR_CONTAINER(entry, struct plat_timer, entry),
			   entry->date_s, entry->order);
	}
}

/* The first of all up to now, taken out, or NULL. */
static struct plat_timer *take_due(struct sim *sim)
{
	const struct heap *heap = &sim->calendar.heap;
	struct heap_entry *entry = first_due(sim);

	if (heap->count > 0 &&
	    (entry ? heap_first_is_before(heap, entry->date_s, entry->order)
		   : heap_first_date_s(heap) <= sim->now_s)) {
		struct plat_timer *event = dates_pop(&sim->calendar);

		scout_look(&sim->scout, &sim->calendar);
		return event;
	}
	if (!entry)
		return NULL;
	remove_due(sim, entry);
	return ORR_CONTAINER(entry, struct plat_timer, entry);
}

/* All up to now. */
static void fire_due(struct sim *sim)
{
	unsigned nevents = 0;
	struct plat_timer *event;

	while ((event = take_due(sim))) {
		fire(sim, event);
		nevents++;
	}
	if (sim->progress && nevents > 0)
		progress_show(sim->progress, sim);
}

/* ---- with SimGrid's clock -------------------------------------------- */

static void pump(void *arg)
{
	struct sim *sim = arg;

	sim->timer = NULL; /* A kernel timer fires once and is gone. */
	calendar_enter(sim);
	for (int i = 0; i < sim->nput_off; i++)
		sim->put_off[i].run(sim->put_off[i].arg);
	sim->nput_off = 0;
	fire_due(sim);
	calendar_leave(sim);
}

/* The sum of a date and the way to another is exact up to twice the first one: so far
 * SimGrid's clock will show what the events were told. */
static double horizon_s(double clock_s, double others_s)
{
	double limit_s = others_s < 0 ? INFINITY : clock_s + others_s - NEAR_S;

	return fmin(limit_s, 2 * clock_s);
}

double calendar_go_ahead(struct sim *sim, double others_s)
{
	double clock_s = simgrid_get_clock(), date_s = clock_s;
	double horizon = horizon_s(clock_s, others_s);

	if (is_bound(sim) || sim->calendar.count == 0)
		return -1;
	calendar_enter(sim);
	sim->is_ahead = 1;
	while (sim->calendar.count > 0 && sim->nput_off == 0 &&
	       (date_s = next_date_s(sim)) < horizon) {
		sim->now_s = date_s;
		fire_due(sim);
	}
	sim->is_ahead = 0;
	if (sim->nput_off > 0 || sim->calendar.count == 0)
		date_s = sim->now_s;
	calendar_leave(sim);
	if (others_s >= 0 && date_s > clock_s + others_s)
		return -1;
	arm_at(sim, date_s);
	return date_s - clock_s;
}

void calendar_enter(struct sim *sim)
{
	ORR_ASSERT(!sim->in_kernel);
	sim->now_s = simgrid_get_clock();
	sim->kernel_thread = sim_this_thread();
	sim->kernel_frame = (uintptr_t)__builtin_frame_address(0) + STACK_ROOM_BYTES;
	sim->in_kernel = 1;
}

void calendar_leave(struct sim *sim)
{
	put_off_due(sim);
	sim->in_kernel = 0;
	sim->current = NULL;
	sim->worker = NULL;
	arm(sim);
}

void calendar_add(struct sim *sim, struct plat_timer *event, double date_s)
{
	if (sim->in_kernel && date_s == sim->now_s) {
		append_due(sim, &event->entry);
		return;
	}
	dates_push(&sim->calendar, event, date_s, calendar_order(sim));
	arm(sim);
}

void calendar_add_ordered(struct sim *sim, struct plat_timer *event, double date_s,
			  uint64_t order)
{
	ORR_ASSERT(!sim->in_kernel);
	dates_push(&sim->calendar, event, date_s, order);
	arm(sim);
}

void calendar_move(struct sim *sim, struct plat_timer *event, double date_s)
{
	if (is_due(event)) {
		remove_due(sim, &event->entry);
		calendar_add(sim, event, date_s);
		return;
	}
	dates_move(&sim->calendar, event, date_s, calendar_order(sim));
	arm(sim);
}

void calendar_move_ordered(struct sim *sim, struct plat_timer *event, double date_s,
			   uint64_t order)
{
	ORR_ASSERT(!is_due(event));
	dates_move(&sim->calendar, event, date_s, order);
	arm(sim);
}

void calendar_remove(struct sim *sim, struct plat_timer *event)
{
	if (is_due(event))
		remove_due(sim, &event->entry);
	else
		dates_remove(&sim->calendar, event);
}

void calendar_close(struct sim *sim)
{
	ORR_ASSERT(sim->calendar.count == 0);
	if (sim->timer)
		kernel_timer_remove(sim->timer);
	sim->timer = NULL;
	dates_free(&sim->calendar);
	free(sim->due.entries);
	sim->due = (struct due){0};
	free(sim->put_off);
	sim->put_off = NULL;
	sim->put_off_capacity = 0;
}
