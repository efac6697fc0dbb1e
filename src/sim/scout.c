/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "scout.h"

#include "base/check.h"
#include "dates.h"

enum {
	/* Of the struct that an event is part of, before it and from it on. */
	LINES_BEFORE = 1,
	EVENT_LINES = 5,
	MOST_NEW = 2,   /* join at a time: whose lines are not there is waited for */
	MANY_ALIKE = 8, /* events of one date: there will be more */
	MASK = SCOUT_DEPTH - 1
};

static int no_step(const struct plat_timer *event, unsigned step)
{
	(void)event;
	(void)step;
	return 0;
}

static scout_step_fn step_of(const struct scout *scout, const struct plat_timer *event)
{
	for (const struct scout_kind *const *kind = scout->kinds; *kind; kind++)
		if ((*kind)->fire == event->fire)
			return (*kind)->step;
	return no_step;
}

static struct scouted *ahead_at(struct scout *scout, unsigned i)
{
	return &scout->ahead[(scout->at + i) & MASK];
}

static void begin(struct scouted *scouted, const struct plat_timer *event)
{
	*scouted = (struct scouted){.event = event};
	for (int line = -LINES_BEFORE; line < EVENT_LINES; line++)
		orr_bring((const char *)event + line * ORR_LINE_BYTES);
}

static void go_on(const struct scout *scout, struct scouted *scouted)
{
	if (scouted->is_done)
		return;
	if (!scouted->step)
		scouted->step = step_of(scout, scouted->event);
	scouted->is_done = !scouted->step(scouted->event, scouted->nsteps++);
}

/* It was second in its run, as a rule. */
static void find_first(struct scout *scout, const struct plat_timer *first)
{
	if (scout->n > 1 && ahead_at(scout, 1)->event == first) {
		scout->at++;
		scout->n--;
	} else if (scout->n == 0 || ahead_at(scout, 0)->event != first) {
		scout->n = 1;
		begin(ahead_at(scout, 0), first);
	}
}

static void look_along(struct scout *scout, const struct plat_timer *event)
{
	unsigned i = 0, most;

	for (; i < scout->n && ahead_at(scout, i)->event == event; i++) {
		go_on(scout, ahead_at(scout, i));
		event = event->next;
	}
	most = i + MOST_NEW < SCOUT_DEPTH ? i + MOST_NEW : SCOUT_DEPTH;
	for (; event && i < most; event = event->next)
		begin(ahead_at(scout, i++), event);
	scout->n = i;
}

void scout_look(struct scout *scout, const struct dates *dates)
{
	const struct plat_timer *first;

	if (dates->heap.count == 0)
		return;
	first = ORR_CONTAINER(dates->heap.keys[0].entry, struct plat_timer, entry);
	if (first->entry.date_s != scout->date_s) {
		scout->date_s = first->entry.date_s;
		scout->nalike = scout->n = 0;
	}
	if (++scout->nalike < MANY_ALIKE)
		return;
	find_first(scout, first);
	look_along(scout, first);
}
