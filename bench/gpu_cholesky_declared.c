/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>

#include "gpu_cholesky_kernels.h"

static void refuse(const char *name)
{
	fprintf(stderr, "gpu_cholesky: %s is declared for simulations only\n", name);
	abort();
}

void gpu_potrf(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	refuse(__func__);
}

void gpu_trsm(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	refuse(__func__);
}

void gpu_syrk(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	refuse(__func__);
}

void gpu_gemm(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	refuse(__func__);
}

void gpu_kernels_open(int tile_rows)
{
	(void)tile_rows;
}

void gpu_kernels_close(void)
{
}

int gpu_kernels_compute(void)
{
	return 0;
}
