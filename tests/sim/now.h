/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_NOW_H
#define ORR_TESTS_NOW_H

/*
 * now.h - simulated time as a claim sees it: from since_s on, which it sets or the start,
 * and as dates that the C library's functions wait for.
 */
#include <math.h>
#include <time.h>

#include <starpu.h>

static double since_s;

static inline double now_s(void)
{
	return 1e-6 * starpu_timing_now() - since_s;
}

/* What starpu_init() returns. */
static inline int start_under(const char *policy)
{
	struct starpu_conf conf;
	int ret;

	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	ret = starpu_init(&conf);
	since_s = 0;
	since_s = now_s();
	return ret;
}

static inline struct timespec in(double seconds)
{
	double date_s = 1e-6 * starpu_timing_now() + seconds;
	struct timespec date = {.tv_sec = (time_t)date_s};

	date.tv_nsec = lround((date_s - (double)date.tv_sec) * 1e9);
	return date;
}

#endif
