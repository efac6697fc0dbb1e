/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef BENCH_STENCIL_H
#define BENCH_STENCIL_H

/* stencil.h - the step of both stencils, which takes step_us, and their arguments. */
#include <stdlib.h>

#include <starpu.h>

static double step_us;

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return step_us;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet step_codelet = {.cpu_funcs = {nothing},
					     .nbuffers = STARPU_VARIABLE_NBUFFERS,
					     .model = &model,
					     .name = "step"};

static int argument(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

#endif
