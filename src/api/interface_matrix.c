/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"
#include "base/check.h"

void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t ld, uint32_t nx,
					   uint32_t ny, size_t elemsize, size_t allocsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_matrix_interface matrix = {
		.id = STARPU_MATRIX_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.ny = ny,
		.ld = ld,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	if (home_node >= 0 && ld < nx)
		orr_die(node->rank,
			"%s: leading dimension %u is less than the %u elements of a "
			"column",
			__func__, ld, nx);
	api_product_bytes(node, __func__, (size_t)ld * ny, elemsize);
	api_given_memory(node, __func__, home_node, ptr,
			 api_product_bytes(node, __func__, (size_t)nx * ny, elemsize));
	*handle = data_register(node, api_home(node, __func__, home_node), &matrix,
				&starpu_interface_matrix_ops);
}

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t ld, uint32_t nx, uint32_t ny,
				 size_t elemsize)
{
	starpu_matrix_data_register_allocsize(handle, home_node, ptr, ld, nx, ny,
					      elemsize, (size_t)nx * ny * elemsize);
}

uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, matrix, MATRIX)->nx;
}

uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, matrix, MATRIX)->ny;
}

uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle)
{
	return API_LOCAL_INTERFACE(handle, matrix, MATRIX)->ld;
}

uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, matrix, MATRIX)->elemsize;
}

size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, matrix, MATRIX)->allocsize;
}

void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ld)
{
	API_PLACE(matrix, MATRIX)->ld = ld;
}
