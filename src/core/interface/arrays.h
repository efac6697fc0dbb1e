/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACE_ARRAYS_H
#define ORR_CORE_INTERFACE_ARRAYS_H

/*
 * arrays.h - operations of interfaces whose value is a few contiguous arrays.
 *
 * Such an interface lists its arrays: where in its struct the pointer is, and the bytes.
 * Memory, copies and packing follow.  Packed, the arrays are in the order of the list.
 */
#include "core/interface/interface.h"

enum { ARRAYS_MAX = 3 };

struct arrays {
	int n;
	struct array {
		size_t field; /* offset in the struct of a pointer, or uintptr_t */
		size_t bytes;
	} array[ARRAYS_MAX];
};

/* The arrays of the shape of interface. */
typedef struct arrays interface_arrays_func(const void *interface);

size_t arrays_bytes(interface_arrays_func *arrays_of, const void *interface);
void arrays_register(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		     int home, const void *interface);
starpu_ssize_t arrays_allocate(interface_arrays_func *arrays_of, void *interface,
			       unsigned memory);
void arrays_free(interface_arrays_func *arrays_of, void *interface, unsigned memory);
/* The arrays of one struct become those of another; from's has none then, or is const. */
void arrays_cache(interface_arrays_func *arrays_of, void *cached, void *interface);
void arrays_reuse(interface_arrays_func *arrays_of, void *interface, const void *cached);
/* The struct has no arrays any more. */
void arrays_forget(interface_arrays_func *arrays_of, void *interface);
int arrays_copy(interface_arrays_func *arrays_of, const struct copy_ends *ends);
int arrays_pack(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		unsigned memory, void **ptr, starpu_ssize_t *count);
int arrays_peek(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		unsigned memory, void *ptr, size_t count);

/*
 * The operations of a kind whose kind_arrays() lists its arrays, and its row; its file
 * adds kind_allocate(), kind_reuse() and what is asked of its shape.
 */
#define INTERFACE_BY_ARRAYS(kind, KIND)                                                  \
	static void kind##_register(starpu_data_handle_t handle, int home,               \
				    void *interface)                                     \
	{                                                                                \
		arrays_register(kind##_arrays, handle, home, interface);                 \
	}                                                                                \
	static void kind##_free(void *interface, unsigned memory)                        \
	{                                                                                \
		arrays_free(kind##_arrays, interface, memory);                           \
	}                                                                                \
	static void kind##_cache(void *cached, void *interface, unsigned memory)         \
	{                                                                                \
		(void)memory;                                                            \
		arrays_cache(kind##_arrays, cached, interface);                          \
	}                                                                                \
	static void kind##_reuse(void *interface, const void *cached, unsigned memory);  \
	static int kind##_map(void *from, unsigned from_memory, void *to,                \
			      unsigned to_memory)                                        \
	{                                                                                \
		if (interface_sees(from_memory, to_memory) < 0)                          \
			return interface_sees(from_memory, to_memory);                   \
		kind##_reuse(to, from, to_memory);                                       \
		return 0;                                                                \
	}                                                                                \
	static int kind##_unmap(void *from, unsigned from_memory, void *to,              \
				unsigned to_memory)                                      \
	{                                                                                \
		(void)from;                                                              \
		arrays_forget(kind##_arrays, to);                                        \
		return interface_sees(from_memory, to_memory);                           \
	}                                                                                \
	static size_t kind##_alloc_size(starpu_data_handle_t handle)                     \
	{                                                                                \
		return arrays_bytes(kind##_arrays, handle->interface);                   \
	}                                                                                \
	INTERFACE_BY(kind, arrays, kind##_arrays);                                       \
	static size_t kind##_element_bytes(const void *interface)                        \
	{                                                                                \
		return ((const struct starpu_##kind##_interface *)interface)->elemsize;  \
	}                                                                                \
	const struct interface_kind interface_##kind = {                                 \
		.id = STARPU_##KIND##_INTERFACE_ID,                                      \
		.element_bytes = kind##_element_bytes}

/* What the public table of such an interface has in common with others. */
#define INTERFACE_OPS_BY_ARRAYS(kind, KIND)                                              \
	.register_data_handle = kind##_register, .get_alloc_size = kind##_alloc_size,    \
	.cache_data_on_node = kind##_cache, .reuse_data_on_node = kind##_reuse,          \
	.map_data = kind##_map, .unmap_data = kind##_unmap,                              \
	.update_map = interface_update_map, INTERFACE_OPS(kind, KIND)

#endif
