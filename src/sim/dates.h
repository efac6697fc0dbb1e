/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_DATES_H
#define ORR_SIM_DATES_H

/*
 * dates.h - events by date, and among those of one date by order.
 *
 * Nodes that do the same have events of the same date, as many as there are nodes.  Those
 * that come in their order are a run: a list, whose first one is in a heap on behalf of
 * all.
 */
#include "base/heap.h"
#include "plat/plat.h"

/* Where the next event of a date may belong: half a line, few of which stay near. */
struct dates_run {
	double date_s;
	struct plat_timer *first, *last; /* NULL: there is none */
	uint64_t last_order;
};

enum { DATES_RUN_BITS = 5 };

struct dates {
	struct heap heap;
	size_t count; /* of events */
	struct dates_run runs[1 << DATES_RUN_BITS];
};

/* A zeroed struct dates has none. */
void dates_free(struct dates *dates);
/* event must not be there. */
void dates_push(struct dates *dates, struct plat_timer *event, double date_s,
		uint64_t order);
/* The same, wherever it is. */
void dates_move(struct dates *dates, struct plat_timer *event, double date_s,
		uint64_t order);
/* Does nothing when it is not there. */
void dates_remove(struct dates *dates, struct plat_timer *event);
/* The earliest one, taken out, or NULL. */
struct plat_timer *dates_pop(struct dates *dates);

#endif
