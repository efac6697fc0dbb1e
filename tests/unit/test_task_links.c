/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* What a task waits for besides its data, and what waits for its end, run after run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>

#include "core/task/links.h"
#include "one_task.h"

/* Deep enough that a frame of 50 bytes for each is more than a stack. */
enum { NCHAIN = 200000, NROUNDS = 30, MANY = 6 };

static struct starpu_codelet log_read = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};
static struct starpu_codelet log_write = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet log_many = {
	.cpu_funcs = {one_kernel},
	.nbuffers = MANY,
	.modes = {STARPU_RW, STARPU_R, STARPU_RW, STARPU_R, STARPU_RW, STARPU_R}};
static struct starpu_codelet log_two = {
	.cpu_funcs = {one_kernel}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};
static struct starpu_codelet on_gpu = {.cuda_funcs = {one_kernel}};

/* ---- ends ------------------------------------------------------------ */

static void an_end_waits_for_its_release(void **state)
{
	struct starpu_task task, after;
	starpu_data_handle_t handle;

	(void)state;
	starpu_void_data_register(&handle);
	init_task(&task, 1);
	init_task(&after, 2);
	task.cl = &log_write;
	task.handles[0] = handle;
	task.callback_func = one_note_arg;
	task.callback_arg = (void *)(intptr_t)10;
	starpu_task_declare_deps(&after, 1, &task);
	for (int i = 0; i < 2; i++) {
		starpu_task_end_dep_add(&task, 2);
		submit(&task);
		submit(&after);
		assert_int_equal(starpu_task_insert(&log_read, STARPU_R, handle,
						    STARPU_CL_ARGS_NFREE, (void *)3,
						    (size_t)1, 0),
				 0);
		starpu_task_end_dep_release(&task);
		fake_run();
		ONE_EXPECT(1);
		assert_int_equal(starpu_task_finished(&task), 0);
		assert_int_equal(starpu_task_wait(&task), -EDEADLK);
		starpu_task_end_dep_release(&task);
		assert_int_equal(starpu_task_wait(&task), 0);
		fake_run();
		assert_int_equal(one.log[0], 10); /* before who waited goes on */
		assert_int_equal(one.log[1] + one.log[2], 2 + 3);
		assert_int_equal(one.nlog, 3);
		one.nlog = 0;
	}
	starpu_task_clean(&task);
	starpu_task_clean(&after);
	starpu_data_unregister(handle);
}

/* An end before the kernel has run is none. */
static void an_early_release_does_no_harm(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	starpu_task_end_dep_add(&task, 1);
	assert_int_equal(starpu_task_submit(&task), 0);
	starpu_task_end_dep_release(&task);
	assert_int_equal(starpu_task_finished(&task), 0);
	ONE_EXPECT_NOTHING();
	assert_int_equal(starpu_task_wait(&task), 0);
	ONE_EXPECT(1);
	starpu_task_clean(&task);
}

static void ends_wait_for_ends(void **state)
{
	struct starpu_task task, part, after;

	(void)state;
	init_task(&task, 1);
	init_task(&part, 2);
	init_task(&after, 3);
	starpu_task_declare_end_deps(&task, 1, &part);
	starpu_task_declare_deps(&after, 1, &task);
	for (int i = 0; i < 3; i++) {
		submit(&after);
		submit(&task);
		ONE_EXPECT(1);
		assert_int_equal(starpu_task_finished(&task), 0);
		submit(&part);
		assert_int_equal(starpu_task_finished(&task), 1);
		ONE_EXPECT(2, 3);
	}
	starpu_task_clean(&task);
	starpu_task_clean(&part);
	starpu_task_clean(&after);
}

static struct starpu_task *inner;

static void submit_inner(void *buffers[], void *arg)
{
	(void)buffers;
	inner = create_task(2);
	starpu_task_declare_end_deps(arg, 1, inner);
	assert_int_equal(starpu_task_submit(inner), 0);
	one_note(1);
}

static void a_running_task_adds_to_its_end(void **state)
{
	struct starpu_codelet codelet = {.cpu_funcs = {submit_inner}};
	struct starpu_task task;

	(void)state;
	init_task(&task, 0);
	task.cl = &codelet;
	task.cl_arg = &task;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(starpu_task_submit(&task), 0);
		assert_int_equal(starpu_task_wait(&task), 0);
		ONE_EXPECT(1, 2);
	}
	starpu_task_clean(&task);
}

