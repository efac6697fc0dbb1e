/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/coherency.h"
#include "core/interfaces.h"

/* Sizes of interfaces served by pools, in steps; larger ones come from orr_alloc(). */
enum { DATA_POOL_STEP = 32, DATA_POOLS = 8 };

static int pool_index(const struct starpu_data_interface_ops *ops)
{
	size_t index = (ops->interface_size + DATA_POOL_STEP - 1) / DATA_POOL_STEP;

	return index < DATA_POOLS ? (int)index : -1;
}

static starpu_data_handle_t new_state(struct node *node,
				      const struct starpu_data_interface_ops *ops)
{
	int index = pool_index(ops);
	size_t bytes = sizeof(struct _starpu_data_state) + ops->interface_size;
	starpu_data_handle_t handle;

	if (index < 0)
		return orr_alloc(bytes);
	orr_lock(&node->pool_lock);
	if (!node->datum_pools[index].object_bytes) {
		pool_init(&node->datum_pools[index],
			  sizeof(*handle) + (size_t)index * DATA_POOL_STEP);
		node->datum_pools[index].store = &node->world->store;
	}
	handle = pool_get(&node->datum_pools[index]);
	orr_unlock(&node->pool_lock);
	memset(handle, 0, bytes);
	return handle;
}

starpu_data_handle_t data_register(struct node *node, int home, const void *interface,
				   struct starpu_data_interface_ops *ops)
{
	starpu_data_handle_t handle = new_state(node, ops);

	handle->ops = ops;
	handle->tag = -1;
	handle->owner = -1;
	handle->home = (signed char)home;
	handle->node = node;
	handle->flags = node->default_sequential ? DATUM_SEQUENTIAL : 0;
	orr_lock_init(&handle->lock);
	handle->main.datum = handle;
	handle->main.interface = handle + 1;
	if (interface_is_ours(ops))
		memcpy(handle + 1, interface, ops->interface_size);
	else
		ops->register_data_handle(handle, home, (void *)interface);
	if (home >= 0) {
		struct copy_state *copy = data_copy(handle, (unsigned)home);

		copy->allocated = copy->valid = 1;
		handle->has_value = 1;
		if (home == STARPU_MAIN_RAM)
			handle->flags |= DATUM_USER_MEMORY;
	}
	return handle;
}

struct data_extra *data_extra(starpu_data_handle_t handle)
{
	if (!handle->extra)
		handle->extra = orr_alloc(sizeof(*handle->extra));
	return handle->extra;
}

struct copy_state *data_find_copy(starpu_data_handle_t handle, unsigned memory)
{
	if (memory == STARPU_MAIN_RAM)
		return &handle->main;
	return handle->extra ? handle->extra->copies[memory] : NULL;
}

struct copy_state *data_copy(starpu_data_handle_t handle, unsigned memory)
{
	struct copy_state *copy = data_find_copy(handle, memory);

	if (copy)
		return copy;
	ORR_ASSERT(memory < NODE_MAX_MEMORIES);
	copy = orr_alloc(sizeof(*copy) + handle->ops->interface_size);
	copy->datum = handle;
	copy->memory = (unsigned char)memory;
	copy->interface = copy + 1;
	if (interface_is_ours(handle->ops))
		interface_clone(handle->ops, copy->interface, handle->main.interface);
	else if (handle->ops->init)
		handle->ops->init(copy->interface);
	data_extra(handle)->copies[memory] = copy;
	return copy;
}

void data_free(struct node *node, starpu_data_handle_t handle)
{
	int index = pool_index(handle->ops);

	ORR_ASSERT(handle->npending == 0);
	if (node->on_unregister)
		node->on_unregister(node, handle);
	coherency_invalidate(handle, 1);
	if (handle->ops->unregister_data_handle)
		handle->ops->unregister_data_handle(handle);
	if (handle->extra) {
		for (int i = 1; i < NODE_MAX_MEMORIES; i++)
			free(handle->extra->copies[i]);
		free(handle->extra->name);
		free(handle->extra);
	}
	if (index < 0) {
		free(handle);
		return;
	}
	handle->ops = NULL; /* Use after unregistration is recognised. */
	orr_lock(&node->pool_lock);
	pool_put(&node->datum_pools[index], handle);
	orr_unlock(&node->pool_lock);
}

size_t data_bytes(starpu_data_handle_t handle)
{
	return handle->ops->get_size(handle);
}

const char *data_describe(starpu_data_handle_t handle, char *text, size_t bytes)
{
	char shape[64] = "?";

	if (!handle || !handle->ops) {
		snprintf(text, bytes, "data %p (not registered)", (void *)handle);
		return text;
	}
	if (handle->ops->describe)
		handle->ops->describe(handle->main.interface, shape, sizeof(shape));
	if (handle->extra && handle->extra->name)
		snprintf(text, bytes, "data \"%s\" (%s)", handle->extra->name, shape);
	else if (handle->tag >= 0)
		snprintf(text, bytes, "data with tag %lld (%s)", (long long)handle->tag,
			 shape);
	else
		snprintf(text, bytes, "data %p (%s)", (void *)handle, shape);
	return text;
}
