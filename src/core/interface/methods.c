/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/methods.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"

typedef int method_func(void *from, unsigned from_memory, void *to, unsigned to_memory);

static method_func *from_ram(const struct starpu_data_copy_methods *methods,
			     enum starpu_node_kind to)
{
	switch (to) {
	case STARPU_CPU_RAM:
		return methods->ram_to_ram;
	case STARPU_CUDA_RAM:
		return methods->ram_to_cuda;
	case STARPU_HIP_RAM:
		return methods->ram_to_hip;
	case STARPU_OPENCL_RAM:
		return methods->ram_to_opencl;
	case STARPU_MAX_FPGA_RAM:
		return methods->ram_to_max_fpga;
	default:
		return NULL;
	}
}

static method_func *to_ram(const struct starpu_data_copy_methods *methods,
			   enum starpu_node_kind from)
{
	switch (from) {
	case STARPU_CUDA_RAM:
		return methods->cuda_to_ram;
	case STARPU_HIP_RAM:
		return methods->hip_to_ram;
	case STARPU_OPENCL_RAM:
		return methods->opencl_to_ram;
	case STARPU_MAX_FPGA_RAM:
		return methods->max_fpga_to_ram;
	default:
		return NULL;
	}
}

static method_func *within(const struct starpu_data_copy_methods *methods,
			   enum starpu_node_kind kind)
{
	switch (kind) {
	case STARPU_CUDA_RAM:
		return methods->cuda_to_cuda;
	case STARPU_HIP_RAM:
		return methods->hip_to_hip;
	case STARPU_OPENCL_RAM:
		return methods->opencl_to_opencl;
	default:
		return NULL;
	}
}

/* Methods see the bytes of a disk in memory: see core/disk/bytes.c. */
static enum starpu_node_kind kind_of(const struct node *node, unsigned memory)
{
	enum starpu_node_kind kind = node->memories[memory].kind;

	return kind == STARPU_DISK_RAM ? STARPU_CPU_RAM : kind;
}

static method_func *method_for(const struct starpu_data_copy_methods *methods,
			       enum starpu_node_kind from, enum starpu_node_kind to)
{
	if (from == STARPU_CPU_RAM)
		return from_ram(methods, to);
	if (to == STARPU_CPU_RAM)
		return to_ram(methods, from);
	return from == to ? within(methods, from) : NULL;
}

static void cannot(struct node *node, const struct plat_copy *copy, const char *why,
		   int ret) __attribute__((noreturn));

static void cannot(struct node *node, const struct plat_copy *copy, const char *why,
		   int ret)
{
	char what[128];

	orr_die(node->rank,
		"%s cannot be copied from memory node %u to %u: %s (%d); expected "
		"any_to_any, or the method for these two, in the copy_methods of its "
		"interface, to copy and to return 0",
		data_describe(copy->owner, what, sizeof(what)), copy->from, copy->to, why,
		ret);
}

/* Programs that know CUDA declare these with its type of streams. */
typedef int stream_method_func(void *from, unsigned from_memory, void *to,
			       unsigned to_memory, void *stream);

static stream_method_func *async_method(const struct node *node,
					const struct plat_copy *copy)
{
	const struct starpu_data_copy_methods *methods = copy->methods;
	int from_ram = kind_of(node, copy->from) == STARPU_CPU_RAM,
	    to_ram = kind_of(node, copy->to) == STARPU_CPU_RAM;
	int (*method)(void) = from_ram ? methods->ram_to_cuda_async
			      : to_ram ? methods->cuda_to_ram_async
				       : methods->cuda_to_cuda_async;

	return (stream_method_func *)(void *)method;
}

/* Returns what the method did. */
static int call(struct node *node, const struct plat_copy *copy, void *async_data)
{
	const struct starpu_data_copy_methods *methods = copy->methods;
	method_func *method = methods ? method_for(methods, kind_of(node, copy->from),
						   kind_of(node, copy->to))
				      : NULL;
	OUTSIDE(outside);
	int ret;

	outside_enter(&outside, node, "a copy method of an interface");
	if (copy->stream && async_data && async_method(node, copy))
		ret = async_method(node, copy)(copy->from_interface, copy->from,
					       copy->to_interface, copy->to,
					       copy->stream);
	else if (method)
		ret = method(copy->from_interface, copy->from, copy->to_interface,
			     copy->to);
	else if (methods && methods->any_to_any)
		ret = methods->any_to_any(copy->from_interface, copy->from,
					  copy->to_interface, copy->to, async_data);
	else
		cannot(node, copy, "its interface has no method for that", 0);
	outside_end(&outside);
	if (ret != 0 && ret != -EAGAIN)
		cannot(node, copy, "the method failed", ret);
	return ret;
}

