/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Data that have another format on GPUs: when they are converted, and by whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <starpu_scheduler.h>

#include "one_node.h"

enum { N = 3, ADD_CPU = 1, ADD_GPU, TO_GPU, TO_CPU };

struct pair { /* the processors' format */
	int a, b;
};

static void to_gpu(void *buffers[], void *arg)
{
	const struct pair *from = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	long *to = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);

	(void)arg;
	one_note(TO_GPU);
	assert_true(starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CUDA_WORKER);
	for (uint32_t i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++)
		to[i] = 1000L * from[i].a + from[i].b;
}

static void to_cpu(void *buffers[], void *arg)
{
	const long *from = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	struct pair *to = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void)arg;
	one_note(TO_CPU);
	assert_true(starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER);
	for (uint32_t i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++)
		to[i] = (struct pair){(int)(from[i] / 1000), (int)(from[i] % 1000)};
}

static struct starpu_codelet to_gpu_cl = {.cuda_funcs = {to_gpu}, .nbuffers = 1},
			     to_cpu_cl = {.cpu_funcs = {to_cpu}, .nbuffers = 1};

static struct starpu_multiformat_data_interface_ops formats = {
	.cpu_elemsize = sizeof(struct pair),
	.cuda_elemsize = sizeof(long),
	.cpu_to_cuda_cl = &to_gpu_cl,
	.cuda_to_cpu_cl = &to_cpu_cl};

static void add_cpu(void *buffers[], void *arg)
{
	struct pair *x = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void)arg;
	one_note(ADD_CPU);
	for (uint32_t i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++)
		x[i].b++;
}

static void add_gpu(void *buffers[], void *arg)
{
	long *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);

	(void)arg;
	one_note(ADD_GPU);
	for (uint32_t i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++)
		x[i] += 1000;
}

static struct starpu_codelet on_cpu = {.cpu_funcs = {add_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW}},
			     on_gpu = {.cuda_funcs = {add_gpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW}};

static struct pair values[N];

static starpu_data_handle_t open_with(int ncpus, int ngpus)
{
	starpu_data_handle_t handle;

	one_open(ncpus, ngpus, "eager");
	for (int i = 0; i < N; i++)
		values[i] = (struct pair){i, 10 * i};
	starpu_multiformat_data_register(&handle, STARPU_MAIN_RAM, values, N, &formats);
	return handle;
}

static void expect(int a, int b)
{
	for (int i = 0; i < N; i++) {
		assert_int_equal(values[i].a, i + a);
		assert_int_equal(values[i].b, 10 * i + b);
	}
}

/* To the GPU and back for a task, there again, and home at the end. */
static void converted_where_it_goes(void **state)
{
	starpu_data_handle_t handle = open_with(1, 1);

	(void)state;
	starpu_task_insert(&on_cpu, STARPU_RW, handle, 0);
	starpu_task_insert(&on_gpu, STARPU_RW, handle, 0);
	starpu_task_insert(&on_gpu, STARPU_RW, handle, 0);
	starpu_task_insert(&on_cpu, STARPU_RW, handle, 0);
	starpu_task_insert(&on_gpu, STARPU_RW, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	ONE_EXPECT(ADD_CPU, TO_GPU, ADD_GPU, ADD_GPU, TO_CPU, ADD_CPU, TO_GPU, ADD_GPU);
	starpu_data_acquire(handle, STARPU_R);
	ONE_EXPECT(TO_CPU);
	expect(3, 2);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	ONE_EXPECT_NOTHING();
	one_close();
}

/* Between GPUs the format stays; what is only written is not converted. */
static void converted_only_where_it_must(void **state)
{
	starpu_data_handle_t handle = open_with(1, 2);
	struct starpu_codelet write = on_gpu;

	(void)state;
	write.modes[0] = STARPU_W;
	starpu_task_insert(&write, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	starpu_data_invalidate(handle);
	ONE_EXPECT(ADD_GPU);
	starpu_data_unregister(handle);
	ONE_EXPECT_NOTHING();
	one_close();
}

static double ten_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		     unsigned implementation)
{
	(void)implementation;
	return task->cl == &to_gpu_cl && arch->devices[0].type == STARPU_CUDA_WORKER ? 10
										     : 25;
}

/* As the value is now, and where the task would run. */
static void conversions_are_expected(void **state)
{
	static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
						.arch_cost_function = ten_us};
	starpu_data_handle_t handle = open_with(1, 1);
	struct starpu_perfmodel_arch *gpu = starpu_worker_get_perf_archtype(0, 0),
				     *cpu = starpu_worker_get_perf_archtype(1, 0);
	struct starpu_task task;

	(void)state;
	to_gpu_cl.model = to_cpu_cl.model = &model;
	starpu_task_init(&task);
	task.cl = &on_gpu;
	task.handles[0] = handle;
	assert_int_equal(lround(starpu_task_expected_conversion_time(&task, gpu, 0)), 10);
	assert_int_equal(lround(starpu_task_expected_conversion_time(&task, cpu, 0)), 0);
	starpu_task_insert(&on_gpu, STARPU_RW, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(lround(starpu_task_expected_conversion_time(&task, gpu, 0)), 0);
	assert_int_equal(lround(starpu_task_expected_conversion_time(&task, cpu, 0)), 25);
	starpu_task_clean(&task);
	starpu_data_unregister(handle);
	ONE_EXPECT(TO_GPU, ADD_GPU, TO_CPU);
	one_close();
	to_gpu_cl.model = to_cpu_cl.model = NULL;
}

/* All workers wait for data that have to be converted: the conversion comes first. */
static void many_wait_for_one_worker(void **state)
{
	starpu_data_handle_t handle = open_with(1, 1), others[4];
	struct pair more[4][N] = {{{0, 0}}};

	(void)state;
	for (int i = 0; i < 4; i++) {
		starpu_multiformat_data_register(&others[i], STARPU_MAIN_RAM, more[i], N,
						 &formats);
		starpu_task_insert(&on_gpu, STARPU_RW, others[i], 0);
	}
	for (int i = 0; i < 4; i++)
		starpu_task_insert(&on_cpu, STARPU_RW, others[i], 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	for (int i = 0; i < 4; i++)
		starpu_data_unregister(others[i]);
	starpu_data_unregister(handle);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < N; j++)
			assert_true(more[i][j].a == 1 && more[i][j].b == 1);
	one.nlog = 0;
	one_close();
}

/* Data without a home, that a GPU writes first, read by tasks and by the application. */
static void without_a_home(void **state)
{
	starpu_data_handle_t handle;
	struct starpu_codelet write = on_gpu, read = on_cpu;

	(void)state;
	write.modes[0] = STARPU_W;
	read.modes[0] = STARPU_R;
	one_open(2, 1, "eager");
	starpu_multiformat_data_register(&handle, -1, NULL, N, &formats);
	assert_int_equal(starpu_data_get_size(handle), N * sizeof(struct pair));
	assert_int_equal(starpu_data_get_alloc_size(handle),
			 N * (sizeof(struct pair) + sizeof(long)));
	starpu_task_insert(&write, STARPU_W, handle, 0);
	starpu_task_insert(&read, STARPU_R, handle, 0);
	starpu_task_insert(&read, STARPU_R, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	ONE_EXPECT(ADD_GPU, TO_CPU, ADD_CPU, ADD_CPU);
	starpu_data_unregister(handle);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(converted_where_it_goes),
		cmocka_unit_test(converted_only_where_it_must),
		cmocka_unit_test(conversions_are_expected),
		cmocka_unit_test(many_wait_for_one_worker),
		cmocka_unit_test(without_a_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
