/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What it costs to cut a vector into parts and to put it together again.
 *
 * usage: partitions [NPARTS], with STARPU_NCPU=1
 */
#include <stdlib.h>

#include <starpu.h>

#include "bench.h"

enum { ROUNDS = 20, CHANGES = 10 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet one = {
	.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}};

static starpu_data_handle_t whole, *parts;
static unsigned nparts = 1000;

static void synchronous(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = nparts};

	starpu_data_partition(whole, &f);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
}

static void planned(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = nparts};

	starpu_data_partition_plan(whole, &f, parts);
	starpu_data_partition_submit(whole, nparts, parts);
	starpu_data_unpartition_submit(whole, nparts, parts, STARPU_MAIN_RAM);
	starpu_data_partition_clean(whole, nparts, parts);
	starpu_task_wait_for_all();
}

static void plan(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = nparts};

	starpu_data_partition_plan(whole, &f, parts);
}

/* To the parts and back, of a partition that stays. */
static void changes(void)
{
	for (int i = 0; i < CHANGES; i++) {
		starpu_data_partition_submit(whole, nparts, parts);
		starpu_data_unpartition_submit(whole, nparts, parts, STARPU_MAIN_RAM);
	}
	starpu_task_wait_for_all();
}

static void clean(void)
{
	starpu_data_partition_clean(whole, nparts, parts);
	starpu_task_wait_for_all();
}

/* For comparison: an empty task on each part of a synchronous partition. */
static void tasks(void)
{
	for (unsigned i = 0; i < nparts; i++)
		starpu_task_insert(&one, STARPU_RW, starpu_data_get_child(whole, i), 0);
	starpu_task_wait_for_all();
}

static void measure(const char *name, void (*call)(void), unsigned n)
{
	double best_s = 1e9;

	for (int round = 0; round <= ROUNDS; round++) {
		double start = bench_now_s(), duration_s;

		call();
		duration_s = bench_now_s() - start;
		if (round && duration_s < best_s)
			best_s = duration_s;
	}
	bench_print("partitions", name, "us", 1e6 * best_s / n);
}

int main(int argc, char **argv)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block};
	int *values;

	if (argc > 1)
		nparts = (unsigned)atoi(argv[1]);
	if (starpu_init(NULL) != 0)
		return 77;
	values = calloc(4 * nparts, sizeof(*values));
	parts = malloc(nparts * sizeof(starpu_data_handle_t));
	starpu_vector_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)values,
				    4 * nparts, sizeof(*values));
	measure("partition and unpartition", synchronous, 1);
	measure("plan; submit; unpartition; clean", planned, 1);
	plan();
	measure("to the parts or back", changes, 2 * CHANGES);
	clean();
	f.nchildren = nparts;
	starpu_data_partition(whole, &f);
	measure("an empty task on each part", tasks, 1);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	starpu_shutdown();
	free(parts);
	free(values);
	return 0;
}
