/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interfaces.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "core/hash.h"

/* Public objects that nobody writes: kept out of the writable sections. */
#define CONSTANT_OBJECT __attribute__((section(".data.rel.ro")))

/* ---- variable, vector: one block ------------------------------------- */

#define ALLOCATE_FLAT(interface, bytes_wanted)                                           \
	size_t bytes = (bytes_wanted);                                                   \
	uintptr_t ptr = starpu_malloc_on_node(memory, bytes);                            \
                                                                                         \
	if (!ptr && bytes)                                                               \
		return -ENOMEM;                                                          \
	(interface)->ptr = (interface)->dev_handle = ptr;                                \
	(interface)->offset = 0

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

/* ---- matrix: columns of nx elements, ld apart ------------------------ */

static starpu_ssize_t matrix_allocate(void *data_interface, unsigned memory)
{
	struct starpu_matrix_interface *matrix = data_interface;
	ALLOCATE_FLAT(matrix, matrix->allocsize);

	matrix->ld = matrix->nx;
	return (starpu_ssize_t)bytes;
}

static void matrix_free(void *data_interface, unsigned memory)
{
	struct starpu_matrix_interface *matrix = data_interface;

	starpu_free_on_node(memory, matrix->ptr, matrix->allocsize);
	matrix->ptr = matrix->dev_handle = 0;
}

static size_t matrix_size(starpu_data_handle_t handle)
{
	struct starpu_matrix_interface *matrix = handle->interface;

	return (size_t)matrix->nx * matrix->ny * matrix->elemsize;
}

static size_t matrix_alloc_size(starpu_data_handle_t handle)
{
	return ((struct starpu_matrix_interface *)handle->interface)->allocsize;
}

static uint32_t matrix_footprint(starpu_data_handle_t handle)
{
	struct starpu_matrix_interface *matrix = handle->interface;

	return hash_crc32c_be(matrix->nx, matrix->ny);
}

static void *matrix_pointer(void *data_interface, unsigned memory)
{
	(void)memory;
	return (void *)((struct starpu_matrix_interface *)data_interface)->ptr;
}

static starpu_ssize_t matrix_describe(void *data_interface, char *buf, size_t size)
{
	struct starpu_matrix_interface *matrix = data_interface;

	return snprintf(buf, size, "M%ux%ux%zu", matrix->nx, matrix->ny,
			matrix->elemsize);
}

static int matrix_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
		       void *async_data)
{
	struct starpu_matrix_interface *src = from, *dst = to;
	size_t column_bytes = (size_t)src->nx * src->elemsize;

	(void)from_memory;
	(void)to_memory;
	(void)async_data;
	for (uint32_t j = 0; j < src->ny; j++)
		memcpy((char *)dst->ptr + (size_t)j * dst->ld * dst->elemsize,
		       (char *)src->ptr + (size_t)j * src->ld * src->elemsize,
		       column_bytes);
	return 0;
}

static int matrix_pack(starpu_data_handle_t handle, unsigned memory, void **ptr,
		       starpu_ssize_t *count)
{
	struct starpu_matrix_interface packed, *matrix;

	*count = (starpu_ssize_t)matrix_size(handle);
	if (!ptr)
		return 0;
	matrix = data_copy(handle, memory)->interface;
	packed = *matrix;
	packed.ld = packed.nx;
	if (starpu_malloc_flags(ptr, (size_t)*count, 0) != 0)
		return -ENOMEM;
	packed.ptr = (uintptr_t)*ptr;
	return matrix_copy(matrix, memory, &packed, 0, NULL);
}

static int matrix_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,
		       size_t count)
{
	struct starpu_matrix_interface packed, *matrix;

	if (count != matrix_size(handle))
		return -EINVAL;
	matrix = data_copy(handle, memory)->interface;
	packed = *matrix;
	packed.ld = packed.nx;
	packed.ptr = (uintptr_t)ptr;
	return matrix_copy(&packed, 0, matrix, memory, NULL);
}

static int matrix_unpack(starpu_data_handle_t handle, unsigned memory, void *ptr,
			 size_t count)
{
	int ret = matrix_peek(handle, memory, ptr, count);

	starpu_free_flags(ptr, count, 0);
	return ret;
}

/* ---- variable and vector are packed as one block --------------------- */

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

/* ---- void ------------------------------------------------------------ */

static starpu_ssize_t void_allocate(void *data_interface, unsigned memory)
{
	(void)data_interface;
	(void)memory;
	return 0;
}

static void void_free(void *data_interface, unsigned memory)
{
	(void)data_interface;
	(void)memory;
}

static size_t void_size(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

static uint32_t void_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

static int void_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
		     void *async_data)
{
	(void)from;
	(void)from_memory;
	(void)to;
	(void)to_memory;
	(void)async_data;
	return 0;
}

static starpu_ssize_t void_describe(void *data_interface, char *buf, size_t size)
{
	(void)data_interface;
	return snprintf(buf, size, "0");
}

