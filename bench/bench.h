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

/*
 * What a program pays for each of many: the mean of sorted samples.  Those of ten times
 * the median and more are another thread's, which had the core.
 */
static inline double bench_mean(const double *sorted, int n)
{
	double sum = 0;
	int of = 0;

	while (of < n && (of <= n / 2 || sorted[of] < 10 * sorted[n / 2]))
		sum += sorted[of++];
	return of > 0 ? sum / of : 0;
}

static inline void bench_print(const char *bench, const char *name, const char *unit,
			       double value)
{
	printf("%s,%s,%s,%.6g\n", bench, name, unit, value);
	fflush(stdout);
}

#endif
