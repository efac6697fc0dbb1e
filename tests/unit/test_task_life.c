/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* The life of a task: begun again, waited for, held back at its end, destroyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>

#include "core/data/data.h"
#include "core/task/links.h"
#include "one_node.h"

/* Deep enough that a frame of 50 bytes for each is more than a stack. */
enum { NCHAIN = 200000, NROUNDS = 30, NTHREADS = 5 };

static struct starpu_codelet log_it = {.cpu_funcs = {one_kernel}};
static struct starpu_codelet log_read = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};
static struct starpu_codelet log_write = {
	.cpu_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet on_gpu = {.cuda_funcs = {one_kernel}};

/* A task of the caller that writes down its number. */
static void init_task(struct starpu_task *task, int number)
{
	starpu_task_init(task);
	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)number;
	task->detach = 0;
}

static struct starpu_task *create_task(int number)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &log_it;
	task->cl_arg = (void *)(intptr_t)number;
	return task;
}

static void submit(struct starpu_task *task)
{
	assert_int_equal(starpu_task_submit(task), 0);
	fake_run();
}

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
	for (int i = 0; i < 2; i++) {
		assert_int_equal(starpu_task_submit(&task), 0);
		ONE_EXPECT(1);
	}
	assert_int_equal(task.synchronous, 1);
	assert_int_equal(starpu_task_submit(created), 0);
	ONE_EXPECT(2);
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

static void a_task_without_turns_passes_who_holds(void **state)
{
	struct starpu_task task, waiting;
	starpu_data_handle_t handle;

	(void)state;
	starpu_void_data_register(&handle);
	init_task(&task, 1);
	init_task(&waiting, 2);
	task.cl = waiting.cl = &log_write;
	task.handles[0] = waiting.handles[0] = handle;
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
	starpu_data_unregister(handle);
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

/* ---- counters that pass 32 bits -------------------------------------- */

static void numbers_of_tasks_go_on(void **state)
{
	struct starpu_task tasks[6];
	unsigned long last = 0;

	(void)state;
	one.node->tasks_submitted = (uint64_t)UINT32_MAX - 3;
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, one_setup, one_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_task_goes_through_its_states),
		TEST(a_task_regenerates_until_it_is_told),
		TEST(a_detached_task_that_regenerates_is_destroyed_once),
		TEST(a_callback_submits_its_task),
		TEST(who_may_be_waited_for),
		TEST(a_synchronous_task_has_ended),
		TEST(threads_wait_each_for_its_task),
		TEST(callbacks_destroy_their_tasks),
		TEST(destroyed_whenever),
		TEST(a_task_goes_with_its_links),
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
		TEST(numbers_of_tasks_go_on),
		TEST(epochs_of_values_wrap),
		TEST(occurrences_are_kept_for_ever),
		cmocka_unit_test(threads_begin_and_end_the_library),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
