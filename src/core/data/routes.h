/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_ROUTES_H
#define ORR_CORE_DATA_ROUTES_H

/*
 * routes.h - how a value gets from one memory of a node to another: at once where a
 * driver of the two can, else with a stop in main memory, which all drivers reach: in the
 * first one, where copies need no room.
 */
#include "core/node.h"

struct route {
	const struct memory_driver *driver; /* that makes the first hop */
	unsigned char next;                 /* where that ends */
};

/* What was last expected of a way, and for how many bytes. */
struct expected_way {
	size_t bytes;
	double seconds;
};

/* By from * n + to.  Who looks something up while a memory is added goes on with the
 * table of before, which therefore stays until the node closes. */
struct routes {
	unsigned n;
	struct routes *older;
	/* As the table, or NULL: nobody has asked.  Only where threads take turns, and of
	 * ways whose drivers are steady: from a part of a way it must never seem farther
	 * than from its beginning, or a value goes back and forth. */
	struct expected_way *expected;
	struct route table[];
};

/* Make the table for the first n memories, node->routes. */
void routes_make(struct node *node, unsigned n);
void routes_free(struct node *node);

static inline const struct route *route(const struct node *node, unsigned from,
					unsigned to)
{
	const struct routes *routes = orr_load_ptr((void **)&node->routes);

	return &routes->table[from * routes->n + to];
}

/* May a value come sooner from one of several memories that have it than from another? */
static inline int routes_differ(const struct node *node)
{
	return node->nmains > 1 || node->machine->ways_differ;
}

/* Start a copy that is one hop.  1 when it is done already, else copy->done() follows. */
int routes_copy(struct node *node, struct plat_copy *copy);
/* Of a set of memories that is not empty, the one from which bytes get there first. */
unsigned routes_nearest(struct node *node, uint64_t memories, unsigned to, size_t bytes);
double routes_ask_s(struct node *node, unsigned from, unsigned to, size_t bytes);

/* Expected seconds of all hops, alone on their links. */
static inline double routes_expected_s(struct node *node, unsigned from, unsigned to,
				       size_t bytes)
{
	const struct routes *routes = orr_load_ptr((void **)&node->routes);
	const struct expected_way *way = routes->expected;

	if (!way)
		return routes_ask_s(node, from, to, bytes);
	way += from * routes->n + to;
	return way->bytes == bytes ? way->seconds : routes_ask_s(node, from, to, bytes);
}

#endif
