/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/check.h"
#include "core/model/model.h"
#include "core/lasting.h"
#include "core/outside.h"
#include "core/task/task.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_workers.c - kernels on devices.
 *
 * The worker's thread calls the kernel's function, which starts work on the worker's
 * stream, records an event behind it, and looks at that event from then on.  Where the
 * codelet says STARPU_CUDA_ASYNC, STARPU_CUDA_PIPELINE of them may be on the stream;
 * a function without it has waited for its work, or it is waited for here.
 */

static struct cuda_device *device_of(const struct worker *worker)
{
	return cuda_lane(worker)->device;
}

int cuda_lane_open(struct cuda_lane *lane)
{
	const struct cuda_calls *call = &lane->device->cuda->call;
	/* It waits for kernels on the default stream, and they for it. */
	int rc = call->stream(&lane->stream, CUDA_STREAM_BLOCKING);

	for (int i = 0; rc == CUDA_SUCCESS && i < CUDA_FLIGHTS; i++) {
		rc = call->event(&lane->flights[i].start, CUDA_EVENT_TIMED);
		if (rc == CUDA_SUCCESS)
			rc = call->event(&lane->flights[i].end, CUDA_EVENT_TIMED);
	}
	return rc;
}

void cuda_lane_close(struct cuda_lane *lane)
{
	const struct cuda_calls *call = lane->device ? &lane->device->cuda->call : NULL;

	for (int i = 0; call && i < CUDA_FLIGHTS; i++) {
		if (lane->flights[i].start)
			call->end_event(lane->flights[i].start);
		if (lane->flights[i].end)
			call->end_event(lane->flights[i].end);
	}
	if (call && lane->stream)
		call->end_stream(lane->stream);
}

/* ---- faults ----------------------------------------------------------- */

static void die_of(struct worker *worker, const struct cuda_flight *flight, int error)
	__attribute__((noreturn));

static void die_of(struct worker *worker, const struct cuda_flight *flight, int error)
{
	const struct cuda_lane *lane = cuda_lane(worker);
	const struct cuda_device *device = lane->device;
	unsigned behind = lane->nstarted - lane->nended;
	char words[160], others[96] = "";

	cuda_rest_at_end(device->cuda, error);
	if (behind > 1)
		snprintf(others, sizeof(others),
			 ", or one of the %u that were started behind it "
			 "(STARPU_CUDA_PIPELINE=0 tells which)",
			 behind - 1);
	orr_die(worker->node->rank,
		"task \"%s\"%s failed on CUDA %d (%s): %s; look for a wrong address or "
		"shape in its kernel (compute-sanitizer finds them), or for a broken "
		"device (dmesg, nvidia-smi -q)",
		task_name(flight->job->task), others, device->is->id, device->is->model,
		cuda_words(&device->cuda->call, error, words, sizeof(words)));
}

static void check(struct worker *worker, const struct cuda_flight *flight, int error)
{
	if (error != CUDA_SUCCESS)
		die_of(worker, flight, error);
}

/* ---- a kernel --------------------------------------------------------- */

static int is_async(const struct job *job)
{
	return (job->task->cl->cuda_flags[job->implementation] & STARPU_CUDA_ASYNC) != 0;
}

static void begin(struct worker *worker)
{
	struct cuda_device *device = device_of(worker);

	cuda_check(device, device->cuda->call.set(device->context),
		   "its worker cannot enter its context");
}

/* Kernels are told apart by the device's own clock, those that wait by ours. */
static void note_duration(struct worker *worker, const struct cuda_flight *flight)
{
	const struct cuda_device *device = device_of(worker);
	struct job *job = flight->job;
	float ms = 0;

	if (!flight->timed)
		return;
	if (is_async(job)) {
		check(worker, flight,
		      device->cuda->call.elapsed(&ms, flight->start, flight->end));
		job->duration_s = ms * 1e-3;
	} else {
		job->duration_s = plat_now_s(worker->node->plat) - flight->start_s;
	}
	/* Where no kernel has run, it took no time. */
	if (job->task->cl->model && worker_kernel(worker, job) &&
	    !node_knobs(worker->node)->disable_kernels)
		model_record(worker, job->task, job->implementation, job->duration_s);
}

