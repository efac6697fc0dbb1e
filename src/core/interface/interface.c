/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "core/data/mapped.h"
#include "core/data/memory.h"
#include "core/interface/methods.h"

/* ---- the table ------------------------------------------------------- */

static const struct interface_kind *const kinds[STARPU_MAX_INTERFACE_ID] = {
	[STARPU_BCSR_INTERFACE_ID] = &interface_bcsr,
	[STARPU_BLOCK_INTERFACE_ID] = &interface_block,
	[STARPU_COO_INTERFACE_ID] = &interface_coo,
	[STARPU_CSR_INTERFACE_ID] = &interface_csr,
	[STARPU_MATRIX_INTERFACE_ID] = &interface_matrix,
	[STARPU_MULTIFORMAT_INTERFACE_ID] = &interface_multiformat,
	[STARPU_NDIM_INTERFACE_ID] = &interface_ndim,
	[STARPU_TENSOR_INTERFACE_ID] = &interface_tensor,
	[STARPU_VARIABLE_INTERFACE_ID] = &interface_variable,
	[STARPU_VECTOR_INTERFACE_ID] = &interface_vector,
	[STARPU_VOID_INTERFACE_ID] = &interface_void,
};

static const struct interface_kind *kind_numbered(int id)
{
	return id >= 0 && id < STARPU_MAX_INTERFACE_ID ? kinds[id] : NULL;
}

/* Is what is packed the bytes of the kind's layout? */
static int packs_as(const struct starpu_data_interface_ops *ops,
		    const struct interface_kind *kind)
{
	return kind && kind->layout && ops->pack_data == kind->pack &&
	       ops->peek_data == kind->peek && ops->unpack_data == kind->unpack;
}

/* Interfaces of the application's may have the functions of one of ours. */
static const struct interface_kind *
kind_packed(const struct starpu_data_interface_ops *ops)
{
	const struct interface_kind *own = kind_numbered(ops->interfaceid);

	if (packs_as(ops, own))
		return own;
	for (int i = 0; i < STARPU_MAX_INTERFACE_ID; i++)
		if (packs_as(ops, kinds[i]))
			return kinds[i];
	return NULL;
}

int interface_layout(starpu_data_handle_t handle, unsigned memory, struct layout *layout)
{
	const struct interface_kind *kind = kind_packed(handle->ops);
	const void *interface;

	if (!kind)
		return 0;
	interface = data_copy(handle, memory)->interface;
	return kind->layout(interface, interface, layout) == 0;
}

int interface_layouts(const struct starpu_data_copy_methods *methods, const void *from,
		      const void *to, struct layout *source, struct layout *target)
{
	for (int i = 0; i < STARPU_MAX_INTERFACE_ID; i++) {
		const struct interface_kind *kind = kinds[i];

		if (kind && kind->methods && kind->methods == methods)
			return kind->layout(from, from, source) == 0 &&
			       kind->layout(from, to, target) == 0;
	}
	return 0;
}

static int id_in_struct(starpu_data_handle_t handle)
{
	if (handle->ops->interface_size < sizeof(enum starpu_data_interface_id))
		return STARPU_UNKNOWN_INTERFACE_ID;
	return *(const enum starpu_data_interface_id *)handle->interface;
}

size_t interface_element_bytes(starpu_data_handle_t handle)
{
	const struct interface_kind *kind = kind_numbered(handle->ops->interfaceid);

	if (!kind && interface_is_plain(handle->ops))
		kind = kind_numbered(id_in_struct(handle));
	return kind && kind->element_bytes ? kind->element_bytes(handle->interface) : 0;
}

int interface_is(starpu_data_handle_t handle, enum starpu_data_interface_id id)
{
	return handle->ops->interfaceid == id || id_in_struct(handle) == (int)id;
}

/* ---- registration ---------------------------------------------------- */

void interface_copy_shape(void *to, const void *from, size_t bytes)
{
	struct plain_head *head = to;

	if (bytes < sizeof(*head))
		return; /* Without content. */
	*head = (struct plain_head){.id = ((const struct plain_head *)from)->id};
	memcpy(head + 1, (const struct plain_head *)from + 1, bytes - sizeof(*head));
}

void interface_register_plain(starpu_data_handle_t handle, int home, void *interface)
{
	size_t bytes = handle->ops->interface_size;

	for (unsigned memory = 0; memory < NODE_MAX_MEMORIES; memory++) {
		void *slot = data_interface(handle, memory);

		if (bytes && (int)memory == home)
			memcpy(slot, interface, bytes);
		else
			interface_copy_shape(slot, interface, bytes);
	}
}

/* ---- memory ---------------------------------------------------------- */

/* Operations are given no node, and the application calls them, too. */
static struct node *node_of_caller(void)
{
	struct node *node = plat_self();

	if (!node)
		orr_die(ORR_NO_RANK, "an operation of a data interface was called while "
				     "the library is not initialised; call "
				     "starpu_init() before it");
	return node;
}

enum starpu_node_kind interface_memory_kind(unsigned memory)
{
	return node_of_caller()->memories[memory].kind;
}

int interface_has_memory(const struct node *node, enum starpu_node_kind kind)
{
	for (int i = 0; i < node_nmemories(node); i++)
		if (node->memories[i].kind == kind)
			return 1;
	return 0;
}

/* What room.c has counted is not booked by who allocates it. */
static int flags_of(const struct node *node, unsigned memory)
{
	const struct memory *of = &node->memories[memory];

	return of->is_booked ? of->default_flags
			     : of->default_flags & ~(int)STARPU_MALLOC_COUNT;
}

uintptr_t interface_get(unsigned memory, size_t bytes)
{
	struct node *node = node_of_caller();

	return (uintptr_t)memory_allocate(node, memory, bytes, flags_of(node, memory));
}

