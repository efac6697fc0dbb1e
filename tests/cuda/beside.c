/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What runs beside what on CUDA devices, on the stand-in for CUDA, which is no GPU and
 * says nothing of times: it holds a kernel or a copy back until others have ended, which
 * a program that did one after the other would never start.
 */
#include "../api/claim.h"
#include "adds.h"

int claim_failures;

enum { N = 1 << 15 }; /* 256 KiB: so large a value is pinned, and fills a quarter MiB */

static void start(int ncuda, const char *pipeline)
{
	struct starpu_conf conf;

	setenv("STARPU_CUDA_PIPELINE", pipeline, 1);
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = ncuda;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static void stop(void)
{
	starpu_shutdown();
	CLAIM_EQ(standin_nholds(), 0);
}

static void add_and_wait(void *buffers[], void *arg)
{
	add_cuda(buffers, arg);
	cudaStreamSynchronize(starpu_cuda_get_local_stream());
}

static struct starpu_codelet adds = {.cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .name = "adds"},
			     waits = {.cuda_funcs = {add_and_wait},
				      .nbuffers = 1,
				      .modes = {STARPU_RW},
				      .name = "waits"};

static void submit_to(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker)
{
	CLAIM_EQ(starpu_task_insert(cl, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				    worker, 0),
		 0);
}

/* Values of pinned memory, 0 at first. */
struct values {
	int n;
	double *x[8];
	starpu_data_handle_t handles[8];
};

static struct values make(int n)
{
	struct values all = {.n = n};

	for (int i = 0; i < n; i++) {
		starpu_malloc((void **)&all.x[i], N * sizeof(double));
		memset(all.x[i], 0, N * sizeof(double));
		starpu_vector_data_register(&all.handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)all.x[i], N, sizeof(double));
	}
	return all;
}

static void end(struct values *all, const int *expected)
{
	for (int i = 0; i < all->n; i++) {
		starpu_data_unregister(all->handles[i]);
		for (int k = 0; k < N; k++)
			if (all->x[i][k] != expected[i]) {
				CLAIM_EQ(all->x[i][k], expected[i]);
				break;
			}
		starpu_free_noflag(all->x[i], N * sizeof(double));
	}
}

/* ---- copies beside kernels --------------------------------------------- */

static void next_data_come_beside(const char *pipeline)
{
	struct values v;

	start(1, pipeline);
	v = make(2);
	standin_hold(STANDIN_KERNEL, STANDIN_TO_DEVICE, 2);
	submit_to(&adds, v.handles[0], 0);
	submit_to(&adds, v.handles[1], 0);
	end(&v, (int[]){1, 1});
	stop();
}

static void data_of_the_next_task(void)
{
	next_data_come_beside("2");
	next_data_come_beside("1");
}

/* The kernel that is held is of a task whose data are there for long. */
static void values_come_back(void)
{
	struct values v;

	start(1, "2");
	v = make(2);
	submit_to(&adds, v.handles[0], 0);
	submit_to(&adds, v.handles[1], 0);
	starpu_task_wait_for_all();
	standin_hold(STANDIN_KERNEL, STANDIN_FROM_DEVICE, 1);
	submit_to(&adds, v.handles[1], 0);
	starpu_data_acquire(v.handles[0], STARPU_R);
	CLAIM_EQ(v.x[0][N - 1], 1);
	starpu_data_release(v.handles[0]);
	end(&v, (int[]){1, 2});
	stop();
}

/* A megabyte holds four: the fifth, of the next task, is there only when another one has
 * left. */
static void values_leave_for_the_next_task(void)
{
	struct values v;

	setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
	start(1, "2");
	v = make(5);
	for (int i = 0; i < 4; i++)
		submit_to(&adds, v.handles[i], 0);
	starpu_task_wait_for_all();
	standin_hold(STANDIN_KERNEL, STANDIN_TO_DEVICE, 1);
	submit_to(&adds, v.handles[3], 0);
	submit_to(&adds, v.handles[4], 0);
	end(&v, (int[]){1, 1, 1, 2, 1});
	stop();
	unsetenv("STARPU_LIMIT_CUDA_MEM");
}

/* The worker's thread is in the kernel's function when that waits itself. */
static void prefetches_come_beside(struct starpu_codelet *cl)
{
	struct values v;

	start(1, "0");
	v = make(2);
	standin_hold(STANDIN_KERNEL, STANDIN_TO_DEVICE, 2);
	submit_to(cl, v.handles[0], 0);
	CLAIM_EQ(starpu_data_prefetch_on_node(v.handles[1],
					      starpu_worker_get_memory_node(0), 1),
		 0);
	end(&v, (int[]){1, 0});
	stop();
}

static void prefetches(void)
{
	prefetches_come_beside(&adds);
	prefetches_come_beside(&waits);
}

