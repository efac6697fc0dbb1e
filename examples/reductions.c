/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The dot product of two vectors, and the least product of two of their elements: the
 * tasks, one for each part of the vectors, contribute to both and wait for nobody.
 */
#include <float.h>
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>

enum { N = 10000, NPARTS = 20, PART = N / NPARTS };

#define VALUE(buffer) (*(double *)STARPU_VARIABLE_GET_PTR(buffer))

static void contribute_cpu(void *buffers[], void *arg)
{
	const double *x = (const double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const double *y = (const double *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++) {
		VALUE(buffers[2]) += x[i] * y[i];
		if (x[i] * y[i] < VALUE(buffers[3]))
			VALUE(buffers[3]) = x[i] * y[i];
	}
}

/* How two sums are combined, and what a sum of nothing is. */
static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	VALUE(buffers[0]) += VALUE(buffers[1]);
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void)arg;
	VALUE(buffers[0]) = 0;
}

/* The same for minima. */
static void least_cpu(void *buffers[], void *arg)
{
	(void)arg;
	if (VALUE(buffers[1]) < VALUE(buffers[0]))
		VALUE(buffers[0]) = VALUE(buffers[1]);
}

static void infinity_cpu(void *buffers[], void *arg)
{
	(void)arg;
	VALUE(buffers[0]) = DBL_MAX;
}

#define INIT(function)                                                                   \
	{                                                                                \
		.cpu_funcs = {function##_cpu}, .nbuffers = 1, .modes = {STARPU_W},       \
		.model = &starpu_perfmodel_nop, .name = #function                        \
	}
#define COMBINE(function)                                                                \
	{                                                                                \
		.cpu_funcs = {function##_cpu}, .nbuffers = 2,                            \
		.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},                         \
		.model = &starpu_perfmodel_nop, .name = #function                        \
	}

static struct starpu_codelet zero = INIT(zero), infinity = INIT(infinity);
static struct starpu_codelet add = COMBINE(add), least = COMBINE(least);
static struct starpu_codelet contribute = {
	.cpu_funcs = {contribute_cpu},
	.nbuffers = 4,
	.modes = {STARPU_R, STARPU_R, STARPU_REDUX, STARPU_REDUX},
	.model = &starpu_perfmodel_nop,
	.name = "contribute",
};

static double x[N], y[N];

static void register_part(starpu_data_handle_t *handle, double *vector, int part)
{
	starpu_vector_data_register(handle, STARPU_MAIN_RAM,
				    (uintptr_t)(vector + part * PART), PART,
				    sizeof *vector);
}

int main(void)
{
	/* Values are computed for real, and in a simulation with ORRERY_EXECUTE=1. */
	starpu_data_handle_t sum_handle, minimum_handle, parts[NPARTS][2];
	double sum = 0, minimum = DBL_MAX, expected = 0;
	int executes, wrong;

	if (starpu_init(NULL))
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	for (int i = 0; i < N; i++) {
		x[i] = i % 17 - 8;
		y[i] = i % 5;
		expected += x[i] * y[i];
	}
	starpu_variable_data_register(&sum_handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
				      sizeof sum);
	starpu_data_set_reduction_methods(sum_handle, &add, &zero);
	starpu_variable_data_register(&minimum_handle, STARPU_MAIN_RAM,
				      (uintptr_t)&minimum, sizeof minimum);
	starpu_data_set_reduction_methods(minimum_handle, &least, &infinity);
	for (int part = 0; part < NPARTS; part++) {
		register_part(&parts[part][0], x, part);
		register_part(&parts[part][1], y, part);
		starpu_task_insert(&contribute, STARPU_R, parts[part][0], STARPU_R,
				   parts[part][1], STARPU_REDUX, sum_handle, STARPU_REDUX,
				   minimum_handle, 0);
	}
	for (int part = 0; part < NPARTS; part++) {
		starpu_data_unregister(parts[part][0]);
		starpu_data_unregister(parts[part][1]);
	}
	starpu_data_unregister(sum_handle); /* combines what was contributed */
	starpu_data_unregister(minimum_handle);
	wrong = executes && (sum != expected || minimum != -32);
	printf("reductions: dot product %g, least product %g%s\n", sum, minimum,
	       wrong ? ": wrong" : "");
	starpu_shutdown();
	return wrong;
}
