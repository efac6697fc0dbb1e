/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/filters.h"

static void fill(const struct starpu_matrix_interface *father, void *child_interface,
		 uint32_t nx, uint32_t ny, size_t offset_bytes)
{
	struct starpu_matrix_interface *child = child_interface;

	child->id = father->id;
	child->nx = nx;
	child->ny = ny;
	child->ld = father->ld;
	child->elemsize = father->elemsize;
	child->allocsize = (size_t)nx * ny * father->elemsize;
	filter_place(father, child, offset_bytes);
}

/* Elements of a column are next to each other, columns ld apart. */
static void block(const char *func, FILTER_PARAMS, unsigned shadow)
{
	const struct starpu_matrix_interface *father = father_interface;
	struct filter_range range = {.func = func,
				     .n = father->nx,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = father->elemsize};
	uint32_t nx = filter_split(&range, shadow);

	(void)f;
	fill(father, child_interface, nx, father->ny, range.offset_bytes);
}

static void vertical(const char *func, FILTER_PARAMS, unsigned shadow)
{
	const struct starpu_matrix_interface *father = father_interface;
	struct filter_range range = {.func = func,
				     .n = father->ny,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = father->ld * father->elemsize};
	uint32_t ny = filter_split(&range, shadow);

	(void)f;
	fill(father, child_interface, father->nx, ny, range.offset_bytes);
}

void starpu_matrix_filter_block(FILTER_PARAMS)
{
	block(__func__, father_interface, child_interface, f, id, nparts, 0);
}

void starpu_matrix_filter_block_shadow(FILTER_PARAMS)
{
	block(__func__, father_interface, child_interface, f, id, nparts,
	      filter_shadow(f));
}

void starpu_matrix_filter_vertical_block(FILTER_PARAMS)
{
	vertical(__func__, father_interface, child_interface, f, id, nparts, 0);
}

void starpu_matrix_filter_vertical_block_shadow(FILTER_PARAMS)
{
	vertical(__func__, father_interface, child_interface, f, id, nparts,
		 filter_shadow(f));
}

void starpu_matrix_filter_pick_vector_y(FILTER_PARAMS)
{
	const struct starpu_matrix_interface *father = father_interface;
	struct starpu_vector_interface *child = child_interface;
	struct filter_range range = {.func = __func__,
				     .n = father->ny,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = father->ld * father->elemsize};

	filter_pick(&range, (size_t)(uintptr_t)f->filter_arg_ptr + id);
	child->id = STARPU_VECTOR_INTERFACE_ID;
	child->nx = father->nx;
	child->elemsize = father->elemsize;
	child->allocsize = father->nx * father->elemsize;
	filter_place(father, child, range.offset_bytes);
}

struct starpu_data_interface_ops *
starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_vector_ops;
}

void starpu_matrix_filter_pick_variable(FILTER_PARAMS)
{
	const struct starpu_matrix_interface *father = father_interface;
	const uint32_t *position = f->filter_arg_ptr;
	struct filter_range range = {.func = __func__,
				     .n = father->nx,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = father->elemsize};

	filter_pick(&range, position[0]);
	range.n = father->ny;
	range.stride_bytes = father->ld * father->elemsize;
	filter_pick(&range, position[1]);
	filter_element(father, child_interface, father->elemsize, range.offset_bytes);
}

struct starpu_data_interface_ops *
starpu_matrix_filter_pick_variable_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_variable_ops;
}
