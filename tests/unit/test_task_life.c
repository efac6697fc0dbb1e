/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* The life of a task: begun again, waited for, destroyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>

#include "core/data/data.h"
#include "one_task.h"

enum { NROUNDS = 30, NTHREADS = 5 };

static struct starpu_codelet log_write = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};
/* ---- states ---------------------------------------------------------- */

static void note_status(void *arg)
{
	one_note(100 + (int)((struct starpu_task *)arg)->status);
}

static void note_status_inside(void *buffers[], void *arg)
{
	(void)buffers;
	note_status(arg);
}

static void a_task_goes_through_its_states(void **state)
{
	struct starpu_codelet codelet = {.cpu_funcs = {note_status_inside}};
	struct starpu_task before, task;

	(void)state;
	init_task(&before, 1);
	init_task(&task, 2);
	task.cl = &codelet;
	task.cl_arg = task.callback_arg = task.prologue_callback_arg = &task;
	task.prologue_callback_func = task.callback_func = note_status;
	assert_int_equal(task.status, STARPU_TASK_INIT);
	starpu_task_declare_deps(&task, 1, &before);
	for (int i = 0; i < 2; i++) {
		submit(&task);
		assert_int_equal(task.status, STARPU_TASK_BLOCKED);
		assert_int_equal(starpu_task_finished(&task), 0);
		starpu_pause();
		submit(&before);
		assert_int_equal(before.status, STARPU_TASK_READY);
		assert_int_equal(task.status, STARPU_TASK_BLOCKED);
		starpu_resume();
		fake_run();
		assert_int_equal(task.status, STARPU_TASK_FINISHED);
		assert_int_equal(starpu_task_finished(&task), 1);
		ONE_EXPECT(1, 100 + STARPU_TASK_READY, 100 + STARPU_TASK_RUNNING,
			   100 + STARPU_TASK_FINISHED);
	}
	starpu_task_clean(&task);
	starpu_task_clean(&before);
}

/* ---- begun again ----------------------------------------------------- */

static int nruns;

static void run_three_times(void *arg)
{
	struct starpu_task *task = arg;

	task->regenerate = ++nruns % 3 != 0;
}

static void a_task_regenerates_until_it_is_told(void **state)
{
	struct starpu_task task;

	(void)state;
	nruns = 0;
	init_task(&task, 1);
	task.callback_func = run_three_times;
	task.callback_arg = &task;
	for (int i = 0; i < 2; i++) {
		task.regenerate = 1;
		assert_int_equal(starpu_task_submit(&task), 0);
		assert_int_equal(starpu_task_wait(&task), 0);
		ONE_EXPECT(1, 1, 1);
	}
	starpu_task_clean(&task);
}

static void a_detached_task_that_regenerates_is_destroyed_once(void **state)
{
	struct starpu_task *task = create_task(1);

	(void)state;
	nruns = 0;
	task->regenerate = 1;
	task->callback_func = run_three_times;
	task->callback_arg = task;
	submit(task);
	ONE_EXPECT(1, 1, 1);
}

static void submit_again(void *arg)
{
	if (++nruns < NROUNDS)
		assert_int_equal(starpu_task_submit(arg), 0);
}

static void a_callback_submits_its_task(void **state)
{
	struct starpu_task mine, *detached = create_task(2), *waited = create_task(3);

	(void)state;
	init_task(&mine, 1);
	mine.callback_func = detached->callback_func = waited->callback_func =
		submit_again;
	mine.callback_arg = &mine;
	detached->callback_arg = detached;
	waited->callback_arg = waited;
	waited->detach = 0;
	nruns = 0;
	submit(&mine);
	assert_int_equal(nruns, NROUNDS);
	assert_int_equal(starpu_task_wait(&mine), 0);
	starpu_task_clean(&mine);
	nruns = 0;
	submit(detached);
	assert_int_equal(nruns, NROUNDS);
	nruns = 0;
	assert_int_equal(starpu_task_submit(waited), 0);
	assert_int_equal(starpu_task_wait(waited), 0);
	assert_int_equal(nruns, NROUNDS);
	assert_int_equal(one.nlog, 3 * NROUNDS);
	one.nlog = 0;
}

/* ---- given as arguments ----------------------------------------------- */

