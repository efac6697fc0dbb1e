/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_WRONG_OWN_H
#define ORR_TESTS_WRONG_OWN_H

/* own.h - an interface of the program's own, of one long. */
#include "wrong.h"

struct own_interface {
	enum starpu_data_interface_id id;
	uintptr_t at;
};

static inline void register_own(starpu_data_handle_t handle, int home, void *interface)
{
	const struct own_interface *given = interface;

	for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
		struct own_interface *own =
			starpu_data_get_interface_on_node(handle, node);

		own->id = given->id;
		own->at = (int)node == home ? given->at : 0;
	}
}

static inline size_t size_own(starpu_data_handle_t handle)
{
	(void)handle;
	return sizeof(long);
}

static inline uint32_t footprint_own(starpu_data_handle_t handle)
{
	(void)handle;
	return 1;
}

#endif
