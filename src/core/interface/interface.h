/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACE_INTERFACE_H
#define ORR_CORE_INTERFACE_INTERFACE_H

/*
 * interface.h - the predefined data interfaces: a file and a row of the table each.
 *
 * To programs an interface is a table of operations, as the application's own are.
 * Programs copy the tables and change them, so short cuts are taken for the operations
 * that they spare, one by one, never for the table's address.  They call operations, too,
 * so these are given no node and ask whose call it is as src/api does, in interface.c.
 *
 * All that others need to know of a predefined interface is in its row.
 */
#include "base/layout.h"
#include "core/data/data.h"

/*
 * Where a value of the shape of one struct lies at the place (address, strides) of
 * another; the same one twice: where it is.  0, or -E2BIG: it must be packed.
 */
typedef int interface_layout_func(const void *shape, const void *place,
				  struct layout *layout);

struct interface_kind {
	enum starpu_data_interface_id id;
	interface_layout_func *layout;
	size_t (*element_bytes)(const void *interface); /* NULL: has no elements */
	/* They copy the bytes of one layout to those of the other; NULL: others do. */
	const struct starpu_data_copy_methods *methods;
	/* They pack the bytes of the layout in order, so that packing can be spared. */
	int (*pack)(starpu_data_handle_t handle, unsigned memory, void **ptr,
		    starpu_ssize_t *count);
	int (*peek)(starpu_data_handle_t handle, unsigned memory, void *ptr,
		    size_t count);
	int (*unpack)(starpu_data_handle_t handle, unsigned memory, void *ptr,
		      size_t count);
};

extern const struct interface_kind interface_bcsr, interface_block, interface_coo,
	interface_csr, interface_matrix, interface_multiformat, interface_ndim,
	interface_tensor, interface_variable, interface_vector, interface_void;
/* StarPU does not export it. */
extern struct starpu_data_interface_ops interface_multiformat_ops;

/* ---- asked by others ------------------------------------------------- */

/* How the value lies in a memory; 1 when that is known, 0: it must be packed. */
int interface_layout(starpu_data_handle_t handle, unsigned memory, struct layout *layout);
/* The same of the two ends of a copy with these methods; 0: they have to make it. */
int interface_layouts(const struct starpu_data_copy_methods *methods, const void *from,
		      const void *to, struct layout *source, struct layout *target);
/* Bytes of an element; 0 when the interface has none, or is not known. */
size_t interface_element_bytes(starpu_data_handle_t handle);
/* By its own number or that in its struct: a copied and changed table may have another
 * number. */
int interface_is(starpu_data_handle_t handle, enum starpu_data_interface_id id);

/* ---- registration ---------------------------------------------------- */

/*
 * register_data_handle of all that begin as struct plain_head.  It does what the
 * application's do, but data_register() knows its effect and spares the call: the struct
 * at home, the same without pointers elsewhere.
 */
void interface_register_plain(starpu_data_handle_t handle, int home, void *interface);

static inline int interface_is_plain(const struct starpu_data_interface_ops *ops)
{
	return ops->register_data_handle == interface_register_plain;
}

/* A datum of the library's own: n bytes of main memory. */
starpu_data_handle_t interface_register_bytes(struct node *node, void *bytes, size_t n);

/* Make to, of bytes bytes, what a plain interface is where it has no memory. */
void interface_copy_shape(void *to, const void *from, size_t bytes);

struct plain_head {
	enum starpu_data_interface_id id;
	uintptr_t ptr, dev_handle;
	size_t offset;
};

