/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Interfaces on a machine with GPUs: which copy methods are called, what arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "one_node.h"

/* ---- the application's ----------------------------------------------- */

enum { RAM_TO_GPU = 1, GPU_TO_RAM, GPU_TO_GPU, ANY };

static int refuses; /* can_copy() between GPUs */

static int copy_ints(int number, void *from, void *to)
{
	int **x = from, **y = to;

	one_note(number);
	**y = **x;
	return 0;
}

static int ram_to_gpu(void *from, unsigned from_node, void *to, unsigned to_node)
{
	assert_true(from_node == 0 && to_node > 0);
	return copy_ints(RAM_TO_GPU, from, to);
}

static int gpu_to_ram(void *from, unsigned from_node, void *to, unsigned to_node)
{
	assert_true(from_node > 0 && to_node == 0);
	return copy_ints(GPU_TO_RAM, from, to);
}

static int gpu_to_gpu(void *from, unsigned from_node, void *to, unsigned to_node)
{
	assert_true(from_node > 0 && to_node > 0 && from_node != to_node);
	return copy_ints(GPU_TO_GPU, from, to);
}

static int any(void *from, unsigned from_node, void *to, unsigned to_node,
	       void *async_data)
{
	(void)from_node;
	(void)to_node;
	assert_null(async_data);
	return copy_ints(ANY, from, to);
}

static int can_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		    unsigned handling_node)
{
	(void)from;
	(void)to;
	assert_true(from_node > 0 && to_node > 0);
	assert_true(handling_node == from_node || handling_node == to_node);
	return !refuses;
}

static void int_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		int **at = starpu_data_get_interface_on_node(handle, (unsigned)i);

		*at = i == home ? *(int **)interface : NULL;
	}
}

static starpu_ssize_t int_allocate(void *interface, unsigned node)
{
	*(int **)interface = (int *)starpu_malloc_on_node(node, sizeof(int));
	return sizeof(int);
}

static void int_free(void *interface, unsigned node)
{
	starpu_free_on_node(node, *(uintptr_t *)interface, sizeof(int));
	*(int **)interface = NULL;
}

static size_t int_size(starpu_data_handle_t handle)
{
	(void)handle;
	return sizeof(int);
}

static uint32_t int_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

static const struct starpu_data_copy_methods by_kind = {.can_copy = can_copy,
							.ram_to_cuda = ram_to_gpu,
							.cuda_to_ram = gpu_to_ram,
							.cuda_to_cuda = gpu_to_gpu,
							.any_to_any = any};
static const struct starpu_data_copy_methods some = {.ram_to_cuda = ram_to_gpu,
						     .any_to_any = any};

static struct starpu_data_interface_ops int_ops = {
	.register_data_handle = int_register,
	.allocate_data_on_node = int_allocate,
	.free_data_on_node = int_free,
	.get_size = int_size,
	.footprint = int_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(int *),
	.name = (char *)"int",
};

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++**(int **)buffers[0];
}

static struct starpu_codelet add = {
	.cuda_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "add"};

/* A value goes from main memory to the first GPU, to the second, and back.  The fake's
 * hardware moves bytes twice: when a copy starts and when it ends. */
