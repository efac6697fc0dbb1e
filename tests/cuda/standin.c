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
 *	STANDIN_PITCH     longest distance of rows that copies may have (2 GiB)
 *	STANDIN_PATIENCE_S  so long is waited for what standin_hold() says (30)
 *	STANDIN_OTHERS    N:KIB  others take so much of each device when it has allocated
 *N times STANDIN_SHARED    a file in which processes count what they have of the devices
 *	STANDIN_DELAY_US  longest random time before an operation of a stream (0)
 *	STANDIN_SEED      of these times (1)
 *	STANDIN_FAIL      FUNCTION:N:ERROR  the N-th call fails, and those after it; 0 N:
 *			  that one alone
 *	STANDIN_FAIL_RUN  N:ERROR  the N-th operation of streams fails, and from then
 *			  on all calls for its device, as after a wrong address
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include "standin.h"

struct standin standin = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define STACK_MAX 16
static __thread struct context *stack[STACK_MAX];
static __thread int depth;

/* ---- settings, failures ----------------------------------------------- */

long standin_number(const char *name, long preset)
{
	const char *text = getenv(name);

	return text && *text ? atol(text) : preset;
}

void standin_lock(void)
{
	pthread_mutex_lock(&standin.lock);
}

int standin_unlock(int rc)
{
	pthread_mutex_unlock(&standin.lock);
	return rc;
}

/* What the call is to return at once: 0 for nothing; the lock is taken. */
int standin_injection(const char *name)
{
	if (standin.is_over) {
		standin.counts[STANDIN_LATE_CALLS]++;
		return ENDED;
	}
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
	standin_lock();
	return standin_unlock(standin_injection(function));
}

struct context *standin_context(void)
{
	return depth > 0 ? stack[depth - 1] : NULL;
}

static void read_settings(void)
{
	const char *others = getenv("STANDIN_OTHERS"), *fail = getenv("STANDIN_FAIL"),
		   *run = getenv("STANDIN_FAIL_RUN");

	standin.ndevices = (int)standin_number("STANDIN_DEVICES", 2);
	if (standin.ndevices > DEVICES_MAX)
		standin.ndevices = DEVICES_MAX;
	standin.delay_us = standin_number("STANDIN_DELAY_US", 0);
	if (fail)
		sscanf(fail, "%63[^:]:%d:%d", standin.fail_name, &standin.fail_call,
		       &standin.fail_error);
	if (others)
		sscanf(others, "%d:%zu", &standin.others_after, &standin.others_kib);
	standin.fail_once = standin.fail_call < 0;
	if (standin.fail_once)
		standin.fail_call = -standin.fail_call;
	if (run)
		sscanf(run, "%d:%d", &standin.fail_run, &standin.fail_run_error);
}

/* ---- devices ---------------------------------------------------------- */

/* At exit() the driver ends, whoever may still call it. */
static void end_all(void)
{
	standin_lock();
	standin.is_over = 1;
	standin_unlock(0);
}

int cuInit(unsigned flags)
{
	(void)flags;
	standin_lock();
	if (!standin.is_known) {
		read_settings();
		atexit(end_all);
		standin.is_known = 1;
	}
	standin.pitch = (size_t)standin_number("STANDIN_PITCH", 0x7fffffff);
	return standin_unlock(standin_injection(__func__));
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
	*bytes = (size_t)standin_number("STANDIN_MIB", 64) << 20;
	return CUDA_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == CUDA_ATTRIBUTE_PITCH ? (int)standin.pitch : 1;
	return CUDA_SUCCESS;
}

/* The same in all processes of the machine. */
int cuDeviceGetUuid(unsigned char *uuid, int device)
{
	BEGIN();
	memset(uuid, 0, 16);
	uuid[0] = (unsigned char)device;
	return standin_unlock(CUDA_SUCCESS);
}

int cuDeviceGetPCIBusId(char *text, int bytes, int device)
{
	snprintf(text, (size_t)bytes, "0000:%02x:00.0", device - 100);
	return CUDA_SUCCESS;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer && standin_number("STANDIN_PEERS", 1);
	return CUDA_SUCCESS;
}

/* ---- how much of a device's memory is taken ------------------------------ */

/* What other processes have of the device, too (STANDIN_SHARED), or NULL. */
static size_t *common_of(const struct context *context)
{
	static size_t *common;
	const char *path = getenv("STANDIN_SHARED");
	size_t bytes = DEVICES_MAX * sizeof(*common);
	int file;

	if (!common && path) {
		file = open(path, O_RDWR | O_CREAT, 0600);
		if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
			abort();
		common = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (common == MAP_FAILED)
			abort();
		close(file);
	}
	return common ? &common[context->ordinal] : NULL;
}

/* Of all processes, and of the programs that standin_others() speaks of. */
static size_t used_of(const struct context *context)
{
	const size_t *common = common_of(context);

	return context->others +
	       (common ? __atomic_load_n(common, __ATOMIC_SEQ_CST) : context->used);
}

/* 1: so many bytes are taken, in all processes; 0: there are not as many. */
static int take(struct context *context, size_t bytes)
{
	size_t *common = common_of(context);

	if (!common) {
		if (used_of(context) + bytes > context->size)
			return 0;
	} else if (__atomic_add_fetch(common, bytes, __ATOMIC_SEQ_CST) + context->others >
		   context->size) {
		__atomic_sub_fetch(common, bytes, __ATOMIC_SEQ_CST);
		return 0;
	}
	context->used += bytes;
	return 1;
}

