/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/filters.h"

/* Which of the dimensions is cut, or picked from. */
enum axis { AXIS_X, AXIS_Y, AXIS_Z, AXIS_T };

static uint32_t length(const struct starpu_tensor_interface *tensor, enum axis axis)
{
	const uint32_t lengths[] = {tensor->nx, tensor->ny, tensor->nz, tensor->nt};

	return lengths[axis];
}

static size_t stride_bytes(const struct starpu_tensor_interface *tensor, enum axis axis)
{
	const uint32_t strides[] = {1, tensor->ldy, tensor->ldz, tensor->ldt};

	return strides[axis] * tensor->elemsize;
}

struct wish {
	const char *func;
	enum axis axis;
	unsigned id, nparts;
};

static struct filter_range range_of(const struct starpu_tensor_interface *father,
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
	const struct starpu_tensor_interface *father = father_interface;
	struct starpu_tensor_interface *child = child_interface;
	struct filter_range range = range_of(father, wish);
	uint32_t n = filter_split(&range, shadow);

	child->id = father->id;
	child->nx = wish->axis == AXIS_X ? n : father->nx;
	child->ny = wish->axis == AXIS_Y ? n : father->ny;
	child->nz = wish->axis == AXIS_Z ? n : father->nz;
	child->nt = wish->axis == AXIS_T ? n : father->nt;
	child->ldy = father->ldy;
	child->ldz = father->ldz;
	child->ldt = father->ldt;
	child->elemsize = father->elemsize;
	filter_place(father, child, range.offset_bytes);
}

void starpu_tensor_filter_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_X, id, nparts}, 0);
}

void starpu_tensor_filter_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_X, id, nparts}, filter_shadow(f));
}

void starpu_tensor_filter_vertical_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Y, id, nparts}, 0);
}

void starpu_tensor_filter_vertical_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Y, id, nparts}, filter_shadow(f));
}

void starpu_tensor_filter_depth_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Z, id, nparts}, 0);
}

void starpu_tensor_filter_depth_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_Z, id, nparts}, filter_shadow(f));
}

void starpu_tensor_filter_time_block(FILTER_PARAMS)
{
	(void)f;
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_T, id, nparts}, 0);
}

void starpu_tensor_filter_time_block_shadow(FILTER_PARAMS)
{
	split(father_interface, child_interface,
	      &(struct wish){__func__, AXIS_T, id, nparts}, filter_shadow(f));
}

/* A block of the three axes that are not picked from. */
static void pick_block(const void *father_interface, void *child_interface,
		       const struct wish *wish, size_t position)
{
	const struct starpu_tensor_interface *father = father_interface;
	struct starpu_block_interface *child = child_interface;
	struct filter_range range = range_of(father, wish);
	int keeps_y = wish->axis != AXIS_Y, keeps_z = wish->axis == AXIS_T;

	filter_pick(&range, position);
	child->id = STARPU_BLOCK_INTERFACE_ID;
	child->nx = father->nx;
	child->ny = keeps_y ? father->ny : father->nz;
	child->ldy = keeps_y ? father->ldy : father->ldz;
	child->nz = keeps_z ? father->nz : father->nt;
	child->ldz = keeps_z ? father->ldz : father->ldt;
	child->elemsize = father->elemsize;
	filter_place(father, child, range.offset_bytes);
}

void starpu_tensor_filter_pick_block_t(FILTER_PARAMS)
{
	pick_block(father_interface, child_interface,
		   &(struct wish){__func__, AXIS_T, id, nparts},
		   (size_t)(uintptr_t)f->filter_arg_ptr + id);
}

void starpu_tensor_filter_pick_block_z(FILTER_PARAMS)
{
	pick_block(father_interface, child_interface,
		   &(struct wish){__func__, AXIS_Z, id, nparts},
		   (size_t)(uintptr_t)f->filter_arg_ptr + id);
}

void starpu_tensor_filter_pick_block_y(FILTER_PARAMS)
{
	pick_block(father_interface, child_interface,
		   &(struct wish){__func__, AXIS_Y, id, nparts},
		   (size_t)(uintptr_t)f->filter_arg_ptr + id);
}

struct starpu_data_interface_ops *
starpu_tensor_filter_pick_block_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_block_ops;
}

void starpu_tensor_filter_pick_variable(FILTER_PARAMS)
{
	const struct starpu_tensor_interface *father = father_interface;
	const uint32_t *position = f->filter_arg_ptr;
	size_t offset_bytes = 0;

	for (int axis = AXIS_X; axis <= AXIS_T; axis++) {
		struct wish wish = {__func__, (enum axis)axis, id, nparts};
		struct filter_range range = range_of(father, &wish);

		filter_pick(&range, position[axis]);
		offset_bytes += range.offset_bytes;
	}
	filter_element(father, child_interface, father->elemsize, offset_bytes);
}

struct starpu_data_interface_ops *
starpu_tensor_filter_pick_variable_child_ops(struct starpu_data_filter *f, unsigned child)
{
	(void)f;
	(void)child;
	return &starpu_interface_variable_ops;
}
