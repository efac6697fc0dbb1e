/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_API_H
#define ORR_API_API_H

/*
 * api.h - what the functions of the public interface share: they find the caller's
 * node, check what they were given, translate, and call down.
 */
#include "core/node.h"

/* The caller's node; ends the program when there is none, naming func. */
struct node *api_node(const char *func);
/* The same, and the caller is no task and no callback of one. */
struct node *api_blocking_node(const char *func);
/* The caller's rank, for messages; ORR_NO_RANK without a node. */
int api_rank(void);
/* pointer is not NULL; ends the program otherwise, naming func and the argument. */
void api_given(const char *func, const char *argument, const void *pointer);
/* handle is registered; ends the program otherwise, naming func.  Its end may have been
 * submitted: tasks and acquisitions from before still use and release it. */
void api_check_registered(const struct node *node, const char *func,
			  starpu_data_handle_t handle);
/* It may be used anew. */
void api_check_handle(const struct node *node, const char *func,
		      starpu_data_handle_t handle);
/* Both are of one interface. */
void api_check_copy(struct node *node, const char *func, starpu_data_handle_t dst,
		    starpu_data_handle_t src);

/* f can cut handle. */
void api_check_filter(const struct node *node, const char *func,
		      starpu_data_handle_t handle, const struct starpu_data_filter *f);
/* Do the parts that it made share bytes? */
struct partition;
void api_look_for_overlap(const char *func, struct partition *partition,
			  const struct starpu_data_filter *f);

/* The caller submits a task of this node: that takes simulated time. */
static inline void api_charge_task(const struct node *node,
				   const struct starpu_task *task)
{
	const struct plat_costs *costs = &node->machine->costs;
	unsigned ndata = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;

	plat_charge(node->plat, costs->submit_s + ndata * costs->datum_s);
}

#endif
