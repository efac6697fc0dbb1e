/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Values and data that end, and where a value is. */
#include "core/data/coherency.h"

#include "core/data/buffers.h"
#include "core/data/copies.h"
#include "core/data/room.h"

/* ---- ends ------------------------------------------------------------ */

static int is_in_use(starpu_data_handle_t datum)
{
	for (int i = 0; i < node_nmemories(datum->node); i++) {
		struct copy_state *copy = data_find_copy(datum, (unsigned)i);

		if (copy && copy_is_in_use(copy))
			return 1;
	}
	return 0;
}

/* The datum is locked.  Forget the value, free what nobody uses. */
static void wipe(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;

	body->has_value = 0;
	copies_forget_value(body);
	copy_release(&body->main);
	for (int i = 1; body->first_copy && i < node_nmemories(datum->node); i++) {
		struct copy_state *copy = data_find_copy(datum, (unsigned)i);

		if (copy)
			copy_release(copy);
	}
}

void coherency_unlock_used(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;
	struct node *node = datum->node;
	struct plat_gate *gate = NULL;
	int over = 0;

	if (!body->has_value)
		copy_release(&body->main);
	if (body->retired) {
		wipe(datum);
		over = !is_in_use(datum);
		gate = body->retiring;
	}
	orr_unlock(&datum->lock);
	if (!over)
		return;
	if (gate)
		plat_gate_open(node->plat, gate);
	else
		data_free_now(node, datum);
}

void coherency_serve_all(struct node *node)
{
	for (int i = 0; i < node_nmemories(node); i++)
		room_serve(node, (unsigned)i);
}

int coherency_retire(starpu_data_handle_t handle, struct plat_gate *gate)
{
	struct node *node = handle->node;
	int over;

	orr_lock(&handle->lock);
	handle->body->retired = 1;
	handle->body->retiring = gate;
	wipe(handle);
	over = !is_in_use(handle);
	orr_unlock(&handle->lock);
	coherency_serve_all(node);
	return over;
}

void coherency_invalidate(starpu_data_handle_t handle, int release)
{
	struct data_body *body = data_body(handle);

	orr_lock(&handle->lock);
	if (release) {
		wipe(handle);
	} else {
		body->has_value = 0;
		copies_forget_value(body);
	}
	orr_unlock(&handle->lock);
	coherency_serve_all(handle->node);
}

/* ---- places ---------------------------------------------------------- */

unsigned coherency_main_memory(starpu_data_handle_t handle)
{
	unsigned haven = data_haven(handle);
	uint64_t valid;

	if (handle->node->nmains == 1)
		return haven;
	orr_lock(&handle->lock);
	valid = data_body(handle)->valid &
		(memory_bit((unsigned)handle->node->nmains) - 1);
	orr_unlock(&handle->lock);
	return !valid || (valid & memory_bit(haven)) ? haven
						     : (unsigned)__builtin_ctzll(valid);
}

int coherency_device_memory(starpu_data_handle_t handle, uint64_t memories, int replaces)
{
	uint64_t mains = memory_bit((unsigned)handle->node->nmains) - 1, found = 0;
	const struct data_body *body;

	orr_lock(&handle->lock);
	body = data_body(handle);
	if (!replaces && !(body->valid & mains))
		found = body->valid & memories;
	for (uint64_t set = replaces ? memories : 0; set; set &= set - 1) {
		unsigned memory = (unsigned)__builtin_ctzll(set);
		const struct copy_state *copy = data_find_copy(handle, memory);

		if (copy && copy->allocated)
			found |= memory_bit(memory);
	}
	orr_unlock(&handle->lock);
	return found ? __builtin_ctzll(found) : -1;
}
