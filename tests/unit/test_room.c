/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Who may use how much of a GPU's memory, on a fake machine with one GPU of 1,000 bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <starpu.h>

#include "core/data/data.h"
#include "core/data/room.h"
#include "fake.h"

enum { GPU = 1, GPU_BYTES = 1000, MANY = 20000, MAX_ORDER = 8 };

static struct {
	struct node *node;
	struct memory *memory;
	int norder, order[MAX_ORDER]; /* of tasks, by their numbers */
	int nacquired;
} world;

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	starpu_codelet_unpack_args(arg, &world.order[world.norder++]);
}

static struct starpu_codelet write_one = {
	.cuda_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet write_two = {
	.cuda_funcs = {kernel}, .nbuffers = 2, .modes = {STARPU_W, STARPU_W}};

static void start(void)
{
	struct starpu_conf conf;

	setenv("STARPU_CUDA_PIPELINE", "3", 1);
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	fake_machine()->ngpus = 1;
	fake_machine()->gpu_memory_bytes = GPU_BYTES;
	fake_machine()->task_s = 1e-4;
	starpu_conf_init(&conf);
	conf.sched_policy_name = "eager";
	assert_int_equal(starpu_init(&conf), 0);
	world.node = plat_self();
	world.memory = &world.node->memories[GPU];
	world.norder = world.nacquired = 0;
}

static void stop(void)
{
	assert_int_equal(world.memory->used_bytes, 0);
	assert_int_equal(world.memory->pinned_bytes, 0);
	assert_int_equal(world.memory->leaving_bytes, 0);
	assert_int_equal(world.memory->held_bytes, 0);
	assert_null(world.memory->waiting);
	starpu_shutdown();
	fake_stop();
}

static starpu_data_handle_t temporary(unsigned bytes)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, bytes, 1);
	return handle;
}

static void write_it(starpu_data_handle_t handle, int number)
{
	assert_int_equal(starpu_task_insert(&write_one, STARPU_W, handle, STARPU_VALUE,
					    &number, sizeof(number), 0),
			 0);
}

static enum copy_room room_of(starpu_data_handle_t handle)
{
	return data_find_copy(handle, GPU)->room;
}

/* ---- accounting ------------------------------------------------------ */

