/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Workers that the application runs. */
#include <errno.h>

#include <starpu_perf_steering.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 40 };

static int ncalls, ncalls_of[2];

static void count(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	STARPU_ATOMIC_ADD(&ncalls, 1);
	STARPU_ATOMIC_ADD(&ncalls_of[starpu_worker_get_id()], 1);
}

static void add(void *buffers[], void *arg)
{
	int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void)arg;
	*value = 3 * *value + 1;
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 100;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "drivers"};
static struct starpu_codelet counts = {
	.cpu_funcs = {count}, .cpu_funcs_name = {"count"}, .model = &model};
static struct starpu_codelet adds = {.cpu_funcs = {add},
				     .cpu_funcs_name = {"add"},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .model = &model};

static struct starpu_driver driver_of(unsigned core)
{
	struct starpu_driver driver = {.type = STARPU_CPU_WORKER, .id.cpu_id = core};

	return driver;
}

/* So many of the workers, the first ones, are ours to run. */
static void start(int ncpus, unsigned ndriven)
{
	struct starpu_driver drivers[2] = {driver_of(0), driver_of(1)};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.precedence_over_environment_variables = 1;
	conf.not_launched_drivers = drivers;
	conf.n_not_launched_drivers = ndriven;
	if (starpu_init(&conf) != 0)
		exit(77);
	ncalls = ncalls_of[0] = ncalls_of[1] = 0;
}

static void submit(struct starpu_codelet *cl, int n)
{
	for (int i = 0; i < n; i++)
		CLAIM_EQ(starpu_task_insert(cl, 0), 0);
}

/* The only worker runs in the main thread, a task at a time. */
static void one_task_at_a_time(void)
{
	struct starpu_driver driver = driver_of(0);
	int most = 0, before;

	start(1, 1);
	CLAIM_EQ(starpu_driver_init(&driver), 0);
	submit(&counts, NTASKS);
	while (starpu_task_nsubmitted() > 0) {
		before = ncalls;
		CLAIM_EQ(starpu_driver_run_once(&driver), 0);
		if (ncalls - before > most)
			most = ncalls - before;
	}
	CLAIM_EQ(ncalls, NTASKS);
	CLAIM_EQ(most, 1);
	CLAIM_EQ(starpu_driver_deinit(&driver), 0);
	starpu_shutdown();
}

/* Nothing runs before, nothing after. */
static void only_while_driven(void)
{
	struct starpu_driver driver = driver_of(0);

	start(1, 1);
	submit(&counts, NTASKS);
	starpu_sleep(0.001F);
	CLAIM_EQ(ncalls, 0);
	CLAIM_EQ(starpu_driver_init(&driver), 0);
	for (int i = 0; ncalls < 3 && i < NTASKS; i++)
		CLAIM_EQ(starpu_driver_run_once(&driver), 0);
	CLAIM_EQ(starpu_driver_deinit(&driver), 0);
	CLAIM_EQ(ncalls, 3);
	starpu_sleep(0.001F);
	CLAIM_EQ(ncalls, 3);
	CLAIM_EQ(starpu_driver_init(&driver), 0);
	while (starpu_task_nsubmitted() > 0)
		starpu_driver_run_once(&driver);
	CLAIM_EQ(ncalls, NTASKS);
	CLAIM_EQ(starpu_driver_deinit(&driver), 0);
	starpu_shutdown();
}

static void *drive(void *arg)
{
	CLAIM_EQ(starpu_driver_run(arg), 0);
	return NULL;
}

static void *wait_and_dismiss(void *arg)
{
	(void)arg;
	starpu_task_wait_for_all();
	starpu_drivers_request_termination();
	return NULL;
}

/* Two threads drive two workers; main waits, and tells them to stop. */
static void threads_drive(void)
{
	struct starpu_driver drivers[2] = {driver_of(0), driver_of(1)};
	starpu_pthread_t threads[2];
	starpu_data_handle_t handle;
	int value = 0, expected = 0;

	start(2, 2);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 2; i++)
		starpu_pthread_create(&threads[i], NULL, drive, &drivers[i]);
	for (int i = 0; i < NTASKS; i++) {
		expected = (int)(3U * (unsigned)expected + 1U) % 1000;
		starpu_task_insert(&adds, STARPU_RW, handle, 0);
		submit(&counts, 1);
		starpu_data_acquire(handle, STARPU_RW);
		value %= 1000;
		CLAIM_EQ(value, expected);
		starpu_data_release(handle);
	}
	submit(&counts, NTASKS);
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, 2 * NTASKS);
	starpu_drivers_request_termination();
	for (int i = 0; i < 2; i++)
		starpu_pthread_join(threads[i], NULL);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* Main drives; another thread ends that. */
