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

/** Life of a task on the run's clock; zero for what did not happen.  Pushing and popping
 * begin and end at the same date. */
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

/**
 * How a worker spent its time since it was asked last.  Of what applies at once, the
 * first counts: executing, callbacks, waiting for the data of a task that it has taken,
 * sleeping for want of tasks; scheduling is the rest.  So these five add up to
 * total_time.  all_* count also where an earlier one applies: data that travel while a
 * kernel runs.
 */
struct starpu_profiling_worker_info {
	struct timespec start_time; /* on the run's clock */
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
	int executed_tasks;    /* while profiling is off, too */
	uint64_t used_cycles;  /* 0 */
	uint64_t stall_cycles; /* 0 */
	/* Joules: what kernels noted in task->profiling_info->energy_consumed; in
	 * simulation, where they did not, what energy models expect. */
	double energy_consumed;
	double flops; /* task->flops, in sum */
};

/** What a link between two memory nodes carried since it was asked last. */
struct starpu_profiling_bus_info {
	struct timespec start_time; /* on the run's clock */
	struct timespec total_time;
	int long long transferred_bytes;
	int transfer_count;
};

/** Enabled if STARPU_PROFILING says so, else it stays as it is; when it is enabled,
 * counters begin again. */
void starpu_profiling_init(void);

/** The number of this process among those that write to one place; files of ours are
 * named by host, process and rank, so nothing is to be set. */
void starpu_profiling_set_id(int new_id);

/**
 * STARPU_PROFILING_ENABLE: let tasks submitted from now on note their times, and begin to
 * count what workers and links do; counters start at zero.  STARPU_PROFILING_DISABLE:
 * stop both; counters keep their values until they are asked.  Returns the former status.
 * Any time, for all lives of the library.
 */
int starpu_profiling_status_set(int status);

/** STARPU_PROFILING_ENABLE or STARPU_PROFILING_DISABLE. */
int starpu_profiling_status_get(void);

/** Fill *worker_info, unless it is NULL, and set the worker's counters to zero.  All is
 * zero when profiling was never enabled.  0, or -EINVAL when there is no such worker. Any
 * thread. */
int starpu_profiling_worker_get_info(int workerid,
				     struct starpu_profiling_worker_info *worker_info);

/** With STARPU_WORKER_STATS=1, write how the workers spent their time since they were
 * asked last: to stderr, or to STARPU_WORKER_STATS_FILE.  starpu_shutdown() does it, too.
 */
void starpu_profiling_worker_helper_display_summary(void);

/** With STARPU_BUS_STATS=1, write what the links carried since they were asked last: to
 * stderr, or to STARPU_BUS_STATS_FILE.  starpu_shutdown() does it, too. */
void starpu_profiling_bus_helper_display_summary(void);

/** How many links there are: one from each memory node to each other one that it
 * exchanges values with directly. */
int starpu_bus_get_count(void);

/** The link from src to dst, from 0 to the count; -1 when values stop elsewhere between
 * them. */
int starpu_bus_get_id(int src, int dst);

/** The ends of a link; -EINVAL when there is none with that number. */
int starpu_bus_get_src(int busid);
int starpu_bus_get_dst(int busid);

/** Does it join two devices without passing the main memory?  Known, unless it was set:
 * what programs note themselves has no effect on transfers. */
void starpu_bus_set_direct(int busid, int direct);
int starpu_bus_get_direct(int busid);

/** How many devices share it: all that have their own memory, unless it was set. */
void starpu_bus_set_ngpus(int busid, int ngpus);
int starpu_bus_get_ngpus(int busid);

/** Fill *bus_info, unless it is NULL, and set the link's counters to zero.  0, or -EINVAL
 * when there is no such link. */
int starpu_bus_get_profiling_info(int busid, struct starpu_profiling_bus_info *bus_info);

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
