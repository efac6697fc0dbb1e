/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Values that go where nobody waits for them: prefetches in their order, write-through,
 * requests for buffers; and who leaves first.  Two fake GPUs of 1,000 bytes, links of one
 * byte per microsecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include "core/data/data.h"
#include "core/task/acquire.h"
#include "fake.h"

enum { RAM, GPU1, GPU2, GPU_BYTES = 1000, MAX_DATA = 8 };

#define US 1e-6

static struct node *node;
static starpu_data_handle_t data[MAX_DATA];
static char room[MAX_DATA][GPU_BYTES];

static void start(void)
{
	struct starpu_conf conf;

	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 1;
	fake_machine()->ngpus = 2;
	fake_machine()->gpu_memory_bytes = GPU_BYTES;
	fake_machine()->link_bytes_per_s = 1e6;
	fake_machine()->link_latency_s = 0;
	starpu_conf_init(&conf);
	assert_int_equal(starpu_init(&conf), 0);
	node = plat_self();
}

static void start_with_data(int n, unsigned bytes)
{
	start();
	for (int i = 0; i < n; i++)
		starpu_vector_data_register(&data[i], RAM, (uintptr_t)room[i], bytes, 1);
}

static void stop(int n)
{
	for (int i = 0; i < n; i++)
		starpu_data_unregister(data[i]);
	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++)
		assert_int_equal(starpu_memory_get_used(i), 0);
	starpu_shutdown();
	fake_stop();
}

static void use(starpu_data_handle_t handle, unsigned memory,
		enum starpu_data_access_mode mode)
{
	assert_int_equal(starpu_data_acquire_on_node(handle, (int)memory, mode), 0);
	starpu_data_release_on_node(handle, (int)memory);
}

static int is_valid(int i, unsigned memory)
{
	int valid;

	starpu_data_query_status(data[i], (int)memory, NULL, &valid, NULL);
	return valid;
}

static int is_allocated(int i, unsigned memory)
{
	return (int)starpu_data_test_if_allocated_on_node(data[i], memory);
}

/* Which of data are valid on a memory, a bit each. */
static int valid_on(unsigned memory, int n)
{
	int bits = 0;

	for (int i = 0; i < n; i++)
		bits |= is_valid(i, memory) << i;
	return bits;
}

/* ---- prefetches ------------------------------------------------------- */

/* A prefetch of a datum to the first GPU. */
typedef void ask_func(int i, int prio, int is_idle);

static void ask_for_data(int i, int prio, int is_idle)
{
	if (is_idle)
		starpu_data_idle_prefetch_on_node_prio(data[i], GPU1, 1, prio);
	else
		starpu_data_prefetch_on_node_prio(data[i], GPU1, 1, prio);
}

static struct starpu_codelet reads = {.nbuffers = 1, .modes = {STARPU_R}};

static void ask_for_input(int i, int prio, int is_idle)
{
	struct starpu_task task;

	starpu_task_init(&task);
	task.cl = &reads;
	task.handles[0] = data[i];
	if (is_idle)
		starpu_idle_prefetch_task_input_on_node_prio(&task, GPU1, prio);
	else
		starpu_prefetch_task_input_on_node_prio(&task, GPU1, prio);
}

static void check_order(ask_func *ask)
{
	double begin_s;

	start_with_data(6, 100);
	begin_s = fake_now_s();
	/* Two at once; then by priority, then by age; then the patient ones. */
	ask(5, 9, 1);
	ask(0, 0, 0);
	ask(1, 0, 0);
	ask(2, 1, 0);
	ask(3, 3, 0);
	ask(4, 0, 1);
	fake_run_until(begin_s + 50 * US);
	assert_int_equal(node->memories[GPU1].nfetching_ahead, 2);
	assert_true(starpu_data_is_on_node(data[5], GPU1)); /* Nothing else was there. */
	assert_true(starpu_data_is_on_node(data[0], GPU1));
	assert_false(starpu_data_is_on_node(data[1], GPU1));
	fake_run_until(begin_s + 150 * US);
	assert_true(starpu_data_is_on_node(data[3], GPU1));
	assert_true(starpu_data_is_on_node(data[2], GPU1));
	assert_false(starpu_data_is_on_node(data[1], GPU1));
	fake_run_until(begin_s + 250 * US);
	assert_true(starpu_data_is_on_node(data[1], GPU1));
	assert_false(starpu_data_is_on_node(data[4], GPU1));
	fake_run_until(begin_s + 350 * US);
	assert_true(starpu_data_is_on_node(data[4], GPU1));
	fake_run();
	assert_int_equal(valid_on(GPU1, 6), 0x3f);
	stop(6);
}

