/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Contexts come, change and go. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include <starpu_sched_ctx.h>

#include "api/api.h"
#include "api/bindings.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/contexts.h"
#include "core/task/args.h"
#include "core/task/task.h"

struct sched *api_context(const char *func, unsigned id)
{
	struct sched *sched = contexts_find(api_node(func), id);

	if (!sched)
		orr_die(api_rank(),
			"%s: there is no scheduling context %u; give a number that "
			"starpu_sched_ctx_create() returned, and that is not deleted",
			func, id);
	return sched;
}

static struct worker *worker_at(const char *func, struct node *node, int id)
{
	if (id < 0 || id >= node->nworkers)
		orr_die(node->rank, "%s: there is no worker %d; expected 0 to %d", func,
			id, node->nworkers - 1);
	return &node->workers[id];
}

/* ---- what is asked of a new one -------------------------------------- */

struct wish {
	const char *policy_name; /* NULL: not given; "": the usual one */
	struct starpu_sched_policy *policy;
	int has_min, min, has_max, max, level, nsms, is_awake;
	int parent; /* -1: none */
	void (*init)(unsigned);
	void *user_data;
	int *children, nchildren;
};

/* A list that is read by several functions. */
struct operands {
	va_list list;
};

static void read_one(struct wish *wish, const char *name, int kind,
		     struct operands *operands)
{
	switch (kind) {
	case STARPU_SCHED_CTX_POLICY_NAME:
		wish->policy_name = va_arg(operands->list, const char *);
		break;
	case STARPU_SCHED_CTX_POLICY_STRUCT:
		wish->policy = va_arg(operands->list, struct starpu_sched_policy *);
		break;
	case STARPU_SCHED_CTX_POLICY_MIN_PRIO:
		wish->min = va_arg(operands->list, int);
		wish->has_min = 1;
		break;
	case STARPU_SCHED_CTX_POLICY_MAX_PRIO:
		wish->max = va_arg(operands->list, int);
		wish->has_max = 1;
		break;
	case STARPU_SCHED_CTX_HIERARCHY_LEVEL:
		wish->level = va_arg(operands->list, int);
		break;
	case STARPU_SCHED_CTX_NESTED:
		wish->parent = (int)va_arg(operands->list, unsigned);
		break;
	case STARPU_SCHED_CTX_AWAKE_WORKERS:
		wish->is_awake = 1;
		break;
	case STARPU_SCHED_CTX_POLICY_INIT:
		wish->init = va_arg(operands->list, void (*)(unsigned));
		break;
	case STARPU_SCHED_CTX_USER_DATA:
		wish->user_data = va_arg(operands->list, void *);
		break;
	case STARPU_SCHED_CTX_CUDA_NSMS:
		wish->nsms = va_arg(operands->list, int);
		break;
	case STARPU_SCHED_CTX_SUB_CTXS:
		wish->children = va_arg(operands->list, int *);
		wish->nchildren = va_arg(operands->list, int);
		break;
	default:
		orr_die(api_rank(),
			"starpu_sched_ctx_create: context \"%s\" is given the "
			"argument %d, which is none of STARPU_SCHED_CTX_*; is "
			"the 0 at the end missing?",
			name, kind);
	}
}

static void take(struct wish *wish, const char *name, int kind, ...)
{
	struct operands operands;

	va_start(operands.list, kind);
	read_one(wish, name, kind, &operands);
	va_end(operands.list);
}

/* Fortran's list: pointers by value, integers by address. */
static void read_array(struct wish *wish, const char *name, void **array)
{
	while (*array) {
		int kind = (int)(intptr_t)*array++;

		switch (kind) {
		case STARPU_SCHED_CTX_AWAKE_WORKERS:
			take(wish, name, kind);
			break;
		case STARPU_SCHED_CTX_SUB_CTXS:
			take(wish, name, kind, array[0], *(int *)array[1]);
			array += 2;
			break;
		case STARPU_SCHED_CTX_POLICY_MIN_PRIO:
		case STARPU_SCHED_CTX_POLICY_MAX_PRIO:
		case STARPU_SCHED_CTX_HIERARCHY_LEVEL:
		case STARPU_SCHED_CTX_NESTED:
		case STARPU_SCHED_CTX_CUDA_NSMS:
			take(wish, name, kind, *(int *)*array++);
			break;
		default:
			take(wish, name, kind, *array++);
		}
	}
}

