/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/payload.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/memory.h"
#include "core/interface/interface.h"
#include "core/interface/methods.h"
#include "core/outside.h"
#include "mpi/datatype.h"

static int executes(starpu_data_handle_t handle)
{
	return handle->node->machine->executes;
}

/*
 * Simulated without execution, values do not exist, but small ones are carried all the
 * same: a counter or a convergence test that the program's main reads stays right.
 */
int payload_is_carried(const struct node *node, size_t bytes)
{
	return node->machine->executes || bytes <= DATA_CARRIED_BYTES;
}

/* 1: by the application's datatype, in place. */
static int in_described_place(struct payload *payload, starpu_data_handle_t handle,
			      struct layout *layout)
{
	int is_known;

	if (payload->is_answered)
		payload->place = answered_place(payload->answer, handle, payload->memory);
	else
		payload->place = datatype_ask(handle->node->mpi, handle, payload->memory);
	payload->is_answered = 0;
	if (!payload->place)
		return 0;
	is_known = place_layout(payload->place, datatype_base(handle, payload->memory),
				layout) == 0;
	if (is_known) {
		place_free(payload->place);
		payload->place = NULL;
	}
	return is_known;
}

/* 0: it must be packed: as described, or by its interface. */
static int in_place(struct payload *payload, starpu_data_handle_t handle, unsigned memory)
{
	int is_known, is_carried;
	struct layout layout;
	size_t bytes;

	is_known = interface_layout(handle, memory, &layout);
	if (!is_known) {
		payload->memory = memory;
		is_known = in_described_place(payload, handle, &layout);
	}
	if (!is_known) {
		payload->is_packed = 1;
		return 0;
	}
	if (payload->is_answered)
		answer_free(payload->answer);
	bytes = layout_bytes(&layout);
	is_carried = payload_is_carried(handle->node, bytes);
	/* As a whole: a word that is read when a part of it has just been written makes
	 * the processor wait until all that was written before has left it. */
	*payload = (struct payload){.base = is_carried ? layout.base : NULL};
	payload->bytes = bytes;
	if (memory != STARPU_MAIN_RAM)
		payload->memory = memory;
	if (!is_carried)
		return 1;
	if (!layout_is_flat(&layout) && layout.base) {
		payload->strided = orr_alloc(sizeof(layout));
		*payload->strided = layout;
		payload->is_strided = 1;
	}
	return 1;
}

static void set_packed(struct payload *payload, void *buffer, size_t bytes)
{
	payload->base = buffer;
	payload->bytes = bytes;
}

static const char *name_of(starpu_data_handle_t handle)
{
	return handle->ops->name ? handle->ops->name : "user-defined interface";
}

static void cannot(starpu_data_handle_t handle, const char *what)
	__attribute__((noreturn));

static void cannot(starpu_data_handle_t handle, const char *what)
{
	char text[128];

	orr_die(handle->node->rank,
		"%s (%s) cannot travel: its interface has no working %s; define it in "
		"struct starpu_data_interface_ops",
		data_describe(handle, text, sizeof(text)), name_of(handle), what);
}

/* What the interface's function has said or done, which it should not. */
__attribute__((noreturn)) static void die_of_packing(starpu_data_handle_t handle,
						     int status, const void *buffer,
						     starpu_ssize_t bytes)
{
	char text[128];

	orr_die(handle->node->rank,
		"%s (%s): pack_data() of its interface has returned %d and packed %lld "
		"bytes at %p: expected 0, and so many bytes in memory of "
		"starpu_malloc_on_node_flags()",
		data_describe(handle, text, sizeof(text)), name_of(handle), status,
		(long long)bytes, buffer);
}

__attribute__((noreturn)) static void die_of_unpacking(starpu_data_handle_t handle,
						       int status, size_t bytes)
{
	char text[128];

	orr_die(handle->node->rank,
		"%s (%s): %s() of its interface has returned %d for a message of %zu "
		"bytes: expected 0, for what pack_data() of the sender's interface packs",
		data_describe(handle, text, sizeof(text)), name_of(handle),
		handle->ops->peek_data ? "peek_data" : "unpack_data", status, bytes);
}

static void die_of_datatype(starpu_data_handle_t handle, size_t bytes)
	__attribute__((noreturn));

static void die_of_datatype(starpu_data_handle_t handle, size_t bytes)
{
	char text[128];

	orr_die(handle->node->rank,
		"%s: a message of %zu bytes is not what the datatype of its interface "
		"describes; the function given to "
		"starpu_mpi_interface_datatype_register() must describe the same value "
		"on all ranks, each time",
		data_describe(handle, text, sizeof(text)), bytes);
}

static void *buffer_of(starpu_data_handle_t handle, size_t bytes)
{
	void *buffer = memory_allocate(handle->node, STARPU_MAIN_RAM, bytes, 0);

	if (!buffer && bytes > 0)
		orr_die(handle->node->rank, "no memory for a packed message of %zu bytes",
			bytes);
	return buffer;
}

