/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What it takes to decide for one simulated node with many workers: tasks that are all
 * ready, submitted at once, and run.
 *
 * usage: deciding-sim [NTASKS], with STARPU_SCHED; prints tasks per second of the host's
 * user time, from the first insertion to the last end.
 *
 * A task reads two of a few tiles and writes one of its own, with one of four priorities;
 * a GPU is 30 times faster than a core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <orrery.h>
#include <starpu.h>

enum { NREAD = 16, NPRIORITIES = 4, ORDER = 64 };

static double by_arch_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned implementation)
{
	(void)task;
	(void)implementation;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 3000 : 100;
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = by_arch_us, .symbol = "deciding"};

static void never_called(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static struct starpu_codelet product = {
	.cpu_funcs = {never_called},
	.cuda_funcs = {never_called},
	.cuda_flags = {STARPU_CUDA_ASYNC},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_W},
	.model = &model,
	.name = "product",
};

static void insert_all(const starpu_data_handle_t *read, const starpu_data_handle_t *own,
		       int ntasks)
{
	for (int i = 0; i < ntasks; i++)
		starpu_task_insert(&product, STARPU_R, read[i % NREAD], STARPU_R,
				   read[i / NREAD % NREAD], STARPU_W, own[i],
				   STARPU_PRIORITY, i % NPRIORITIES, 0);
}

static double user_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

int main(int argc, char **argv)
{
	int ntasks = argc > 1 ? atoi(argv[1]) : 100000;
	starpu_data_handle_t read[NREAD], *own;
	float *tiles[NREAD];
	double start_s;

	if (starpu_init(NULL))
		return 77;
	own = malloc((size_t)ntasks * sizeof(starpu_data_handle_t));
	for (int i = 0; i < NREAD; i++) {
		starpu_malloc((void **)&tiles[i], ORDER * ORDER * sizeof(float));
		starpu_matrix_data_register(&read[i], STARPU_MAIN_RAM,
					    (uintptr_t)tiles[i], ORDER, ORDER, ORDER,
					    sizeof(float));
	}
	for (int i = 0; i < ntasks; i++)
		starpu_matrix_data_register(&own[i], -1, 0, ORDER, ORDER, ORDER,
					    sizeof(float));
	start_s = user_s();
	insert_all(read, own, ntasks);
	starpu_task_wait_for_all();
	printf("%u workers: %.0f tasks/s, %.6f s simulated\n", starpu_worker_get_count(),
	       ntasks / (user_s() - start_s), orrery_virtual_time());
	for (int i = 0; i < ntasks; i++)
		starpu_data_unregister_no_coherency(own[i]);
	for (int i = 0; i < NREAD; i++) {
		starpu_data_unregister(read[i]);
		starpu_free_noflag(tiles[i], ORDER * ORDER * sizeof(float));
	}
	free(own);
	starpu_shutdown();
	return 0;
}
