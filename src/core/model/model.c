/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/model/hash.h"
#include "core/model/model_fit.h"
#include "core/model/model_own.h"
#include "core/model/model_parameters.h"
#include "core/model/model_query.h"
#include "core/model/model_store.h"
#include "core/model/roofline.h"
#include "core/outside.h"
#include "core/task/task.h"
#include "core/sched/teams.h"

/* ---- What the model sees of a task ----------------------------------- */

uint32_t model_data_footprint(struct starpu_task *task)
{
	unsigned n = STARPU_TASK_GET_NBUFFERS(task);
	uint32_t footprint = 0;

	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
		const struct starpu_data_interface_ops *ops = handle->ops;
		unsigned id = ops->interfaceid;
		uint32_t mine;

		if (STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT)
			continue;
		mine = data_footprint(handle);
		mine = hash_crc32c_be(mine, id < STARPU_MAX_INTERFACE_ID ? id : 0);
		footprint = hash_crc32c_be(mine, footprint);
	}
	return footprint;
}

/* What the application says of the task's size; 0: nothing. */
static int own_size(struct starpu_perfmodel *model, struct starpu_task *task,
		    struct starpu_perfmodel_arch *arch, unsigned implementation,
		    size_t *bytes)
{
	starpu_perfmodel_per_arch_size_base by_device =
		model_own_functions(model, arch, implementation).size;
	OUTSIDE(outside);

	if (by_device || (model && model->size_base))
		outside_enter(&outside, plat_self(), "size_base of a performance model");
	if (by_device)
		*bytes = by_device(task, arch, implementation);
	else if (model && model->size_base)
		*bytes = model->size_base(task, implementation);
	else
		return 0;
	outside_end(&outside);
	return 1;
}

static uint32_t own_footprint(struct starpu_perfmodel *model, struct starpu_task *task)
{
	OUTSIDE(outside);
	uint32_t footprint;

	outside_enter(&outside, plat_self(), "footprint of a performance model");
	footprint = model->footprint(task);
	outside_end(&outside);
	return footprint;
}

uint32_t model_footprint_on(struct starpu_perfmodel *model, struct starpu_task *task,
			    struct starpu_perfmodel_arch *arch, unsigned implementation)
{
	size_t bytes;

	if (model && model->footprint)
		return own_footprint(model, task);
	if (own_size(model, task, arch, implementation, &bytes))
		return hash_crc32c_be_n(&bytes, sizeof bytes, 0);
	return model_data_footprint(task);
}

uint32_t model_footprint(struct starpu_perfmodel *model, struct starpu_task *task)
{
	return model_footprint_on(model, task, NULL, 0);
}

static uint32_t footprint_of(const struct model_query *query)
{
	return model_footprint_on(query->model, query->task, query->arch,
				  query->implementation);
}

static size_t size_of(const struct model_query *query)
{
	unsigned n = STARPU_TASK_GET_NBUFFERS(query->task);
	size_t bytes = 0;

	if (own_size(query->model, query->task, query->arch, query->implementation,
		     &bytes))
		return bytes;
	for (unsigned i = 0; i < n; i++)
		bytes += data_bytes(STARPU_TASK_GET_HANDLE(query->task, i));
	return bytes;
}

/* ---- Estimates ------------------------------------------------------- */

static struct model_estimate estimate_us(double us, enum model_source source,
					 unsigned nsample)
{
	struct model_estimate none = {.source = MODEL_NONE};

	if (!(us >= 0) || isinf(us))
		return none;
	return (struct model_estimate){.seconds = us * 1e-6,
				       .source = source,
				       .nsample = nsample,
				       .error_s = source == MODEL_REGRESSION ? -1 : 0};
}

static uint64_t mixed(uint64_t key, double measured)
{
	uint64_t bits;

	memcpy(&bits, &measured, sizeof(bits));
	return table_mix(key ^ bits);
}

