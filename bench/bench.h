/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/*
 * bench.h - what the benchmarks share.  They compile with Orrery and with StarPU 1.3,
 * and print lines "bench,case,unit,value" that bench/run puts side by side.
 */
#include <stdio.h>
#include <time.h>

static inline double bench_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static inline void bench_print(const char *bench, const char *name, const char *unit,
			       double value)
{
	printf("%s,%s,%s,%.6g\n", bench, name, unit, value);
	fflush(stdout);
}

#endif
