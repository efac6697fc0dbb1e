/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/budget.h"

#include <errno.h>

#include "base/check.h"
#include "core/data/kept.h"
#include "core/data/room.h"

struct budget_waiter {
	struct budget_waiter *next;
	size_t bytes;
	int takes; /* what it waits for */
	struct plat_gate gate;
};

/* The memory is locked. */
static int fits(const struct memory *memory, size_t bytes)
{
	return !memory->capacity_bytes ||
	       (memory->used_bytes <= memory->capacity_bytes &&
		bytes <= memory->capacity_bytes - memory->used_bytes);
}

/* The memory is locked, and is not any more afterwards. */
static void wait_in_line(struct node *node, struct memory *memory, size_t bytes,
			 int takes)
{
	struct budget_waiter waiter = {.bytes = bytes, .takes = takes};
	struct budget_waiter **at = &memory->budget_waiters;

	plat_gate_init(&waiter.gate);
	while (*at)
		at = &(*at)->next;
	orr_swap_ptr((void **)at, &waiter);
	orr_unlock(&memory->lock);
	room_serve(node, (unsigned)(memory - node->memories));
	if (bytes > memory->capacity_bytes)
		orr_complain(node->rank,
			     "a request for %zu bytes waits for room in memory %d, which "
			     "has %zu: it can only wait for ever; raise the limit "
			     "(%s)",
			     bytes, (int)(memory - node->memories),
			     memory->capacity_bytes, budget_limit_name(memory));
	plat_gate_wait(node->plat, &waiter.gate);
}

/* Lock the memory; what is kept there has gone if bytes do not fit beside it, and what
 * has its value elsewhere as well. */
static void lock_with_room(struct node *node, unsigned memory, size_t bytes)
{
	struct memory *from = &node->memories[memory];

	if (!room_has(node, memory, bytes))
		room_reclaim(node, memory, bytes);

	orr_lock(&from->lock);
	if (!kept_bytes(from))
		return;
	orr_unlock(&from->lock);
	kept_make_way(node, memory, bytes);
	orr_lock(&from->lock);
}

/* What room.c counts is in use by the application; the memory is locked. */
static void take(struct memory *memory, size_t bytes)
{
	memory->used_bytes += bytes;
	if (memory->is_booked)
		return;
	memory->pinned_bytes += bytes;
	memory->held_bytes += bytes;
}

int budget_take(struct node *node, unsigned memory, size_t bytes, int flags)
{
	struct memory *from = &node->memories[memory];
	int refused = 0;

	if (!(flags & (int)STARPU_MEMORY_OVERFLOW))
		lock_with_room(node, memory, bytes);
	else
		orr_lock(&from->lock);
	if (fits(from, bytes) || (flags & (int)STARPU_MEMORY_OVERFLOW)) {
		take(from, bytes);
	} else if (flags & (int)STARPU_MEMORY_WAIT) {
		wait_in_line(node, from, bytes, 1);
		return 0;
	} else {
		refused = 1;
	}
	orr_unlock(&from->lock);
	return refused ? -ENOMEM : 0;
}

void budget_give(struct node *node, unsigned memory, size_t bytes)
{
	struct memory *to = &node->memories[memory];

	orr_lock(&to->lock);
	to->used_bytes -= bytes;
	if (!to->is_booked) {
		to->pinned_bytes -= bytes;
		to->held_bytes -= bytes;
	}
	orr_unlock(&to->lock);
	room_serve(node, memory);
}

/* Those that fit; the memory is locked. */
static struct budget_waiter *take_ready(struct memory *to)
{
	struct budget_waiter *waiter, *ready = NULL, **last = &ready;

	while ((waiter = to->budget_waiters) && fits(to, waiter->bytes)) {
		orr_swap_ptr((void **)&to->budget_waiters, waiter->next);
		waiter->next = NULL;
		if (waiter->takes)
			take(to, waiter->bytes);
		*last = waiter;
		last = &waiter->next;
	}
	return ready;
}

size_t budget_wanted(const struct memory *memory)
{
	return memory->budget_waiters ? memory->budget_waiters->bytes : 0;
}

void budget_serve(struct node *node, unsigned memory)
{
	struct memory *to = &node->memories[memory];
	struct budget_waiter *waiter, *ready;

	if (!orr_load_ptr((void **)&to->budget_waiters))
		return;
	orr_lock(&to->lock);
	ready = take_ready(to);
	orr_unlock(&to->lock);
	while ((waiter = ready)) {
		ready = waiter->next; /* It is gone once its gate is open. */
		plat_gate_open(node->plat, &waiter->gate);
	}
}

void budget_wait(struct node *node, unsigned memory, size_t bytes)
{
	struct memory *from = &node->memories[memory];

	lock_with_room(node, memory, bytes);
	if (fits(from, bytes))
		orr_unlock(&from->lock);
	else
		wait_in_line(node, from, bytes, 0);
}

const char *budget_limit_name(const struct memory *memory)
{
	return memory->limit_name ? memory->limit_name : "the machine's own";
}

void budget_complain(struct node *node, unsigned memory, size_t bytes, const char *what)
{
	const struct memory *of = &node->memories[memory];

	if (of->capacity_bytes == 0)
		orr_die(node->rank,
			"no memory for %s: the system refuses %zu bytes for memory node "
			"%u, of which this program uses %zu: use smaller pieces, or "
			"unregister data that are no longer needed",
			what, bytes, memory, of->used_bytes);
	/* What was to come there is counted already. */
	if (of->used_bytes <= of->capacity_bytes)
		orr_die(node->rank,
			"no memory for %s: %zu bytes are refused in memory node %u, of "
			"which this program uses no more than %zu of the %zu that it "
			"may: others use it too; lower the limit (%s) to what they leave",
			what, bytes, memory, of->used_bytes, of->capacity_bytes,
			budget_limit_name(of));
	orr_die(node->rank,
		"no memory for %s: it needs %zu bytes in memory node %u, where %zu of "
		"%zu are in use: raise the limit (%s), or %s",
		what, bytes, memory, of->used_bytes, of->capacity_bytes,
		budget_limit_name(of),
		bytes > of->capacity_bytes ? "use smaller pieces"
					   : "unregister data that are no longer needed");
}
