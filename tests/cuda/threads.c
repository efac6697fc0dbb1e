/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Which threads the workers of CUDA devices have, on the stand-in for CUDA, which is no
 * GPU: two devices with three workers each.
 */
#include <pthread.h>

#include "../api/claim.h"
#include "on_device.h"

enum { NDEVICES = 2, NEACH = 3, NWORKERS = NDEVICES * NEACH, ROUNDS = 20, TASKS = 36 };

int claim_failures;
static pthread_t seen[NWORKERS]; /* of worker number i, when it called a kernel */

static void start(const char *by_worker, const char *by_device)
{
	struct starpu_conf conf;

	setenv("STANDIN_DEVICES", "2", 1);
	setenv("STARPU_NWORKER_PER_CUDA", "3", 1);
	unsetenv("STARPU_CUDA_THREAD_PER_WORKER");
	unsetenv("STARPU_CUDA_THREAD_PER_DEV");
	if (by_worker)
		setenv("STARPU_CUDA_THREAD_PER_WORKER", by_worker, 1);
	if (by_device)
		setenv("STARPU_CUDA_THREAD_PER_DEV", by_device, 1);
	starpu_conf_init(&conf);
	conf.ncpus = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
	CLAIM_EQ(starpu_cuda_worker_get_count(), NWORKERS);
}

static void add_one(const struct launch *launch)
{
	*(double *)standin_at(launch->ptr[0]) += 1;
}

static void launch_one(void *buffers[], void *arg)
{
	(void)arg;
	seen[starpu_worker_get_id()] = pthread_self();
	launch_here((struct launch){
		.func = add_one, .ptr = {(char *)STARPU_VARIABLE_GET_PTR(buffers[0])}});
}

static void wait_for_one(void *buffers[], void *arg)
{
	launch_one(buffers, arg);
	cudaStreamSynchronize(starpu_cuda_get_local_stream());
}

static struct starpu_codelet queued = {.cuda_funcs = {launch_one},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "queued"},
			     waiting = {.cuda_funcs = {wait_for_one},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.name = "waiting"};

/* Values go round all workers; between rounds the workers have time to fall asleep. */
static void go_round(void)
{
	double values[TASKS] = {0};
	starpu_data_handle_t handles[TASKS];

	for (int i = 0; i < TASKS; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TASKS; i++)
			CLAIM_EQ(starpu_task_insert(round % 3 ? &queued : &waiting,
						    STARPU_RW, handles[i],
						    STARPU_EXECUTE_ON_WORKER,
						    (i + round) % NWORKERS, 0),
				 0);
		if (round % 4 == 0)
			starpu_task_wait_for_all();
	}
	for (int i = 0; i < TASKS; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(values[i], ROUNDS);
	}
}

static int count_threads(void)
{
	int n = 0;

	for (int i = 0; i < NWORKERS; i++) {
		int is_new = 1;

		for (int k = 0; k < i; k++)
			is_new &= !pthread_equal(seen[i], seen[k]);
		n += is_new;
	}
	return n;
}

static void expect_threads(const char *by_worker, const char *by_device, int nthreads)
{
	start(by_worker, by_device);
	go_round();
	CLAIM_EQ(count_threads(), nthreads);
	starpu_shutdown();
}

static void each_worker_has_one(void)
{
	expect_threads(NULL, NULL, NWORKERS);
	expect_threads("1", NULL, NWORKERS);
}

static void each_device_has_one(void)
{
	expect_threads(NULL, "1", NDEVICES);
	expect_threads("0", NULL, NDEVICES);
	expect_threads("0", "1", NDEVICES);
	for (int i = 0; i < NWORKERS; i++)
		CLAIM(pthread_equal(seen[i], seen[i / NEACH * NEACH]));
}

static void all_devices_share_one(void)
{
	expect_threads(NULL, "0", 1);
	expect_threads("0", "0", 1);
}

/* Idle workers of a crew take what is there, whoever is asked first. */
static void one_task_at_a_time(void)
{
	double value = 0;
	starpu_data_handle_t handle;

	start(NULL, "0");
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 200; i++) {
		starpu_task_insert(&queued, STARPU_RW, handle, 0);
		starpu_task_wait_for_all();
	}
	starpu_data_unregister(handle);
	CLAIM_EQ(value, 200);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"each worker has a thread", each_worker_has_one},
		{"each device has a thread", each_device_has_one},
		{"all devices share a thread", all_devices_share_one},
		{"one task at a time", one_task_at_a_time},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
