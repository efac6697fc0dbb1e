/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/views.h"

void starpu_data_partition_plan(starpu_data_handle_t initial_handle,
				struct starpu_data_filter *f,
				starpu_data_handle_t *children)
{
	struct node *node = api_node(__func__);
	struct partition *partition;
	char what[128];

	api_check_handle(node, __func__, initial_handle);
	api_check_filter(node, __func__, initial_handle, f);
	api_given(__func__, "children", children);
	partition = partition_synchronous(initial_handle);
	if (partition)
		orr_die(node->rank,
			"%s: %s is partitioned into %u parts (starpu_data_partition); "
			"call starpu_data_unpartition() before",
			__func__, data_describe(initial_handle, what, sizeof(what)),
			partition->nparts);
	partition = views_plan(initial_handle, f);
	api_look_for_overlap(__func__, partition, f);
	memcpy(children, partition->parts, partition->nparts * sizeof(children[0]));
}

/* The partition that the application means by its parts. */
static struct partition *planned(const char *func, starpu_data_handle_t handle,
				 unsigned nparts, const starpu_data_handle_t *children)
{
	struct node *node = api_node(func);
	struct partition *partition;
	char what[128];

	api_check_handle(node, func, handle);
	api_given(func, "children", children);
	if (nparts == 0)
		orr_die(node->rank, "%s: 0 parts of %s; expected at least 1", func,
			data_describe(handle, what, sizeof(what)));
	if (!data_is_registered(node, children[0]) ||
	    (data_flags(children[0]) & DATUM_DYING))
		orr_die(node->rank,
			"%s: children[0] is no part of %s any more, or never was: it is "
			"one from starpu_data_partition_plan() to "
			"starpu_data_partition_clean()",
			func, data_describe(handle, what, sizeof(what)));
	partition = partition_of(children[0]);
	if (!partition || partition->parent != handle || !partition->is_planned)
		orr_die(node->rank,
			"%s: children[0] is no part of a planned partition of %s; give "
			"what starpu_data_partition_plan() wrote to children",
			func, data_describe(handle, what, sizeof(what)));
	if (nparts != partition->nparts ||
	    memcmp(children, partition->parts, nparts * sizeof(children[0])) != 0)
		orr_die(node->rank,
			"%s: these %u handles are not the %u parts of a partition of %s; "
			"give what starpu_data_partition_plan() wrote to children",
			func, nparts, partition->nparts,
			data_describe(handle, what, sizeof(what)));
	return partition;
}

/* ---- changes --------------------------------------------------------- */

static const char *view_name(enum view view)
{
	switch (view) {
	case VIEW_CLOSED:
		return "closed";
	case VIEW_READ:
		return "open for reading";
	default:
		return "open";
	}
}

static void change(const char *func, struct partition *partition,
		   const struct handover_wish *wish, const char *expected)
{
	starpu_data_handle_t handle = partition->parent;
	enum view view;
	char what[128];

	if (views_change(partition, wish, &view) == 0)
		return;
	orr_die(handle->node->rank,
		"%s: the partition of %s into %u parts is %s at this point; expected: %s",
		func, data_describe(handle, what, sizeof(what)), partition->nparts,
		view_name(view), expected);
}

static const char to_open[] = "closed (starpu_data_unpartition_submit)";
static const char to_close[] = "open (starpu_data_partition_submit, or a task on a part)";

void starpu_data_partition_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int sequential_consistency)
{
	struct handover_wish wish = {.kind = HANDOVER_OPEN_WRITE,
				     .sequential = sequential_consistency};

	change(__func__, planned(__func__, initial_handle, nparts, children), &wish,
	       to_open);
}

void starpu_data_partition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				  starpu_data_handle_t *children)
{
	starpu_data_partition_submit_sequential_consistency(initial_handle, nparts,
							    children, 1);
}

