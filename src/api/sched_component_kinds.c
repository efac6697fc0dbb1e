/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components by kind. */
#include "api/api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/component/component.h"

#define IS(name, kind)                                                                   \
	int starpu_sched_component_is_##name(struct starpu_sched_component *component)   \
	{                                                                                \
		api_given(__func__, "component", component);                             \
		return component_is(component, &component_kind_##kind);                  \
	}

/* type: of what it is given */
#define KIND(name, kind, type)                                                           \
	struct starpu_sched_component *starpu_sched_component_##name##_create(           \
		struct starpu_sched_tree *tree, type *data)                              \
	{                                                                                \
		api_given(__func__, "tree", tree);                                       \
		return component_##kind(tree, data);                                     \
	}                                                                                \
	IS(name, kind)

KIND(fifo, fifo, struct starpu_sched_component_fifo_data)
KIND(prio, prio, struct starpu_sched_component_prio_data)
KIND(work_stealing, stealing, void)
KIND(random, random, void)
KIND(eager, eager, void)
KIND(eager_prio, eager_prio, void)
KIND(eager_calibration, calibration, void)
KIND(mct, mct, struct starpu_sched_component_mct_data)
KIND(heft, heft, struct starpu_sched_component_mct_data)
KIND(heteroprio, heteroprio, struct starpu_sched_component_heteroprio_data)
KIND(stage, stage, void)
KIND(userchoice, choice, void)
IS(perfmodel_select, select)
IS(simple_worker, worker)
IS(combined_worker, team)

struct starpu_sched_component *
starpu_sched_component_best_implementation_create(struct starpu_sched_tree *tree,
						  void *arg)
{
	api_given(__func__, "tree", tree);
	return component_implementation(tree, arg);
}

struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data)
{
	api_given(__func__, "tree", tree);
	api_given(__func__, "perfmodel_select_data", perfmodel_select_data);
	return component_select(tree, perfmodel_select_data);
}

/* ---- workers --------------------------------------------------------- */

int starpu_sched_component_is_worker(struct starpu_sched_component *component)
{
	return starpu_sched_component_is_simple_worker(component) ||
	       starpu_sched_component_is_combined_worker(component);
}

struct starpu_sched_component *starpu_sched_component_worker_get(unsigned sched_ctx,
								 int workerid)
{
	struct sched *sched = api_context(__func__, sched_ctx);

	if (!sched->tree)
		orr_die(sched->node->rank,
			"%s: scheduling context %u has no tree of components", __func__,
			sched_ctx);
	if (workerid < 0 || workerid >= sched->node->nworkers)
		orr_die(sched->node->rank, "%s: there is no worker %d; expected 0 to %d",
			__func__, workerid, sched->node->nworkers - 1);
	return component_of_worker(sched->tree, workerid);
}

struct starpu_sched_component *starpu_sched_component_worker_new(unsigned sched_ctx,
								 int workerid)
{
	return starpu_sched_component_worker_get(sched_ctx, workerid);
}

struct starpu_sched_component *
starpu_sched_component_parallel_worker_create(struct starpu_sched_tree *tree,
					      unsigned nworkers, unsigned *workers)
{
	struct tree *own = ORR_CONTAINER(tree, struct tree, base);
	int ids[STARPU_NMAXWORKERS];
	component_t *component;

	api_given(__func__, "tree", tree);
	api_given(__func__, "workers", workers);
	for (unsigned i = 0; i < nworkers; i++) {
		if (workers[i] >= (unsigned)own->node->nworkers ||
		    own->node->workers[workers[i]].type != STARPU_CPU_WORKER)
			orr_die(own->node->rank,
				"%s: worker %u is no processor, which it has to be to "
				"run a task together with others",
				__func__, workers[i]);
		ids[i] = (int)workers[i];
	}
	component = nworkers > 0 ? component_of_team(own, ids, (int)nworkers) : NULL;
	if (!component)
		orr_die(own->node->rank,
			"%s: %u workers, expected at least 1, and at most %d sets",
			__func__, nworkers, STARPU_NMAX_COMBINEDWORKERS);
	return component;
}

int starpu_sched_component_worker_get_workerid(
	struct starpu_sched_component *worker_component)
{
	api_given(__func__, "worker_component", worker_component);
	return component_worker_number(worker_component);
}

/* ---- recipes --------------------------------------------------------- */

static struct recipe *recipe_of(const char *func,
				struct starpu_sched_component_composed_recipe *recipe)
{
	api_given(func, "recipe", recipe);
	return (struct recipe *)recipe;
}

struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create(void)
{
	return (struct starpu_sched_component_composed_recipe *)recipe_new();
}

struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg)
{
	struct recipe *recipe = recipe_new();

	recipe_add(recipe, create_component, arg);
	return (struct starpu_sched_component_composed_recipe *)recipe;
}

void starpu_sched_component_composed_recipe_add(
	struct starpu_sched_component_composed_recipe *recipe,
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg)
{
	recipe_add(recipe_of(__func__, recipe), create_component, arg);
}

void starpu_sched_component_composed_recipe_destroy(
	struct starpu_sched_component_composed_recipe *recipe)
{
	recipe_free(recipe_of(__func__, recipe));
}

struct starpu_sched_component *starpu_sched_component_composed_component_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_composed_recipe *recipe)
{
	component_t *component;

	api_given(__func__, "tree", tree);
	component = component_composed(tree, recipe_of(__func__, recipe));
	if (!component)
		orr_die(api_rank(), "%s: the recipe is empty", __func__);
	return component;
}
