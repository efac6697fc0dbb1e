/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a contribution costs: many tasks that add one to the same variable, up to the
 * sum in main memory.
 *
 * usage: reduction [NTASKS], with STARPU_NCPU and STARPU_SCHED
 */
#include <stdlib.h>

#include <starpu.h>

#include "bench.h"

enum { ROUNDS = 9 };

static void zero(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void add(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
		*(const long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet neutral = {
	.cpu_funcs = {zero}, .nbuffers = 1, .modes = {STARPU_W}, .name = "neutral"};
/* StarPU 1.3 wants the first without COMMUTE, 1.4 with it. */
#if STARPU_MINOR_VERSION < 4
#define INTO STARPU_RW
#else
#define INTO STARPU_RW | STARPU_COMMUTE
#endif
static struct starpu_codelet combine = {
	.cpu_funcs = {add}, .nbuffers = 2, .modes = {INTO, STARPU_R}, .name = "combine"};
static struct starpu_codelet contribute = {.cpu_funcs = {add_one},
					   .nbuffers = 1,
					   .modes = {STARPU_REDUX},
					   .name = "contribute"};

/* The fastest of several rounds, after one that warms up. */
static double measure(unsigned ntasks)
{
	double best_s = 1e9;

	for (int round = 0; round <= ROUNDS; round++) {
		starpu_data_handle_t sum;
		double start_s;
		long value = 0;

		starpu_variable_data_register(&sum, STARPU_MAIN_RAM, (uintptr_t)&value,
					      sizeof value);
		starpu_data_set_reduction_methods(sum, &combine, &neutral);
		start_s = bench_now_s();
		for (unsigned i = 0; i < ntasks; i++)
			starpu_task_insert(&contribute, STARPU_REDUX, sum, 0);
		starpu_data_acquire(sum, STARPU_R);
		if (round && bench_now_s() - start_s < best_s)
			best_s = bench_now_s() - start_s;
		starpu_data_release(sum);
		starpu_data_unregister(sum);
		if (value != (long)ntasks) {
			fprintf(stderr, "reduction: the sum is %ld, not %u\n", value,
				ntasks);
			exit(1);
		}
	}
	return best_s;
}

int main(int argc, char **argv)
{
	unsigned ntasks = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;

	if (starpu_init(NULL))
		return 77;
	bench_print("reduction", "contributions to one variable", "us/task",
		    measure(ntasks) / ntasks * 1e6);
	starpu_shutdown();
	return 0;
}
