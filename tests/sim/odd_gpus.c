/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * GPUs of several kinds in one node: names, rooms, links, kernels and launches of each,
 * and who gets the work.  On odd_gpus.xml.
 */
#include <math.h>
#include <string.h>

#include "../api/claim.h"
#include "now.h"

int claim_failures;

enum { FAST, SMALL, FAST_TOO, PLAIN, NGPUS, BYTES = 800, NTASKS = 200 };

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "odd"};
static struct starpu_codelet compute = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.model = &model,
					.name = "compute"};
static struct starpu_codelet read_it = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.nbuffers = 1,
					.modes = {STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "read"};

static void names_are_theirs(void)
{
	static const char *const names[NGPUS] = {
		"CUDA 0.0 (Fast 0.0 GiB)", "CUDA 1.0 (Small 0.0 GiB)",
		"CUDA 2.0 (Fast 0.0 GiB)", "CUDA 3.0 (Plain 7.5 GiB)"};
	static const long bytes[NGPUS] = {4000, 1000, 4000, 8000000000};
	char name[64];

	CLAIM_EQ(start_under("eager"), 0);
	for (int i = 0; i < NGPUS; i++) {
		starpu_worker_get_name(i, name, sizeof(name));
		CLAIM(strcmp(name, names[i]) == 0);
		CLAIM_EQ(starpu_memory_get_total(
				 starpu_worker_get_memory_node((unsigned)i)),
			 bytes[i]);
	}
	starpu_shutdown();
}

/* In all it is more than a program has addresses for. */
static void what_was_freed_is_given_again(void)
{
	const size_t bytes = (size_t)1 << 32;
	unsigned memory;

	CLAIM_EQ(start_under("eager"), 0);
	memory = starpu_worker_get_memory_node(PLAIN);
	for (int i = 0; i < 1 << 16; i++) {
		uintptr_t block = starpu_malloc_on_node(memory, bytes);

		if (!block) {
			CLAIM(block != 0);
			break;
		}
		starpu_free_on_node(memory, block, bytes);
	}
	CLAIM_EQ(starpu_memory_get_used(memory), 0);
	starpu_shutdown();
}

static double task_s(int worker)
{
	double begin_s = now_s();

	CLAIM_EQ(starpu_task_insert(&compute, STARPU_FLOPS, 1e13,
				    STARPU_EXECUTE_ON_WORKER, worker, 0),
		 0);
	starpu_task_wait_for_all();
	return now_s() - begin_s;
}

/* A peak of ten times that of the others, and twice as fast as that says. */
static void kernels_take_each_its_time(void)
{
	double fast_s, plain_s;

	CLAIM_EQ(start_under("eager"), 0);
	fast_s = task_s(FAST);
	plain_s = task_s(PLAIN);
	CLAIM(fabs(task_s(FAST_TOO) - fast_s) < 1e-4);
	CLAIM(plain_s > 10 && plain_s / fast_s > 18 && plain_s / fast_s < 21);
	CLAIM(fabs(task_s(SMALL) - plain_s - 0.5) < 1e-3);
	starpu_shutdown();
}

static double copy_s(starpu_data_handle_t handle, int worker)
{
	double begin_s = now_s();

	CLAIM_EQ(starpu_task_insert(&read_it, STARPU_R, handle, STARPU_EXECUTE_ON_WORKER,
				    worker, 0),
		 0);
	starpu_task_wait_for_all();
	return now_s() - begin_s;
}

static void links_are_theirs(void)
{
	static char bytes[BYTES];
	starpu_data_handle_t handle;

	CLAIM_EQ(start_under("eager"), 0);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, BYTES, 1);
	CLAIM(fabs(copy_s(handle, FAST) - 800e-6) < 20e-6);
	/* A latency, a tenth of the others' bandwidth, and the launch. */
	CLAIM(fabs(copy_s(handle, SMALL) - 0.509) < 20e-6);
	CLAIM(fabs(copy_s(handle, PLAIN) - 800e-6) < 20e-6);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* Two GPUs have links to others, which go to each other only; the rest go by main memory,
 * where the value stays. */