static struct wish read_wish(const char *name, va_list args)
{
	struct wish wish = {.level = -1, .parent = -1};
	struct operands operands;
	int kind;

	va_copy(operands.list, args);
	while ((kind = va_arg(operands.list, int))) {
		if (kind == ARGS_IN_ARRAY)
			read_array(&wish, name, va_arg(operands.list, void **));
		else
			read_one(&wish, name, kind, &operands);
	}
	va_end(operands.list);
	return wish;
}

/* Returns its table, and with one of the application's its object. */
static const struct sched_ops *policy_of(struct node *node, const struct wish *wish,
					 const char *name,
					 struct starpu_sched_policy **object)
{
	const struct sched_ops *ops = &sched_none;

	if (wish->policy) {
		*object = wish->policy;
		ops = sched_given(node, object);
	} else if (wish->policy_name && *wish->policy_name) {
		ops = sched_named(node, wish->policy_name, object);
	} else {
		if (wish->policy_name)
			ops = sched_usual(node);
		*object = (struct starpu_sched_policy *)&ops->object;
	}
	if (!ops) {
		const char *wanted = wish->policy_name ? wish->policy_name : "";
		char hint[80];

		sched_hint(wanted, hint, sizeof(hint));
		orr_complain(node->rank,
			     "starpu_sched_ctx_create: context \"%s\": scheduling policy "
			     "\"%s\" was not found%s (STARPU_SCHED=help lists them); "
			     "using lws",
			     name, wanted, hint);
		ops = &sched_lws;
		*object = (struct starpu_sched_policy *)&ops->object;
	}
	return ops;
}

/* ---- create ---------------------------------------------------------- */

static void set_up(struct sched *sched, const struct wish *wish, const char *name)
{
	struct node *node = sched->node;

	snprintf(sched->name, sizeof(sched->name), "%s", name);
	if (wish->has_min)
		sched->min_priority = wish->min;
	if (wish->has_max)
		sched->max_priority = wish->max;
	sched->min_is_set = wish->has_min != 0;
	sched->max_is_set = wish->has_max != 0;
	sched->user_data = wish->user_data;
	sched->is_awake = (unsigned char)wish->is_awake;
	sched->nsms = wish->nsms;
	if (wish->parent >= 0) {
		const struct sched *parent =
			api_context("starpu_sched_ctx_create", (unsigned)wish->parent);

		sched->parent = sched->heir = parent->id;
		sched->level = parent->level + 1;
	}
	if (wish->level >= 0)
		sched->level = wish->level;
	for (int i = 0; i < wish->nchildren; i++)
		contexts_find(node, (unsigned)wish->children[i])->parent = sched->id;
}

static void add_all(struct sched *sched)
{
	int ids[STARPU_NMAXWORKERS];

	for (int i = 0; i < sched->node->nworkers; i++)
		ids[i] = i;
	contexts_add(sched, ids, sched->node->nworkers);
}

static unsigned create(struct node *node, const int *ids, int n, const char *name,
		       const struct wish *wish)
{
	struct starpu_sched_policy *object;
	const struct sched_ops *ops = policy_of(node, wish, name, &object);
	struct sched *sched;

	for (int i = 0; i < wish->nchildren; i++)
		api_context("starpu_sched_ctx_create", (unsigned)wish->children[i]);
	for (int i = 0; ids && i < n; i++)
		worker_at("starpu_sched_ctx_create", node, ids[i]);
	sched = contexts_create(node, ops, object);
	if (!sched)
		orr_die(node->rank,
			"starpu_sched_ctx_create: context \"%s\" would be one more than "
			"STARPU_NMAX_SCHED_CTXS, %d with the initial one; delete others "
			"before",
			name, STARPU_NMAX_SCHED_CTXS);
	set_up(sched, wish, name);
	contexts_start(sched);
	if (wish->init)
		wish->init((unsigned)sched->id);
	sched->init = wish->init;
	/* NULL: all of them, or none when their number is 0. */
	if (ids)
		contexts_add(sched, ids, n);
	else if (n)
		add_all(sched);
	return (unsigned)sched->id;
}

unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx,
				 const char *sched_ctx_name, ...)
{
	struct node *node = api_node(__func__);
	struct wish wish;
	va_list args;

	api_given(__func__, "sched_ctx_name", sched_ctx_name);
	va_start(args, sched_ctx_name);
	wish = read_wish(sched_ctx_name, args);
	va_end(args);
	return create(node, workerids_ctx, nworkers_ctx, sched_ctx_name, &wish);
}

/* Workers of the kind that belong to none but the initial one, or when others may be
 * taken, also those; appends as many as there are, at most. */
static int choose(struct node *node, int is_cpu, int most, int may_share, int *ids, int n)
{
	for (int shared = 0; shared <= may_share; shared++)
		for (int i = 0; i < node->nworkers && most > 0; i++) {
			const struct worker *worker = &node->workers[i];

			if ((worker->type == STARPU_CPU_WORKER) != is_cpu ||
			    (orr_load(&worker->belongs) > 1) != shared)
				continue;
			ids[n++] = i;
			most--;
		}
	return n;
}

unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
						 const char *sched_ctx_name,
						 int min_ncpus, int max_ncpus,
						 int min_ngpus, int max_ngpus,
						 unsigned allow_overlap)
{
	struct node *node = api_node(__func__);
	struct wish wish = {.policy_name = policy_name, .level = -1, .parent = -1};
	int ids[2 * STARPU_NMAXWORKERS], ncpus, n;

	api_given(__func__, "policy_name", policy_name);
	api_given(__func__, "sched_ctx_name", sched_ctx_name);
	n = ncpus = choose(node, 1, max_ncpus, allow_overlap != 0, ids, 0);
	n = choose(node, 0, max_ngpus, allow_overlap != 0, ids, n);
	if (ncpus < min_ncpus || n - ncpus < min_ngpus)
		orr_die(node->rank,
			"%s: context \"%s\" would have %d CPU workers and %d others, "
			"expected at least %d and %d; delete other contexts, or allow "
			"overlap",
			__func__, sched_ctx_name, ncpus, n - ncpus, min_ncpus, min_ngpus);
	return create(node, ids, n, sched_ctx_name, &wish);
}

/* ---- change ---------------------------------------------------------- */

void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx,
				  unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	for (unsigned i = 0; i < nworkers_ctx; i++)
		worker_at(__func__, sched->node, workerids_ctx[i]);
	contexts_add(sched, workerids_ctx, (int)nworkers_ctx);
}

void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
				     unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	for (unsigned i = 0; i < nworkers_ctx; i++)
		worker_at(__func__, sched->node, workerids_ctx[i]);
	contexts_remove(sched, workerids_ctx, (int)nworkers_ctx);
}

void starpu_sched_ctx_set_priority(int *workers, int nworkers, unsigned sched_ctx_id,
				   unsigned priority)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	for (int i = 0; i < nworkers; i++)
		orr_store(&worker_at(__func__, sched->node, workers[i])->ranks[sched->id],
			  priority < INT_MAX ? (int)priority : INT_MAX);
}

unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	return (unsigned)orr_load(
		&worker_at(__func__, sched->node, worker)->ranks[sched->id]);
}

void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	int heir = -1;

	if (inheritor == sched_ctx_id)
		orr_die(api_rank(), "%s: context %u cannot inherit from itself", __func__,
			inheritor);
	if (inheritor != STARPU_NMAX_SCHED_CTXS)
		heir = api_context(__func__, inheritor)->id;
	orr_store(&sched->heir, heir);
}

unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id)
{
	const struct sched *sched = api_context(__func__, sched_ctx_id);

	int heir = orr_load((int *)&sched->heir);

	return heir >= 0 ? (unsigned)heir : STARPU_NMAX_SCHED_CTXS;
}

unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id)
{
	return (unsigned)api_context(__func__, sched_ctx_id)->level;
}

int starpu_sched_ctx_get_nsms(unsigned sched_ctx)
{
	return api_context(__func__, sched_ctx)->nsms;
}

/* ---- the end --------------------------------------------------------- */

void starpu_sched_ctx_register_close_callback(
	unsigned sched_ctx_id, void (*close_callback)(unsigned sched_ctx_id, void *args),
	void *args)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	sched->end_arg = args;
	sched->end = close_callback;
}

void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	if (sched->id != 0)
		contexts_finish(sched);
}