/* What a simulated task takes: so sums of them agree with those of real ones. */
static struct model_estimate from_all(const struct model_entry *entry)
{
	struct model_estimate estimate =
		estimate_us(model_fit_mean(entry), MODEL_HISTORY, entry->all.nsample);

	if (estimate.source == MODEL_HISTORY) {
		estimate.deviation_s = 1e-6 * model_fit_deviation(entry);
		estimate.origin = mixed(mixed(entry->known.footprint, entry->all.sum),
					entry->all.sum2);
	}
	return estimate;
}

static struct model_estimate from_history(const struct model_query *query,
					  const struct model_answer *answer)
{
	const struct knobs *knobs = node_knobs(query->node);
	int predicts = query->node->machine->predicts;
	uint32_t footprint = footprint_of(query);
	struct model_estimate estimate = {.source = MODEL_NONE};
	const struct starpu_perfmodel_history_entry *entry;

	orr_lock(&answer->file->lock);
	entry = model_arch_entry(answer->known, footprint, 0);
	if (entry && predicts)
		estimate = from_all(model_entry_of(entry));
	else if (entry && entry->nsample >= (unsigned)knobs->calibrate_minimum)
		estimate = estimate_us(entry->mean, MODEL_HISTORY, entry->nsample);
	if (estimate.source == MODEL_HISTORY && !predicts && entry->deviation > 0)
		estimate.deviation_s = 1e-6 * entry->deviation;
	orr_unlock(&answer->file->lock);
	return estimate;
}

/* A simulated size that was not measured: its neighbours, which follow the kernel's
 * changes of regime, before the fits over all sizes. */
static double nearby_us(const struct model_query *query, struct model_arch *known,
			size_t bytes)
{
	const struct starpu_perfmodel_regression_model *fit = &known->known.regression;
	unsigned minimum = node_knobs(query->node)->calibrate_minimum;
	double us;

	if (!query->node->machine->predicts)
		return NAN;
	us = model_fit_between(known, bytes);
	if (isnan(us))
		us = model_fit_power(fit, bytes, minimum);
	return isnan(us) ? model_fit_nonlinear(fit, bytes, minimum) : us;
}

/* The fit that a model's type asks for. */
static double fitted_us(const struct model_query *query, struct model_arch *known,
			size_t bytes)
{
	const struct starpu_perfmodel_regression_model *fit = &known->known.regression;
	unsigned minimum = node_knobs(query->node)->calibrate_minimum;

	if (query->model->type == STARPU_REGRESSION_BASED)
		return model_fit_power(fit, bytes, minimum);
	if (query->model->type == STARPU_NL_REGRESSION_BASED)
		return model_fit_nonlinear(fit, bytes, minimum);
	return NAN;
}

static double fit_error(const struct model_query *query, struct model_arch *known,
			size_t bytes, int is_regression)
{
	unsigned minimum = node_knobs(query->node)->calibrate_minimum;

	if (!is_regression)
		return model_fit_between_error(known, bytes);
	return query->model->type == STARPU_REGRESSION_BASED
		       ? model_fit_power_error(known, minimum)
		       : model_fit_nonlinear_error(known, minimum);
}

/* All sizes of a kernel have one: what a fit over them misses has one sign, as a rule. */
static uint64_t origin_of_fit(const struct model_arch *known)
{
	uint64_t key = mixed(known->npoints, known->known.regression.sumlny);

	if (known->points && known->npoints > 0)
		key = mixed(key, known->points[0].ln_seconds +
					 known->points[known->npoints - 1].ln_seconds);
	return key;
}

static struct model_estimate
from_sizes(const struct model_query *query, const struct model_answer *answer,
	   double (*how)(const struct model_query *, struct model_arch *, size_t))
{
	struct model_estimate estimate;
	size_t bytes = size_of(query);
	unsigned nsample;
	uint64_t origin = 0;
	double us, error = NAN;

	orr_lock(&answer->file->lock);
	us = how(query, answer->known, bytes);
	nsample = answer->known->known.regression.nsample;
	if (query->node->machine->predicts) {
		error = fit_error(query, answer->known, bytes, how == fitted_us);
		origin = origin_of_fit(answer->known);
	}
	orr_unlock(&answer->file->lock);
	estimate = estimate_us(us, MODEL_REGRESSION, nsample);
	if (isfinite(error))
		estimate.error_s = error * estimate.seconds;
	estimate.origin = origin;
	return estimate;
}