static void peers_are_those_with_links(void)
{
	starpu_data_handle_t handle;
	static struct starpu_codelet write = {.cuda_funcs = {(starpu_cuda_func_t)1},
					      .nbuffers = 1,
					      .modes = {STARPU_W},
					      .model = &starpu_perfmodel_nop,
					      .name = "write"};

	CLAIM_EQ(start_under("eager"), 0);
	starpu_vector_data_register(&handle, -1, 0, BYTES, 1);
	CLAIM_EQ(starpu_task_insert(&write, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER,
				    FAST, 0),
		 0);
	starpu_task_wait_for_all();
	CLAIM(fabs(copy_s(handle, FAST_TOO) - 100e-6) < 20e-6);
	CLAIM(fabs(copy_s(handle, PLAIN) - 1600e-6) < 40e-6);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* By STARPU_WORKERS_CUDAID, or by the application: of these with names, rooms, kernels
 * and links of the machine's. */
static void the_chosen_have_workers(void)
{
	static char bytes[BYTES];
	starpu_data_handle_t handle;
	char name[64];

	CLAIM_EQ(start_under("eager"), 0);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 2);
	starpu_worker_get_name(0, name, sizeof(name));
	CLAIM(strcmp(name, "CUDA 2.0 (Fast 0.0 GiB)") == 0);
	starpu_worker_get_name(1, name, sizeof(name));
	CLAIM(strcmp(name, "CUDA 1.0 (Small 0.0 GiB)") == 0);
	CLAIM_EQ(starpu_worker_get_devid(0), FAST_TOO);
	CLAIM_EQ(starpu_memory_get_total(starpu_worker_get_memory_node(0)), 4000);
	CLAIM_EQ(starpu_memory_get_total(starpu_worker_get_memory_node(1)), 1000);
	CLAIM(fabs(task_s(1) - 20 * task_s(0)) < 1);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, BYTES, 1);
	CLAIM(fabs(copy_s(handle, 0) - 800e-6) < 20e-6);
	CLAIM(fabs(copy_s(handle, 1) - 0.509) < 20e-6);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void gpus_are_chosen(void)
{
	struct starpu_conf conf;

	setenv("STARPU_WORKERS_CUDAID", "2,1", 1);
	the_chosen_have_workers();
	setenv("STARPU_WORKERS_CUDAID", "2 7 1-3", 1);
	setenv("STARPU_NCUDA", "2", 1);
	the_chosen_have_workers();
	unsetenv("STARPU_WORKERS_CUDAID");
	unsetenv("STARPU_NCUDA");
	starpu_conf_init(&conf);
	conf.ncuda = 1;
	conf.use_explicit_workers_cuda_gpuid = 1;
	conf.workers_cuda_gpuid[0] = PLAIN;
	CLAIM_EQ(starpu_init(&conf), 0);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 1);
	CLAIM_EQ(starpu_worker_get_devid(0), PLAIN);
	starpu_shutdown();
}

/* Each of many equal tasks, to the GPU that ends it first. */
static void the_faster_get_more(const char *policy)
{
	int counts[NGPUS] = {0}, nfast;
	struct starpu_task *tasks[NTASKS];
	double begin_s;

	CLAIM_EQ(start_under(policy), 0);
	begin_s = now_s();
	for (int i = 0; i < NTASKS; i++) {
		tasks[i] = starpu_task_create();
		tasks[i]->cl = &compute;
		tasks[i]->flops = 1e13;
		tasks[i]->destroy = 0;
		CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		counts[tasks[i]->profiling_info ? tasks[i]->profiling_info->workerid
						: 0]++;
		starpu_task_destroy(tasks[i]);
	}
	nfast = counts[FAST] + counts[FAST_TOO];
	CLAIM(nfast >= NTASKS * 9 / 10 && nfast < NTASKS);
	CLAIM(counts[PLAIN] >= counts[SMALL]);
	/* As long as all have something to do, and one more on the slowest. */
	CLAIM(now_s() - begin_s < NTASKS / 2 * 0.63 + 13);
	starpu_shutdown();
}

int main(void)
{
	setenv("STARPU_PROFILING", "1", 1);
	names_are_theirs();
	what_was_freed_is_given_again();
	kernels_take_each_its_time();
	links_are_theirs();
	peers_are_those_with_links();
	gpus_are_chosen();
	the_faster_get_more("dmda");
	the_faster_get_more("dmdas");
	return claim_failures > 0;
}
