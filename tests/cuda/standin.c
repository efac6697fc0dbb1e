/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A stand-in for libcuda, for tests without a GPU: the functions of CUDA's driver API
 * that the library calls, on host threads.  It is no GPU: what runs on it says nothing
 * of one, and its devices are called "Stand-in".
 *
 * A device's memory is an arena that is mapped twice: at the addresses that programs get
 * nothing can be read or written, so that a processor that touches it is found; streams
 * use the other mapping.  A stream is a thread with a queue.  Copies from and to main
 * memory that is not pinned are made before the call returns, as CUDA does it.
 *
 *	STANDIN_DEVICES   how many (2)		STANDIN_MIB       memory of each (64)
 *	STANDIN_PEERS     they reach each other (1)
 *	STANDIN_SEEN      processors see the devices' memory (0): kernels may be functions
 *	STANDIN_DELAY_US  longest random time before an operation of a stream (0)
 *	STANDIN_SEED      of these times (1)
 *	STANDIN_FAIL      FUNCTION:N:ERROR  the N-th call fails, and those after it; 0 N:
 *			  that one alone
 *	STANDIN_FAIL_RUN  N:ERROR  the N-th operation of streams fails, and from then on
 *all calls for its device, as after a wrong address
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include "real/cuda.h"
#include "standin.h"

enum { DEVICES_MAX = 8, GRAIN = 256 };
enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, NOT_PINNED = 713 };

struct block {
	struct block *next;
	size_t at, bytes;
};

struct context {
	int ordinal, nholders;
	char *seen, *bytes; /* addresses that programs have, and that streams use */
	size_t size, used;
	struct block *blocks; /* by address */
	int error;            /* sticky */
	struct CUstream_st *kernels;
};

enum operation { COPY, RECTANGLE, CALL, RECORD, END };

struct op {
	struct op *next;
	enum operation what;
	struct cuda_rectangle rectangle; /* COPY: one row */
	void (*func)(void *arg);
	void *arg;
	struct event *event;
};

struct CUstream_st {
	struct context *context;
	pthread_t thread;
	pthread_cond_t changed;
	struct op *first, *last;
	int nqueued;
	unsigned random;
};

struct event {
	int npending; /* records that the streams have not come to */
	double date_s;
};

struct pinned {
	struct pinned *next;
	char *at;
	size_t bytes;
};

/* Under the lock, but for what never changes after cuInit(). */
static struct standin {
	pthread_mutex_t lock;
	int ndevices, most_queued, nruns, fail_run, fail_run_error;
	long delay_us;
	char fail_name[64];
	int fail_call, fail_error, fail_once, ncalls;
	struct context contexts[DEVICES_MAX];
	struct pinned *pinned;
} standin = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define STACK_MAX 16
static __thread struct context *stack[STACK_MAX];
static __thread int depth;
static __thread struct CUstream_st *running; /* whose thread it is */

/* ---- settings, failures ----------------------------------------------- */

static long number(const char *name, long preset)
{
	const char *text = getenv(name);

	return text && *text ? atol(text) : preset;
}

static void lock(void)
{
	pthread_mutex_lock(&standin.lock);
}

static int unlock(int rc)
{
	pthread_mutex_unlock(&standin.lock);
	return rc;
}

/* What the call is to return at once: 0 for nothing; the lock is taken. */
static int injected(const char *name)
{
	if (strcmp(name, standin.fail_name) != 0)
		return 0;
	standin.ncalls++;
	if (standin.fail_once ? standin.ncalls != standin.fail_call
			      : standin.ncalls < standin.fail_call)
		return 0;
	return standin.fail_error;
}

int standin_injected(const char *function)
{
	lock();
	return unlock(injected(function));
}

#define BEGIN()                                                                          \
	do {                                                                             \
		int rc_;                                                                 \
		lock();                                                                  \
		rc_ = injected(__func__);                                                \
		if (rc_)                                                                 \
			return unlock(rc_);                                              \
	} while (0)

