/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * GPUs of one node whose links differ by pair: what copies take, alone and beside others,
 * what is expected of them, from where values come, and where dmda puts a task.  On
 * gpu_links.xml, or with STARPU_WORKERS_CUDAID=2,1 on two of its GPUs.
 */
#include <math.h>
#include <string.h>

#include "../api/claim.h"
#include "now.h"

int claim_failures;

enum { NGPUS = 6, BYTES = 8000, MOST_READS = 3 };

#define PCIE_S 1e-4
#define HOP_S  (PCIE_S + BYTES / 1e6)
#define FAST_S (PCIE_S + BYTES / 8e6)
#define SLOW_S (1e-3 + BYTES / 1.5e6) /* crosses the host's side, which is slower */
#define AT_S   (PCIE_S + BYTES / 2e6)
#define NONE_S (2 * HOP_S)

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "linked"};
static struct starpu_codelet read_it = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.nbuffers = 1,
					.modes = {STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "read"};
static struct starpu_codelet compute = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.nbuffers = 1,
					.modes = {STARPU_R},
					.model = &model,
					.name = "compute"};
static struct starpu_codelet write_it = {.cuda_funcs = {(starpu_cuda_func_t)1},
					 .nbuffers = 1,
					 .modes = {STARPU_W},
					 .model = &starpu_perfmodel_nop,
					 .name = "write"};

static int is_near(double found_s, double expected_s)
{
	return fabs(found_s - expected_s) < 20e-6;
}

static unsigned memory_of(int worker)
{
	return starpu_worker_get_memory_node((unsigned)worker);
}

/* Where only that worker's GPU has the value. */
static void write_on(starpu_data_handle_t handle, int worker)
{
	CLAIM_EQ(starpu_task_insert(&write_it, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER,
				    worker, 0),
		 0);
	starpu_task_wait_for_all();
}

static void read_on(starpu_data_handle_t handle, int worker)
{
	CLAIM_EQ(starpu_task_insert(&read_it, STARPU_R, handle, STARPU_EXECUTE_ON_WORKER,
				    worker, 0),
		 0);
}

/* Seconds until values that are written on a worker each have come to another one. */
static double copies_s(int n, const int (*workers)[2])
{
	starpu_data_handle_t handles[MOST_READS];
	double begin_s;

	for (int i = 0; i < n; i++) {
		starpu_vector_data_register(&handles[i], -1, 0, BYTES, 1);
		write_on(handles[i], workers[i][0]);
	}
	begin_s = now_s();
	for (int i = 0; i < n; i++)
		CLAIM_EQ(starpu_data_prefetch_on_node(handles[i],
						      memory_of(workers[i][1]), 1),
			 0);
	for (int i = 0; i < n; i++)
		read_on(handles[i], workers[i][1]);
	starpu_task_wait_for_all();
	begin_s = now_s() - begin_s;
	for (int i = 0; i < n; i++)
		starpu_data_unregister(handles[i]);
	return begin_s;
}

#define COPIES_S(...)                                                                    \
	copies_s(sizeof((const int[][2]){__VA_ARGS__}) / sizeof(int[2]),                 \
		 (const int[][2]){__VA_ARGS__})
#define TO(from, to)                                                                     \
	{                                                                                \
		from, to                                                                 \
	}

static void pairs_have_their_links(void)
{
	CLAIM_EQ(start_under("eager"), 0);
	CLAIM(is_near(COPIES_S(TO(0, 1)), FAST_S));
	CLAIM(is_near(COPIES_S(TO(2, 1)), SLOW_S));
	CLAIM(is_near(COPIES_S(TO(0, 2)), NONE_S));
	CLAIM(is_near(COPIES_S(TO(2, 3)), NONE_S));
	CLAIM(is_near(COPIES_S(TO(5, 3)), AT_S));
	/* Of each direction, and of each pair, they are others. */
	CLAIM(is_near(COPIES_S(TO(0, 1), TO(1, 0)), FAST_S));
	CLAIM(is_near(COPIES_S(TO(1, 0), TO(1, 2)), SLOW_S));
	CLAIM(is_near(COPIES_S(TO(0, 1), TO(0, 1)), PCIE_S + 2 * (FAST_S - PCIE_S)));
	starpu_shutdown();
}

