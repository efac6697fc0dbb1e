/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Policy graph_test: who goes first, and when anybody does.  One worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/bound/bound.h"
#include "core/sched/contexts.h"
#include "core/sched/ranks.h"
#include "one_node.h"

static struct starpu_codelet plain = {.cpu_funcs = {one_kernel}};
static struct starpu_codelet writes = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet reads = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};

static void open_counting(const char *descendants)
{
	setenv("STARPU_SCHED_GRAPH_TEST_DESCENDANTS", descendants, 1);
	one_open(1, 0, "graph_test");
	unsetenv("STARPU_SCHED_GRAPH_TEST_DESCENDANTS");
}

static struct starpu_task *make(struct starpu_codelet *cl, int number,
				starpu_data_handle_t handle)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->handles[0] = handle;
	return task;
}

static void submit(struct starpu_codelet *cl, int number, starpu_data_handle_t handle)
{
	assert_int_equal(starpu_task_submit(make(cl, number, handle)), 0);
}

static void nothing_runs_before_a_decision(void **state)
{
	(void)state;
	open_counting("0");
	submit(&plain, 1, NULL);
	fake_run();
	ONE_EXPECT_NOTHING();
	starpu_do_schedule();
	fake_run();
	ONE_EXPECT(1);
	one_close();
}

/* 1 is a chain of three, 4 is before four others: the longer chain or the wider one. */
static void submit_long_and_wide(starpu_data_handle_t *chain, starpu_data_handle_t *fan)
{
	starpu_void_data_register(chain);
	starpu_void_data_register(fan);
	submit(&plain, 9, NULL);
	submit(&writes, 4, *fan);
	for (int i = 5; i <= 8; i++)
		submit(&reads, i, *fan);
	for (int i = 1; i <= 3; i++)
		submit(&writes, i, *chain);
}

static void the_longest_way_goes_first(void **state)
{
	starpu_data_handle_t chain, fan;

	(void)state;
	open_counting("0");
	submit_long_and_wide(&chain, &fan);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	ONE_EXPECT(1, 4, 2, 9, 5, 6, 7, 8, 3);
	starpu_data_unregister(chain);
	starpu_data_unregister(fan);
	one_close();
}

static void or_what_most_depends_on(void **state)
{
	starpu_data_handle_t chain, fan;

	(void)state;
	open_counting("1");
	submit_long_and_wide(&chain, &fan);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	ONE_EXPECT(4, 1, 2, 9, 5, 6, 7, 8, 3);
	starpu_data_unregister(chain);
	starpu_data_unregister(fan);
	one_close();
}

/* Between tasks, and by tags; each follower is counted once, whatever leads to it. */
static void explicit_dependencies_count(void **state)
{
	struct starpu_task *task[5];

	(void)state;
	open_counting("1");
	for (int i = 0; i < 5; i++)
		task[i] = make(&plain, i, NULL);
	/* A square, 1 to 4, behind 0 and a tag. */
	task[0]->use_tag = task[1]->use_tag = 1;
	task[0]->tag_id = 10;
	task[1]->tag_id = 11;
	starpu_tag_declare_deps(11, 1, (starpu_tag_t)10);
	starpu_task_declare_deps_array(task[2], 1, &task[1]);
	starpu_task_declare_deps_array(task[3], 1, &task[1]);
	starpu_task_declare_deps_array(task[4], 2, &task[2]);
	for (int i = 20; i < 24; i++)
		submit(&plain, i, NULL);
	for (int i = 4; i >= 0; i--)
		assert_int_equal(starpu_task_submit(task[i]), 0);
	starpu_do_schedule();
	assert_int_equal(ranks_find(one.node, task_job(one.node, task[0])->id), 4);
	assert_int_equal(ranks_find(one.node, task_job(one.node, task[1])->id), 3);
	assert_int_equal(ranks_find(one.node, task_job(one.node, task[3])->id), 1);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(one.log[0], 0);
	assert_int_equal(one.log[1], 1);
	starpu_tag_remove(10);
	starpu_tag_remove(11);
	one.nlog = 0;
	one_close();
}

static void submit_more(void *arg)
{
	for (int i = 1; i <= 3; i++)
		submit(&writes, i, arg);
}

/* Nobody asks again: who comes later waits until the worker has nothing else. */
static void later_tasks_stand_back(void **state)
{
	starpu_data_handle_t handle;
	struct starpu_task *task;

	(void)state;
	open_counting("0");
	starpu_void_data_register(&handle);
	task = make(&plain, 10, NULL);
	task->callback_func = submit_more;
	task->callback_arg = handle;
	assert_int_equal(starpu_task_submit(task), 0);
	submit(&plain, 11, NULL);
	submit(&plain, 12, NULL);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	ONE_EXPECT(10, 11, 12, 1, 2, 3);
	starpu_data_unregister(handle);
	one_close();
}

/* Whatever a thread waits for: here for its turn on a datum. */
static void who_waits_asks(void **state)
{
	starpu_data_handle_t handle;

	(void)state;
	open_counting("0");
	starpu_void_data_register(&handle);
	submit(&writes, 1, handle);
	assert_int_equal(starpu_data_acquire(handle, STARPU_R), 0);
	ONE_EXPECT(1);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	one_close();
}

/* A record for bounds, one for ranks: neither loses what the other drops. */
static void bounds_are_recorded_beside(void **state)
{
	starpu_data_handle_t handle;

	(void)state;
	open_counting("0");
	starpu_void_data_register(&handle);
	bound_start(one.node, 1, 0);
	for (int i = 0; i < 3; i++)
		submit(&writes, i, handle);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(one.node->bound->graph.nvertices, 3);
	assert_int_equal(one.node->bound->graph.nedges, 2);
	assert_int_equal(one.node->ranks->graph.nvertices, 0);
	bound_stop(one.node);
	submit(&writes, 3, handle);
	assert_int_equal(one.node->bound->graph.nvertices, 3);
	assert_int_equal(one.node->ranks->graph.nvertices, 1);
	starpu_data_unregister(handle);
	ONE_EXPECT(0, 1, 2, 3);
	one_close();
}

/* More than 64, which are counted at a time. */
static void many_descendants_are_counted(void **state)
{
	enum { N = 150 };
	starpu_data_handle_t handle;
	uint64_t first;

	(void)state;
	open_counting("1");
	starpu_void_data_register(&handle);
	first = one.node->tasks_submitted + 1;
	for (int i = 0; i < N; i++)
		submit(&writes, i, handle);
	starpu_do_schedule();
	for (int i = 0; i < N; i++)
		assert_int_equal(ranks_find(one.node, first + (uint64_t)i), N - 1 - i);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(one.node->ranks->ranks.count, 0);
	starpu_data_unregister(handle);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_runs_before_a_decision),
		cmocka_unit_test(the_longest_way_goes_first),
		cmocka_unit_test(or_what_most_depends_on),
		cmocka_unit_test(explicit_dependencies_count),
		cmocka_unit_test(later_tasks_stand_back),
		cmocka_unit_test(who_waits_asks),
		cmocka_unit_test(bounds_are_recorded_beside),
		cmocka_unit_test(many_descendants_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
