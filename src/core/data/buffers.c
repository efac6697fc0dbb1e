/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/kept.h"
#include "core/data/room.h"
#include "core/outside.h"

void buffers_tell(const struct copy_state *copy, enum event_kind kind)
{
	starpu_data_handle_t datum = copy->datum;

	if (events_want(&datum->node->events, kind))
		event_tell(datum->node, NULL,
			   (struct event){.kind = (uint8_t)kind,
					  .n = copy->memory,
					  .id = (uintptr_t)datum,
					  .value = data_alloc_bytes(datum)});
}

/* Room.c has counted the bytes: an interface of the application's does not book them. */
static struct plat_caller *begin_counted(const struct copy_state *copy)
{
	struct node *node = copy->datum->node;
	struct plat_caller *caller = plat_caller(node->plat);

	caller->has_room = !node->memories[copy->memory].is_booked;
	return caller;
}

static starpu_ssize_t call_allocate(const struct copy_state *copy)
{
	const starpu_data_handle_t datum = copy->datum;
	OUTSIDE(outside);
	starpu_ssize_t bytes;

	outside_enter_ops(&outside, datum->node, datum->ops,
			  "allocate_data_on_node of an interface");
	bytes = datum->ops->allocate_data_on_node(copy->interface, copy->memory);
	outside_end(&outside);
	return bytes;
}

static void call_free(const struct copy_state *copy)
{
	const starpu_data_handle_t datum = copy->datum;
	OUTSIDE(outside);

	outside_enter_ops(&outside, datum->node, datum->ops,
			  "free_data_on_node of an interface");
	datum->ops->free_data_on_node(copy->interface, copy->memory);
	outside_end(&outside);
}

static starpu_ssize_t try_allocate(struct copy_state *copy)
{
	struct plat_caller *caller = begin_counted(copy);
	starpu_ssize_t bytes = call_allocate(copy);

	caller->has_room = 0;
	return bytes;
}

static int allocate(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	char what[128];

	if (!datum->ops->allocate_data_on_node)
		orr_die(datum->node->rank,
			"%s needs memory in memory node %u, and its interface has no "
			"allocate_data_on_node; define it in struct "
			"starpu_data_interface_ops",
			data_describe(datum, what, sizeof(what)), copy->memory);
	kept_make_way(datum->node, copy->memory, 0);
	return try_allocate(copy) >= 0;
}

int buffers_try(struct copy_state *copy)
{
	if (copy->allocated)
		return 1;
	if (!kept_take(copy) && !allocate(copy))
		return 0;
	copy->allocated = 1;
	buffers_tell(copy, EVENT_ALLOCATED);
	return 1;
}

void buffers_allocate(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	char what[128];

	if (!buffers_try(copy))
		budget_complain(datum->node, copy->memory, data_alloc_bytes(datum),
				data_describe(datum, what, sizeof(what)));
}

void buffers_free(struct copy_state *copy)
{
	if (!copy->allocated)
		return;
	buffers_tell(copy, EVENT_FREED);
	if (!kept_put(copy)) {
		struct plat_caller *caller = begin_counted(copy);

		call_free(copy);
		caller->has_room = 0;
	}
	copy->allocated = 0;
}

/* The loan is what the interface was before. */
void *buffers_lend(struct copy_state *copy)
{
	const struct starpu_data_interface_ops *ops = copy->datum->ops;
	struct plat_caller *caller = plat_caller(copy->datum->node->plat);
	starpu_ssize_t bytes;
	void *loan;

	if (copy->allocated || !ops->allocate_data_on_node)
		return NULL;
	loan = orr_alloc(ops->interface_size);
	memcpy(loan, copy->interface, ops->interface_size);
	caller->has_room = 1;
	bytes = call_allocate(copy);
	caller->has_room = 0;
	if (bytes >= 0)
		return loan;
	memcpy(copy->interface, loan, ops->interface_size);
	free(loan);
	return NULL;
}

void buffers_end_loan(struct copy_state *copy, void *loan)
{
	const struct starpu_data_interface_ops *ops = copy->datum->ops;
	struct plat_caller *caller = plat_caller(copy->datum->node->plat);

	if (!loan)
		return;
	caller->has_room = 1;
	call_free(copy);
	caller->has_room = 0;
	memcpy(copy->interface, loan, ops->interface_size);
	free(loan);
}

struct copy_state *buffers_scratch(starpu_data_handle_t datum, unsigned memory)
{
	struct copy_state *copy = orr_alloc(sizeof(*copy) + datum->ops->interface_size);

	copy->datum = datum;
	copy->memory = (unsigned char)memory;
	copy->interface = copy + 1;
	data_fill_interface(datum, copy->interface);
	return copy;
}

void buffers_end_scratch(struct copy_state *copy)
{
	int is_counted = !copy->datum->node->memories[copy->memory].is_booked;

	if (is_counted)
		room_close(copy);
	buffers_free(copy);
	if (is_counted)
		room_gone(copy);
	free(copy);
}