static struct model_estimate from_known(const struct model_query *query,
					const struct model_answer *answer)
{
	enum starpu_perfmodel_type type = query->model->type;
	struct model_estimate estimate = {.source = MODEL_NONE};

	if (type == STARPU_HISTORY_BASED) {
		estimate = from_history(query, answer);
	} else if (type == STARPU_MULTIPLE_REGRESSION_BASED) {
		estimate = estimate_us(model_parameters_us(query, answer),
				       MODEL_REGRESSION, 0);
	} else {
		estimate = from_sizes(query, answer, fitted_us);
		if (estimate.source == MODEL_NONE && type == STARPU_NL_REGRESSION_BASED)
			estimate = from_history(query, answer);
	}
	if (estimate.source == MODEL_NONE)
		estimate = from_sizes(query, answer, nearby_us);
	return estimate;
}

static struct model_estimate from_roofline(const struct model_query *query)
{
	double seconds = query->worker ? roofline_seconds(query->worker, query->task) : 0;

	return estimate_us(seconds > 0 ? seconds * 1e6 : NAN, MODEL_ROOFLINE, 0);
}

/* Nothing is known on a real machine: measure it in this run, and say so once. */
static void force_calibration(const struct model_query *query)
{
	struct _starpu_perfmodel_state *state = model_state(query->node, query->model);
	const char *symbol = query->model->symbol;

	if (query->node->machine->predicts || orr_load(&state->forced) ||
	    !orr_cas(&state->forced, 0, 1))
		return;
	orr_store((int *)(void *)&query->model->benchmarking, 1);
	if (!node_knobs(query->node)->silent && orr_load(&query->node->calibrate) <= 0)
		orr_complain(query->node->rank,
			     "performance model %s: too few measurements, expected %d of "
			     "each size: calibrating it in this run; set "
			     "STARPU_CALIBRATE=1 to complete it",
			     symbol ? symbol : "(without a symbol)",
			     node_knobs(query->node)->calibrate_minimum);
}

/* Of sizes that only the first device has run: on a simulated machine it speaks for all
 * of its kind. */
static struct model_estimate from_first_device(const struct model_query *query)
{
	struct starpu_perfmodel_device device = query->arch->devices[0];
	struct starpu_perfmodel_arch first = {.ndevices = 1, .devices = &device};
	struct model_query other = *query;
	struct model_answer answer;

	device.devid = device_first_like(query->node->machine, &device);
	if (!query->node->machine->predicts || query->arch->ndevices != 1 ||
	    device.devid == query->arch->devices[0].devid)
		return (struct model_estimate){.source = MODEL_NONE};
	other.arch = &first;
	answer = model_find(query->node, query->model, &first, query->implementation, 0);
	return answer.known ? from_known(&other, &answer)
			    : (struct model_estimate){.source = MODEL_NONE};
}

static struct model_estimate from_file(const struct model_query *query)
{
	struct model_estimate estimate = {.source = MODEL_NONE};
	struct model_answer answer = model_find(query->node, query->model, query->arch,
						query->implementation, 0);

	if (answer.broken)
		return estimate;
	if (answer.known)
		estimate = from_known(query, &answer);
	if (estimate.source == MODEL_NONE && !answer.stands_in)
		estimate = from_first_device(query);
	if (estimate.source == MODEL_NONE)
		force_calibration(query);
	return estimate.source == MODEL_NONE ? from_roofline(query) : estimate;
}

