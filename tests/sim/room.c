/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Room in the memory of simulated GPUs, by dates and states: who leaves, who waits, what
 * is valid.  On two_gpus.xml: two GPUs of 1,000 bytes, one byte per microsecond.
 */
#include <errno.h>
#include <math.h>

#include "../api/claim.h"

int claim_failures;

enum { GPU1, GPU2, GPU_BYTES = 1000, CPU_WORKER = 2, NTILES = 10, TASK_US = 10 };

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "room"};

#define ON_GPU(name_, n, ...)                                                            \
	{                                                                                \
		.cuda_funcs = {(starpu_cuda_func_t)1}, .nbuffers = (n),                  \
		.modes = {__VA_ARGS__}, .model = &model, .name = (name_)                 \
	}

static struct starpu_codelet write_gpu = ON_GPU("write", 1, STARPU_W);
static struct starpu_codelet read_gpu = ON_GPU("read", 1, STARPU_R);
static struct starpu_codelet scratch_gpu = ON_GPU("scratch", 2, STARPU_W, STARPU_SCRATCH);
static struct starpu_codelet write_cpu = {.cpu_funcs = {(starpu_cpu_func_t)1},
					  .nbuffers = 1,
					  .modes = {STARPU_W},
					  .model = &model,
					  .name = "write on a CPU"};
static char room[2 * GPU_BYTES];

static void start(void)
{
	CLAIM_EQ(starpu_init(NULL), 0);
}

static starpu_data_handle_t temporary(unsigned bytes)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, bytes, 1);
	return handle;
}

static void start_with(starpu_data_handle_t *data, unsigned bytes0, unsigned bytes1,
		       unsigned bytes2)
{
	start();
	data[0] = temporary(bytes0);
	data[1] = temporary(bytes1);
	data[2] = temporary(bytes2);
}

static void put(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker)
{
	CLAIM_EQ(starpu_task_insert(cl, (int)cl->modes[0], handle,
				    STARPU_EXECUTE_ON_WORKER, worker, 0),
		 0);
}

/* Two that do not fit on a GPU together; the first has been written there. */
static void start_with_one_on_gpu(starpu_data_handle_t *data)
{
	start();
	data[0] = temporary(GPU_BYTES);
	data[1] = temporary(GPU_BYTES);
	put(&write_gpu, data[0], GPU1);
	starpu_task_wait_for_all();
}

static int valid(starpu_data_handle_t handle, int memory)
{
	int is_allocated, is_valid, is_requested;

	starpu_data_query_status(handle, memory, &is_allocated, &is_valid, &is_requested);
	return is_valid;
}

/* All memory was given back. */
static void stop(void)
{
	for (unsigned i = 1; i < starpu_memory_nodes_get_count(); i++)
		CLAIM_EQ(starpu_memory_get_used(i), 0);
	starpu_shutdown();
}

static void end(starpu_data_handle_t *data, int n)
{
	for (int i = 0; i < n; i++)
		starpu_data_unregister(data[i]);
	stop();
}

/* ---- what leaves ----------------------------------------------------- */

static void one_tile_leaves_for_one(void)
{
	starpu_data_handle_t tiles[NTILES + 1];
	int nhome = 0, ngpu = 0;

	start();
	for (int i = 0; i <= NTILES; i++) {
		tiles[i] = temporary(GPU_BYTES / NTILES);
		put(&write_gpu, tiles[i], GPU1);
		starpu_task_wait_for_all();
	}
	starpu_sleep(1);
	for (int i = 0; i <= NTILES; i++) {
		nhome += valid(tiles[i], 0);
		ngpu += valid(tiles[i], 1);
	}
	CLAIM_EQ(nhome, 1);
	CLAIM_EQ(ngpu, NTILES);
	CLAIM(valid(tiles[0], 0)); /* The least recently used. */
	end(tiles, NTILES + 1);
}

static void stale_copies_leave_first(void)
{
	starpu_data_handle_t data[3];

	start_with(data, 400, 400, 400);
	put(&write_gpu, data[0], GPU1);
	put(&write_gpu, data[1], GPU1);
	starpu_task_wait_for_all();
	put(&write_cpu, data[1], CPU_WORKER);
	starpu_task_wait_for_all();
	put(&write_gpu, data[2], GPU1);
	starpu_task_wait_for_all();
	CLAIM(valid(data[0], 1));
	CLAIM(!valid(data[0], 0));
	end(data, 3);
}

