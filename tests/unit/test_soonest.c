/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Of workers that are equal, who is free first: random changes against looking at all. */
#include <stdlib.h>
#include <math.h>

#include "core/sched/soonest.h"
#include "seeds.h"

enum { MOST = 70, NCHANGES = 200 };

static struct seeds seeds;
static struct worker workers[MOST], *list[MOST];
static struct {
	double waiting_s, until_s;
	int is_in;
} states[MOST];

/* Few values, so that many are equal; sums of the same in another order are not. */
static double some_s(void)
{
	return 0.1 * (rand() % 8);
}

static double free_s(int i, double now_s)
{
	double date_s = fmax(now_s, states[i].until_s) + states[i].waiting_s;

	return date_s + (workers[i].nexpected ? workers[i].expected_s : 0);
}

static int will_do(const void *limit_s, double date_s)
{
	return 1e6 + date_s <= *(const double *)limit_s;
}

static void change(struct soonest *soonest, int i)
{
	states[i].is_in = rand() % 4 > 0;
	states[i].waiting_s = rand() % 2 ? some_s() + some_s() + some_s() : 0;
	states[i].until_s = rand() % 3 ? some_s() * 10 : 0;
	workers[i].nexpected = rand() % 10 == 0;
	workers[i].expected_s = some_s();
	if (states[i].is_in)
		soonest_set(soonest, i, states[i].waiting_s,
			    states[i].until_s + states[i].waiting_s);
	else
		soonest_set(soonest, i, INFINITY, INFINITY);
}

static void compare(const struct soonest *soonest, int n)
{
	double now_s = some_s() * 10, least_s = INFINITY, limit_s;
	const struct worker *expected = NULL, *seen;

	for (int i = 0; i < n; i++)
		if (states[i].is_in)
			least_s = fmin(least_s, free_s(i, now_s));
	if (soonest_s(soonest, now_s) != least_s)
		seeds_bad(&seeds, "the first date is not the least; of workers", 0,
			  (uint64_t)n);
	/* So far from 0 dates that differ by rounding are equal. */
	limit_s = 1e6 + (isinf(least_s) ? 0 : least_s) + (rand() % 2 ? 0 : some_s());
	for (int i = n; i-- > 0;)
		if (states[i].is_in && will_do(&limit_s, free_s(i, now_s)))
			expected = &workers[i];
	seen = soonest_first(soonest, now_s, will_do, &limit_s);
	if (seen != expected)
		seeds_bad(&seeds, "the first worker", seen ? (uint64_t)seen->id : MOST,
			  expected ? (uint64_t)expected->id : MOST);
}

static void run(void)
{
	struct soonest soonest;
	int n;

	srand((unsigned)seeds.seed);
	n = 1 + rand() % MOST;
	for (int i = 0; i < n; i++) {
		states[i].is_in = 0;
		workers[i].id = i;
		workers[i].nexpected = 0;
		orr_lock_init(&workers[i].lock);
		list[i] = &workers[i];
	}
	soonest_init(&soonest, list, n);
	for (int k = 0; k < NCHANGES; k++) {
		change(&soonest, rand() % n);
		compare(&soonest, n);
	}
	soonest_free(&soonest);
}

int main(int argc, char **argv)
{
	return seeds_run(&seeds, argc, argv, run,
			 "the tournament finds who a look at all workers finds");
}
