/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"

void starpu_void_data_register(starpu_data_handle_t *handle)
{
	api_given(__func__, "handle", handle);

	*handle = data_register(api_node(__func__), STARPU_MAIN_RAM, NULL,
				&starpu_interface_void_ops);
}