static void main_drives(void)
{
	struct starpu_driver driver = driver_of(0);
	starpu_pthread_t thread;

	start(1, 1);
	submit(&counts, NTASKS);
	starpu_pthread_create(&thread, NULL, wait_and_dismiss, NULL);
	CLAIM_EQ(starpu_driver_run(&driver), 0);
	starpu_pthread_join(thread, NULL);
	CLAIM_EQ(ncalls, NTASKS);
	starpu_shutdown();
}

/* One worker of its own thread, one that is driven: a task bound to the latter waits. */
static void beside_others(void)
{
	struct starpu_driver driver = driver_of(0);

	start(2, 1);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&counts, STARPU_EXECUTE_ON_WORKER, i % 2, 0),
			 0);
	starpu_task_wait_for_n_submitted(NTASKS / 2);
	CLAIM_EQ(ncalls_of[0], 0);
	CLAIM_EQ(starpu_driver_init(&driver), 0);
	for (int i = 0; i < NTASKS / 2; i++)
		CLAIM_EQ(starpu_driver_run_once(&driver), 0);
	CLAIM_EQ(ncalls_of[0], NTASKS / 2);
	CLAIM_EQ(ncalls_of[1], NTASKS / 2);
	CLAIM_EQ(starpu_driver_deinit(&driver), 0);
	starpu_shutdown();
}

/* A thread still drives when the library ends. */
static void shutdown_dismisses(void)
{
	struct starpu_driver driver = driver_of(0);
	starpu_pthread_t thread;

	start(1, 1);
	submit(&counts, NTASKS);
	starpu_pthread_create(&thread, NULL, drive, &driver);
	starpu_task_wait_for_all();
	starpu_shutdown();
	starpu_pthread_join(thread, NULL);
	CLAIM_EQ(ncalls, NTASKS);
}

static void refusals(void)
{
	struct starpu_driver driver = driver_of(0), own = driver_of(1),
			     none = driver_of(7);
	struct starpu_driver other = {.type = STARPU_OPENCL_WORKER};

	start(2, 1);
	CLAIM_EQ(starpu_driver_run_once(&driver), -EINVAL);
	CLAIM_EQ(starpu_driver_deinit(&driver), -EINVAL);
	CLAIM_EQ(starpu_driver_init(&own), -ENODEV);
	CLAIM_EQ(starpu_driver_run(&own), -ENODEV);
	CLAIM_EQ(starpu_driver_run(&none), -EINVAL);
	CLAIM_EQ(starpu_driver_init(&other), -EINVAL);
	CLAIM_EQ(starpu_driver_init(&driver), 0);
	CLAIM_EQ(starpu_driver_init(&driver), -EBUSY);
	CLAIM_EQ(starpu_driver_deinit(&driver), 0);
	starpu_drivers_request_termination();
	CLAIM_EQ(starpu_driver_run(&driver), 0);
	starpu_shutdown();
}

/* Which thread runs it is not known. */
static void binding_is_left_to_its_threads(void)
{
	int id = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
					     "starpu.worker.w_bind_to_pu_knob");

	start(2, 1);
	starpu_perf_knob_set_per_worker_int32_value(id, 0, 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"driver_runs_one_task_at_a_time", one_task_at_a_time},
	{"driver_runs_only_while_driven", only_while_driven},
	{"driver_threads_run_until_dismissed", threads_drive},
	{"driver_main_runs_until_dismissed", main_drives},
	{"driver_beside_other_workers", beside_others},
	{"driver_is_dismissed_by_shutdown", shutdown_dismisses},
	{"driver_binding_is_left_to_its_threads", binding_is_left_to_its_threads},
	{"driver_refuses_what_is_not_driven", refusals},
	{0}};

int main(void)
{
	return claims_run(claims, 0);
}
