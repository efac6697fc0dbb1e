/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Main memories that are mapped into each other, instead of copied: what is called, what
 * is seen, what is allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <starpu.h>
#include <string.h>

#include "fake.h"
#include "int_interface.h"

/* Workers: 0 the GPU, then one beside each main memory. */
enum { NEAR, FAR, THIRD, GPU, NMAINS = 3 };

static struct {
	int ncopies; /* transfers */
	int nmaps, nunmaps, nupdates, nallocated;
	int refuses;  /* map_data() */
	int *address; /* where the last task saw the value */
} seen;

static double copy_s(const struct plat_copy *copy)
{
	(void)copy;
	seen.ncopies++;
	return 1e-6;
}

/* ---- an application's interface: a pointer to an int ------------------- */

static starpu_ssize_t count_allocate(void *interface, unsigned node)
{
	seen.nallocated++;
	return int_allocate(interface, node);
}

static int int_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		    void *async_data)
{
	return starpu_interface_copy(*(uintptr_t *)from, 0, from_node, *(uintptr_t *)to,
				     0, to_node, sizeof(int), async_data);
}

static int int_map(void *from, unsigned from_node, void *to, unsigned to_node)
{
	int ret;

	seen.nmaps++;
	if (seen.refuses)
		return -EIO;
	assert_int_equal(from_node, NEAR);
	*(uintptr_t *)to = starpu_interface_map(*(uintptr_t *)from, 0, from_node, to_node,
						sizeof(int), &ret);
	return ret;
}

static int int_unmap(void *from, unsigned from_node, void *to, unsigned to_node)
{
	int ret = starpu_interface_unmap(*(uintptr_t *)from, 0, from_node,
					 *(uintptr_t *)to, to_node, sizeof(int));

	seen.nunmaps++;
	*(int **)to = NULL;
	return ret;
}

static int int_update(void *from, unsigned from_node, void *to, unsigned to_node)
{
	seen.nupdates++;
	assert_ptr_equal(*(int **)from, *(int **)to);
	return starpu_interface_update_map(*(uintptr_t *)from, 0, from_node,
					   *(uintptr_t *)to, 0, to_node, sizeof(int));
}

static const struct starpu_data_copy_methods methods = {.any_to_any = int_copy};

/* Filled by start(). */
static struct starpu_data_interface_ops int_ops;

/* ---- lives -------------------------------------------------------------- */

static void start(int enable_map)
{
	struct starpu_conf conf;

	int_ops = (struct starpu_data_interface_ops){
		INT_OPERATIONS, .map_data = int_map, .unmap_data = int_unmap,
		.update_map = int_update, .copy_methods = &methods};
	int_ops.allocate_data_on_node = count_allocate;
	memset(&seen, 0, sizeof(seen));
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = NMAINS;
	fake_machine()->ngpus = 1;
	fake_machine()->nnumas = NMAINS;
	fake_machine()->copy_s = copy_s;
	starpu_conf_init(&conf);
	conf.enable_map = enable_map;
	assert_int_equal(starpu_init(&conf), 0);
	assert_int_equal(starpu_map_enabled(), enable_map);
}

static void stop(void)
{
	starpu_shutdown();
	fake_stop();
}

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	seen.address = *(int **)buffers[0];
	++*seen.address;
}

static struct starpu_codelet adds = {.cpu_funcs = {add_one},
				     .cuda_funcs = {add_one},
				     .nbuffers = 1,
				     .modes = {STARPU_RW}};

