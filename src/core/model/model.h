/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_H
#define ORR_CORE_MODEL_MODEL_H

/*
 * model.h - performance models: how long a task takes, and how sure that is.
 *
 * Files are StarPU's (version 45).  One parsed copy per process, in struct
 * model_store, keyed by symbol and host; the struct starpu_perfmodel of each rank
 * points to it through model->state.
 */
#include "core/worker.h"

enum model_source {
	MODEL_NONE,       /* no way to tell */
	MODEL_FUNCTION,   /* the user's cost function */
	MODEL_HISTORY,    /* measured at this size */
	MODEL_REGRESSION, /* fitted over sizes */
	MODEL_ROOFLINE    /* declared peak and efficiency: not calibrated */
};

struct model_estimate {
	double seconds;
	enum model_source source;
	unsigned nsample;
	double deviation_s; /* of measurements at this size; 0: unknown, or none */
	double error_s; /* of a fit over sizes, which all tasks share; below 0: unknown */
	uint64_t origin; /* the same for what the same measurements say */
};

/* What the durations of a node's simulated tasks rest on, in sums over the tasks. */
struct model_doubt {
	double work_s;         /* all durations */
	double uncalibrated_s; /* of these, by the roofline */
	double extrapolated_s; /* by fits, at sizes that were not measured */
	double unsure_s;       /* of these, where nothing tells how well they fit */
	double once_s;         /* measured a single time: nobody knows how they deviate */
	double variance_s2;    /* squares of the deviations of what was measured */
	struct table
		errors; /* by origin, a number of seconds: deviations over the roots
			 * of the numbers of samples, and what is off between sizes */
};

void model_doubt_add(struct model_doubt *doubt, const struct model_estimate *estimate);
/*
 * By which part the durations are off in sum, as far as measurements tell (one standard
 * error): how a run deviates from its mean is independent between tasks; how a mean
 * deviates from the truth is the same for all tasks of a size, how a fit does for all of
 * a kernel, and both are independent of what was measured for others.  Deviations of few
 * measurements are widened.  sqrt(variance + mean_error^2) / work.
 */
double model_doubt_error(const struct model_doubt *doubt);
/* The root of the sum of the squares of errors. */
double model_doubt_mean_error_s(const struct model_doubt *doubt);
void model_doubt_free(struct model_doubt *doubt);
/* Of a duration what nobody knows: all of it, or as much as its mean may be off. */
double model_estimate_unknown_s(const struct model_estimate *estimate);

struct model_store *model_store_new(const struct knobs *knobs);
void model_store_free(struct model_store *store);

/*
 * Expected duration of task on worker with an implementation.  source MODEL_NONE
 * when nothing is known.  Costs a few hash steps; allocates nothing after the first
 * call for a symbol.
 */
struct model_estimate model_expect(struct worker *worker, struct starpu_task *task,
				   unsigned implementation);
/* 0: model_expect() has no source for such a task on any worker.  Only simulated devices
 * have a peak for the roofline of codelets without a model. */
int model_may_know(const struct node *node, const struct starpu_task *task);
/* Is it all that this model looks at: model_footprint(), and the device? */
int model_is_by_footprint(const struct starpu_perfmodel *model);
/* Is the estimate none of the model's own, and will a run tell? */
int model_will_learn(const struct worker *worker, const struct starpu_task *task,
		     const struct model_estimate *estimate);
/* Does model_expect() say the same of both for such a task?  1: surely.  Which worker of
 * a device it is does not matter to the task's codelet. */
int model_are_alike(const struct worker *worker, const struct worker *other,
		    const struct starpu_task *task);
/* Real backend with STARPU_CALIBRATE: record a measurement. */
void model_record(struct worker *worker, struct starpu_task *task,
		  unsigned implementation, double seconds);
/* The same into the codelet's energy_model, if it has one. */
void model_record_energy(struct worker *worker, struct starpu_task *task,
			 unsigned implementation, double joules);
/* Write models that have new measurements; called when a node closes. */
void model_store_save(struct model_store *store, struct node *node);
/* Footprint of a task's data (spec: crc32c over interfaces), or the model's own. */
uint32_t model_footprint(struct starpu_perfmodel *model, struct starpu_task *task);
/* The same for an implementation on an architecture, which may be NULL. */
uint32_t model_footprint_on(struct starpu_perfmodel *model, struct starpu_task *task,
			    struct starpu_perfmodel_arch *arch, unsigned implementation);

#endif
