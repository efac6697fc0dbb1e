/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/task.h"

#include "core/counters.h"
#include "core/data/data.h"
#include "core/energy.h"
#include "core/model/model.h"
#include "core/model/model_query.h"
#include "core/task/breaks.h"
#include "core/task/foresee.h"
#include "core/tool.h"

/*
 * stamp.c - what the changes of a task's state leave: dates in its profiling_info, and
 * records.
 */

/* The dates of each kind of event, by their offsets, and 0 behind them: submit_time, the
 * first field, belongs to a kind alone.  Pushing and popping take no time here. */
#define AT(date) offsetof(struct starpu_profiling_task_info, date)

static const unsigned short dates[EVENT_NKINDS][2] = {
	[EVENT_TASK_PUSHED] = {AT(push_start_time), AT(push_end_time)},
	[EVENT_TASK_TAKEN] = {AT(pop_start_time), AT(pop_end_time)},
	[EVENT_TASK_FETCHING] = {AT(acquire_data_start_time)},
	[EVENT_TASK_STARTED] = {AT(acquire_data_end_time), AT(start_time)},
	[EVENT_TASK_ENDED] = {AT(end_time)},
	[EVENT_TASK_RELEASING] = {AT(release_data_start_time)},
	[EVENT_TASK_RELEASED] = {AT(release_data_end_time)},
	[EVENT_TASK_CALLING] = {AT(callback_start_time)},
	[EVENT_TASK_TERMINATED] = {AT(callback_end_time)},
};

static int is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* A simulated main is ahead of the events by what it has yet to pay, so that a task may
 * run at a date before that of its submission: then it was submitted at that date. */
static void pull_back(struct starpu_profiling_task_info *info, const struct timespec *now)
{
	struct timespec *said[] = {&info->submit_time, &info->push_start_time,
				   &info->push_end_time};

	for (int i = 0; i < 3; i++)
		if (is_later(said[i], now))
			*said[i] = *now;
}

/* What does not happen keeps the date 0: a callback that there is not, and the release of
 * data by a task without a codelet. */
static int has_date(const struct starpu_task *task, enum event_kind kind)
{
	if (kind == EVENT_TASK_CALLING || kind == EVENT_TASK_TERMINATED)
		return task->callback_func || (task->cl && task->cl->callback_func);
	return task->cl || (kind != EVENT_TASK_RELEASING && kind != EVENT_TASK_RELEASED);
}

static void stamp(const struct job *job, enum event_kind kind, double now_s)
{
	struct starpu_profiling_task_info *info = job->task->profiling_info;
	struct timespec now = event_timespec(now_s);

	if (!has_date(job->task, kind))
		return;
	if (kind == EVENT_TASK_SUBMITTED)
		info->submit_time = now;
	else
		pull_back(info, &now);
	for (int i = 0; i < 2 && dates[kind][i]; i++)
		*(struct timespec *)((char *)info + dates[kind][i]) = now;
	if (kind == EVENT_TASK_STARTED)
		info->workerid = job->worker->id;
}

/* Or since when it is known to run. */
static double began_s(const struct job *job)
{
	double since_s = job->node->events.since_s;

	return job->worker->began_s > since_s ? job->worker->began_s : since_s;
}

static float expected_us(const struct job *job)
{
	struct model_estimate estimate =
		model_expect(job->worker, job->task, job->implementation);

	if (estimate.source == MODEL_NONE || estimate.source == MODEL_ROOFLINE)
		return 0;
	return (float)(1e6 * estimate.seconds);
}

/* Means of a footprint stay what they are until a measurement is added. */
static float remembered_us(const struct job *job)
{
	const struct starpu_perfmodel *model = job->task->cl->model;
	const int *changes = (const int *)&job->node->settings->nmodel_changes;
	struct expectation *told = &job->worker->told;
	int nchanges = orr_load(changes);

	/* Who queues kernels has started another one since. */
	if (!model_is_by_footprint(model) || job->worker->driver->may_queue ||
	    orr_load_ptr((void **)&job->worker->leads_as))
		return expected_us(job);
	if (told->model != model || told->footprint != told->now ||
	    told->nchanges != nchanges || told->implementation != job->implementation)
		*told = (struct expectation){.model = model,
					     .footprint = told->now,
					     .now = told->now,
					     .nchanges = nchanges,
					     .implementation = job->implementation,
					     .us = expected_us(job)};
	return told->us;
}

/* On a real machine, the microseconds that the task was expected to run, as the bits of a
 * float; 0: unknown. */
