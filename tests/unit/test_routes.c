/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* How values get from one memory to another, where drivers can and cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <starpu.h>

#include "core/data/data.h"
#include "core/data/routes.h"
#include "fake.h"

enum { GPU1 = 1, GPU2 = 2, BYTES = 1000 };

static struct {
	int ncopies;
	unsigned paths[8][2];
	int seen;
	double disk_bytes;
} world;

static double copy_s(const struct plat_copy *copy)
{
	assert_true(world.ncopies < 8);
	world.paths[world.ncopies][0] = copy->from;
	world.paths[world.ncopies++][1] = copy->to;
	return 1e-6;
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

static struct starpu_codelet writes = {
	.cuda_funcs = {write_it}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet reads = {
	.cuda_funcs = {read_it}, .nbuffers = 1, .modes = {STARPU_R}};

static struct node *start(int no_peer_copies)
{
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	fake_machine()->ngpus = 2;
	fake_machine()->no_peer_copies = no_peer_copies;
	fake_machine()->copy_s = copy_s;
	fake_machine()->disk_bytes = world.disk_bytes;
	world.ncopies = world.seen = 0;
	assert_int_equal(starpu_init(NULL), 0);
	return plat_self();
}

static void stop(void)
{
	starpu_shutdown();
	fake_stop();
}

/* Workers of GPUs come first. */
static void pass_on(starpu_data_handle_t handle)
{
	starpu_task_insert(&writes, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.ncopies, 0);
	starpu_task_insert(&reads, STARPU_R, handle, STARPU_EXECUTE_ON_WORKER, 1, 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.seen, 17);
}

static int is_valid(starpu_data_handle_t handle, int memory)
{
	int allocated, valid, requested;

	starpu_data_query_status(handle, memory, &allocated, &valid, &requested);
	return valid;
}

static void directly_where_a_driver_can(void **state)
{
	struct node *node = start(0);
	starpu_data_handle_t handle;

	(void)state;
	starpu_variable_data_register(&handle, -1, 0, sizeof(int));
	pass_on(handle);
	assert_int_equal(world.ncopies, 1);
	assert_int_equal(world.paths[0][0], GPU1);
	assert_int_equal(world.paths[0][1], GPU2);
	assert_false(is_valid(handle, STARPU_MAIN_RAM));
	assert_true(routes_expected_s(node, GPU1, GPU2, BYTES) ==
		    routes_expected_s(node, GPU1, STARPU_MAIN_RAM, BYTES));
	starpu_data_unregister(handle);
	stop();
}

static void by_main_memory_else(void **state)
{
	struct node *node = start(1);
	starpu_data_handle_t handle;

	(void)state;
	starpu_variable_data_register(&handle, -1, 0, sizeof(int));
	pass_on(handle);
	assert_int_equal(world.ncopies, 2);
	assert_int_equal(world.paths[0][0], GPU1);
	assert_int_equal(world.paths[0][1], STARPU_MAIN_RAM);
	assert_int_equal(world.paths[1][0], STARPU_MAIN_RAM);
	assert_int_equal(world.paths[1][1], GPU2);
	assert_true(is_valid(handle, STARPU_MAIN_RAM));
	assert_true(routes_expected_s(node, GPU1, GPU2, BYTES) ==
		    2 * routes_expected_s(node, GPU1, STARPU_MAIN_RAM, BYTES));
	starpu_data_unregister(handle);
	stop();
}

static void by_main_memory_to_where_no_worker_is(void **state)
{
	enum { DISK = 3 };
	starpu_data_handle_t handle, other;
	char name[32];

	(void)state;
	world.disk_bytes = 6;
	start(0);
	world.disk_bytes = 0;
	assert_int_equal(starpu_memory_nodes_get_count(), 4);
	assert_int_equal(starpu_node_get_kind(DISK), STARPU_DISK_RAM);
	assert_int_equal(starpu_memory_nodes_get_count_by_kind(STARPU_DISK_RAM), 1);
	starpu_memory_node_get_name(DISK, name, sizeof(name));
	assert_string_equal(name, "Disk 0");
	starpu_variable_data_register(&handle, -1, 0, sizeof(int));
	starpu_variable_data_register(&other, -1, 0, sizeof(int));
	starpu_task_insert(&writes, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_data_prefetch_on_node(handle, DISK, 0);
	assert_true(is_valid(handle, DISK));
	assert_int_equal(world.ncopies, 2);
	assert_int_equal(world.paths[1][0], STARPU_MAIN_RAM);
	assert_int_equal(world.paths[1][1], DISK);
	/* What has no room leaves. */
	starpu_task_insert(&writes, STARPU_W, other, STARPU_EXECUTE_ON_WORKER, 1, 0);
	starpu_data_prefetch_on_node(other, DISK, 0);
	assert_true(is_valid(other, DISK));
	assert_false(is_valid(handle, DISK));
	starpu_task_insert(&reads, STARPU_R, other, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.seen, 17);
	starpu_data_unregister(handle);
	starpu_data_unregister(other);
	stop();
}

static void a_hint_may_come_too_late(void **state)
{
	starpu_data_handle_t handle;

	(void)state;
	start(0);
	starpu_variable_data_register(&handle, -1, 0, sizeof(int));
	starpu_task_insert(&writes, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_task_wait_for_all();
	starpu_task_insert(&reads, STARPU_R, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_data_invalidate_submit(handle);
	starpu_data_wont_use(handle);
	starpu_task_wait_for_all();
	assert_int_equal(world.seen, 17);
	assert_false(is_valid(handle, STARPU_MAIN_RAM));
	starpu_data_unregister(handle);
	stop();
}

/* Two readers want the value at once: one stop serves both. */
static void one_stop_for_all(void **state)
{
	starpu_data_handle_t handle;

	(void)state;
	start(1);
	starpu_variable_data_register(&handle, -1, 0, sizeof(int));
	starpu_task_insert(&writes, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	starpu_task_wait_for_all();
	assert_int_equal(starpu_data_prefetch_on_node(handle, GPU2, 1), 0);
	assert_int_equal(starpu_data_acquire_on_node(handle, GPU2, STARPU_R), 0);
	starpu_data_release_on_node(handle, GPU2);
	assert_int_equal(world.ncopies, 2);
	starpu_data_unregister(handle);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directly_where_a_driver_can),
		cmocka_unit_test(by_main_memory_else),
		cmocka_unit_test(by_main_memory_to_where_no_worker_is),
		cmocka_unit_test(a_hint_may_come_too_late),
		cmocka_unit_test(one_stop_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