static void the_most_urgent_goes_first(void **state)
{
	(void)state;
	check_order(ask_for_data);
}

static void inputs_of_tasks_go_in_that_order(void **state)
{
	(void)state;
	check_order(ask_for_input);
}

/* What will not be used comes home when the links are free, and no sooner. */
static void what_will_not_be_used_comes_home_idly(void **state)
{
	double begin_s;

	(void)state;
	start_with_data(3, 100);
	use(data[0], GPU1, STARPU_W);
	begin_s = fake_now_s();
	starpu_data_fetch_on_node(data[1], GPU2, 1);
	starpu_data_wont_use(data[0]);
	starpu_data_fetch_on_node(data[2], GPU1, 1);
	fake_run_until(begin_s + 90 * US);
	assert_false(starpu_data_is_on_node(data[0], RAM));
	fake_run_until(begin_s + 150 * US);
	assert_true(starpu_data_is_on_node(data[0], RAM));
	assert_false(is_valid(0, RAM));
	fake_run();
	assert_true(is_valid(0, RAM) && is_valid(0, GPU1));
	stop(3);
}

static void who_needs_it_does_not_wait_in_line(void **state)
{
	double begin_s;

	(void)state;
	start_with_data(4, 100);
	begin_s = fake_now_s();
	for (int i = 0; i < 4; i++)
		starpu_data_prefetch_on_node_prio(data[i], GPU1, 1, -i);
	assert_int_equal(starpu_data_fetch_on_node(data[3], GPU1, 0), 0);
	assert_true(fake_now_s() < begin_s + 110 * US);
	assert_true(is_valid(3, GPU1));
	fake_run();
	assert_int_equal(valid_on(GPU1, 4), 0xf);
	stop(4);
}

/* Those in line hold nothing: writers go on, data end, and so does the library. */
static void nobody_waits_for_who_is_in_line(void **state)
{
	double begin_s;

	(void)state;
	start_with_data(5, 200);
	begin_s = fake_now_s();
	for (int i = 0; i < 5; i++)
		starpu_data_prefetch_on_node(data[i], GPU1, 1);
	use(data[2], RAM, STARPU_RW);
	assert_true(fake_now_s() < begin_s + 10 * US);
	starpu_data_unregister(data[3]);
	assert_true(fake_now_s() < begin_s + 10 * US);
	starpu_data_unregister_submit(data[4]);
	starpu_task_wait_for_all();
	fake_run();
	assert_int_equal(valid_on(GPU1, 3), 7);
	for (int i = 0; i < 5; i++)
		starpu_data_idle_prefetch_on_node(data[i % 3], GPU2, 1);
	stop(3);
}

static void a_prefetch_with_nowhere_to_go_is_dropped(void **state)
{
	(void)state;
	start_with_data(4, 400);
	assert_int_equal(starpu_data_acquire_on_node(data[0], GPU1, STARPU_R), 0);
	assert_int_equal(starpu_data_acquire_on_node(data[1], GPU1, STARPU_R), 0);
	for (int i = 0; i < 4; i++) {
		starpu_data_prefetch_on_node(data[2 + i % 2], GPU1, 1);
		starpu_data_idle_prefetch_on_node(data[2 + i % 2], GPU1, 1);
	}
	starpu_task_wait_for_all();
	fake_run();
	assert_int_equal(valid_on(GPU1, 4), 3);
	/* Who waits for it waits until that is known. */
	starpu_data_prefetch_on_node(data[2], GPU1, 0);
	assert_int_equal(valid_on(GPU1, 4), 3);
	starpu_data_release_on_node(data[0], GPU1);
	starpu_data_release_on_node(data[1], GPU1);
	/* A writer comes before it is its time. */
	for (int i = 0; i < 4; i++)
		starpu_data_prefetch_on_node(data[i], GPU2, 1);
	assert_int_equal(starpu_data_acquire(data[3], STARPU_RW), 0);
	fake_run();
	starpu_data_release(data[3]);
	fake_run();
	assert_false(starpu_data_is_on_node(data[3], GPU2));
	stop(4);
}

/* A hint about a datum that nobody has written yet. */
static void a_prefetch_of_no_value_is_over_at_once(void **state)
{
	(void)state;
	start();
	starpu_vector_data_register(&data[0], -1, 0, 100, 1);
	for (unsigned asynchronous = 0; asynchronous < 2; asynchronous++) {
		starpu_data_prefetch_on_node(data[0], GPU1, asynchronous);
		starpu_data_idle_prefetch_on_node(data[0], RAM, asynchronous);
	}
	fake_run();
	assert_int_equal(valid_on(GPU1, 1) | valid_on(RAM, 1), 0);
	use(data[0], GPU1, STARPU_W);
	starpu_data_prefetch_on_node(data[0], GPU2, 0);
	assert_int_equal(valid_on(GPU2, 1), 1);
	stop(1);
}

