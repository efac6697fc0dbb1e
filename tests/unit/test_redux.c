/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Reductions: where contributions go, what it costs, and in which tree they meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/data/data.h"
#include "one_node.h"

enum { NCPUS = 4, NGPUS = 2 };

static const double init_s = 100, contribute_s = 1, combine_s = 10, read_s = 1000;

static struct {
	long value;
	starpu_data_handle_t datum;
	int ninits[NCPUS + NGPUS]; /* by worker */
	int unset;                 /* contributions to what was not set */
	long seen;
} scene;

enum { NEUTRAL = 1L << 20 }; /* tells that init has run */

static long *variable(void *buffer)
{
	return (long *)STARPU_VARIABLE_GET_PTR(buffer);
}

static void init_kernel(void *buffers[], void *arg)
{
	(void)arg;
	*variable(buffers[0]) = NEUTRAL;
	scene.ninits[starpu_worker_get_id()]++;
}

static void contribute_kernel(void *buffers[], void *arg)
{
	scene.unset += *variable(buffers[0]) < NEUTRAL;
	*variable(buffers[0]) += (long)(intptr_t)arg;
}

static void combine_kernel(void *buffers[], void *arg)
{
	(void)arg;
	*variable(buffers[0]) += *variable(buffers[1]) - NEUTRAL;
}

static void read_kernel(void *buffers[], void *arg)
{
	(void)arg;
	scene.seen = *variable(buffers[0]);
}

#define CODELET(what, n, ...)                                                            \
	static struct starpu_codelet what = {.cpu_funcs = {what##_kernel},               \
					     .cuda_funcs = {what##_kernel},              \
					     .nbuffers = n,                              \
					     __VA_ARGS__}

CODELET(init, 1, .modes = {STARPU_W});
CODELET(contribute, 1, .modes = {STARPU_REDUX});
CODELET(combine, 2, .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R});
CODELET(read, 1, .modes = {STARPU_R});

static double duration_s(const struct worker *worker, const struct job *job)
{
	const struct starpu_codelet *cl = job->task->cl;

	(void)worker;
	return cl == &init         ? init_s
	       : cl == &contribute ? contribute_s
	       : cl == &combine    ? combine_s
	       : cl == &read       ? read_s
				   : 0;
}

static void open_scene(int ncpus, int ngpus)
{
	one_open(ncpus, ngpus, "eager");
	fake_machine()->duration_s = duration_s;
	memset(&scene, 0, sizeof(scene));
}

/* With a value, or none. */
static void register_datum(int home)
{
	scene.value = NEUTRAL;
	starpu_variable_data_register(&scene.datum, home, (uintptr_t)&scene.value,
				      sizeof(scene.value));
	starpu_data_set_reduction_methods(scene.datum, &combine, &init);
}

static void insert(struct starpu_codelet *cl, long number, unsigned where)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->where = (int32_t)where;
	task->handles[0] = scene.datum;
	assert_int_equal(starpu_task_submit(task), 0);
}

static void contribute_n(int n, unsigned where)
{
	for (int i = 0; i < n; i++)
		insert(&contribute, 1, where);
}

static void close_scene(long expected)
{
	fake_run();
	starpu_data_unregister(scene.datum);
	assert_int_equal(scene.unset, 0);
	if (expected >= 0)
		assert_int_equal(scene.value, NEUTRAL + expected);
	one_close();
}

/* How long it takes from here until all is done. */
static double lasts_s(void)
{
	double from_s = fake_now_s();

	fake_run();
	return fake_now_s() - from_s;
}

static void close_to(double seen, double expected)
{
	assert_true(fabs(seen - expected) < 0.01);
}

/* One core: its first contribution comes with the neutral element. */
static void the_neutral_element_takes_its_time(void **state)
{
	(void)state;
	open_scene(1, 0);
	register_datum(STARPU_MAIN_RAM);
	contribute_n(3, STARPU_CPU);
	close_to(lasts_s(), init_s + 3 * contribute_s);
	contribute_n(2, STARPU_CPU);
	close_to(lasts_s(), 2 * contribute_s);
	insert(&read, 0, STARPU_CPU);
	close_to(lasts_s(), combine_s + read_s);
	assert_int_equal(scene.seen, NEUTRAL + 5);
	/* A new group begins anew. */
	contribute_n(1, STARPU_CPU);
	close_to(lasts_s(), init_s + contribute_s);
	assert_int_equal(scene.ninits[0], 2);
	close_scene(6);
}

/* Each core of four has some; the tree of five values is three tasks deep: the value and
 * the first, the second and the third; these; the fourth. */
