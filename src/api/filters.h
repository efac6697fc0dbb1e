/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_FILTERS_H
#define ORR_API_FILTERS_H

/*
 * filters.h - what the predefined filters share.
 *
 * A filter takes a range of one dimension, or one position: the part has the strides of
 * its father and begins some bytes later.
 */
#include "core/interface/interface.h"

#define FILTER_PARAMS STARPU_FILTER_PARAMS_

/* The kind of the father that a filter is for: of a name as it has in StarPU's. */
enum {
	FILTER_OF_matrix = STARPU_MATRIX_INTERFACE_ID,
	FILTER_OF_block = STARPU_BLOCK_INTERFACE_ID,
	FILTER_OF_vector = STARPU_VECTOR_INTERFACE_ID,
	FILTER_OF_csr = STARPU_CSR_INTERFACE_ID,
	FILTER_OF_bcsr = STARPU_BCSR_INTERFACE_ID,
	FILTER_OF_tensor = STARPU_TENSOR_INTERFACE_ID,
	FILTER_OF_ndim = STARPU_NDIM_INTERFACE_ID
};

/* End the program when the father is of another predefined kind. */
void filter_check_father(const char *func, const void *father, int kind);
/* The same of filter_arg_ptr, which must point to something: says to what. */
void filter_check_argument(const char *func, const struct starpu_data_filter *f,
			   const char *what);

/* A dimension of n elements, which are stride_bytes apart, in a call of a filter. */
struct filter_range {
	const char *func;
	unsigned n, id, nparts;
	size_t stride_bytes;
	size_t offset_bytes; /* out: where the part begins */
};

/* How many elements the part has; shadow: of them, at each end, shared with others. */
unsigned filter_split(struct filter_range *range, unsigned shadow);
unsigned filter_shadow(const struct starpu_data_filter *f);
/* One position, which must be less than n. */
void filter_pick(struct filter_range *range, size_t position);
/* The child's memory is the father's from offset_bytes on. */
void filter_place(const void *father, void *child, size_t offset_bytes);
/* The child is one element. */
void filter_element(const void *father, void *child, size_t elemsize,
		    size_t offset_bytes);

/* ---- boxes: what has ndims dimensions -------------------------------- */

/* The father at first, the child in the end: n[i] elements, ld[i] apart. */
struct filter_box {
	const void *father; /* begins as struct plain_head */
	uint32_t *n, *ld;
	size_t ndims, elemsize;
	size_t offset_bytes; /* from where the father begins */
};

/* Which part, of what is in a dimension, a function was asked for. */
struct filter_wish {
	const char *func;
	const struct starpu_data_filter *f;
	unsigned id, nparts, axis;
};

#define FILTER_WISH(which)                                                               \
	(&(struct filter_wish){                                                          \
		.func = __func__, .f = f, .id = id, .nparts = nparts, .axis = (which)})

/* Cut along an axis, with shadows or without. */
void box_split(struct filter_box *box, const struct filter_wish *wish, unsigned shadow);
/* Leave out an axis, of which the part has one position; the father has that axis. */
void box_pick(struct filter_box *box, const struct filter_wish *wish);
/* The element at the positions of filter_arg_ptr: no dimensions remain. */
void box_pick_element(struct filter_box *box, const struct filter_wish *wish);
/* Write what a box of up to 4 dimensions is: a variable, vector, matrix, block, tensor.
 * What these do not have is an inner dimension that is not contiguous. */
void box_fill(const struct filter_box *box, const struct filter_wish *wish, void *child);

enum { BOX_MAX = 4 };

/* ---- what the functions of most kinds are ---------------------------- */

/* That cut a kind, of which kind_box() makes a box with the arrays that it is given. */
#define FILTER_CUTS(kind, name, which)                                                   \
	void starpu_##kind##_filter_##name(FILTER_PARAMS)                                \
	{                                                                                \
		uint32_t lengths[2 * BOX_MAX];                                           \
		struct filter_box box;                                                   \
                                                                                         \
		filter_check_father(__func__, father_interface, FILTER_OF_##kind);       \
		box = kind##_box(father_interface, lengths);                             \
		box_split(&box, FILTER_WISH(which), 0);                                  \
		box_fill(&box, FILTER_WISH(which), child_interface);                     \
	}                                                                                \
	void starpu_##kind##_filter_##name##_shadow(FILTER_PARAMS)                       \
	{                                                                                \
		uint32_t lengths[2 * BOX_MAX];                                           \
		struct filter_box box;                                                   \
                                                                                         \
		filter_check_father(__func__, father_interface, FILTER_OF_##kind);       \
		box = kind##_box(father_interface, lengths);                             \
		box_split(&box, FILTER_WISH(which), filter_shadow(f));                   \
		box_fill(&box, FILTER_WISH(which), child_interface);                     \
	}

/* That pick from it. */
#define FILTER_PICKS(kind, name, which)                                                  \
	void starpu_##kind##_filter_##name(FILTER_PARAMS)                                \
	{                                                                                \
		uint32_t lengths[2 * BOX_MAX];                                           \
		struct filter_box box;                                                   \
                                                                                         \
		filter_check_father(__func__, father_interface, FILTER_OF_##kind);       \
		box = kind##_box(father_interface, lengths);                             \
		box_pick(&box, FILTER_WISH(which));                                      \
		box_fill(&box, FILTER_WISH(which), child_interface);                     \
	}

#define FILTER_PICKS_VARIABLE(kind)                                                      \
	void starpu_##kind##_filter_pick_variable(FILTER_PARAMS)                         \
	{                                                                                \
		uint32_t lengths[2 * BOX_MAX];                                           \
		struct filter_box box;                                                   \
                                                                                         \
		filter_check_father(__func__, father_interface, FILTER_OF_##kind);       \
		box = kind##_box(father_interface, lengths);                             \
		box_pick_element(&box, FILTER_WISH(0));                                  \
		box_fill(&box, FILTER_WISH(0), child_interface);                         \
	}                                                                                \
	FILTER_CHILDREN_ARE(kind##_filter_pick_variable, variable)

#define FILTER_CHILDREN_ARE(name, kind)                                                  \
	struct starpu_data_interface_ops *starpu_##name##_child_ops(                     \
		struct starpu_data_filter *f, unsigned child)                            \
	{                                                                                \
		(void)f;                                                                 \
		(void)child;                                                             \
		return &starpu_interface_##kind##_ops;                                   \
	}

#endif
