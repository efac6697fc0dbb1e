/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Filters of what has dimensions: matrices, blocks, tensors; ndim's use them, too. */
#include <string.h>

#include "api/api.h"
#include "api/filters.h"
#include "base/check.h"

/* ---- boxes ----------------------------------------------------------- */

static struct filter_range range_of(const struct filter_box *box,
				    const struct filter_wish *wish)
{
	return (struct filter_range){.func = wish->func,
				     .n = box->n[wish->axis],
				     .id = wish->id,
				     .nparts = wish->nparts,
				     .stride_bytes = box->ld[wish->axis] * box->elemsize};
}

void box_split(struct filter_box *box, const struct filter_wish *wish, unsigned shadow)
{
	struct filter_range range = range_of(box, wish);

	box->n[wish->axis] = filter_split(&range, shadow);
	box->offset_bytes += range.offset_bytes;
}

void box_pick(struct filter_box *box, const struct filter_wish *wish)
{
	struct filter_range range = range_of(box, wish);

	filter_pick(&range, (size_t)(uintptr_t)wish->f->filter_arg_ptr + wish->id);
	box->offset_bytes += range.offset_bytes;
	box->ndims--;
	for (size_t i = wish->axis; i < box->ndims; i++) {
		box->n[i] = box->n[i + 1];
		box->ld[i] = box->ld[i + 1];
	}
}

void box_pick_element(struct filter_box *box, const struct filter_wish *wish)
{
	const uint32_t *position = wish->f->filter_arg_ptr;
	struct filter_wish at = *wish;

	if (box->ndims > 0)
		filter_check_argument(wish->func, wish->f,
				      "the element's positions (uint32_t)");
	for (at.axis = 0; at.axis < box->ndims; at.axis++) {
		struct filter_range range = range_of(box, &at);

		filter_pick(&range, position[at.axis]);
		box->offset_bytes += range.offset_bytes;
	}
	box->ndims = 0;
}

/* ---- of each number of dimensions ------------------------------------ */

static void fill_variable(const struct filter_box *box, void *child)
{
	filter_element(box->father, child, box->elemsize, box->offset_bytes);
}

static void fill_vector(const struct filter_box *box, void *child)
{
	struct starpu_vector_interface *vector = child;

	vector->id = STARPU_VECTOR_INTERFACE_ID;
	vector->nx = box->n[0];
	vector->elemsize = box->elemsize;
	vector->allocsize = box->n[0] * box->elemsize;
}

static void fill_matrix(const struct filter_box *box, void *child)
{
	struct starpu_matrix_interface *matrix = child;

	matrix->id = STARPU_MATRIX_INTERFACE_ID;
	matrix->nx = box->n[0];
	matrix->ny = box->n[1];
	matrix->ld = box->ld[1];
	matrix->elemsize = box->elemsize;
	matrix->allocsize = (size_t)box->n[0] * box->n[1] * box->elemsize;
}

static void fill_block(const struct filter_box *box, void *child)
{
	struct starpu_block_interface *block = child;

	block->id = STARPU_BLOCK_INTERFACE_ID;
	block->nx = box->n[0];
	block->ny = box->n[1];
	block->nz = box->n[2];
	block->ldy = box->ld[1];
	block->ldz = box->ld[2];
	block->elemsize = box->elemsize;
}

static void fill_tensor(const struct filter_box *box, void *child)
{
	struct starpu_tensor_interface *tensor = child;

	tensor->id = STARPU_TENSOR_INTERFACE_ID;
	tensor->nx = box->n[0];
	tensor->ny = box->n[1];
	tensor->nz = box->n[2];
	tensor->nt = box->n[3];
	tensor->ldy = box->ld[1];
	tensor->ldz = box->ld[2];
	tensor->ldt = box->ld[3];
	tensor->elemsize = box->elemsize;
}

void box_fill(const struct filter_box *box, const struct filter_wish *wish, void *child)
{
	static void (*const fill[BOX_MAX + 1])(const struct filter_box *box,
					       void *child) = {
		fill_variable, fill_vector, fill_matrix, fill_block, fill_tensor};

	if (box->ndims > 0 && box->ld[0] != 1 && box->n[0] > 1)
		orr_die(api_rank(),
			"%s: the elements of part %u are %u elements apart; expected "
			"contiguous ones: pick from another dimension (filter_arg), or "
			"into ndim data",
			wish->func, wish->id, box->ld[0]);
	fill[box->ndims](box, child);
	filter_place(box->father, child, box->offset_bytes);
}

/* ---- matrices -------------------------------------------------------- */

/* lengths has room for those of all dimensions and of their strides, in this order. */
static struct filter_box box_of(const void *father, size_t elemsize, size_t ndims,
				uint32_t *lengths, const uint32_t *known)
{
	memcpy(lengths, known, 2 * ndims * sizeof(*lengths));
	return (struct filter_box){father, lengths, lengths + ndims, ndims, elemsize, 0};
}

static struct filter_box matrix_box(const void *father, uint32_t *lengths)
{
	const struct starpu_matrix_interface *m = father;
	uint32_t known[] = {m->nx, m->ny, 1, m->ld};

	return box_of(m, m->elemsize, 2, lengths, known);
}

FILTER_CUTS(matrix, block, 0)
FILTER_CUTS(matrix, vertical_block, 1)
FILTER_PICKS(matrix, pick_vector_y, 1)
FILTER_CHILDREN_ARE(matrix_filter_pick_vector, vector)
FILTER_PICKS_VARIABLE(matrix)

/* ---- blocks ---------------------------------------------------------- */

static struct filter_box block_box(const void *father, uint32_t *lengths)
{
	const struct starpu_block_interface *b = father;
	uint32_t known[] = {b->nx, b->ny, b->nz, 1, b->ldy, b->ldz};

	return box_of(b, b->elemsize, 3, lengths, known);
}

FILTER_CUTS(block, block, 0)
FILTER_CUTS(block, vertical_block, 1)
FILTER_CUTS(block, depth_block, 2)
FILTER_PICKS(block, pick_matrix_y, 1)
FILTER_PICKS(block, pick_matrix_z, 2)
FILTER_CHILDREN_ARE(block_filter_pick_matrix, matrix)
FILTER_PICKS_VARIABLE(block)

/* ---- tensors --------------------------------------------------------- */

static struct filter_box tensor_box(const void *father, uint32_t *lengths)
{
	const struct starpu_tensor_interface *t = father;
	uint32_t known[] = {t->nx, t->ny, t->nz, t->nt, 1, t->ldy, t->ldz, t->ldt};

	return box_of(t, t->elemsize, 4, lengths, known);
}

FILTER_CUTS(tensor, block, 0)
FILTER_CUTS(tensor, vertical_block, 1)
FILTER_CUTS(tensor, depth_block, 2)
FILTER_CUTS(tensor, time_block, 3)
FILTER_PICKS(tensor, pick_block_y, 1)
FILTER_PICKS(tensor, pick_block_z, 2)
FILTER_PICKS(tensor, pick_block_t, 3)
FILTER_CHILDREN_ARE(tensor_filter_pick_block, block)
FILTER_PICKS_VARIABLE(tensor)
