/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What policies of the application's call while they push and pop. */
#include <errno.h>
#include <math.h>

#include <starpu_scheduler.h>

#include "api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/aliases.h"
#include "core/data/nearness.h"
#include "core/model/model_query.h"
#include "core/sched/conditions.h"
#include "core/sched/contexts.h"
#include "core/sched/relax.h"
#include "core/sched/sched.h"
#include "core/task/breaks.h"
#include "core/task/foresee.h"
#include "core/task/task.h"

static struct worker *worker_at(const char *func, unsigned id)
{
	struct node *node = api_node(func);

	if (id >= (unsigned)node->nworkers)
		orr_die(node->rank, "%s: no worker %u among %d", func, id,
			node->nworkers);
	return &node->workers[id];
}

static struct worker *self_of(const char *func)
{
	return plat_current_worker(api_node(func)->plat);
}

/* ---- tasks ----------------------------------------------------------- */

/* The task may be running already. */
int starpu_push_task_end(struct starpu_task *task)
{
	api_given(__func__, "task", task);
	api_node(__func__);
	return 0;
}

int starpu_push_local_task(int workerid, struct starpu_task *task, int back)
{
	struct worker *worker = worker_at(__func__, (unsigned)workerid);

	api_given(__func__, "task", task);
	if (alias_taken(worker, task, 0))
		return 0;
	worker_bind_local(worker, task->starpu_private, back != 0);
	orr_fence();
	plat_worker_wake(worker);
	return 0;
}

void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id)
{
	(void)sched_ctx_id;
	worker_at(__func__, (unsigned)workerid);
}

/* A hint reads in its turn, so it must not come behind the task's own writing. */
static int prefetch_input(struct starpu_task *task, unsigned node,
			  int (*prefetch)(starpu_data_handle_t handle, unsigned node,
					  unsigned async, int prio),
			  int prio)
{
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		enum starpu_data_access_mode mode = STARPU_TASK_GET_MODE(task, i);

		if ((mode & (STARPU_R | STARPU_W)) == STARPU_R)
			prefetch(STARPU_TASK_GET_HANDLE(task, i), node, 1, prio);
	}
	return 0;
}

/* On a node with one memory all is there. */
#define PREFETCH_INPUT(kind, prefetch)                                                   \
	int starpu_##kind##_task_input_on_node_prio(struct starpu_task *task,            \
						    unsigned node, int prio)             \
	{                                                                                \
		api_given(__func__, "task", task);                                       \
		if (node_nmemories(api_node(__func__)) == 1)                             \
			return 0;                                                        \
		return prefetch_input(task, node, prefetch, prio);                       \
	}                                                                                \
	int starpu_##kind##_task_input_on_node(struct starpu_task *task, unsigned node)  \
	{                                                                                \
		return starpu_##kind##_task_input_on_node_prio(task, node, 0);           \
	}                                                                                \
	int starpu_##kind##_task_input_for_prio(struct starpu_task *task,                \
						unsigned worker, int prio)               \
	{                                                                                \
		return starpu_##kind##_task_input_on_node_prio(                          \
			task, worker_at(__func__, worker)->memory, prio);                \
	}                                                                                \
	int starpu_##kind##_task_input_for(struct starpu_task *task, unsigned worker)    \
	{                                                                                \
		return starpu_##kind##_task_input_for_prio(task, worker, 0);             \
	}

PREFETCH_INPUT(prefetch, starpu_data_prefetch_on_node_prio)
PREFETCH_INPUT(idle_prefetch, starpu_data_idle_prefetch_on_node_prio)

/* ---- waking ---------------------------------------------------------- */

static int wake(struct worker *worker)
{
	orr_fence();
	return plat_worker_wake(worker) != 0;
}

int starpu_wake_worker_relax(int workerid)
{
	return wake(worker_at(__func__, (unsigned)workerid));
}

int starpu_wake_worker_no_relax(int workerid)
{
	return wake(worker_at(__func__, (unsigned)workerid));
}

int starpu_wake_worker_locked(int workerid)
{
	return wake(worker_at(__func__, (unsigned)workerid));
}

int starpu_wake_worker_relax_light(int workerid)
{
	return wake(worker_at(__func__, (unsigned)workerid));
}

void starpu_worker_get_sched_condition(int workerid, starpu_pthread_mutex_t **sched_mutex,
				       starpu_pthread_cond_t **sched_cond)
{
	struct condition *own = conditions_of(worker_at(__func__, (unsigned)workerid));

	api_given(__func__, "sched_mutex", sched_mutex);
	api_given(__func__, "sched_cond", sched_cond);
	*sched_mutex = &own->mutex;
	*sched_cond = &own->cond;
}

void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned workerid))
{
	struct rest_calls *calls = &api_node(__func__)->rest_calls;

	orr_lock(&calls->lock);
	calls->going_to_sleep = callback;
	orr_unlock(&calls->lock);
}

void starpu_worker_set_waking_up_callback(void (*callback)(unsigned workerid))
{
	struct rest_calls *calls = &api_node(__func__)->rest_calls;

	orr_lock(&calls->lock);
	calls->waking_up = callback;
	orr_unlock(&calls->lock);
}