static struct context *current(void)
{
	return depth > 0 ? stack[depth - 1] : NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_settings(void)
{
	const char *fail = getenv("STANDIN_FAIL"), *run = getenv("STANDIN_FAIL_RUN");

	standin.ndevices = (int)number("STANDIN_DEVICES", 2);
	if (standin.ndevices > DEVICES_MAX)
		standin.ndevices = DEVICES_MAX;
	standin.delay_us = number("STANDIN_DELAY_US", 0);
	if (fail)
		sscanf(fail, "%63[^:]:%d:%d", standin.fail_name, &standin.fail_call,
		       &standin.fail_error);
	standin.fail_once = standin.fail_call < 0;
	if (standin.fail_once)
		standin.fail_call = -standin.fail_call;
	if (run)
		sscanf(run, "%d:%d", &standin.fail_run, &standin.fail_run_error);
}

/* ---- devices ---------------------------------------------------------- */

int cuInit(unsigned flags)
{
	(void)flags;
	lock();
	if (standin.ndevices == 0)
		read_settings();
	return unlock(injected(__func__));
}

int cuDriverGetVersion(int *version)
{
	*version = 12000;
	return CUDA_SUCCESS;
}

int cuDeviceGetCount(int *count)
{
	*count = standin.ndevices;
	return standin.ndevices > 0 ? CUDA_SUCCESS : CUDA_NO_DEVICE;
}

int cuDeviceGet(int *device, int ordinal)
{
	if (ordinal < 0 || ordinal >= standin.ndevices)
		return INVALID_VALUE;
	*device = ordinal + 100; /* It is no ordinal. */
	return CUDA_SUCCESS;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
	snprintf(name, (size_t)bytes, "Stand-in %d", device - 100);
	return CUDA_SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = (size_t)number("STANDIN_MIB", 64) << 20;
	return CUDA_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)attribute;
	(void)device;
	*value = 1;
	return CUDA_SUCCESS;
}

int cuDeviceGetPCIBusId(char *text, int bytes, int device)
{
	snprintf(text, (size_t)bytes, "0000:%02x:00.0", device - 100);
	return CUDA_SUCCESS;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer && number("STANDIN_PEERS", 1);
	return CUDA_SUCCESS;
}

/* ---- contexts --------------------------------------------------------- */

static void map_arena(struct context *context)
{
	int file = memfd_create("standin", 0);

	cuDeviceTotalMem_v2(&context->size, 0);
	if (file < 0 || ftruncate(file, (off_t)context->size) < 0)
		abort();
	context->bytes =
		mmap(NULL, context->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	context->seen = context->bytes;
	if (!number("STANDIN_SEEN", 0))
		context->seen = mmap(NULL, context->size, PROT_NONE, MAP_SHARED, file, 0);
	if (context->seen == MAP_FAILED || context->bytes == MAP_FAILED)
		abort();
	close(file);
}

int cuDevicePrimaryCtxRetain(void **context_out, int device)
{
	struct context *context = &standin.contexts[device - 100];

	BEGIN();
	context->ordinal = device - 100;
	if (context->nholders++ == 0)
		map_arena(context);
	*context_out = context;
	return unlock(CUDA_SUCCESS);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct context *context = &standin.contexts[device - 100];
	struct block *block;

	BEGIN();
	if (--context->nholders > 0)
		return unlock(CUDA_SUCCESS);
	while ((block = context->blocks)) {
		fprintf(stderr, "standin: %zu bytes of device %d were not freed\n",
			block->bytes, context->ordinal);
		context->blocks = block->next;
		free(block);
	}
	if (context->seen != context->bytes)
		munmap(context->seen, context->size);
	munmap(context->bytes, context->size);
	memset(context, 0, sizeof(*context));
	return unlock(CUDA_SUCCESS);
}

int cuCtxSetCurrent(void *context)
{
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = context;
	if (!context)
		depth--;
	return CUDA_SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
	BEGIN();
	if (depth == STACK_MAX || !context)
		return unlock(INVALID_CONTEXT);
	stack[depth++] = context;
	return unlock(CUDA_SUCCESS);
}

int cuCtxPopCurrent_v2(void **context)
{
	if (depth == 0)
		return INVALID_CONTEXT;
	*context = stack[--depth];
	return CUDA_SUCCESS;
}

int cuCtxEnablePeerAccess(void *context, unsigned flags)
{
	(void)flags;
	BEGIN();
	return unlock(context && context != current() ? CUDA_SUCCESS : INVALID_CONTEXT);
}

/* ---- memory ----------------------------------------------------------- */

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	const struct context *context = current();

	if (!context)
		return INVALID_CONTEXT;
	lock();
	*total = context->size;
	*unused = context->size - context->used;
	return unlock(CUDA_SUCCESS);
}

