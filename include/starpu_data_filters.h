/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Partitions: data that are cut into parts, which are data of their own.
 *
 * A part lies in the memory of its parent: where the parent is at home, or in main
 * memory, nothing is copied when the parent is cut and put together again.  In other
 * memories a part has memory of its own.  Parts may be cut in turn.
 *
 * Application's threads, unless a comment says otherwise; wrong arguments end the process
 * with a message.
 */

#ifndef STARPU_DATA_FILTERS_H
#define STARPU_DATA_FILTERS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How to cut.  Needed until the function that it is given to returns. */
struct starpu_data_filter {
	/** Fill child_interface, all zero, with part id of nparts of father_interface.
	 * Where the father has no memory its pointers are NULL, and the child's are to be
	 * so.  Called from inside the function that the filter is given to. */
	void (*filter_func)(void *father_interface, void *child_interface,
			    struct starpu_data_filter *filter, unsigned id,
			    unsigned nparts);
	/** How many parts. */
	unsigned nchildren;
	/** Says how many instead, when not NULL. */
	unsigned (*get_nchildren)(struct starpu_data_filter *filter,
				  starpu_data_handle_t initial_handle);
	/** The interface of part id; NULL, or where it returns NULL: the father's. */
	struct starpu_data_interface_ops *(*get_child_ops)(
		struct starpu_data_filter *filter, unsigned id);
	/** For filter_func. */
	unsigned filter_arg;
	void *filter_arg_ptr;
};

/*
 * Synchronous: the parts exist from starpu_data_partition() to starpu_data_unpartition(),
 * and meanwhile the parent must not be used.
 */

/** Wait for the tasks on initial_handle, and cut it. */
void starpu_data_partition(starpu_data_handle_t initial_handle,
			   struct starpu_data_filter *f);

/** Wait for the tasks on the parts, put root_data together again and have its value in
 * gathering_node; the parts, and parts of them, are unregistered. */
void starpu_data_unpartition(starpu_data_handle_t root_data, unsigned gathering_node);

/** Part i, from 0.  Any thread. */
starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle, unsigned i);

/** How many parts; 0 when it is not cut.  Any thread. */
int starpu_data_get_nb_children(starpu_data_handle_t handle);

/** Part i1 of root_data, then part i2 of that, and so on: depth numbers of type int.
 * Any thread. */
starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data,
					      unsigned depth, ...);
starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data,
					       unsigned depth, va_list pa);

/** Cut with the first filter, the parts with the second one, and so on; of something that
 * is cut already, begin with its innermost parts. */
void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters, ...);
void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters,
			      va_list pa);
void starpu_data_map_filters_parray(starpu_data_handle_t root_handle, int nfilters,
				    struct starpu_data_filter **filters);
void starpu_data_map_filters_array(starpu_data_handle_t root_handle, int nfilters,
				   struct starpu_data_filter *filters);

/*
 * Planned: the parts of any number of partitions exist from starpu_data_partition_plan()
 * to starpu_data_partition_clean().  At each point of the submission either the parent
 * may be used, or the parts of one partition, or for reading the parent and the parts of
 * several.  The functions below change that from one to another, in order with the tasks
 * submitted before and after, and return at once.
 *
 * They are rarely needed: tasks and acquisitions, by any thread, that use the parent or
 * parts in order (sequential consistency) make the change themselves, unless the codelet
 * has STARPU_CODELET_NOPLANS or the mode STARPU_NOPLAN.
 *
 * nparts and children are as starpu_data_partition_plan() left them.
 */

/** Cut, and write the handles of the parts to children.  A parent has synchronous parts
 * or plans, not both. */
void starpu_data_partition_plan(starpu_data_handle_t initial_handle,
				struct starpu_data_filter *f,
				starpu_data_handle_t *children);

/** From now on the parts are used, and nothing else of the parent. */
void starpu_data_partition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				  starpu_data_handle_t *children);
/** The same; without sequential_consistency it waits for those who hold the data, not
 * for its turn among what has been submitted. */
void starpu_data_partition_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int sequential_consistency);

/** From now on the parts are read, beside the parent and parts that are read already. */
void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle,
					   unsigned nparts,
					   starpu_data_handle_t *children);
void starpu_data_partition_readonly_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int sequential_consistency);

