/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Explicit dependencies by number: what holds a task back, how often, and who lets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "core/task/tags.h"
#include "one_node.h"

/* Deep enough that a frame of 50 bytes for each is more than a stack. */
enum { NCHAIN = 200000, NROUNDS = 30 };

static struct starpu_codelet log_it = {.cpu_funcs = {one_kernel}};

/* A task that writes down its tag. */
static void init_task(struct starpu_task *task, starpu_tag_t id)
{
	starpu_task_init(task);
	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)id;
	task->use_tag = 1;
	task->tag_id = id;
}

static void insert(starpu_tag_t id)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)id;
	task->use_tag = 1;
	task->tag_id = id;
	assert_int_equal(starpu_task_submit(task), 0);
	fake_run();
}

static void submit(struct starpu_task *task)
{
	assert_int_equal(starpu_task_submit(task), 0);
	fake_run();
}

static void notify(starpu_tag_t id)
{
	starpu_tag_notify_from_apps(id);
	fake_run();
}

/* ---- what a task waits for ------------------------------------------- */

static void a_task_waits_for_all_its_tags(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 2, (starpu_tag_t)2, (starpu_tag_t)3);
	insert(1);
	insert(3);
	ONE_EXPECT(3);
	notify(2);
	ONE_EXPECT(1);
}

static void the_past_counts_until_it_is_undone(void **state)
{
	(void)state;
	insert(2);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	insert(1);
	ONE_EXPECT(2, 1);
	starpu_tag_restart(2);
	starpu_tag_declare_deps(3, 1, (starpu_tag_t)2);
	insert(3);
	ONE_EXPECT_NOTHING();
	insert(2);
	ONE_EXPECT(2, 3);
}

/* Declared while it waits already. */
static void more_may_be_declared_for_a_waiting_task(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	insert(1);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)3);
	notify(2);
	ONE_EXPECT_NOTHING();
	notify(3);
	ONE_EXPECT(1);
}

static void a_second_notification_is_none(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	task.detach = 0;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	notify(2);
	notify(2);
	submit(&task);
	ONE_EXPECT(1);
	submit(&task);
	ONE_EXPECT_NOTHING();
	starpu_tag_restart(2);
	notify(2);
	ONE_EXPECT(1);
	assert_int_equal(starpu_task_wait(&task), 0);
	starpu_task_clean(&task);
}

static void notifications_that_restart_are_kept(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	task.detach = 0;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	for (int i = 0; i < 3; i++)
		starpu_tag_notify_restart_from_apps(2);
	for (int i = 0; i < 3; i++)
		submit(&task);
	ONE_EXPECT(1, 1, 1);
	submit(&task);
	ONE_EXPECT_NOTHING();
	starpu_tag_notify_restart_from_apps(2);
	fake_run();
	ONE_EXPECT(1);
	starpu_task_clean(&task);
}

static void two_tasks_of_one_tag(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	insert(1);
	insert(1);
	ONE_EXPECT_NOTHING();
	insert(2);
	ONE_EXPECT(2, 1, 1);
}

static void the_task_of_a_tag_is_known(void **state)
{
	struct starpu_task first, second;

	(void)state;
	init_task(&first, 7);
	init_task(&second, 7);
	assert_null(starpu_tag_get_task(7));
	submit(&first);
	assert_ptr_equal(starpu_tag_get_task(7), &first);
	submit(&second);
	assert_ptr_equal(starpu_tag_get_task(7), &second);
	starpu_task_clean(&second);
	assert_ptr_equal(starpu_tag_get_task(7), &first);
	starpu_task_clean(&first);
	assert_null(starpu_tag_get_task(7));
	ONE_EXPECT(7, 7);
}

