/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA: streams, which are threads, copies, events and kernels.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

enum operation { COPY, CALL, RECORD, END };

struct op {
	struct op *next;
	enum operation what;
	struct cuda_box box; /* COPY */
	void (*func)(void *arg);
	void *arg;
	struct event *event;
};

static __thread struct CUstream_st *running; /* whose thread it is */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- operations of streams -------------------------------------------- */

static char *place(const struct cuda_box_end *end)
{
	size_t offset = (end->z * end->height + end->y) * end->pitch + end->x;

	if (end->type == CUDA_MEMORY_HOST)
		return (char *)end->host + offset;
	return (char *)standin_at((void *)(uintptr_t)end->device) + offset;
}

static void copy_box(const struct cuda_box *box)
{
	const struct cuda_box_end *from = &box->from, *to = &box->to;
	char *source = place(from), *target = place(to);

	for (size_t k = 0; k < box->planes; k++)
		for (size_t i = 0; i < box->rows; i++)
			memcpy(target + (k * to->height + i) * to->pitch,
			       source + (k * from->height + i) * from->pitch, box->bytes);
}

static void run(struct op *op)
{
	if (op->what == CALL)
		op->func(op->arg);
	else if (op->what == COPY)
		copy_box(&op->box);
}

static enum standin_kind kind_of(const struct op *op)
{
	int from_host = op->box.from.type == CUDA_MEMORY_HOST;

	if (op->what != COPY)
		return STANDIN_KERNEL;
	if (op->box.to.type == CUDA_MEMORY_HOST)
		return STANDIN_FROM_DEVICE;
	return from_host ? STANDIN_TO_DEVICE : STANDIN_PEER;
}

/* The lock is taken, before and after. */
static void run_unlocked(struct CUstream_st *stream, struct op *op)
{
	long delay_us = 0;

	if (op->what != RECORD && ++standin.nruns == standin.fail_run)
		stream->context->error = standin.fail_run_error;
	if (stream->context->error)
		return;
	if (standin.delay_us > 0)
		delay_us = rand_r(&stream->random) % (standin.delay_us + 1);
	if (op->what != RECORD)
		standin_begin(kind_of(op));
	standin_unlock(0);
	if (delay_us > 0)
		usleep((useconds_t)delay_us);
	run(op);
	standin_lock();
	if (op->what != RECORD)
		standin_note(kind_of(op));
	if (op->what == RECORD && !stream->context->error) {
		op->event->npending--;
		op->event->date_s = now_s();
	}
}

static void *stream_main(void *arg)
{
	struct CUstream_st *stream = arg;
	int ended = 0;

	running = stream;
	standin_lock();
	while (!ended) {
		struct op *op = stream->first;

		if (!op) {
			pthread_cond_wait(&stream->changed, &standin.lock);
			continue;
		}
		ended = op->what == END;
		if (!ended)
			run_unlocked(stream, op);
		stream->first = op->next;
		stream->nqueued -= op->what == CALL;
		free(op);
		pthread_cond_broadcast(&stream->changed);
	}
	standin_unlock(0);
	return NULL;
}

/* The lock is taken. */
static int enqueue(struct CUstream_st *stream, struct op op)
{
	struct op *copy = malloc(sizeof(*copy));

	*copy = op;
	copy->next = NULL;
	*(stream->first ? &stream->last->next : &stream->first) = copy;
	stream->last = copy;
	stream->nqueued += op.what == CALL;
	if (op.what == CALL)
		standin_note(STANDIN_QUEUED);
	if (stream->nqueued > standin.most_queued)
		standin.most_queued = stream->nqueued;
	pthread_cond_broadcast(&stream->changed);
	return stream->context->error;
}

/* The lock is taken; waits without it. */
static int drain(struct CUstream_st *stream)
{
	while (stream->first)
		pthread_cond_wait(&stream->changed, &standin.lock);
	return stream->context->error;
}

int cuStreamCreate(void **stream_out, unsigned flags)
{
	struct CUstream_st *stream;

	(void)flags;
	BEGIN();
	if (!standin_context())
		return standin_unlock(INVALID_CONTEXT);
	stream = calloc(1, sizeof(*stream));
	stream->context = standin_context();
	stream->random =
		(unsigned)standin_number("STANDIN_SEED", 1) + (unsigned)(uintptr_t)stream;
	pthread_cond_init(&stream->changed, NULL);
	if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0)
		abort();
	*stream_out = stream;
	return standin_unlock(CUDA_SUCCESS);
}

int cuStreamDestroy_v2(void *of)
{
	struct CUstream_st *stream = of;

	standin_lock();
	enqueue(stream, (struct op){.what = END});
	standin_unlock(0);
	pthread_join(stream->thread, NULL);
	pthread_cond_destroy(&stream->changed);
	free(stream);
	return CUDA_SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
	BEGIN();
	return standin_unlock(drain(stream));
}

/* Is main memory at one end, and not pinned? */
static int is_slow(const struct cuda_box *box)
{
	return (box->from.type == CUDA_MEMORY_HOST &&
		!standin_is_pinned(box->from.host)) ||
	       (box->to.type == CUDA_MEMORY_HOST && !standin_is_pinned(box->to.host));
}

/* Between two devices? */
static int is_between(const struct cuda_box *box)
{
	return box->from.type == CUDA_MEMORY_DEVICE &&
	       box->to.type == CUDA_MEMORY_DEVICE &&
	       standin_owner((void *)(uintptr_t)box->from.device) !=
		       standin_owner((void *)(uintptr_t)box->to.device);
}