/* Kernels on both devices wait for a value that goes from one to the other. */
static void from_device_to_device(void)
{
	struct values v;

	start(2, "2");
	v = make(3);
	for (int i = 0; i < 3; i++)
		submit_to(&adds, v.handles[i], i / 2);
	starpu_task_wait_for_all();
	standin_hold(STANDIN_KERNEL, STANDIN_PEER, 1);
	standin_hold(STANDIN_KERNEL, STANDIN_PEER, 1);
	submit_to(&adds, v.handles[1], 0);
	submit_to(&adds, v.handles[2], 1);
	starpu_data_prefetch_on_node(v.handles[0], starpu_worker_get_memory_node(1), 1);
	end(&v, (int[]){1, 2, 2});
	stop();
}

/* ---- copies beside copies ------------------------------------------------ */

static void released(void *arg)
{
	starpu_data_release(*(starpu_data_handle_t *)arg);
}

/* One value comes while the other leaves; the one that is held cannot end first. */
static void both_directions(enum standin_kind held, enum standin_kind other)
{
	struct values v;

	start(1, "2");
	v = make(2);
	submit_to(&adds, v.handles[0], 0);
	starpu_task_wait_for_all();
	standin_hold(held, other, 1);
	if (held == STANDIN_TO_DEVICE)
		submit_to(&adds, v.handles[1], 0);
	starpu_data_acquire_cb(v.handles[0], STARPU_R, released, &v.handles[0]);
	if (held == STANDIN_FROM_DEVICE)
		submit_to(&adds, v.handles[1], 0);
	starpu_task_wait_for_all();
	end(&v, (int[]){1, 1});
	stop();
}

static void in_both_directions(void)
{
	both_directions(STANDIN_TO_DEVICE, STANDIN_FROM_DEVICE);
	both_directions(STANDIN_FROM_DEVICE, STANDIN_TO_DEVICE);
}

/* ---- kernels behind kernels ---------------------------------------------- */

/* The first kernel is held until as many as may be are on the stream behind it. */
static void queue(const char *pipeline, int most)
{
	struct values v;

	start(1, pipeline);
	v = make(8);
	for (int i = 0; i < v.n; i++)
		submit_to(&adds, v.handles[i], 0);
	starpu_task_wait_for_all();
	standin_most_queued();
	standin_hold(STANDIN_KERNEL, STANDIN_QUEUED, most);
	for (int i = 0; i < v.n; i++)
		submit_to(&adds, v.handles[i], 0);
	end(&v, (int[]){2, 2, 2, 2, 2, 2, 2, 2});
	stop();
	CLAIM_EQ(standin_most_queued(), most);
}

static void as_many_kernels_as_the_pipeline_says(void)
{
	queue("0", 1);
	queue("1", 1);
	queue("2", 2);
	queue("3", 3);
}

/* The second kernel is held until a third one is on the stream, for which there is room
 * as soon as the first has ended. */
static void room_is_used_at_once(void)
{
	struct values v;

	start(1, "2");
	v = make(4);
	for (int i = 0; i < v.n; i++)
		submit_to(&adds, v.handles[i], 0);
	starpu_task_wait_for_all();
	standin_hold(STANDIN_KERNEL, STANDIN_QUEUED, 2);
	standin_hold(STANDIN_KERNEL, STANDIN_QUEUED, 3);
	for (int i = 0; i < v.n; i++)
		submit_to(&adds, v.handles[i], 0);
	end(&v, (int[]){2, 2, 2, 2});
	stop();
}

/* ---- the device of a thread ---------------------------------------------- */

enum { NDEVICES = 2 };

static int nlost;

/* The worker's device is the current one, whatever the task before has done. */
static void leave_device(void *buffers[], void *arg)
{
	int mine = starpu_worker_get_devid(starpu_worker_get_id()), device;

	cudaGetDevice(&device);
	if (device != mine)
		STARPU_ATOMIC_ADD(&nlost, 1);
	add_cuda(buffers, arg);
	cudaSetDevice((mine + 1) % NDEVICES);
}

static struct starpu_codelet leaving = {.cuda_funcs = {leave_device},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.name = "leaving"};

static void kernels_begin_on_their_device(void)
{
	struct values v;

	start(NDEVICES, "2");
	nlost = 0;
	v = make(4);
	for (int i = 0; i < 3 * v.n; i++)
		submit_to(&leaving, v.handles[i % v.n], i % NDEVICES);
	end(&v, (int[]){3, 3, 3, 3});
	stop();
	CLAIM_EQ(nlost, 0);
}

int main(void)
{
	static const struct claim claims[] = {
		{"kernels begin on their worker's device, wherever others left it",
		 kernels_begin_on_their_device},
		{"the next task's data come beside a kernel", data_of_the_next_task},
		{"values come back beside a kernel", values_come_back},
		{"values leave for the next task beside a kernel",
		 values_leave_for_the_next_task},
		{"prefetches come beside a kernel, also one that waits", prefetches},
		{"values go between devices beside kernels of both",
		 from_device_to_device},
		{"copies in both directions at once", in_both_directions},
		{"as many kernels are queued as STARPU_CUDA_PIPELINE says",
		 as_many_kernels_as_the_pipeline_says},
		{"the next kernel is queued as soon as the first of two has ended",
		 room_is_used_at_once},
		{NULL, NULL}};

	standin_use();
	return claims_run(claims, 0);
}