/* ---- who waits ------------------------------------------------------- */

static void scratch_waits(void)
{
	starpu_data_handle_t data[3];

	start_with(data, 600, 100, 600);
	put(&write_gpu, data[0], GPU1);
	for (int i = 0; i < 5; i++)
		CLAIM_EQ(starpu_task_insert(&scratch_gpu, STARPU_W, data[1],
					    STARPU_SCRATCH, data[2],
					    STARPU_EXECUTE_ON_WORKER, GPU1, 0),
			 0);
	starpu_task_wait_for_all();
	CLAIM(valid(data[0], 0)); /* It had to leave. */
	end(data, 3);
}

/* Each of two tasks has half of what the other one needs, too, if it takes it. */
static void sets_are_whole(void)
{
	static struct starpu_codelet two = ON_GPU("two", 2, STARPU_RW, STARPU_RW);
	starpu_data_handle_t data[4];

	start();
	for (int i = 0; i < 4; i++) {
		data[i] = temporary(GPU_BYTES / 2);
		put(&write_cpu, data[i], CPU_WORKER);
	}
	for (int i = 0; i < 50; i++)
		CLAIM_EQ(starpu_task_insert(&two, STARPU_RW, data[i % 2 * 2], STARPU_RW,
					    data[i % 2 * 2 + 1], STARPU_EXECUTE_ON_WORKER,
					    GPU1, 0),
			 0);
	starpu_task_wait_for_all();
	end(data, 4);
}

/* The application holds what the first in line needs, and asks for more. */
static void the_application_passes(void)
{
	starpu_data_handle_t data[3];

	start_with(data, 600, 600, 300);
	CLAIM_EQ(starpu_data_acquire_on_node(data[0], 1, STARPU_W), 0);
	put(&write_gpu, data[1], GPU1);
	starpu_sleep(1e-3);
	CLAIM_EQ(starpu_data_acquire_on_node(data[2], 1, STARPU_W), 0);
	starpu_data_release_on_node(data[2], 1);
	starpu_data_release_on_node(data[0], 1);
	starpu_task_wait_for_all();
	CLAIM(valid(data[1], 1));
	end(data, 3);
}

/* ---- values that are overtaken --------------------------------------- */

/* The value of data[0] is on its way home when it is written on the other GPU. */
static void overtake(starpu_data_handle_t *data)
{
	for (int i = 0; i < 3; i++)
		data[i] = temporary(GPU_BYTES);
	put(&write_gpu, data[0], GPU1);
	starpu_task_wait_for_all();
	put(&write_gpu, data[1], GPU1); /* Throws data[0] out, which takes 1 ms. */
	starpu_sleep(1e-5);
	put(&write_gpu, data[0], GPU2);
}

static void stale_arrivals_do_not_count(void)
{
	starpu_data_handle_t data[3];
	double start_us;

	start();
	overtake(data);
	starpu_task_wait_for_all();
	starpu_sleep(0.01);
	CLAIM(!valid(data[0], 0));
	start_us = starpu_timing_now();
	starpu_data_acquire(data[0], STARPU_R);
	CLAIM(fabs(starpu_timing_now() - start_us - GPU_BYTES) < 20);
	starpu_data_release(data[0]);
	end(data, 3);
}

static void who_was_overtaken_can_leave_again(void)
{
	starpu_data_handle_t data[3];

	start();
	overtake(data);
	starpu_sleep(1e-4);
	put(&write_gpu, data[2], GPU2);
	starpu_task_wait_for_all();
	CLAIM(valid(data[0], 0));
	CLAIM(valid(data[2], 2));
	end(data, 3);
}

/* The hardware still writes into main memory: a writer there waits for the end. */
static void writers_wait_for_stale_arrivals(void)
{
	starpu_data_handle_t data[2];
	double start_us;

	start_with_one_on_gpu(data);
	put(&write_gpu, data[1], GPU1);
	starpu_sleep(1e-5);
	start_us = starpu_timing_now();
	starpu_data_acquire(data[0], STARPU_W);
	CLAIM(starpu_timing_now() - start_us > 0.9 * GPU_BYTES);
	starpu_data_release(data[0]);
	starpu_task_wait_for_all();
	end(data, 2);
}

/* ---- the end of data that are leaving -------------------------------- */