static void call_kernel(struct worker *worker, struct cuda_flight *flight)
{
	const struct cuda_calls *call = &device_of(worker)->cuda->call;
	struct starpu_task *task = flight->job->task, *previous = worker->caller.task;
	kernel_t kernel = worker_kernel(worker, flight->job);
	void *stream = cuda_lane(worker)->stream;
	OUTSIDE(outside);

	/* Kernels and callbacks may leave another device behind. */
	check(worker, flight, call->set(device_of(worker)->context));
	if (flight->timed)
		check(worker, flight, call->record(flight->start, stream));
	worker->caller.task = task;
	outside_begin(&outside, worker->node, &worker->caller, "the kernel");
	if (kernel && !node_knobs(worker->node)->disable_kernels)
		kernel(task->dyn_interfaces ? task->dyn_interfaces : task->interfaces,
		       task->cl_arg);
	outside_end(&outside);
	worker->caller.task = previous;
	check(worker, flight, call->record(flight->end, stream));
}

static struct cuda_flight *flight_at(struct cuda_lane *lane, unsigned n)
{
	return &lane->flights[n % CUDA_FLIGHTS];
}

/* Before the task that was named has ended, and with it its name. */
static void name_running(struct cuda_lane *lane)
{
	const char *name = lane->nended == lane->nstarted
				   ? NULL
				   : task_name(flight_at(lane, lane->nended)->job->task);

	orr_swap_ptr((void **)&lane->running, (void *)name);
}

/* The oldest one: 1 when it has ended. */
static int has_ended(struct worker *worker, const struct cuda_flight *flight)
{
	int rc = device_of(worker)->cuda->call.query(flight->end);

	if (rc == CUDA_NOT_READY)
		return 0;
	check(worker, flight, rc);
	note_duration(worker, flight);
	return 1;
}

static int execute(struct worker *worker, struct job *job)
{
	struct cuda_lane *lane = cuda_lane(worker);
	struct cuda_flight *flight = flight_at(lane, lane->nstarted);

	ORR_ASSERT(lane->nstarted - lane->nended < CUDA_FLIGHTS);
	job->duration_s = 0;
	flight->job = job;
	flight->timed =
		orr_load(&worker->node->lasting->profiling) || job->task->cl->model;
	flight->start_s = flight->timed ? plat_now_s(worker->node->plat) : 0;
	lane->nstarted++;
	name_running(lane);
	call_kernel(worker, flight);
	if (lane->nstarted - lane->nended == 1 && !is_async(job) &&
	    has_ended(worker, flight)) {
		lane->nended++;
		name_running(lane);
		return 1;
	}
	orr_add(&lane->device->cuda->npending, 1);
	return 0;
}

/* Behind a kernel that waits for its work nothing is to be started. */
static int may_queue(const struct worker *worker)
{
	struct cuda_lane *lane = cuda_lane(worker);
	int nrunning = (int)(lane->nstarted - lane->nended);

	return is_async(flight_at(lane, lane->nstarted - 1)->job) &&
	       nrunning < node_knobs(worker->node)->cuda_pipeline;
}

static int poll(struct worker *worker)
{
	struct cuda_lane *lane = cuda_lane(worker);
	int n = 0;

	while (lane->nended != lane->nstarted) {
		struct cuda_flight *flight = flight_at(lane, lane->nended);

		if (!has_ended(worker, flight))
			return n > 0;
		lane->nended++;
		name_running(lane);
		worker_executed(worker, flight->job);
		orr_add(&lane->device->cuda->npending, -1);
		n++;
	}
	return n > 0 ? 1 : -1;
}

const struct worker_driver cuda_driver = {
	.begin = begin, .execute = execute, .may_queue = may_queue, .poll = poll};
