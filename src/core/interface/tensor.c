/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Tensor: nt blocks, ldt apart, of nz planes, ldz apart, of ny rows, ldy apart, of nx
 * elements. */

static int tensor_layout(const void *shape, const void *place, struct layout *layout)
{
	const struct starpu_tensor_interface *tensor = shape, *at = place;

	layout_flat(layout, (void *)at->ptr, (size_t)tensor->nx * tensor->elemsize);
	layout_repeat(layout, tensor->ny, (size_t)at->ldy * tensor->elemsize);
	layout_repeat(layout, tensor->nz, (size_t)at->ldz * tensor->elemsize);
	return layout_repeat(layout, tensor->nt, (size_t)at->ldt * tensor->elemsize);
}

static size_t tensor_element_bytes(const void *interface)
{
	return ((const struct starpu_tensor_interface *)interface)->elemsize;
}

INTERFACE_BY_LAYOUT(tensor, TENSOR);

static size_t bytes_of(const struct starpu_tensor_interface *tensor)
{
	return (size_t)tensor->nx * tensor->ny * tensor->nz * tensor->nt *
	       tensor->elemsize;
}

/* As the library allocates it.  Others may be reading the shape. */
static void make_dense(struct starpu_tensor_interface *tensor)
{
	size_t rows = (size_t)tensor->nx * tensor->ny;
	uint32_t plane = interface_stride(rows, tensor->nz);
	uint32_t block = interface_stride(rows * tensor->nz, tensor->nt);

	if (tensor->ldy != tensor->nx)
		tensor->ldy = tensor->nx;
	if (tensor->ldz != plane)
		tensor->ldz = plane;
	if (tensor->ldt != block)
		tensor->ldt = block;
}

static starpu_ssize_t tensor_allocate(void *interface, unsigned memory)
{
	struct starpu_tensor_interface *tensor = interface;
	starpu_ssize_t ret = interface_allocate(tensor, memory, bytes_of(tensor));

	if (ret >= 0)
		make_dense(tensor);
	return ret;
}

static void tensor_reuse(void *interface, const void *cached, unsigned memory)
{
	interface_reuse(interface, cached, memory);
	make_dense(interface);
}

static void tensor_free(void *interface, unsigned memory)
{
	interface_free(interface, memory, bytes_of(interface));
}

static size_t tensor_size(starpu_data_handle_t handle)
{
	return bytes_of(handle->interface);
}

static uint32_t tensor_footprint(starpu_data_handle_t handle)
{
	const struct starpu_tensor_interface *tensor = handle->interface;
	uint32_t hash = hash_crc32c_be(tensor->ny, hash_crc32c_be(tensor->nx, 0));

	return hash_crc32c_be(tensor->nt, hash_crc32c_be(tensor->nz, hash));
}

static starpu_ssize_t tensor_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_tensor_interface *tensor = interface;

	return snprintf(buf, size, "T%ux%ux%ux%ux%zu", tensor->nx, tensor->ny, tensor->nz,
			tensor->nt, tensor->elemsize);
}

static int tensor_compare(void *a, void *b)
{
	const struct starpu_tensor_interface *x = a, *y = b;

	return x->nx == y->nx && x->ny == y->ny && x->nz == y->nz && x->nt == y->nt &&
	       x->elemsize == y->elemsize;
}

static void tensor_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_tensor_interface *tensor = handle->interface;

	fprintf(f, "%u\t%u\t%u\t%u\t", tensor->nx, tensor->ny, tensor->nz, tensor->nt);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_tensor_ops = {
	INTERFACE_OPS_BY_LAYOUT(tensor, TENSOR), .reuse_data_on_node = tensor_reuse};
