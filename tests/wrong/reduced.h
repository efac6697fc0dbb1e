/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_WRONG_REDUCED_H
#define ORR_TESTS_WRONG_REDUCED_H

/* reduced.h - codelets of a reduction. */
#include "wrong.h"

static void sum_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
		*(long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static struct starpu_codelet sum = {.cpu_funcs = {sum_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				    .name = "sum"};
static struct starpu_codelet zero = {.cpu_funcs = {zero_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				     .name = "zero"};
static struct starpu_codelet contribute = {.cpu_funcs = {add_cpu},
					   .nbuffers = 1,
					   .modes = {STARPU_REDUX},
					   .model = &starpu_perfmodel_nop,
					   .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					   .name = "contribute"};

#endif
