/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"
#include "base/check.h"

static void check_strides(const struct node *node, const char *func,
			  const struct starpu_block_interface *block)
{
	struct api_dim dims[] = {
		{block->nx, 1}, {block->ny, block->ldy}, {block->nz, block->ldz}};

	if (api_dims_overlap(dims, 3))
		orr_die(node->rank,
			"%s: in a block of %u x %u x %u elements, rows that start %u, "
			"planes that start %u elements apart (ldy, ldz) overlap",
			func, block->nx, block->ny, block->nz, block->ldy, block->ldz);
}

void starpu_block_data_register(starpu_data_handle_t *handle, int home_node,
				uintptr_t ptr, uint32_t ldy, uint32_t ldz, uint32_t nx,
				uint32_t ny, uint32_t nz, size_t elemsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_block_interface block = {
		.id = STARPU_BLOCK_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.ny = ny,
		.nz = nz,
		.ldy = ldy,
		.ldz = ldz,
		.elemsize = elemsize,
	};
	size_t row_bytes = api_product_bytes(node, __func__, nx, elemsize);
	size_t plane_bytes = api_product_bytes(node, __func__, ny, row_bytes);
	size_t bytes = api_product_bytes(node, __func__, nz, plane_bytes);

	if (home_node >= 0)
		check_strides(node, __func__, &block);
	api_given_memory(node, __func__, home_node, ptr, bytes);
	*handle = data_register(node, api_home(node, __func__, home_node), &block,
				&starpu_interface_block_ops);
}

uint32_t starpu_block_get_nx(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, block, BLOCK)->nx;
}

uint32_t starpu_block_get_ny(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, block, BLOCK)->ny;
}

uint32_t starpu_block_get_nz(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, block, BLOCK)->nz;
}

uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, block, BLOCK)->ldy;
}

uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, block, BLOCK)->ldz;
}

uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

size_t starpu_block_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, block, BLOCK)->elemsize;
}

void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			       uintptr_t dev_handle, size_t offset, uint32_t ldy,
			       uint32_t ldz)
{
	struct starpu_block_interface *block = API_PLACE(block, BLOCK);

	block->ldy = ldy;
	block->ldz = ldz;
}
