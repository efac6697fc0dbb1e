/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/overlap.h"
#include "core/data/views.h"

/* ---- what both kinds check ------------------------------------------- */

void api_check_filter(const struct node *node, const char *func,
		      starpu_data_handle_t handle, const struct starpu_data_filter *f)
{
	char what[128];

	api_given(func, "filter", f);
	if (!f->filter_func)
		orr_die(node->rank, "%s: the filter has no filter_func", func);
	if (!f->get_nchildren && f->nchildren == 0)
		orr_die(node->rank,
			"%s: the filter cuts %s into 0 parts; expected at least 1 "
			"(nchildren)",
			func, data_describe(handle, what, sizeof(what)));
}

/* Filters that make blocks of one dimension; what others make is looked at. */
static int makes_blocks(const struct starpu_data_filter *f)
{
	static void (*const filters[])(void *, void *, struct starpu_data_filter *,
				       unsigned, unsigned) = {
		starpu_vector_filter_block,
		starpu_matrix_filter_block,
		starpu_matrix_filter_vertical_block,
		starpu_block_filter_block,
		starpu_block_filter_vertical_block,
		starpu_block_filter_depth_block,
		starpu_tensor_filter_block,
		starpu_tensor_filter_vertical_block,
		starpu_tensor_filter_depth_block,
		starpu_tensor_filter_time_block,
		starpu_ndim_filter_block,
	};

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (f->filter_func == filters[i])
			return 1;
	return 0;
}

void api_look_for_overlap(const char *func, struct partition *partition,
			  const struct starpu_data_filter *f)
{
	if (!makes_blocks(f))
		overlap_look(partition, func);
}

static void check_not_partitioned(const struct node *node, const char *func,
				  starpu_data_handle_t handle)
{
	const struct partition *own = partition_synchronous(handle);
	char what[128];

	if (own)
		orr_die(node->rank,
			"%s: %s is partitioned into %u parts already; partition those "
			"(starpu_data_get_sub_data), or call starpu_data_unpartition() "
			"before",
			func, data_describe(handle, what, sizeof(what)), own->nparts);
}

/* ---- synchronous ----------------------------------------------------- */

static void partition(const char *func, starpu_data_handle_t handle,
		      struct starpu_data_filter *f)
{
	struct node *node = api_blocking_node(func);
	char what[128];

	api_check_handle(node, func, handle);
	api_check_filter(node, func, handle, f);
	check_not_partitioned(node, func, handle);
	if (partition_first(handle))
		orr_die(node->rank,
			"%s: %s has planned partitions; use "
			"starpu_data_partition_plan() for this one, too, or call "
			"starpu_data_partition_clean() before",
			func, data_describe(handle, what, sizeof(what)));
	views_partition(node, handle, f);
	api_look_for_overlap(func, partition_synchronous(handle), f);
}

void starpu_data_partition(starpu_data_handle_t initial_handle,
			   struct starpu_data_filter *f)
{
	partition(__func__, initial_handle, f);
}

static struct partition *must_be_partitioned(const struct node *node, const char *func,
					     starpu_data_handle_t handle)
{
	struct partition *own;
	char what[128];

	api_check_handle(node, func, handle);
	own = partition_synchronous(handle);
	if (!own)
		orr_die(node->rank,
			"%s: %s is not partitioned: starpu_data_partition() has not "
			"been called%s",
			func, data_describe(handle, what, sizeof(what)),
			partition_first(handle) ? "; its planned partitions end with "
						  "starpu_data_partition_clean()"
						: "");
	return own;
}

/* Plans of parts, at any depth, are the application's to end. */
static void check_no_plans_below(const struct node *node, const char *func,
				 const struct partition *partition)
{
	char what[128];

	for (unsigned i = 0; partition->nnested && i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];
		const struct partition *own = partition_first(part);

		if (own && own->is_planned)
			orr_die(node->rank,
				"%s: part %u, %s, has a planned partition: call "
				"starpu_data_partition_clean() before",
				func, i, data_describe(part, what, sizeof(what)));
		if (own)
			check_no_plans_below(node, func, own);
	}
}

void starpu_data_unpartition(starpu_data_handle_t root_data, unsigned gathering_node)
{
	struct node *node = api_blocking_node(__func__);
	const struct partition *own = must_be_partitioned(node, __func__, root_data);

	if (gathering_node >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: memory node %u; expected 0 to %d", __func__,
			gathering_node, node_nmemories(node) - 1);
	check_no_plans_below(node, __func__, own);
	views_unpartition(node, root_data, gathering_node);
}

/* ---- parts ----------------------------------------------------------- */

static starpu_data_handle_t part(const char *func, starpu_data_handle_t handle, long i)
{
	const struct node *node = api_node(func);
	const struct partition *own = must_be_partitioned(node, func, handle);
	char what[128];

	if (i < 0 || i >= (long)own->nparts)
		orr_die(node->rank, "%s: %s has no part %ld; expected 0 to %u", func,
			data_describe(handle, what, sizeof(what)), i, own->nparts - 1);
	return own->parts[i];
}

starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle, unsigned i)
{
	return part(__func__, handle, i);
}

int starpu_data_get_nb_children(starpu_data_handle_t handle)
{
	const struct partition *own;

	api_check_registered(api_node(__func__), __func__, handle);
	own = partition_synchronous(handle);
	return own ? (int)own->nparts : 0;
}

starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data,
					       unsigned depth, va_list pa)
{
	for (unsigned i = 0; i < depth; i++)
		root_data = part("starpu_data_get_sub_data", root_data, va_arg(pa, int));
	return root_data;
}

starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data,
					      unsigned depth, ...)
{
	va_list pa;

	va_start(pa, depth);
	root_data = starpu_data_vget_sub_data(root_data, depth, pa);
	va_end(pa);
	return root_data;
}

/* ---- several filters ------------------------------------------------- */

static void map_filter(const char *func, starpu_data_handle_t handle,
		       struct starpu_data_filter *f)
{
	const struct partition *own;

	api_check_handle(api_node(func), func, handle);
	own = partition_synchronous(handle);
	if (!own)
		partition(func, handle, f);
	for (unsigned i = 0; own && i < own->nparts; i++)
		map_filter(func, own->parts[i], f);
}

void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters,
			      va_list pa)
{
	for (unsigned i = 0; i < nfilters; i++)
		map_filter("starpu_data_map_filters", root_data,
			   va_arg(pa, struct starpu_data_filter *));
}

void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters, ...)
{
	va_list pa;

	va_start(pa, nfilters);
	starpu_data_vmap_filters(root_data, nfilters, pa);
	va_end(pa);
}

void starpu_data_map_filters_parray(starpu_data_handle_t root_handle, int nfilters,
				    struct starpu_data_filter **filters)
{
	api_given(__func__, "filters", filters);
	for (int i = 0; i < nfilters; i++)
		map_filter(__func__, root_handle, filters[i]);
}

void starpu_data_map_filters_array(starpu_data_handle_t root_handle, int nfilters,
				   struct starpu_data_filter *filters)
{
	api_given(__func__, "filters", filters);
	for (int i = 0; i < nfilters; i++)
		map_filter(__func__, root_handle, &filters[i]);
}