/* ---- what will be ---------------------------------------------------- */

void starpu_sched_task_break(struct starpu_task *task)
{
	api_given(__func__, "task", task);
	breaks_at_decision(task_job(api_node(__func__), task));
}

void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f, void *data)
{
	foresee_tell(api_node(__func__), f, data);
}

void starpu_worker_get_current_task_exp_end(unsigned workerid, struct timespec *date)
{
	struct worker *worker = worker_at(__func__, workerid);

	api_given(__func__, "date", date);
	*date = event_timespec(foresee_end_s(worker));
}

/* ---- the workers' locks ---------------------------------------------- */

int starpu_worker_sched_op_pending(void)
{
	const struct worker *self = self_of(__func__);

	return self && self->nholds > 0;
}

void starpu_worker_relax_on(void)
{
	relax_on(self_of(__func__));
}

void starpu_worker_relax_off(void)
{
	struct worker *self = self_of(__func__);

	if (self && self->nrelaxed == 0)
		orr_die(self->node->rank, "%s: no starpu_worker_relax_on() before",
			__func__);
	relax_off(self);
}

int starpu_worker_get_relax_state(void)
{
	const struct worker *self = self_of(__func__);

	return !self || self->nrelaxed > 0;
}

void starpu_worker_lock(int workerid)
{
	relax_lock(self_of(__func__), worker_at(__func__, (unsigned)workerid));
}

int starpu_worker_trylock(int workerid)
{
	struct worker *self = self_of(__func__);
	struct worker *worker = worker_at(__func__, (unsigned)workerid);

	if (self == worker) {
		relax_hold(self);
		return 0;
	}
	if (!orr_trylock(&worker->turn))
		return EBUSY;
	relax_on(self);
	return 0;
}

void starpu_worker_unlock(int workerid)
{
	relax_unlock(self_of(__func__), worker_at(__func__, (unsigned)workerid));
}

void starpu_worker_lock_self(void)
{
	struct worker *self = self_of(__func__);

	if (self)
		relax_hold(self);
}

void starpu_worker_unlock_self(void)
{
	struct worker *self = self_of(__func__);

	if (self)
		relax_let(self);
}

/* ---- what it would cost ---------------------------------------------- */

double starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch)
{
	api_given(__func__, "perf_arch", perf_arch);
	return model_relative_speedup(perf_arch);
}

static double energy_j(const struct worker *worker, struct starpu_task *task,
		       struct starpu_perfmodel_arch *arch, unsigned implementation)
{
	struct model_query query = {.node = api_node(__func__),
				    .worker = worker,
				    .arch = arch,
				    .model = task->cl ? task->cl->energy_model : NULL,
				    .task = task,
				    .implementation = implementation};
	struct model_estimate estimate;

	if (!query.model)
		return 0;
	/* The roofline knows durations only. */
	if (query.model->type != STARPU_PER_WORKER)
		query.worker = NULL;
	estimate = model_evaluate(&query);
	return estimate.source == MODEL_NONE ? NAN : 1e6 * estimate.seconds;
}

double starpu_task_expected_energy(struct starpu_task *task,
				   struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	api_given(__func__, "task", task);
	api_given(__func__, "arch", arch);
	return energy_j(NULL, task, arch, nimpl);
}

double starpu_task_worker_expected_energy(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	struct worker *worker = worker_at(__func__, workerid);

	api_given(__func__, "task", task);
	(void)sched_ctx_id;
	return energy_j(worker, task, &worker->arch, nimpl);
}

typedef double (*cost_on)(struct starpu_task *task, unsigned worker, unsigned ctx,
			  unsigned implementation);

/* Of the implementations that the worker can execute: INFINITY without any, NAN when one
 * is unknown. */
static double best_cost(unsigned worker, struct starpu_task *task, unsigned ctx,
			cost_on cost_of)
{
	double best = INFINITY;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		double cost;

		if (!starpu_worker_can_execute_task(worker, task, i))
			continue;
		cost = cost_of(task, worker, ctx, i);
		if (isnan(cost))
			return NAN;
		if (cost < best)
			best = cost;
	}
	return best;
}

static double mean_cost(struct sched *sched, struct starpu_task *task, cost_on cost_of)
{
	double per_unit = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < (unsigned)sched->node->nworkers; i++) {
		double cost;

		if (!contexts_owns(sched, &sched->node->workers[i]))
			continue;
		cost = best_cost(i, task, (unsigned)sched->id, cost_of);
		if (isinf(cost))
			continue;
		if (cost == 0)
			return 0;
		per_unit += 1 / cost;
		n++;
	}
	return n > 0 ? n / per_unit : NAN;
}

double starpu_task_expected_length_average(struct starpu_task *task,
					   unsigned sched_ctx_id)
{
	api_given(__func__, "task", task);
	return mean_cost(api_context(__func__, sched_ctx_id), task,
			 starpu_task_worker_expected_length);
}

double starpu_task_expected_energy_average(struct starpu_task *task,
					   unsigned sched_ctx_id)
{
	api_given(__func__, "task", task);
	return mean_cost(api_context(__func__, sched_ctx_id), task,
			 starpu_task_worker_expected_energy);
}
