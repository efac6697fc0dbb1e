/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/api.h"
#include "api/filters.h"
#include "base/check.h"

/* Elements [start, start + nx) of the father. */
static void slice(const void *father_interface, void *child_interface, size_t start,
		  uint32_t nx)
{
	const struct starpu_vector_interface *father = father_interface;
	struct starpu_vector_interface *child = child_interface;

	child->id = father->id;
	child->nx = nx;
	child->elemsize = father->elemsize;
	child->slice_base = father->slice_base + (uint32_t)start;
	child->allocsize = nx * father->elemsize;
	filter_place(father, child, start * father->elemsize);
}

static void block(const struct filter_wish *wish, const void *father_interface,
		  void *child_interface, unsigned shadow)
{
	const struct starpu_vector_interface *father = father_interface;
	struct filter_range range = {.func = wish->func,
				     .n = father->nx,
				     .id = wish->id,
				     .nparts = wish->nparts,
				     .stride_bytes = 1};
	uint32_t nx;

	filter_check_father(wish->func, father, FILTER_OF_vector);
	nx = filter_split(&range, shadow);
	slice(father, child_interface, range.offset_bytes, nx);
}

void starpu_vector_filter_block(FILTER_PARAMS)
{
	block(FILTER_WISH(0), father_interface, child_interface, 0);
}

void starpu_vector_filter_block_shadow(FILTER_PARAMS)
{
	block(FILTER_WISH(0), father_interface, child_interface, filter_shadow(f));
}

/* A part of nx elements after those of the parts before it, nbefore. */
static void listed(const char *func, const void *father_interface, void *child_interface,
		   size_t nbefore, size_t nx)
{
	const struct starpu_vector_interface *father = father_interface;

	filter_check_father(func, father, FILTER_OF_vector);
	if (nbefore > father->nx || nx > father->nx - nbefore)
		orr_die(api_rank(),
			"%s: the lengths (filter_arg_ptr) up to this part are together "
			"%zu, and the vector has %u elements",
			func, nbefore + nx, father->nx);
	slice(father, child_interface, nbefore, (uint32_t)nx);
}

void starpu_vector_filter_list(FILTER_PARAMS)
{
	const uint32_t *lengths = f->filter_arg_ptr;
	size_t nbefore = 0;

	(void)nparts;
	filter_check_argument(__func__, f, "the lengths of the parts (uint32_t)");
	for (unsigned i = 0; i < id; i++)
		nbefore += lengths[i];
	listed(__func__, father_interface, child_interface, nbefore, lengths[id]);
}

void starpu_vector_filter_list_long(FILTER_PARAMS)
{
	const long *lengths = f->filter_arg_ptr;
	size_t nbefore = 0;

	(void)nparts;
	filter_check_argument(__func__, f, "the lengths of the parts (long)");
	for (unsigned i = 0; i < id; i++)
		nbefore += (size_t)lengths[i];
	listed(__func__, father_interface, child_interface, nbefore, (size_t)lengths[id]);
}

void starpu_vector_filter_divide_in_2(FILTER_PARAMS)
{
	const struct starpu_vector_interface *father = father_interface;
	uint32_t first = (uint32_t)f->filter_arg;

	filter_check_father(__func__, father, FILTER_OF_vector);
	if (nparts != 2 || first >= father->nx)
		orr_die(api_rank(),
			"%s: %u parts, of which the first one has %u (filter_arg) of %u "
			"elements; expected 2 (nchildren), and fewer",
			__func__, nparts, first, father->nx);
	slice(father, child_interface, id ? first : 0, id ? father->nx - first : first);
}

void starpu_vector_filter_pick_variable(FILTER_PARAMS)
{
	const struct starpu_vector_interface *father = father_interface;
	struct filter_range range = {.func = __func__,
				     .n = father->nx,
				     .id = id,
				     .nparts = nparts,
				     .stride_bytes = father->elemsize};

	filter_check_father(__func__, father, FILTER_OF_vector);
	filter_pick(&range, (size_t)(uintptr_t)f->filter_arg_ptr + id);
	filter_element(father, child_interface, father->elemsize, range.offset_bytes);
}

FILTER_CHILDREN_ARE(vector_filter_pick_variable, variable)