void methods_copy(struct node *node, const struct plat_copy *copy)
{
	/* Whatever starpu_interface_copy() starts is done when it returns. */
	call(node, copy, NULL);
}

/* ---- copies that end later -------------------------------------------- */

struct copy_piece {
	struct copy_piece *next;
	struct layout from, to;
};

/* Who moves bytes that processors do not see at both ends, or NULL. */
static const struct memory_driver *mover(const struct node *node, unsigned from,
					 unsigned to)
{
	const struct memory_driver *in, *out;

	if (!node)
		return NULL;
	in = node->memories[to].driver;
	out = node->memories[from].driver;
	if (in->move)
		return in;
	return out->move ? out : NULL;
}

/* Programs may ask for copies that are done when the methods return. */
static int may_end_later(const struct node *node, const struct plat_copy *copy)
{
	const struct starpu_conf *conf = node->conf;
	const struct memory_driver *driver = mover(node, copy->from, copy->to);
	int is_cuda = node->memories[copy->from].kind == STARPU_CUDA_RAM ||
		      node->memories[copy->to].kind == STARPU_CUDA_RAM;

	if (driver && driver->is_far)
		return 1;
	return conf->disable_asynchronous_copy <= 0 &&
	       !(is_cuda && conf->disable_asynchronous_cuda_copy > 0);
}

void methods_start(struct node *node, struct plat_copy *copy)
{
	ORR_ASSERT(!copy->pieces);
	call(node, copy, may_end_later(node, copy) ? copy : NULL);
}

static int add_piece(struct plat_copy *copy, const struct layout *from,
		     const struct layout *to)
{
	struct copy_piece *piece = orr_alloc(sizeof(*piece));

	piece->from = *from;
	piece->to = *to;
	piece->next = copy->pieces;
	copy->pieces = piece;
	return -EAGAIN;
}

static int move_now(unsigned from_memory, unsigned to_memory, const struct layout *from,
		    const struct layout *to)
{
	const struct node *node = plat_self();
	const struct memory_driver *driver = mover(node, from_memory, to_memory);

	if (driver)
		driver->move(node->plat, from_memory, to_memory, from, to);
	else
		layout_copy(to, from);
	return 0;
}

int methods_start_piece(void *async_data, unsigned from_memory, unsigned to_memory,
			const struct layout *from, const struct layout *to)
{
	struct plat_copy *copy = async_data;

	/* As StarPU does it: who copies between main memories may look at the bytes. */
	if (!copy || (memory_is_main(plat_self(), copy->from) &&
		      memory_is_main(plat_self(), copy->to)))
		return move_now(from_memory, to_memory, from, to);
	return add_piece(copy, from, to);
}

int methods_move(void *async_data, unsigned from_memory, unsigned to_memory,
		 const struct layout *from, const struct layout *to)
{
	if (layout_bytes(from) == 0) /* Nothing may lie at NULL. */
		return 0;
	if (async_data && mover(plat_self(), from_memory, to_memory))
		return add_piece(async_data, from, to);
	return move_now(from_memory, to_memory, from, to);
}

/* They were noted newest first. */
static struct copy_piece *in_order(struct copy_piece *pieces)
{
	struct copy_piece *first = NULL;

	while (pieces) {
		struct copy_piece *piece = pieces;

		pieces = piece->next;
		piece->next = first;
		first = piece;
	}
	return first;
}

void methods_take_pieces(struct plat_copy *copy, methods_piece_func *take, void *arg)
{
	struct copy_piece *pieces = in_order(copy->pieces);

	copy->pieces = NULL;
	while (pieces) {
		struct copy_piece *piece = pieces;

		pieces = piece->next;
		take(arg, &piece->from, &piece->to);
		free(piece);
	}
}

static void copy_piece(void *arg, const struct layout *from, const struct layout *to)
{
	(void)arg;
	layout_copy(to, from);
}

void methods_end(struct plat_copy *copy)
{
	methods_take_pieces(copy, copy_piece, NULL);
}

int methods_can_copy(const struct copy_state *from, const struct copy_state *to)
{
	const struct starpu_data_copy_methods *methods = from->datum->ops->copy_methods;

	return !methods || !methods->can_copy ||
	       methods->can_copy(from->interface, from->memory, to->interface, to->memory,
				 to->memory);
}
