/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dlfcn.h>
#include <string.h>

#include "base/check.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_libraries.c - cuBLAS and its like: a handle of each for each worker of a device,
 * with the worker's stream.
 *
 * A handle is the program's to use, with the functions that it is linked with; so the
 * library's functions are looked for in the program first.  A program that is not linked
 * with the library gets the newest one that is installed.
 */
static const struct source {
	const char *name, *file;
	const char *create, *destroy, *set_stream;
	const char *function; /* by which the application asks for it */
} sources[PLAT_LIBRARIES] = {
	[PLAT_CUBLAS] = {"cuBLAS", "libcublas", "cublasCreate_v2", "cublasDestroy_v2",
			 "cublasSetStream_v2", "starpu_cublas_init"},
	[PLAT_CUBLASLT] = {"cuBLASLt", "libcublasLt", "cublasLtCreate", "cublasLtDestroy",
			   NULL, "starpu_cublasLt_init"},
	[PLAT_CUSPARSE] = {"cuSPARSE", "libcusparse", "cusparseCreate", "cusparseDestroy",
			   "cusparseSetStream", "starpu_cusparse_init"},
	[PLAT_CUSOLVER_DN] = {"cuSOLVER (dense)", "libcusolver", "cusolverDnCreate",
			      "cusolverDnDestroy", "cusolverDnSetStream",
			      "starpu_cusolver_init"},
	[PLAT_CUSOLVER_SP] = {"cuSOLVER (sparse)", "libcusolver", "cusolverSpCreate",
			      "cusolverSpDestroy", "cusolverSpSetStream",
			      "starpu_cusolver_init"},
	[PLAT_CUSOLVER_RF] = {"cuSOLVER (refactorisation)", "libcusolver",
			      "cusolverRfCreate", "cusolverRfDestroy", NULL,
			      "starpu_cusolver_init"},
};
enum { NEWEST_RELEASE = 14, OLDEST_RELEASE = 10 };

/* ---- their functions -------------------------------------------------- */

static void *open_file(const char *file)
{
	char name[64];
	void *library = NULL;

	for (int i = NEWEST_RELEASE; !library && i >= OLDEST_RELEASE; i--) {
		snprintf(name, sizeof(name), "%s.so.%d", file, i);
		library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	}
	return library;
}

static void find(void *library, const char *symbol, void *function)
{
	void *at = symbol ? dlsym(library, symbol) : NULL;

	memcpy(function, &at, sizeof(at));
}

/* 1: found; else create is NULL. */
static int find_library(struct cuda_library *library, const struct source *from)
{
	void *where = RTLD_DEFAULT;

	if (!dlsym(where, from->create))
		where = open_file(from->file);
	find(where, from->create, &library->create);
	find(where, from->destroy, &library->destroy);
	find(where, from->set_stream, &library->set_stream);
	return library->create && library->destroy;
}

/* What older programs call without a handle; 0 where cuBLAS has it no more. */
static int call_old(const char *symbol, void *stream)
{
	int (*function)(void *stream);

	find(RTLD_DEFAULT, symbol, &function);
	return function ? function(stream) : 0;
}

/* ---- handles ---------------------------------------------------------- */

static void check(const struct cuda_device *device, const struct source *from, int status)
{
	if (status == 0)
		return;
	orr_die(device->cuda->plat->node->rank,
		"%s: %s has status %d on CUDA %d (%s); it wants memory of its own there: "
		"leave some to it (STARPU_LIMIT_CUDA_MEM, in MiB), and look whether its "
		"release fits the driver's (orrery doctor)",
		from->function, from->name, status, device->is->id, device->is->model);
}

static void *make(const struct cuda_library *library, const struct source *from,
		  const struct cuda_device *device, void *stream)
{
	void *handle = NULL;

	check(device, from, library->create(&handle));
	if (stream && library->set_stream)
		check(device, from, library->set_stream(handle, stream));
	return handle;
}

static void make_all(struct cuda *cuda, enum plat_library which)
{
	const struct source *from = &sources[which];
	struct cuda_library *library = &cuda->libraries[which];

	for (int i = 0; i < cuda->ndevices; i++) {
		struct cuda_device *device = &cuda->devices[i];

		cuda_enter(device);
		for (int k = 0; k < cuda->nlanes; k++)
			device->lanes[k].handles[which] =
				make(library, from, device, device->lanes[k].stream);
		if (i == 0)
			library->handle = make(library, from, device, NULL);
		if (which == PLAT_CUBLAS)
			check(device, from, call_old("cublasInit", NULL));
		cuda_leave(device);
	}
}