void interface_put(unsigned memory, uintptr_t ptr, size_t bytes)
{
	struct node *node = node_of_caller();

	memory_free(node, memory, (void *)ptr, bytes, flags_of(node, memory));
}

int interface_is_in_main(unsigned memory)
{
	return memory_is_main(node_of_caller(), memory);
}

void *interface_buffer_get(unsigned memory, size_t bytes)
{
	return memory_allocate(node_of_caller(), memory, bytes, 0);
}

void interface_buffer_put(unsigned memory, void *buffer, size_t bytes)
{
	memory_free(node_of_caller(), memory, buffer, bytes, 0);
}

starpu_ssize_t interface_allocate(void *interface, unsigned memory, size_t bytes)
{
	struct plain_head *head = interface;
	uintptr_t ptr = interface_get(memory, bytes);

	if (!ptr && bytes)
		return -ENOMEM;
	head->ptr = head->dev_handle = ptr;
	head->offset = 0;
	return (starpu_ssize_t)bytes;
}

uint32_t interface_stride(size_t nelements, size_t count)
{
	const struct node *node;

	if (nelements <= UINT32_MAX || count <= 1)
		return (uint32_t)nelements;
	node = node_of_caller();
	if (node->machine->executes)
		orr_die(node->rank,
			"a copy of a datum of several dimensions has parts of one of "
			"them %zu elements apart, and strides (ldz, ldt, ldn) have 32 "
			"bits, as in StarPU: register it as several data, or with "
			"larger elements",
			nelements);
	return (uint32_t)nelements; /* Nothing lies there. */
}

void interface_free(void *interface, unsigned memory, size_t bytes)
{
	struct plain_head *head = interface;

	interface_put(memory, head->ptr, bytes);
	head->ptr = head->dev_handle = 0;
}

void interface_cache(void *cached, void *interface, unsigned memory)
{
	struct plain_head *to = cached, *from = interface;

	(void)memory;
	to->ptr = from->ptr;
	to->dev_handle = from->dev_handle;
	to->offset = from->offset;
	from->ptr = from->dev_handle = 0;
}

void interface_reuse(void *interface, const void *cached, unsigned memory)
{
	struct plain_head *to = interface;
	const struct plain_head *from = cached;

	(void)memory;
	to->ptr = from->ptr;
	to->dev_handle = from->dev_handle;
	to->offset = from->offset;
}

int interface_sees(unsigned memory, unsigned from)
{
	return mapped_is_possible(node_of_caller(), memory, from) ? 0 : -EIO;
}

int interface_map(const void *from, unsigned from_memory, void *to, unsigned to_memory,
		  size_t bytes)
{
	struct plain_head *head = to;

	if (interface_sees(from_memory, to_memory) < 0)
		return -EIO;
	memcpy(to, from, bytes);
	head->dev_handle = head->ptr;
	head->offset = 0;
	return 0;
}

int interface_unmap(void *from, unsigned from_memory, void *to, unsigned to_memory)
{
	struct plain_head *head = to;

	(void)from;
	head->ptr = head->dev_handle = 0;
	return interface_sees(from_memory, to_memory);
}

int interface_update_map(void *from, unsigned from_memory, void *to, unsigned to_memory)
{
	(void)from;
	(void)to;
	return interface_sees(from_memory, to_memory);
}

void *interface_pointer(void *interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct plain_head *)interface)->ptr;
}

/* ---- operations made of a layout ------------------------------------- */

static struct layout layout_in(interface_layout_func *layout_of, const void *shape,
			       const void *place)
{
	struct layout layout;
	int ret = layout_of(shape, place, &layout);

	ORR_ASSERT(ret == 0); /* Interfaces that may have none have their own. */
	return layout;
}

int interface_copy(interface_layout_func *layout_of, const struct copy_ends *ends)
{
	struct layout source = layout_in(layout_of, ends->from, ends->from);
	struct layout target = layout_in(layout_of, ends->from, ends->to);

	return methods_move(ends->async_data, ends->from_memory, ends->to_memory, &source,
			    &target);
}

int interface_move(const struct copy_ends *ends, const void *from, void *to, size_t bytes)
{
	struct layout source, target;

	layout_flat(&source, (void *)from, bytes);
	layout_flat(&target, to, bytes);
	return methods_move(ends->async_data, ends->from_memory, ends->to_memory, &source,
			    &target);
}

static struct layout layout_of_copy(interface_layout_func *layout_of,
				    starpu_data_handle_t handle, unsigned memory)
{
	const void *interface = data_copy(handle, memory)->interface;

	return layout_in(layout_of, interface, interface);
}

int interface_pack(interface_layout_func *layout_of, starpu_data_handle_t handle,
		   unsigned memory, void **ptr, starpu_ssize_t *count)
{
	struct layout layout = layout_of_copy(layout_of, handle, memory), packed;

	*count = (starpu_ssize_t)layout_bytes(&layout);
	if (!ptr)
		return 0;
	*ptr = interface_buffer_get(memory, (size_t)*count);
	if (!*ptr)
		return -ENOMEM;
	layout_flat(&packed, *ptr, (size_t)*count);
	return methods_move(NULL, memory, memory, &layout, &packed);
}

int interface_peek(interface_layout_func *layout_of, starpu_data_handle_t handle,
		   unsigned memory, void *ptr, size_t count)
{
	struct layout layout = layout_of_copy(layout_of, handle, memory), packed;

	if (count != layout_bytes(&layout))
		return -EINVAL;
	layout_flat(&packed, ptr, count);
	return methods_move(NULL, memory, memory, &packed, &layout);
}