/* A task may be submitted again with another tag, or none. */
static void a_task_changes_its_tag(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)9);
	starpu_tag_declare_deps(3, 1, (starpu_tag_t)2);
	notify(9);
	submit(&task);
	task.tag_id = 2;
	insert(3);
	ONE_EXPECT(1);
	submit(&task);
	ONE_EXPECT(1, 3);
	task.use_tag = 0;
	submit(&task);
	ONE_EXPECT(1);
	assert_null(starpu_tag_get_task(2));
	starpu_task_clean(&task);
}

/* ---- run after run --------------------------------------------------- */

static void dependencies_hold_in_each_run(void **state)
{
	struct starpu_task a, b;

	(void)state;
	init_task(&a, 1);
	init_task(&b, 2);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
	for (int i = 0; i < NROUNDS; i++) {
		submit(i % 2 ? &a : &b);
		submit(i % 2 ? &b : &a);
		ONE_EXPECT(1, 2);
	}
	/* Runs that are ahead are kept for those to come. */
	submit(&a);
	submit(&a);
	ONE_EXPECT(1, 1);
	submit(&b);
	submit(&b);
	ONE_EXPECT(2, 2);
	submit(&b);
	ONE_EXPECT_NOTHING();
	submit(&a);
	ONE_EXPECT(1, 2);
	starpu_task_clean(&a);
	starpu_task_clean(&b);
}

static struct starpu_task pair[2];
static double pair_s[2];
static int nruns[2], noverlaps;

static double pair_duration_s(const struct worker *worker, const struct job *job)
{
	(void)worker;
	return pair_s[job->task == &pair[1]];
}

static void run_of_pair(void *buffers[], void *arg)
{
	int which = arg == &pair[1];

	(void)buffers;
	nruns[which]++;
	noverlaps += nruns[1] > nruns[0];
}

static void stop_pair(void *arg)
{
	struct starpu_task *task = arg;

	task->regenerate = nruns[task == &pair[1]] < NROUNDS;
}

static void regenerate(double first_s, double second_s)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {run_of_pair}};

	fake_machine()->duration_s = pair_duration_s;
	pair_s[0] = first_s;
	pair_s[1] = second_s;
	nruns[0] = nruns[1] = noverlaps = 0;
	for (int i = 0; i < 2; i++) {
		init_task(&pair[i], i);
		pair[i].cl = &codelet;
		pair[i].cl_arg = pair[i].callback_arg = &pair[i];
		pair[i].callback_func = stop_pair;
		pair[i].regenerate = 1;
	}
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)0);
	submit(&pair[1]);
	submit(&pair[0]);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(nruns[0], NROUNDS);
	assert_int_equal(nruns[1], NROUNDS);
	assert_int_equal(noverlaps, 0);
	for (int i = 0; i < 2; i++)
		starpu_task_clean(&pair[i]);
	starpu_tag_clear();
}

static void regenerated_tasks_overtake_nobody(void **state)
{
	(void)state;
	regenerate(1e-5, 1e-6);
	regenerate(1e-6, 1e-5);
	regenerate(1e-6, 1e-6);
}

/* Each wait for the tag of a task that regenerates is for one run. */
static void a_wait_uses_up_one_run(void **state)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {run_of_pair}};
	int before;

	(void)state;
	nruns[0] = nruns[1] = 0;
	init_task(&pair[0], 5);
	pair[0].cl = &codelet;
	pair[0].cl_arg = pair[0].callback_arg = &pair[0];
	pair[0].callback_func = stop_pair;
	pair[0].regenerate = 1;
	assert_int_equal(starpu_task_submit(&pair[0]), 0);
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(starpu_tag_wait(5), 0);
		assert_int_equal(nruns[0], i);
	}
	/* Runs that nobody waited for count as one. */
	fake_run_until(fake_now_s() + 3.5 * fake_machine()->task_s);
	before = nruns[0];
	assert_true(before > 6);
	assert_int_equal(starpu_tag_wait(5), 0);
	assert_int_equal(nruns[0], before);
	assert_int_equal(starpu_tag_wait(5), 0);
	assert_int_equal(nruns[0], before + 1);
	/* The last end is for all. */
	fake_run();
	for (int i = 0; i < 3; i++)
		assert_int_equal(starpu_tag_wait(5), 0);
	starpu_task_clean(&pair[0]);
}