static uint32_t expectation(const struct job *job)
{
	struct starpu_task *task = job->task;
	union {
		float us;
		uint32_t bits;
	} both = {.bits = 0};

	if (!task->cl->model || job->node->machine->predicts)
		return 0;
	both.us = task->predicted > 0 ? (float)task->predicted : remembered_us(job);
	return both.bits;
}

static void record(struct job *job, enum event_kind kind, double now_s)
{
	struct event event = {.date_s = now_s, .kind = (uint8_t)kind, .id = job->id};

	switch (kind) {
	case EVENT_TASK_SUBMITTED:
		event.n = (uint32_t)job->task->priority;
		event.flag = job->is_inside == INSIDE_HELD;
		event.value = (uintptr_t)job;
		break;
	case EVENT_TASK_FETCHING:
		event.value = event_bits(job->task->flops);
		break;
	case EVENT_TASK_STARTED:
		job->worker->began_s = now_s;
		event.value = event_text(job->node, task_name(job->task));
		if (job->task->cl->model) {
			event.n = model_footprint(job->task->cl->model, job->task);
			job->worker->told.now = event.n;
			event.flag = event_model(job->node, job->task->cl->model);
		}
		break;
	case EVENT_TASK_ENDED:
		event.value = event_bits(began_s(job));
		event.n = expectation(job);
		break;
	default:
		break;
	}
	event_tell(job->node, NULL, event);
	if (kind == EVENT_TASK_SUBMITTED && job->task->use_tag)
		event_tell(job->node, NULL,
			   (struct event){.kind = EVENT_TASK_TAGGED,
					  .date_s = now_s,
					  .id = job->id,
					  .value = job->task->tag_id});
}

void task_tell(struct job *job, enum event_kind kind)
{
	struct node *node = job->node;
	int is_wanted = events_want(&node->events, kind), on = orr_load(&node->events.on);
	double now_s;

	if (on & EVENT_COUNTS)
		counters_task(job, kind);
	if (on & EVENT_CALLS)
		tool_task(job, kind);
	if (on & EVENT_FORESEES)
		foresee(job, kind);
	if (on & EVENT_BREAKS)
		breaks_at(job, kind);
	if (!is_wanted && !job->task->profiling_info)
		return;
	/* Callbacks take the time that they say. */
	now_s = kind == EVENT_TASK_TERMINATED || kind == EVENT_TASK_CALLING
			? plat_here_s(node->plat)
			: plat_now_s(node->plat);
	if (job->task->profiling_info)
		stamp(job, kind, now_s);
	if (is_wanted)
		record(job, kind, now_s);
}

static unsigned use_flags(const struct access *access)
{
	unsigned mode = access->mode;
	unsigned group = mode & STARPU_REDUX     ? EVENT_REDUCES
			 : mode & STARPU_COMMUTE ? EVENT_COMMUTES
			 : mode & STARPU_W       ? 0
						 : EVENT_READS;

	if (mode & STARPU_W)
		group |= mode & STARPU_R ? EVENT_UPDATES : EVENT_WRITES;
	return access->job->task ? group : group | EVENT_OTHER;
}

void task_tell_uses(struct job *job)
{
	double now_s = plat_now_s(job->node->plat);

	for (int i = 0; i < job->naccesses; i++) {
		const struct access *access = &job->accesses[i];
		size_t bytes;

		if (access->state != ACCESS_NEW || (access->mode & ACCESS_UNORDERED))
			continue;
		bytes = data_bytes(access->datum);
		event_tell(job->node, NULL,
			   (struct event){.date_s = now_s,
					  .kind = EVENT_TASK_USES,
					  .flag = (uint8_t)use_flags(access),
					  .n = bytes < UINT32_MAX ? (uint32_t)bytes
								  : UINT32_MAX,
					  .id = job->task ? job->id : (uintptr_t)job,
					  .value = (uintptr_t)access->datum});
	}
}

/* What the kernel has measured, or where models play the machine, what they expect. */
static double joules(struct job *job)
{
	struct starpu_task *task = job->task;
	struct starpu_profiling_task_info *info = task->profiling_info;
	double energy_j = energy_of(job);

	if (energy_j == 0 && job->node->machine->predicts && task->cl->energy_model) {
		energy_j = model_energy_j(job->worker, task, job->implementation);
		if (info)
			info->energy_consumed = energy_j;
	}
	return energy_j;
}

static void tell_amount(struct job *job, enum event_kind kind, double amount)
{
	if (amount != 0)
		event_tell(job->node, job->worker,
			   (struct event){.kind = (uint8_t)kind,
					  .id = job->id,
					  .value = event_bits(amount)});
}

void task_tell_work(struct job *job)
{
	tell_amount(job, EVENT_TASK_FLOPS, job->task->flops);
	tell_amount(job, EVENT_TASK_JOULES, joules(job));
}
