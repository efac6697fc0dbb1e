/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_INT_INTERFACE_H
#define ORR_TESTS_INT_INTERFACE_H

/*
 * int_interface.h - an application's interface: its struct is a pointer to an int.
 */
#include <stdint.h>

#include <starpu.h>

static inline void int_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (unsigned i = 0; i < STARPU_MAXNODES; i++) {
		int **at = starpu_data_get_interface_on_node(handle, i);

		*at = (int)i == home ? *(int **)interface : NULL;
	}
}

static inline starpu_ssize_t int_allocate(void *interface, unsigned node)
{
	*(int **)interface = (int *)starpu_malloc_on_node(node, sizeof(int));
	return sizeof(int);
}

static inline void int_free(void *interface, unsigned node)
{
	starpu_free_on_node(node, *(uintptr_t *)interface, sizeof(int));
	*(int **)interface = NULL;
}

static inline size_t int_size(starpu_data_handle_t handle)
{
	(void)handle;
	return sizeof(int);
}

static inline uint32_t int_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

#define INT_OPERATIONS                                                                   \
	.register_data_handle = int_register, .allocate_data_on_node = int_allocate,     \
	.free_data_on_node = int_free, .get_size = int_size, .footprint = int_footprint, \
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID, .interface_size = sizeof(int *),     \
	.name = (char *)"int"

#endif
