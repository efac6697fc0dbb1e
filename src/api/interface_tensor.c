/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"
#include "base/check.h"

static void check_strides(const struct node *node, const char *func,
			  const struct starpu_tensor_interface *tensor)
{
	struct api_dim dims[] = {{tensor->nx, 1},
				 {tensor->ny, tensor->ldy},
				 {tensor->nz, tensor->ldz},
				 {tensor->nt, tensor->ldt}};

	if (api_dims_overlap(dims, 4))
		orr_die(node->rank,
			"%s: in a tensor of %u x %u x %u x %u elements, rows that start "
			"%u, planes that start %u, blocks that start %u elements apart "
			"(ldy, ldz, ldt) overlap",
			func, tensor->nx, tensor->ny, tensor->nz, tensor->nt, tensor->ldy,
			tensor->ldz, tensor->ldt);
}

static size_t bytes_of(const struct node *node, const char *func,
		       const struct starpu_tensor_interface *tensor)
{
	size_t bytes = api_product_bytes(node, func, tensor->nx, tensor->elemsize);

	bytes = api_product_bytes(node, func, tensor->ny, bytes);
	bytes = api_product_bytes(node, func, tensor->nz, bytes);
	return api_product_bytes(node, func, tensor->nt, bytes);
}

void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t ldy, uint32_t ldz, uint32_t ldt,
				 uint32_t nx, uint32_t ny, uint32_t nz, uint32_t nt,
				 size_t elemsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_tensor_interface tensor = {
		.id = STARPU_TENSOR_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.ny = ny,
		.nz = nz,
		.nt = nt,
		.ldy = ldy,
		.ldz = ldz,
		.ldt = ldt,
		.elemsize = elemsize,
	};
	size_t bytes = bytes_of(node, __func__, &tensor);

	if (home_node >= 0)
		check_strides(node, __func__, &tensor);
	api_given_memory(node, __func__, home_node, ptr, bytes);
	*handle = data_register(node, api_home(node, __func__, home_node), &tensor,
				&starpu_interface_tensor_ops);
}

uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, tensor, TENSOR)->nx;
}

uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, tensor, TENSOR)->ny;
}

uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, tensor, TENSOR)->nz;
}

uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, tensor, TENSOR)->nt;
}

uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, tensor, TENSOR)->ldy;
}

uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, tensor, TENSOR)->ldz;
}

uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, tensor, TENSOR)->ldt;
}

uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, tensor, TENSOR)->elemsize;
}

void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ldy,
				uint32_t ldz, uint32_t ldt)
{
	struct starpu_tensor_interface *tensor = API_PLACE(tensor, TENSOR);

	tensor->ldy = ldy;
	tensor->ldz = ldz;
	tensor->ldt = ldt;
}