static void it_knows_who_uses_what(void **state)
{
	starpu_data_handle_t data[3] = {0};

	(void)state;
	start();
	for (int i = 0; i < 3; i++)
		data[i] = temporary(400);
	assert_int_equal(starpu_data_acquire_on_node(data[0], GPU, STARPU_W), 0);
	assert_int_equal(world.memory->used_bytes, 400);
	assert_int_equal(world.memory->pinned_bytes, 400);
	assert_int_equal(world.memory->held_bytes, 400);
	starpu_data_release_on_node(data[0], GPU);
	assert_int_equal(room_of(data[0]), ROOM_IDLE);
	assert_int_equal(world.memory->pinned_bytes, 0);
	assert_int_equal(world.memory->held_bytes, 0);
	assert_int_equal(starpu_data_acquire_on_node(data[1], GPU, STARPU_W), 0);
	starpu_data_release_on_node(data[1], GPU);
	assert_ptr_equal(world.memory->oldest, data_find_copy(data[0], GPU));
	assert_ptr_equal(world.memory->newest, data_find_copy(data[1], GPU));
	/* The oldest leaves for the third, and is sent home. */
	write_it(data[2], 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(room_of(data[0]), ROOM_NONE);
	assert_int_equal(data[0]->body->valid, 1 << STARPU_MAIN_RAM);
	assert_int_equal(room_of(data[1]), ROOM_IDLE);
	assert_int_equal(world.memory->used_bytes, 800);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(data[i]);
	stop();
}

static void sizes_are_asked_once(void **state)
{
	starpu_data_handle_t handle;
	struct starpu_vector_interface *vector;

	(void)state;
	start();
	handle = temporary(400);
	assert_int_equal(starpu_data_acquire_on_node(handle, GPU, STARPU_W), 0);
	starpu_data_release_on_node(handle, GPU);
	vector = handle->interface;
	vector->allocsize = 100; /* What an interface says now does not matter. */
	starpu_data_invalidate(handle);
	assert_int_equal(world.memory->used_bytes, 0);
	vector->allocsize = 400;
	starpu_data_unregister(handle);
	stop();
}

/* ---- the line -------------------------------------------------------- */

/* The third task would fit beside the first; the second has to wait for all. */
static void nobody_overtakes(void **state)
{
	starpu_data_handle_t data[4];
	int number = 1;

	(void)state;
	start();
	data[0] = temporary(600);
	data[1] = temporary(500);
	data[2] = temporary(500);
	data[3] = temporary(300);
	write_it(data[0], 0);
	assert_int_equal(starpu_task_insert(&write_two, STARPU_W, data[1], STARPU_W,
					    data[2], STARPU_VALUE, &number,
					    sizeof(number), 0),
			 0);
	write_it(data[3], 2);
	fake_run_until(fake_now_s() + 1e-5);
	/* Who waits holds nothing. */
	assert_int_equal(world.memory->used_bytes, 600);
	assert_non_null(world.memory->waiting);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(world.order[i], i);
	for (int i = 0; i < 4; i++)
		starpu_data_unregister(data[i]);
	stop();
}

static void acquired(void *arg)
{
	world.nacquired++;
	starpu_data_release_on_node(*(starpu_data_handle_t *)arg, GPU);
}

/* Each release lets the next one in; that must not go deeper and deeper. */
static void long_lines_need_no_stack(void **state)
{
	starpu_data_handle_t *data = calloc(MANY, sizeof(data[0]));

	(void)state;
	start();
	write_it(data[0] = temporary(GPU_BYTES), 0);
	fake_run_until(fake_now_s() + 1e-5);
	for (int i = 1; i < MANY; i++) {
		data[i] = temporary(1);
		assert_int_equal(starpu_data_acquire_on_node_cb(data[i], GPU, STARPU_W,
								acquired, &data[i]),
				 0);
	}
	assert_int_equal(world.nacquired, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	fake_run();
	assert_int_equal(world.nacquired, MANY - 1);
	for (int i = 0; i < MANY; i++)
		starpu_data_unregister(data[i]);
	free(data);
	stop();
}

/* What is wanted again while it leaves, stays. */
static void leaving_can_be_stopped(void **state)
{
	starpu_data_handle_t data[2];
	int is_valid;

	(void)state;
	start();
	fake_machine()->task_s = 1e-6;
	data[0] = temporary(600);
	data[1] = temporary(600);
	write_it(data[0], 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	write_it(data[1], 1);
	while (room_of(data[0]) != ROOM_LEAVING)
		assert_int_equal(fake_step(), 1);
	room_use(data_find_copy(data[0], GPU));
	assert_int_equal(room_of(data[0]), ROOM_USED);
	fake_run();
	assert_int_equal(world.norder, 1); /* The other one still waits. */
	starpu_data_query_status(data[0], GPU, NULL, &is_valid, NULL);
	assert_true(is_valid);
	room_unuse(data_find_copy(data[0], GPU), NULL, 0);
	room_serve(world.node, GPU);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(world.norder, 2);
	starpu_data_unregister(data[0]);
	starpu_data_unregister(data[1]);
	stop();
}

/* What a datum needs for one copy outside of main memory, for several, and for those of
 * memories that the node has not. */
static void copies_are_found_again(void **state)
{
	const unsigned memories[] = {GPU, 40, 2, NODE_MAX_MEMORIES - 1};
	struct copy_state *copies[4];
	starpu_data_handle_t handle;

	(void)state;
	start();
	starpu_vector_data_register(&handle, -1, 0, 1, 1);
	assert_null(data_find_copy(handle, GPU));
	for (int i = 0; i < 4; i++) {
		copies[i] = data_copy(handle, memories[i]);
		for (int j = 0; j <= i; j++) {
			assert_ptr_equal(data_find_copy(handle, memories[j]), copies[j]);
			assert_int_equal(copies[j]->memory, memories[j]);
		}
		assert_null(data_find_copy(handle, 3));
		assert_ptr_equal(data_copy(handle, memories[i]), copies[i]);
		if (i == 0)
			assert_null(handle->body->index);
	}
	assert_null(data_find_extra(handle));
	starpu_data_unregister(handle);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_knows_who_uses_what),
		cmocka_unit_test(sizes_are_asked_once),
		cmocka_unit_test(nobody_overtakes),
		cmocka_unit_test(long_lines_need_no_stack),
		cmocka_unit_test(leaving_can_be_stopped),
		cmocka_unit_test(copies_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
