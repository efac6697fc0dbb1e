/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Interfaces on a machine with GPUs: which copy methods are called, what arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "int_interface.h"
#include "one_node.h"

/* ---- the application's ----------------------------------------------- */

enum { RAM_TO_GPU = 1, GPU_TO_RAM, GPU_TO_GPU, ANY };

static int refuses; /* can_copy() between GPUs */
static int nlate;   /* calls of a method that may leave something to be done */

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
	nlate += async_data != NULL;
	copy_ints(ANY, from, to);
	return -EAGAIN; /* As what starpu_interface_copy() may return. */
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

static const struct starpu_data_copy_methods by_kind = {.can_copy = can_copy,
							.ram_to_cuda = ram_to_gpu,
							.cuda_to_ram = gpu_to_ram,
							.cuda_to_cuda = gpu_to_gpu,
							.any_to_any = any};
static const struct starpu_data_copy_methods some = {.ram_to_cuda = ram_to_gpu,
						     .any_to_any = any};

static struct starpu_data_interface_ops int_ops = {INT_OPERATIONS};

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
	nlate = 0;
	take_around(&some);
	ONE_EXPECT(RAM_TO_GPU, RAM_TO_GPU, ANY, ANY, ANY, ANY);
	assert_int_equal(nlate, 2);
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

/* ---- where copies are ------------------------------------------------ */

static void double_vector(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VECTOR_GET_PTR(buffers[0]) *= 2;
}

static struct starpu_codelet double_it = {.cuda_funcs = {double_vector},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .name = "double"};

