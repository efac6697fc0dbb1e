/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/budget.h"

#include <errno.h>

#include "base/check.h"
#include "core/data/kept.h"
#include "core/data/room.h"

#define WINDOW_S 1e-3 /* the first one's end */
#define LOOK_S   1e-3

struct budget_waiter {
	struct budget_waiter *next;
	size_t bytes;
	int takes; /* what it waits for */
	double since_s;
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
	struct budget_waiter waiter = {
		.bytes = bytes, .takes = takes, .since_s = plat_now_s(node->plat)};
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

/* The end of the window at now_s, if newcomers have to keep off in it, else 0.  Windows
 * are twice as long as the ones before, and every other one is shut. */
static double window_shut_s(const struct memory *memory, double now_s)
{
	const struct budget_waiter *waiter = memory->budget_waiters;
	double end_s = WINDOW_S;
	int is_shut = 0;

	while (waiter && waiter->bytes > memory->capacity_bytes)
		waiter = waiter->next;
	if (!waiter)
		return 0;
	for (; waiter->since_s + end_s <= now_s; end_s *= 2)
		is_shut = !is_shut;
	return is_shut ? waiter->since_s + end_s : 0;
}

/*
 * Requests that fit pass those that do not, else who holds memory and asks for more
 * would wait for one that waits for what it holds.  So that a large one does not wait
 * for ever behind small ones that overlap, newcomers keep off at times until those that
 * hold memory, and those in line, have given back what they have.  Nobody knows who
 * holds what: a newcomer may, so it keeps off for one window and no longer.
 */
static void give_way(struct node *node, struct memory *memory)
{
	double until_s = 0, shut_s, now_s;

	while (orr_load_ptr((void **)&memory->budget_waiters)) {
		now_s = plat_now_s(node->plat);
		orr_lock(&memory->lock);
		shut_s = window_shut_s(memory, now_s);
		orr_unlock(&memory->lock);
		if (!until_s)
			until_s = shut_s;
		if (!shut_s || now_s >= until_s)
			return;
		plat_sleep(node->plat, LOOK_S);
	}
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

	if ((flags & (int)STARPU_MEMORY_WAIT) && !(flags & (int)STARPU_MEMORY_OVERFLOW))
		give_way(node, from);
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

/* Those that fit, in the order in which they came; the memory is locked. */
static struct budget_waiter *take_ready(struct memory *to)
{
	struct budget_waiter **at = &to->budget_waiters;
	struct budget_waiter *waiter, *ready = NULL, **last = &ready;

	while ((waiter = *at)) {
		if (!fits(to, waiter->bytes)) {
			at = &waiter->next;
			continue;
		}
		orr_swap_ptr((void **)at, waiter->next);
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