/** From the latter to the former: other partitions are closed. */
void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t initial_handle,
						    unsigned nparts,
						    starpu_data_handle_t *children);

/** The opposite: parts that were written may be read beside the parent. */
void starpu_data_partition_readonly_downgrade_submit(starpu_data_handle_t initial_handle,
						     unsigned nparts,
						     starpu_data_handle_t *children);

/** From now on the parent is used, and not these parts.  gathering_node: where the parent
 * is at home, or -1. */
void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				    starpu_data_handle_t *children, int gathering_node);
void starpu_data_unpartition_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int gathering_node, int sequential_consistency);
/** The same; callback_func(callback_arg) is called when it has been done. */
void starpu_data_unpartition_submit_sequential_consistency_cb(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int gather_node, int sequential_consistency,
	void (*callback_func)(void *), void *callback_arg);

/** From now on the parent may be read, too; nothing is to be done when it may. */
void starpu_data_unpartition_readonly_submit(starpu_data_handle_t initial_handle,
					     unsigned nparts,
					     starpu_data_handle_t *children,
					     int gathering_node);

/** End the partition, after what has been submitted; its parts may not be used any more,
 * and those of them that have partitions are cleaned before. */
void starpu_data_partition_clean(starpu_data_handle_t root_data, unsigned nparts,
				 starpu_data_handle_t *children);
/** How many planned partitions it has now. */
int starpu_data_partition_get_nplans(starpu_data_handle_t initial_handle);
/** The same as starpu_data_partition_clean(); gather_node as in
 * starpu_data_unpartition_submit(). */
void starpu_data_partition_clean_node(starpu_data_handle_t root_data, unsigned nparts,
				      starpu_data_handle_t *children, int gather_node);

/*
 * Filters.  Of n things in nparts parts, each part gets n / nparts, and the first
 * n % nparts one more.  Any thread.
 */

/** Part id of n things: *chunk_size of them, which begin *offset bytes from the first,
 * when they are blocksize elements of elemsize bytes apart. */
void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned nparts,
							size_t elemsize, unsigned id,
							unsigned blocksize,
							unsigned *chunk_size,
							size_t *offset);

#define STARPU_FILTER_PARAMS_                                                            \
	void *father_interface, void *child_interface, struct starpu_data_filter *f,     \
		unsigned id, unsigned nparts

/*
 * Those named shadow cut what is inside a border of (uintptr_t) filter_arg_ptr elements
 * at both ends; each part has such a border, too, which overlaps with its neighbours: it
 * may be read.
 */

/** Vectors, cut into blocks. */
void starpu_vector_filter_block(STARPU_FILTER_PARAMS_);
void starpu_vector_filter_block_shadow(STARPU_FILTER_PARAMS_);
/** Parts of given lengths: filter_arg_ptr points to an array of uint32_t, or of long. */
void starpu_vector_filter_list(STARPU_FILTER_PARAMS_);
void starpu_vector_filter_list_long(STARPU_FILTER_PARAMS_);
/** Two parts, filter_arg elements and the rest. */
void starpu_vector_filter_divide_in_2(STARPU_FILTER_PARAMS_);
/** Part id is element (size_t) filter_arg_ptr + id. */
void starpu_vector_filter_pick_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *f,
					     unsigned child);

/** Matrices, cut along x (nx, within the columns) or along y. */
void starpu_matrix_filter_block(STARPU_FILTER_PARAMS_);
void starpu_matrix_filter_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_matrix_filter_vertical_block(STARPU_FILTER_PARAMS_);
void starpu_matrix_filter_vertical_block_shadow(STARPU_FILTER_PARAMS_);
/** Part id is column (size_t) filter_arg_ptr + id, a vector. */
void starpu_matrix_filter_pick_vector_y(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *f, unsigned child);
/** The element at filter_arg_ptr, which points to an array of two uint32_t: x, y. */
void starpu_matrix_filter_pick_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_matrix_filter_pick_variable_child_ops(struct starpu_data_filter *f,
					     unsigned child);

