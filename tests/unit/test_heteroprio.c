/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Policy heteroprio: its buckets by hand and by models, and who is woken for whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "core/sched/contexts.h"
#include "core/sched/sched_heteroprio.h"
#include "sched_by_hand.h"

static struct starpu_codelet on_gpu = {.cuda_funcs = {note_worker}};

static void open_with(int ncpus, int ngpus, const char *is_auto)
{
	setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", is_auto, 1);
	by_hand("heteroprio", ncpus, ngpus);
	unsetenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION");
}

static struct sched *sched(void)
{
	return one.node->scheds[0];
}

static void map(unsigned type, unsigned n, const unsigned *buckets)
{
	assert_int_equal(heteroprio_set_npriorities(sched(), type, n), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(heteroprio_set_bucket(sched(), type, i, buckets[i]), 0);
}

#define MAP(type, ...)                                                                   \
	map(type, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned),                  \
	    (const unsigned[]){__VA_ARGS__})

/* ---- by hand ---------------------------------------------------------- */

/* As StarPU 1.3.10 does with STARPU_MIN_PRIO=0 STARPU_MAX_PRIO=4. */
static void unmapped_the_least_number_goes_first(void **state)
{
	(void)state;
	open_with(1, 0, "0");
	assert_int_equal(starpu_sched_get_min_priority(), 0);
	assert_int_equal(starpu_sched_get_max_priority(), HETEROPRIO_BUCKETS - 1);
	for (int i = 0; i < 10; i++)
		push(&on_cpu, i, (i * 3) % 5);
	for (int bucket = 0; bucket < 5; bucket++)
		for (int i = 0; i < 10; i++)
			if ((i * 3) % 5 == bucket)
				assert_int_equal(pop(0), i);
	assert_int_equal(pop(0), -1);
	one_close();
}

static void types_have_orders_of_their_own(void **state)
{
	(void)state;
	open_with(1, 1, "1"); /* worker 0: a GPU */
	MAP(STARPU_CUDA_WORKER, 2, 1);
	MAP(STARPU_CPU_WORKER, 0, 1, 2);
	for (int i = 0; i < 9; i++)
		push(&anywhere, i, i % 3);
	assert_int_equal(pop(0), 2);
	assert_int_equal(pop(1), 0);
	assert_int_equal(pop(1), 3);
	assert_int_equal(pop(1), 6);
	assert_int_equal(pop(1), 1);
	assert_int_equal(pop(0), 5);
	assert_int_equal(pop(0), 8);
	assert_int_equal(pop(0), 4);
	assert_int_equal(pop(0), 7);
	push(&anywhere, 10, 0); /* where GPUs do not look */
	assert_int_equal(pop(0), -1);
	assert_int_equal(pop(1), 10);
	one_close();
}

/* A core takes 4 times as long as one of two GPUs: 8 tasks must be there. */
static void the_slow_take_what_the_fast_would_end_later(void **state)
{
	(void)state;
	open_with(1, 2, "1");
	MAP(STARPU_CUDA_WORKER, 0);
	MAP(STARPU_CPU_WORKER, 0);
	assert_int_equal(heteroprio_set_fastest(sched(), STARPU_CUDA_WORKER, 0), 0);
	assert_int_equal(heteroprio_set_slowness(sched(), STARPU_CPU_WORKER, 0, 4), 0);
	for (int i = 0; i < 7; i++)
		push(&anywhere, i, 0);
	assert_int_equal(pop(2), -1);
	push(&anywhere, 7, 0);
	assert_int_equal(pop(2), 0);
	assert_int_equal(pop(2), -1);
	/* What the fast cannot run is not theirs. */
	push(&on_cpu, 8, 0);
	assert_int_equal(pop(2), 8);
	assert_int_equal(pop(2), -1);
	for (int i = 1; i < 8; i++)
		assert_int_equal(pop(i % 2), i);
	one_close();
}

static void without_the_fast_the_slow_take_all(void **state)
{
	struct sched *other;

	(void)state;
	open_with(1, 1, "1");
	MAP(STARPU_CUDA_WORKER, 0);
	MAP(STARPU_CPU_WORKER, 0);
	heteroprio_set_fastest(sched(), STARPU_CUDA_WORKER, 0);
	heteroprio_set_slowness(sched(), STARPU_CPU_WORKER, 0, 100);
	push(&anywhere, 1, 0);
	assert_int_equal(pop(1), -1);
	other = contexts_create(one.node, sched_find("eager"),
				(struct starpu_sched_policy *)&sched_eager.object);
	contexts_start(other);
	contexts_move(&one.node->workers[0], other);
	assert_int_equal(pop(1), 1);
	one_close();
}