static void add_on(starpu_data_handle_t handle, int worker)
{
	starpu_task_insert(&adds, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER, worker, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
}

static int is_mapped(starpu_data_handle_t handle, unsigned memory)
{
	return (int)starpu_data_test_if_mapped_on_node(handle, memory);
}

static int is_valid(starpu_data_handle_t handle, int memory)
{
	int valid;

	starpu_data_query_status(handle, memory, NULL, &valid, NULL);
	return valid;
}

/* ---- tests ------------------------------------------------------------ */

static void the_value_stays_where_it_is(void **state)
{
	starpu_data_handle_t handle;
	int value = 0, *at = &value;

	(void)state;
	start(1);
	starpu_data_register(&handle, NEAR, &at, &int_ops);
	assert_false(is_mapped(handle, FAR));
	for (int worker = 1; worker <= NMAINS; worker++) {
		add_on(handle, worker);
		assert_ptr_equal(seen.address, &value);
		assert_int_equal(value, worker);
	}
	assert_true(is_mapped(handle, FAR) && is_mapped(handle, THIRD));
	assert_false(is_mapped(handle, NEAR) || is_mapped(handle, GPU));
	assert_true(starpu_data_test_if_allocated_on_node(handle, FAR));
	assert_true(is_valid(handle, THIRD));
	assert_false(is_valid(handle, FAR));
	assert_int_equal(seen.nmaps, 2);
	assert_int_equal(seen.nupdates, 2);
	assert_int_equal(starpu_memory_get_used(FAR), 0);
	assert_int_equal(starpu_data_evict_from_node(handle, FAR), -1);
	starpu_data_unregister(handle);
	assert_int_equal(seen.nunmaps, 2);
	assert_int_equal(seen.ncopies, 0);
	assert_int_equal(seen.nallocated, 0);
	stop();
}

/* By way of the first main memory, whose bytes they are. */
static void values_of_a_gpu_come_to_the_shared_bytes(void **state)
{
	starpu_data_handle_t handle;
	int value = 0, *at = &value;

	(void)state;
	start(1);
	starpu_data_register(&handle, NEAR, &at, &int_ops);
	add_on(handle, 2);
	add_on(handle, 0);
	assert_ptr_not_equal(seen.address, &value);
	assert_int_equal(value, 1);
	add_on(handle, 3);
	assert_ptr_equal(seen.address, &value);
	assert_int_equal(value, 3);
	assert_int_equal(seen.ncopies, 2);
	starpu_data_unregister(handle);
	assert_int_equal(value, 3);
	assert_int_equal(seen.ncopies, 2);
	stop();
}

static void who_cannot_be_mapped_is_copied(void **state)
{
	starpu_data_handle_t handle, own;
	int value = 0, *at = &value;

	(void)state;
	start(1);
	seen.refuses = 1;
	starpu_data_register(&handle, NEAR, &at, &int_ops);
	add_on(handle, 2);
	assert_ptr_not_equal(seen.address, &value);
	assert_false(is_mapped(handle, FAR));
	assert_int_equal(seen.nmaps, 1);
	starpu_data_unregister(handle);
	assert_int_equal(value, 1);
	assert_int_equal(seen.nunmaps, 0);
	assert_int_equal(seen.ncopies, 2);
	/* Nor what the library allocates: there is nothing to be mapped. */
	seen.refuses = 0;
	starpu_variable_data_register(&own, -1, 0, sizeof(int));
	starpu_data_acquire(own, STARPU_W);
	starpu_data_release(own);
	starpu_data_fetch_on_node(own, FAR, 0);
	assert_false(is_mapped(own, FAR));
	starpu_data_unregister(own);
	stop();
}

static void without_the_wish_all_is_copied(void **state)
{
	starpu_data_handle_t handle;
	int value = 0, *at = &value;

	(void)state;
	start(0);
	starpu_data_register(&handle, NEAR, &at, &int_ops);
	add_on(handle, 2);
	assert_ptr_not_equal(seen.address, &value);
	starpu_data_unregister(handle);
	assert_int_equal(seen.nmaps, 0);
	assert_int_equal(value, 1);
	stop();
}

static void devices_see_nothing_of_main_memories(void **state)
{
	int value, ret = 1;

	(void)state;
	start(1);
	assert_int_equal(starpu_interface_map((uintptr_t)&value, 0, NEAR, GPU,
					      sizeof(value), &ret),
			 0);
	assert_int_equal(ret, -EIO);
	assert_int_equal(starpu_interface_unmap((uintptr_t)&value, 0, NEAR, 0, GPU, 4),
			 -EIO);
	assert_int_equal(
		starpu_interface_update_map((uintptr_t)&value, 0, NEAR, 0, 0, GPU, 4),
		-EIO);
	assert_true(starpu_interface_map((uintptr_t)&value, 3, FAR, NEAR, 1, &ret) ==
		    (uintptr_t)&value + 3);
	assert_int_equal(ret, 0);
	stop();
}

/* ---- the predefined ones ---------------------------------------------- */

enum { N = 400 };

static int cells[N];
static uint32_t columns[] = {0, 1, 2, 3}, rows[] = {0, 2, 4};

static void no_kernel(void *buffers[], void *arg)
{
	(void)arg;
	seen.address = buffers[0];
}

static struct starpu_codelet looks = {
	.cpu_funcs = {no_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};

/* Of all data, the struct that is seen elsewhere says the same as that at home. */
static void check_mapped(starpu_data_handle_t handle)
{
	const struct starpu_data_interface_ops *ops =
		starpu_data_get_interface_ops(handle);

	starpu_task_insert(&looks, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER, 2, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_true(is_mapped(handle, FAR));
	if (ops->interfaceid != STARPU_NDIM_INTERFACE_ID)
		assert_memory_equal(starpu_data_get_interface_on_node(handle, FAR),
				    starpu_data_get_interface_on_node(handle, NEAR),
				    ops->interface_size);
	assert_ptr_equal(starpu_data_handle_to_pointer(handle, FAR),
			 starpu_data_handle_to_pointer(handle, NEAR));
	starpu_data_unregister(handle);
	assert_int_equal(seen.ncopies, 0);
}

/* With gaps, which copies elsewhere have not. */
static void predefined_interfaces_are_mapped(void **state)
{
	uint32_t nn[] = {2, 3, 4}, ldn[] = {1, 5, 20};
	uintptr_t at = (uintptr_t)cells;
	starpu_data_handle_t handle;

	(void)state;
	start(1);
	starpu_variable_data_register(&handle, NEAR, at, sizeof(int));
	check_mapped(handle);
	starpu_vector_data_register(&handle, NEAR, at, 10, sizeof(int));
	check_mapped(handle);
	starpu_matrix_data_register(&handle, NEAR, at, 9, 3, 4, sizeof(int));
	check_mapped(handle);
	starpu_block_data_register(&handle, NEAR, at, 5, 20, 2, 3, 4, sizeof(int));
	check_mapped(handle);
	starpu_tensor_data_register(&handle, NEAR, at, 5, 20, 80, 2, 3, 4, 2,
				    sizeof(int));
	check_mapped(handle);
	starpu_ndim_data_register(&handle, NEAR, at, ldn, nn, 3, sizeof(int));
	starpu_data_fetch_on_node(handle, FAR, 0);
	assert_int_equal(
		((struct starpu_ndim_interface *)starpu_data_get_interface_on_node(handle,
										   FAR))
			->ldn[2],
		20);
	check_mapped(handle);
	starpu_csr_data_register(&handle, NEAR, 4, 2, at, columns, rows, 0, sizeof(int));
	check_mapped(handle);
	starpu_bcsr_data_register(&handle, NEAR, 4, 2, at, columns, rows, 0, 2, 2,
				  sizeof(int));
	check_mapped(handle);
	starpu_coo_data_register(&handle, NEAR, 4, 4, 4, columns, columns, at,
				 sizeof(int));
	check_mapped(handle);
	stop();
}

/* Parts lie in the application's memory, too. */
static void parts_are_mapped(void **state)
{
	struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
					    .nchildren = 2};
	starpu_data_handle_t handle;

	(void)state;
	start(1);
	starpu_vector_data_register(&handle, NEAR, (uintptr_t)cells, 10, sizeof(int));
	starpu_data_fetch_on_node(handle, FAR, 0);
	starpu_data_partition(handle, &halves);
	for (int i = 0; i < 2; i++) {
		starpu_task_insert(&looks, STARPU_RW, starpu_data_get_child(handle, i),
				   STARPU_EXECUTE_ON_WORKER, 2 + i, 0);
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_ptr_equal(starpu_data_handle_to_pointer(
					 starpu_data_get_child(handle, i), FAR + i),
				 cells + 5 * i);
	}
	starpu_data_unpartition(handle, NEAR);
	starpu_data_unregister(handle);
	assert_int_equal(seen.ncopies, 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_value_stays_where_it_is),
		cmocka_unit_test(values_of_a_gpu_come_to_the_shared_bytes),
		cmocka_unit_test(who_cannot_be_mapped_is_copied),
		cmocka_unit_test(without_the_wish_all_is_copied),
		cmocka_unit_test(devices_see_nothing_of_main_memories),
		cmocka_unit_test(predefined_interfaces_are_mapped),
		cmocka_unit_test(parts_are_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
