/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * GPUs that do not reach each other's memory: a copy stops in main memory, by date, by
 * forecast and by what is valid afterwards.  On two_apart.xml: links of one byte per
 * microsecond and a latency of 100 us.
 */
#include <math.h>

#include "../api/claim.h"

int claim_failures;

enum { GPU1, GPU2, BYTES = 1000, TASK_US = 10, LATENCY_US = 100 };

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "apart"};
static struct starpu_codelet write_gpu = {.cuda_funcs = {(starpu_cuda_func_t)1},
					  .nbuffers = 1,
					  .modes = {STARPU_W},
					  .model = &model};
static struct starpu_codelet read_gpu = {.cuda_funcs = {(starpu_cuda_func_t)1},
					 .nbuffers = 1,
					 .modes = {STARPU_R},
					 .model = &model};

static void put(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker)
{
	CLAIM_EQ(starpu_task_insert(cl, (int)cl->modes[0], handle,
				    STARPU_EXECUTE_ON_WORKER, worker, 0),
		 0);
	starpu_task_wait_for_all();
}

static void a_copy_stops_in_main_memory(void)
{
	int is_allocated, is_valid, is_requested;
	starpu_data_handle_t handle;
	double start_us;

	CLAIM_EQ(starpu_init(NULL), 0);
	starpu_vector_data_register(&handle, -1, 0, BYTES, 1);
	put(&write_gpu, handle, GPU1);
	start_us = starpu_timing_now();
	put(&read_gpu, handle, GPU2);
	CLAIM_EQ(lround((starpu_timing_now() - start_us) / 10),
		 lround((TASK_US / 13.33 + 2 * (LATENCY_US + BYTES)) / 10));
	starpu_data_query_status(handle, 0, &is_allocated, &is_valid, &is_requested);
	CLAIM(is_valid);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void forecasts_have_both_ways(void)
{
	CLAIM_EQ(starpu_init(NULL), 0);
	CLAIM_EQ(lround(starpu_transfer_latency(0, 1)), LATENCY_US);
	CLAIM_EQ(lround(starpu_transfer_latency(1, 2)), 2 * LATENCY_US);
	CLAIM_EQ(lround(1 / starpu_transfer_bandwidth(0, 1)), 1);
	CLAIM_EQ(lround(1 / starpu_transfer_bandwidth(1, 2)), 2);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"a copy stops in main memory", a_copy_stops_in_main_memory},
		{"forecasts have both ways", forecasts_have_both_ways},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
