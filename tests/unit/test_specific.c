/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Buffers in other memories than the worker's, one task at a time: see also the random
 * programs of test_coherency.c.  One core, two GPUs: memories 1 and 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/data/data.h"
#include "core/data/nearness.h"
#include "one_node.h"

enum { N = 100 };

static int values[N];
static void *seen[3];
static int seen_in[3];

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());
	     i++) {
		seen[i] = buffers[i];
		seen_in[i] = starpu_task_get_current_data_node(i);
		if (buffers[i])
			*(int *)STARPU_VECTOR_GET_PTR(buffers[i]) += 1;
	}
}

static struct starpu_codelet cl = {.cuda_funcs = {add_one},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .specific_nodes = 1};
static starpu_data_handle_t handle;

static void open_with(int place)
{
	one_open(1, 2, "eager");
	cl.nodes[0] = place;
	values[0] = 5;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, N,
				    sizeof(int));
}

/* On the first GPU. */
static void run(void)
{
	assert_int_equal(starpu_task_insert(&cl, STARPU_RW, handle,
					    STARPU_EXECUTE_ON_WORKER, 0, 0),
			 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
}

static void close_with(int value)
{
	starpu_data_unregister(handle);
	assert_int_equal(values[0], value);
	one_close();
}

static void expect_valid_in(unsigned mask)
{
	assert_int_equal(data_body(handle)->valid, mask);
}

static void each_place_is_obeyed(void **state)
{
	static const struct {
		int wish, place;
	} rows[] = {{STARPU_SPECIFIC_NODE_LOCAL, 1},
		    {STARPU_SPECIFIC_NODE_CPU, 0},
		    {STARPU_SPECIFIC_NODE_SLOW, 1},
		    {STARPU_SPECIFIC_NODE_FAST, 1},
		    {STARPU_SPECIFIC_NODE_LOCAL_OR_CPU, 0},
		    {0, 0},
		    {1, 1},
		    {2, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_with(rows[i].wish);
		run();
		assert_int_equal(seen_in[0], rows[i].place);
		expect_valid_in(1u << rows[i].place);
		close_with(6);
	}
}

/* Where the value is already. */
static void local_or_cpu_stays_local(void **state)
{
	(void)state;
	open_with(1);
	run();
	cl.nodes[0] = STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;
	run();
	assert_int_equal(seen_in[0], 1);
	close_with(7);
}

/* No copy, no interface; the value stays what and where it is. */
static void none_is_nowhere(void **state)
{
	(void)state;
	open_with(STARPU_SPECIFIC_NODE_NONE);
	run();
	assert_null(seen[0]);
	assert_int_equal(seen_in[0], -1);
	expect_valid_in(1);
	close_with(5);
}

/* The array is as long as the task has buffers. */
static void arrays_of_places(void **state)
{
	static int places[2] = {2, STARPU_SPECIFIC_NODE_CPU};
	static int others[N] = {50};
	static enum starpu_data_access_mode modes[2] = {STARPU_R, STARPU_RW};
	struct starpu_codelet two = {.cuda_funcs = {add_one},
				     .nbuffers = 2,
				     .dyn_modes = modes,
				     .specific_nodes = 1,
				     .dyn_nodes = places};
	starpu_data_handle_t other;

	(void)state;
	open_with(0);
	starpu_vector_data_register(&other, STARPU_MAIN_RAM, (uintptr_t)others, N,
				    sizeof(int));
	assert_int_equal(starpu_task_insert(&two, STARPU_R, handle, STARPU_RW, other,
					    STARPU_EXECUTE_ON_WORKER, 0, 0),
			 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(seen_in[0], 2);
	assert_int_equal(seen_in[1], 0);
	expect_valid_in(1 | 1u << 2);
	starpu_data_unregister(other);
	assert_int_equal(others[0], 51);
	close_with(5);
}

/* The task's own, instead of the codelet's; and those of the codelet again. */
static void tasks_have_places(void **state)
{
	int places[STARPU_NMAXBUFS + 1];
	struct starpu_data_descr descrs[STARPU_NMAXBUFS + 1];
	struct starpu_codelet many = {.cuda_funcs = {add_one},
				      .nbuffers = STARPU_VARIABLE_NBUFFERS};
	struct starpu_task *task, *copy;

	(void)state;
	open_with(STARPU_SPECIFIC_NODE_CPU);
	places[0] = 2;
	assert_int_equal(starpu_task_insert(&cl, STARPU_RW, handle, STARPU_NODE_ARRAY,
					    places, 1, STARPU_EXECUTE_ON_WORKER, 0, 0),
			 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(seen_in[0], 2);
	run();
	assert_int_equal(seen_in[0], 0);
	task = starpu_task_build(&cl, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER, 0, 0);
	assert_int_equal(STARPU_TASK_GET_NODE(task, 0), STARPU_SPECIFIC_NODE_CPU);
	STARPU_TASK_SET_NODE(task, 1, 0);
	task->specific_nodes = 1;
	assert_int_equal(STARPU_TASK_GET_NODE(task, 0), 1);
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(seen_in[0], 1);
	/* More than there is room for in a task. */
	for (int i = 0; i <= STARPU_NMAXBUFS; i++) {
		places[i] = STARPU_SPECIFIC_NODE_NONE;
		descrs[i] = (struct starpu_data_descr){handle, STARPU_R};
	}
	places[0] = 2;
	task = starpu_task_build(&many, STARPU_NODE_ARRAY, places, STARPU_NMAXBUFS + 1,
				 STARPU_DATA_MODE_ARRAY, descrs, STARPU_NMAXBUFS + 1,
				 STARPU_EXECUTE_ON_WORKER, 0, 0);
	copy = starpu_task_dup(task);
	assert_int_equal(STARPU_TASK_GET_NODE(copy, STARPU_NMAXBUFS),
			 STARPU_SPECIFIC_NODE_NONE);
	starpu_task_destroy(copy);
	starpu_task_destroy(task);
	close_with(8);
}

/* One datum twice: it lies where its first buffer is to. */
static void twice_is_once(void **state)
{
	static enum starpu_data_access_mode modes[2] = {STARPU_R, STARPU_RW};
	struct starpu_codelet two = {.cuda_funcs = {add_one},
				     .nbuffers = 2,
				     .dyn_modes = modes,
				     .specific_nodes = 1,
				     .nodes = {2, STARPU_SPECIFIC_NODE_NONE}};

	(void)state;
	open_with(0);
	assert_int_equal(starpu_task_insert(&two, STARPU_R, handle, STARPU_RW, handle,
					    STARPU_EXECUTE_ON_WORKER, 0, 0),
			 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_ptr_equal(seen[0], seen[1]);
	assert_int_equal(seen_in[1], 2);
	close_with(7);
}

static double expected_s(struct job *job, unsigned memory)
{
	double seconds[NODE_MAX_MEMORIES];

	nearness_expected_s(job, memory_bit(memory), seconds);
	return seconds[memory];
}

/* What does not have to travel costs no scheduler anything. */
static void schedulers_know(void **state)
{
	struct starpu_task *task;

	(void)state;
	open_with(STARPU_SPECIFIC_NODE_CPU);
	task = starpu_task_create();
	task->cl = &cl;
	task->handles[0] = handle;
	starpu_pause();
	assert_int_equal(starpu_task_submit(task), 0);
	assert_true(expected_s(task_job(one.node, task), 1) == 0);
	assert_int_equal(nearness_lacks_bytes(task_job(one.node, task), 1), 0);
	cl.nodes[0] = STARPU_SPECIFIC_NODE_LOCAL;
	assert_true(expected_s(task_job(one.node, task), 1) > 0);
	starpu_resume();
	assert_int_equal(starpu_task_wait_for_all(), 0);
	close_with(6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_place_is_obeyed),
		cmocka_unit_test(local_or_cpu_stays_local),
		cmocka_unit_test(none_is_nowhere),
		cmocka_unit_test(arrays_of_places),
		cmocka_unit_test(tasks_have_places),
		cmocka_unit_test(twice_is_once),
		cmocka_unit_test(schedulers_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