#define INTERFACE_BEGINS_AS_PLAIN(kind)                                                  \
	_Static_assert(offsetof(struct starpu_##kind##_interface, ptr) ==                \
				       offsetof(struct plain_head, ptr) &&               \
			       offsetof(struct starpu_##kind##_interface, dev_handle) == \
				       offsetof(struct plain_head, dev_handle) &&        \
			       offsetof(struct starpu_##kind##_interface, offset) ==     \
				       offsetof(struct plain_head, offset),              \
		       "pointers of the interface are elsewhere")

/* ---- memory ---------------------------------------------------------- */

/* Bytes of one of the node's memories, as starpu_malloc_on_node() gives them; 0 when
 * there is no room. */
uintptr_t interface_get(unsigned memory, size_t bytes);
void interface_put(unsigned memory, uintptr_t ptr, size_t bytes);
/* The same for packed values: uncounted, as the application's operations do it. */
void *interface_buffer_get(unsigned memory, size_t bytes);
void interface_buffer_put(unsigned memory, void *buffer, size_t bytes);
/* Is it a memory that the application's pointers can point to? */
int interface_is_in_main(unsigned memory);

/* What kind of memory it is; has the node one of a kind? */
enum starpu_node_kind interface_memory_kind(unsigned memory);
int interface_has_memory(const struct node *node, enum starpu_node_kind kind);

/* ---- operations made of a layout ------------------------------------- */

/* For allocate_data_on_node and free_data_on_node of what is plain: bytes in one piece.
 * Returns bytes, or -ENOMEM. */
starpu_ssize_t interface_allocate(void *interface, unsigned memory, size_t bytes);
void interface_free(void *interface, unsigned memory, size_t bytes);
/* For cache_data_on_node and reuse_data_on_node of the same: the piece changes hands. */
void interface_cache(void *cached, void *interface, unsigned memory);
void interface_reuse(void *interface, const void *cached, unsigned memory);
/* The stride of a dimension of count positions, in a copy in one piece; ends the program
 * where it does not fit and something lies there. */
uint32_t interface_stride(size_t nelements, size_t count);
/* For map_data of what begins as struct plain_head, of bytes bytes; for unmap_data and
 * update_map of the same.  0, or -EIO: not between these memories. */
int interface_map(const void *from, unsigned from_memory, void *to, unsigned to_memory,
		  size_t bytes);
int interface_unmap(void *from, unsigned from_memory, void *to, unsigned to_memory);
int interface_update_map(void *from, unsigned from_memory, void *to, unsigned to_memory);
/* Can the bytes of one memory be seen from another?  0, or -EIO. */
int interface_sees(unsigned memory, unsigned from);
/* For to_pointer. */
void *interface_pointer(void *interface, unsigned memory);

/* What any_to_any is given. */
struct copy_ends {
	const void *from;
	void *to;
	unsigned from_memory, to_memory;
	void *async_data;
};

/* They return 0, or -EAGAIN: it is moved later; see core/interface/methods.h. */
int interface_copy(interface_layout_func *layout_of, const struct copy_ends *ends);
/* A block of bytes. */
int interface_move(const struct copy_ends *ends, const void *from, void *to,
		   size_t bytes);
int interface_pack(interface_layout_func *layout_of, starpu_data_handle_t handle,
		   unsigned memory, void **ptr, starpu_ssize_t *count);
int interface_peek(interface_layout_func *layout_of, starpu_data_handle_t handle,
		   unsigned memory, void *ptr, size_t count);

/*
 * kind_copy(), kind_pack(), kind_peek() and kind_unpack() made of what = kind_layout()
 * or kind_arrays() by the functions of a family, interface or arrays, and the copy
 * methods.  They are functions of their own, since a table tells by them what it is.
 */
#define INTERFACE_BY(kind, family, what)                                                 \
	static int kind##_copy(void *from, unsigned from_memory, void *to,               \
			       unsigned to_memory, void *async_data)                     \
	{                                                                                \
		const struct copy_ends ends = {from, to, from_memory, to_memory,         \
					       async_data};                              \
                                                                                         \
		return family##_copy(what, &ends);                                       \
	}                                                                                \
	static int kind##_pack(starpu_data_handle_t handle, unsigned memory, void **ptr, \
			       starpu_ssize_t *count)                                    \
	{                                                                                \
		return family##_pack(what, handle, memory, ptr, count);                  \
	}                                                                                \
	static int kind##_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,  \
			       size_t count)                                             \
	{                                                                                \
		return family##_peek(what, handle, memory, ptr, count);                  \
	}                                                                                \
	static int kind##_unpack(starpu_data_handle_t handle, unsigned memory,           \
				 void *ptr, size_t count)                                \
	{                                                                                \
		int ret = family##_peek(what, handle, memory, ptr, count);               \
                                                                                         \
		interface_buffer_put(memory, ptr, count);                                \
		return ret;                                                              \
	}                                                                                \
	static const struct starpu_data_copy_methods kind##_methods = {                  \
		.any_to_any = kind##_copy}

/* All that of a plain interface that kind_layout() always knows, and its row. */
#define INTERFACE_BY_LAYOUT(kind, KIND)                                                  \
	INTERFACE_BEGINS_AS_PLAIN(kind);                                                 \
	static void *kind##_pointer(void *interface, unsigned memory)                    \
	{                                                                                \
		return interface_pointer(interface, memory);                             \
	}                                                                                \
	static int kind##_map(void *from, unsigned from_memory, void *to,                \
			      unsigned to_memory)                                        \
	{                                                                                \
		return interface_map(from, from_memory, to, to_memory,                   \
				     sizeof(struct starpu_##kind##_interface));          \
	}                                                                                \
	INTERFACE_BY(kind, interface, kind##_layout);                                    \
	const struct interface_kind interface_##kind = {                                 \
		.id = STARPU_##KIND##_INTERFACE_ID,                                      \
		.layout = kind##_layout,                                                 \
		.element_bytes = kind##_element_bytes,                                   \
		.methods = &kind##_methods,                                              \
		.pack = kind##_pack,                                                     \
		.peek = kind##_peek,                                                     \
		.unpack = kind##_unpack}

/* What the public table of such an interface has in common with others. */
#define INTERFACE_OPS_BY_LAYOUT(kind, KIND)                                              \
	.register_data_handle = interface_register_plain,                                \
	.cache_data_on_node = interface_cache, INTERFACE_MAPS(kind),                     \
	INTERFACE_OPS(kind, KIND)

#define INTERFACE_MAPS(kind)                                                             \
	.map_data = kind##_map, .unmap_data = interface_unmap,                           \
	.update_map = interface_update_map

#define INTERFACE_OPS(kind, KIND)                                                        \
	.allocate_data_on_node = kind##_allocate, .free_data_on_node = kind##_free,      \
	.copy_methods = &kind##_methods, .to_pointer = kind##_pointer,                   \
	.get_size = kind##_size, .footprint = kind##_footprint,                          \
	.compare = kind##_compare, .display = kind##_display,                            \
	.describe = kind##_describe, .pack_data = kind##_pack, .peek_data = kind##_peek, \
	.unpack_data = kind##_unpack, .interfaceid = STARPU_##KIND##_INTERFACE_ID,       \
	.interface_size = sizeof(struct starpu_##kind##_interface),                      \
	.name = (char *)"STARPU_" #KIND "_INTERFACE"

#endif
