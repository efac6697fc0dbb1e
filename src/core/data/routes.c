/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/routes.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"

static const struct memory_driver *driver_between(const struct node *node, unsigned from,
						  unsigned to)
{
	const struct memory_driver *out = node->memories[from].driver,
				   *in = node->memories[to].driver;

	/* Main memory's knows no others. */
	if (!memory_is_main(node, to) && in->reaches(node->plat, from, to))
		return in;
	return out->reaches(node->plat, from, to) ? out : NULL;
}

static struct route find(const struct node *node, unsigned from, unsigned to)
{
	struct route found = {driver_between(node, from, to), (unsigned char)to};

	if (!found.driver)
		found = (struct route){driver_between(node, from, STARPU_MAIN_RAM),
				       STARPU_MAIN_RAM};
	ORR_ASSERT(found.driver); /* The contract: main memory is reached by all. */
	return found;
}

void routes_make(struct node *node, unsigned n)
{
	struct routes *routes =
		orr_alloc(sizeof(*routes) + (size_t)n * n * sizeof(routes->table[0]));

	routes->n = n;
	routes->older = node->routes;
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++)
			routes->table[from * n + to] = find(node, from, to);
	orr_swap_ptr((void **)&node->routes, routes);
}

void routes_free(struct node *node)
{
	struct routes *routes = node->routes, *older;

	for (; routes; routes = older) {
		older = routes->older;
		free(routes->expected);
		free(routes);
	}
}

int routes_copy(struct node *node, struct plat_copy *copy)
{
	const struct route *hop = route(node, copy->from, copy->to);

	ORR_ASSERT(hop->next == copy->to);
	return hop->driver->copy(node->plat, copy);
}

unsigned routes_nearest(struct node *node, uint64_t memories, unsigned to, size_t bytes)
{
	unsigned best = (unsigned)__builtin_ctzll(memories), one;
	double best_s = -1, seconds;

	for (; memories; memories &= memories - 1) {
		one = (unsigned)__builtin_ctzll(memories);
		seconds = routes_expected_s(node, one, to, bytes);
		if (best_s >= 0 && seconds >= best_s)
			continue;
		best = one;
		best_s = seconds;
	}
	return best;
}

static void expect(struct routes *routes, unsigned way, size_t bytes, double seconds)
{
	unsigned nways = routes->n * routes->n;

	if (!routes->expected) {
		routes->expected = orr_alloc(nways * sizeof(*routes->expected));
		for (unsigned i = 0; i < nways; i++)
			routes->expected[i].bytes = SIZE_MAX;
	}
	routes->expected[way] = (struct expected_way){bytes, seconds};
}

double routes_ask_s(struct node *node, unsigned from, unsigned to, size_t bytes)
{
	unsigned way = from * node->routes->n + to;
	double seconds = 0;
	int is_steady = 1;

	while (from != to) {
		const struct route *hop = route(node, from, to);

		is_steady &= hop->driver->is_steady;
		seconds += hop->driver->expected_s(node->plat, from, hop->next, bytes);
		from = hop->next;
	}
	if (is_steady && node->machine->takes_turns)
		expect(node->routes, way, bytes, seconds);
	return seconds;
}