int cuMemAlloc_v2(unsigned long long *at, size_t bytes)
{
	struct context *context = current();
	struct block **link, *block;
	size_t end = 0;

	BEGIN();
	if (!context || bytes == 0)
		return unlock(context ? INVALID_VALUE : INVALID_CONTEXT);
	bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	for (link = &context->blocks; *link && (*link)->at - end < bytes;
	     link = &(*link)->next)
		end = (*link)->at + (*link)->bytes;
	if (!*link && context->size - end < bytes)
		return unlock(CUDA_OUT_OF_MEMORY);
	block = malloc(sizeof(*block));
	*block = (struct block){*link, end, bytes};
	*link = block;
	context->used += bytes;
	memset(context->bytes + end, 0xa5, bytes);
	*at = (uintptr_t)(context->seen + end);
	return unlock(CUDA_SUCCESS);
}

/* The context in whose memory an address is, or NULL: main memory. */
static struct context *owner_of(const void *at)
{
	for (int i = 0; i < DEVICES_MAX; i++) {
		struct context *context = &standin.contexts[i];

		if (context->seen && (const char *)at >= context->seen &&
		    (const char *)at < context->seen + context->size)
			return context;
	}
	return NULL;
}

void *standin_at(const void *device_address)
{
	struct context *context;

	lock();
	context = owner_of(device_address);
	unlock(0);
	if (!context) {
		fprintf(stderr, "standin: %p is no device's address\n", device_address);
		abort();
	}
	return context->bytes + ((const char *)device_address - context->seen);
}

int cuMemFree_v2(unsigned long long at)
{
	struct context *context;
	struct block **link, *block;

	BEGIN();
	context = owner_of((void *)(uintptr_t)at);
	if (!context)
		return unlock(INVALID_VALUE);
	for (link = &context->blocks; (block = *link); link = &block->next) {
		if (context->seen + block->at != (char *)(uintptr_t)at)
			continue;
		*link = block->next;
		context->used -= block->bytes;
		free(block);
		return unlock(CUDA_SUCCESS);
	}
	return unlock(INVALID_VALUE);
}

static struct pinned **find_pinned(const char *at)
{
	struct pinned **link = &standin.pinned;

	while (*link && !(at >= (*link)->at && at < (*link)->at + (*link)->bytes))
		link = &(*link)->next;
	return link;
}

int cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	struct pinned *pinned;

	(void)flags;
	BEGIN();
	if (*find_pinned(ptr))
		return unlock(CUDA_HOST_ALREADY);
	pinned = malloc(sizeof(*pinned));
	*pinned = (struct pinned){standin.pinned, ptr, bytes};
	standin.pinned = pinned;
	return unlock(CUDA_SUCCESS);
}

int cuMemHostUnregister(void *ptr)
{
	struct pinned **link, *pinned;

	BEGIN();
	link = find_pinned(ptr);
	pinned = *link;
	if (!pinned || pinned->at != ptr)
		return unlock(NOT_PINNED);
	*link = pinned->next;
	free(pinned);
	return unlock(CUDA_SUCCESS);
}

/* ---- operations of streams -------------------------------------------- */

static char *place(unsigned type, const void *host, unsigned long long device,
		   size_t offset)
{
	if (type == CUDA_MEMORY_HOST)
		return (char *)host + offset;
	return (char *)standin_at((void *)(uintptr_t)device) + offset;
}

static void copy_rows(const struct cuda_rectangle *r)
{
	char *from = place(r->from_type, r->from_host, r->from_device,
			   r->from_y * r->from_pitch + r->from_x);
	char *to = place(r->to_type, r->to_host, r->to_device,
			 r->to_y * r->to_pitch + r->to_x);

	for (size_t i = 0; i < r->rows; i++)
		memcpy(to + i * r->to_pitch, from + i * r->from_pitch, r->bytes);
}

static void run(struct op *op)
{
	if (op->what == CALL)
		op->func(op->arg);
	else if (op->what == COPY || op->what == RECTANGLE)
		copy_rows(&op->rectangle);
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
	unlock(0);
	if (delay_us > 0)
		usleep((useconds_t)delay_us);
	run(op);
	lock();
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
	lock();
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
	unlock(0);
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
	if (!current())
		return unlock(INVALID_CONTEXT);
	stream = calloc(1, sizeof(*stream));
	stream->context = current();
	stream->random =
		(unsigned)number("STANDIN_SEED", 1) + (unsigned)(uintptr_t)stream;
	pthread_cond_init(&stream->changed, NULL);
	if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0)
		abort();
	*stream_out = stream;
	return unlock(CUDA_SUCCESS);
}