static void chains_of_ends_are_no_recursion(void **state)
{
	struct starpu_task *tasks = malloc(NCHAIN * sizeof(*tasks));

	(void)state;
	for (int i = 0; i < NCHAIN; i++) {
		starpu_task_init(&tasks[i]);
		tasks[i].detach = 0;
		if (i > 0)
			starpu_task_declare_end_deps(&tasks[i], 1, &tasks[i - 1]);
	}
	for (int i = NCHAIN - 1; i >= 0; i--)
		assert_int_equal(starpu_task_submit(&tasks[i]), 0);
	assert_int_equal(starpu_task_wait(&tasks[NCHAIN - 1]), 0);
	for (int i = 0; i < NCHAIN; i++)
		starpu_task_clean(&tasks[i]);
	free(tasks);
}

/* ---- explicit dependencies, run after run ---------------------------- */

static void dependencies_hold_in_each_run(void **state)
{
	struct starpu_task a, b;

	(void)state;
	init_task(&a, 1);
	init_task(&b, 2);
	starpu_task_declare_deps(&b, 1, &a);
	for (int i = 0; i < NROUNDS; i++) {
		submit(i % 2 ? &a : &b);
		submit(i % 2 ? &b : &a);
		ONE_EXPECT(1, 2);
	}
	submit(&a);
	submit(&a);
	submit(&b);
	submit(&b);
	ONE_EXPECT(1, 1, 2, 2);
	submit(&b);
	ONE_EXPECT_NOTHING();
	submit(&a);
	ONE_EXPECT(1, 2);
	starpu_task_clean(&a);
	starpu_task_clean(&b);
}

/* One that has ended before the declaration is waited for from its next run on. */
static void the_past_counts_once(void **state)
{
	struct starpu_task a, b;

	(void)state;
	init_task(&a, 1);
	init_task(&b, 2);
	submit(&a);
	starpu_task_declare_deps(&b, 1, &a);
	submit(&b);
	ONE_EXPECT(1, 2);
	submit(&a);
	submit(&b);
	ONE_EXPECT(1, 2);
	submit(&b);
	ONE_EXPECT_NOTHING();
	submit(&a);
	ONE_EXPECT(1, 2);
	starpu_task_clean(&a);
	starpu_task_clean(&b);
}

static void successors_are_told(void **state)
{
	struct starpu_task a, b[3], *found[3];

	(void)state;
	init_task(&a, 0);
	for (int i = 0; i < 3; i++) {
		init_task(&b[i], i + 1);
		starpu_task_declare_deps(&b[i], 1, &a);
	}
	assert_int_equal(starpu_task_get_task_succs(&a, 2, found), 3);
	assert_ptr_equal(found[0], &b[0]);
	assert_ptr_equal(found[1], &b[1]);
	submit(&b[1]);
	assert_int_equal(starpu_task_get_task_scheduled_succs(&a, 3, found), 1);
	assert_ptr_equal(found[0], &b[1]);
	submit(&a);
	ONE_EXPECT(0, 2);
	starpu_task_clean(&a);
	for (int i = 0; i < 3; i++)
		starpu_task_clean(&b[i]);
}

/* ---- without turns --------------------------------------------------- */

static void passes_who_holds(struct starpu_codelet *cl, int held)
{
	struct starpu_task task, waiting;
	starpu_data_handle_t handles[MANY], handle;

	for (int i = 0; i < MANY; i++)
		starpu_void_data_register(&handles[i]);
	handle = handles[held];
	init_task(&task, 1);
	init_task(&waiting, 2);
	task.cl = cl;
	for (int i = 0; i < cl->nbuffers; i++)
		task.handles[i] = handles[i];
	waiting.cl = &log_write;
	waiting.handles[0] = handle;
	assert_int_equal(starpu_data_acquire(handle, STARPU_RW), 0);
	submit(&waiting);
	assert_int_equal(starpu_task_submit_nodeps(&task), 0);
	assert_int_equal(starpu_task_wait(&task), 0);
	ONE_EXPECT(1);
	/* The next time it waits again, as it is submitted. */
	submit(&task);
	ONE_EXPECT_NOTHING();
	starpu_data_release(handle);
	fake_run();
	ONE_EXPECT(2, 1);
	/* It held nobody back and left nothing behind. */
	assert_int_equal(starpu_task_submit_nodeps(&task), 0);
	submit(&waiting);
	assert_int_equal(one.nlog, 2);
	one.nlog = 0;
	starpu_task_clean(&task);
	starpu_task_clean(&waiting);
	for (int i = 0; i < MANY; i++)
		starpu_data_unregister(handles[i]);
}