double model_relative_speedup(const struct starpu_perfmodel_arch *arch)
{
	double speedup = 0;

	for (int i = 0; i < arch->ndevices; i++) {
		const struct device_type *type = device_type(arch->devices[i].type);
		double one = type && type->kernels ? type->relative_speed : 1.0;

		speedup +=
			one * (arch->devices[i].ncores > 0 ? arch->devices[i].ncores : 1);
	}
	return speedup > 0 ? speedup : 1.0;
}

static double call_function_us(const struct model_query *query)
{
	struct starpu_perfmodel *model = query->model;
	starpu_perfmodel_per_arch_cost_function by_device;

	switch (model->type) {
	case STARPU_PER_WORKER:
		if (!model->worker_cost_function || !query->worker)
			return NAN;
		return model->worker_cost_function(query->task, query->worker->id,
						   query->implementation);
	case STARPU_PER_ARCH:
		by_device = model_own_functions(model, query->arch, query->implementation)
				    .cost;
		if (!by_device)
			by_device = model->arch_cost_function;
		if (!by_device)
			return NAN;
		return by_device(query->task, query->arch, query->implementation);
	case STARPU_COMMON:
		if (!model->cost_function)
			return NAN;
		return model->cost_function(query->task, query->implementation) /
		       model_relative_speedup(query->arch);
	default:
		return NAN;
	}
}

static double user_function_us(const struct model_query *query)
{
	OUTSIDE(outside);
	double us;

	outside_enter(&outside, query->node, "the cost function of a performance model");
	us = call_function_us(query);
	outside_end(&outside);
	return us;
}

static struct model_estimate evaluate(const struct model_query *query)
{
	struct starpu_perfmodel *model = query->model;

	if (!model || model->type == STARPU_PERFMODEL_INVALID)
		return from_roofline(query);
	if (model->type >= STARPU_HISTORY_BASED)
		return from_file(query);
	return estimate_us(user_function_us(query), MODEL_FUNCTION, 0);
}

struct model_estimate model_evaluate(const struct model_query *query)
{
	struct model_estimate estimate = evaluate(query);
	const struct starpu_codelet *cl = query->task->cl;
	double speedup;

	/* Energy is another model. */
	if (!query->arch || !query->arch->ndevices || !cl || query->model != cl->model)
		return estimate;
	speedup = device_pace(query->node->machine, &query->arch->devices[0])->speedup;
	if (speedup > 0) {
		estimate.seconds /= speedup;
		estimate.deviation_s /= speedup;
		estimate.error_s /= speedup;
	}
	return estimate;
}

int model_is_by_footprint(const struct starpu_perfmodel *model)
{
	/* Another thread may be the first to need it. */
	const struct _starpu_perfmodel_state *state =
		orr_load_ptr((void **)(uintptr_t)&model->state);

	return model->type == STARPU_HISTORY_BASED && !model->footprint &&
	       !model->size_base && state && !orr_load(&state->has_own);
}

/* ---- What was said of tasks of the same shape -------------------------- */

/* What model_data_footprint() and size_of() depend on, mixed: of a model without
 * functions of its own. */
static uint64_t data_shape(struct starpu_task *task)
{
	const starpu_data_handle_t *handles = STARPU_TASK_GET_HANDLES(task);
	const enum starpu_data_access_mode *modes = task_modes(task);
	unsigned n = STARPU_TASK_GET_NBUFFERS(task);
	uint64_t shape = 0;

	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t handle = handles[i];
		const struct starpu_data_interface_ops *ops = handle->ops;
		uint64_t mine = 0;

		if (!(modes[i] & STARPU_NOFOOTPRINT))
			mine = (uint64_t)(unsigned)ops->interfaceid << 32 |
			       data_footprint(handle);
		shape = table_mix(shape ^ mine) + data_bytes(handle);
	}
	return shape;
}

/*
 * All that the estimate of a task depends on, besides the device: from when its turn has
 * come its data keep their sizes.  0: they may still change.
 */
