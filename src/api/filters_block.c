/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/filters.h"

/* Which of the dimensions is cut, or picked from. */
enum axis { AXIS_X, AXIS_Y, AXIS_Z };

static uint32_t length(const struct starpu_block_interface *block, enum axis axis)
{
	return axis == AXIS_X ? block->nx : axis == AXIS_Y ? block->ny : block->nz;
}

static size_t stride_bytes(const struct starpu_block_interface *block, enum axis axis)
{
	size_t elements = axis == AXIS_X ? 1 : axis == AXIS_Y ? block->ldy : block->ldz;

	return elements * block->elemsize;
}

struct wish {
	const char *func;
	enum axis axis;
	unsigned id, nparts;
};

static struct filter_range range_of(const struct starpu_block_interface *father,
				    const struct wish *wish)
{
	return (struct filter_range){.func = wish->func,
				     .n = length(father, wish->axis),
				     .id = wish->id,
				     .nparts = wish->nparts,
				     .stride_bytes = stride_bytes(father, wish->axis)};
}

static void split(const void *father_interface, void *child_interface,
		  const struct wish *wish, unsigned shadow)
{
	const struct starpu_block_interface *father = father_interface;
	struct starpu_block_interface *child = child_interface;
	struct filter_range range = range_of(father, wish);
	uint32_t n = filter_split(&range, shadow);

	child->id = father->id;
	child->nx = wish->axis == AXIS_X ? n : father->nx;
	child->ny = wish->axis == AXIS_Y ? n : father->ny;
	child->nz = wish->axis == AXIS_Z ? n : father->nz;
	child->ldy = father->ldy;
	child->ldz = father->ldz;
	child->elemsize = father->elemsize;
	filter_place(father, child, range.offset_bytes);
}

void starpu_block_filter_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_X, id, nparts}, 0);
}

void starpu_block_filter_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_X, id, nparts}, filter_shadow(f));
}

void starpu_block_filter_vertical_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Y, id, nparts}, 0);
}

void starpu_block_filter_vertical_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Y, id, nparts}, filter_shadow(f));
}

void starpu_block_filter_depth_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Z, id, nparts}, 0);
}

void starpu_block_filter_depth_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Z, id, nparts}, filter_shadow(f));
}

/* A matrix of x and of the axis that is not picked from. */
static void pick_matrix(const void *father_interface, void *child_interface,
			const struct wish *wish, size_t position)
{
	const struct starpu_block_interface *father = father_interface;
	struct starpu_matrix_interface *child = child_interface;
	struct filter_range range = range_of(father, wish);
	int keeps_y = wish->axis == AXIS_Z;

	filter_pick(&range, position);
	child->id = STARPU_MATRIX_INTERFACE_ID;
	child->nx = father->nx;
	child->ny = keeps_y ? father->ny : father->nz;
	child->ld = keeps_y ? father->ldy : father->ldz;
	child->elemsize = father->elemsize;
	child->allocsize = (size_t)child->nx * child->ny * child->elemsize;
	filter_place(father, child, range.offset_bytes);
}

void starpu_block_filter_pick_matrix_z(FILTER_PARAMS)
{
	pick_matrix(father_interface, child_interface,
		    &(struct wish){__func__, AXIS_Z, id, nparts},
		    (size_t)(uintptr_t)f->filter_arg_ptr + id);
}

void starpu_block_filter_pick_matrix_y(FILTER_PARAMS)
{
	pick_matrix(father_interface, child_interface,
		    &(struct wish){__func__, AXIS_Y, id, nparts},
		    (size_t)(uintptr_t)f->filter_arg_ptr + id);
}

struct starpu_data_interface_ops *
starpu_block_filter_pick_matrix_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_matrix_ops;
}

void starpu_block_filter_pick_variable(FILTER_PARAMS)
{
	const struct starpu_block_interface *father = father_interface;
	const uint32_t *position = f->filter_arg_ptr;
	size_t offset_bytes = 0;

	for (int axis = AXIS_X; axis <= AXIS_Z; axis++) {
		struct wish wish = {__func__, (enum axis)axis, id, nparts};
		struct filter_range range = range_of(father, &wish);

		filter_pick(&range, position[axis]);
		offset_bytes += range.offset_bytes;
	}
	filter_element(father, child_interface, father->elemsize, offset_bytes);
}

struct starpu_data_interface_ops *
starpu_block_filter_pick_variable_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_variable_ops;
}
