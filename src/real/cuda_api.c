/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * cuda_api.c - the functions of starpu_cuda.h.  That header declares them with types of
 * CUDA's headers, which the library is built without: streams are pointers, enumerations
 * are int.  A simulated machine has no CUDA, so they are the real flavour's alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/interface/methods.h"
#include "core/task/task.h"
#include "real/cuda.h"
#include "real/real.h"

void starpu_cuda_report_error(const char *func, const char *file, int line, int status)
	__attribute__((noreturn));
void starpu_cublas_report_error(const char *func, const char *file, int line, int status)
	__attribute__((noreturn));
void starpu_cusolver_report_error(const char *func, const char *file, int line,
				  int status) __attribute__((noreturn));
void *starpu_cuda_get_local_stream(void);
void *starpu_cuda_get_nvmldev(unsigned devid);
void starpu_cuda_set_device(unsigned devid);
int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				unsigned dst_node, size_t ssize, void *stream, int kind);
int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks,
				  size_t ld_src, size_t ld_dst, void *stream, int kind);
int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks_1,
				  size_t ld1_src, size_t ld1_dst, size_t numblocks_2,
				  size_t ld2_src, size_t ld2_dst, void *stream, int kind);
void *orrery_cuda_properties(unsigned workerid, size_t bytes, int *devid);

/* ---- errors ----------------------------------------------------------- */

static int rank_of_caller(void)
{
	return plat_self() ? plat_self()->rank : ORR_NO_RANK;
}

/* " in task "x" on CUDA 0 (its name)", as far as the caller is a worker of a device. */
static const char *whereabouts(char *text, size_t bytes)
{
	const struct node *node = plat_self();
	const struct worker *worker = node ? plat_current_worker(node->plat) : NULL;
	const struct cuda_lane *lane = worker ? cuda_lane(worker) : NULL;
	const struct starpu_task *task = worker ? worker->caller.task : NULL;

	*text = '\0';
	if (lane)
		snprintf(text, bytes, "%s%s%s on CUDA %d (%s)", task ? " in task \"" : "",
			 task ? task_name(task) : "", task ? "\"" : "",
			 lane->device->is->id, lane->device->is->model);
	return text;
}

void starpu_cuda_report_error(const char *func, const char *file, int line, int status)
{
	const struct node *node = plat_self();
	const struct cuda *cuda = node ? node->plat->cuda : NULL;
	char words[160] = "", where[256];

	if (cuda)
		cuda_words(&cuda->call, status, words, sizeof(words));
	orr_die(rank_of_caller(),
		"%s:%d: %s: CUDA's error %d%s%s%s; what was started before on the device "
		"may have failed: compute-sanitizer finds wrong addresses in kernels",
		file, line, func, status, whereabouts(where, sizeof(where)),
		*words ? ": " : "", words);
}

struct place {
	const char *func, *file;
	int line;
};

static void die_of_status(const struct place *at, const char *library, int status,
			  const char *words) __attribute__((noreturn));

static void die_of_status(const struct place *at, const char *library, int status,
			  const char *words)
{
	char where[256];

	orr_die(rank_of_caller(), "%s:%d: %s: status %d of %s%s: %s", at->file, at->line,
		at->func, status, library, whereabouts(where, sizeof(where)),
		words ? words : "see its documentation");
}

void starpu_cublas_report_error(const char *func, const char *file, int line, int status)
{
	static const char *const names[] = {[1] = "not initialised",
					    [3] = "no memory",
					    [7] = "an argument is invalid",
					    [8] = "the device lacks a feature",
					    [11] = "memory was not mapped",
					    [13] = "a kernel failed",
					    [14] = "an internal operation failed",
					    [15] = "not supported",
					    [16] = "licence error"};

	die_of_status(&(struct place){func, file, line}, "cuBLAS", status,
		      (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status]
									: NULL);
}

void starpu_cusolver_report_error(const char *func, const char *file, int line,
				  int status)
{
	static const char *const names[] = {[1] = "not initialised",
					    [2] = "no memory",
					    [3] = "an argument is invalid",
					    [4] = "the device lacks a feature",
					    [5] = "memory was not mapped",
					    [6] = "a kernel failed",
					    [7] = "an internal operation failed",
					    [8] = "the matrix's type is not supported",
					    [9] = "not supported",
					    [10] = "a pivot is zero",
					    [11] = "licence error"};

	die_of_status(&(struct place){func, file, line}, "cuSOLVER", status,
		      (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status]
									: NULL);
}

/* ---- who calls -------------------------------------------------------- */

void *starpu_cuda_get_local_stream(void)
{
	struct node *node = real_node_for(__func__);
	const struct worker *worker = plat_current_worker(node->plat);
	const struct cuda_lane *lane = worker ? cuda_lane(worker) : NULL;

	if (!lane)
		orr_die(node->rank,
			"%s: called by %s; expected the kernel of a CUDA worker, since "
			"no other has a stream",
			__func__, worker ? "a worker without a GPU" : "no worker");
	return lane->stream;
}