static void a_task_without_turns_passes_who_holds(void **state)
{
	(void)state;
	passes_who_holds(&log_write, 0);
	passes_who_holds(&log_two, 0);
	passes_who_holds(&log_two, 1);
	passes_who_holds(&log_many, MANY - 1);
}

/* On behalf of one that holds the data, when a limit is reached. */
static void submit_part(void *arg)
{
	struct starpu_task *part = create_task(1);

	part->cl = &log_read;
	part->handles[0] = arg;
	assert_int_equal(starpu_task_submit_nodeps(part), 0);
}

static void a_task_without_turns_is_never_held_back(void **state)
{
	struct starpu_task *part = create_task(3), holder;
	starpu_data_handle_t handle;
	uint64_t nwaits;

	(void)state;
	starpu_void_data_register(&handle);
	one.node->limit_max = 1;
	init_task(&holder, 2);
	holder.cl = &log_write;
	holder.handles[0] = handle;
	holder.prologue_callback_func = submit_part;
	holder.prologue_callback_arg = handle;
	submit(&holder);
	assert_int_equal(one.log[0] + one.log[1], 1 + 2);
	one.nlog = 0;
	starpu_data_acquire(handle, STARPU_RW);
	submit(&holder);
	nwaits = one.node->nwaits;
	assert_int_equal(starpu_task_submit_nodeps(part), 0);
	assert_int_equal(one.node->nwaits, nwaits);
	fake_run();
	ONE_EXPECT(3);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	one.nlog = 0;
	starpu_task_clean(&holder);
	starpu_data_unregister(handle);
}

static void a_task_without_turns_still_has_links(void **state)
{
	struct starpu_task before, task;

	(void)state;
	init_task(&before, 1);
	init_task(&task, 2);
	starpu_task_declare_deps(&task, 1, &before);
	assert_int_equal(starpu_task_submit_nodeps(&task), 0);
	fake_run();
	ONE_EXPECT_NOTHING();
	submit(&before);
	ONE_EXPECT(1, 2);
	starpu_task_clean(&before);
	task.cl = &on_gpu;
	assert_int_equal(starpu_task_submit_nodeps(&task), -ENODEV);
	task.cl = &log_it;
	submit(&task);
	ONE_EXPECT(2);
	starpu_task_clean(&task);
}

/* A task that has been run for ever while another, which waits for its ends, was not. */
static void occurrences_are_kept_for_ever(void **state)
{
	struct starpu_task a, b;
	struct link *link;

	(void)state;
	init_task(&a, 1);
	init_task(&b, 2);
	starpu_task_declare_deps(&b, 1, &a);
	link = LIST_ENTRY(task_job(one.node, &a)->point->point.out.next, struct link,
			  out);
	link->spare = UINT32_MAX - 1;
	for (int i = 0; i < 4; i++)
		submit(&a);
	for (int i = 0; i < 4; i++) {
		submit(&b);
		assert_int_equal(starpu_task_finished(&b), 1);
	}
	ONE_EXPECT(1, 1, 1, 1, 2, 2, 2, 2);
	starpu_task_clean(&a);
	starpu_task_clean(&b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, one_setup, one_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_end_waits_for_its_release),
		TEST(an_early_release_does_no_harm),
		TEST(ends_wait_for_ends),
		TEST(a_running_task_adds_to_its_end),
		TEST(chains_of_ends_are_no_recursion),
		TEST(dependencies_hold_in_each_run),
		TEST(the_past_counts_once),
		TEST(successors_are_told),
		TEST(a_task_without_turns_passes_who_holds),
		TEST(a_task_without_turns_is_never_held_back),
		TEST(a_task_without_turns_still_has_links),
		TEST(occurrences_are_kept_for_ever),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
