/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"

void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t nx, size_t elemsize,
					   size_t allocsize)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_vector_interface vector = {
		.id = STARPU_VECTOR_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.nx = nx,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	api_given_memory(node, __func__, home_node, ptr,
			 api_product_bytes(node, __func__, nx, elemsize));
	*handle = data_register(node, api_home(node, __func__, home_node), &vector,
				&starpu_interface_vector_ops);
}

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t nx, size_t elemsize)
{
	starpu_vector_data_register_allocsize(handle, home_node, ptr, nx, elemsize,
					      nx * elemsize);
}

uint32_t starpu_vector_get_nx(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, vector, VECTOR)->nx;
}

size_t starpu_vector_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, vector, VECTOR)->elemsize;
}

size_t starpu_vector_get_allocsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, vector, VECTOR)->allocsize;
}

uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset)
{
	API_PLACE(vector, VECTOR);
}