/* Such bits of a mode say nothing of the access: the codelet need not have them. */
static void hints_contradict_no_codelet(void **state)
{
	static const unsigned hints[] = {STARPU_SSEND, STARPU_LOCALITY, STARPU_NOPLAN,
					 STARPU_UNMAP, STARPU_NOFOOTPRINT};
	struct starpu_codelet hinted = log_write;
	starpu_data_handle_t handle;

	(void)state;
	starpu_void_data_register(&handle);
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		assert_int_equal(starpu_task_insert(&log_write, STARPU_RW | hints[i],
						    handle, STARPU_CL_ARGS_NFREE,
						    (void *)7, sizeof(int), 0),
				 0);
		hinted.modes[0] = STARPU_RW | (enum starpu_data_access_mode)hints[i];
		assert_int_equal(starpu_task_insert(&hinted, STARPU_RW, handle,
						    STARPU_CL_ARGS_NFREE, (void *)8,
						    sizeof(int), 0),
				 0);
		fake_run();
		ONE_EXPECT(7, 8);
	}
	starpu_data_unregister(handle);
}

/* ---- waiting --------------------------------------------------------- */

static void who_may_be_waited_for(void **state)
{
	struct starpu_task task, never;
	struct starpu_task *created = create_task(2);

	(void)state;
	init_task(&task, 1);
	init_task(&never, 3);
	assert_int_equal(task_wait(one.node, &never), -EINVAL);
	submit(&task);
	assert_int_equal(task_wait(one.node, &task), 0);
	assert_int_equal(task_wait(one.node, &task), 0); /* It stays. */
	task.detach = 1;
	assert_int_equal(task_wait(one.node, &task), -EINVAL);
	task.detach = 0;
	starpu_task_declare_deps(&task, 1, &never);
	submit(&task);
	assert_int_equal(task_wait(one.node, &task), -EDEADLK);
	submit(&never);
	assert_int_equal(task_wait(one.node, &task), 0);
	created->detach = 0;
	submit(created);
	assert_int_equal(starpu_task_wait(created), 0); /* It is gone. */
	starpu_task_clean(&task);
	starpu_task_clean(&never);
	ONE_EXPECT(1, 3, 1, 2);
}

static void a_synchronous_task_has_ended(void **state)
{
	struct starpu_task task;
	struct starpu_task *created = create_task(2);

	(void)state;
	init_task(&task, 1);
	task.synchronous = created->synchronous = 1;
	task.detach = 1;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(starpu_task_submit(&task), 0);
		ONE_EXPECT(1);
	}
	assert_int_equal(task.synchronous, 1);
	assert_int_equal(starpu_task_submit(created), 0);
	ONE_EXPECT(2);
	/* What the application said of it is still so. */
	assert_int_equal(task.detach, 1);
	assert_int_equal(task.destroy, 0);
	starpu_task_clean(&task);
}

static void submit_and_wait(void *arg)
{
	struct starpu_task *task = arg;

	for (int i = 0; i < NROUNDS; i++) {
		assert_int_equal(starpu_task_submit(task), 0);
		if (i % 2)
			fake_yield();
		assert_int_equal(starpu_task_wait(task), 0);
		assert_int_equal(starpu_task_finished(task), 1);
	}
}

static void threads_wait_each_for_its_task(void **state)
{
	struct starpu_task tasks[NTHREADS];

	(void)state;
	for (unsigned long seed = 1; seed <= 3; seed++) {
		fake_shuffle(seed);
		for (int i = 0; i < NTHREADS; i++) {
			init_task(&tasks[i], i);
			fake_spawn(0, submit_and_wait, &tasks[i]);
		}
		fake_play();
		for (int i = 0; i < NTHREADS; i++)
			starpu_task_clean(&tasks[i]);
		assert_int_equal(one.nlog, NTHREADS * NROUNDS);
		one.nlog = 0;
	}
	fake_shuffle(0);
}

/* ---- destroyed ------------------------------------------------------- */

static void destroy(void *arg)
{
	starpu_task_destroy(arg);
}

static void set_destroy(void *arg)
{
	starpu_task_set_destroy(arg);
}

static void callbacks_destroy_their_tasks(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct starpu_task *task = create_task(i);

		task->destroy = 0;
		task->detach = (unsigned)(i & 1);
		task->callback_func = i & 2 ? destroy : set_destroy;
		if (i & 4)
			starpu_task_declare_deps(task, 0);
		task->callback_arg = task;
		/* What set_destroy() leaves to who waits for it is to be waited for. */
		if (i == 0 || i == 4) {
			assert_int_equal(starpu_task_submit(task), 0);
			assert_int_equal(starpu_task_wait(task), 0);
			continue;
		}
		submit(task);
	}
	ONE_EXPECT(0, 1, 2, 3, 4, 5, 6, 7);
}