/* At a switch a GPU has one link for all. */
static void switches_are_shared(void)
{
	CLAIM_EQ(start_under("eager"), 0);
	CLAIM(is_near(COPIES_S(TO(3, 4), TO(3, 5)), PCIE_S + 2 * (AT_S - PCIE_S)));
	CLAIM(is_near(COPIES_S(TO(3, 5), TO(4, 5)), PCIE_S + 2 * (AT_S - PCIE_S)));
	CLAIM(is_near(COPIES_S(TO(3, 4), TO(4, 5), TO(5, 3)), AT_S));
	starpu_shutdown();
}

static double predict_s(int from, int to)
{
	return 1e-6 * starpu_transfer_predict(memory_of(from), memory_of(to), BYTES);
}

static void they_are_expected(void)
{
	starpu_data_handle_t handle;

	CLAIM_EQ(start_under("eager"), 0);
	CLAIM(is_near(predict_s(1, 0), FAST_S));
	CLAIM(is_near(predict_s(1, 2), SLOW_S));
	CLAIM(is_near(predict_s(4, 3), AT_S));
	CLAIM(is_near(predict_s(0, 3), NONE_S));
	/* In MB/s, and of the way there the latency. */
	CLAIM(fabs(starpu_transfer_bandwidth(memory_of(0), memory_of(1)) - 8) < 0.01);
	CLAIM(fabs(starpu_transfer_bandwidth(memory_of(3), memory_of(5)) - 2) < 0.01);
	CLAIM(fabs(starpu_transfer_latency(memory_of(2), memory_of(1)) - 1000) < 1);
	starpu_vector_data_register(&handle, -1, 0, BYTES, 1);
	write_on(handle, 1);
	CLAIM(is_near(
		1e-6 * starpu_data_expected_transfer_time(handle, memory_of(0), STARPU_R),
		FAST_S));
	CLAIM(is_near(
		1e-6 * starpu_data_expected_transfer_time(handle, memory_of(2), STARPU_R),
		SLOW_S));
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* Not from the first memory that has them. */
static void values_come_from_the_nearest(void)
{
	static char bytes[BYTES];
	starpu_data_handle_t handle;
	double begin_s;

	CLAIM_EQ(start_under("eager"), 0);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, BYTES, 1);
	read_on(handle, 0);
	starpu_task_wait_for_all();
	CLAIM(is_near(
		1e-6 * starpu_data_expected_transfer_time(handle, memory_of(1), STARPU_R),
		FAST_S));
	begin_s = now_s();
	read_on(handle, 1);
	starpu_task_wait_for_all();
	CLAIM(is_near(now_s() - begin_s, FAST_S));
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* A task that may run on two GPUs goes to that with the better link. */
static int chosen_by_dmda(int has_it, uint32_t may_run)
{
	starpu_data_handle_t handle;
	struct starpu_task *task = starpu_task_create();
	int chosen;

	starpu_vector_data_register(&handle, -1, 0, BYTES, 1);
	write_on(handle, has_it);
	task->cl = &compute;
	task->flops = 1e6;
	task->handles[0] = handle;
	task->workerids = &may_run;
	task->workerids_len = 1;
	task->destroy = 0;
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	chosen = task->profiling_info ? task->profiling_info->workerid : -1;
	starpu_task_destroy(task);
	starpu_data_unregister(handle);
	return chosen;
}

static void dmda_follows_them(void)
{
	CLAIM_EQ(start_under("dmda"), 0);
	CLAIM_EQ(chosen_by_dmda(2, 1 << 0 | 1 << 1), 1);
	CLAIM_EQ(chosen_by_dmda(4, 1 << 0 | 1 << 1 | 1 << 5), 5);
	CLAIM_EQ(chosen_by_dmda(1, 1 << 2 | 1 << 0), 0);
	starpu_shutdown();
}

/* GPUs 2 and 1 of the machine are the first and the second worker. */
static void chosen_ones_keep_theirs(void)
{
	CLAIM_EQ(start_under("eager"), 0);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 2);
	CLAIM(is_near(predict_s(0, 1), SLOW_S));
	CLAIM(is_near(COPIES_S(TO(0, 1)), SLOW_S));
	starpu_shutdown();
}

int main(void)
{
	setenv("STARPU_PROFILING", "1", 1);
	if (getenv("STARPU_WORKERS_CUDAID")) {
		chosen_ones_keep_theirs();
		return claim_failures > 0;
	}
	pairs_have_their_links();
	switches_are_shared();
	they_are_expected();
	values_come_from_the_nearest();
	dmda_follows_them();
	return claim_failures > 0;
}