int cuStreamDestroy_v2(void *of)
{
	struct CUstream_st *stream = of;

	lock();
	enqueue(stream, (struct op){.what = END});
	unlock(0);
	pthread_join(stream->thread, NULL);
	pthread_cond_destroy(&stream->changed);
	free(stream);
	return CUDA_SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
	BEGIN();
	return unlock(drain(stream));
}

/* Is main memory at one end, and not pinned? */
static int is_slow(const struct cuda_rectangle *r)
{
	return (r->from_type == CUDA_MEMORY_HOST && !*find_pinned(r->from_host)) ||
	       (r->to_type == CUDA_MEMORY_HOST && !*find_pinned(r->to_host));
}

static int start_copy(struct CUstream_st *stream, enum operation what,
		      const struct cuda_rectangle *rectangle)
{
	int rc = enqueue(stream, (struct op){.what = what, .rectangle = *rectangle});

	return is_slow(rectangle) ? drain(stream) : rc;
}

int cuMemcpy2DAsync_v2(const struct cuda_rectangle *rectangle, void *stream)
{
	BEGIN();
	if (rectangle->bytes > rectangle->from_pitch ||
	    rectangle->bytes > rectangle->to_pitch)
		return unlock(INVALID_VALUE);
	return unlock(start_copy(stream, RECTANGLE, rectangle));
}

int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
		  void *stream)
{
	struct cuda_rectangle row = {.from_type = CUDA_MEMORY_HOST,
				     .to_type = CUDA_MEMORY_HOST,
				     .from_host = (void *)(uintptr_t)from,
				     .to_host = (void *)(uintptr_t)to,
				     .bytes = bytes,
				     .rows = 1};

	BEGIN();
	if (owner_of(row.from_host)) {
		row.from_type = CUDA_MEMORY_DEVICE;
		row.from_device = from;
	}
	if (owner_of(row.to_host)) {
		row.to_type = CUDA_MEMORY_DEVICE;
		row.to_device = to;
	}
	return unlock(start_copy(stream, COPY, &row));
}

/* ---- events ----------------------------------------------------------- */

int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	BEGIN();
	*event = calloc(1, sizeof(struct event));
	return unlock(CUDA_SUCCESS);
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
	return unlock(enqueue(stream, (struct op){.what = RECORD, .event = event}));
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
	if (event->npending > 0)
		return unlock(any_error() ? any_error() : CUDA_NOT_READY);
	return unlock(CUDA_SUCCESS);
}

int cuEventElapsedTime(float *ms, void *first, void *last)
{
	lock();
	*ms = (float)(1e3 *
		      (((struct event *)last)->date_s - ((struct event *)first)->date_s));
	return unlock(CUDA_SUCCESS);
}

/* ---- words ------------------------------------------------------------ */

static const struct {
	int error;
	const char *name, *text;
} words[] = {{0, "CUDA_SUCCESS", "no error"},
	     {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	     {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	     {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"},
	     {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	     {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	     {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error"},
	     {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"}};

static int word_of(int error)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].error == error)
			return (int)i;
	return -1;
}

int cuGetErrorName(int error, const char **text)
{
	int i = word_of(error);

	*text = i < 0 ? NULL : words[i].name;
	return i < 0 ? INVALID_VALUE : CUDA_SUCCESS;
}

int cuGetErrorString(int error, const char **text)
{
	int i = word_of(error);

	*text = i < 0 ? NULL : words[i].text;
	return i < 0 ? INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- the runtime API, and kernels -------------------------------------- */

cudaError_t cudaGetDevice(int *device)
{
	*device = current() ? current()->ordinal : 0;
	return cudaSuccess;
}

int standin_device(void)
{
	return current() ? current()->ordinal : -1;
}

cudaError_t cudaSetDevice(int device)
{
	cuCtxSetCurrent(&standin.contexts[device]);
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	*properties = (struct cudaDeviceProp){.multiProcessorCount = 1};
	cuDeviceGetName(properties->name, sizeof(properties->name), device + 100);
	cuDeviceTotalMem_v2(&properties->totalGlobalMem, device + 100);
	return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	return (cudaError_t)cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return (cudaError_t)cuStreamSynchronize(stream);
}

cudaError_t standin_launch(cudaStream_t stream, void (*func)(void *arg), void *arg)
{
	BEGIN();
	return (cudaError_t)unlock(
		enqueue(stream, (struct op){.what = CALL, .func = func, .arg = arg}));
}

void standin_fail(int error)
{
	lock();
	running->context->error = error;
	unlock(0);
}

int standin_most_queued(void)
{
	int most;

	lock();
	most = standin.most_queued;
	unlock(0);
	return most;
}
