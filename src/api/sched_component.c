/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Trees of components, and what components call. */
#include <stdarg.h>

#include "api/api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/component/component.h"
#include "core/sched/contexts.h"
#include "core/task/codelet.h"
#include "core/task/task.h"

static struct tree *tree_at(struct starpu_sched_tree *tree, const char *func)
{
	api_given(func, "tree", tree);
	return ORR_CONTAINER(tree, struct tree, base);
}

/* Of a context; that of a policy of ours inside its policy. */
static struct tree *tree_at_work(const struct sched *sched)
{
	return sched->inner ? sched->inner->tree : sched->tree;
}

/* That of a context, which has to have one. */
static struct tree *tree_in(const char *func, unsigned id)
{
	struct sched *sched = api_context(func, id);
	struct tree *tree = tree_at_work(sched);

	if (!tree)
		orr_die(sched->node->rank,
			"%s: scheduling context %u has no tree of components; "
			"starpu_sched_tree_create() makes one",
			func, id);
	return tree;
}

static struct worker *self_of(const char *func)
{
	struct worker *self = plat_current_worker(api_node(func)->plat);

	if (!self)
		orr_die(api_rank(), "%s: the caller is no worker", func);
	return self;
}

/* ---- trees ----------------------------------------------------------- */

struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id)
{
	struct tree *tree = tree_new(api_context(__func__, sched_ctx_id));

	STARPU_PTHREAD_MUTEX_INIT(&tree->base.lock, NULL);
	return &tree->base;
}

void starpu_sched_tree_destroy(struct starpu_sched_tree *tree)
{
	struct tree *own = tree_at(tree, __func__);

	if (own->sched->policy_data == tree)
		own->sched->policy_data = NULL;
	STARPU_PTHREAD_MUTEX_DESTROY(&tree->lock);
	tree_free(own);
}

void starpu_sched_tree_deinitialize(unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	if (sched->tree)
		starpu_sched_tree_destroy(&sched->tree->base);
}

struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id)
{
	struct tree *tree = tree_at_work(api_context(__func__, sched_ctx_id));

	return tree ? &tree->base : NULL;
}

void starpu_sched_tree_update_workers(struct starpu_sched_tree *t)
{
	tree_update_workers(tree_at(t, __func__));
}

void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t)
{
	tree_update_workers(tree_at(t, __func__));
}

static struct tree *tree_of_task(const char *func, struct starpu_task *task)
{
	const struct job *job;

	api_given(func, "task", task);
	job = task->starpu_private;
	return tree_in(func, (unsigned)job->sched->id);
}

int starpu_sched_tree_push_task(struct starpu_task *task)
{
	tree_push(tree_of_task(__func__, task), task);
	return 0;
}

int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task)
{
	struct tree *tree = tree_of_task(__func__, task);
	struct worker *self = plat_current_worker(tree->node->plat);
	int done = 0;

	tree_enter(tree);
	for (struct component *c = tree->all; c && self && !done; c = c->next)
		if (c->kind == &component_kind_stealing)
			done = component_stealing_push_own(&c->base, self, task) == 0;
	if (!done)
		tree_push(tree, task);
	tree_leave(tree);
	return 0;
}

struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx)
{
	return tree_pop(tree_in(__func__, sched_ctx), self_of(__func__));
}

void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids,
				   unsigned nworkers)
{
	tree_change_workers(tree_in(__func__, sched_ctx_id), workerids, nworkers, 1);
}

void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids,
				      unsigned nworkers)
{
	tree_change_workers(tree_in(__func__, sched_ctx_id), workerids, nworkers, 0);
}

void starpu_sched_tree_do_schedule(unsigned sched_ctx_id)
{
	tree_schedule(tree_in(__func__, sched_ctx_id));
}

/* A worker runs tasks of other policies as well. */
void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task,
						 unsigned sched_ctx_id)
{
	api_given(__func__, "task", task);
	tree_started(tree_in(__func__, sched_ctx_id), self_of(__func__),
		     task->starpu_private);
}