/* What the application submits is another run, also when nobody waited for the first. */
static void a_wait_is_for_the_task_submitted_last(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 5);
	submit(&task);
	ONE_EXPECT(5);
	assert_int_equal(starpu_task_submit(&task), 0);
	assert_int_equal(starpu_tag_wait(5), 0);
	ONE_EXPECT(5);
	starpu_task_clean(&task);
}

/* ---- removal --------------------------------------------------------- */

static void who_waits_for_a_removed_tag_goes_on(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 2, (starpu_tag_t)2, (starpu_tag_t)3);
	insert(1);
	starpu_tag_remove(2);
	fake_run();
	ONE_EXPECT_NOTHING();
	starpu_tag_remove(3);
	fake_run();
	ONE_EXPECT(1);
	/* A new tag 2 has nothing to do with it. */
	insert(1);
	ONE_EXPECT(1);
}

static void a_removed_tag_holds_its_tasks_no_longer(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	starpu_tag_declare_deps(3, 1, (starpu_tag_t)1);
	submit(&task);
	insert(1);
	insert(3);
	starpu_tag_remove(1);
	fake_run();
	assert_int_equal(one.nlog, 3);
	one.nlog = 0;
	/* What it waited for is gone with it. */
	submit(&task);
	ONE_EXPECT(1);
	notify(2);
	starpu_task_clean(&task);
	ONE_EXPECT_NOTHING();
}

static void a_task_goes_before_its_tag(void **state)
{
	struct starpu_task task;

	(void)state;
	init_task(&task, 1);
	submit(&task);
	starpu_task_clean(&task);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
	insert(2);
	ONE_EXPECT(1, 2);
	starpu_tag_remove(1);
	starpu_tag_remove(2);
	starpu_tag_remove(12345);
}

static void all_tags_may_be_cleared(void **state)
{
	(void)state;
	for (starpu_tag_t id = 10; id < 20; id++) {
		starpu_tag_declare_deps(id, 2, id + 10, id + 20);
		insert(id);
	}
	starpu_tag_clear();
	fake_run();
	assert_int_equal(one.nlog, 10);
	one.nlog = 0;
}

/* ---- threads that wait ----------------------------------------------- */

static void a_wait_ends_with_what_the_tag_waits_for(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 2, (starpu_tag_t)2, (starpu_tag_t)3);
	starpu_tag_declare_deps(4, 1, (starpu_tag_t)1);
	notify(2);
	assert_int_equal(starpu_tag_wait(1), -EDEADLK);
	assert_int_equal(starpu_tag_wait(4), -EDEADLK);
	notify(3);
	assert_int_equal(starpu_tag_wait(1), 0);
	assert_int_equal(starpu_tag_wait(4), 0);
	/* It is still no reason for a task that waits for tag 1. */
	insert(4);
	ONE_EXPECT_NOTHING();
	insert(1);
	ONE_EXPECT(1, 4);
}

static void a_wait_for_a_task_is_for_its_end(void **state)
{
	starpu_tag_t both[2] = {1, 2};

	(void)state;
	assert_int_equal(starpu_tag_wait(1), -EDEADLK);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	insert(1);
	assert_int_equal(starpu_tag_wait(1), -EDEADLK);
	insert(2);
	assert_int_equal(starpu_tag_wait_array(2, both), 0);
	ONE_EXPECT(2, 1);
	/* Submitted again, it is to end again. */
	starpu_tag_restart(2);
	insert(1);
	assert_int_equal(starpu_tag_wait_array(2, both), -EDEADLK);
	insert(2);
	assert_int_equal(starpu_tag_wait_array(2, both), 0);
	ONE_EXPECT(2, 1);
}