static const struct cuda_device *find_device(const struct plat *plat, unsigned devid)
{
	for (int i = 0; plat->cuda && i < plat->cuda->ndevices; i++)
		if (plat->cuda->each[i].id == (int)devid)
			return &plat->cuda->devices[i];
	return NULL;
}

void starpu_cuda_set_device(unsigned devid)
{
	const struct node *node = real_node_for(__func__);
	const struct cuda_device *device = find_device(node->plat, devid);

	if (!device)
		orr_die(node->rank,
			"%s: CUDA device %u has no worker; expected the number of one "
			"that has, as starpu_worker_get_devids() gives them",
			__func__, devid);
	cuda_check(device, device->cuda->call.set(device->context), __func__);
}

/* NVML's functions, by the names of its binary interface; NULL: it is not there. */
static void *nvml(const char *symbol)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL);

	/* A stand-in for it comes with the program. */
	return dlsym(library ? library : RTLD_DEFAULT, symbol);
}

void *starpu_cuda_get_nvmldev(unsigned devid)
{
	const struct node *node = real_node_for(__func__);
	const struct cuda_device *device = find_device(node->plat, devid);
	void *at = nvml("nvmlInit_v2"), *found = NULL;
	int (*init)(void), (*find)(const char *bus, void **found);

	memcpy(&init, &at, sizeof(at));
	at = nvml("nvmlDeviceGetHandleByPciBusId_v2");
	memcpy(&find, &at, sizeof(at));
	if (!device || !init || !find || init() != 0 ||
	    find(device->is->bus, &found) != 0)
		return NULL;
	return found;
}

void *orrery_cuda_properties(unsigned workerid, size_t bytes, int *devid)
{
	struct node *node = real_node_for("starpu_cuda_get_device_properties");
	struct cuda_device *device = NULL;
	void *fresh;

	if (workerid < (unsigned)node->nworkers)
		device = cuda_at(node->plat, node->workers[workerid].memory);
	if (!device)
		orr_die(node->rank,
			"starpu_cuda_get_device_properties: worker %u is no CUDA worker",
			workerid);
	*devid = device->is->id;
	if (orr_load_ptr(&device->properties))
		return device->properties;
	fresh = orr_alloc(bytes);
	if (orr_cas_ptr(&device->properties, NULL, fresh))
		return fresh;
	free(fresh);
	return device->properties;
}

/* ---- copies ----------------------------------------------------------- */

/* The bytes at one end; the same number of them at both. */
struct end {
	unsigned memory;
	struct layout layout;
};

static int copy(const char *func, const struct end *from, const struct end *to,
		void *stream)
{
	struct node *node = real_node_for(func);
	struct cuda_device *device = cuda_at(node->plat, to->memory);
	struct cuda_device *out = cuda_at(node->plat, from->memory);

	if (!device)
		device = out;
	if (!device)
		orr_die(node->rank,
			"%s: from memory node %u to %u; expected a CUDA device's among "
			"them",
			func, from->memory, to->memory);
	if (layout_bytes(&from->layout) == 0)
		return 0;
	if (!stream)
		return methods_move(NULL, from->memory, to->memory, &from->layout,
				    &to->layout);
	cuda_enter(device);
	cuda_start_rows(&(struct cuda_copy){.device = device,
					    .out = out,
					    .in = cuda_at(node->plat, to->memory),
					    .from = &from->layout,
					    .to = &to->layout,
					    .stream = stream});
	cuda_leave(device);
	return -EAGAIN;
}

int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks_1,
				  size_t ld1_src, size_t ld1_dst, size_t numblocks_2,
				  size_t ld2_src, size_t ld2_dst, void *stream, int kind)
{
	struct end from = {.memory = src_node}, to = {.memory = dst_node};

	(void)kind;
	layout_flat(&from.layout, src_ptr, blocksize);
	layout_flat(&to.layout, dst_ptr, blocksize);
	layout_repeat(&from.layout, numblocks_1, ld1_src);
	layout_repeat(&from.layout, numblocks_2, ld2_src);
	layout_repeat(&to.layout, numblocks_1, ld1_dst);
	layout_repeat(&to.layout, numblocks_2, ld2_dst);
	return copy("starpu_cuda_copy_async_sync", &from, &to, stream);
}

int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks,
				  size_t ld_src, size_t ld_dst, void *stream, int kind)
{
	return starpu_cuda_copy3d_async_sync(src_ptr, src_node, dst_ptr, dst_node,
					     blocksize, numblocks, ld_src, ld_dst, 1, 0,
					     0, stream, kind);
}

int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				unsigned dst_node, size_t ssize, void *stream, int kind)
{
	return starpu_cuda_copy2d_async_sync(src_ptr, src_node, dst_ptr, dst_node, ssize,
					     1, 0, 0, stream, kind);
}
