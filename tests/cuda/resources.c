/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What the library takes of CUDA devices and of the machine beside them, on the stand-in
 * for CUDA, which is no GPU and counts it: pinned memory, allocations, ways of copies,
 * looks at events.
 */
#include <unistd.h>

#include "../api/claim.h"
#include "adds.h"

int claim_failures;

enum { N = 1 << 15, BYTES = N * sizeof(double), MANY = 24 };

static void start(int ncuda)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = ncuda;
	if (starpu_init(&conf) != 0)
		exit(77);
	for (int i = 0; i < STANDIN_COUNTS; i++)
		standin_count((enum standin_count)i);
}

static struct starpu_codelet adds = {.cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .name = "adds"},
			     writes = {.cuda_funcs = {add_cuda},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .name = "writes"};

/* On each worker in turn. */
static void travel(starpu_data_handle_t handle, int ntasks, int nworkers)
{
	for (int i = 0; i < ntasks; i++)
		CLAIM_EQ(starpu_task_insert(&adds, STARPU_RW, handle,
					    STARPU_EXECUTE_ON_WORKER, i % nworkers, 0),
			 0);
}

/* There and back; how many copies were slow. */
static long copy_to_and_fro(double *x)
{
	starpu_data_handle_t handle;

	memset(x, 0, BYTES);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, N,
				    sizeof(*x));
	travel(handle, 1, 1);
	starpu_data_unregister(handle);
	CLAIM_EQ(x[N - 1], 1);
	return standin_count(STANDIN_SLOW_COPIES);
}

static void memory_is_pinned(void)
{
	double *plain = malloc(BYTES), *ours, *unpinned;

	start(1);
	starpu_malloc((void **)&ours, BYTES);
	starpu_malloc_flags((void **)&unpinned, BYTES, 0);
	CLAIM_EQ(copy_to_and_fro(plain), 2);
	CLAIM_EQ(starpu_memory_pin(plain, BYTES), 0);
	CLAIM_EQ(copy_to_and_fro(plain), 0);
	CLAIM_EQ(starpu_memory_unpin(plain, BYTES), 0);
	CLAIM_EQ(copy_to_and_fro(plain), 2);
	CLAIM_EQ(copy_to_and_fro(ours), 0);
	CLAIM_EQ(copy_to_and_fro(unpinned), 2);
	starpu_free_noflag(ours, BYTES);
	starpu_free_flags(unpinned, BYTES, 0);
	starpu_shutdown();
	free(plain);
}

static void nothing_is_pinned_where_that_is_said(void)
{
	double *ours;

	setenv("STARPU_DISABLE_PINNING", "1", 1);
	start(1);
	starpu_malloc((void **)&ours, BYTES);
	CLAIM_EQ(starpu_memory_pin(ours, BYTES), 0);
	CLAIM_EQ(copy_to_and_fro(ours), 2);
	starpu_free_noflag(ours, BYTES);
	starpu_shutdown();
	unsetenv("STARPU_DISABLE_PINNING");
}

/* Values without memory of the application's, which come to main memory, too. */
static void the_librarys_own_memory_is_pinned(void)
{
	starpu_data_handle_t handle;

	start(1);
	starpu_vector_data_register(&handle, -1, 0, N, sizeof(double));
	starpu_task_insert(&writes, STARPU_W, handle, 0);
	starpu_data_acquire(handle, STARPU_R);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	CLAIM_EQ(standin_count(STANDIN_SLOW_COPIES), 0);
	starpu_shutdown();
}

/* ---- memory of devices --------------------------------------------------- */

static void memory_is_allocated_once(void)
{
	start(1);
	for (int i = 0; i < MANY; i++) {
		starpu_data_handle_t handle;

		starpu_vector_data_register(&handle, -1, 0, N, sizeof(double));
		starpu_task_insert(&writes, STARPU_W, handle, STARPU_TASK_SYNCHRONOUS, 1,
				   0);
		starpu_data_unregister_no_coherency(handle);
	}
	CLAIM_EQ(standin_count(STANDIN_ALLOCATIONS), 1);
	starpu_shutdown();
}