/** Blocks, cut along x, along y (vertical) or along z (depth). */
void starpu_block_filter_block(STARPU_FILTER_PARAMS_);
void starpu_block_filter_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_block_filter_vertical_block(STARPU_FILTER_PARAMS_);
void starpu_block_filter_vertical_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_block_filter_depth_block(STARPU_FILTER_PARAMS_);
void starpu_block_filter_depth_block_shadow(STARPU_FILTER_PARAMS_);
/** Part id is a matrix, of x and y at z = (size_t) filter_arg_ptr + id, or of x and z. */
void starpu_block_filter_pick_matrix_z(STARPU_FILTER_PARAMS_);
void starpu_block_filter_pick_matrix_y(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_block_filter_pick_matrix_child_ops(struct starpu_data_filter *f, unsigned child);
/** The element at filter_arg_ptr, which points to an array of three uint32_t: x, y, z. */
void starpu_block_filter_pick_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_block_filter_pick_variable_child_ops(struct starpu_data_filter *f, unsigned child);

/** Tensors, cut along x, y (vertical), z (depth) or t (time). */
void starpu_tensor_filter_block(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_vertical_block(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_vertical_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_depth_block(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_depth_block_shadow(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_time_block(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_time_block_shadow(STARPU_FILTER_PARAMS_);
/** Part id is a block, of the other axes at t, z or y = (size_t) filter_arg_ptr + id. */
void starpu_tensor_filter_pick_block_t(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_pick_block_z(STARPU_FILTER_PARAMS_);
void starpu_tensor_filter_pick_block_y(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_tensor_filter_pick_block_child_ops(struct starpu_data_filter *f, unsigned child);
/** The element at filter_arg_ptr, which points to four uint32_t: x, y, z, t. */
void starpu_tensor_filter_pick_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_tensor_filter_pick_variable_child_ops(struct starpu_data_filter *f,
					     unsigned child);

/** Arrays of n dimensions, cut along dimension filter_arg, from 0. */
void starpu_ndim_filter_block(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_block_shadow(STARPU_FILTER_PARAMS_);
/** The same of 4, 3, 2, 1 dimensions, into parts of the interfaces that have so many; of
 * none, which is one element: nparts is 1. */
void starpu_ndim_filter_to_tensor(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_to_block(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_to_matrix(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_to_vector(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_to_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_ndim_filter_to_tensor_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_to_block_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_to_matrix_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_to_vector_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_to_variable_child_ops(struct starpu_data_filter *f, unsigned child);
/** Part id is what has position (size_t) filter_arg_ptr + id in dimension filter_arg: an
 * array of the other dimensions, in their order. */
void starpu_ndim_filter_pick_ndim(STARPU_FILTER_PARAMS_);
/** The same of 5, 4, 3, 2, 1 dimensions, as parts of the interfaces that have one less;
 * these are contiguous in their first dimension, so that dimension 0 can be picked from
 * when the next one is, too. */
void starpu_ndim_filter_5d_pick_tensor(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_4d_pick_block(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_3d_pick_matrix(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_2d_pick_vector(STARPU_FILTER_PARAMS_);
void starpu_ndim_filter_1d_pick_variable(STARPU_FILTER_PARAMS_);
/** The element at filter_arg_ptr, which points to a uint32_t for each dimension. */
void starpu_ndim_filter_pick_variable(STARPU_FILTER_PARAMS_);
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_tensor_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_block_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_matrix_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_vector_child_ops(struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *
starpu_ndim_filter_pick_variable_child_ops(struct starpu_data_filter *f, unsigned child);

/** Sparse matrices of the same kind, of some rows each (of blocks, in BCSR): rowptr of a
 * part is the father's, which counts from the part's firstentry.  The father's rowptr is
 * read when it is cut, in main memory, and must not change until it is whole again. */
void starpu_csr_filter_vertical_block(STARPU_FILTER_PARAMS_);
void starpu_bcsr_filter_vertical_block(STARPU_FILTER_PARAMS_);
/** Part id is block id of a BCSR matrix: a matrix whose nx is c and whose ny is r. */
void starpu_bcsr_filter_canonical_block(STARPU_FILTER_PARAMS_);
/** How many blocks there are. */
unsigned starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
							  starpu_data_handle_t handle);
struct starpu_data_interface_ops *
starpu_bcsr_filter_canonical_block_child_ops(struct starpu_data_filter *f,
					     unsigned child);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DATA_FILTERS_H */