static uint64_t shape_of(const struct model_query *query)
{
	struct starpu_task *task = query->task;
	struct job *job = task->starpu_private;
	uint64_t flops;

	if (!job || job->state < JOB_READY || job->state > JOB_RUNNING)
		return 0;
	if (job->shape)
		return job->shape;
	memcpy(&flops, &task->flops, sizeof(flops));
	job->shape = table_mix(data_shape(task) ^ flops) + roofline_element_bytes(task);
	return job->shape |= 1;
}

/* A machine that predicts is simulated by one thread.  0: the application is to be asked
 * each time, or nothing has been loaded yet. */
static int is_remembered(const struct model_query *query)
{
	const struct starpu_perfmodel *model = query->model;
	const struct _starpu_perfmodel_state *state;

	if (!query->node->machine->predicts || !model)
		return 0;
	state = model->state;
	return state && state->node == query->node && !state->has_own &&
	       model->type >= STARPU_HISTORY_BASED &&
	       model->type != STARPU_MULTIPLE_REGRESSION_BASED && !model->footprint &&
	       !model->size_base;
}

uint64_t model_shape(struct node *node, struct starpu_task *task)
{
	struct model_query query = {.node = node, .model = task->cl->model, .task = task};

	return is_remembered(&query) ? shape_of(&query) : 0;
}

static struct model_estimate expect(const struct model_query *query)
{
	const struct starpu_perfmodel_device *device = query->arch->devices;
	struct model_memo *memos;
	unsigned nchanges;
	uint64_t key;

	if (!is_remembered(query) || query->arch != &query->worker->arch ||
	    !(key = shape_of(query)))
		return model_evaluate(query);
	nchanges = query->node->settings->nmodel_changes;
	key = table_mix(key ^ (uint64_t)device->type << 32 ^
			(uint64_t)device->devid << 16 ^ query->implementation);
	memos = query->model->state->memos[key % MODEL_MEMO_SETS];
	for (int i = 0; i < MODEL_MEMOS; i++)
		if (memos[i].key == key && memos[i].nchanges == nchanges)
			return memos[i].estimate;
	memos += query->model->state->next_memo++ % MODEL_MEMOS;
	*memos = (struct model_memo){key, nchanges, model_evaluate(query)};
	return memos->estimate;
}

struct model_estimate model_expect(struct worker *on, struct starpu_task *task,
				   unsigned implementation)
{
	struct worker *worker = on->like;
	struct model_query query = {.node = worker->node,
				    .worker = worker,
				    .arch = gang_arch(worker, task),
				    .task = task,
				    .implementation = implementation};
	struct model_estimate estimate;

	/* A task without a codelet only orders others. */
	if (!task->cl)
		return (struct model_estimate){.source = MODEL_FUNCTION};
	query.model = task->cl->model;
	estimate = expect(&query);
	/* What was measured on one core only lasts as long for its leader. */
	if (query.arch == orr_load_ptr((void **)&worker->leads_as) &&
	    (estimate.source == MODEL_NONE || estimate.source == MODEL_ROOFLINE)) {
		struct model_query alone = query;
		struct model_estimate known;

		alone.arch = &worker->arch;
		known = model_evaluate(&alone);
		if (known.source != MODEL_NONE && known.source != MODEL_ROOFLINE)
			return known;
	}
	/* The roofline is of one core. */
	if (estimate.source == MODEL_ROOFLINE && query.arch != &worker->arch)
		estimate.seconds /= query.arch->devices[0].ncores;
	return estimate;
}

int model_may_know(const struct node *node, const struct starpu_task *task)
{
	return !task->cl || task->cl->model || node->machine->predicts;
}

int model_will_learn(const struct worker *worker, const struct starpu_task *task,
		     const struct model_estimate *estimate)
{
	const struct starpu_perfmodel *model = task->cl->model;

	return !worker->node->machine->predicts && model &&
	       model->type >= STARPU_HISTORY_BASED &&
	       (estimate->source == MODEL_NONE || estimate->source == MODEL_ROOFLINE);
}

