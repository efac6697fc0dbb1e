/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/soonest.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

void soonest_init(struct soonest *soonest, struct worker **workers, int n)
{
	*soonest = (struct soonest){
		.n = n, .nleaves = 1, .per_second = 1, .workers = workers};
	while (soonest->nleaves < n)
		soonest->nleaves *= 2;
	soonest->places =
		orr_alloc(2 * (size_t)soonest->nleaves * sizeof(*soonest->places));
	for (int i = 0; i < 2 * soonest->nleaves; i++)
		soonest->places[i] = (struct soonest_place){INFINITY, INFINITY};
}

void soonest_free(struct soonest *soonest)
{
	free(soonest->places);
	*soonest = (struct soonest){0};
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

void soonest_set(struct soonest *soonest, int i, double waiting_s, double end_s)
{
	struct soonest_place *places = soonest->places;
	int at = soonest->nleaves + i;

	ORR_ASSERT(i >= 0 && i < soonest->n);
	places[at] = (struct soonest_place){waiting_s, end_s};
	while ((at /= 2) > 0) {
		const struct soonest_place *left = &places[2 * at],
					   *right = &places[2 * at + 1];
		struct soonest_place least = {lesser(left->waiting_s, right->waiting_s),
					      lesser(left->end_s, right->end_s)};

		if (least.waiting_s == places[at].waiting_s &&
		    least.end_s == places[at].end_s)
			return;
		places[at] = least;
	}
}

/* Nobody below is free before. */
static double bound_s(const struct soonest *soonest, int at, double now_s)
{
	double idle_s = now_s + soonest->places[at].waiting_s;
	double end_s = soonest->places[at].end_s;

	return idle_s > end_s ? idle_s : end_s;
}

/* The same of a leaf is exact. */
static double free_s(const struct soonest *soonest, int leaf, double now_s)
{
	double date_s = bound_s(soonest, leaf, now_s);

	if (isinf(date_s))
		return date_s;
	return date_s + soonest->per_second *
				worker_bound_s(soonest->workers[leaf - soonest->nleaves]);
}

/* The least of best_s and the dates below, the nearer branch first. */
static double least_s(const struct soonest *soonest, int at, double now_s, double best_s)
{
	while (at < soonest->nleaves) {
		int left = 2 * at, right = left + 1;
		double left_s = bound_s(soonest, left, now_s);
		double right_s = bound_s(soonest, right, now_s);
		int is_left = left_s <= right_s;

		best_s = least_s(soonest, is_left ? left : right, now_s, best_s);
		if ((is_left ? right_s : left_s) >= best_s)
			return best_s;
		at = is_left ? right : left;
	}
	return lesser(best_s, free_s(soonest, at, now_s));
}

double soonest_s(const struct soonest *soonest, double now_s)
{
	return least_s(soonest, 1, now_s, INFINITY);
}

struct worker *soonest_first(const struct soonest *soonest, double now_s,
			     int (*will_do)(const void *what, double free_s),
			     const void *what)
{
	int at = 1;

	/* In the order of leaves; a branch that cannot have one is passed. */
	for (;;) {
		double date_s = at < soonest->nleaves ? bound_s(soonest, at, now_s)
						      : free_s(soonest, at, now_s);

		if (!isinf(date_s) && will_do(what, date_s)) {
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
