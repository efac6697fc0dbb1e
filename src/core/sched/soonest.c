/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/soonest.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

/* Deeper than any tree: a level for each bit of its leaves. */
enum { SOONEST_MOST_LEVELS = 32 };

void soonest_init(struct soonest *soonest, struct worker **workers, int n)
{
	*soonest = (struct soonest){
		.n = n, .nleaves = 1, .per_second = 1, .workers = workers};
	while (soonest->nleaves < n)
		soonest->nleaves *= 2;
	soonest->places =
		orr_alloc(2 * (size_t)soonest->nleaves * sizeof(*soonest->places));
	soonest->waiting_s =
		orr_alloc((size_t)soonest->nleaves * sizeof(*soonest->waiting_s));
	for (int i = 0; i < 2 * soonest->nleaves; i++)
		soonest->places[i] = (struct soonest_place){INFINITY, INFINITY};
	for (int i = 0; i < soonest->nleaves; i++)
		soonest->waiting_s[i] = INFINITY;
}

void soonest_free(struct soonest *soonest)
{
	free(soonest->places);
	free(soonest->waiting_s);
	*soonest = (struct soonest){0};
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

void soonest_set(struct soonest *soonest, int i, double waiting_s, double end_s)
{
	struct soonest_place *places = soonest->places;
	int at = soonest->nleaves + i, is_idle = end_s <= waiting_s;

	ORR_ASSERT(i >= 0 && i < soonest->n);
	soonest->waiting_s[i] = waiting_s;
	places[at] = (struct soonest_place){is_idle ? waiting_s : INFINITY,
					    is_idle ? INFINITY : end_s};
	while ((at /= 2) > 0) {
		const struct soonest_place *left = &places[2 * at],
					   *right = &places[2 * at + 1];
		struct soonest_place least = {lesser(left->idle_s, right->idle_s),
					      lesser(left->end_s, right->end_s)};

		if (least.idle_s == places[at].idle_s && least.end_s == places[at].end_s)
			return;
		places[at] = least;
	}
}

/* Nobody below is free before. */
static inline double bound_s(const struct soonest *soonest, int at, double now_s)
{
	return soonest_place_s(&soonest->places[at], now_s);
}

/* The same of a leaf is exact: who runs longer than was expected is not free before now.
 */
static double free_s(const struct soonest *soonest, int leaf, double now_s)
{
	int i = leaf - soonest->nleaves;
	double date_s = now_s + soonest->waiting_s[i];
	double end_s = soonest->places[leaf].end_s;

	if (isinf(date_s))
		return date_s;
	if (end_s > date_s && end_s < INFINITY)
		date_s = end_s;
	return date_s + soonest->per_second * worker_bound_s(soonest->workers[i]);
}

double soonest_s(const struct soonest *soonest, double now_s)
{
	struct {
		double bound_s;
		int at;
	} later[SOONEST_MOST_LEVELS];
	double best_s = INFINITY;
	int at = 1, nlater = 0;

	/* The nearer branch first: its end says, as a rule, that the others have none. */
	for (;;) {
		while (at < soonest->nleaves) {
			double left_s = bound_s(soonest, at *= 2, now_s);
			double right_s = bound_s(soonest, at + 1, now_s);
			int is_left = left_s <= right_s;

			later[nlater].bound_s = is_left ? right_s : left_s;
			later[nlater++].at = at + is_left;
			at += !is_left;
		}
		best_s = lesser(best_s, free_s(soonest, at, now_s));
		do
			if (nlater-- == 0)
				return best_s;
		while (later[nlater].bound_s >= best_s);
		at = later[nlater].at;
	}
}

struct worker *soonest_first(const struct soonest *soonest, double now_s,
			     int (*will_do)(const void *what, double free_s),
			     const void *what)
{
	double latest_s = -INFINITY; /* of the dates that will do */
	double refused_s = INFINITY; /* the earliest */
	int at = 1;

	/* In the order of leaves; a branch that cannot have one is passed. */
	for (;;) {
		double date_s = at < soonest->nleaves ? bound_s(soonest, at, now_s)
						      : free_s(soonest, at, now_s);

		if (date_s > latest_s && date_s < refused_s) {
			if (will_do(what, date_s))
				latest_s = date_s;
			else
				refused_s = date_s;
		}
		if (date_s <= latest_s) {
			if (at >= soonest->nleaves)
				return soonest->workers[at - soonest->nleaves];
			at *= 2;
			continue;
		}
		while (at & 1)
			at /= 2;
		if (at == 0)
			return NULL;
		at++;
	}
}
