/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdio.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "api/api.h"
#include "base/check.h"
#include "core/sched/teams.h"
#include "core/model/bus.h"
#include "core/model/model_query.h"
#include "core/model/model_store.h"
#include "core/data/routes.h"
#include "core/worker.h"

static double nop_cost(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 1e-6;
}

/* Programs may only point to it, so it is kept with the constants. */
struct starpu_perfmodel starpu_perfmodel_nop __attribute__((section(".data.rel.ro"))) = {
	.type = STARPU_COMMON, .cost_function = nop_cost};

/* ---- Files ----------------------------------------------------------- */

void starpu_perfmodel_init(struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	struct node *node = plat_self();

	/* Before starpu_init() there is nowhere to keep a state: the first use of the
	 * model makes it. */
	if (node && model->type >= STARPU_HISTORY_BASED)
		model_state(node, model);
}

int starpu_perfmodel_deinit(struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	struct node *node = plat_self();

	if (node && model->state)
		model_state_drop(node, model);
	return 0;
}

int starpu_perfmodel_load_file(const char *filename, struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	struct node *node = plat_self();

	return !node || model_attach(node, model, NULL, filename) ? 1 : 0;
}

int starpu_perfmodel_load_symbol(const char *symbol, struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	struct node *node = plat_self();

	return !node || model_attach(node, model, symbol, NULL) ? 1 : 0;
}

int starpu_perfmodel_unload_model(struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	return starpu_perfmodel_deinit(model);
}

void starpu_save_history_based_model(struct starpu_perfmodel *model)
{
	api_given(__func__, "model", model);

	struct node *node = api_node(__func__);

	if (node)
		model_save(node, model);
}

void starpu_perfmodel_get_model_path(const char *symbol, char *path, size_t maxlen)
{
	struct node *node = plat_self();

	if (maxlen)
		*path = '\0';
	if (node)
		model_path(node, symbol, path, maxlen);
}

/* ---- Architectures and durations ------------------------------------- */

/* A worker of that architecture, or NULL. */
static struct worker *worker_of(struct node *node,
				const struct starpu_perfmodel_arch *arch)
{
	for (int i = 0; i < node->nworkers; i++)
		if (&node->workers[i].arch == arch)
			return &node->workers[i];
	for (int i = 0; i < node->nworkers; i++)
		if (arch->ndevices == 1 && node->workers[i].type == arch->devices[0].type)
			return &node->workers[i];
	return NULL;
}

static struct worker *worker_at(struct node *node, int workerid, const char *function)
{
	if (workerid >= 0 && workerid < node->nworkers)
		return &node->workers[workerid];
	orr_complain(node->rank, "%s: no worker %d, expected 0 to %d", function, workerid,
		     node->nworkers - 1);
	return NULL;
}

struct starpu_perfmodel_arch *starpu_worker_get_perf_archtype(int workerid,
							      unsigned sched_ctx_id)
{
	struct node *node = api_node(__func__);
	const struct team *team = teams_find(node, (unsigned)workerid);
	struct worker *worker;

	(void)sched_ctx_id;
	if (team)
		return (struct starpu_perfmodel_arch *)&team->arch;
	worker = worker_at(node, workerid, __func__);
	return worker ? &worker->arch : NULL;
}

uint32_t starpu_task_footprint(struct starpu_perfmodel *model, struct starpu_task *task,
			       struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	api_given(__func__, "task", task);

	return model_footprint_on(model, task, arch, nimpl);
}

uint32_t starpu_task_data_footprint(struct starpu_task *task)
{
	api_given(__func__, "task", task);

	return model_data_footprint(task);
}

static double expected_us(struct node *node, struct worker *worker,
			  struct starpu_perfmodel_arch *arch, struct starpu_task *task,
			  unsigned nimpl)
{
	struct model_query query = {.node = node,
				    .worker = worker,
				    .arch = arch,
				    .task = task,
				    .implementation = nimpl};
	struct model_estimate estimate;

	if (!task->cl || !task->cl->model || nimpl >= STARPU_MAXIMPLEMENTATIONS)
		return 0;
	query.model = task->cl->model;
	estimate = model_evaluate(&query);
	return estimate.source == MODEL_NONE ? NAN : estimate.seconds * 1e6;
}

