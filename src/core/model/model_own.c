/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/model/model_store.h"

/* ---- functions ------------------------------------------------------- */

struct model_functions model_own_functions(struct starpu_perfmodel *model,
					   const struct starpu_perfmodel_arch *arch,
					   unsigned implementation)
{
	struct _starpu_perfmodel_state *state =
		model ? orr_load_ptr((void **)&model->state) : NULL;
	const struct model_combination *combination;
	const struct model_arch *own = NULL;
	struct model_functions found = {NULL, NULL};

	if (!state || !arch || !orr_load(&state->has_own))
		return found;
	orr_lock(&state->lock);
	combination = model_data_find(&state->own, arch);
	if (combination && implementation < STARPU_MAXIMPLEMENTATIONS)
		own = combination->implementations[implementation];
	if (own)
		found = (struct model_functions){own->known.cost_function,
						 own->known.size_base};
	orr_unlock(&state->lock);
	return found;
}

struct starpu_perfmodel_per_arch *
model_own_place(struct node *node, struct starpu_perfmodel *model,
		const struct starpu_perfmodel_arch *arch, unsigned implementation)
{
	struct _starpu_perfmodel_state *state = model_state(node, model);
	struct model_answer answer = {.known = NULL};
	struct starpu_perfmodel_per_arch *place;

	if (model->type >= STARPU_HISTORY_BASED)
		answer = model_find(node, model, arch, implementation, 0);
	orr_lock(&state->lock);
	place = &model_data_add(&state->own, arch, implementation)->known;
	orr_store(&state->has_own, 1);
	orr_unlock(&state->lock);
	if (answer.known) {
		orr_lock(&answer.file->lock);
		place->list = answer.known->known.list;
		place->regression = answer.known->known.regression;
		orr_unlock(&answer.file->lock);
	}
	return place;
}

void model_own_clear(struct _starpu_perfmodel_state *state)
{
	for (size_t i = 0; i < state->own.ncombinations; i++)
		for (int k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
			struct model_arch *own =
				state->own.combinations[i]->implementations[k];

			if (!own)
				continue;
			own->known.list = NULL; /* The file's. */
			own->known.regression.coeff = NULL;
		}
	model_data_clear(&state->own);
}

/* ---- combinations ---------------------------------------------------- */

static int find(const struct combinations *all, const struct starpu_perfmodel_arch *arch)
{
	for (int i = 0; i < all->n; i++)
		if (model_same_arch(all->archs[i], arch))
			return i;
	return -1;
}

static int add_new(struct combinations *all, const struct starpu_perfmodel_arch *arch)
{
	struct starpu_perfmodel_arch *copy = orr_alloc(sizeof *copy);
	size_t bytes = (size_t)arch->ndevices * sizeof *arch->devices;

	copy->ndevices = arch->ndevices;
	copy->devices = orr_alloc(bytes ? bytes : 1);
	if (bytes)
		memcpy(copy->devices, arch->devices, bytes);
	all->archs = orr_realloc(all->archs, (size_t)(all->n + 1) * sizeof *all->archs);
	all->archs[all->n] = copy;
	return all->n++;
}

/* The lock is held. */
static void know_workers(struct node *node)
{
	struct combinations *all = &node->combinations;

	if (all->n > 0)
		return;
	/* Processors first. */
	for (int i = 0; i < node->nworkers; i++) {
		int id = (node->first_worker_of[STARPU_CPU_WORKER] + i) % node->nworkers;

		if (find(all, &node->workers[id].arch) < 0)
			add_new(all, &node->workers[id].arch);
	}
}

int combinations_find(struct node *node, const struct starpu_perfmodel_arch *arch,
		      int add)
{
	struct combinations *all = &node->combinations;
	int number;

	orr_lock(&all->lock);
	know_workers(node);
	number = find(all, arch);
	if (number < 0 && add)
		number = add_new(all, arch);
	orr_unlock(&all->lock);
	return number;
}

struct starpu_perfmodel_arch *combinations_get(struct node *node, int number)
{
	struct combinations *all = &node->combinations;
	struct starpu_perfmodel_arch *arch;

	orr_lock(&all->lock);
	know_workers(node);
	arch = number >= 0 && number < all->n ? all->archs[number] : NULL;
	orr_unlock(&all->lock);
	return arch;
}

int combinations_count(struct node *node)
{
	combinations_get(node, 0);
	return node->combinations.n;
}

void combinations_clear(struct node *node)
{
	struct combinations *all = &node->combinations;

	for (int i = 0; i < all->n; i++) {
		free(all->archs[i]->devices);
		free(all->archs[i]);
	}
	free(all->archs);
	*all = (struct combinations){.n = 0};
}
