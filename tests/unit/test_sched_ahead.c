/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* What is done for tasks that wait while another runs: policies dm* bring their data, and
 * who takes them before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/data/data.h"
#include "one_node.h"

enum { NTASKS = 4, BYTES = 1000 };

static starpu_data_handle_t handles[NTASKS];
static char bytes[NTASKS][BYTES];

static struct starpu_codelet reads = {
	.cuda_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_R}};
static struct starpu_codelet updates = {
	.cuda_funcs = {one_kernel}, .nbuffers = 1, .modes = {STARPU_RW}};

/* One GPU, memory 1, that takes no task beside the one that runs; copies are short. */
static void open_with(const char *policy, const char *prefetch)
{
	setenv("STARPU_CUDA_PIPELINE", "0", 1);
	setenv("STARPU_PREFETCH", prefetch, 1);
	one_open(1, 1, policy);
	unsetenv("STARPU_CUDA_PIPELINE");
	unsetenv("STARPU_PREFETCH");
	fake_machine()->task_s = 1e-3;
	fake_machine()->link_bytes_per_s = 1e9;
	for (int i = 0; i < NTASKS; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)bytes[i], BYTES, 1);
}

static void submit_all(struct starpu_codelet *cl)
{
	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		assert_int_equal(starpu_task_insert(cl, cl->modes[0], handles[i],
						    STARPU_PRIORITY, i % 2, 0),
				 0);
	starpu_resume();
}

static void close_all(void)
{
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(one.nlog, NTASKS);
	for (int i = 0; i < NTASKS; i++)
		starpu_data_unregister(handles[i]);
	one_close();
}

static int count_there(void)
{
	int n = 0;

	for (int i = 0; i < NTASKS; i++)
		n += (data_body(handles[i])->valid & memory_bit(1)) != 0;
	return n;
}

/* Half a kernel after the beginning. */
static int count_soon(const char *policy, const char *prefetch, struct starpu_codelet *cl)
{
	int n;

	open_with(policy, prefetch);
	submit_all(cl);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	assert_int_equal(one.nlog, 0);
	n = count_there();
	close_all();
	return n;
}

static void data_come_while_another_task_runs(void **state)
{
	static const char *const names[] = {"dm",    "dmda",  "dmdap",
					    "dmdar", "dmdas", "dmdasd"};

	(void)state;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(count_soon(names[i], "1", &reads), NTASKS);
		/* Also values that the tasks are going to write. */
		assert_int_equal(count_soon(names[i], "1", &updates), NTASKS);
	}
}

static void unless_nobody_wants_it(void **state)
{
	(void)state;
	assert_int_equal(count_soon("dmda", "0", &reads), 1);
}

/* What has no room without waiting stays where it is. */
static void nobody_makes_room_for_it(void **state)
{
	(void)state;
	setenv("STARPU_LIMIT_CUDA_MEM", "1", 1); /* Mi */
	open_with("dmda", "1");
	unsetenv("STARPU_LIMIT_CUDA_MEM");
	one.node->memories[1].capacity_bytes = 2 * BYTES;
	submit_all(&reads);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	assert_int_equal(count_there(), 2);
	close_all();
}

/* It is looked for again, though nothing was missing before. */
static void what_leaves_comes_again(void **state)
{
	(void)state;
	open_with("dmda", "1");
	submit_all(&reads);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	assert_int_equal(count_there(), NTASKS);
	assert_int_equal(starpu_data_evict_from_node(handles[NTASKS - 1], 1), 0);
	assert_int_equal(count_there(), NTASKS - 1);
	fake_run_until(fake_now_s() + fake_machine()->task_s);
	assert_int_equal(one.nlog, 1);
	assert_int_equal(count_there(), NTASKS);
	close_all();
}

/* How many come with the first one? */
static int count_at_once(int nahead)
{
	struct memory_driver driver;
	int n;

	open_with("dmda", "1");
	driver = *one.node->memories[1].driver;
	driver.nahead = nahead;
	one.node->memories[1].driver = &driver;
	submit_all(&reads);
	fake_run_until(fake_now_s() + 1.5 * BYTES / fake_machine()->link_bytes_per_s);
	n = count_there();
	close_all();
	return n;
}

static void as_many_travel_at_once_as_the_memory_wants(void **state)
{
	(void)state;
	assert_int_equal(count_at_once(0), 1);
	assert_int_equal(count_at_once(1), 1);
	assert_int_equal(count_at_once(2), 2);
	assert_int_equal(count_at_once(3), 3);
}

/* Two tasks for cores on a node of a core, worker 1, and a GPU; how many has the core in
 * the midst of the first? */
static int count_taken(const char *policy)
{
	static struct starpu_codelet on_cpu = {.cpu_funcs = {one_kernel}};
	int n;

	one_open(1, 1, policy);
	fake_machine()->task_s = 1e-3;
	for (int i = 0; i < 2; i++)
		assert_int_equal(starpu_task_insert(&on_cpu, 0), 0);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	n = one.node->workers[1].npipeline;
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(one.nlog, 2);
	one_close();
	return n;
}

static void a_core_takes_ahead_only_what_is_its_own(void **state)
{
	static const char *const lines[] = {"eager",      "prio",         "lws",
					    "ws",         "pheft",        "peager",
					    "heteroprio", "modular-eager"};
	static const char *const placing[] = {"random", "dm",    "dmda",  "dmdap",
					      "dmdar",  "dmdas", "dmdasd"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(count_taken(lines[i]), 1);
	for (size_t i = 0; i < sizeof(placing) / sizeof(placing[0]); i++)
		assert_int_equal(count_taken(placing[i]), 2);
}

/* A context of another policy changes who may. */
static void a_core_takes_ahead_as_its_contexts_let_it(void **state)
{
	struct worker *core;
	unsigned context;
	int id = 1;

	(void)state;
	one_open(1, 1, "dmda");
	core = &one.node->workers[id];
	assert_true(core->takes_ahead);
	context = starpu_sched_ctx_create(&id, 1, "shared", STARPU_SCHED_CTX_POLICY_NAME,
					  "eager", 0);
	fake_run();
	assert_false(core->takes_ahead);
	starpu_sched_ctx_delete(context);
	fake_run();
	assert_true(core->takes_ahead);
	assert_true(one.node->workers[0].takes_ahead);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_come_while_another_task_runs),
		cmocka_unit_test(unless_nobody_wants_it),
		cmocka_unit_test(nobody_makes_room_for_it),
		cmocka_unit_test(what_leaves_comes_again),
		cmocka_unit_test(as_many_travel_at_once_as_the_memory_wants),
		cmocka_unit_test(a_core_takes_ahead_only_what_is_its_own),
		cmocka_unit_test(a_core_takes_ahead_as_its_contexts_let_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
