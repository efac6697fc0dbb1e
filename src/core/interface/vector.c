/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Vector: nx elements in a row. */

static int vector_layout(const void *shape, const void *place, struct layout *layout)
{
	const struct starpu_vector_interface *vector = shape;

	layout_flat(layout, (void *)((const struct starpu_vector_interface *)place)->ptr,
		    (size_t)vector->nx * vector->elemsize);
	return 0;
}

static size_t vector_element_bytes(const void *interface)
{
	return ((const struct starpu_vector_interface *)interface)->elemsize;
}

INTERFACE_BY_LAYOUT(vector, VECTOR);

static starpu_ssize_t vector_allocate(void *interface, unsigned memory)
{
	struct starpu_vector_interface *vector = interface;

	return interface_allocate(vector, memory, vector->allocsize);
}

static void vector_free(void *interface, unsigned memory)
{
	struct starpu_vector_interface *vector = interface;

	interface_free(vector, memory, vector->allocsize);
}

static size_t vector_size(starpu_data_handle_t handle)
{
	const struct starpu_vector_interface *vector = handle->interface;

	return (size_t)vector->nx * vector->elemsize;
}

static size_t vector_alloc_size(starpu_data_handle_t handle)
{
	return ((struct starpu_vector_interface *)handle->interface)->allocsize;
}

static uint32_t vector_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be(((struct starpu_vector_interface *)handle->interface)->nx,
			      0);
}

static uint32_t vector_alloc_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)vector_alloc_size(handle), 0);
}

static starpu_ssize_t vector_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_vector_interface *vector = interface;

	return snprintf(buf, size, "V%ux%zu", vector->nx, vector->elemsize);
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

static void vector_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%u\t", ((struct starpu_vector_interface *)handle->interface)->nx);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_vector_ops = {
	INTERFACE_OPS_BY_LAYOUT(vector, VECTOR),
	.reuse_data_on_node = interface_reuse,
	.get_alloc_size = vector_alloc_size,
	.alloc_footprint = vector_alloc_footprint,
	.alloc_compare = vector_alloc_compare,
};
