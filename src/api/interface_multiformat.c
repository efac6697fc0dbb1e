/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/interface.h"
#include "base/check.h"

void starpu_multiformat_data_register(
	starpu_data_handle_t *handle, int home_node, void *ptr, uint32_t nobjects,
	struct starpu_multiformat_data_interface_ops *format_ops)
{
	api_given(__func__, "handle", handle);

	struct node *node = api_node(__func__);
	struct starpu_multiformat_interface multi = {
		.id = STARPU_MULTIFORMAT_INTERFACE_ID,
		.cpu_ptr = ptr,
		.nx = nobjects,
		.ops = format_ops,
	};

	api_given(__func__, "format_ops", format_ops);
	if (api_home(node, __func__, home_node) > STARPU_MAIN_RAM)
		orr_die(node->rank,
			"%s: home node %d; expected 0 or -1: the data begin in the "
			"format of the processors",
			__func__, home_node);
	api_given_memory(
		node, __func__, home_node, (uintptr_t)ptr,
		api_product_bytes(node, __func__, nobjects, format_ops->cpu_elemsize));
	*handle = data_register(node, home_node, &multi, &interface_multiformat_ops);
}