static void arrivals_are_counted_one_by_one(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 2, (starpu_tag_t)2, (starpu_tag_t)3);
	for (int i = 0; i < NROUNDS; i++) {
		starpu_tag_notify_restart_from_apps(2);
		starpu_tag_notify_restart_from_apps(2);
		assert_int_equal(starpu_tag_wait(1), -EDEADLK);
		starpu_tag_notify_restart_from_apps(3);
		assert_int_equal(starpu_tag_wait(1), 0);
		starpu_tag_restart(1);
	}
	/* What tag 3 still owes, its removal pays at once. */
	assert_int_equal(starpu_tag_wait(1), -EDEADLK);
	starpu_tag_remove(3);
	assert_int_equal(starpu_tag_wait(1), 0);
}

/* The links that end at tag 1, when each has carried more than 32 bits can count. */
static void arrivals_go_on(void **state)
{
	const struct point *point;

	(void)state;
	starpu_tag_declare_deps(1, 3, (starpu_tag_t)2, (starpu_tag_t)3, (starpu_tag_t)4);
	starpu_tag_notify_restart_from_apps(2);
	starpu_tag_notify_restart_from_apps(3);
	point = table_get(&one.node->tags, 1); /* its first member */
	for (struct list *at = point->in.next; at != &point->in; at = at->next)
		if (LIST_ENTRY(at, struct link, in)->arrivals > 0)
			LIST_ENTRY(at, struct link, in)->arrivals = UINT32_MAX - 1;
	starpu_tag_remove(4);
	assert_int_equal(starpu_tag_wait(1), 0);
	for (int i = 0; i < 5; i++) {
		starpu_tag_restart(1);
		starpu_tag_notify_restart_from_apps(2);
		starpu_tag_notify_restart_from_apps(2);
		assert_int_equal(starpu_tag_wait(1), -EDEADLK);
		starpu_tag_notify_restart_from_apps(3);
		assert_int_equal(starpu_tag_wait(1), 0);
	}
}

static void wait_for_tag(void *arg)
{
	assert_int_equal(starpu_tag_wait((starpu_tag_t)(intptr_t)arg), 0);
	one_note((int)(intptr_t)arg);
}

static void let_go(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++)
		fake_yield();
	assert_int_equal(one.nlog, 0);
	starpu_tag_remove(1);
	starpu_tag_notify_from_apps(2);
	insert(3);
}

static void threads_are_let_go(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		int nwoken = 0;

		fake_shuffle((unsigned long)round + 1);
		fake_spawn(0, let_go, NULL);
		for (intptr_t i = 0; i < 9; i++)
			fake_spawn(0, wait_for_tag, (void *)(1 + i % 3));
		fake_play();
		for (int i = 0; i < one.nlog; i++)
			nwoken += one.log[i] > 0;
		assert_int_equal(nwoken, 9 + 1);
		one.nlog = 0;
		starpu_tag_clear();
	}
	fake_shuffle(0);
}

static void cycles_of_tags_end(void **state)
{
	(void)state;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t)3);
	starpu_tag_declare_deps(3, 1, (starpu_tag_t)1);
	assert_int_equal(starpu_tag_wait(1), -EDEADLK);
	for (int i = 0; i < NROUNDS; i++)
		starpu_tag_notify_restart_from_apps(2);
	assert_int_equal(starpu_tag_wait(1), 0);
	assert_int_equal(starpu_tag_wait(3), 0);
}

/* ---- long chains ----------------------------------------------------- */

static void declare_chain(void)
{
	for (starpu_tag_t id = 1; id < NCHAIN; id++)
		starpu_tag_declare_deps(id, 1, id - 1);
}