void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task,
						  unsigned sched_ctx_id)
{
	api_given(__func__, "task", task);
	tree_ended(tree_in(__func__, sched_ctx_id), self_of(__func__));
}

/* ---- components ------------------------------------------------------ */

struct starpu_sched_component *
starpu_sched_component_create(struct starpu_sched_tree *tree, const char *name)
{
	tree_at(tree, __func__);
	api_given(__func__, "name", name);
	return component_new(tree, name, NULL);
}

void starpu_sched_component_destroy(struct starpu_sched_component *component)
{
	api_given(__func__, "component", component);
	component_free(component);
}

void starpu_sched_component_destroy_rec(struct starpu_sched_component *component)
{
	api_given(__func__, "component", component);
	component_free_all(component);
}

void starpu_sched_component_connect(struct starpu_sched_component *parent,
				    struct starpu_sched_component *child)
{
	api_given(__func__, "parent", parent);
	api_given(__func__, "child", child);
	component_connect(parent, child);
}

void starpu_sched_component_add_child(struct starpu_sched_component *component,
				      struct starpu_sched_component *child)
{
	component_add_child(component, child);
}

int starpu_sched_component_push_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to,
				     struct starpu_task *task)
{
	(void)from;
	api_given(__func__, "to", to);
	return component_push(to, task);
}

struct starpu_task *starpu_sched_component_pull_task(struct starpu_sched_component *from,
						     struct starpu_sched_component *to)
{
	api_given(__func__, "from", from);
	return component_pull(from, to);
}

struct starpu_task *
starpu_sched_component_pump_to(struct starpu_sched_component *component,
			       struct starpu_sched_component *to, int *success)
{
	int n;
	struct starpu_task *rejected = component_pump(component, to, &n);

	if (success)
		*success = n;
	return rejected;
}

struct starpu_task *
starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
				       int *success)
{
	if (component->nchildren != 1)
		orr_die(api_rank(), "%s: component \"%s\" has %u children, expected 1",
			__func__, component->name, component->nchildren);
	return starpu_sched_component_pump_to(component, component->children[0], success);
}

int starpu_sched_component_send_can_push_to_parents(
	struct starpu_sched_component *component)
{
	return component_ask_parents(component);
}

struct starpu_task *
starpu_sched_component_parents_pull_task(struct starpu_sched_component *component,
					 struct starpu_sched_component *to)
{
	return component_parents_pull(component, to);
}

int starpu_sched_component_can_push(struct starpu_sched_component *component,
				    struct starpu_sched_component *to)
{
	return component_can_push(component, to);
}

int starpu_sched_component_can_pull(struct starpu_sched_component *component)
{
	return component_can_pull(component);
}

int starpu_sched_component_can_pull_all(struct starpu_sched_component *component)
{
	return component_can_pull_all(component);
}

double starpu_sched_component_estimated_load(struct starpu_sched_component *component)
{
	return component_load(component);
}

double starpu_sched_component_estimated_end_min(struct starpu_sched_component *component)
{
	return component_end_us(component);
}

double
starpu_sched_component_estimated_end_min_add(struct starpu_sched_component *component,
					     double exp_len)
{
	return component_end_behind_us(component, exp_len);
}

double
starpu_sched_component_estimated_end_average(struct starpu_sched_component *component)
{
	return component_end_mean_us(component);
}

/* What is asked of a component about a task, which need not be submitted: then it says
 * itself who may run it.  0: it has no kernel, and none runs it. */
static int look(const char *func, component_t *component, struct starpu_task *task)
{
	struct job *job;

	api_given(func, "component", component);
	api_given(func, "task", task);
	if (!task->cl)
		return 0;
	job = task_job(tree_of(component)->node, task);
	if (job->life == LIFE_NEW || job->life == LIFE_ENDED)
		job->where = (unsigned short)task_where(task);
	return 1;
}

int starpu_sched_component_can_execute_task(struct starpu_sched_component *component,
					    struct starpu_task *task)
{
	struct tree *tree;
	int can;

