/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Matrix: columns of nx elements, ld apart. */

static int matrix_layout(const void *shape, const void *place, struct layout *layout)
{
	const struct starpu_matrix_interface *matrix = shape, *at = place;

	layout_flat(layout, (void *)at->ptr, (size_t)matrix->nx * matrix->elemsize);
	return layout_repeat(layout, matrix->ny, (size_t)at->ld * matrix->elemsize);
}

static size_t matrix_element_bytes(const void *interface)
{
	return ((const struct starpu_matrix_interface *)interface)->elemsize;
}

INTERFACE_BY_LAYOUT(matrix, MATRIX);

/* As the library allocates it.  Others may be reading the shape. */
static void make_dense(struct starpu_matrix_interface *matrix)
{
	if (matrix->ld != matrix->nx)
		matrix->ld = matrix->nx;
}

static starpu_ssize_t matrix_allocate(void *interface, unsigned memory)
{
	struct starpu_matrix_interface *matrix = interface;
	starpu_ssize_t ret = interface_allocate(matrix, memory, matrix->allocsize);

	if (ret >= 0)
		make_dense(matrix);
	return ret;
}

static void matrix_reuse(void *interface, const void *cached, unsigned memory)
{
	interface_reuse(interface, cached, memory);
	make_dense(interface);
}

static void matrix_free(void *interface, unsigned memory)
{
	struct starpu_matrix_interface *matrix = interface;

	interface_free(matrix, memory, matrix->allocsize);
}

static size_t matrix_size(starpu_data_handle_t handle)
{
	const struct starpu_matrix_interface *matrix = handle->interface;

	return (size_t)matrix->nx * matrix->ny * matrix->elemsize;
}

static size_t matrix_alloc_size(starpu_data_handle_t handle)
{
	return ((struct starpu_matrix_interface *)handle->interface)->allocsize;
}

static uint32_t matrix_footprint(starpu_data_handle_t handle)
{
	const struct starpu_matrix_interface *matrix = handle->interface;

	return hash_crc32c_be(matrix->nx, matrix->ny);
}

static uint32_t matrix_alloc_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)matrix_alloc_size(handle), 0);
}

static starpu_ssize_t matrix_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_matrix_interface *matrix = interface;

	return snprintf(buf, size, "M%ux%ux%zu", matrix->nx, matrix->ny,
			matrix->elemsize);
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

static void matrix_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_matrix_interface *matrix = handle->interface;

	fprintf(f, "%u\t%u\t", matrix->nx, matrix->ny);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_matrix_ops = {
	INTERFACE_OPS_BY_LAYOUT(matrix, MATRIX),
	.reuse_data_on_node = matrix_reuse,
	.get_alloc_size = matrix_alloc_size,
	.alloc_footprint = matrix_alloc_footprint,
	.alloc_compare = matrix_alloc_compare,
};
