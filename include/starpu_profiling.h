/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The clock of the run and the times of tasks.  In simulation all times are
 * virtual.  Any thread may call these functions.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_PROFILING_H
#define STARPU_PROFILING_H

#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_PROFILING_DISABLE 0
#define STARPU_PROFILING_ENABLE  1

#define STARPU_NS_PER_S 1000000000

/** Life of a task on the run's clock; zero for what did not happen. */
struct starpu_profiling_task_info {
	struct timespec submit_time;
	struct timespec push_start_time;
	struct timespec push_end_time;
	struct timespec pop_start_time;
	struct timespec pop_end_time;
	struct timespec acquire_data_start_time;
	struct timespec acquire_data_end_time;
	struct timespec start_time;
	struct timespec end_time;
	struct timespec release_data_start_time;
	struct timespec release_data_end_time;
	struct timespec callback_start_time;
	struct timespec callback_end_time;
	int workerid;
	uint64_t used_cycles;
	uint64_t stall_cycles;
	double energy_consumed; /* joules */
};

/** How a worker spent its time. */
struct starpu_profiling_worker_info {
	struct timespec start_time;
	struct timespec total_time;
	struct timespec executing_time;
	struct timespec callback_time;
	struct timespec waiting_time;
	struct timespec sleeping_time;
	struct timespec scheduling_time;
	struct timespec all_executing_time;
	struct timespec all_callback_time;
	struct timespec all_waiting_time;
	struct timespec all_sleeping_time;
	struct timespec all_scheduling_time;
	int executed_tasks;
	uint64_t used_cycles;
	uint64_t stall_cycles;
	double energy_consumed; /* joules */
	double flops;
};

/** What a link between two memory nodes carried. */
struct starpu_profiling_bus_info {
	struct timespec start_time;
	struct timespec total_time;
	int long long transferred_bytes;
	int transfer_count;
};

/** Let tasks submitted from now on note their times, or not; the former status.  Any
 * time, for all lives of the library. */
int starpu_profiling_status_set(int status);

/** STARPU_PROFILING_ENABLE or STARPU_PROFILING_DISABLE. */
int starpu_profiling_status_get(void);

/** Microseconds since an arbitrary origin. */
double starpu_timing_now(void);

/** Microseconds from *start to *end. */
double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end);

/** *ts in microseconds. */
double starpu_timing_timespec_to_us(struct timespec *ts);

/** Set *tsp to zero. */
static __starpu_inline void starpu_timespec_clear(struct timespec *tsp)
{
	tsp->tv_sec = 0;
	tsp->tv_nsec = 0;
}

/** *result = *a + *b; result may be one of them. */
static __starpu_inline void starpu_timespec_add(struct timespec *a, struct timespec *b,
						struct timespec *result)
{
	result->tv_sec = a->tv_sec + b->tv_sec;
	result->tv_nsec = a->tv_nsec + b->tv_nsec;
	if (result->tv_nsec >= STARPU_NS_PER_S) {
		result->tv_sec++;
		result->tv_nsec -= STARPU_NS_PER_S;
	}
}

/** *result += *a. */
static __starpu_inline void starpu_timespec_accumulate(struct timespec *result,
						       struct timespec *a)
{
	starpu_timespec_add(result, a, result);
}

/** *result = *a - *b; result may be one of them. */
static __starpu_inline void starpu_timespec_sub(const struct timespec *a,
						const struct timespec *b,
						struct timespec *result)
{
	result->tv_sec = a->tv_sec - b->tv_sec;
	result->tv_nsec = a->tv_nsec - b->tv_nsec;
	if (result->tv_nsec < 0) {
		result->tv_sec--;
		result->tv_nsec += STARPU_NS_PER_S;
	}
}

/** Compare *a and *b with the operator CMP, as timercmp does. */
#define starpu_timespec_cmp(a, b, CMP)                                                   \
	((a)->tv_sec == (b)->tv_sec ? ((a)->tv_nsec)CMP((b)->tv_nsec)                    \
				    : ((a)->tv_sec)CMP((b)->tv_sec))

/**
 * Write to stderr what is used of each memory node, and the data that were used so far
 * and are registered: what they are, their bytes, the nodes where they have buffers.
 */
void starpu_data_display_memory_stats(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PROFILING_H */