	if (!look(__func__, component, task))
		return 0;
	tree = tree_of(component);
	tree_enter(tree);
	can = component_can_run(component, task);
	tree_leave(tree);
	return can;
}

int starpu_sched_component_execute_preds(struct starpu_sched_component *component,
					 struct starpu_task *task, double *length)
{
	struct tree *tree;
	int can;

	if (!look(__func__, component, task))
		return 0;
	tree = tree_of(component);
	tree_enter(tree);
	can = component_predict(component, task, length);
	tree_leave(tree);
	return can;
}

/* The accesses of its job are yet to be made. */
static double transfer_early_us(component_t *component, struct starpu_task *task)
{
	uint64_t memories = component_memories(component);
	double us = 0;

	for (uint64_t left = memories; left; left &= left - 1)
		us += starpu_task_expected_data_transfer_time(
			(unsigned)__builtin_ctzll(left), task);
	return memories ? us / __builtin_popcountll(memories) : 0;
}

double starpu_sched_component_transfer_length(struct starpu_sched_component *component,
					      struct starpu_task *task)
{
	struct tree *tree;
	const struct job *job;
	double us;

	if (!look(__func__, component, task))
		return 0;
	tree = tree_of(component);
	job = task->starpu_private;
	tree_enter(tree);
	us = job->life == LIFE_NEW || job->life == LIFE_ENDED
		     ? transfer_early_us(component, task)
		     : component_transfer_us(component, task);
	tree_leave(tree);
	return us;
}

void starpu_sched_component_prefetch_on_node(struct starpu_sched_component *component,
					     struct starpu_task *task)
{
	component_prefetch(component, task);
}

/* ---- the usual graph ------------------------------------------------- */

static void build(const char *func, unsigned id, const struct simple_decision *decisions,
		  int n)
{
	struct sched *sched = api_context(func, id);
	struct starpu_sched_tree *tree = starpu_sched_tree_create(id);

	simple_build(sched->tree, decisions, n);
	sched->policy_data = tree;
}

struct starpu_sched_tree *
starpu_sched_component_make_scheduler(unsigned sched_ctx_id,
				      struct starpu_sched_component_specs s)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	struct starpu_sched_tree *tree = starpu_sched_tree_create(sched_ctx_id);

	if (!places_build(sched->tree, &s))
		orr_die(api_rank(),
			"%s: specs.hwloc_machine_composed_sched_component is NULL or an "
			"empty recipe; expected that of the root",
			__func__);
	sched->policy_data = tree;
	return tree;
}

void starpu_sched_component_initialize_simple_scheduler(
	starpu_sched_component_create_t create_decision_component, void *data,
	unsigned flags, unsigned sched_ctx_id)
{
	struct simple_decision decision = {
		.create = create_decision_component, .data = data, .flags = flags};

	build(__func__, sched_ctx_id, &decision, 1);
}

void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id,
							 unsigned ndecisions, ...)
{
	struct simple_decision decisions[SIMPLE_MOST] = {0};
	va_list list;

	if (ndecisions == 0 || ndecisions > SIMPLE_MOST)
		orr_die(api_rank(), "%s: %u decisions, expected 1 to %d", __func__,
			ndecisions, SIMPLE_MOST);
	va_start(list, ndecisions);
	for (unsigned i = 0; i < ndecisions; i++) {
		struct simple_decision *d = &decisions[i];

		d->create = va_arg(list, starpu_sched_component_create_t);
		d->data = va_arg(list, void *);
		d->flags = va_arg(list, unsigned);
		while (d->flags == STARPU_SCHED_SIMPLE_PRE_DECISION) {
			if (d->npre == SIMPLE_PRE)
				orr_die(api_rank(),
					"%s: more than %d components before a decision",
					__func__, SIMPLE_PRE);
			d->pre[d->npre].create =
				va_arg(list, starpu_sched_component_create_t);
			d->pre[d->npre++].data = va_arg(list, void *);
			d->flags = va_arg(list, unsigned);
		}
	}
	va_end(list);
	build(__func__, sched_ctx_id, decisions, (int)ndecisions);
}
