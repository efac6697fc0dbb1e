/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
				   uintptr_t ptr, size_t size)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_variable_interface variable = {
		.id = STARPU_VARIABLE_INTERFACE_ID,
		.ptr = home_node >= 0 ? ptr : 0,
		.dev_handle = home_node >= 0 ? ptr : 0,
		.elemsize = size,
	};

	api_given_memory(node, __func__, home_node, ptr, size);
	*handle = data_register(node, api_home(node, __func__, home_node), &variable,
				&starpu_interface_variable_ops);
}

size_t starpu_variable_get_elemsize(starpu_data_handle_t handle)
{
	return API_INTERFACE_OF(handle, variable, VARIABLE)->elemsize;
}

uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle)
{
	return (uintptr_t)starpu_data_get_local_ptr(handle);
}

void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node,
				  uintptr_t ptr, uintptr_t dev_handle, size_t offset)
{
	API_PLACE(variable, VARIABLE);
}
