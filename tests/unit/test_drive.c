/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Workers that the application runs: each task once, by whom the application lets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/drive.h"
#include "core/sched/sched_modular.h"
#include "core/stuck.h"
#include "core/worker.h"
#include "one_node.h"

enum { MAX_WORKERS = 4, NDATA = 5, NTASKS = 60, NSEEDS = 400 };

static int ran[NTASKS], may_run[MAX_WORKERS];

static unsigned draw(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

/* Nobody runs a worker but who was asked to. */
static void note(void *buffers[], void *arg)
{
	(void)buffers;
	ran[(intptr_t)arg]++;
	assert_true(may_run[starpu_worker_get_id()]);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 100;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost_us};
static struct starpu_codelet cl = {.cpu_funcs = {note},
				   .cuda_funcs = {note},
				   .nbuffers = 2,
				   .modes = {STARPU_RW, STARPU_R},
				   .model = &model};

static void open_driven(int ncpus, int ngpus, const char *policy,
			struct starpu_driver *drivers, unsigned n)
{
	struct starpu_conf conf;

	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = ncpus;
	fake_machine()->ngpus = ngpus;
	fake_machine()->task_s = 1e-4;
	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	conf.not_launched_drivers = drivers;
	conf.n_not_launched_drivers = n;
	assert_int_equal(starpu_init(&conf), 0);
	one.node = plat_self();
	for (int i = 0; i < MAX_WORKERS; i++)
		may_run[i] = i >= one.node->nworkers || !one.node->workers[i].driven;
	for (int i = 0; i < NTASKS; i++)
		ran[i] = 0;
}

static void submit_all(starpu_data_handle_t *data, unsigned *seed)
{
	for (int i = 0; i < NTASKS; i++) {
		unsigned a = draw(seed, NDATA);
		unsigned b = (a + 1 + draw(seed, NDATA - 1)) % NDATA;
		struct starpu_task *task = starpu_task_create();

		task->cl = &cl;
		task->cl_arg = (void *)(intptr_t)i;
		task->handles[0] = data[a];
		task->handles[1] = data[b];
		task->priority = (int)(a % 3);
		assert_int_equal(starpu_task_submit(task), 0);
	}
}

/* In any order, let one of ours run one task, until there is none. */
static void drive_in_turns(struct starpu_driver *drivers, unsigned n, unsigned *seed)
{
	for (int turns = 0; starpu_task_nsubmitted() > 0; turns++) {
		struct starpu_driver *driver = &drivers[draw(seed, n)];
		int id = drive_find(one.node, driver)->id;

		assert_true(turns < 1000 * NTASKS);
		may_run[id] = 1;
		assert_int_equal(starpu_driver_run_once(driver), 0);
		may_run[id] = 0;
	}
}

static void play(unsigned seed)
{
	int ncpus = 1 + (int)draw(&seed, 2);
	int ngpus = (int)draw(&seed, 3);
	const struct sched_ops *policy = sched_at(NMODULARS + (int)draw(&seed, 11));
	struct starpu_driver drivers[MAX_WORKERS];
	starpu_data_handle_t data[NDATA];
	int values[NDATA] = {0};
	unsigned n = 0;

	for (int i = 0; i < ncpus; i++)
		drivers[n++] = (struct starpu_driver){STARPU_CPU_WORKER,
						      {.cpu_id = (unsigned)i}};
	for (int i = 0; i < ngpus && draw(&seed, 2); i++)
		drivers[n++] = (struct starpu_driver){STARPU_CUDA_WORKER,
						      {.cuda_id = (unsigned)i}};
	open_driven(ncpus, ngpus, policy->object.policy_name, drivers, n);
	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(starpu_driver_init(&drivers[i]), 0);
	submit_all(data, &seed);
	drive_in_turns(drivers, n, &seed);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(starpu_driver_deinit(&drivers[i]), 0);
	for (int i = 0; i < NTASKS; i++)
		assert_int_equal(ran[i], 1);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	one_close();
}

static void each_task_runs_once_where_the_application_lets_it(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= NSEEDS; seed++)
		play(seed);
}

static void dismiss(void *arg)
{
	(void)arg;
	starpu_drivers_request_termination();
}

/* A callback ends the call that runs it; dates are the tasks', to the digit. */
static void running_takes_what_the_tasks_take(void **state)
{
	struct starpu_driver driver = {STARPU_CPU_WORKER, {.cpu_id = 0}};
	struct starpu_codelet plain = {.cpu_funcs = {note}};
	double start_s;

	(void)state;
	open_driven(1, 0, "eager", &driver, 1);
	may_run[0] = 1;
	for (int i = 0; i < 5; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &plain;
		task->cl_arg = (void *)(intptr_t)i;
		task->callback_func = i == 3 ? dismiss : NULL;
		assert_int_equal(starpu_task_submit(task), 0);
	}
	start_s = plat_now_s(one.node->plat);
	assert_int_equal(starpu_driver_run(&driver), 0);
	assert_float_equal(plat_now_s(one.node->plat) - start_s, 4e-4, 1e-12);
	assert_int_equal(ran[3], 1);
	assert_int_equal(ran[4], 0);
	assert_int_equal(starpu_driver_init(&driver), 0);
	assert_int_equal(starpu_driver_run_once(&driver), 0);
	assert_int_equal(ran[4], 1);
	start_s = plat_now_s(one.node->plat);
	assert_int_equal(starpu_driver_run_once(&driver), 0); /* nothing is there */
	assert_true(plat_now_s(one.node->plat) > start_s);
	assert_int_equal(starpu_driver_deinit(&driver), 0);
	one_close();
}

/* Who waits for a worker that nobody runs is told so. */
static int nmissed;

static void say(void *arg, const char *line)
{
	(void)arg;
	nmissed += strstr(line, "worker 0 is the application's to run") != NULL;
}

static void worker_that_nobody_runs_is_named(void **state)
{
	struct starpu_driver driver = {STARPU_CPU_WORKER, {.cpu_id = 0}};
	struct starpu_codelet plain = {.cpu_funcs = {note}};
	struct starpu_task *task;

	(void)state;
	open_driven(1, 0, "eager", &driver, 1);
	task = starpu_task_create();
	task->cl = &plain;
	task->cl_arg = NULL;
	task->detach = 0;
	assert_int_equal(starpu_task_submit(task), 0);
	nmissed = 0;
	stuck_describe(one.node, say, NULL);
	assert_int_equal(nmissed, 1);
	assert_int_equal(starpu_task_wait(task), -EDEADLK);
	may_run[0] = 1;
	assert_int_equal(starpu_driver_init(&driver), 0);
	assert_int_equal(starpu_driver_run_once(&driver), 0);
	assert_int_equal(starpu_driver_deinit(&driver), 0);
	assert_int_equal(starpu_task_wait(task), 0);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_runs_once_where_the_application_lets_it),
		cmocka_unit_test(running_takes_what_the_tasks_take),
		cmocka_unit_test(worker_that_nobody_runs_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