static int start_copy(struct CUstream_st *stream, const struct cuda_box *box)
{
	int rc = enqueue(stream, (struct op){.what = COPY, .box = *box});

	standin.counts[STANDIN_SLOW_COPIES] += is_slow(box);
	standin.counts[STANDIN_PEER_COPIES] += is_between(box);

	return is_slow(box) ? drain(stream) : rc;
}

/* Its context's address? */
static int is_right(const struct cuda_box_end *end, const struct context *context)
{
	return end->type == CUDA_MEMORY_HOST ||
	       standin_owner((void *)(uintptr_t)end->device) == context;
}

static int is_end(const struct cuda_box_end *end, const struct cuda_box *box)
{
	return end->pitch >= box->bytes && end->pitch <= standin.pitch &&
	       (box->planes == 1 || end->height >= box->rows);
}

static int start_box(struct CUstream_st *stream, const struct cuda_box *box)
{
	standin.nshapes[box->planes > 1 ? 3 : 2]++;
	if (!is_end(&box->from, box) || !is_end(&box->to, box))
		return INVALID_VALUE;
	return start_copy(stream, box);
}

int cuMemcpy2DAsync_v2(const struct cuda_rectangle *r, void *stream)
{
	struct cuda_box box = {.from = {.x = r->from_x,
					.y = r->from_y,
					.type = r->from_type,
					.host = r->from_host,
					.device = r->from_device,
					.pitch = r->from_pitch},
			       .to = {.x = r->to_x,
				      .y = r->to_y,
				      .type = r->to_type,
				      .host = r->to_host,
				      .device = r->to_device,
				      .pitch = r->to_pitch},
			       .bytes = r->bytes,
			       .rows = r->rows,
			       .planes = 1};

	BEGIN();
	if (!is_right(&box.from, standin_context()) ||
	    !is_right(&box.to, standin_context()))
		return standin_unlock(INVALID_VALUE);
	return standin_unlock(start_box(stream, &box));
}

int cuMemcpy3DAsync_v2(const struct cuda_box *box, void *stream)
{
	BEGIN();
	if (box->from.context || box->to.context ||
	    !is_right(&box->from, standin_context()) ||
	    !is_right(&box->to, standin_context()))
		return standin_unlock(INVALID_VALUE);
	return standin_unlock(start_box(stream, box));
}

int cuMemcpy3DPeerAsync(const struct cuda_box *box, void *stream)
{
	BEGIN();
	if (!is_right(&box->from, box->from.context) ||
	    !is_right(&box->to, box->to.context))
		return standin_unlock(INVALID_VALUE);
	return standin_unlock(start_box(stream, box));
}

/* Addresses say where they are. */
static struct cuda_box_end end_at(unsigned long long at)
{
	if (standin_owner((void *)(uintptr_t)at))
		return (struct cuda_box_end){.type = CUDA_MEMORY_DEVICE, .device = at};
	return (struct cuda_box_end){.type = CUDA_MEMORY_HOST,
				     .host = (void *)(uintptr_t)at};
}

int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
		  void *stream)
{
	BEGIN();
	standin.nshapes[1]++;
	return standin_unlock(start_copy(stream, &(struct cuda_box){.from = end_at(from),
								    .to = end_at(to),
								    .bytes = bytes,
								    .rows = 1,
								    .planes = 1}));
}

int standin_ncopies(int ndims)
{
	int n;

	standin_lock();
	n = standin.nshapes[ndims];
	standin.nshapes[ndims] = 0;
	return standin_unlock(n);
}

/* ---- events ----------------------------------------------------------- */

int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	BEGIN();
	*event = calloc(1, sizeof(struct event));
	return standin_unlock(CUDA_SUCCESS);
}

int cuEventDestroy_v2(void *event)
{
	free(event);
	return CUDA_SUCCESS;
}

int cuEventRecord(void *of, void *on)
{
	struct CUstream_st *stream = on;
	struct event *event = of;

	BEGIN();
	event->npending++;
	return standin_unlock(
		enqueue(stream, (struct op){.what = RECORD, .event = event}));
}

/* Of any device that has failed, since events know none. */
static int any_error(void)
{
	for (int i = 0; i < DEVICES_MAX; i++)
		if (standin.contexts[i].error)
			return standin.contexts[i].error;
	return CUDA_SUCCESS;
}

int cuEventQuery(void *of)
{
	const struct event *event = of;

	BEGIN();
	standin.counts[STANDIN_QUERIES]++;
	if (event->npending > 0)
		return standin_unlock(any_error() ? any_error() : CUDA_NOT_READY);
	return standin_unlock(CUDA_SUCCESS);
}

int cuEventElapsedTime(float *ms, void *first, void *last)
{
	standin_lock();
	*ms = (float)(1e3 *
		      (((struct event *)last)->date_s - ((struct event *)first)->date_s));
	return standin_unlock(CUDA_SUCCESS);
}

/* ---- kernels ------------------------------------------------------------ */

cudaError_t standin_launch(cudaStream_t stream, void (*func)(void *arg), void *arg)
{
	BEGIN();
	return (cudaError_t)standin_unlock(
		enqueue(stream, (struct op){.what = CALL, .func = func, .arg = arg}));
}

void standin_fail(int error)
{
	standin_lock();
	running->context->error = error;
	standin_unlock(0);
}

int standin_most_queued(void)
{
	int most;

	standin_lock();
	most = standin.most_queued;
	standin.most_queued = 0;
	standin_unlock(0);
	return most;
}
