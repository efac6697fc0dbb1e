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
