/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Block: nz planes, ldz apart, of ny rows, ldy apart, of nx elements. */

static int block_layout(const void *shape, const void *place, struct layout *layout)
{
	const struct starpu_block_interface *block = shape, *at = place;

	layout_flat(layout, (void *)at->ptr, (size_t)block->nx * block->elemsize);
	layout_repeat(layout, block->ny, (size_t)at->ldy * block->elemsize);
	return layout_repeat(layout, block->nz, (size_t)at->ldz * block->elemsize);
}

static size_t block_element_bytes(const void *interface)
{
	return ((const struct starpu_block_interface *)interface)->elemsize;
}

INTERFACE_BY_LAYOUT(block, BLOCK);

static size_t bytes_of(const struct starpu_block_interface *block)
{
	return (size_t)block->nx * block->ny * block->nz * block->elemsize;
}

/* As the library allocates it.  Others may be reading the shape. */
static void make_dense(struct starpu_block_interface *block)
{
	uint32_t plane = interface_stride((size_t)block->nx * block->ny, block->nz);

	if (block->ldy != block->nx)
		block->ldy = block->nx;
	if (block->ldz != plane)
		block->ldz = plane;
}

static starpu_ssize_t block_allocate(void *interface, unsigned memory)
{
	struct starpu_block_interface *block = interface;
	starpu_ssize_t ret = interface_allocate(block, memory, bytes_of(block));

	if (ret >= 0)
		make_dense(block);
	return ret;
}

static void block_reuse(void *interface, const void *cached, unsigned memory)
{
	interface_reuse(interface, cached, memory);
	make_dense(interface);
}

static void block_free(void *interface, unsigned memory)
{
	interface_free(interface, memory, bytes_of(interface));
}

static size_t block_size(starpu_data_handle_t handle)
{
	return bytes_of(handle->interface);
}

static uint32_t block_footprint(starpu_data_handle_t handle)
{
	const struct starpu_block_interface *block = handle->interface;
	uint32_t hash = hash_crc32c_be(block->nx, 0);

	return hash_crc32c_be(block->nz, hash_crc32c_be(block->ny, hash));
}

static starpu_ssize_t block_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_block_interface *block = interface;

	return snprintf(buf, size, "B%ux%ux%ux%zu", block->nx, block->ny, block->nz,
			block->elemsize);
}

static int block_compare(void *a, void *b)
{
	const struct starpu_block_interface *x = a, *y = b;

	return x->nx == y->nx && x->ny == y->ny && x->nz == y->nz &&
	       x->elemsize == y->elemsize;
}

static void block_display(starpu_data_handle_t handle, FILE *f)
{
	const struct starpu_block_interface *block = handle->interface;

	fprintf(f, "%u\t%u\t%u\t", block->nx, block->ny, block->nz);
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_block_ops = {
	INTERFACE_OPS_BY_LAYOUT(block, BLOCK), .reuse_data_on_node = block_reuse};
