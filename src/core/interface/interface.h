/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACE_INTERFACE_H
#define ORR_CORE_INTERFACE_INTERFACE_H

/*
 * interface.h - the predefined data interfaces: variable, vector, matrix, void.
 *
 * Each is a table of operations, as the application's own are.  Programs copy the tables
 * and change them, so what is known of an interface is known from the operations it has,
 * one by one, never from the table's address or number.  Operations know nothing of
 * nodes but through starpu_malloc_on_node().
 */
#include "base/layout.h"
#include "core/data.h"

/*
 * register_data_handle of all that are predefined.  It does what the application's do,
 * but data_register() knows its effect and spares the call: the struct at home, the
 * same without pointers elsewhere.
 */
void interface_register_plain(starpu_data_handle_t handle, int home, void *interface);

static inline int interface_is_plain(const struct starpu_data_interface_ops *ops)
{
	return ops->register_data_handle == interface_register_plain;
}

/* Make to, of bytes bytes, what a plain interface is where it has no memory. */
void interface_copy_shape(void *to, const void *from, size_t bytes);

/* Operations that pack the bytes of a layout in order, so that packing can be spared. */
struct interface_packing {
	int (*pack)(starpu_data_handle_t handle, unsigned memory, void **ptr,
		    starpu_ssize_t *count);
	int (*peek)(starpu_data_handle_t handle, unsigned memory, void *ptr,
		    size_t count);
	int (*unpack)(starpu_data_handle_t handle, unsigned memory, void *ptr,
		      size_t count);
	void (*layout)(starpu_data_handle_t handle, void *interface, unsigned memory,
		       struct layout *layout);
};

extern const struct interface_packing interface_flat, interface_matrix, interface_void;

/* How the payload lies in a memory; 1 when that is known, 0: it must be packed. */
int interface_layout(starpu_data_handle_t handle, unsigned memory, struct layout *layout);

#endif
