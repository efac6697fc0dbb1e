/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/coherency.h"
#include "core/interfaces.h"
#include "core/lasting.h"

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
	return handle;
}

starpu_data_handle_t data_register(struct node *node, int home, const void *interface,
				   struct starpu_data_interface_ops *ops)
{
	starpu_data_handle_t handle = new_state(node, ops);

	*handle = (struct _starpu_data_state){.ops = ops,
					      .tag = -1,
					      .owner = -1,
					      .home = (signed char)home,
					      .node = node};
	handle->flags = node->lasting->default_sequential ? DATUM_SEQUENTIAL : 0;
	handle->interface = handle + 1;
	if (home == STARPU_MAIN_RAM)
		handle->flags |= DATUM_USER_MEMORY;
	orr_lock_init(&handle->lock);
	if (interface_is_ours(ops)) {
		if (ops->interface_size)
			memcpy(handle + 1, interface, ops->interface_size);
	} else {
		memset(handle + 1, 0, ops->interface_size);
		ops->register_data_handle(handle, home, (void *)interface);
	}
	return handle;
}

/* As registered: nobody uses it, its value is at home if it has one. */
static void init_body(struct data_body *body, starpu_data_handle_t handle)
{
	*body = (struct data_body){0};
	body->main.datum = handle;
	body->main.interface = handle->interface;
	body->has_value = handle->home >= 0;
	body->main.allocated = handle->home == STARPU_MAIN_RAM;
	body->valid = handle->home >= 0 ? memory_bit((unsigned)handle->home) : 0;
}

struct data_body *data_make_body(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	struct data_body *body;

	orr_lock(&node->pool_lock);
	body = pool_get(&node->body_pool);
	body->main.datum = NULL; /* not in use yet, for who walks over the pool */
	orr_unlock(&node->pool_lock);
	init_body(body, handle);
	if (!orr_cas_ptr((void **)&handle->body, NULL, body)) {
		/* Another thread was first. */
		orr_lock(&node->pool_lock);
		body->main.datum = NULL;
		pool_put(&node->body_pool, body);
		orr_unlock(&node->pool_lock);
		return orr_load_ptr((void **)&handle->body);
	}
	if (handle->home > STARPU_MAIN_RAM) {
		struct copy_state *copy = data_copy(handle, (unsigned)handle->home);

		memcpy(copy->interface, handle->interface, handle->ops->interface_size);
		copy->allocated = 1;
		copy->room = ROOM_USERS;
	}
	return body;
}

struct data_extra *data_extra(starpu_data_handle_t handle)
{
	struct data_body *body = data_body(handle);
	struct data_extra *extra = orr_load_ptr((void **)&body->extra);

	if (extra)
		return extra;
	extra = orr_alloc(sizeof(*extra));
	if (orr_cas_ptr((void **)&body->extra, NULL, extra))
		return extra;
	free(extra); /* Another thread was first. */
	return orr_load_ptr((void **)&body->extra);
}

struct copy_state *data_find_copy(starpu_data_handle_t handle, unsigned memory)
{
	struct data_body *body = data_body(handle);

	if (memory == STARPU_MAIN_RAM)
		return &body->main;
	return body->extra ? body->extra->copies[memory] : NULL;
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
		interface_clone(handle->ops, copy->interface, handle->interface);
	else if (handle->ops->init)
		handle->ops->init(copy->interface);
	data_extra(handle)->copies[memory] = copy;
	return copy;
}

static void free_extra(struct data_extra *extra)
{
	if (!extra)
		return;
	for (int i = 1; i < NODE_MAX_MEMORIES; i++)
		free(extra->copies[i]);
	free(extra->name);
	free(extra);
}

void data_free(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body = handle->body;

	ORR_ASSERT(!body || body->npending == 0);
	if (node->on_unregister)
		node->on_unregister(node, handle);
	if (!body || coherency_retire(handle, NULL))
		data_free_now(node, handle);
}

void data_free_now(struct node *node, starpu_data_handle_t handle)
{
	struct data_body *body = handle->body;
	int index = pool_index(handle->ops);

	if (handle->ops->unregister_data_handle)
		handle->ops->unregister_data_handle(handle);
	orr_lock(&node->pool_lock);
	if (body) {
		free_extra(body->extra);
		body->main.datum = NULL;
		pool_put(&node->body_pool, body);
	}
	handle->ops = NULL; /* Use after unregistration is recognised. */
	if (index >= 0)
		pool_put(&node->datum_pools[index], handle);
	orr_unlock(&node->pool_lock);
	if (index < 0)
		free(handle);
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
		handle->ops->describe(handle->interface, shape, sizeof(shape));
	if (handle->body && handle->body->extra && handle->body->extra->name)
		snprintf(text, bytes, "data \"%s\" (%s)", handle->body->extra->name,
			 shape);
	else if (handle->tag >= 0)
		snprintf(text, bytes, "data with tag %lld (%s)", (long long)handle->tag,
			 shape);
	else
		snprintf(text, bytes, "data %p (%s)", (void *)handle, shape);
	return text;
}