/* ---- write-through ---------------------------------------------------- */

static void new_values_go_on(void **state)
{
	(void)state;
	start_with_data(2, 400);
	starpu_data_set_wt_mask(data[0], ~0u);
	use(data[0], GPU1, STARPU_RW);
	assert_int_equal(data[0]->body->valid, 1 << GPU1);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << RAM | 1 << GPU1 | 1 << GPU2);
	/* What came from an earlier writer counts for nothing. */
	use(data[0], GPU1, STARPU_RW);
	use(data[0], GPU1, STARPU_RW);
	assert_int_equal(data[0]->body->valid, 1 << GPU1);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << RAM | 1 << GPU1 | 1 << GPU2);
	/* Where there is no room it does not go; readers change nothing. */
	use(data[0], RAM, STARPU_RW);
	fake_run();
	assert_int_equal(starpu_data_evict_from_node(data[0], GPU2), 0);
	assert_int_equal(starpu_data_acquire_on_node(data[1], GPU2, STARPU_R), 0);
	starpu_data_set_wt_mask(data[0], 1 << GPU2);
	use(data[0], GPU1, STARPU_R);
	fake_run();
	assert_false(is_valid(0, GPU2));
	use(data[0], GPU1, STARPU_RW);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << GPU1 | 1 << GPU2);
	starpu_data_set_wt_mask(data[0], 0);
	use(data[0], GPU1, STARPU_RW);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << GPU1);
	starpu_data_release_on_node(data[1], GPU2);
	stop(2);
}

static void where_there_is_no_room_it_does_not_go(void **state)
{
	(void)state;
	start_with_data(2, 600);
	assert_int_equal(starpu_data_acquire_on_node(data[1], GPU2, STARPU_R), 0);
	starpu_data_set_wt_mask(data[0], 1 << GPU2);
	use(data[0], RAM, STARPU_RW);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << RAM);
	starpu_data_release_on_node(data[1], GPU2);
	/* The end of the data waits for what is on its way. */
	starpu_data_set_wt_mask(data[0], 1 << RAM);
	use(data[0], GPU1, STARPU_RW);
	stop(2);
}

static void with_a_stop_where_links_are_missing(void **state)
{
	(void)state;
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ngpus = 2;
	fake_machine()->no_peer_copies = 1;
	assert_int_equal(starpu_init(NULL), 0);
	starpu_vector_data_register(&data[0], -1, 0, 400, 1);
	starpu_data_set_wt_mask(data[0], 1 << GPU2);
	use(data[0], GPU1, STARPU_W);
	fake_run();
	assert_int_equal(data[0]->body->valid, 1 << RAM | 1 << GPU1 | 1 << GPU2);
	starpu_data_unregister(data[0]);
	starpu_shutdown();
	fake_stop();
}

/* ---- buffers, and who leaves ------------------------------------------ */

static void buffers_come_on_request(void **state)
{
	(void)state;
	start_with_data(3, 400);
	assert_int_equal(starpu_data_request_allocation(data[0], GPU1), 0);
	assert_true(is_allocated(0, GPU1));
	assert_false(is_valid(0, GPU1));
	use(data[1], GPU1, STARPU_R);
	/* Copies that nobody uses make room; those in use do not. */
	assert_int_equal(starpu_data_request_allocation(data[2], GPU1), 0);
	fake_run();
	assert_true(is_allocated(2, GPU1));
	assert_false(is_allocated(0, GPU1));
	assert_int_equal(starpu_data_acquire_on_node(data[1], GPU1, STARPU_R), 0);
	assert_int_equal(starpu_data_acquire_on_node(data[2], GPU1, STARPU_R), 0);
	assert_int_equal(starpu_data_request_allocation(data[0], GPU1), 0);
	assert_false(is_allocated(0, GPU1));
	starpu_data_release_on_node(data[1], GPU1);
	starpu_data_release_on_node(data[2], GPU1);
	stop(3);
}

static void the_unimportant_leave_first(void **state)
{
	(void)state;
	start_with_data(3, 400);
	use(data[0], GPU1, STARPU_R);
	use(data[1], GPU1, STARPU_R);
	starpu_data_advise_as_important(data[1], 0);
	use(data[2], GPU1, STARPU_R);
	assert_int_equal(valid_on(GPU1, 3), 5);
	starpu_data_advise_as_important(data[1], 1);
	starpu_data_advise_as_important(data[2], 0);
	use(data[0], GPU1, STARPU_R);
	use(data[2], GPU1, STARPU_R); /* the last used */
	use(data[1], GPU1, STARPU_R);
	assert_int_equal(valid_on(GPU1, 3), 3);
	stop(3);
}

