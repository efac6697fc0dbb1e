/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/copies.h"

#include "core/data/buffers.h"
#include "core/data/mapped.h"
#include "core/data/room.h"

/* What the application's flags leave out of the account takes no room. */
void copy_measure(struct copy_state *copy)
{
	const struct memory *memory = &copy->datum->node->memories[copy->memory];
	int counts = copy->memory != STARPU_MAIN_RAM ||
		     (memory->default_flags & (int)STARPU_MALLOC_COUNT);

	if (!copy_is_own(copy))
		room_measure(copy, counts ? data_alloc_bytes(copy->datum) : 0);
}

void copy_use(struct copy_state *copy)
{
	if (copy_is_own(copy))
		copy->refs++;
	else
		room_use(copy);
}

void copy_unuse_room(struct copy_state *copy, const struct access *access)
{
	room_unuse(copy, access,
		   !copy_is_valid(copy) || (data_flags(copy->datum) & DATUM_UNIMPORTANT));
}

int copy_reserve(struct copy_state *copy)
{
	if (mapped_bytes(copy)->incoming)
		return 0;
	if (copy_is_own(copy)) {
		copy->refs++;
		return 1;
	}
	copy_measure(copy);
	return room_try(copy);
}

void copy_give_back(struct copy_state *copy)
{
	if (copy_is_own(copy))
		copy->refs--;
	else
		room_abandon(copy);
}

int copy_is_in_use(struct copy_state *copy)
{
	if (copy->incoming || copy->awaits_room)
		return 1;
	return copy_is_own(copy) ? copy->refs > 0 : room_is_taken(copy);
}

void copy_free_going(struct copy_state *copy)
{
	struct data_body *body = copy->datum->body;
	uint64_t others = ~memory_bit(copy->memory);

	if (copy_is_valid(copy))
		orr_add(&copy->datum->node->memories[copy->memory].nlost, 1);
	data_set_memories(&body->valid, body->valid & others);
	data_set_memories(&body->promised, body->promised & others);
	buffers_free(copy);
	room_gone(copy);
}

void copy_release(struct copy_state *copy)
{
	if (!copy_is_own(copy)) {
		if (room_take(copy))
			copy_free_going(copy);
	} else if (!(data_flags(copy->datum) & DATUM_USER_MEMORY) && !copy->incoming &&
		   copy->refs == 0) {
		buffers_free(copy);
	}
}

void copies_forget_value(struct data_body *body)
{
	data_set_memories(&body->valid, 0);
	data_set_memories(&body->arriving, 0);
	data_set_memories(&body->promised, 0);
	body->epoch++;
}

void copies_demote(starpu_data_handle_t datum, uint64_t memories)
{
	for (; memories; memories &= memories - 1) {
		struct copy_state *copy =
			data_find_copy(datum, (unsigned)__builtin_ctzll(memories));

		if (!copy_is_own(copy))
			room_demote(copy);
	}
}