static void give(struct context *context, size_t bytes)
{
	size_t *common = common_of(context);

	if (common)
		__atomic_sub_fetch(common, bytes, __ATOMIC_SEQ_CST);
	context->used -= bytes;
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
	if (!standin_number("STANDIN_SEEN", 0))
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
	return standin_unlock(CUDA_SUCCESS);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct context *context = &standin.contexts[device - 100];
	struct block *block;

	BEGIN();
	if (--context->nholders > 0)
		return standin_unlock(CUDA_SUCCESS);
	while ((block = context->blocks)) {
		fprintf(stderr, "standin: %zu bytes of device %d were not freed\n",
			block->bytes, context->ordinal);
		context->blocks = block->next;
		give(context, block->bytes);
		free(block);
	}
	if (context->seen != context->bytes)
		munmap(context->seen, context->size);
	munmap(context->bytes, context->size);
	memset(context, 0, sizeof(*context));
	return standin_unlock(CUDA_SUCCESS);
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
		return standin_unlock(INVALID_CONTEXT);
	stack[depth++] = context;
	return standin_unlock(CUDA_SUCCESS);
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
	return standin_unlock(context && context != standin_context() ? CUDA_SUCCESS
								      : INVALID_CONTEXT);
}

/* ---- memory ----------------------------------------------------------- */

void standin_others(int device, size_t bytes)
{
	standin_lock();
	standin.contexts[device].others = bytes;
	standin_unlock(0);
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	const struct context *context = standin_context();

	if (!context)
		return INVALID_CONTEXT;
	standin_lock();
	*total = context->size;
	*unused = context->size - used_of(context);
	return standin_unlock(CUDA_SUCCESS);
}

static void count_allocation(struct context *context)
{
	if (++context->nallocations == standin.others_after)
		context->others = standin.others_kib << 10;
	standin.counts[STANDIN_ALLOCATIONS]++;
}

int cuMemAlloc_v2(unsigned long long *at, size_t bytes)
{
	struct context *context = standin_context();
	struct block **link, *block;
	size_t end = 0;

	BEGIN();
	if (!context || bytes == 0)
		return standin_unlock(context ? INVALID_VALUE : INVALID_CONTEXT);
	count_allocation(context);
	bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	for (link = &context->blocks; *link && (*link)->at - end < bytes;
	     link = &(*link)->next)
		end = (*link)->at + (*link)->bytes;
	if ((!*link && context->size - end < bytes) || !take(context, bytes))
		return standin_unlock(CUDA_OUT_OF_MEMORY);
	block = malloc(sizeof(*block));
	*block = (struct block){*link, end, bytes};
	*link = block;
	if ((long)context->used > standin.counts[STANDIN_MOST_BYTES])
		standin.counts[STANDIN_MOST_BYTES] = (long)context->used;
	memset(context->bytes + end, 0xa5, bytes);
	*at = (uintptr_t)(context->seen + end);
	return standin_unlock(CUDA_SUCCESS);
}

long standin_count(enum standin_count what)
{
	long n;

	standin_lock();
	n = standin.counts[what];
	standin.counts[what] = 0;
	standin_unlock(0);
	return n;
}

/* The context in whose memory an address is, or NULL: main memory. */
struct context *standin_owner(const void *at)
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

	standin_lock();
	context = standin_owner(device_address);
	standin_unlock(0);
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
	context = standin_owner((void *)(uintptr_t)at);
	if (!context)
		return standin_unlock(INVALID_VALUE);
	for (link = &context->blocks; (block = *link); link = &block->next) {
		if (context->seen + block->at != (char *)(uintptr_t)at)
			continue;
		*link = block->next;
		give(context, block->bytes);
		free(block);
		return standin_unlock(CUDA_SUCCESS);
	}
	return standin_unlock(INVALID_VALUE);
}

static struct pinned **find_pinned(const char *at)
{
	struct pinned **link = &standin.pinned;

	while (*link && !(at >= (*link)->at && at < (*link)->at + (*link)->bytes))
		link = &(*link)->next;
	return link;
}

int standin_is_pinned(const void *at)
{
	return *find_pinned(at) != NULL;
}

int cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	struct pinned *pinned;

	(void)flags;
	BEGIN();
	if (*find_pinned(ptr))
		return standin_unlock(CUDA_HOST_ALREADY);
	pinned = malloc(sizeof(*pinned));
	*pinned = (struct pinned){standin.pinned, ptr, bytes};
	standin.pinned = pinned;
	return standin_unlock(CUDA_SUCCESS);
}

int cuMemHostUnregister(void *ptr)
{
	struct pinned **link, *pinned;

	BEGIN();
	link = find_pinned(ptr);
	pinned = *link;
	if (!pinned || pinned->at != ptr)
		return standin_unlock(NOT_PINNED);
	*link = pinned->next;
	free(pinned);
	return standin_unlock(CUDA_SUCCESS);
}

/* ---- the runtime API --------------------------------------------------- */

cudaError_t cudaGetDevice(int *device)
{
	*device = standin_context() ? standin_context()->ordinal : 0;
	return cudaSuccess;
}

int standin_device(void)
{
	return standin_context() ? standin_context()->ordinal : -1;
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
