/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include <errno.h>
#include <string.h>

#include "base/application.h"
#include "base/check.h"
#include "core/hash.h"

/* Variable and vector: one block. */

#define ALLOCATE_FLAT(interface, bytes_wanted)                                           \
	size_t bytes = (bytes_wanted);                                                   \
	uintptr_t ptr = starpu_malloc_on_node(memory, bytes);                            \
                                                                                         \
	if (!ptr && bytes)                                                               \
		return -ENOMEM;                                                          \
	(interface)->ptr = (interface)->dev_handle = ptr;                                \
	(interface)->offset = 0

/* ---- variable -------------------------------------------------------- */

static starpu_ssize_t variable_allocate(void *data_interface, unsigned memory)
{
	struct starpu_variable_interface *variable = data_interface;
	ALLOCATE_FLAT(variable, variable->elemsize);

	return (starpu_ssize_t)bytes;
}

static void variable_free(void *data_interface, unsigned memory)
{
	struct starpu_variable_interface *variable = data_interface;

	starpu_free_on_node(memory, variable->ptr, variable->elemsize);
	variable->ptr = variable->dev_handle = 0;
}

static size_t variable_size(starpu_data_handle_t handle)
{
	return ((struct starpu_variable_interface *)handle->interface)->elemsize;
}

static uint32_t variable_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)variable_size(handle), 0);
}

static void *variable_pointer(void *data_interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_variable_interface *)data_interface)->ptr;
}

static starpu_ssize_t variable_describe(void *data_interface, char *buf, size_t size)
{
	struct starpu_variable_interface *variable = data_interface;

	return snprintf(buf, size, "v%zu", variable->elemsize);
}

static int variable_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
			 void *async_data)
{
	struct starpu_variable_interface *src = from, *dst = to;

	(void)from_memory;
	(void)to_memory;
	(void)async_data;
	memcpy((void *)dst->ptr, (void *)src->ptr, src->elemsize);
	return 0;
}

static int variable_compare(void *a, void *b)
{
	const struct starpu_variable_interface *x = a, *y = b;

	return x->elemsize == y->elemsize;
}

static void variable_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%zu\t", variable_size(handle));
}

/* ---- vector ---------------------------------------------------------- */

static starpu_ssize_t vector_allocate(void *data_interface, unsigned memory)
{
	struct starpu_vector_interface *vector = data_interface;
	ALLOCATE_FLAT(vector, vector->allocsize);

	return (starpu_ssize_t)bytes;
}

static void vector_free(void *data_interface, unsigned memory)
{
	struct starpu_vector_interface *vector = data_interface;

	starpu_free_on_node(memory, vector->ptr, vector->allocsize);
	vector->ptr = vector->dev_handle = 0;
}

static size_t vector_size(starpu_data_handle_t handle)
{
	struct starpu_vector_interface *vector = handle->interface;

	return (size_t)vector->nx * vector->elemsize;
}

static size_t vector_alloc_size(starpu_data_handle_t handle)
{
	return ((struct starpu_vector_interface *)handle->interface)->allocsize;
}

static uint32_t vector_footprint(starpu_data_handle_t handle)
{
	struct starpu_vector_interface *vector = handle->interface;

	return hash_crc32c_be(vector->nx, 0);
}

static void *vector_pointer(void *data_interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_vector_interface *)data_interface)->ptr;
}

static starpu_ssize_t vector_describe(void *data_interface, char *buf, size_t size)
{
	struct starpu_vector_interface *vector = data_interface;

	return snprintf(buf, size, "V%ux%zu", vector->nx, vector->elemsize);
}

static int vector_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
		       void *async_data)
{
	struct starpu_vector_interface *src = from, *dst = to;

	(void)from_memory;
	(void)to_memory;
	(void)async_data;
	memcpy((void *)dst->ptr, (void *)src->ptr, (size_t)src->nx * src->elemsize);
	return 0;
}

static int vector_compare(void *a, void *b)
{
	const struct starpu_vector_interface *x = a, *y = b;

	return x->nx == y->nx && x->elemsize == y->elemsize;
}

static int vector_alloc_compare(void *a, void *b)
{
	const struct starpu_vector_interface *x = a, *y = b;

	return x->allocsize == y->allocsize;
}

static uint32_t vector_alloc_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)vector_alloc_size(handle), 0);
}

static void vector_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%u\t", ((struct starpu_vector_interface *)handle->interface)->nx);
}

/* ---- packed as it lies ----------------------------------- */

static int flat_pack(starpu_data_handle_t handle, unsigned memory, void **ptr,
		     starpu_ssize_t *count)
{
	size_t bytes = handle->ops->get_size(handle);

	*count = (starpu_ssize_t)bytes;
	if (!ptr)
		return 0;
	if (starpu_malloc_flags(ptr, bytes, 0) != 0)
		return -ENOMEM;
	memcpy(*ptr,
	       handle->ops->to_pointer(data_copy(handle, memory)->interface, memory),
	       bytes);
	return 0;
}

static int flat_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,
		     size_t count)
{
	if (count != handle->ops->get_size(handle))
		return -EINVAL;
	memcpy(handle->ops->to_pointer(data_copy(handle, memory)->interface, memory), ptr,
	       count);
	return 0;
}

static int flat_unpack(starpu_data_handle_t handle, unsigned memory, void *ptr,
		       size_t count)
{
	int ret = flat_peek(handle, memory, ptr, count);

	starpu_free_flags(ptr, count, 0);
	return ret;
}

/* ---- what is packed this way lies in one block ----------------------- */

static void flat_layout(starpu_data_handle_t handle, void *interface, unsigned memory,
			struct layout *layout)
{
	layout_flat(layout, handle->ops->to_pointer(interface, memory),
		    handle->ops->get_size(handle));
}

const struct interface_packing interface_flat = {flat_pack, flat_peek, flat_unpack,
						 flat_layout};

static const struct starpu_data_copy_methods variable_methods = {.any_to_any =
									 variable_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_variable_ops = {
	.register_data_handle = interface_register_plain,
	.allocate_data_on_node = variable_allocate,
	.free_data_on_node = variable_free,
	.copy_methods = &variable_methods,
	.to_pointer = variable_pointer,
	.get_size = variable_size,
	.footprint = variable_footprint,
	.compare = variable_compare,
	.display = variable_display,
	.describe = variable_describe,
	.interfaceid = STARPU_VARIABLE_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_variable_interface),
	.pack_data = flat_pack,
	.peek_data = flat_peek,
	.unpack_data = flat_unpack,
	.name = (char *)"STARPU_VARIABLE_INTERFACE",
};

static const struct starpu_data_copy_methods vector_methods = {.any_to_any = vector_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_vector_ops = {
	.register_data_handle = interface_register_plain,
	.allocate_data_on_node = vector_allocate,
	.free_data_on_node = vector_free,
	.copy_methods = &vector_methods,
	.to_pointer = vector_pointer,
	.get_size = vector_size,
	.get_alloc_size = vector_alloc_size,
	.footprint = vector_footprint,
	.alloc_footprint = vector_alloc_footprint,
	.compare = vector_compare,
	.alloc_compare = vector_alloc_compare,
	.display = vector_display,
	.describe = vector_describe,
	.interfaceid = STARPU_VECTOR_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_vector_interface),
	.pack_data = flat_pack,
	.peek_data = flat_peek,
	.unpack_data = flat_unpack,
	.name = (char *)"STARPU_VECTOR_INTERFACE",
};