static void chains_of_tags_are_no_recursion(void **state)
{
	(void)state;
	declare_chain();
	notify(0);
	assert_int_equal(starpu_tag_wait(NCHAIN - 1), 0);
	starpu_tag_clear();
	declare_chain();
	starpu_tag_remove(0);
	assert_int_equal(starpu_tag_wait(NCHAIN - 1), 0);
	starpu_tag_clear();
	/* The first was reached before the others were declared. */
	notify(0);
	declare_chain();
	assert_int_equal(starpu_tag_wait(NCHAIN - 1), 0);
}

static void chains_of_tasks_are_no_recursion(void **state)
{
	(void)state;
	declare_chain();
	for (starpu_tag_t id = 1; id < NCHAIN; id++) {
		struct starpu_task *task = starpu_task_create();

		task->use_tag = 1;
		task->tag_id = id;
		assert_int_equal(starpu_task_submit(task), 0);
	}
	assert_int_equal(one.node->nblocked, NCHAIN - 1);
	notify(0);
	assert_int_equal(node_nsubmitted(one.node), 0);
	assert_int_equal(starpu_tag_wait(NCHAIN - 1), 0);
}

/* Tasks that hang on each other, let go from the far end. */
static void chains_are_removed_in_any_order(void **state)
{
	(void)state;
	for (int forth = 0; forth < 2; forth++) {
		declare_chain();
		for (starpu_tag_t id = 1; id < NCHAIN; id++) {
			struct starpu_task *task = starpu_task_create();

			task->use_tag = 1;
			task->tag_id = id;
			assert_int_equal(starpu_task_submit(task), 0);
		}
		for (starpu_tag_t i = 0; i < NCHAIN; i++)
			starpu_tag_remove(forth ? i : NCHAIN - 1 - i);
		assert_int_equal(node_nsubmitted(one.node), 0);
	}
}

/* ---- before the first life ------------------------------------------- */

static void tags_of_before_the_life(void **state)
{
	struct starpu_conf conf;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	starpu_tag_declare_deps(1, 2, (starpu_tag_t)2, (starpu_tag_t)3);
	starpu_tag_notify_from_apps(2);
	starpu_tag_notify_from_apps(3);
	starpu_tag_restart(3);
	starpu_tag_declare_deps(4, 1, (starpu_tag_t)5);
	starpu_tag_remove(4);
	starpu_conf_init(&conf);
	assert_int_equal(starpu_init(&conf), 0);
	one.node = plat_self();
	one.nlog = 0;
	insert(4);
	ONE_EXPECT(4);
	insert(1);
	ONE_EXPECT_NOTHING();
	notify(3);
	ONE_EXPECT(1);
	one_close();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, one_setup, one_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_task_waits_for_all_its_tags),
		TEST(the_past_counts_until_it_is_undone),
		TEST(more_may_be_declared_for_a_waiting_task),
		TEST(a_second_notification_is_none),
		TEST(notifications_that_restart_are_kept),
		TEST(two_tasks_of_one_tag),
		TEST(the_task_of_a_tag_is_known),
		TEST(a_task_changes_its_tag),
		TEST(dependencies_hold_in_each_run),
		TEST(regenerated_tasks_overtake_nobody),
		TEST(a_wait_uses_up_one_run),
		TEST(a_wait_is_for_the_task_submitted_last),
		TEST(who_waits_for_a_removed_tag_goes_on),
		TEST(a_removed_tag_holds_its_tasks_no_longer),
		TEST(a_task_goes_before_its_tag),
		TEST(all_tags_may_be_cleared),
		TEST(a_wait_ends_with_what_the_tag_waits_for),
		TEST(a_wait_for_a_task_is_for_its_end),
		TEST(arrivals_are_counted_one_by_one),
		TEST(arrivals_go_on),
		TEST(threads_are_let_go),
		TEST(cycles_of_tags_end),
		TEST(chains_of_tags_are_no_recursion),
		TEST(chains_of_tasks_are_no_recursion),
		TEST(chains_are_removed_in_any_order),
		cmocka_unit_test(tags_of_before_the_life),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