static void end(const struct cuda_library *library, void **handle)
{
	/* A device that was lost has no handle to end: nothing is to be done about it. */
	if (*handle)
		library->destroy(*handle);
	*handle = NULL;
}

static void end_all(struct cuda *cuda, enum plat_library which)
{
	struct cuda_library *library = &cuda->libraries[which];

	for (int i = 0; i < cuda->ndevices; i++) {
		struct cuda_device *device = &cuda->devices[i];

		cuda_enter(device);
		for (int k = 0; k < cuda->nlanes; k++)
			end(library, &device->lanes[k].handles[which]);
		if (i == 0)
			end(library, &library->handle);
		if (which == PLAT_CUBLAS && library->destroy)
			call_old("cublasShutdown", NULL);
		cuda_leave(device);
	}
}

void plat_library_open(struct plat *plat, enum plat_library which)
{
	struct cuda *cuda = plat->cuda;
	const struct source *from = &sources[which];

	if (!cuda)
		return;
	orr_lock(&cuda->libraries_lock);
	if (cuda->libraries[which].nusers++ == 0) {
		if (find_library(&cuda->libraries[which], from))
			make_all(cuda, which);
		else
			orr_complain(plat->node->rank,
				     "%s: %s is neither linked with the program nor "
				     "found as %s.so.%d to .%d (%s); going on: kernels "
				     "that ask for its handle will end the program",
				     from->function, from->name, from->file,
				     OLDEST_RELEASE, NEWEST_RELEASE, "LD_LIBRARY_PATH");
	}
	orr_unlock(&cuda->libraries_lock);
}

void plat_library_close(struct plat *plat, enum plat_library which)
{
	struct cuda *cuda = plat->cuda;
	struct cuda_library *library = cuda ? &cuda->libraries[which] : NULL;

	if (!cuda)
		return;
	orr_lock(&cuda->libraries_lock);
	if (library->nusers > 0 && --library->nusers == 0)
		end_all(cuda, which);
	orr_unlock(&cuda->libraries_lock);
}

void cuda_libraries_close(struct cuda *cuda)
{
	for (int i = 0; i < PLAT_LIBRARIES; i++)
		if (cuda->libraries[i].nusers > 0)
			end_all(cuda, (enum plat_library)i);
}

/* ---- who asks --------------------------------------------------------- */

void *starpu_cublas_get_local_handle(void);
void *starpu_cublasLt_get_local_handle(void);
void *starpu_cusparse_get_local_handle(void);
void *starpu_cusolverDn_get_local_handle(void);
void *starpu_cusolverSp_get_local_handle(void);
void *starpu_cusolverRf_get_local_handle(void);

static void *local_handle(const char *func, enum plat_library which)
{
	struct node *node = real_node_for(func);
	const struct worker *worker = plat_current_worker(node->plat);
	const struct cuda_lane *lane = worker ? cuda_lane(worker) : NULL;
	struct cuda *cuda = node->plat->cuda;
	void *handle = lane ? lane->handles[which] : NULL;

	if (!lane && cuda)
		handle = cuda->libraries[which].handle;
	if (!handle)
		orr_die(node->rank,
			"%s: there is no handle of %s: %s; expected %s() between "
			"starpu_init() and this call",
			func, sources[which].name,
			!cuda                            ? "no worker has a GPU"
			: !cuda->libraries[which].nusers ? "nobody has asked for one"
							 : "the library was not found",
			sources[which].function);
	return handle;
}

void *starpu_cublas_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUBLAS);
}

void *starpu_cublasLt_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUBLASLT);
}

void *starpu_cusparse_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUSPARSE);
}

void *starpu_cusolverDn_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUSOLVER_DN);
}

void *starpu_cusolverSp_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUSOLVER_SP);
}

void *starpu_cusolverRf_get_local_handle(void)
{
	return local_handle(__func__, PLAT_CUSOLVER_RF);
}

void plat_cublas_stream(struct plat *plat)
{
	const struct worker *worker = plat_current_worker(plat);
	const struct cuda_lane *lane = worker ? cuda_lane(worker) : NULL;

	if (lane)
		check(lane->device, &sources[PLAT_CUBLAS],
		      call_old("cublasSetKernelStream", lane->stream));
}
