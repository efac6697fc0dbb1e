/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Copies of data into other data. */
#include "api/api.h"
#include "base/check.h"
#include "core/data/duplicate.h"

void api_check_copy(struct node *node, const char *func, starpu_data_handle_t dst,
		    starpu_data_handle_t src)
{
	char to[128], from[128];

	if (dst->ops->interfaceid != src->ops->interfaceid)
		orr_die(node->rank,
			"%s: %s cannot be copied to %s, which is of another interface",
			func, data_describe(src, from, sizeof(from)),
			data_describe(dst, to, sizeof(to)));
}

int starpu_data_cpy_priority(starpu_data_handle_t dst_handle,
			     starpu_data_handle_t src_handle, int asynchronous,
			     void (*callback_func)(void *), void *callback_arg,
			     int priority)
{
	struct node *node =
		asynchronous ? api_node(__func__) : api_blocking_node(__func__);
	struct copy_wish wish = {.asynchronous = asynchronous,
				 .priority = priority,
				 .callback = callback_func,
				 .arg = callback_arg};

	api_check_handle(node, __func__, dst_handle);
	api_check_handle(node, __func__, src_handle);
	if (dst_handle == src_handle) {
		if (callback_func)
			callback_func(callback_arg);
		return 0;
	}
	api_check_copy(node, "starpu_data_cpy", dst_handle, src_handle);
	return duplicate_copy(node, dst_handle, src_handle, &wish);
}

int starpu_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
		    int asynchronous, void (*callback_func)(void *), void *callback_arg)
{
	return starpu_data_cpy_priority(dst_handle, src_handle, asynchronous,
					callback_func, callback_arg, STARPU_DEFAULT_PRIO);
}

int starpu_data_dup_ro(starpu_data_handle_t *dst_handle, starpu_data_handle_t src_handle,
		       int asynchronous)
{
	struct node *node =
		asynchronous ? api_node(__func__) : api_blocking_node(__func__);

	api_check_handle(node, __func__, src_handle);
	return duplicate_read_only(node, dst_handle, src_handle, asynchronous);
}
