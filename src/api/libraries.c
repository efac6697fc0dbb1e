/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * libraries.c - handles of cuBLAS and its like.  What a machine without such devices has
 * of them is nothing, so nothing is complete there, also before starpu_init().
 */
#include <starpu_cublas.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>
#include <starpu_cusparse.h>

#include "core/node.h"
#include "plat/plat.h"

static void open_library(enum plat_library library)
{
	const struct node *node = plat_self();

	if (node)
		plat_library_open(node->plat, library);
}

static void close_library(enum plat_library library)
{
	const struct node *node = plat_self();

	if (node)
		plat_library_close(node->plat, library);
}

void starpu_cublas_init(void)
{
	open_library(PLAT_CUBLAS);
}

void starpu_cublas_set_stream(void)
{
	const struct node *node = plat_self();

	if (node)
		plat_cublas_stream(node->plat);
}

void starpu_cublas_shutdown(void)
{
	close_library(PLAT_CUBLAS);
}

void starpu_cublasLt_init(void)
{
	open_library(PLAT_CUBLASLT);
}

void starpu_cublasLt_shutdown(void)
{
	close_library(PLAT_CUBLASLT);
}

void starpu_cusparse_init(void)
{
	open_library(PLAT_CUSPARSE);
}

void starpu_cusparse_shutdown(void)
{
	close_library(PLAT_CUSPARSE);
}

void starpu_cusolver_init(void)
{
	open_library(PLAT_CUSOLVER_DN);
	open_library(PLAT_CUSOLVER_SP);
	open_library(PLAT_CUSOLVER_RF);
}

void starpu_cusolver_shutdown(void)
{
	close_library(PLAT_CUSOLVER_DN);
	close_library(PLAT_CUSOLVER_SP);
	close_library(PLAT_CUSOLVER_RF);
}
