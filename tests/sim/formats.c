/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* On a simulated GPU, data of several formats cost their bytes in each format and the
 * durations of their conversions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/host.h>
#include <starpu.h>

enum { N = 1000000, CPU_BYTES = 8, GPU_BYTES = 4 };

#define TASK_S    0.5
#define CONVERT_S 0.25

static double task_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)arch;
	(void)implementation;
	return 1e6 * (task->cl->name[0] == 't' ? CONVERT_S : TASK_S);
}

static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
					.arch_cost_function = task_us};

static void never(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static struct starpu_codelet to_gpu = {.cuda_funcs = {never},
				       .nbuffers = 1,
				       .model = &model,
				       .name = "to the GPU"},
			     to_cpu = {.cpu_funcs = {never},
				       .nbuffers = 1,
				       .model = &model,
				       .name = "to the CPU"},
			     use = {.cuda_funcs = {never},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &model,
				    .name = "use"};

static struct starpu_multiformat_data_interface_ops formats = {.cpu_elemsize = CPU_BYTES,
							       .cuda_elemsize = GPU_BYTES,
							       .cpu_to_cuda_cl = &to_gpu,
							       .cuda_to_cpu_cl = &to_cpu};

static double property(const char *name)
{
	const char *text = sg_host_get_property_value(sg_host_self(), name);

	return text ? atof(text) : 0;
}

static double copy_s(double bytes)
{
	double rate = property("pcie_bw"), host = property("host_bw");

	return property("pcie_lat") + bytes / (host > 0 ? fmin(rate, host) : rate);
}

int main(void)
{
	starpu_data_handle_t handle;
	double start_us, seconds, expected_s;
	int right;

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_multiformat_data_register(&handle, -1, NULL, N, &formats);
	starpu_data_acquire(handle, STARPU_W);
	starpu_data_release(handle);
	start_us = starpu_timing_now();
	if (starpu_task_insert(&use, STARPU_RW, handle, 0) != 0)
		return 1;
	starpu_data_acquire(handle, STARPU_R);
	seconds = 1e-6 * (starpu_timing_now() - start_us);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	expected_s = copy_s((double)N * CPU_BYTES) + CONVERT_S + TASK_S +
		     copy_s((double)N * GPU_BYTES) + CONVERT_S;
	right = fabs(seconds - expected_s) < 1e-4;
	printf("%s there and back takes two copies and two conversions: %.9g s, "
	       "expected %.9g s\n",
	       right ? "PASS" : "FAIL", seconds, expected_s);
	starpu_shutdown();
	return !right;
}
