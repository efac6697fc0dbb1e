/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include <errno.h>
#include <string.h>

#include "base/application.h"
#include "base/check.h"
#include "core/hash.h"

/* ---- matrix: columns of nx elements, ld apart ------------------------ */

static starpu_ssize_t matrix_allocate(void *data_interface, unsigned memory)
{
	struct starpu_matrix_interface *matrix = data_interface;
	uintptr_t ptr = starpu_malloc_on_node(memory, matrix->allocsize);

	if (!ptr && matrix->allocsize)
		return -ENOMEM;
	matrix->ptr = matrix->dev_handle = ptr;
	matrix->offset = 0;
	if (matrix->ld != matrix->nx) /* Others may be reading the shape. */
		matrix->ld = matrix->nx;
	return (starpu_ssize_t)matrix->allocsize;
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

static int matrix_compare(void *a, void *b)
{
	const struct starpu_matrix_interface *x = a, *y = b;

	return x->nx == y->nx && x->ny == y->ny && x->elemsize == y->elemsize;
}

static int matrix_alloc_compare(void *a, void *b)
{
	const struct starpu_matrix_interface *x = a, *y = b;

	return x->allocsize == y->allocsize;
}

static uint32_t matrix_alloc_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)matrix_alloc_size(handle), 0);
}

static void matrix_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_matrix_interface *matrix = handle->interface;

	fprintf(f, "%u\t%u\t", matrix->nx, matrix->ny);
}

static void matrix_layout(starpu_data_handle_t handle, void *interface, unsigned memory,
			  struct layout *layout)
{
	const struct starpu_matrix_interface *matrix = interface;

	(void)handle;
	(void)memory;
	layout_flat(layout, (void *)matrix->ptr, (size_t)matrix->nx * matrix->elemsize);
	layout_repeat(layout, matrix->ny, (size_t)matrix->ld * matrix->elemsize);
}

const struct interface_packing interface_matrix = {matrix_pack, matrix_peek,
						   matrix_unpack, matrix_layout};

static const struct starpu_data_copy_methods matrix_methods = {.any_to_any = matrix_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_matrix_ops = {
	.register_data_handle = interface_register_plain,
	.allocate_data_on_node = matrix_allocate,
	.free_data_on_node = matrix_free,
	.copy_methods = &matrix_methods,
	.to_pointer = matrix_pointer,
	.get_size = matrix_size,
	.get_alloc_size = matrix_alloc_size,
	.footprint = matrix_footprint,
	.alloc_footprint = matrix_alloc_footprint,
	.compare = matrix_compare,
	.alloc_compare = matrix_alloc_compare,
	.display = matrix_display,
	.describe = matrix_describe,
	.interfaceid = STARPU_MATRIX_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_matrix_interface),
	.pack_data = matrix_pack,
	.peek_data = matrix_peek,
	.unpack_data = matrix_unpack,
	.name = (char *)"STARPU_MATRIX_INTERFACE",
};