static void take_around(const struct starpu_data_copy_methods *methods)
{
	starpu_data_handle_t handle;
	int value = 5, *at = &value;

	one_open(1, 2, "eager");
	int_ops.copy_methods = methods;
	starpu_data_register(&handle, 0, &at, &int_ops);
	for (unsigned worker = 0; worker < 2; worker++)
		starpu_task_insert(&add, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   worker, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	starpu_data_unregister(handle);
	assert_int_equal(value, 7);
}

static void test_methods_are_chosen_by_kind(void **state)
{
	(void)state;
	refuses = 0;
	take_around(&by_kind);
	ONE_EXPECT(RAM_TO_GPU, RAM_TO_GPU, GPU_TO_GPU, GPU_TO_GPU, GPU_TO_RAM,
		   GPU_TO_RAM);
	one_close();
}

static void test_refused_ways_stop_in_main_memory(void **state)
{
	(void)state;
	refuses = 1;
	take_around(&by_kind);
	ONE_EXPECT(RAM_TO_GPU, RAM_TO_GPU, GPU_TO_RAM, GPU_TO_RAM, RAM_TO_GPU, RAM_TO_GPU,
		   GPU_TO_RAM, GPU_TO_RAM);
	one_close();
}

static void test_any_to_any_does_the_rest(void **state)
{
	(void)state;
	take_around(&some);
	ONE_EXPECT(RAM_TO_GPU, RAM_TO_GPU, ANY, ANY, ANY, ANY);
	one_close();
}

/* ---- the predefined ones on GPUs ------------------------------------- */

enum { NNZ = 6, NROW = 2 };

static void scale_csr(void *buffers[], void *arg)
{
	double *values = (double *)STARPU_CSR_GET_NZVAL(buffers[0]);

	(void)arg;
	assert_int_equal(STARPU_CSR_GET_COLIND(buffers[0])[5], 15);
	assert_int_equal(STARPU_CSR_GET_ROWPTR(buffers[0])[2], NNZ);
	assert_ptr_not_equal(STARPU_CSR_GET_COLIND(buffers[0]),
			     STARPU_CSR_GET_RAM_COLIND(buffers[0]));
	assert_int_equal(STARPU_CSR_GET_RAM_COLIND(buffers[0])[5], 15);
	for (int i = 0; i < NNZ; i++)
		values[i] *= 2;
}

static void scale_ndim(void *buffers[], void *arg)
{
	int *at = (int *)STARPU_NDIM_GET_PTR(buffers[0]);
	const uint32_t *ldn = STARPU_NDIM_GET_LDN(buffers[0]);

	(void)arg;
	/* Contiguous there, with gaps at home. */
	assert_int_equal(ldn[1], 2);
	assert_int_equal(ldn[5], 32);
	for (int i = 0; i < 64; i++)
		at[i] *= 2;
}

static struct starpu_codelet scale[2] = {{.cuda_funcs = {scale_csr},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .name = "scale csr"},
					 {.cuda_funcs = {scale_ndim},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .name = "scale ndim"}};

static void test_several_arrays_reach_gpus(void **state)
{
	uint32_t colind[NNZ] = {0, 3, 6, 9, 12, 15}, rowptr[NROW + 1] = {0, 2, NNZ};
	double values[NNZ] = {1, 2, 3, 4, 5, 6};
	starpu_data_handle_t handle;

	(void)state;
	one_open(1, 2, "eager");
	starpu_csr_data_register(&handle, 0, NNZ, NROW, (uintptr_t)values, colind, rowptr,
				 0, sizeof(double));
	for (unsigned worker = 0; worker < 2; worker++)
		starpu_task_insert(&scale[0], STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   worker, 0);
	starpu_data_unregister(handle);
	for (int i = 0; i < NNZ; i++)
		assert_true(values[i] == 4 * (i + 1));
	assert_int_equal(colind[5], 15);
	one_close();
}

static void test_six_dimensions_reach_gpus(void **state)
{
	uint32_t nn[] = {2, 2, 2, 2, 2, 2}, ldn[] = {1, 3, 9, 27, 81, 243};
	static int cells[729];
	starpu_data_handle_t handle;
	int sum = 0, gaps = 0;

	(void)state;
	one_open(1, 2, "eager");
	memset(cells, 0, sizeof(cells));
	for (int i = 0; i < 64; i++) {
		int at = 0;

		for (int d = 0; d < 6; d++)
			at += (i >> d & 1) * (int)ldn[d];
		cells[at] = i + 1;
	}
	starpu_ndim_data_register(&handle, 0, (uintptr_t)cells, ldn, nn, 6, sizeof(int));
	for (unsigned worker = 0; worker < 2; worker++)
		starpu_task_insert(&scale[1], STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   worker, 0);
	starpu_data_unregister(handle);
	for (int i = 0; i < 729; i++) {
		sum += cells[i];
		gaps += cells[i] == 0;
	}
	assert_int_equal(sum, 4 * 64 * 65 / 2);
	assert_int_equal(gaps, 729 - 64);
	assert_int_equal(cells[1 + 3 + 9 + 27 + 81 + 243], 4 * 64);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods_are_chosen_by_kind),
		cmocka_unit_test(test_refused_ways_stop_in_main_memory),
		cmocka_unit_test(test_any_to_any_does_the_rest),
		cmocka_unit_test(test_several_arrays_reach_gpus),
		cmocka_unit_test(test_six_dimensions_reach_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
