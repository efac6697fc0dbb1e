/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "sim.h"

#include <simgrid/engine.h>

static void pump(void *arg);

/* At most one kernel timer exists, so that none is left behind at the end. */
static void arm(struct sim *sim)
{
	double date_s;

	if (sim->calendar.count == 0 || sim->in_kernel)
		return;
	date_s = heap_first_date_s(&sim->calendar);
	if (sim->timer && sim->armed_s <= date_s)
		return;
	if (sim->timer)
		kernel_timer_remove(sim->timer);
	sim->armed_s = date_s;
	if (date_s < simgrid_get_clock())
		date_s = simgrid_get_clock();
	sim->timer = kernel_timer_set(date_s, pump, sim);
}

static void fire(struct sim *sim, struct plat_timer *event)
{
	sim->current = event->plat;
	sim->spent_s = 0;
	sim->looks.n = 0;
	event->fire(event);
}

static void pump(void *arg)
{
	struct sim *sim = arg;
	unsigned nevents = 0;

	sim->timer = NULL; /* A kernel timer fires once and is gone. */
	calendar_enter(sim);
	while (sim->calendar.count > 0 &&
	       heap_first_date_s(&sim->calendar) <= sim->now_s) {
		struct heap_entry *entry = heap_pop(&sim->calendar);

		fire(sim, ORR_CONTAINER(entry, struct plat_timer, entry));
		nevents++;
	}
	if (sim->progress && nevents > 0)
		progress_show(sim->progress, sim);
	calendar_leave(sim);
}

void calendar_enter(struct sim *sim)
{
	ORR_ASSERT(!sim->in_kernel);
	sim->now_s = simgrid_get_clock();
	sim->in_kernel = 1;
}

void calendar_leave(struct sim *sim)
{
	sim->in_kernel = 0;
	sim->current = NULL;
	sim->worker = NULL;
	arm(sim);
}

void calendar_add(struct sim *sim, struct plat_timer *event, double date_s)
{
	heap_push(&sim->calendar, &event->entry, date_s);
	arm(sim);
}

void calendar_move(struct sim *sim, struct plat_timer *event, double date_s)
{
	heap_move(&sim->calendar, &event->entry, date_s);
	arm(sim);
}

void calendar_remove(struct sim *sim, struct plat_timer *event)
{
	heap_remove(&sim->calendar, &event->entry);
}

void calendar_close(struct sim *sim)
{
	ORR_ASSERT(sim->calendar.count == 0);
	if (sim->timer)
		kernel_timer_remove(sim->timer);
	sim->timer = NULL;
	heap_free(&sim->calendar);
}
