/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Buffers kept for other data, on a fake machine with one GPU of 1,000 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <starpu.h>

#include "core/data/data.h"
#include "core/data/kept.h"
#include "fake.h"

enum { RAM, GPU, GPU_BYTES = 1000 };

static struct node *node;

static void start(void)
{
	struct starpu_conf conf;

	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	fake_machine()->ngpus = 1;
	fake_machine()->gpu_memory_bytes = GPU_BYTES;
	starpu_conf_init(&conf);
	assert_int_equal(starpu_init(&conf), 0);
	node = plat_self();
}

static void stop(void)
{
	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++)
		assert_int_equal(starpu_memory_get_used(i), 0);
	starpu_shutdown();
	fake_stop();
}

static starpu_data_handle_t bytes_of(unsigned bytes)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, bytes, 1);
	return handle;
}

static void *write_on(starpu_data_handle_t handle, unsigned memory)
{
	assert_int_equal(starpu_data_acquire_on_node(handle, (int)memory, STARPU_W), 0);
	starpu_data_release_on_node(handle, (int)memory);
	return starpu_data_handle_to_pointer(handle, memory);
}

static size_t kept_on(unsigned memory)
{
	return kept_bytes(&node->memories[memory]);
}

/* ---- for whom -------------------------------------------------------- */

static void the_next_of_the_same_size_gets_it(void **state)
{
	starpu_data_handle_t one, other;
	void *at, *there;

	(void)state;
	start();
	one = bytes_of(400);
	other = bytes_of(300);
	at = write_on(one, GPU);
	starpu_data_unregister(one);
	assert_int_equal(kept_on(GPU), 400);
	assert_int_equal(starpu_memory_get_available(GPU), GPU_BYTES);
	there = write_on(other, GPU);
	assert_ptr_not_equal(there, at);
	assert_int_equal(kept_on(GPU), 400);
	starpu_data_unregister(other);
	one = bytes_of(400);
	assert_int_equal(starpu_data_test_if_allocated_on_node(one, GPU), 0);
	assert_ptr_equal(write_on(one, GPU), at);
	assert_int_equal(starpu_data_test_if_allocated_on_node(one, GPU), 1);
	assert_int_equal(kept_on(GPU), 300);
	/* One that is invalidated, and one that is evicted, leave theirs, too. */
	starpu_data_invalidate(one);
	assert_null(starpu_data_handle_to_pointer(one, GPU));
	other = bytes_of(400);
	assert_ptr_equal(write_on(other, GPU), at);
	assert_int_equal(starpu_data_evict_from_node(other, GPU), 0);
	fake_run();
	assert_int_equal(kept_on(GPU), 700);
	assert_ptr_equal(write_on(one, GPU), at);
	starpu_data_unregister(one);
	starpu_data_unregister(other);
	stop();
}

static void what_is_kept_makes_nobody_wait(void **state)
{
	starpu_data_handle_t handle;

	(void)state;
	start();
	for (unsigned bytes = 900; bytes >= 300; bytes -= 100) {
		handle = bytes_of(bytes);
		write_on(handle, GPU);
		assert_true(kept_on(GPU) + bytes <= GPU_BYTES);
		starpu_data_unregister(handle);
	}
	handle = bytes_of(GPU_BYTES);
	write_on(handle, GPU);
	assert_int_equal(kept_on(GPU), 0);
	starpu_data_unregister(handle);
	assert_int_equal(kept_on(GPU), GPU_BYTES);
	/* The application's own are not counted there, and need the bytes, too. */
	uintptr_t own = starpu_malloc_on_node(GPU, 500);

	assert_int_not_equal(own, 0);
	assert_int_equal(kept_on(GPU), 0);
	starpu_free_on_node(GPU, own, 500);
	stop();
}

/* ---- main memory ----------------------------------------------------- */

static void main_memory_is_kept_under_a_limit(void **state)
{
	starpu_data_handle_t handle;
	size_t mib = (size_t)1 << 20;
	void *at, *own;

	(void)state;
	start();
	handle = bytes_of(1000);
	write_on(handle, RAM);
	starpu_data_unregister(handle);
	assert_int_equal(kept_on(RAM), 0);
	stop();
	setenv("STARPU_LIMIT_CPU_MEM", "1", 1);
	start();
	handle = bytes_of(1000);
	at = write_on(handle, RAM);
	assert_int_equal(starpu_memory_get_used(RAM), 1000);
	starpu_data_unregister(handle);
	assert_int_equal(kept_on(RAM), 1000);
	assert_int_equal(starpu_memory_get_available(RAM), mib);
	handle = bytes_of(1000);
	assert_ptr_equal(write_on(handle, RAM), at);
	starpu_data_unregister(handle);
	assert_int_equal(starpu_malloc_flags(&own, mib, STARPU_MALLOC_COUNT), 0);
	assert_int_equal(kept_on(RAM), 0);
	starpu_free_flags(own, mib, STARPU_MALLOC_COUNT);
	handle = bytes_of(1000);
	write_on(handle, RAM);
	starpu_data_unregister(handle);
	starpu_memory_wait_available(RAM, mib);
	assert_int_equal(starpu_memory_allocate(RAM, mib, 0), 0);
	starpu_memory_deallocate(RAM, mib);
	stop();
	unsetenv("STARPU_LIMIT_CPU_MEM");
}

/* ---- interfaces ------------------------------------------------------ */

/* Writes, frees, and writes another one: the same buffer, in the same shape. */
static void *again(starpu_data_handle_t first, void *shape, size_t bytes)
{
	starpu_data_handle_t second;
	void *at = write_on(first, GPU);

	memcpy(shape, starpu_data_get_interface_on_node(first, GPU), bytes);
	starpu_data_register_same(&second, first);
	starpu_data_unregister(first);
	assert_ptr_equal(write_on(second, GPU), at);
	assert_memory_equal(starpu_data_get_interface_on_node(second, GPU), shape, bytes);
	starpu_data_unregister(second);
	return at;
}