static void room_is_made_ahead(void **state)
{
	(void)state;
	setenv("STARPU_TARGET_AVAILABLE_MEM", "50", 1);
	start_with_data(4, 200);
	for (int i = 0; i < 4; i++)
		use(data[i], GPU1, STARPU_RW);
	assert_int_equal(starpu_memory_get_available(GPU1), 200);
	starpu_memchunk_tidy(GPU1);
	fake_run();
	assert_int_equal(valid_on(GPU1, 4), 0xc);
	assert_int_equal(starpu_memory_get_available(GPU1), 600);
	stop(4);
	setenv("STARPU_MINIMUM_AVAILABLE_MEM", "20", 1);
	start_with_data(5, 200);
	for (int i = 0; i < 4; i++)
		use(data[i], GPU1, STARPU_R);
	assert_int_equal(valid_on(GPU1, 5), 0xf);
	use(data[4], GPU1, STARPU_R);
	fake_run();
	assert_int_equal(valid_on(GPU1, 5), 0x18);
	stop(5);
	unsetenv("STARPU_MINIMUM_AVAILABLE_MEM");
	unsetenv("STARPU_TARGET_AVAILABLE_MEM");
}

/* ---- what it costs ---------------------------------------------------- */

static void transfers_cost_what_they_last(void **state)
{
	static struct starpu_codelet cl = {.cuda_funcs = {(starpu_cuda_func_t)1},
					   .nbuffers = 3,
					   .modes = {STARPU_R, STARPU_W, STARPU_RW}};
	struct starpu_task *task = starpu_task_create();

	(void)state;
	start_with_data(3, 400);
	assert_true(starpu_data_expected_transfer_time(data[0], GPU1, STARPU_R) == 400);
	assert_true(starpu_data_expected_transfer_time(data[0], GPU1, STARPU_W) == 0);
	assert_true(starpu_data_expected_transfer_time(data[0], RAM, STARPU_RW) == 0);
	task->cl = &cl;
	for (int i = 0; i < 3; i++)
		task->handles[i] = data[i];
	assert_true(starpu_task_expected_data_transfer_time(GPU1, task) == 800);
	use(data[2], GPU1, STARPU_R);
	assert_true(starpu_task_expected_data_transfer_time_for(task, 0) == 400);
	assert_true(starpu_task_expected_data_transfer_time_for(task, 1) == 800);
	task->destroy = 0;
	starpu_task_destroy(task);
	stop(3);
}

/* ---- wishes for what has no value ------------------------------------- */

static int nneutral;

static void count_neutral(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	nneutral++;
}

static struct starpu_codelet neutral = {
	.cpu_funcs = {count_neutral}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet combine = {.cpu_funcs = {count_neutral},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};

static void never(struct acquire *acquire)
{
	assert_null(acquire);
}

/* The bytes of a part whose value went back to the whole are the whole's: a wish that was
 * in line for the part must not open its turn with the neutral element. */
static void a_hint_makes_nothing_neutral(void **state)
{
	static const struct acquirer by = {.acquired = never};
	struct acquire acquire = {.by = &by, .memory = RAM, .is_hint = 1};

	(void)state;
	start();
	nneutral = 0;
	starpu_vector_data_register(&data[0], -1, 0, 100, 1);
	starpu_data_set_reduction_methods(data[0], &combine, &neutral);
	assert_int_equal(acquire_try(node, &acquire, data[0], STARPU_R), 0);
	fake_run();
	assert_int_equal(nneutral, 0);
	use(data[0], RAM, STARPU_R);
	assert_int_equal(nneutral, 1);
	stop(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_urgent_goes_first),
		cmocka_unit_test(inputs_of_tasks_go_in_that_order),
		cmocka_unit_test(what_will_not_be_used_comes_home_idly),
		cmocka_unit_test(who_needs_it_does_not_wait_in_line),
		cmocka_unit_test(nobody_waits_for_who_is_in_line),
		cmocka_unit_test(a_prefetch_with_nowhere_to_go_is_dropped),
		cmocka_unit_test(a_prefetch_of_no_value_is_over_at_once),
		cmocka_unit_test(new_values_go_on),
		cmocka_unit_test(where_there_is_no_room_it_does_not_go),
		cmocka_unit_test(with_a_stop_where_links_are_missing),
		cmocka_unit_test(buffers_come_on_request),
		cmocka_unit_test(the_unimportant_leave_first),
		cmocka_unit_test(room_is_made_ahead),
		cmocka_unit_test(transfers_cost_what_they_last),
		cmocka_unit_test(a_hint_makes_nothing_neutral),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