static void test_given_memory_on_a_gpu_stays(void **state)
{
	int value[2] = {4, 5}, there[2] = {0, 0};
	starpu_data_handle_t handle;

	(void)state;
	one_open(1, 1, "eager");
	starpu_vector_data_register(&handle, 0, (uintptr_t)value, 2, sizeof(int));
	starpu_vector_ptr_register(handle, 1, (uintptr_t)there, (uintptr_t)there, 0);
	starpu_task_insert(&double_it, STARPU_RW, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(there[0], 8);
	assert_int_equal(starpu_data_can_evict(handle, 1, STARPU_FETCH), 0);
	assert_int_equal(starpu_data_evict_from_node(handle, 1), -1);
	starpu_data_unregister(handle);
	assert_int_equal(value[0], 8);
	assert_int_equal(there[1], 5);
	one_close();
}

static void test_evicted_values_come_home(void **state)
{
	int value[2] = {4, 5}, allocated, valid;
	starpu_data_handle_t handle;

	(void)state;
	one_open(1, 1, "eager");
	starpu_vector_data_register(&handle, 0, (uintptr_t)value, 2, sizeof(int));
	assert_int_equal(starpu_data_evict_from_node(handle, 1), -1);
	starpu_task_insert(&double_it, STARPU_RW, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(value[0], 4);
	assert_int_equal(starpu_data_can_evict(handle, 1, STARPU_FETCH), 1);
	assert_int_equal(starpu_data_can_evict(handle, 0, STARPU_FETCH), 0);
	assert_int_equal(starpu_data_test_if_mapped_on_node(handle, 1), 0);
	assert_int_equal(starpu_data_evict_from_node(handle, 1), 0);
	fake_run();
	assert_int_equal(value[0], 8);
	starpu_data_query_status(handle, 1, &allocated, &valid, NULL);
	assert_int_equal(allocated, 0);
	assert_int_equal(valid, 0);
	starpu_data_unregister(handle);
	one_close();
}

/* Of two idle copies, the one that will not be used leaves, though it was used last. */
static void test_what_will_not_be_used_leaves_first(void **state)
{
	int first[2] = {1, 1}, second[2] = {2, 2}, third[2] = {3, 3};
	starpu_data_handle_t a, b, c;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	fake_machine()->ngpus = 1;
	fake_machine()->gpu_memory_bytes = 16;
	assert_int_equal(starpu_init(NULL), 0);
	one.node = plat_self();
	starpu_vector_data_register(&a, 0, (uintptr_t)first, 2, sizeof(int));
	starpu_vector_data_register(&b, 0, (uintptr_t)second, 2, sizeof(int));
	starpu_vector_data_register(&c, 0, (uintptr_t)third, 2, sizeof(int));
	starpu_task_insert(&double_it, STARPU_RW, a, 0);
	starpu_task_wait_for_all();
	starpu_task_insert(&double_it, STARPU_RW, b, 0);
	starpu_data_wont_use(b);
	starpu_task_wait_for_all();
	fake_run();
	assert_int_equal(second[0], 4); /* It came home. */
	assert_int_equal(first[0], 1);
	starpu_task_insert(&double_it, STARPU_RW, c, 0);
	starpu_task_wait_for_all();
	assert_int_equal(starpu_data_is_on_node(a, 1), 1);
	assert_int_equal(starpu_data_is_on_node(b, 1), 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(c);
	one_close();
}

/* ---- several arrays on GPUs ------------------------------------------ */

enum { SPARSE_NNZ = 5, SPARSE_NROW = 3 };

struct sparse {
	int values[SPARSE_NNZ * 6];
	uint32_t columns[SPARSE_NNZ], rows[SPARSE_NNZ + 1];
};

static const struct sparse sparse_begin = {.columns = {7, 1, 4, 0, 2},
					   .rows = {0, 2, 2, 5, 9, 9}};

/* All its arrays are where it runs: the values become the columns of theirs. */
static void fill_values(int *values, const uint32_t *columns, int each)
{
	for (int i = 0; i < SPARSE_NNZ * each; i++)
		values[i] += (int)columns[i / each];
}

static void csr_kernel(void *buffers[], void *arg)
{
	const uint32_t *rows = STARPU_CSR_GET_ROWPTR(buffers[0]);

	(void)arg;
	assert_true(STARPU_CSR_GET_NNZ(buffers[0]) == SPARSE_NNZ &&
		    rows[SPARSE_NROW] == 5);
	fill_values((int *)STARPU_CSR_GET_NZVAL(buffers[0]),
		    STARPU_CSR_GET_COLIND(buffers[0]), 1);
}

static void bcsr_kernel(void *buffers[], void *arg)
{
	const uint32_t *rows = STARPU_BCSR_GET_ROWPTR(buffers[0]);

	(void)arg;
	assert_true(STARPU_BCSR_GET_R(buffers[0]) == 2 && rows[SPARSE_NROW] == 5);
	fill_values((int *)STARPU_BCSR_GET_NZVAL(buffers[0]),
		    STARPU_BCSR_GET_COLIND(buffers[0]), 6);
}

static void coo_kernel(void *buffers[], void *arg)
{
	const uint32_t *rows = STARPU_COO_GET_ROWS(buffers[0]);

	(void)arg;
	assert_true(STARPU_COO_GET_NVALUES(buffers[0]) == SPARSE_NNZ && rows[4] == 9);
	fill_values((int *)STARPU_COO_GET_VALUES(buffers[0]),
		    STARPU_COO_GET_COLUMNS(buffers[0]), 1);
}

static void rows_kernel(void *buffers[], void *arg)
{
	const uint32_t *rows = STARPU_CSR_GET_ROWPTR(buffers[0]);
	uint32_t n = STARPU_CSR_GET_NROW(buffers[0]);

	(void)arg;
	assert_true(rows[n] - STARPU_CSR_GET_FIRSTENTRY(buffers[0]) ==
		    STARPU_CSR_GET_NNZ(buffers[0]));
	for (uint32_t i = 0; i < STARPU_CSR_GET_NNZ(buffers[0]); i++)
		((int *)STARPU_CSR_GET_NZVAL(buffers[0]))[i] +=
			(int)STARPU_CSR_GET_COLIND(buffers[0])[i];
}

static struct starpu_codelet add_rows = {
	.cuda_funcs = {rows_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};

/* On one GPU, the other, and by parts of it on the first again. */
static void use_on_gpus(starpu_data_handle_t handle, starpu_data_handle_t *rows,
			int nrows, void (*kernel)(void *buffers[], void *arg))
{
	struct starpu_codelet cl = {
		.cuda_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_RW}};

	for (unsigned worker = 0; worker < 2; worker++)
		starpu_task_insert(&cl, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   worker, 0);
	for (int i = 0; i < nrows; i++)
		starpu_task_insert(&add_rows, STARPU_RW, rows[i],
				   STARPU_EXECUTE_ON_WORKER, (unsigned)i % 2, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
}

static void expect_values(const struct sparse *sparse, int each, int times)
{
	for (int i = 0; i < SPARSE_NNZ * each; i++)
		assert_int_equal(sparse->values[i],
				 times * (int)sparse_begin.columns[i / each]);
	assert_memory_equal(sparse->columns, sparse_begin.columns,
			    sizeof(sparse->columns));
	assert_memory_equal(sparse->rows, sparse_begin.rows, sizeof(sparse->rows));
}

static void test_all_arrays_travel(void **state)
{
	struct sparse csr = sparse_begin, bcsr = sparse_begin, coo = sparse_begin;
	struct starpu_data_filter filter = {
		.filter_func = starpu_csr_filter_vertical_block, .nchildren = 2};
	starpu_data_handle_t handles[3], parts[2];

	(void)state;
	one_open(1, 2, "eager");
	starpu_csr_data_register(&handles[0], STARPU_MAIN_RAM, SPARSE_NNZ, SPARSE_NROW,
				 (uintptr_t)csr.values, csr.columns, csr.rows, 0,
				 sizeof(int));
	starpu_bcsr_data_register(&handles[1], STARPU_MAIN_RAM, SPARSE_NNZ, SPARSE_NROW,
				  (uintptr_t)bcsr.values, bcsr.columns, bcsr.rows, 0, 2,
				  3, sizeof(int));
	starpu_coo_data_register(&handles[2], STARPU_MAIN_RAM, 9, 9, SPARSE_NNZ,
				 coo.columns, coo.rows, (uintptr_t)coo.values,
				 sizeof(int));
	starpu_data_partition_plan(handles[0], &filter, parts);
	use_on_gpus(handles[0], parts, 2, csr_kernel);
	use_on_gpus(handles[1], NULL, 0, bcsr_kernel);
	use_on_gpus(handles[2], NULL, 0, coo_kernel);
	starpu_data_partition_clean(handles[0], 2, parts);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(handles[i]);
	expect_values(&csr, 1, 3);
	expect_values(&bcsr, 6, 2);
	expect_values(&coo, 1, 2);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrays_travel),
		cmocka_unit_test(test_methods_are_chosen_by_kind),
		cmocka_unit_test(test_refused_ways_stop_in_main_memory),
		cmocka_unit_test(test_any_to_any_does_the_rest),
		cmocka_unit_test(test_several_arrays_reach_gpus),
		cmocka_unit_test(test_six_dimensions_reach_gpus),
		cmocka_unit_test(test_given_memory_on_a_gpu_stays),
		cmocka_unit_test(test_evicted_values_come_home),
		cmocka_unit_test(test_what_will_not_be_used_leaves_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
