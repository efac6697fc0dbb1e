/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BENCH_CALIBRATE_GPU_H
#define ORR_BENCH_CALIBRATE_GPU_H

/* calibrate_gpu.h - what the parts of bench/calibrate_gpu share. */
#include <stdio.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

struct device {
	cudaStream_t stream;
	cudaEvent_t start, stop;
	cublasHandle_t blas;
	cusolverDnHandle_t solver;
	int *info; /* on the device */
};

/* Ends the program when the call of CUDA's, cuBLAS's or cuSOLVER's fails. */
#define CHECK(call) check_status((int)(call), #call, __FILE__, __LINE__)
void check_status(int status, const char *call, const char *file, int line);

double now_s(void);

/* Write DIR/costs.HOST.csv: what, n, value, unit.  0, or -1. */
int calibrate_costs(struct device *d, const char *dir, const char *host);

#endif