int model_are_alike(const struct worker *worker, const struct worker *other,
		    const struct starpu_task *task)
{
	const struct worker *like = worker->like;
	struct starpu_perfmodel *model = task->cl->model;
	const struct _starpu_perfmodel_state *state;

	if (like->node != other->like->node || like->kind != other->like->kind ||
	    worker->kind != other->kind ||
	    !device_is_homogeneous(like->kind, node_knobs(like->node)))
		return 0;
	if (!model)
		return 1;
	/* Functions of the application's see which device it is. */
	state = orr_load_ptr((void **)&model->state);
	return model->type >= STARPU_HISTORY_BASED && state && !orr_load(&state->has_own);
}

/* Of few measurements the deviation comes out too small, and is itself not well known:
 * Bessel's correction, and what two thirds of Student's distribution need more than those
 * of a normal one (within 2 % of it; 84 % more for two measurements, 6 % for ten). */
static double widened(double deviation_s, unsigned nsample)
{
	double free = nsample - 1.;

	return nsample < 2 ? deviation_s
			   : deviation_s * sqrt(nsample / free) / (1 - 0.4557 / free);
}

static void add_error(struct model_doubt *doubt, uint64_t origin, double seconds)
{
	double *error_s = table_get(&doubt->errors, origin);

	if (!error_s) {
		error_s = orr_alloc(sizeof(*error_s));
		table_put(&doubt->errors, origin, error_s);
	}
	*error_s += seconds;
}

double model_doubt_mean_error_s(const struct model_doubt *doubt)
{
	const double *error_s;
	size_t cursor = 0;
	double sum_s2 = 0;

	while ((error_s = table_next(&doubt->errors, &cursor)))
		sum_s2 += *error_s * *error_s;
	return sqrt(sum_s2);
}

void model_doubt_free(struct model_doubt *doubt)
{
	size_t cursor = 0;
	double *error_s;

	while ((error_s = table_next(&doubt->errors, &cursor)))
		free(error_s);
	table_free(&doubt->errors);
}

void model_doubt_add(struct model_doubt *doubt, const struct model_estimate *estimate)
{
	double deviation_s = widened(estimate->deviation_s, estimate->nsample);

	doubt->work_s += estimate->seconds;
	if (estimate->source == MODEL_ROOFLINE)
		doubt->uncalibrated_s += estimate->seconds;
	if (estimate->source == MODEL_REGRESSION)
		doubt->extrapolated_s += estimate->seconds;
	if (estimate->error_s < 0)
		doubt->unsure_s += estimate->seconds;
	else if (estimate->error_s > 0)
		add_error(doubt, estimate->origin, estimate->error_s);
	if (estimate->source == MODEL_HISTORY && estimate->nsample == 1)
		doubt->once_s += estimate->seconds;
	if (deviation_s > 0 && estimate->nsample > 0) {
		doubt->variance_s2 += deviation_s * deviation_s;
		add_error(doubt, estimate->origin, deviation_s / sqrt(estimate->nsample));
	}
}

double model_doubt_error(const struct model_doubt *doubt)
{
	double mean_error_s = model_doubt_mean_error_s(doubt);

	if (doubt->work_s <= 0)
		return 0;
	return sqrt(doubt->variance_s2 + mean_error_s * mean_error_s) / doubt->work_s;
}

double model_estimate_unknown_s(const struct model_estimate *estimate)
{
	double off_s = estimate->error_s;

	if (estimate->source == MODEL_ROOFLINE || off_s < 0 ||
	    (estimate->source == MODEL_HISTORY && estimate->nsample == 1))
		return estimate->seconds;
	if (estimate->nsample > 1)
		off_s += widened(estimate->deviation_s, estimate->nsample) /
			 sqrt(estimate->nsample);
	return fmin(estimate->seconds, off_s);
}

/* ---- Measurements ---------------------------------------------------- */

