/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_QUERY_H
#define ORR_CORE_MODEL_MODEL_QUERY_H

/*
 * model_query.h - the general question to a model, for the public interface: any
 * model of a codelet (time or energy), on any architecture.
 */
#include "core/model/model.h"

struct model_answer;

struct model_query {
	struct node *node;
	const struct worker *worker; /* of that architecture; NULL: no roofline */
	struct starpu_perfmodel_arch *arch;
	struct starpu_perfmodel *model; /* NULL: the roofline alone */
	struct starpu_task *task;
	unsigned implementation;
};

struct model_estimate model_evaluate(const struct model_query *query);
/* All that the estimates of a ready task depend on, besides the device and what has been
 * measured (settings->nmodel_changes), mixed; 0: they may depend on more. */
uint64_t model_shape(struct node *node, struct starpu_task *task);
/* Add number measurements of value (microseconds, or joules) to a measured model. */
void model_add(const struct model_query *query, double value, unsigned number);
/* Joules of the task on a worker, by its codelet's energy_model; 0 without one, or when
 * it does not know. */
double model_energy_j(struct worker *worker, struct starpu_task *task,
		      unsigned implementation);
/* Mean microseconds that were measured with this footprint; NAN: none was. */
double model_mean_us(const struct model_answer *answer, uint32_t footprint);
/* Mean microseconds (as model_expect() would say) of tasks with this footprint; NAN: none
 * was measured. */
double model_measured_us(struct worker *worker, struct starpu_perfmodel *model,
			 unsigned implementation, uint32_t footprint);
/* Footprint of the data alone, whatever the model says. */
uint32_t model_data_footprint(struct starpu_task *task);
/* How much faster than a CPU core an architecture is taken to be (StarPU's figures:
 * CPU 1, CUDA 13.33, times the cores). */
double model_relative_speedup(const struct starpu_perfmodel_arch *arch);

#endif
