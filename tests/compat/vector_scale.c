/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Scaling of vectors: cl_arg, a model by history, a policy by name, dates. */
#include <starpu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NX     20480
#define NITER  20
#define FACTOR 1.5f

static void scal_cpu_func(void *buffers[], void *cl_arg)
{
	struct starpu_vector_interface *vector = buffers[0];
	unsigned n = STARPU_VECTOR_GET_NX(vector), i;
	float *val = (float *)STARPU_VECTOR_GET_PTR(vector);
	float *factor = cl_arg;

	STARPU_ASSERT(STARPU_VECTOR_GET_ELEMSIZE(vector) == sizeof(float));
	for (i = 0; i < n; i++)
		val[i] *= *factor;
}

static void axpy_cpu_func(void *buffers[], void *cl_arg)
{
	float alpha, *x, *y;
	unsigned i, n = STARPU_VECTOR_GET_NX(buffers[0]);

	starpu_codelet_unpack_args(cl_arg, &alpha);
	x = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
	y = (float *)STARPU_VECTOR_GET_PTR(buffers[1]);
	for (i = 0; i < n; i++)
		y[i] += alpha * x[i];
}

static struct starpu_perfmodel scal_model = {
	.type = STARPU_HISTORY_BASED,
	.symbol = "compat_vector_scale",
};

static double axpy_cost(struct starpu_task *task, unsigned nimpl)
{
	(void)nimpl;
	return starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 0)) * 1e-3;
}

static struct starpu_perfmodel axpy_model = {
	.type = STARPU_COMMON,
	.cost_function = axpy_cost,
	.symbol = "compat_axpy",
};

static struct starpu_codelet scal_cl = {
	.where = STARPU_CPU,
	.cpu_funcs = {scal_cpu_func},
	.cpu_funcs_name = {"scal_cpu_func"},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &scal_model,
	.name = "scal",
};

static struct starpu_codelet axpy_cl = {
	.cpu_funcs = {axpy_cpu_func},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_RW},
	.model = &axpy_model,
};

static int scale(starpu_data_handle_t handle, float *factor)
{
	struct starpu_task *task = starpu_task_create();
	int ret;

	task->cl = &scal_cl;
	task->handles[0] = handle;
	task->cl_arg = factor;
	task->cl_arg_size = sizeof(*factor);
	ret = starpu_task_submit(task);
	if (ret != -ENODEV)
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	return ret;
}

static int compute(float *x, float *y)
{
	static float factor = FACTOR;
	float alpha = 2.0f;
	starpu_data_handle_t x_handle, y_handle;
	int ret, i;

	starpu_vector_data_register(&x_handle, STARPU_MAIN_RAM, (uintptr_t)x, NX,
				    sizeof(x[0]));
	starpu_vector_data_register(&y_handle, STARPU_MAIN_RAM, (uintptr_t)y, NX,
				    sizeof(y[0]));
	STARPU_ASSERT(starpu_vector_get_nx(x_handle) == NX);
	STARPU_ASSERT(starpu_vector_get_local_ptr(x_handle) == (uintptr_t)x);
	for (i = 0; i < NITER; i++)
		if (scale(x_handle, &factor) == -ENODEV)
			return -ENODEV;
	ret = starpu_insert_task(&axpy_cl, STARPU_R, x_handle, STARPU_RW, y_handle,
				 STARPU_VALUE, &alpha, sizeof(alpha), STARPU_PRIORITY,
				 STARPU_MAX_PRIO, STARPU_FLOPS, (double)2 * NX, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_insert_task");
	starpu_data_unregister(x_handle);
	starpu_data_unregister(y_handle);
	return 0;
}

static int wrong(const float *x, const float *y)
{
	float want = powf(FACTOR, NITER);
	int i;

#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	for (i = 0; i < NX; i++)
		if (fabsf(x[i] - want) > 1e-3f * want ||
		    fabsf(y[i] - 2 * want - 1.0f) > 1e-3f * want) {
			fprintf(stderr, "[%d] %f %f, expected %f\n", i, x[i], y[i], want);
			return 1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct starpu_conf conf;
	float *x, *y;
	double start, end;
	int ret, i;

	starpu_conf_init(&conf);
	conf.sched_policy_name = argc > 1 ? argv[1] : "dmda";
	conf.ncpus = 2;
	conf.calibrate = 1;
	ret = starpu_init(&conf);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	starpu_malloc((void **)&x, NX * sizeof(x[0]));
	starpu_malloc((void **)&y, NX * sizeof(y[0]));
	for (i = 0; i < NX; i++)
		x[i] = y[i] = 1.0f;

	start = starpu_timing_now();
	ret = compute(x, y);
	end = starpu_timing_now();
	fprintf(stderr, "%d tasks in %.1f us\n", NITER + 1, end - start);

	if (ret == 0)
		ret = wrong(x, y) || end <= start;
	starpu_free_noflag(x, NX * sizeof(x[0]));
	starpu_free_noflag(y, NX * sizeof(y[0]));
	starpu_shutdown();
	return ret == -ENODEV ? 77 : ret;
}
