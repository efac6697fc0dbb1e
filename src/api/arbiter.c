/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Arbiters.  A job takes all its data at once or none (core/task/exclusion.h), which is
 * what an arbiter is for; so here it only keeps what the application said of it.
 */
#include <stdlib.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/data.h"

struct starpu_arbiter {
	struct node *node; /* whose data it may have */
};

starpu_arbiter_t starpu_arbiter_create(void)
{
	struct node *node = api_node(__func__);
	starpu_arbiter_t arbiter = orr_alloc(sizeof(*arbiter));

	arbiter->node = node;
	return arbiter;
}

void starpu_data_assign_arbiter(starpu_data_handle_t handle, starpu_arbiter_t arbiter)
{
	struct node *node = api_node(__func__);
	struct data_extra *extra;
	char what[128];

	api_check_handle(node, __func__, handle);
	api_given(__func__, "arbiter", arbiter);
	if (arbiter->node != node)
		orr_die(node->rank,
			"%s: the arbiter is of another life of the library; "
			"create one after starpu_init()",
			__func__);
	extra = data_extra(handle);
	if (extra->arbiter)
		orr_die(node->rank, "%s: %s has an arbiter already; assign one, once",
			__func__, data_describe(handle, what, sizeof(what)));
	extra->arbiter = arbiter;
}

void starpu_arbiter_destroy(starpu_arbiter_t arbiter)
{
	api_given(__func__, "arbiter", arbiter);
	free(arbiter);
}
