/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A program for tests/cli/trace_formats.py: 5 tasks of 2 ms that 2 workers run together,
 * each with both, one after the other.  Prints for how many ms each of them ran kernels.
 */
#include <stdio.h>
#include <unistd.h>

#include <starpu.h>

enum { NTASKS = 5, TASK_US = 2000 };

static void rest(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	usleep(TASK_US);
}

static double microseconds(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
					.cost_function = microseconds};
static struct starpu_codelet together = {.cpu_funcs = {rest},
					 .type = STARPU_SPMD,
					 .max_parallelism = 2,
					 .model = &model,
					 .name = "together"};

static void print_executing(int worker)
{
	struct starpu_profiling_worker_info info;

	starpu_profiling_worker_get_info(worker, &info);
	printf("worker %d: %.3f ms\n", worker,
	       1e3 * (double)info.executing_time.tv_sec +
		       1e-6 * (double)info.executing_time.tv_nsec);
}

int main(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = "peager";
	conf.ncpus = 2;
	if (starpu_init(&conf) != 0)
		return 77;
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&together, 0);
	starpu_task_wait_for_all();
	for (int worker = 0; worker < 2; worker++)
		print_executing(starpu_worker_get_by_type(STARPU_CPU_WORKER, worker));
	starpu_shutdown();
	return 0;
}
