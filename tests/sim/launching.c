/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What the launches of kernels take a GPU's driver, by dates.  On launching.xml: 25 us
 * each, 2 us from a kernel to the next, and kernels called "many" keep the driver for as
 * long as they take and 10 us more.
 */
#include <stdlib.h>

#include "../api/claim.h"

int claim_failures;

enum { GPU = 0, LAUNCH_US = 25, GAP_US = 2, MORE_US = 10 };

static double kernel_us;

static double cost_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)task;
	(void)arch;
	(void)implementation;
	return kernel_us;
}

static struct starpu_perfmodel one = {.type = STARPU_PER_ARCH,
				      .arch_cost_function = cost_us,
				      .symbol = "one_launch"},
			       many = {.type = STARPU_PER_ARCH,
				       .arch_cost_function = cost_us,
				       .symbol = "many_launches"};
static struct starpu_codelet kernels = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.model = &one,
					.name = "kernel"},
			     waits = {.cuda_funcs = {(starpu_cuda_func_t)1},
				      .model = &one,
				      .name = "waits"},
			     panels = {.cuda_funcs = {(starpu_cuda_func_t)1},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .model = &many,
				       .name = "panel"},
			     chained = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &one,
					.name = "chained"};

/* n tasks of so many us each, from the first one's submission to the last one's end. */
static double run_us(struct starpu_codelet *cl, int n, double us, const char *pipeline)
{
	static int value;
	starpu_data_handle_t handle;
	double start_us;

	kernel_us = us;
	setenv("STARPU_CUDA_PIPELINE", pipeline, 1);
	setenv("STARPU_SIMGRID_TASK_SUBMIT_COST", "0", 1);
	setenv("STARPU_SIMGRID_TASK_PUSH_COST", "0", 1);
	setenv("STARPU_SIMGRID_FETCHING_INPUT_COST", "0", 1);
	if (starpu_init(NULL) != 0)
		exit(77);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	start_us = starpu_timing_now();
	for (int i = 0; i < n; i++)
		CLAIM_EQ(cl->nbuffers ? starpu_task_insert(cl, STARPU_RW, handle, 0)
				      : starpu_task_insert(cl, 0),
			 0);
	starpu_task_wait_for_all();
	start_us = starpu_timing_now() - start_us;
	starpu_data_unregister(handle);
	starpu_shutdown();
	return start_us;
}

static void claim_us(double us, double expected_us)
{
	if (us < expected_us - 0.01 || us > expected_us + 0.01) {
		printf("# %g us, expected %g\n", us, expected_us);
		CLAIM(0);
	}
}

static void short_kernels_wait_for_their_launches(void)
{
	claim_us(run_us(&kernels, 10, 10, "2"), 10 * LAUNCH_US + 10);
	claim_us(run_us(&kernels, 10, 10, "3"), 10 * LAUNCH_US + 10);
}

static void launches_hide_behind_long_kernels(void)
{
	claim_us(run_us(&kernels, 10, 100, "2"), LAUNCH_US + 10 * 100 + 9 * GAP_US);
	claim_us(run_us(&kernels, 1, 100, "2"), LAUNCH_US + 100);
}

static void without_a_pipeline_all_show(void)
{
	claim_us(run_us(&kernels, 10, 100, "0"), 10 * (LAUNCH_US + 100));
	claim_us(run_us(&kernels, 10, 100, "1"), 10 * (LAUNCH_US + 100));
}

static void behind_a_kernel_that_waits_none_is_launched(void)
{
	claim_us(run_us(&waits, 3, 100, "2"), 3 * (LAUNCH_US + 100));
}

static void what_depends_is_launched_afterwards(void)
{
	claim_us(run_us(&chained, 5, 100, "2"), 5 * (LAUNCH_US + 100));
}

static void many_launches_keep_the_driver(void)
{
	claim_us(run_us(&panels, 3, 100, "2"), 3 * (LAUNCH_US + 100) + 2 * MORE_US);
}

/* Whatever happens to its worker, what was launched begins: else the library would end
 * the run here. */
static void what_was_launched_begins(void)
{
	enum { NTASKS = 12 };
	unsigned context;
	int gpu;

	kernel_us = 100;
	setenv("STARPU_CUDA_PIPELINE", "3", 1);
	if (starpu_init(NULL) != 0)
		exit(77);
	gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&kernels, 0);
	starpu_sleep(150e-6f);
	context = starpu_sched_ctx_create(&gpu, 1, "its own",
					  STARPU_SCHED_CTX_POLICY_NAME, "prio", 0);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&kernels, STARPU_SCHED_CTX, context, 0);
	starpu_sleep(150e-6f);
	starpu_pause();
	starpu_sched_ctx_remove_workers(&gpu, 1, context);
	starpu_sleep(500e-6f);
	starpu_sched_ctx_add_workers(&gpu, 1, context);
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_sched_ctx_delete(context);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"short kernels wait for their launches",
		 short_kernels_wait_for_their_launches},
		{"launches hide behind long kernels", launches_hide_behind_long_kernels},
		{"without a pipeline all show", without_a_pipeline_all_show},
		{"behind a kernel that waits for its work none is launched",
		 behind_a_kernel_that_waits_none_is_launched},
		{"what depends on a kernel is launched afterwards",
		 what_depends_is_launched_afterwards},
		{"functions that launch many kernels keep the driver",
		 many_launches_keep_the_driver},
		{"what was launched begins", what_was_launched_begins},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