static void limits_hold(void)
{
	double *x = calloc((size_t)N * MANY, sizeof(*x));
	starpu_data_handle_t handles[MANY];

	setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
	start(1);
	for (int i = 0; i < MANY; i++) {
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)(x + (size_t)i * N), N,
					    sizeof(*x));
		travel(handles[i], 2, 1);
	}
	for (int i = 0; i < MANY; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(x[(size_t)i * N + N - 1], 2);
	}
	CLAIM(standin_count(STANDIN_MOST_BYTES) <= 1 << 20);
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CUDA_MEM");
	free(x);
}

/* ---- ways ------------------------------------------------------------------ */

static long count_peer_copies(const char *variable, const char *value)
{
	double x[N] = {0};
	starpu_data_handle_t handle;

	setenv(variable, value, 1);
	start(2);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, N,
				    sizeof(*x));
	travel(handle, 5, 2);
	starpu_data_unregister(handle);
	CLAIM_EQ(x[0], 5);
	starpu_shutdown();
	unsetenv(variable);
	return standin_count(STANDIN_PEER_COPIES);
}

static void values_go_directly_where_they_may(void)
{
	CLAIM_EQ(count_peer_copies("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", "1"), 4);
	CLAIM_EQ(count_peer_copies("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", "0"), 0);
	CLAIM_EQ(count_peer_copies("STANDIN_PEERS", "0"), 0);
}

/* ---- contexts, names -------------------------------------------------------- */

static void threads_choose_a_device(void)
{
	int device = -1;

	start(2);
	for (unsigned i = 0; i < 2; i++) {
		starpu_cuda_set_device(i);
		cudaGetDevice(&device);
		CLAIM_EQ(device, i);
	}
	starpu_shutdown();
}

static void devices_are_in_the_topology(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *f;

	start(2);
	f = open_memstream(&text, &bytes);
	starpu_topology_print(f);
	fclose(f);
	CLAIM(strstr(text, "2 GPUs (Stand-in 0)"));
	CLAIM(strstr(text, "CUDA 0.0 (Stand-in 0 0.1 GiB 0000:00:00.0)"));
	CLAIM(strstr(text, "CUDA 1.0 (Stand-in 1 0.1 GiB 0000:01:00.0)"));
	free(text);
	starpu_shutdown();
}

/* ---- cores -------------------------------------------------------------------- */

enum { LONG_US = 300000, LOOKS = 5000 };

static void last_long(const struct launch *launch)
{
	(void)launch;
	usleep(LONG_US);
}

static void long_cuda(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	launch_here((struct launch){.func = last_long});
}

/* Who looks all the time does so a hundred times as often; on a busy machine both look
 * less often. */
static void nobody_is_busy_beside_a_kernel(void)
{
	static struct starpu_codelet lasts = {.cuda_funcs = {long_cuda},
					      .cuda_flags = {STARPU_CUDA_ASYNC},
					      .name = "lasts"};
	static const char *const threads[] = {"-1", "0", "1"};

	for (int i = 0; i < 3; i++) {
		setenv("STARPU_CUDA_THREAD_PER_DEV", threads[i], 1);
		start(1);
		starpu_task_insert(&lasts, 0);
		starpu_task_wait_for_all();
		CLAIM(standin_count(STANDIN_QUERIES) < LOOKS);
		starpu_shutdown();
	}
	unsetenv("STARPU_CUDA_THREAD_PER_DEV");
}

int main(void)
{
	static const struct claim claims[] = {
		{"memory is pinned", memory_is_pinned},
		{"nothing is pinned where that is said",
		 nothing_is_pinned_where_that_is_said},
		{"the library's own memory is pinned", the_librarys_own_memory_is_pinned},
		{"memory is allocated once for values that follow each other",
		 memory_is_allocated_once},
		{"limits hold", limits_hold},
		{"values go directly where they may", values_go_directly_where_they_may},
		{"threads choose a device", threads_choose_a_device},
		{"devices are in the topology", devices_are_in_the_topology},
		{"nobody is busy beside a kernel", nobody_is_busy_beside_a_kernel},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
