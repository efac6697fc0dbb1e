/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What simulated nodes charge besides kernels and copies, by dates: each cost alone, and
 * who pays.  On two_gpus.xml: two GPUs, one core, one byte per microsecond.
 */
#include <math.h>
#include <stdlib.h>

#include "../api/claim.h"

int claim_failures;

enum { GPU1, GPU2, CPU_WORKER, BYTES = 500, TASK_US = 1000, MANY = 400 };

/* A model for all workers says how long a core takes; a GPU is so much faster. */
#define GPU_TASK_US (TASK_US / 13.33)

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "costs"};
static struct starpu_codelet on_gpu = {.cuda_funcs = {(starpu_cuda_func_t)1},
				       .nbuffers = 1,
				       .modes = {STARPU_R},
				       .model = &model,
				       .name = "on a GPU"};
static struct starpu_codelet on_cpu = {.cpu_funcs = {(starpu_cpu_func_t)1},
				       .nbuffers = 1,
				       .modes = {STARPU_R},
				       .model = &model,
				       .name = "on a core"};
static char values[2][BYTES];

/* All costs, and the knobs that scale them. */
static const char *const switches[] = {
	"STARPU_SIMGRID_CUDA_MALLOC_COST", "STARPU_SIMGRID_CUDA_QUEUE_COST",
	"STARPU_SIMGRID_FETCHING_INPUT_COST", "STARPU_SIMGRID_TASK_SUBMIT_COST",
	"STARPU_SIMGRID_TASK_PUSH_COST"};
static const char *const others[] = {"STARPU_SIMGRID_SCHED_COST",
				     "STARPU_LIMIT_BANDWIDTH", "ORRERY_NOISE",
				     "ORRERY_NOISE_SEED", "STARPU_CUDA_PIPELINE"};

enum { NSWITCHES = sizeof(switches) / sizeof(switches[0]) };
enum { NOTHERS = sizeof(others) / sizeof(others[0]) };

/* Open the library with one cost, or knob, and no other. */
static void start(const char *name, const char *value)
{
	for (int i = 0; i < NSWITCHES; i++)
		setenv(switches[i], "0", 1);
	for (int i = 0; i < NOTHERS; i++)
		unsetenv(others[i]);
	if (name)
		setenv(name, value, 1);
	CLAIM_EQ(starpu_init(NULL), 0);
}

static starpu_data_handle_t value(int i)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values[i], BYTES,
				    1);
	return handle;
}

/* Microseconds until n tasks that read a datum have ended. */
static double run_us(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker,
		     int n)
{
	double start_us = starpu_timing_now();

	for (int i = 0; i < n; i++)
		CLAIM_EQ(starpu_task_insert(cl, STARPU_R, handle,
					    STARPU_EXECUTE_ON_WORKER, worker, 0),
			 0);
	starpu_task_wait_for_all();
	return starpu_timing_now() - start_us;
}

static double once_us(const char *name, const char *setting, struct starpu_codelet *cl,
		      int worker, int n)
{
	starpu_data_handle_t handle;
	double us;

	start(name, setting);
	handle = value(0);
	us = run_us(cl, handle, worker, n);
	starpu_data_unregister(handle);
	starpu_shutdown();
	return us;
}

/* A copy may end when a hundredth of a byte is left. */
static void claim_us(double us, double expected)
{
	if (fabs(us - expected) < 0.02)
		return;
	if (claim_failures++ < CLAIM_MAX_SHOWN)
		printf("took %.6f us, expected %.6f\n", us, expected);
}

static void without_costs_tasks_take_what_models_say(void)
{
	claim_us(once_us(NULL, NULL, &on_gpu, GPU1, 1), BYTES + GPU_TASK_US);
	claim_us(once_us(NULL, NULL, &on_cpu, CPU_WORKER, 1), TASK_US);
}

/* A second datum of the size takes the first one's buffer; another GPU needs its own. */
static void allocation_delays_copies_of_its_gpu(void)
{
	starpu_data_handle_t handle[2];

	start("STARPU_SIMGRID_CUDA_MALLOC_COST", "1");
	handle[0] = value(0);
	claim_us(run_us(&on_gpu, handle[0], GPU1, 1), 175 + BYTES + GPU_TASK_US);
	starpu_data_unregister(handle[0]);
	handle[1] = value(1);
	claim_us(run_us(&on_gpu, handle[1], GPU1, 1), BYTES + GPU_TASK_US);
	claim_us(run_us(&on_gpu, handle[1], GPU2, 1), 175 + BYTES + GPU_TASK_US);
	claim_us(run_us(&on_cpu, handle[1], CPU_WORKER, 1), TASK_US);
	starpu_data_unregister(handle[1]);
	starpu_shutdown();
}

