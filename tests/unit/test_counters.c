/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What the counters count, task by task, and when they tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <starpu.h>

#include "core/counters.h"
#include "one_node.h"

static struct {
	struct counters_listener listener;
	struct tally last;
	int ncalls, nfreed;
} ear;

static void hear(struct counters_listener *listener, const struct tally *tally)
{
	assert_ptr_equal(listener, &ear.listener);
	ear.last = *tally;
	ear.ncalls++;
}

static void forget(struct counters_listener *listener)
{
	assert_ptr_equal(listener, &ear.listener);
	ear.nfreed++;
}

static int setup(void **state)
{
	(void)state;
	one_open(2, 0, "eager");
	memset(&ear, 0, sizeof(ear));
	ear.listener = (struct counters_listener){hear, forget, 1};
	return 0;
}

static struct starpu_codelet cl = {.cpu_funcs = {one_kernel}};
static struct starpu_codelet rw_cl = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};

static const struct counters_subject whole = {0};

static void expect(int64_t submitted, int64_t waiting, int64_t ready, int64_t executed)
{
	assert_int_equal(ear.last.total_submitted, submitted);
	assert_int_equal(ear.last.nwaiting, waiting);
	assert_int_equal(ear.last.nready, ready);
	assert_int_equal(ear.last.total_executed, executed);
}

static void stages_of_a_chain(void **state)
{
	int value = 0;
	starpu_data_handle_t handle;

	(void)state;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	counters_listen(one.node, whole, &ear.listener);
	counters_start(one.node);
	starpu_task_insert(&rw_cl, STARPU_RW, handle, 0);
	expect(1, 0, 1, 0);
	assert_int_equal(ear.ncalls, 2);
	starpu_task_insert(&rw_cl, STARPU_RW, handle, 0);
	expect(2, 1, 1, 0);
	starpu_task_insert(&rw_cl, STARPU_RW, handle, 0);
	expect(3, 2, 1, 0);
	starpu_task_wait_for_all();
	expect(3, 0, 0, 3);
	assert_int_equal(ear.last.peak_submitted, 2);
	assert_int_equal(ear.last.peak_ready, 1);
	assert_int_equal(ear.ncalls, 9);
	assert_int_equal(one.node->counters->stages.count, 0);
	starpu_data_unregister(handle);
}

/* What was submitted before counts when it is executed, and nowhere else. */
static void counting_begins_in_between(void **state)
{
	(void)state;
	counters_listen(one.node, whole, &ear.listener);
	for (int i = 0; i < 3; i++)
		starpu_task_insert(&cl, 0);
	counters_start(one.node);
	starpu_task_insert(&cl, 0);
	expect(1, 0, 1, 0);
	starpu_task_wait_for_all();
	expect(1, 0, 0, 4);
	for (int i = 0; i < 3; i++)
		starpu_task_insert(&cl, 0);
	counters_stop(one.node);
	counters_start(one.node);
	starpu_task_wait_for_all();
	expect(4, 0, 0, 7);
	assert_int_equal(one.node->counters->stages.count, 0);
}

static void tasks_without_kernel(void **state)
{
	(void)state;
	counters_listen(one.node, whole, &ear.listener);
	counters_start(one.node);
	starpu_task_insert(NULL, 0);
	starpu_task_wait_for_all();
	assert_int_equal(ear.last.total_submitted, 1);
	assert_int_equal(one.node->counters->all.nwaiting, 0);
	assert_int_equal(one.node->counters->all.total_executed, 0);
}

static void listeners_are_freed(void **state)
{
	(void)state;
	counters_listen(one.node, whole, &ear.listener);
	counters_listen(one.node, (struct counters_subject){.cl = &cl}, &ear.listener);
	counters_listen(one.node,
			(struct counters_subject){.worker = &one.node->workers[1]},
			&ear.listener);
	counters_drop(&ear.listener);
	counters_listen(one.node, whole, NULL);
	assert_int_equal(ear.nfreed, 0);
}

static int teardown(void **state)
{
	int nusers = orr_load(&ear.listener.nusers);

	one_teardown(state);
	if (ear.nfreed != (nusers > 0 && !orr_load(&ear.listener.nusers)))
		return -1;
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(stages_of_a_chain),
		CASE(counting_begins_in_between),
		CASE(tasks_without_kernel),
		CASE(listeners_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
