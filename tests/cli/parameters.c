/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * parameters WHAT M N [M N ...]: tasks whose model is a sum over two parameters.
 * run: execute and measure; inject: say that they took 5 + M N / 4 + M^2 / 2 us; expect:
 * print what is expected, and how long executing took; narrow: expect, with one
 * combination.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

static void kernel(void *buffers[], void *arg)
{
	const int *size = arg;
	volatile int sum = 0;

	(void)buffers;
	for (int i = 0; i < size[0] * size[1]; i++)
		sum = sum + i;
}

static void parameters(struct starpu_task *task, double *values)
{
	const int *size = task->cl_arg;

	values[0] = size[0];
	values[1] = size[1];
}

static const char *names[] = {"M", "N"};
static unsigned product[] = {1, 1}, square[] = {2, 0};
static unsigned *combinations[] = {product, square};
static struct starpu_perfmodel model = {.type = STARPU_MULTIPLE_REGRESSION_BASED,
					.symbol = "summed",
					.parameters = parameters,
					.parameters_names = names,
					.nparameters = 2,
					.combinations = combinations,
					.ncombinations = 2};
static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .model = &model, .name = "summed"};

static struct starpu_perfmodel_arch *cpu(void)
{
	return starpu_worker_get_perf_archtype(
		starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
}

static void one(const char *what, int m, int n)
{
	struct starpu_task *task = starpu_task_create();
	int size[2] = {m, n};
	double before, expected;

	task->cl = &codelet;
	task->cl_arg = size;
	task->cl_arg_size = sizeof(size);
	task->destroy = 0;
	task->detach = 0;
	if (!strcmp(what, "inject")) {
		starpu_perfmodel_update_history(&model, task, cpu(), 0, 0,
						5 + 0.25 * m * n + 0.5 * m * m);
		starpu_task_destroy(task);
		return;
	}
	expected = starpu_task_expected_length(task, cpu(), 0);
	before = starpu_timing_now();
	if (starpu_task_submit(task) || starpu_task_wait(task))
		exit(1);
	if (strcmp(what, "run"))
		printf("%d %d: expected %.6g us, took %.6g us\n", m, n, expected,
		       starpu_timing_now() - before);
	starpu_task_destroy(task);
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[1], "narrow"))
		model.ncombinations = 1;
	if (starpu_init(NULL) != 0)
		return 77;
	for (int i = 2; i + 1 < argc; i += 2)
		one(argv[1], atoi(argv[i]), atoi(argv[i + 1]));
	starpu_shutdown();
	return 0;
}