static void destroyed_whenever(void **state)
{
	struct starpu_task *before = create_task(1), *pending = create_task(2);
	struct starpu_task *ended = create_task(3), *never = create_task(4);

	(void)state;
	pending->destroy = ended->destroy = before->destroy = 0;
	starpu_task_declare_deps(pending, 1, before);
	submit(pending);
	starpu_task_set_destroy(pending);
	submit(before);
	submit(ended);
	starpu_task_set_destroy(ended);
	starpu_task_destroy(before);
	starpu_task_destroy(never);
	ONE_EXPECT(1, 2, 3);
}

/* A task that others wait for goes away: they need not wait any more. */
static void a_task_goes_with_its_links(void **state)
{
	struct starpu_task *before = create_task(1);
	struct starpu_task after;

	(void)state;
	init_task(&after, 2);
	before->destroy = 0;
	starpu_task_declare_deps(&after, 1, before);
	submit(before);
	submit(&after);
	starpu_task_destroy(before);
	submit(&after);
	starpu_task_clean(&after);
	ONE_EXPECT(1, 2, 2);
}

/* ---- counters that pass 32 bits -------------------------------------- */

static void numbers_of_tasks_go_on(void **state)
{
	struct starpu_task tasks[6];
	unsigned long last = 0;

	(void)state;
	one.node->tasks_submitted = (uint64_t)UINT32_MAX - 3;
	one.node->nended = (int)(UINT32_MAX - 3);
	for (int i = 0; i < 6; i++) {
		init_task(&tasks[i], i);
		submit(&tasks[i]);
		assert_true(starpu_task_get_job_id(&tasks[i]) > last);
		last = starpu_task_get_job_id(&tasks[i]);
	}
	assert_true(last > UINT32_MAX);
	assert_int_equal(starpu_task_nsubmitted(), 0);
	for (int i = 0; i < 6; i++)
		starpu_task_clean(&tasks[i]);
	ONE_EXPECT(0, 1, 2, 3, 4, 5);
}

static int value_seen;

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	value_seen = ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

/* A value's epoch only has to differ from that of what is still on its way. */
static void epochs_of_values_wrap(void **state)
{
	struct starpu_codelet on_cpu = {
		.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};
	struct starpu_codelet gpu = {
		.cuda_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};
	starpu_data_handle_t handle;
	int value = 0;

	(void)state;
	one_close();
	one_open(1, 1, "eager");
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_task_insert(&on_cpu, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
	handle->body->epoch = UINT_MAX - 4;
	for (int i = 0; i < 10; i++) {
		starpu_task_insert(i % 2 ? &on_cpu : &gpu, STARPU_RW, handle, 0);
		if (i % 3)
			starpu_task_wait_for_all();
	}
	starpu_task_wait_for_all();
	assert_int_equal(value_seen, 11);
	assert_true(handle->body->epoch < 10);
	starpu_data_unregister(handle);
	assert_int_equal(value, 11);
}

/* ---- several threads begin and end the library ----------------------- */

static int nlives;

static void live(void *arg)
{
	int number = (int)(intptr_t)arg;

	for (int i = 0; i < NROUNDS; i++) {
		assert_int_equal(starpu_init(NULL), 0);
		nlives++;
		for (int k = 0; k < number; k++) {
			assert_int_equal(starpu_task_insert(&log_it, 0), 0);
			fake_yield();
		}
		assert_int_equal(starpu_is_initialized(), 1);
		if (number % 2)
			starpu_task_wait_for_all();
		nlives--;
		starpu_shutdown();
		if (nlives > 0)
			assert_int_equal(starpu_is_initialized(), 1);
		one.nlog = 0;
		fake_yield();
	}
}

static void threads_begin_and_end_the_library(void **state)
{
	(void)state;
	for (unsigned long seed = 1; seed <= 20; seed++) {
		fake_start(1, 1e-6, 1e9);
		fake_shuffle(seed);
		one.nlog = nlives = 0;
		for (int i = 0; i < NTHREADS; i++)
			fake_spawn(0, live, (void *)(intptr_t)i);
		fake_play();
		assert_int_equal(starpu_is_initialized(), 0);
		fake_stop();
	}
}

/* ---- what ends as it begins ------------------------------------------- */

/* Each gives the datum back to the next one: the stack must not grow with them. */
static void a_long_chain_of_what_needs_no_kernel(void **state)
{
	enum { LINKS = 50000 };
	static struct starpu_codelet nothing = {
		.where = STARPU_NOWHERE, .nbuffers = 1, .modes = {STARPU_RW}};
	static struct starpu_codelet writer = {
		.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_W}};
	starpu_data_handle_t datum;
	int value = 3;

	(void)state;
	starpu_variable_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	assert_int_equal(starpu_data_acquire(datum, STARPU_RW), 0);
	for (int i = 0; i < LINKS; i++) {
		assert_int_equal(starpu_data_fetch_on_node(datum, STARPU_MAIN_RAM, 1), 0);
		assert_int_equal(starpu_task_insert(&nothing, STARPU_RW, datum, 0), 0);
	}
	for (int i = 0; i < LINKS; i++)
		starpu_data_deinitialize_submit(datum);
	starpu_task_insert(&writer, STARPU_W, datum, STARPU_CL_ARGS_NFREE,
			   (void *)(intptr_t)1, sizeof(void *), 0);
	assert_true(node_nsubmitted(one.node) > 3 * LINKS - 2);
	starpu_data_release(datum);
	fake_run();
	ONE_EXPECT(1);
	starpu_data_unregister(datum);
}

