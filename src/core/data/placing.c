/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/buffers.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/room.h"

/* placing.c - data that share their bytes with others: see coherency.h. */

void coherency_hold(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy;

	if (memory != STARPU_MAIN_RAM)
		return; /* The application's. */
	orr_lock(&handle->lock);
	copy = data_copy(handle, memory);
	copy_measure(copy);
	if (copy_is_own(copy))
		copy->refs++;
	else
		room_hold(copy);
	buffers_allocate(copy);
	orr_unlock(&handle->lock);
	room_serve(handle->node, memory);
}

void coherency_let(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy = &data_body(handle)->main;

	if (memory != STARPU_MAIN_RAM)
		return;
	orr_lock(&handle->lock);
	if (copy_is_own(copy))
		copy->refs--;
	else
		room_let(copy, !copy_is_valid(copy));
	if (!handle->body->has_value)
		copy_release(copy);
	orr_unlock(&handle->lock);
	room_serve(handle->node, memory);
}

void coherency_place(starpu_data_handle_t handle, unsigned memory, int has_value)
{
	struct data_body *body = data_body(handle);

	orr_lock(&handle->lock);
	copies_forget_value(body);
	body->has_value = (unsigned char)(has_value != 0);
	if (has_value)
		data_set_memories(&body->valid, memory_bit(memory));
	orr_unlock(&handle->lock);
}

void coherency_displace(starpu_data_handle_t handle)
{
	struct data_body *body = data_body(handle);
	uint64_t stale;

	orr_lock(&handle->lock);
	stale = body->valid;
	copies_forget_value(body);
	body->has_value = 0;
	copies_demote(handle, stale);
	orr_unlock(&handle->lock);
}
