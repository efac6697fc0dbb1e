/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Calls around what this library does not have - accelerator libraries, traces, workers
 * made of workers - where doing nothing is the complete answer.
 */
#include <starpu.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>

#include <errno.h>

/* ---- libraries of accelerators: no worker has such a device ----------- */

void starpu_cublas_init(void)
{
}

void starpu_cublas_shutdown(void)
{
}

void starpu_cublasLt_init(void)
{
}

void starpu_cublasLt_shutdown(void)
{
}

void starpu_cusparse_init(void)
{
}

void starpu_cusparse_shutdown(void)
{
}

void starpu_cusolver_init(void)
{
}

void starpu_cusolver_shutdown(void)
{
}

void starpu_hipblas_init(void)
{
}

void starpu_hipblas_shutdown(void)
{
}

/* ---- traces: no event is recorded ------------------------------------- */

void starpu_fxt_autostart_profiling(int autostart)
{
	(void)autostart;
}

void starpu_fxt_start_profiling(void)
{
}

void starpu_fxt_stop_profiling(void)
{
}

int starpu_fxt_is_enabled(void)
{
	return 0;
}

void starpu_fxt_trace_user_event(unsigned long code)
{
	(void)code;
}

void starpu_fxt_trace_user_event_string(const char *s)
{
	(void)s;
}

void starpu_fxt_trace_user_meta_string(const char *s)
{
	(void)s;
}

/* ---- workers made of workers: a task runs on one ---------------------- */

unsigned starpu_combined_worker_get_count(void)
{
	return 0;
}

unsigned starpu_worker_is_combined_worker(int id)
{
	(void)id;
	return 0;
}

int starpu_combined_worker_get_id(void)
{
	return -1;
}

int starpu_combined_worker_get_size(void)
{
	return 1;
}

int starpu_combined_worker_get_rank(void)
{
	return 0;
}

int starpu_combined_worker_get_description(int workerid, int *worker_size,
					   int **combined_workerid)
{
	(void)workerid;
	(void)worker_size;
	(void)combined_workerid;
	return -EINVAL;
}

unsigned starpu_worker_is_blocked_in_parallel(int workerid)
{
	(void)workerid;
	return 0;
}

unsigned starpu_worker_is_slave_somewhere(int workerid)
{
	(void)workerid;
	return 0;
}