static starpu_data_handle_t held;

/* Callbacks in callbacks, of which the innermost lets the readers go. */
static void go_deeper(void *levels)
{
	struct starpu_task *task;

	if (!levels) {
		starpu_data_release(held);
		return;
	}
	task = starpu_task_create();
	task->callback_func = go_deeper;
	task->callback_arg = (void *)((uintptr_t)levels - 1);
	assert_int_equal(starpu_task_submit(task), 0);
}

/* Where no more callbacks nest, what needs a worker does not wait, and runs once. */
static void what_nests_too_deep_is_put_off_alone(void **state)
{
	enum { FEWEST = 60, MOST = 70 };
	static struct starpu_codelet nothing = {
		.where = STARPU_NOWHERE, .nbuffers = 1, .modes = {STARPU_R}};
	static struct starpu_codelet reader = {
		.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};
	int value = 3;

	(void)state;
	starpu_variable_data_register(&held, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (uintptr_t levels = FEWEST; levels <= MOST; levels++) {
		assert_int_equal(starpu_data_acquire(held, STARPU_RW), 0);
		assert_int_equal(starpu_task_insert(&nothing, STARPU_R, held, 0), 0);
		starpu_task_insert(&reader, STARPU_R, held, STARPU_CL_ARGS_NFREE,
				   (void *)(intptr_t)1, sizeof(void *), 0);
		go_deeper((void *)levels);
		fake_run();
		ONE_EXPECT(1);
		assert_int_equal(node_nsubmitted(one.node), 0);
	}
	starpu_data_unregister(held);
}

static void hold_no_more(void *datum)
{
	starpu_data_release(datum);
}

/* Neither is a task that waits for a datum, nor who has asked for it. */
static void who_waits_for_a_datum_is_not_ready(void **state)
{
	static struct starpu_codelet reader = {
		.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};
	int value = 3;

	(void)state;
	starpu_variable_data_register(&held, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	assert_int_equal(starpu_data_acquire(held, STARPU_RW), 0);
	assert_int_equal(starpu_task_nready(), 0);
	assert_int_equal(starpu_data_acquire_cb(held, STARPU_R, hold_no_more, held), 0);
	assert_int_equal(starpu_task_nready(), 0);
	starpu_task_insert(&reader, STARPU_R, held, STARPU_CL_ARGS_NFREE,
			   (void *)(intptr_t)1, sizeof(void *), 0);
	assert_int_equal(starpu_task_nready(), 0);
	starpu_data_release(held);
	assert_int_equal(starpu_task_nready(), 1);
	fake_run();
	ONE_EXPECT(1);
	assert_int_equal(starpu_task_nready(), 0);
	starpu_data_unregister(held);
}

/* Others submit between the two numbers of which it is the difference. */
static void no_fewer_than_none_are_ready(void **state)
{
	(void)state;
	orr_add(&one.node->nblocked, 3);
	assert_int_equal(starpu_task_nready(), 0);
	orr_add(&one.node->nblocked, -3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, one_setup, one_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_task_goes_through_its_states),
		TEST(a_long_chain_of_what_needs_no_kernel),
		TEST(what_nests_too_deep_is_put_off_alone),
		TEST(a_task_regenerates_until_it_is_told),
		TEST(a_detached_task_that_regenerates_is_destroyed_once),
		TEST(a_callback_submits_its_task),
		TEST(hints_contradict_no_codelet),
		TEST(who_may_be_waited_for),
		TEST(a_synchronous_task_has_ended),
		TEST(threads_wait_each_for_its_task),
		TEST(callbacks_destroy_their_tasks),
		TEST(destroyed_whenever),
		TEST(a_task_goes_with_its_links),
		TEST(numbers_of_tasks_go_on),
		TEST(epochs_of_values_wrap),
		TEST(who_waits_for_a_datum_is_not_ready),
		TEST(no_fewer_than_none_are_ready),
		cmocka_unit_test(threads_begin_and_end_the_library),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
