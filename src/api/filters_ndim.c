/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Filters of arrays of n dimensions, along dimension filter_arg. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/filters.h"
#include "base/check.h"

/* The father, which has dimensions, in arrays of so many elements. */
static struct filter_box ndim_box(const struct starpu_ndim_interface *father, uint32_t *n,
				  uint32_t *ld)
{
	memcpy(n, father->nn, father->ndim * sizeof(*n));
	memcpy(ld, father->ldn, father->ndim * sizeof(*ld));
	return (struct filter_box){father, n, ld, father->ndim, father->elemsize, 0};
}

static void check_axis(const struct starpu_ndim_interface *father,
		       const struct filter_wish *wish)
{
	if (wish->axis >= father->ndim)
		orr_die(api_rank(),
			"%s: filter_arg is dimension %u of an array of %zu; they are "
			"counted from 0",
			wish->func, wish->axis, father->ndim);
}

/* ---- into arrays of n dimensions ------------------------------------- */

/* The arrays become the child's: see core/interface/ndim.c. */
static void fill_ndim(const struct filter_box *box, void *child)
{
	struct starpu_ndim_interface *ndim = child;
	size_t bytes = box->elemsize;

	for (size_t i = 0; i < box->ndims; i++)
		bytes *= box->n[i];
	ndim->id = STARPU_NDIM_INTERFACE_ID;
	ndim->allocsize = bytes;
	ndim->nn = box->n;
	ndim->ldn = box->ld;
	ndim->ndim = box->ndims;
	ndim->elemsize = box->elemsize;
	filter_place(box->father, ndim, box->offset_bytes);
}

static struct filter_box box_of_child(const struct starpu_ndim_interface *father)
{
	size_t bytes = father->ndim * sizeof(uint32_t);

	return ndim_box(father, orr_alloc(bytes), orr_alloc(bytes));
}

static void split(const struct filter_wish *wish, const void *father, void *child,
		  unsigned shadow)
{
	struct filter_box box;

	filter_check_father(wish->func, father, FILTER_OF_ndim);
	check_axis(father, wish);
	box = box_of_child(father);
	box_split(&box, wish, shadow);
	fill_ndim(&box, child);
}

void starpu_ndim_filter_block(FILTER_PARAMS)
{
	split(FILTER_WISH(f->filter_arg), father_interface, child_interface, 0);
}

void starpu_ndim_filter_block_shadow(FILTER_PARAMS)
{
	split(FILTER_WISH(f->filter_arg), father_interface, child_interface,
	      filter_shadow(f));
}

void starpu_ndim_filter_pick_ndim(FILTER_PARAMS)
{
	const struct filter_wish *wish = FILTER_WISH(f->filter_arg);
	struct filter_box box;

	filter_check_father(wish->func, father_interface, FILTER_OF_ndim);
	check_axis(father_interface, wish);
	box = box_of_child(father_interface);
	box_pick(&box, wish);
	fill_ndim(&box, child_interface);
}

/* ---- into others ----------------------------------------------------- */

/* A child of a father of so many dimensions, into which it is cut or picked. */
static void convert(const struct filter_wish *wish, const void *father_interface,
		    void *child, size_t ndim,
		    void (*take)(struct filter_box *box, const struct filter_wish *wish))
{
	const struct starpu_ndim_interface *father = father_interface;
	uint32_t n[BOX_MAX + 1], ld[BOX_MAX + 1];
	struct filter_box box;

	filter_check_father(wish->func, father, FILTER_OF_ndim);
	if (father->ndim != ndim)
		orr_die(api_rank(),
			"%s: an array of %zu dimensions; expected %zu: use another "
			"filter (filter_func)",
			wish->func, father->ndim, ndim);
	check_axis(father, wish);
	box = ndim_box(father, n, ld);
	take(&box, wish);
	box_fill(&box, wish, child);
}

static void cut(struct filter_box *box, const struct filter_wish *wish)
{
	box_split(box, wish, 0);
}

#define NDIM_TO(kind, ndim)                                                              \
	void starpu_ndim_filter_to_##kind(FILTER_PARAMS)                                 \
	{                                                                                \
		convert(FILTER_WISH(f->filter_arg), father_interface, child_interface,   \
			ndim, cut);                                                      \
	}                                                                                \
	FILTER_CHILDREN_ARE(ndim_filter_to_##kind, kind)

NDIM_TO(tensor, 4)
NDIM_TO(block, 3)
NDIM_TO(matrix, 2)
NDIM_TO(vector, 1)

void starpu_ndim_filter_to_variable(FILTER_PARAMS)
{
	const struct starpu_ndim_interface *father = father_interface;

	filter_check_father(__func__, father, FILTER_OF_ndim);
	if (father->ndim != 0 || nparts != 1)
		orr_die(api_rank(),
			"%s: an array of %zu dimensions in %u parts; expected none, "
			"which is one element, and 1 (nchildren)",
			__func__, father->ndim, nparts);
	(void)f;
	(void)id;
	filter_element(father, child_interface, father->elemsize, 0);
}

FILTER_CHILDREN_ARE(ndim_filter_to_variable, variable)

#define NDIM_PICKS(n, kind)                                                              \
	void starpu_ndim_filter_##n##d_pick_##kind(FILTER_PARAMS)                        \
	{                                                                                \
		convert(FILTER_WISH(f->filter_arg), father_interface, child_interface,   \
			n, box_pick);                                                    \
	}                                                                                \
	FILTER_CHILDREN_ARE(ndim_filter_pick_##kind, kind)

NDIM_PICKS(5, tensor)
NDIM_PICKS(4, block)
NDIM_PICKS(3, matrix)
NDIM_PICKS(2, vector)
NDIM_PICKS(1, variable)

void starpu_ndim_filter_pick_variable(FILTER_PARAMS)
{
	const struct starpu_ndim_interface *father = father_interface;
	struct filter_box box = {father,       father->nn,       father->ldn,
				 father->ndim, father->elemsize, 0};

	filter_check_father(__func__, father, FILTER_OF_ndim);
	box_pick_element(&box, FILTER_WISH(0));
	box_fill(&box, FILTER_WISH(0), child_interface);
}
