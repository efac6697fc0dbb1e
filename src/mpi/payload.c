/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/payload.h"

#include <string.h>

#include "base/check.h"
#include "core/data/memory.h"
#include "core/interface/interface.h"

static int executes(starpu_data_handle_t handle)
{
	return handle->node->machine->executes;
}

/*
 * Simulated without execution, values do not exist, but small ones are carried all the
 * same: a counter or a convergence test that the program's main reads stays right.
 */
enum { PAYLOAD_CARRIED_BYTES = 4096 };

int payload_is_carried(const struct node *node, size_t bytes)
{
	return node->machine->executes || bytes <= PAYLOAD_CARRIED_BYTES;
}

static int in_place(struct payload *payload, starpu_data_handle_t handle, unsigned memory)
{
	struct layout *layout = &payload->layout;

	memset(payload, 0, sizeof(*payload));
	payload->memory = memory;
	if (!interface_layout(handle, memory, layout)) {
		payload->is_packed = 1;
		return 0;
	}
	if (!payload_is_carried(handle->node, layout_bytes(layout)))
		layout->base = NULL;
	return 1;
}

static void set_packed(struct payload *payload, void *buffer, size_t bytes)
{
	payload->packed = buffer;
	layout_flat(&payload->layout, buffer, bytes);
}

static void cannot(starpu_data_handle_t handle, const char *what)
	__attribute__((noreturn));

static void cannot(starpu_data_handle_t handle, const char *what)
{
	char text[128];

	orr_die(handle->node->rank,
		"%s (%s) cannot travel: its interface has no working %s; define it in "
		"struct starpu_data_interface_ops",
		data_describe(handle, text, sizeof(text)),
		handle->ops->name ? handle->ops->name : "user-defined interface", what);
}

void payload_of_send(struct payload *payload, starpu_data_handle_t handle,
		     unsigned memory)
{
	starpu_ssize_t bytes = -1;
	void *buffer = NULL;

	if (in_place(payload, handle, memory))
		return;
	if (!handle->ops->pack_data)
		cannot(handle, "pack_data");
	if (!executes(handle)) {
		handle->ops->pack_data(handle, memory, NULL, &bytes);
		set_packed(payload, NULL, bytes < 0 ? data_bytes(handle) : (size_t)bytes);
		return;
	}
	if (handle->ops->pack_data(handle, memory, &buffer, &bytes) != 0 || bytes < 0)
		cannot(handle, "pack_data");
	set_packed(payload, buffer, (size_t)bytes);
}

void payload_of_receive(struct payload *payload, starpu_data_handle_t handle,
			unsigned memory)
{
	if (in_place(payload, handle, memory))
		return;
	if (!handle->ops->unpack_data && !handle->ops->peek_data)
		cannot(handle, "unpack_data");
}

void payload_expect(struct payload *payload, starpu_data_handle_t handle, size_t bytes)
{
	void *buffer = NULL;

	if (executes(handle)) {
		buffer = memory_allocate(handle->node, STARPU_MAIN_RAM, bytes, 0);
		if (!buffer && bytes > 0)
			orr_die(handle->node->rank,
				"no memory for a packed message of %zu bytes", bytes);
	}
	set_packed(payload, buffer, bytes);
}

void payload_received(struct payload *payload, starpu_data_handle_t handle)
{
	size_t bytes = layout_bytes(&payload->layout);
	void *buffer = payload->packed;
	int ret;

	if (!payload->is_packed || !executes(handle))
		return;
	payload->packed = NULL;
	if (handle->ops->peek_data) {
		ret = handle->ops->peek_data(handle, payload->memory, buffer, bytes);
		memory_free(handle->node, STARPU_MAIN_RAM, buffer, bytes, 0);
	} else {
		ret = handle->ops->unpack_data(handle, payload->memory, buffer, bytes);
	}
	if (ret != 0)
		cannot(handle, "unpack_data");
}

void payload_sent(struct payload *payload, starpu_data_handle_t handle)
{
	if (!payload->packed)
		return;
	memory_free(handle->node, STARPU_MAIN_RAM, payload->packed,
		    layout_bytes(&payload->layout), 0);
	payload->packed = NULL;
}
