/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Calls around what this library does not have - accelerator libraries, workers made
 * of workers - where doing nothing is the complete answer.
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