double starpu_task_expected_length(struct starpu_task *task,
				   struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	api_given(__func__, "task", task);

	struct node *node = api_node(__func__);

	return node && arch ? expected_us(node, worker_of(node, arch), arch, task, nimpl)
			    : NAN;
}

double starpu_task_worker_expected_length(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	api_given(__func__, "task", task);

	struct node *node = api_node(__func__);
	struct worker *worker = node ? worker_at(node, workerid, __func__) : NULL;

	(void)sched_ctx_id;
	return worker ? expected_us(node, worker, &worker->arch, task, nimpl) : NAN;
}

static void add_measurement(const struct model_query *query, double measured,
			    unsigned number, const char *func)
{
	if (measured > 0 && measured <= MODEL_MAX_US &&
	    query->implementation < STARPU_MAXIMPLEMENTATIONS) {
		model_add(query, measured, number);
		return;
	}
	orr_complain(
		query->node->rank,
		"%s: duration %g us of implementation %u, expected a duration above 0 "
		"and up to %g us, and an implementation below %d",
		func, measured, query->implementation, MODEL_MAX_US,
		STARPU_MAXIMPLEMENTATIONS);
}

void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model,
				       struct starpu_task *task,
				       struct starpu_perfmodel_arch *arch, unsigned cpuid,
				       unsigned nimpl, double average_measured,
				       unsigned number)
{
	struct model_query query = {.node = api_node(__func__),
				    .arch = arch,
				    .model = model,
				    .task = task,
				    .implementation = nimpl};

	(void)cpuid;
	api_given(__func__, "model", model);
	api_given(__func__, "task", task);
	add_measurement(&query, average_measured, number, __func__);
}

void starpu_perfmodel_update_history(struct starpu_perfmodel *model,
				     struct starpu_task *task,
				     struct starpu_perfmodel_arch *arch, unsigned cpuid,
				     unsigned nimpl, double measured)
{
	starpu_perfmodel_update_history_n(model, task, arch, cpuid, nimpl, measured, 1);
}

double starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
						    struct starpu_perfmodel_arch *arch,
						    uint32_t footprint)
{
	api_given(__func__, "model", model);

	struct node *node = api_node(__func__);
	struct model_answer answer;

	if (!node || !arch)
		return NAN;
	answer = model_find(node, model, arch, 0, 0);
	return model_mean_us(&answer, footprint);
}

/* ---- Links between memories ------------------------------------------ */

static int memories_exist(struct node *node, unsigned a, unsigned b, const char *function)
{
	if (a < (unsigned)node_nmemories(node) && b < (unsigned)node_nmemories(node))
		return 1;
	orr_complain(node->rank, "%s: memory nodes %u and %u, expected 0 to %d", function,
		     a, b, node_nmemories(node) - 1);
	return 0;
}

double starpu_transfer_latency(unsigned src_node, unsigned dst_node)
{
	struct node *node = api_node(__func__);

	return memories_exist(node, src_node, dst_node, __func__)
		       ? bus_latency_us(node, src_node, dst_node)
		       : 0;
}

double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node)
{
	struct node *node = api_node(__func__);

	return memories_exist(node, src_node, dst_node, __func__)
		       ? bus_bandwidth(node, src_node, dst_node)
		       : 0;
}

double starpu_transfer_predict(unsigned src_node, unsigned dst_node, size_t size)
{
	struct node *node = api_node(__func__);

	if (!node || !memories_exist(node, src_node, dst_node, __func__) ||
	    src_node == dst_node)
		return 0;
	return 1e6 * routes_expected_s(node, src_node, dst_node, size);
}

void starpu_bus_print_bandwidth(FILE *f)
{
	bus_print_links(api_node(__func__), f);
}

void starpu_bus_print_affinity(FILE *f)
{
	bus_print_affinity(api_node(__func__), f);
}

void starpu_bus_print_filenames(FILE *f)
{
	bus_files_list(api_node(__func__), f);
}
