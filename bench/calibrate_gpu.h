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
	cudaEvent_t before, start, stop;
	cublasHandle_t blas;
	cusolverDnHandle_t solver;
	int *info; /* on the device */
	/* Written over before each kernel; more than the caches of the device have. */
	void *cover;
	size_t cover_bytes;
};

/* Ends the program when the call of CUDA's, cuBLAS's or cuSOLVER's fails. */
#define CHECK(call) check_status((int)(call), #call, __FILE__, __LINE__)
void check_status(int status, const char *call, const char *file, int line);

double now_s(void);

struct limits {
	int largest, runs; /* the largest tile; the fewest runs of each measurement */
	double enough_ms;  /* no more runs after that */
	double end_s;      /* nothing begins after that; 0: no end */
};

/* A file of measurements, one a line, which an earlier run may have begun. */
struct table {
	const char *path;
	struct limits limits;
	FILE *f;
	char *known; /* what it had at the beginning */
	int nleft;   /* that were not begun */
};

/* Ends the program when the file cannot be read and written, or has another header. */
void table_open(struct table *table, const char *header);
/* 1: no line begins with this, and there is time. */
int table_wants(struct table *table, const char *key);
void table_add(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* How many were not begun. */
int table_close(struct table *table);

/* Lines "what,n,value,unit". */
void calibrate_costs(struct device *d, struct table *table);

#endif