void model_add(const struct model_query *query, double value, unsigned number)
{
	struct starpu_perfmodel *model = query->model;
	const struct knobs *knobs = node_knobs(query->node);
	struct model_sample sample = {
		.flops = query->task->flops, .duration_us = value, .number = number};
	struct model_answer answer;
	int reset;

	if (model->type == STARPU_MULTIPLE_REGRESSION_BASED)
		model_parameters_add(query, value, number);
	if (model->type < STARPU_HISTORY_BASED ||
	    model->type == STARPU_MULTIPLE_REGRESSION_BASED)
		return;
	sample.footprint = footprint_of(query);
	sample.bytes = size_of(query);
	answer = model_find(query->node, model, query->arch, query->implementation, 1);
	if (!answer.known)
		return;
	orr_lock(&answer.file->lock);
	reset = model_fit_add(answer.known, model->type, &sample,
			      knobs->history_max_error);
	if (model->type != STARPU_HISTORY_BASED)
		model_fit_solve(answer.known, model->type, knobs->calibrate_minimum);
	answer.file->dirty = 1;
	orr_unlock(&answer.file->lock);
	orr_add((int *)&query->node->settings->nmodel_changes, 1);
	if (reset && !knobs->silent)
		orr_complain(query->node->rank,
			     "performance model %s: most measurements of footprint %08x "
			     "were more than %d %% off, expected a stable duration: "
			     "started afresh",
			     model->symbol ? model->symbol : "(without a symbol)",
			     sample.footprint, knobs->history_max_error);
}

/* Of a task that has run: a duration in microseconds, or joules. */
static void record(struct worker *worker, struct starpu_task *task,
		   unsigned implementation, struct starpu_perfmodel *model, double value)
{
	struct model_query query;

	if (!model || (orr_load(&worker->node->calibrate) <= 0 &&
		       !orr_load((const int *)(const void *)&model->benchmarking)))
		return;
	query = (struct model_query){.node = worker->node,
				     .worker = worker,
				     .arch = gang_arch(worker, task),
				     .model = model,
				     .task = task,
				     .implementation = implementation};
	model_add(&query, value, 1);
}

void model_record(struct worker *worker, struct starpu_task *task,
		  unsigned implementation, double seconds)
{
	record(worker, task, implementation, task->cl ? task->cl->model : NULL,
	       seconds * 1e6);
}

void model_record_energy(struct worker *worker, struct starpu_task *task,
			 unsigned implementation, double joules)
{
	record(worker, task, implementation, task->cl ? task->cl->energy_model : NULL,
	       joules);
}

double model_mean_us(const struct model_answer *answer, uint32_t footprint)
{
	const struct starpu_perfmodel_history_entry *entry;
	double us = NAN;

	if (!answer->known)
		return NAN;
	orr_lock(&answer->file->lock);
	entry = model_arch_entry(answer->known, footprint, 0);
	if (entry && entry->nsample)
		us = entry->mean;
	orr_unlock(&answer->file->lock);
	return us;
}

double model_measured_us(struct worker *worker, struct starpu_perfmodel *model,
			 unsigned implementation, uint32_t footprint)
{
	struct node *node = worker->node;
	struct model_answer answer =
		model_find(node, model, &worker->arch, implementation, 0);
	double speedup = device_pace(node->machine, &worker->device)->speedup, us;

	if (answer.broken)
		return NAN;
	us = model_mean_us(&answer, footprint);
	return speedup > 0 ? us / speedup : us;
}

double model_energy_j(struct worker *worker, struct starpu_task *task,
		      unsigned implementation)
{
	struct model_query query;
	struct model_estimate estimate;

	if (!task->cl->energy_model)
		return 0;
	query = (struct model_query){.node = worker->node,
				     .arch = &worker->arch,
				     .model = task->cl->energy_model,
				     .task = task,
				     .implementation = implementation};
	/* Without a worker no energy is made of the roofline, which knows durations. */
	if (query.model->type == STARPU_PER_WORKER)
		query.worker = worker;
	estimate = model_evaluate(&query);
	/* Energies go the way of durations, whose files are in microseconds. */
	return estimate.source == MODEL_NONE ? 0 : 1e6 * estimate.seconds;
}