static void they_meet_in_a_tree(void **state)
{
	(void)state;
	open_scene(4, 0);
	register_datum(STARPU_MAIN_RAM);
	contribute_n(8, STARPU_CPU);
	close_to(lasts_s(), init_s + 2 * contribute_s);
	insert(&read, 0, STARPU_CPU);
	close_to(lasts_s(), 3 * combine_s + read_s);
	assert_int_equal(scene.seen, NEUTRAL + 8);
	for (int i = 0; i < 4; i++)
		assert_int_equal(scene.ninits[i], 1);
	close_scene(8);
}

/* Of four values two; then the result is copied. */
static void without_a_value_the_tree_is_flatter(void **state)
{
	(void)state;
	open_scene(4, 0);
	register_datum(-1);
	contribute_n(8, STARPU_CPU);
	fake_run();
	insert(&read, 0, STARPU_CPU);
	close_to(lasts_s(), 2 * combine_s + read_s);
	assert_int_equal(scene.seen, NEUTRAL + 8);
	close_scene(-1);
}

/* Contributions wait neither for each other nor for the update before the last reader. */
static void they_run_together(void **state)
{
	(void)state;
	open_scene(4, 0);
	register_datum(STARPU_MAIN_RAM);
	contribute_n(400, STARPU_CPU);
	close_to(lasts_s(), init_s + 100 * contribute_s);
	close_scene(400);
}

/* A GPU's contributions stay in its memory until they are combined. */
static void gpus_contribute_in_their_memory(void **state)
{
	struct data_body *body;

	(void)state;
	open_scene(2, NGPUS);
	register_datum(STARPU_MAIN_RAM);
	body = data_body(scene.datum);
	contribute_n(10, STARPU_CUDA);
	fake_run();
	assert_int_equal(body->valid, 1);
	assert_int_equal(scene.ninits[0] + scene.ninits[1], 2);
	assert_int_equal(scene.ninits[2] + scene.ninits[3], 0);
	contribute_n(6, STARPU_CPU);
	fake_run();
	insert(&read, 0, STARPU_CPU);
	fake_run();
	assert_int_equal(scene.seen, NEUTRAL + 16);
	close_scene(16);
}

/* Two data with room for one of them: contributions are evicted and come back. */
static void contributions_survive_eviction(void **state)
{
	starpu_data_handle_t first;
	long other = NEUTRAL;

	(void)state;
	one_open(1, 1, "eager");
	starpu_shutdown();
	fake_stop();
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ngpus = 1;
	fake_machine()->gpu_memory_bytes = sizeof(long);
	assert_int_equal(starpu_init(NULL), 0);
	one.node = plat_self();
	fake_machine()->duration_s = duration_s;
	memset(&scene, 0, sizeof(scene));
	register_datum(STARPU_MAIN_RAM);
	first = scene.datum;
	starpu_variable_data_register(&scene.datum, STARPU_MAIN_RAM, (uintptr_t)&other,
				      sizeof(other));
	starpu_data_set_reduction_methods(scene.datum, &combine, &init);
	for (int i = 0; i < 10; i++) {
		starpu_data_handle_t second = scene.datum;

		contribute_n(1, STARPU_CUDA);
		scene.datum = first;
		first = second;
	}
	fake_run();
	assert_int_equal(scene.ninits[0], 2);
	combine.where = STARPU_CPU;
	starpu_data_unregister(first);
	close_scene(-1);
	combine.where = 0;
	assert_int_equal(scene.value + other, 2 * NEUTRAL + 10);
}

static void play_rounds(void *arg)
{
	int n = *(int *)arg;

	register_datum(STARPU_MAIN_RAM);
	for (int i = 0; i < 5; i++) {
		contribute_n(n, STARPU_CPU | STARPU_CUDA);
		insert(&read, 0, STARPU_CPU);
	}
	starpu_data_unregister(scene.datum);
	assert_int_equal(scene.value, NEUTRAL + 5 * n);
	assert_int_equal(scene.seen, scene.value);
}

/* Many schedules; the sums are the same. */
static void any_schedule_gives_the_sum(void **state)
{
	(void)state;
	for (unsigned long seed = 1; seed <= 300; seed++) {
		int n = (int)(seed % 7);

		one_open(3, 1, seed % 2 ? "eager" : "lws");
		memset(&scene, 0, sizeof(scene));
		fake_shuffle(seed);
		fake_spawn(0, play_rounds, &n);
		fake_play();
		fake_shuffle(0);
		assert_int_equal(scene.unset, 0);
		one_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_neutral_element_takes_its_time),
		cmocka_unit_test(they_meet_in_a_tree),
		cmocka_unit_test(without_a_value_the_tree_is_flatter),
		cmocka_unit_test(they_run_together),
		cmocka_unit_test(gpus_contribute_in_their_memory),
		cmocka_unit_test(contributions_survive_eviction),
		cmocka_unit_test(any_schedule_gives_the_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