static void words_come_before_tasks(void **state)
{
	(void)state;
	open_with(1, 0, "1");
	assert_int_equal(heteroprio_set_npriorities(sched(), STARPU_CPU_WORKER, 101),
			 -EINVAL);
	assert_int_equal(heteroprio_set_npriorities(sched(), STARPU_NARCH, 1), -EINVAL);
	assert_int_equal(heteroprio_set_bucket(sched(), STARPU_CPU_WORKER, 100, 0),
			 -EINVAL);
	assert_int_equal(heteroprio_set_bucket(sched(), STARPU_CPU_WORKER, 0, 100),
			 -EINVAL);
	assert_int_equal(heteroprio_set_fastest(sched(), STARPU_CPU_WORKER, 100),
			 -EINVAL);
	assert_int_equal(heteroprio_set_slowness(sched(), STARPU_CPU_WORKER, 0, -1),
			 -EINVAL);
	push(&on_cpu, 1, 0);
	assert_int_equal(heteroprio_set_npriorities(sched(), STARPU_CPU_WORKER, 1),
			 -EBUSY);
	assert_int_equal(pop(0), 1);
	one_close();
}

/* ---- by models -------------------------------------------------------- */

/* A core takes as many times as long as a GPU as the task's number says. */
static double ratio_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		       unsigned implementation)
{
	(void)implementation;
	return arch->devices[0].type == STARPU_CUDA_WORKER
		       ? 10
		       : 10.0 * (double)(intptr_t)task->cl_arg;
}

static struct starpu_perfmodel ratio = {
	.type = STARPU_PER_ARCH, .arch_cost_function = ratio_us, .symbol = "ratio"};
static struct starpu_codelet known = {
	.cpu_funcs = {note_worker}, .cuda_funcs = {note_worker}, .model = &ratio};

/* GPUs from the greatest gain on, cores from the least on, while enough is there. */
static void accelerators_take_what_gains_most(void **state)
{
	(void)state;
	open_with(1, 1, "1");
	push(&known, 2, 0);
	push(&known, 30, 0);
	push(&known, 4, 0);
	push(&known, 8, 0);
	/* 40 us of work for the GPU: a core takes what it ends before that. */
	assert_int_equal(pop(1), 2);
	assert_int_equal(pop(0), 30);
	/* 20 us: a task of 40 us is the GPU's. */
	assert_int_equal(pop(1), -1);
	assert_int_equal(pop(0), 8);
	assert_int_equal(pop(0), 4);
	assert_int_equal(pop(0), -1);
	/* What gains nothing is both's, the more urgent first. */
	push(&known, 1, 0);
	push(&anywhere, 100, 5);
	push(&on_cpu, 50, 0);
	push(&on_gpu, 60, 0);
	assert_int_equal(pop(0), 60);
	assert_int_equal(pop(0), 100);
	assert_int_equal(pop(1), 50);
	assert_int_equal(pop(1), 1);
	assert_int_equal(pop(1), -1);
	one_close();
}

/* The core sleeps while the GPU has too little to do, and wakes when it has more. */
static void who_would_take_it_is_woken(void **state)
{
	(void)state;
	open_with(1, 1, "1");
	fake_run();
	assert_ptr_equal(push(&known, 3, 0), &one.node->workers[0]);
	one.node->workers[0].parked = 0;
	assert_null(push(&known, 3, 0));
	assert_ptr_equal(push(&known, 3, 0), &one.node->workers[1]);
	assert_int_equal(pop(1), 3);
	one.node->workers[0].parked = 1;
	assert_int_equal(pop(0), 3);
	assert_int_equal(pop(0), 3);
	one_close();
}

/* ---- where data are --------------------------------------------------- */

static void tasks_wait_where_their_data_are(void **state)
{
	struct starpu_codelet reads = {
		.cuda_funcs = {note_worker}, .nbuffers = 1, .modes = {STARPU_R}};
	starpu_data_handle_t handles[2];
	static char bytes[2][1000];

	(void)state;
	open_with(0, 2, "1");
	heteroprio_set_locality(sched(), 1);
	for (unsigned i = 0; i < 2; i++) {
		starpu_vector_data_register(&handles[i], 0, (uintptr_t)bytes[i], 1000, 1);
		starpu_data_prefetch_on_node(handles[i], i + 1, 0);
	}
	starpu_pause();
	for (int k = 0; k < 6; k++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &reads;
		task->cl_arg = (void *)(intptr_t)k;
		task->handles[0] = handles[k % 3 == 0];
		assert_int_equal(starpu_task_submit(task), 0);
	}
	starpu_resume();
	assert_int_equal(starpu_task_wait_for_all(), 0);
	/* Whoever has none left takes the other's. */
	assert_int_equal(one.nlog, 6);
	assert_int_equal(ran_on[0], 1);
	assert_int_equal(ran_on[1], 0);
	assert_int_equal(ran_on[2], 0);
	assert_int_equal(ran_on[3], 1);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmapped_the_least_number_goes_first),
		cmocka_unit_test(types_have_orders_of_their_own),
		cmocka_unit_test(the_slow_take_what_the_fast_would_end_later),
		cmocka_unit_test(without_the_fast_the_slow_take_all),
		cmocka_unit_test(words_come_before_tasks),
		cmocka_unit_test(accelerators_take_what_gains_most),
		cmocka_unit_test(who_would_take_it_is_woken),
		cmocka_unit_test(tasks_wait_where_their_data_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
