/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BENCH_GPU_CHOLESKY_KERNELS_H
#define ORR_BENCH_GPU_CHOLESKY_KERNELS_H

/*
 * gpu_cholesky_kernels.h - the four kernels of bench/gpu_cholesky on a GPU, on square
 * tiles of doubles: with cuBLAS and cuSOLVER, or declared for a simulation, which asks
 * their models only.
 */

/* potrf: RW A; trsm: R A, RW B = B A^-T; syrk: R A, RW C -= A A^T;
 * gemm: R A, R B, RW C -= A B^T. */
void gpu_potrf(void *buffers[], void *arg);
void gpu_trsm(void *buffers[], void *arg);
void gpu_syrk(void *buffers[], void *arg);
void gpu_gemm(void *buffers[], void *arg);

/* After starpu_init(), and before starpu_shutdown(): what the kernels need on each
 * worker for tiles of so many rows. */
void gpu_kernels_open(int tile_rows);
void gpu_kernels_close(void);

/* 1: the kernels compute values. */
int gpu_kernels_compute(void);

#endif
