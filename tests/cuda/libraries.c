/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Several workers on a CUDA device, and handles of cuBLAS and its like for each, on the
 * stand-in for CUDA, whose handles compute nothing.
 */
#include <unistd.h>

#include "../api/claim.h"
#include "on_device.h"

#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#include <standin_handle.h>

int claim_failures;

enum { DEVICES = 2, EACH = 3, WORKERS = DEVICES * EACH, HANDLES = 6 };

static void start(const char *each)
{
	setenv("STARPU_NWORKER_PER_CUDA", each, 1);
	setenv("STARPU_NCPU", "1", 1);
	setenv("STARPU_NCUDA", "2", 1);
	if (starpu_init(NULL) != 0)
		exit(77);
}

/* ---- several workers --------------------------------------------------- */

static cudaStream_t streams[WORKERS];

static void note_stream(void *arg)
{
	(void)arg;
	streams[starpu_worker_get_id()] = starpu_cuda_get_local_stream();
}

static void each_worker_has_a_stream(void)
{
	char name[128];

	start("3");
	CLAIM_EQ(starpu_cuda_worker_get_count(), WORKERS);
	CLAIM_EQ(starpu_memory_nodes_get_count(), 1 + DEVICES);
	starpu_execute_on_each_worker(note_stream, NULL, STARPU_CUDA);
	for (int i = 0; i < WORKERS; i++) {
		CLAIM_EQ(starpu_worker_get_devid(i), i / EACH);
		CLAIM_EQ(starpu_worker_get_subworkerid(i), i % EACH);
		CLAIM_EQ(starpu_worker_get_memory_node((unsigned)i), 1 + i / EACH);
		for (int k = 0; k < i; k++)
			CLAIM(streams[i] && streams[i] != streams[k]);
	}
	starpu_worker_get_name(4, name, sizeof(name));
	CLAIM(!strcmp(name, "CUDA 1.1 (Stand-in 1 0.1 GiB 0000:01:00.0)"));
	CLAIM_EQ(starpu_worker_get_by_devid(STARPU_CUDA_WORKER, 1), EACH);
	CLAIM_EQ(starpu_worker_get_type(WORKERS), STARPU_CPU_WORKER);
	starpu_shutdown();
}

static int nthere; /* atomic: kernels that are running */

/* Ends when all of them run. */
static void meet(const struct launch *launch)
{
	__atomic_add_fetch(&nthere, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&nthere, __ATOMIC_SEQ_CST) < (int)launch->nx)
		usleep(100);
}

static void meet_cuda(void *buffers[], void *arg)
{
	(void)buffers;
	launch_here((struct launch){.func = meet, .nx = *(size_t *)arg});
}

static void kernels_of_a_device_run_together(void)
{
	static struct starpu_codelet meets = {.cuda_funcs = {meet_cuda},
					      .cuda_flags = {STARPU_CUDA_ASYNC},
					      .name = "meets"};
	size_t n = WORKERS;

	start("3");
	for (unsigned i = 0; i < WORKERS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &meets;
		task->cl_arg = &n;
		task->execute_on_a_specific_worker = 1;
		task->workerid = i;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(nthere, WORKERS);
	starpu_shutdown();
}

/* ---- handles ----------------------------------------------------------- */

struct handles {
	standin_handle_t at[HANDLES];
	cudaStream_t old;
};

static struct handles handles[WORKERS + 1];

static void note_handles(void *arg)
{
	struct handles *mine = &handles[starpu_worker_get_id()];

	(void)arg;
	*mine = (struct handles){.at = {starpu_cublas_get_local_handle(),
					starpu_cusparse_get_local_handle(),
					starpu_cusolverDn_get_local_handle(),
					starpu_cusolverSp_get_local_handle(),
					starpu_cusolverRf_get_local_handle(),
					starpu_cublasLt_get_local_handle()}};
	starpu_cublas_set_stream();
	if (starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CUDA_WORKER)
		mine->old = standin_cublas_stream();
}

static void init_all(void)
{
	starpu_cublas_init();
	starpu_cublasLt_init();
	starpu_cusparse_init();
	starpu_cusolver_init();
}

static void check_handles(int worker)
{
	static const char *const names[HANDLES] = {"cublas",     "cusparse",
						   "cusolverDn", "cusolverSp",
						   "cusolverRf", "cublasLt"};

	for (int k = 0; k < HANDLES; k++) {
		const struct standin_handle *handle = handles[worker].at[k];

		CLAIM(!strcmp(handle->library, names[k]));
		CLAIM_EQ(handle->device, worker < WORKERS ? worker / EACH : 0);
		CLAIM(handle->stream ==
		      (worker < WORKERS && k < 4 ? streams[worker] : NULL));
		for (int other = 0; other < worker; other++)
			CLAIM(handle != handles[other].at[k]);
	}
	CLAIM(handles[worker].old == (worker < WORKERS ? streams[worker] : NULL));
}

static void each_worker_has_handles(void)
{
	start("3");
	init_all();
	CLAIM_EQ(standin_nhandles(), HANDLES * (WORKERS + 1));
	starpu_execute_on_each_worker(note_stream, NULL, STARPU_CUDA);
	/* One after the other: cuBLAS without handles has a stream for each device. */
	for (unsigned i = 0; i <= WORKERS; i++)
		starpu_execute_on_specific_workers(note_handles, NULL, 1, &i, "handles");
	for (int i = 0; i <= WORKERS; i++)
		check_handles(i);
	starpu_cublas_shutdown();
	starpu_cublasLt_shutdown();
	starpu_cusparse_shutdown();
	starpu_cusolver_shutdown();
	CLAIM_EQ(standin_nhandles(), 0);
	starpu_shutdown();
}

static void handles_last_for_their_users(void)
{
	start("1");
	starpu_cublas_init();
	starpu_cublas_init();
	starpu_cublas_shutdown();
	CLAIM_EQ(standin_nhandles(), DEVICES + 1);
	CLAIM(starpu_cublas_get_local_handle() != NULL);
	starpu_cublas_shutdown();
	starpu_cublas_shutdown();
	CLAIM_EQ(standin_nhandles(), 0);
	starpu_cublas_init();
	starpu_shutdown();
	CLAIM_EQ(standin_nhandles(), 0);
}

static void without_devices_nothing_happens(void)
{
	init_all();
	setenv("STARPU_NCPU", "1", 1);
	setenv("STARPU_NCUDA", "0", 1);
	if (starpu_init(NULL) != 0)
		exit(77);
	init_all();
	starpu_cublas_set_stream();
	CLAIM_EQ(standin_nhandles(), 0);
	starpu_cublas_shutdown();
	starpu_shutdown();
}

static void nvml_knows_the_devices(void)
{
	start("2");
	CLAIM(!strcmp(starpu_cuda_get_nvmldev(1)->bus, "0000:01:00.0"));
	CLAIM(starpu_cuda_get_nvmldev(2) == NULL);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"each worker of a device has a stream", each_worker_has_a_stream},
		{"kernels of a device's workers run together",
		 kernels_of_a_device_run_together},
		{"each worker has handles", each_worker_has_handles},
		{"handles last for their users", handles_last_for_their_users},
		{"without devices nothing happens", without_devices_nothing_happens},
		{"NVML knows the devices", nvml_knows_the_devices},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