static void pack_as_described(struct payload *payload, starpu_data_handle_t handle)
{
	size_t bytes = place_bytes(payload->place);
	void *buffer = executes(handle) ? buffer_of(handle, bytes) : NULL;

	if (buffer)
		place_gather(buffer, payload->place,
			     datatype_base(handle, payload->memory));
	set_packed(payload, buffer, bytes);
}

static int call_pack(starpu_data_handle_t handle, unsigned memory, void **buffer,
		     starpu_ssize_t *bytes)
{
	OUTSIDE(outside);
	int ret;

	outside_begin(&outside, handle->node, plat_caller(handle->node->plat),
		      "pack_data of an interface");
	ret = handle->ops->pack_data(handle, memory, buffer, bytes);
	outside_end(&outside);
	return ret;
}

void payload_of_send(struct payload *payload, starpu_data_handle_t handle,
		     unsigned memory)
{
	starpu_ssize_t bytes = -1;
	void *buffer = NULL;
	int status;

	if (in_place(payload, handle, memory))
		return;
	if (payload->place) {
		pack_as_described(payload, handle);
		return;
	}
	if (!handle->ops->pack_data)
		cannot(handle, "pack_data");
	if (!executes(handle)) {
		call_pack(handle, memory, NULL, &bytes);
		set_packed(payload, NULL, bytes < 0 ? data_bytes(handle) : (size_t)bytes);
		return;
	}
	status = call_pack(handle, memory, &buffer, &bytes);
	if (status != 0 || bytes < 0 || (bytes > 0 && !buffer))
		die_of_packing(handle, status, buffer, bytes);
	set_packed(payload, buffer, (size_t)bytes);
}

void payload_of_receive(struct payload *payload, starpu_data_handle_t handle,
			unsigned memory)
{
	if (in_place(payload, handle, memory) || payload->place)
		return;
	if (!handle->ops->unpack_data && !handle->ops->peek_data)
		cannot(handle, "unpack_data");
}

void payload_expect(struct payload *payload, starpu_data_handle_t handle, size_t bytes)
{
	set_packed(payload, executes(handle) ? buffer_of(handle, bytes) : NULL, bytes);
}

/* The former where there is one: it leaves the buffer to us. */
static int call_unpack(starpu_data_handle_t handle, unsigned memory, void *buffer,
		       size_t bytes)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	OUTSIDE(outside);
	int ret;

	outside_begin(&outside, handle->node, plat_caller(handle->node->plat),
		      ops->peek_data ? "peek_data of an interface"
				     : "unpack_data of an interface");
	ret = ops->peek_data ? ops->peek_data(handle, memory, buffer, bytes)
			     : ops->unpack_data(handle, memory, buffer, bytes);
	outside_end(&outside);
	return ret;
}

/* Returns what the interface's function does; it, or we, free the buffer. */
static int unpack(struct payload *payload, starpu_data_handle_t handle, size_t bytes)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	void *buffer = payload->base;
	int ret = 0;

	payload->base = NULL;
	if (!payload->place && !ops->peek_data)
		return call_unpack(handle, payload->memory, buffer, bytes);
	if (!payload->place)
		ret = call_unpack(handle, payload->memory, buffer, bytes);
	else if (place_bytes(payload->place) == bytes)
		place_scatter(payload->place, datatype_base(handle, payload->memory),
			      buffer);
	else
		die_of_datatype(handle, bytes);
	memory_free(handle->node, STARPU_MAIN_RAM, buffer, bytes, 0);
	return ret;
}

void payload_fill(struct payload *payload, void *body)
{
	struct layout flat, layout;

	payload_layout(payload, &layout);
	if (payload->memory < (unsigned)plat_self()->nmains || !layout.base) {
		layout_scatter(&layout, body);
		return;
	}
	layout_flat(&flat, body, payload->bytes);
	methods_move(NULL, STARPU_MAIN_RAM, payload->memory, &flat, &layout);
}

void payload_received(struct payload *payload, starpu_data_handle_t handle)
{
	int status;

	if (!payload->is_packed)
		return;
	status = executes(handle) ? unpack(payload, handle, payload->bytes) : 0;
	if (status != 0)
		die_of_unpacking(handle, status, payload->bytes);
	place_free(payload->place);
	payload->place = NULL;
}

void payload_sent(struct payload *payload, starpu_data_handle_t handle)
{
	if (!payload->is_packed)
		return;
	place_free(payload->place);
	payload->place = NULL;
	if (!payload->base)
		return;
	memory_free(handle->node, STARPU_MAIN_RAM, payload->base, payload->bytes, 0);
	payload->base = NULL;
}

void payload_free(struct payload *payload)
{
	if (payload->is_strided)
		free(payload->strided);
	payload->is_strided = 0;
}
