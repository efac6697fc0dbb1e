/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Groups of accesses with hooks: a kind of the test's own, for STARPU_R|STARPU_COMMUTE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "core/task/deps.h"
#include "core/task/turns.h"
#include "one_node.h"

enum { MINE = STARPU_R | STARPU_COMMUTE, OPENING = 100, CLOSING = 200 };

static struct {
	int value;
	starpu_data_handle_t datum;
	int holds_at_opening, holds_at_closing;
	struct job work; /* what a hook asks for */
	int number;      /* that it notes */
} scene;

static void work_start(struct job *job, struct ready *ready)
{
	(void)job;
	(void)ready;
	one_note(scene.number);
}

static const struct job_ops work_ops = {.start = work_start};

static int ask(int *holds, int number, struct ready *ready)
{
	if (!*holds) {
		one_note(number);
		return 0;
	}
	*holds = 0;
	scene.number = number + 1;
	job_init(&scene.work, one.node, &work_ops, NULL, 0);
	ready_append(ready, &scene.work);
	return 1;
}

static int mine_opens(starpu_data_handle_t datum, struct access *first,
		      struct ready *ready)
{
	assert_ptr_equal(datum, scene.datum);
	assert_ptr_equal(first->datum, datum);
	return ask(&scene.holds_at_opening, OPENING, ready);
}

static int mine_closes(starpu_data_handle_t datum, struct access *next,
		       struct ready *ready)
{
	assert_ptr_equal(datum, scene.datum);
	assert_int_not_equal(next->mode & MINE, MINE);
	return ask(&scene.holds_at_closing, CLOSING, ready);
}

static const struct turn_kind mine = {
	.shares = 1, .opens = mine_opens, .closes = mine_closes};

static const struct turn_kinds kinds = {{
	[STARPU_R] = &turn_read,
	[STARPU_W] = &turn_write,
	[STARPU_RW] = &turn_write,
	[MINE] = &mine,
}};

static int setup(void **state)
{
	one_setup(state);
	starpu_variable_data_register(&scene.datum, STARPU_MAIN_RAM,
				      (uintptr_t)&scene.value, sizeof(scene.value));
	data_body(scene.datum)->kinds = &kinds;
	scene.holds_at_opening = scene.holds_at_closing = 0;
	return 0;
}

static int teardown(void **state)
{
	fake_run();
	starpu_data_unregister_submit(scene.datum);
	return one_teardown(state);
}

static struct starpu_codelet log_it = {.cpu_funcs = {one_kernel},
				       .nbuffers = STARPU_VARIABLE_NBUFFERS};

/* A task that writes its number down, and does not run on its own. */
static void submit(unsigned mode, int number)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)number;
	task->nbuffers = 1;
	task->handles[0] = scene.datum;
	task->modes[0] = (enum starpu_data_access_mode)mode;
	assert_int_equal(starpu_task_submit(task), 0);
}

static void insert(unsigned mode, int number)
{
	submit(mode, number);
	fake_run();
}

static void resume(void)
{
	struct ready ready = {0};

	deps_resume(scene.datum, &ready);
	ready_run(one.node, &ready);
	fake_run();
}

static void a_group_stays_open_until_another_kind_comes(void **state)
{
	(void)state;
	insert(MINE, 1);
	ONE_EXPECT(OPENING, 1);
	insert(MINE, 2);
	ONE_EXPECT(2);
	insert(STARPU_R, 3);
	ONE_EXPECT(CLOSING, 3);
	insert(MINE, 4);
	ONE_EXPECT(OPENING, 4);
}

/* Two cores: both tasks of the group run before the writer, who was there first. */
static void it_closes_when_its_last_member_has_gone(void **state)
{
	(void)state;
	submit(STARPU_W, 1);
	submit(MINE, 2);
	submit(MINE, 3);
	submit(STARPU_W, 4);
	submit(MINE, 5);
	fake_run();
	ONE_EXPECT(1, OPENING, 2, 3, CLOSING, 4, OPENING, 5);
}

static void the_next_group_is_held_back(void **state)
{
	(void)state;
	scene.holds_at_closing = 1;
	insert(MINE, 1);
	ONE_EXPECT(OPENING, 1);
	insert(STARPU_RW, 2);
	ONE_EXPECT(CLOSING + 1);
	insert(STARPU_R, 3);
	insert(MINE, 4);
	ONE_EXPECT_NOTHING();
	resume();
	ONE_EXPECT(2, 3, OPENING, 4);
}

/* It asks again when the work that it wanted is over. */
static void the_group_itself_is_held_back(void **state)
{
	(void)state;
	scene.holds_at_opening = 1;
	insert(MINE, 1);
	ONE_EXPECT(OPENING + 1);
	insert(MINE, 2);
	ONE_EXPECT_NOTHING();
	resume();
	ONE_EXPECT(OPENING, 1, 2);
}

static void in_the_queue_too(void **state)
{
	(void)state;
	scene.holds_at_opening = 1;
	submit(STARPU_W, 1);
	submit(MINE, 2);
	submit(MINE, 3);
	fake_run();
	ONE_EXPECT(1, OPENING + 1);
	resume();
	ONE_EXPECT(OPENING, 2, 3);
}

/* A try leaves nothing behind, but what has to be over before it is begun. */
static void a_try_closes_the_group(void **state)
{
	(void)state;
	scene.holds_at_closing = 1;
	insert(MINE, 1);
	ONE_EXPECT(OPENING, 1);
	assert_int_equal(starpu_data_acquire_try(scene.datum, STARPU_R), -EAGAIN);
	ONE_EXPECT(CLOSING + 1);
	assert_int_equal(starpu_data_acquire_try(scene.datum, STARPU_R), -EAGAIN);
	ONE_EXPECT_NOTHING();
	resume();
	assert_int_equal(starpu_data_acquire_try(scene.datum, STARPU_R), 0);
	starpu_data_release(scene.datum);
}

/* What was contributed in order is not overlooked by who is in none. */
static void who_takes_no_turn_waits_for_an_open_group(void **state)
{
	(void)state;
	scene.holds_at_closing = 1;
	insert(MINE, 1);
	ONE_EXPECT(OPENING, 1);
	starpu_data_set_sequential_consistency_flag(scene.datum, 0);
	insert(STARPU_R, 2);
	ONE_EXPECT(CLOSING + 1);
	resume();
	ONE_EXPECT(2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_group_stays_open_until_another_kind_comes),
		TEST(it_closes_when_its_last_member_has_gone),
		TEST(the_next_group_is_held_back),
		TEST(the_group_itself_is_held_back),
		TEST(in_the_queue_too),
		TEST(a_try_closes_the_group),
		TEST(who_takes_no_turn_waits_for_an_open_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