static void predefined_interfaces_take_part(void **state)
{
	starpu_data_handle_t handle;
	struct starpu_matrix_interface matrix;
	struct starpu_block_interface block;
	struct starpu_tensor_interface tensor;
	struct starpu_variable_interface variable;
	struct starpu_csr_interface csr;
	struct starpu_coo_interface coo;
	static int room[64];
	uint32_t rows[4] = {0, 1, 2, 3}, columns[3] = {0, 1, 2};

	(void)state;
	start();
	starpu_variable_data_register(&handle, -1, 0, 24);
	again(handle, &variable, sizeof(variable));
	/* At home their strides are wider. */
	starpu_matrix_data_register(&handle, RAM, (uintptr_t)room, 8, 3, 4, sizeof(int));
	again(handle, &matrix, sizeof(matrix));
	assert_int_equal(matrix.ld, 3);
	starpu_block_data_register(&handle, RAM, (uintptr_t)room, 4, 20, 2, 3, 2,
				   sizeof(int));
	again(handle, &block, sizeof(block));
	assert_int_equal(block.ldz, 6);
	starpu_tensor_data_register(&handle, RAM, (uintptr_t)room, 4, 12, 30, 2, 3, 2, 2,
				    sizeof(int));
	again(handle, &tensor, sizeof(tensor));
	assert_int_equal(tensor.ldt, 12);
	starpu_csr_data_register(&handle, RAM, 3, 3, (uintptr_t)room, columns, rows, 0,
				 sizeof(int));
	again(handle, &csr, sizeof(csr));
	starpu_coo_data_register(&handle, RAM, 3, 3, 3, columns, columns, (uintptr_t)room,
				 sizeof(int));
	again(handle, &coo, sizeof(coo));
	stop();
}

static void arrays_of_dimensions_end_with_their_data(void **state)
{
	starpu_data_handle_t handle;
	uint32_t nn[3] = {2, 3, 4}, ldn[3] = {1, 2, 6}, other[2] = {4, 6};
	struct starpu_ndim_interface *ndim;
	void *at;

	(void)state;
	start();
	starpu_ndim_data_register(&handle, -1, 0, ldn, nn, 3, 4);
	at = write_on(handle, GPU);
	starpu_data_unregister(handle);
	starpu_ndim_data_register(&handle, -1, 0, ldn, other, 2, 4);
	assert_ptr_equal(write_on(handle, GPU), at);
	ndim = starpu_data_get_interface_on_node(handle, GPU);
	assert_int_equal(ndim->ndim, 2);
	assert_int_equal(ndim->nn[1], 6);
	assert_int_equal(ndim->ldn[1], 4);
	starpu_data_unregister(handle);
	stop();
}

/* ---- the application's ----------------------------------------------- */

/* The application's: a vector with its own idea of what is alike. */
static int ncached, nreused, nends, are_alike;

static int say_alike(void *a, void *b)
{
	assert_ptr_not_equal(a, b);
	return are_alike;
}

static void cache_own(void *cached, void *interface, unsigned memory)
{
	assert_int_equal(memory, GPU);
	((struct starpu_vector_interface *)cached)->ptr =
		((struct starpu_vector_interface *)interface)->ptr;
	ncached++;
}

static void reuse_own(void *interface, const void *cached, unsigned memory)
{
	assert_int_equal(memory, GPU);
	((struct starpu_vector_interface *)interface)->ptr =
		((const struct starpu_vector_interface *)cached)->ptr;
	nreused++;
}

static void end_own(starpu_data_handle_t handle)
{
	(void)handle;
	nends++;
}

static void use_own(struct starpu_data_interface_ops *ops)
{
	struct starpu_vector_interface vector = {
		.id = ops->interfaceid, .nx = 100, .elemsize = 1, .allocsize = 100};
	starpu_data_handle_t handle;

	for (int i = 0; i < 2; i++) {
		starpu_data_register(&handle, -1, &vector, ops);
		write_on(handle, GPU);
		starpu_data_unregister(handle);
	}
}

static void interfaces_of_the_application_decide(void **state)
{
	struct starpu_data_interface_ops ops = starpu_interface_vector_ops;

	(void)state;
	start();
	ops.cache_data_on_node = cache_own;
	ops.reuse_data_on_node = reuse_own;
	ops.alloc_compare = say_alike;
	are_alike = 1;
	use_own(&ops);
	assert_int_equal(ncached, 2);
	assert_int_equal(nreused, 1);
	assert_int_equal(kept_on(GPU), 100);
	are_alike = 0;
	use_own(&ops);
	assert_int_equal(nreused, 1);
	assert_int_equal(kept_on(GPU), 300);
	kept_drop(node, GPU);
	ops.dontcache = 1;
	use_own(&ops);
	assert_int_equal(kept_on(GPU), 0);
	/* What it frees with the datum may be part of the buffer. */
	ops.dontcache = 0;
	ops.cache_data_on_node = NULL;
	ops.unregister_data_handle = end_own;
	use_own(&ops);
	assert_int_equal(nends, 2);
	assert_int_equal(kept_on(GPU), 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_of_the_same_size_gets_it),
		cmocka_unit_test(what_is_kept_makes_nobody_wait),
		cmocka_unit_test(main_memory_is_kept_under_a_limit),
		cmocka_unit_test(predefined_interfaces_take_part),
		cmocka_unit_test(arrays_of_dimensions_end_with_their_data),
		cmocka_unit_test(interfaces_of_the_application_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