void starpu_data_partition_readonly_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int sequential_consistency)
{
	struct handover_wish wish = {.kind = HANDOVER_OPEN_READ,
				     .sequential = sequential_consistency};

	change(__func__, planned(__func__, initial_handle, nparts, children), &wish,
	       to_open);
}

void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle,
					   unsigned nparts,
					   starpu_data_handle_t *children)
{
	starpu_data_partition_readonly_submit_sequential_consistency(initial_handle,
								     nparts, children, 1);
}

void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t initial_handle,
						    unsigned nparts,
						    starpu_data_handle_t *children)
{
	struct handover_wish wish = {.kind = HANDOVER_UPGRADE, .sequential = 1};

	change(__func__, planned(__func__, initial_handle, nparts, children), &wish,
	       "open for reading (starpu_data_partition_readonly_submit)");
}

void starpu_data_partition_readonly_downgrade_submit(starpu_data_handle_t initial_handle,
						     unsigned nparts,
						     starpu_data_handle_t *children)
{
	struct handover_wish wish = {.kind = HANDOVER_DOWNGRADE, .sequential = 1};

	change(__func__, planned(__func__, initial_handle, nparts, children), &wish,
	       "open (starpu_data_partition_submit)");
}

static void check_gathering(const char *func, starpu_data_handle_t handle, int memory)
{
	char what[128];

	if (memory >= 0 && memory != (int)data_base_memory(handle))
		orr_die(handle->node->rank,
			"%s: %s cannot be gathered in memory node %d; expected %u, where "
			"it is at home, or -1",
			func, data_describe(handle, what, sizeof(what)), memory,
			data_base_memory(handle));
}

void starpu_data_unpartition_submit_sequential_consistency_cb(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int gather_node, int sequential_consistency,
	void (*callback_func)(void *), void *callback_arg)
{
	struct handover_wish wish = {.kind = HANDOVER_CLOSE_WRITE,
				     .sequential = sequential_consistency,
				     .callback = callback_func,
				     .arg = callback_arg};
	struct partition *partition = planned(__func__, initial_handle, nparts, children);

	check_gathering(__func__, initial_handle, gather_node);
	change(__func__, partition, &wish, to_close);
}

void starpu_data_unpartition_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts,
	starpu_data_handle_t *children, int gathering_node, int sequential_consistency)
{
	starpu_data_unpartition_submit_sequential_consistency_cb(
		initial_handle, nparts, children, gathering_node, sequential_consistency,
		NULL, NULL);
}

void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				    starpu_data_handle_t *children, int gathering_node)
{
	starpu_data_unpartition_submit_sequential_consistency(
		initial_handle, nparts, children, gathering_node, 1);
}

void starpu_data_unpartition_readonly_submit(starpu_data_handle_t initial_handle,
					     unsigned nparts,
					     starpu_data_handle_t *children,
					     int gathering_node)
{
	struct partition *partition = planned(__func__, initial_handle, nparts, children);

	check_gathering(__func__, initial_handle, gathering_node);
	views_share(partition);
}

/* ---- the end --------------------------------------------------------- */

void starpu_data_partition_clean_node(starpu_data_handle_t root_data, unsigned nparts,
				      starpu_data_handle_t *children, int gather_node)
{
	struct partition *partition = planned(__func__, root_data, nparts, children);
	char what[128];

	check_gathering(__func__, root_data, gather_node);
	if (views_clean(partition) < 0)
		orr_die(root_data->node->rank,
			"%s: parts of %s have partitions themselves: clean those before "
			"(starpu_data_partition_clean)",
			__func__, data_describe(root_data, what, sizeof(what)));
}

void starpu_data_partition_clean(starpu_data_handle_t root_data, unsigned nparts,
				 starpu_data_handle_t *children)
{
	starpu_data_partition_clean_node(root_data, nparts, children, -1);
}

int starpu_data_partition_get_nplans(starpu_data_handle_t initial_handle)
{
	api_check_handle(api_node(__func__), __func__, initial_handle);
	return partition_nplans(initial_handle);
}