void starpu_sched_ctx_delete(unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id), *heir;
	struct node *node = sched->node;

	if (sched->id == 0)
		orr_die(node->rank,
			"%s: context 0 is the library's, and stays; delete those that "
			"starpu_sched_ctx_create() returned",
			__func__);
	/* Another thread may submit more meanwhile, and delete the heir. */
	do {
		if (orr_load(&sched->njobs) > 0)
			node_wait_context(api_blocking_node(__func__), sched, 0);
		heir = contexts_heir(sched);
	} while (contexts_delete(sched, heir) != 0);
}

/* ---- where tasks go -------------------------------------------------- */

int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id)
{
	api_given(__func__, "task", task);
	task->sched_ctx = (unsigned)api_context(__func__, sched_ctx_id)->id;
	return starpu_task_submit(task);
}

void starpu_sched_ctx_set_context(unsigned *sched_ctx_id)
{
	struct node *node = api_node(__func__);
	struct plat_caller *caller = plat_caller(node->plat);

	if (!sched_ctx_id || *sched_ctx_id >= STARPU_NMAX_SCHED_CTXS) {
		caller->context = 0;
		return;
	}
	caller->context = (unsigned char)(api_context(__func__, *sched_ctx_id)->id + 1);
	orr_store(&node->callers_choose, 1);
}

unsigned starpu_sched_ctx_get_context(void)
{
	const struct node *node = api_node(__func__);
	int context = plat_caller(node->plat)->context;

	return context ? (unsigned)context - 1 : STARPU_NMAX_SCHED_CTXS;
}

int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id)
{
	return starpu_task_wait_for_n_submitted_in_ctx(sched_ctx_id, 0);
}

int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n)
{
	struct node *node = api_blocking_node(__func__);
	struct sched *sched = api_context(__func__, sched_ctx_id);

	if (sched->ops->schedule)
		sched->ops->schedule(sched);
	return node_wait_context(node, sched, n < INT_MAX ? (int)n : INT_MAX);
}

/* ---- code that runs in parallel -------------------------------------- */

void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids,
					   int *ncpuids)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	struct node *node = sched->node;

	api_given(__func__, "cpuids", cpuids);
	api_given(__func__, "ncpuids", ncpuids);
	*cpuids = orr_alloc((size_t)node->nworkers * sizeof(**cpuids));
	*ncpuids = 0;
	for (int i = 0; i < node->nworkers; i++)
		if (contexts_owns(sched, &node->workers[i]) &&
		    node->workers[i].type == STARPU_CPU_WORKER)
			(*cpuids)[(*ncpuids)++] = starpu_worker_get_bindid(i);
}

void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid)
{
	struct node *node;

	/* OpenMP's threads belong to no simulated rank, and there is nothing to bind to.
	 */
	if (orrery_is_simulated() && !plat_self())
		return;
	node = api_node(__func__);
	if (bindings_are_made(node) && plat_bind_thread(node->plat, (int)cpuid) != 0)
		orr_complain(node->rank,
			     "%s: the thread is not bound: there is no core %u", __func__,
			     cpuid);
}

/* Its cores take no tasks, or again. */
static void hold_workers(struct sched *sched, int is_held)
{
	for (int i = 0; i < sched->node->nworkers; i++) {
		struct worker *worker = &sched->node->workers[i];

		if (contexts_owns(sched, worker) && worker->type == STARPU_CPU_WORKER)
			contexts_hold(worker, HELD_FOR_CODE, is_held);
	}
}

static int are_at_rest(const struct sched *sched)
{
	for (int i = 0; i < sched->node->nworkers; i++) {
		const struct worker *worker = &sched->node->workers[i];

		if (contexts_owns(sched, worker) && worker->type == STARPU_CPU_WORKER &&
		    !contexts_has_settled(worker))
			return 0;
	}
	return 1;
}

void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
					  unsigned sched_ctx_id)
{
	struct node *node = api_blocking_node(__func__);
	struct sched *sched = api_context(__func__, sched_ctx_id);
	void *ret;

	api_given(__func__, "func", (const void *)(uintptr_t)func);
	hold_workers(sched, 1);
	while (!are_at_rest(sched))
		plat_sleep(node->plat, 1e-5);
	ret = func(param);
	hold_workers(sched, 0);
	return ret;
}
