/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/routes.h"

#include "base/check.h"

static const struct memory_driver *driver_between(const struct node *node, unsigned from,
						  unsigned to)
{
	const struct memory_driver *out = node->memories[from].driver,
				   *in = node->memories[to].driver;

	/* Main memory's knows no other. */
	if (to != STARPU_MAIN_RAM && in->reaches(node->plat, from, to))
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

void routes_open(struct node *node)
{
	unsigned n = (unsigned)node->nmemories;

	node->routes = orr_alloc(n * n * sizeof(*node->routes));
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++)
			node->routes[from * n + to] = find(node, from, to);
}

int routes_copy(struct node *node, struct plat_copy *copy)
{
	const struct route *hop = route(node, copy->from, copy->to);

	ORR_ASSERT(hop->next == copy->to);
	return hop->driver->copy(node->plat, copy);
}

double routes_expected_s(struct node *node, unsigned from, unsigned to, size_t bytes)
{
	double seconds = 0;

	while (from != to) {
		const struct route *hop = route(node, from, to);

		seconds += hop->driver->expected_s(node->plat, from, hop->next, bytes);
		from = hop->next;
	}
	return seconds;
}
