/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_OWN_H
#define ORR_CORE_MODEL_MODEL_OWN_H

/*
 * model_own.h - functions that the application gave a model for some devices only, and
 * the numbers by which it may name combinations of devices.
 *
 * They hang at the model's state, so that they live until the model is unloaded or its
 * node closes; ranks that share a process do not share them.
 */
#include "core/node.h"

struct _starpu_perfmodel_state;

/* What the application gave for exactly these devices; members may be NULL. */
struct model_functions {
	starpu_perfmodel_per_arch_cost_function cost;
	starpu_perfmodel_per_arch_size_base size;
};

struct model_functions model_own_functions(struct starpu_perfmodel *model,
					   const struct starpu_perfmodel_arch *arch,
					   unsigned implementation);
/*
 * What the application may see and change of the model for these devices: its functions,
 * and the measurements and fits as of now.
 */
struct starpu_perfmodel_per_arch *
model_own_place(struct node *node, struct starpu_perfmodel *model,
		const struct starpu_perfmodel_arch *arch, unsigned implementation);
void model_own_clear(struct _starpu_perfmodel_state *state);

/* Combinations of devices by number, in the order in which they became known; those of
 * the workers come first.  The number, -1 for an unknown one; added when add is set. */
int combinations_find(struct node *node, const struct starpu_perfmodel_arch *arch,
		      int add);
/* NULL: there is no such number. */
struct starpu_perfmodel_arch *combinations_get(struct node *node, int number);
int combinations_count(struct node *node);
void combinations_clear(struct node *node);

#endif
