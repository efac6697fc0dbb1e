/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Several main memories: who works on which, and how values get there and away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <starpu.h>

#include "core/data/data.h"
#include "core/data/routes.h"
#include "fake.h"

enum { NEAR, FAR, GPU, MIB = 1 << 20 };

static struct {
	int ncopies;
	unsigned paths[16][2];
	int seen;
	double numa_bytes;
	starpu_data_handle_t handle;
} world;

static double copy_s(const struct plat_copy *copy)
{
	assert_true(world.ncopies < 16);
	world.paths[world.ncopies][0] = copy->from;
	world.paths[world.ncopies++][1] = copy->to;
	return 1e-6;
}

static void expect_copy(int i, unsigned from, unsigned to)
{
	assert_true(i < world.ncopies);
	assert_int_equal(world.paths[i][0], from);
	assert_int_equal(world.paths[i][1], to);
}

static void write_it(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 17;
}

static void read_it(void *buffers[], void *arg)
{
	(void)arg;
	world.seen = *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void look(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	world.seen = starpu_task_get_current_data_node(0);
}

static struct starpu_codelet writes = {.cpu_funcs = {write_it},
				       .cuda_funcs = {write_it},
				       .nbuffers = 1,
				       .modes = {STARPU_W}};
static struct starpu_codelet reads = {.cpu_funcs = {read_it},
				      .cuda_funcs = {read_it},
				      .nbuffers = 1,
				      .modes = {STARPU_R}};
static struct starpu_codelet looks = {
	.cpu_funcs = {look}, .nbuffers = 1, .modes = {STARPU_R}};

/* Two processors, each near to a memory of its own, and a GPU that is near to the last
 * of them; workers: 0 the GPU, 1 near to the first memory, 2 near to the other. */
static struct node *start(void)
{
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 2;
	fake_machine()->ngpus = 1;
	fake_machine()->nnumas = 2;
	fake_machine()->numa_bytes = world.numa_bytes;
	fake_machine()->copy_s = copy_s;
	world.ncopies = world.seen = 0;
	assert_int_equal(starpu_init(NULL), 0);
	return plat_self();
}

static void stop(void)
{
	starpu_shutdown();
	fake_stop();
	world.numa_bytes = 0;
}

static void run_on(struct starpu_codelet *cl, enum starpu_data_access_mode mode,
		   starpu_data_handle_t handle, int worker)
{
	starpu_task_insert(cl, mode, handle, STARPU_EXECUTE_ON_WORKER, worker, 0);
	starpu_task_wait_for_all();
}

static int is_valid(starpu_data_handle_t handle, int memory)
{
	int allocated, valid, requested;

	starpu_data_query_status(handle, memory, &allocated, &valid, &requested);
	return valid;
}

static void they_are_the_first_memories(void **state)
{
	char name[32];
	unsigned ids[4];

	(void)state;
	start();
	assert_int_equal(starpu_memory_nodes_get_count(), 3);
	assert_int_equal(starpu_memory_nodes_get_numa_count(), 2);
	assert_int_equal(starpu_node_get_kind(FAR), STARPU_CPU_RAM);
	assert_int_equal(starpu_node_get_kind(GPU), STARPU_CUDA_RAM);
	assert_int_equal(starpu_memory_node_get_ids_by_type(STARPU_CPU_RAM, ids, 4), 2);
	assert_int_equal(ids[1], FAR);
	starpu_memory_node_get_name(FAR, name, sizeof(name));
	assert_string_equal(name, "NUMA 1");
	starpu_memory_node_get_name(GPU, name, sizeof(name));
	assert_string_equal(name, "CUDA 0");
	assert_int_equal(starpu_memory_node_get_devid(FAR), 1);
	assert_int_equal(starpu_memory_nodes_numa_id_to_devid(1), FAR);
	assert_int_equal(starpu_memory_nodes_numa_devid_to_id(FAR), 1);
	assert_int_equal(starpu_memory_nodes_numa_id_to_devid(2), -1);
	assert_int_equal(starpu_worker_get_memory_node(0), GPU);
	assert_int_equal(starpu_worker_get_memory_node(1), NEAR);
	assert_int_equal(starpu_worker_get_memory_node(2), FAR);
	stop();
}

static void values_come_to_the_memory_of_the_worker(void **state)
{
	int value = 3;

	(void)state;
	start();
	starpu_variable_data_register(&world.handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	run_on(&reads, STARPU_R, world.handle, 1);
	assert_int_equal(world.ncopies, 0);
	run_on(&reads, STARPU_R, world.handle, 2);
	assert_int_equal(world.seen, 3);
	assert_int_equal(world.ncopies, 1);
	expect_copy(0, NEAR, FAR);
	run_on(&looks, STARPU_R, world.handle, 2);
	assert_int_equal(world.seen, FAR);
	run_on(&writes, STARPU_W, world.handle, 2);
	assert_false(is_valid(world.handle, NEAR));
	assert_int_equal(value, 3);
	starpu_data_unregister(world.handle);
	assert_int_equal(value, 17);
	expect_copy(1, FAR, NEAR);
	stop();
}

static void from_the_nearest_that_has_it(void **state)
{
	int value = 3;

	(void)state;
	start();
	starpu_variable_data_register(&world.handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	run_on(&reads, STARPU_R, world.handle, 2);
	run_on(&reads, STARPU_R, world.handle, 0);
	assert_int_equal(world.seen, 3);
	expect_copy(1, FAR, GPU);
	starpu_data_unregister(world.handle);
	stop();
}

/* The application's memory may be any of them. */
static void the_application_may_register_any(void **state)
{
	int value = 3;

	(void)state;
	start();
	starpu_variable_data_register(&world.handle, FAR, (uintptr_t)&value,
				      sizeof(value));
	run_on(&reads, STARPU_R, world.handle, 2);
	assert_int_equal(world.ncopies, 0);
	run_on(&writes, STARPU_W, world.handle, 1);
	assert_int_equal(value, 3);
	assert_int_equal(starpu_data_acquire(world.handle, STARPU_R), 0);
	assert_ptr_equal(starpu_variable_get_local_ptr(world.handle), &value);
	assert_int_equal(value, 17);
	starpu_data_release(world.handle);
	starpu_data_acquire_try(world.handle, STARPU_RW);
	value = 18;
	starpu_data_release(world.handle);
	run_on(&reads, STARPU_R, world.handle, 0);
	assert_int_equal(world.seen, 18);
	expect_copy(world.ncopies - 1, FAR, GPU);
	starpu_data_unregister(world.handle);
	stop();
}

static void look_where_it_is_held(void *arg)
{
	int *value = (int *)starpu_variable_get_local_ptr(world.handle);

	(void)arg;
	world.seen = *value;
	*value = 19;
	starpu_data_release(world.handle);
}

static void take_it(void *arg)
{
	(void)arg;
	starpu_data_acquire_cb(world.handle, STARPU_RW, look_where_it_is_held, NULL);
}

/* A callback runs on a worker near to another memory. */
static void a_callback_finds_what_it_acquired(void **state)
{
	int value = 3;

	(void)state;
	start();
	starpu_variable_data_register(&world.handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_task_insert(&writes, STARPU_W, world.handle, STARPU_EXECUTE_ON_WORKER, 2,
			   STARPU_CALLBACK, take_it, 0);
	starpu_task_wait_for_all();
	starpu_data_unregister(world.handle);
	assert_int_equal(world.seen, 17);
	assert_int_equal(value, 19);
	stop();
}

/* What has no room in one leaves for the first, or for the application's memory. */
static void they_have_limits(void **state)
{
	starpu_data_handle_t others[3];
	static char bytes[100];

	(void)state;
	world.numa_bytes = 250;
	start();
	assert_int_equal(starpu_memory_get_total(FAR), 250);
	assert_int_equal(starpu_memory_get_total(NEAR), -1);
	assert_int_equal(starpu_memory_get_total_all_nodes(), -1);
	for (int i = 0; i < 3; i++) {
		starpu_vector_data_register(&others[i], i ? -1 : NEAR,
					    i ? 0 : (uintptr_t)bytes, 100, 1);
		run_on(&writes, STARPU_W, others[i], 2);
	}
	assert_int_equal(starpu_memory_get_used(FAR), 200);
	assert_int_equal(starpu_memory_get_available(FAR), 50);
	assert_int_equal(world.ncopies, 1);
	expect_copy(0, FAR, NEAR);
	assert_true(is_valid(others[0], NEAR));
	assert_int_equal(bytes[0], 17);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(others[i]);
	assert_int_equal(starpu_memory_get_used(FAR), 0);
	stop();
}

static void variables_limit_them(void **state)
{
	(void)state;
	setenv("STARPU_LIMIT_CPU_MEM", "7", 1);
	start();
	assert_int_equal(starpu_memory_get_total(NEAR), 4 * MIB);
	assert_int_equal(starpu_memory_get_total(FAR), 4 * MIB);
	stop();
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", "3", 1);
	setenv("STARPU_LIMIT_CPU_NUMA_1_MEM", "2", 1);
	start();
	assert_int_equal(starpu_memory_get_total(NEAR), 3 * MIB);
	assert_int_equal(starpu_memory_get_total(FAR), 2 * MIB);
	stop();
	unsetenv("STARPU_LIMIT_CPU_MEM");
	unsetenv("STARPU_LIMIT_CPU_NUMA_MEM");
	unsetenv("STARPU_LIMIT_CPU_NUMA_1_MEM");
}

/* The file and the table for people; the GPU is beside the last memory. */
static void their_distances_are_told(void **state)
{
	char text[256];
	FILE *out = tmpfile();
	size_t n;

	(void)state;
	start();
	starpu_bus_print_affinity(out);
	rewind(out);
	n = fread(text, 1, sizeof(text) - 1, out);
	text[n] = '\0';
	assert_string_equal(text, "# GPU\tNUMA in preference order (logical index)\n"
				  "# CUDA\n0\t1\t0\t\n");
	fclose(out);
	assert_true(starpu_transfer_predict(NEAR, GPU, MIB) >
		    starpu_transfer_predict(FAR, GPU, MIB));
	assert_true(starpu_transfer_predict(NEAR, FAR, MIB) > 0);
	stop();
}

static void the_application_may_ask_for_bytes_of_any(void **state)
{
	uintptr_t ptr;
	void *spread;

	(void)state;
	start();
	ptr = starpu_malloc_on_node(FAR, 100);
	assert_int_not_equal(ptr, 0);
	memset((void *)ptr, 1, 100);
	starpu_free_on_node(FAR, ptr, 100);
	assert_int_equal(starpu_malloc(&spread, 100), 0);
	memset(spread, 1, 100);
	starpu_free_noflag(spread, 100);
	assert_int_equal(starpu_memory_allocate(FAR, 1000, 0), 0);
	assert_int_equal(starpu_memory_get_used(FAR), 1000);
	assert_int_equal(starpu_memory_get_used_all_nodes(), 1000);
	starpu_memory_deallocate(FAR, 1000);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_the_first_memories),
		cmocka_unit_test(values_come_to_the_memory_of_the_worker),
		cmocka_unit_test(from_the_nearest_that_has_it),
		cmocka_unit_test(the_application_may_register_any),
		cmocka_unit_test(a_callback_finds_what_it_acquired),
		cmocka_unit_test(they_have_limits),
		cmocka_unit_test(variables_limit_them),
		cmocka_unit_test(their_distances_are_told),
		cmocka_unit_test(the_application_may_ask_for_bytes_of_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