static void unregister_while_leaving(int submit)
{
	starpu_data_handle_t data[2], others[20];

	start_with_one_on_gpu(data);
	put(&write_gpu, data[1], GPU1);
	starpu_sleep(1e-5);
	if (submit)
		starpu_data_unregister_submit(data[0]);
	else
		starpu_data_unregister(data[0]);
	for (int i = 0; i < 20; i++)
		starpu_vector_data_register(&others[i], STARPU_MAIN_RAM, (uintptr_t)room,
					    7, 1);
	starpu_task_wait_for_all();
	starpu_data_unregister(data[1]);
	end(others, 20);
}

static void unregister_waits_for_an_eviction(void)
{
	unregister_while_leaving(0);
}

static void unregister_submit_leaves_it_to_the_eviction(void)
{
	unregister_while_leaving(1);
}

static void invalidate_while_leaving(void)
{
	starpu_data_handle_t data[2];

	start_with_one_on_gpu(data);
	put(&write_gpu, data[1], GPU1);
	starpu_sleep(1e-5);
	starpu_data_invalidate(data[0]);
	put(&write_gpu, data[0], GPU2);
	starpu_task_wait_for_all();
	starpu_sleep(0.01);
	CLAIM(!valid(data[0], 0));
	CLAIM(valid(data[0], 2));
	end(data, 2);
}

/* ---- too large ------------------------------------------------------- */

static void too_large_is_said(void)
{
	starpu_data_handle_t large;

	start();
	starpu_vector_data_register(&large, STARPU_MAIN_RAM, (uintptr_t)room,
				    2 * GPU_BYTES, 1);
	CLAIM_EQ(starpu_data_prefetch_on_node(large, 1, 0), 0);
	CLAIM_EQ(starpu_data_prefetch_on_node(large, 1, 1), 0);
	CLAIM_EQ(starpu_data_fetch_on_node(large, 1, 0), -ENOMEM);
	CLAIM_EQ(starpu_data_fetch_on_node(large, 1, 1), -ENOMEM);
	CLAIM_EQ(starpu_data_acquire_on_node(large, 1, STARPU_R), -ENOMEM);
	CLAIM_EQ(starpu_data_acquire_on_node_try(large, 1, STARPU_R), -ENOMEM);
	CLAIM_EQ(starpu_data_acquire_on_node_cb(large, 1, STARPU_R, NULL, NULL), -ENOMEM);
	put(&write_cpu, large, CPU_WORKER);
	starpu_task_wait_for_all();
	end(&large, 1);
}

static void hints_do_not_wait_for_users(void)
{
	starpu_data_handle_t data[2];

	start();
	data[0] = temporary(600);
	starpu_vector_data_register(&data[1], STARPU_MAIN_RAM, (uintptr_t)room, 600, 1);
	CLAIM_EQ(starpu_data_acquire_on_node(data[0], 1, STARPU_W), 0);
	CLAIM_EQ(starpu_data_prefetch_on_node(data[1], 1, 0), 0);
	CLAIM(!valid(data[1], 1));
	starpu_data_release_on_node(data[0], 1);
	CLAIM_EQ(starpu_data_prefetch_on_node(data[1], 1, 0), 0);
	CLAIM(valid(data[1], 1)); /* What nobody uses leaves for it. */
	put(&read_gpu, data[1], GPU1);
	starpu_task_wait_for_all();
	end(data, 2);
}

int main(void)
{
	const struct claim claims[] = {
		{"one tile leaves for one", one_tile_leaves_for_one},
		{"stale copies leave first", stale_copies_leave_first},
		{"scratch waits for room", scratch_waits},
		{"a task's data get room together", sets_are_whole},
		{"acquisitions pass who waits for one", the_application_passes},
		{"stale arrivals do not count", stale_arrivals_do_not_count},
		{"an overtaken value can leave again", who_was_overtaken_can_leave_again},
		{"writers wait for stale arrivals", writers_wait_for_stale_arrivals},
		{"unregister waits for an eviction", unregister_waits_for_an_eviction},
		{"unregister_submit leaves it to the eviction",
		 unregister_submit_leaves_it_to_the_eviction},
		{"invalidate while leaving", invalidate_while_leaving},
		{"too large is said", too_large_is_said},
		{"hints do not wait for users", hints_do_not_wait_for_users},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