static const struct starpu_data_copy_methods variable_methods = {.any_to_any =
									 variable_copy};
static const struct starpu_data_copy_methods vector_methods = {.any_to_any = vector_copy};
static const struct starpu_data_copy_methods matrix_methods = {.any_to_any = matrix_copy};
static const struct starpu_data_copy_methods void_methods = {.any_to_any = void_copy};

CONSTANT_OBJECT struct starpu_data_interface_ops starpu_interface_variable_ops = {
	.allocate_data_on_node = variable_allocate,
	.free_data_on_node = variable_free,
	.copy_methods = &variable_methods,
	.to_pointer = variable_pointer,
	.get_size = variable_size,
	.footprint = variable_footprint,
	.describe = variable_describe,
	.interfaceid = STARPU_VARIABLE_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_variable_interface),
	.pack_data = flat_pack,
	.peek_data = flat_peek,
	.unpack_data = flat_unpack,
	.name = (char *)"STARPU_VARIABLE_INTERFACE",
};

CONSTANT_OBJECT struct starpu_data_interface_ops starpu_interface_vector_ops = {
	.allocate_data_on_node = vector_allocate,
	.free_data_on_node = vector_free,
	.copy_methods = &vector_methods,
	.to_pointer = vector_pointer,
	.get_size = vector_size,
	.get_alloc_size = vector_alloc_size,
	.footprint = vector_footprint,
	.describe = vector_describe,
	.interfaceid = STARPU_VECTOR_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_vector_interface),
	.pack_data = flat_pack,
	.peek_data = flat_peek,
	.unpack_data = flat_unpack,
	.name = (char *)"STARPU_VECTOR_INTERFACE",
};

CONSTANT_OBJECT struct starpu_data_interface_ops starpu_interface_matrix_ops = {
	.allocate_data_on_node = matrix_allocate,
	.free_data_on_node = matrix_free,
	.copy_methods = &matrix_methods,
	.to_pointer = matrix_pointer,
	.get_size = matrix_size,
	.get_alloc_size = matrix_alloc_size,
	.footprint = matrix_footprint,
	.describe = matrix_describe,
	.interfaceid = STARPU_MATRIX_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_matrix_interface),
	.pack_data = matrix_pack,
	.peek_data = matrix_peek,
	.unpack_data = matrix_unpack,
	.name = (char *)"STARPU_MATRIX_INTERFACE",
};

CONSTANT_OBJECT struct starpu_data_interface_ops starpu_interface_void_ops = {
	.allocate_data_on_node = void_allocate,
	.free_data_on_node = void_free,
	.copy_methods = &void_methods,
	.get_size = void_size,
	.footprint = void_footprint,
	.describe = void_describe,
	.interfaceid = STARPU_VOID_INTERFACE_ID,
	.interface_size = 0,
	.name = (char *)"STARPU_VOID_INTERFACE",
};

/* ---- what the runtime asks of them ----------------------------------- */

int interface_is_ours(const struct starpu_data_interface_ops *ops)
{
	return ops == &starpu_interface_variable_ops ||
	       ops == &starpu_interface_vector_ops ||
	       ops == &starpu_interface_matrix_ops || ops == &starpu_interface_void_ops;
}

void interface_clone(const struct starpu_data_interface_ops *ops, void *to,
		     const void *from)
{
	memcpy(to, from, ops->interface_size);
	if (ops == &starpu_interface_variable_ops) {
		struct starpu_variable_interface *variable = to;

		variable->ptr = variable->dev_handle = variable->offset = 0;
	} else if (ops == &starpu_interface_vector_ops) {
		struct starpu_vector_interface *vector = to;

		vector->ptr = vector->dev_handle = vector->offset = 0;
	} else if (ops == &starpu_interface_matrix_ops) {
		struct starpu_matrix_interface *matrix = to;

		matrix->ptr = matrix->dev_handle = matrix->offset = 0;
		matrix->ld = matrix->nx;
	}
}

int interface_layout(starpu_data_handle_t handle, unsigned memory, char **base,
		     size_t *block_bytes, size_t *nblocks, size_t *stride_bytes)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	void *interface = data_copy(handle, memory)->interface;

	if (!interface_is_ours(ops))
		return 0;
	*base = ops->to_pointer ? ops->to_pointer(interface, memory) : NULL;
	*block_bytes = *stride_bytes = ops->get_size(handle);
	*nblocks = 1;
	if (ops == &starpu_interface_matrix_ops) {
		const struct starpu_matrix_interface *matrix = interface;

		if (matrix->ld != matrix->nx && matrix->ny > 1) {
			*block_bytes = (size_t)matrix->nx * matrix->elemsize;
			*nblocks = matrix->ny;
			*stride_bytes = (size_t)matrix->ld * matrix->elemsize;
		}
	}
	return 1;
}