static void who_pins_memory_pays(void)
{
	double start_us, pinned_us;
	void *pinned, *plain;

	start("STARPU_SIMGRID_CUDA_MALLOC_COST", "1");
	start_us = starpu_timing_now();
	CLAIM_EQ(starpu_malloc(&pinned, 4 << 20), 0);
	starpu_sleep(0);
	pinned_us = starpu_timing_now() - start_us;
	claim_us(pinned_us, 4 * 650);
	CLAIM_EQ(starpu_malloc_flags(&plain, 4 << 20, 0), 0);
	claim_us(starpu_timing_now() - start_us, pinned_us);
	starpu_free_noflag(pinned, 4 << 20);
	starpu_free_flags(plain, 4 << 20, 0);
	starpu_shutdown();
}

/* A copy and the first kernel are launched; kernels in the pipeline are before their
 * turn. */
static void launches_overlap_kernels(void)
{
	const char *name = "STARPU_SIMGRID_CUDA_QUEUE_COST";

	claim_us(once_us(name, "1", &on_gpu, GPU1, 1), 2 + BYTES + GPU_TASK_US);
	claim_us(once_us(name, "1", &on_gpu, GPU1, 3), 2 + BYTES + 3 * GPU_TASK_US);
	claim_us(once_us(name, "1", &on_cpu, CPU_WORKER, 3), 3 * TASK_US);
}

static void each_datum_costs_its_worker(void)
{
	const char *name = "STARPU_SIMGRID_FETCHING_INPUT_COST";

	claim_us(once_us(name, "1", &on_cpu, CPU_WORKER, 3), 3 * (TASK_US + 0.05));
	claim_us(once_us(name, "1", &on_gpu, GPU1, 1), BYTES + GPU_TASK_US + 0.05);
}

static void links_have_the_bandwidth_that_is_asked_for(void)
{
	claim_us(once_us("STARPU_LIMIT_BANDWIDTH", "100", &on_gpu, GPU1, 1),
		 BYTES / 100. + GPU_TASK_US);
	claim_us(once_us("STARPU_LIMIT_BANDWIDTH", "1", &on_gpu, GPU1, 1),
		 BYTES + GPU_TASK_US);
}

/* The mean of the absolute value of a normal variable is sqrt(2 / pi). */
static void noise_is_half_normal_and_comes_again(void)
{
	double plain_us = once_us(NULL, NULL, &on_cpu, CPU_WORKER, MANY), again_us;
	double noisy_us = once_us("ORRERY_NOISE", "0.1", &on_cpu, CPU_WORKER, MANY);
	double excess = noisy_us / plain_us - 1;

	claim_us(plain_us, MANY * TASK_US);
	CLAIM(excess > 0.0798 * 0.8 && excess < 0.0798 * 1.2);
	again_us = once_us("ORRERY_NOISE", "0.1", &on_cpu, CPU_WORKER, MANY);
	CLAIM(fabs(again_us - noisy_us) < 1e-3);
	CLAIM(once_us("ORRERY_NOISE", "0.1", &on_cpu, CPU_WORKER, 1) >= TASK_US);
}

static struct starpu_codelet on_any = {
	.cpu_funcs = {(starpu_cpu_func_t)1}, .model = &model, .name = "on any core"};

/* Submission, and each task, takes what the policy needs here, which is not known. */
static double deciding_us(const char *setting)
{
	double start_us, us;

	start("STARPU_SIMGRID_SCHED_COST", setting);
	start_us = starpu_timing_now();
	for (int i = 0; i < MANY; i++)
		CLAIM_EQ(starpu_task_insert(&on_any, 0), 0);
	starpu_task_wait_for_all();
	us = starpu_timing_now() - start_us;
	starpu_shutdown();
	return us;
}

static void policies_cost_what_they_take(void)
{
	double us = deciding_us("1");

	claim_us(deciding_us("0"), MANY * TASK_US);
	CLAIM(us > MANY * (TASK_US + 0.02) && us < MANY * (TASK_US + 1000.));
}

int main(void)
{
	static const struct claim claims[] = {
		{"without costs tasks take what models say",
		 without_costs_tasks_take_what_models_say},
		{"allocation delays copies of its gpu",
		 allocation_delays_copies_of_its_gpu},
		{"who pins memory pays", who_pins_memory_pays},
		{"launches overlap kernels", launches_overlap_kernels},
		{"each datum costs its worker", each_datum_costs_its_worker},
		{"links have the bandwidth that is asked for",
		 links_have_the_bandwidth_that_is_asked_for},
		{"policies cost what they take", policies_cost_what_they_take},
		{"noise is half normal and comes again",
		 noise_is_half_normal_and_comes_again},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
