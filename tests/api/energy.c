/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* starpu_energy_start() and _stop(), with counters that this program turns itself, or in
 * simulation. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 20, RANGE_UJ = 1000000000 };

static char top[] = "/tmp/orrery-energy-XXXXXX";

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "energy_of_work"};
static struct starpu_codelet cl = {.cpu_funcs = {work}, .energy_model = &model};

static void write_file(const char *zone, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, zone);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", top, zone, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(1);
}

static void turn(const char *zone, long uj)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld\n", uj);
	write_file(zone, "energy_uj", text);
}

/* Two packages, a part of one, and the first one again by another way. */
static void make_counters(void)
{
	static const char *const zones[][2] = {{"intel-rapl:0", "package-0\n"},
					       {"intel-rapl:1", "package-1\n"},
					       {"intel-rapl:0:0", "core\n"},
					       {"intel-rapl-mmio:0", "package-0\n"}};
	char range[32];

	snprintf(range, sizeof(range), "%d\n", RANGE_UJ);
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		write_file(zones[i][0], "name", zones[i][1]);
		write_file(zones[i][0], "max_energy_range_uj", range);
		turn(zones[i][0], 1000);
	}
	turn("intel-rapl:1", RANGE_UJ - 4000000);
}

static void remove_counters(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", top);
	if (system(command) != 0)
		exit(1);
}

static void packages_are_measured(void)
{
	struct starpu_task *task;
	double joules;

	claim_start(1);
	task = starpu_task_create();
	task->cl = &cl;
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), -EBUSY);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	starpu_task_wait_for_all();
	/* 30 J, and 10 J on a counter that began anew. */
	turn("intel-rapl:0", 1000 + 30000000);
	turn("intel-rapl:0:0", 999999);
	turn("intel-rapl-mmio:0", 999999);
	turn("intel-rapl:1", 6000000);
	CLAIM_EQ(starpu_energy_stop(&model, task, 0, NTASKS, -1, STARPU_CPU_WORKER), 0);
	joules = starpu_perfmodel_history_based_expected_perf(
		&model, starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
		starpu_task_footprint(&model, task, NULL, 0));
	CLAIM(joules > 1.999 && joules < 2.001);
	CLAIM_EQ(starpu_energy_stop(&model, task, 0, NTASKS, -1, STARPU_CPU_WORKER),
		 -EINVAL);
	CLAIM_EQ(starpu_energy_start(0, STARPU_CPU_WORKER), 0);
	turn("intel-rapl:1", 500);
	CLAIM_EQ(starpu_energy_stop(&model, task, 0, 0, 0, STARPU_CPU_WORKER), -EINVAL);
	starpu_task_destroy(task);
	starpu_shutdown();
}

/* ---- tasks, with STARPU_ENERGY_PROFILING ------------------------------ */

static struct starpu_perfmodel task_model = {.type = STARPU_HISTORY_BASED,
					     .symbol = "energy_of_tasks"};
static long total_uj = 1000 + 30000000;
static int is_running, has_turned; /* atomic */

static void use_uj(long uj)
{
	total_uj += uj;
	turn("intel-rapl:0", total_uj);
}

static void use_two(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	use_uj(2000000);
}

static struct starpu_codelet two = {.cpu_funcs = {use_two}, .energy_model = &task_model};

static double joules_of(struct starpu_task *task)
{
	double joules = task->profiling_info->energy_consumed;

	starpu_task_destroy(task);
	return joules;
}

static struct starpu_task *submit(struct starpu_codelet *codelet)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = codelet;
	task->destroy = 0;
	task->detach = 0;
	CLAIM_EQ(starpu_task_submit(task), 0);
	return task;
}

static int is_near(double value, double expected)
{
	return value > expected - 1e-6 && value < expected + 1e-6;
}

static void tasks_alone_have_all(void)
{
	struct starpu_profiling_worker_info info;

	setenv("STARPU_CALIBRATE", "1", 1);
	claim_start(1);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = submit(&two);

		CLAIM_EQ(starpu_task_wait(task), 0);
		use_uj(5000000); /* nobody's */
		CLAIM(is_near(joules_of(task), 2));
	}
	CLAIM_EQ(starpu_profiling_worker_get_info(0, &info), 0);
	CLAIM(is_near(info.energy_consumed, 2 * NTASKS));
	CLAIM(is_near(
		starpu_perfmodel_history_based_expected_perf(
			&task_model,
			starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
			starpu_task_data_footprint(&(struct starpu_task){.cl = &two})),
		2));
	starpu_shutdown();
	unsetenv("STARPU_CALIBRATE");
}

static void wait_until(const int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void run_long(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_store_n(&is_running, 1, __ATOMIC_RELEASE);
	wait_until(&has_turned);
	use_uj(1000000);
}

static void run_beside(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	wait_until(&is_running);
	use_uj(3000000);
}

static struct starpu_codelet longer = {.cpu_funcs = {run_long}};
static struct starpu_codelet beside = {.cpu_funcs = {run_beside}};

static void tasks_side_by_side_share(void)
{
	struct starpu_task *first, *second;

	claim_start(2);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	first = submit(&longer);
	second = submit(&beside);
	CLAIM_EQ(starpu_task_wait(second), 0);
	CLAIM(is_near(joules_of(second), 1.5));
	__atomic_store_n(&has_turned, 1, __ATOMIC_RELEASE);
	CLAIM_EQ(starpu_task_wait(first), 0);
	CLAIM(is_near(joules_of(first), 2.5));
	starpu_shutdown();
}

/* ---- what does not run ------------------------------------------------ */

enum { NSKIPPED = 2000 };

static struct starpu_perfmodel skipped_model = {.type = STARPU_HISTORY_BASED,
						.symbol = "energy_of_skipped"};
static struct starpu_codelet skipped = {.cpu_funcs = {work},
					.energy_model = &skipped_model};

static int does_not_run(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
	return 0;
}

/* The counters turn all the time. */
static void run_until_told(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_store_n(&is_running, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&has_turned, __ATOMIC_ACQUIRE))
		use_uj(1000);
}

static struct starpu_codelet turns = {.cpu_funcs = {run_until_told}};

static void what_is_skipped_teaches_nothing(void)
{
	struct starpu_transaction *transaction;
	struct starpu_task *meter;

	is_running = has_turned = 0;
	setenv("STARPU_CALIBRATE", "1", 1);
	claim_start(2);
	meter = submit(&turns);
	wait_until(&is_running);
	transaction = starpu_transaction_open(does_not_run, NULL);
	for (int i = 0; i < NSKIPPED; i++)
		CLAIM_EQ(starpu_task_insert(&skipped, STARPU_TRANSACTION, transaction, 0),
			 0);
	starpu_transaction_close(transaction);
	starpu_task_wait_for_n_submitted(1);
	__atomic_store_n(&has_turned, 1, __ATOMIC_RELEASE);
	CLAIM_EQ(starpu_task_wait(meter), 0);
	starpu_task_destroy(meter);
	starpu_task_wait_for_all();
	CLAIM(isnan(starpu_perfmodel_history_based_expected_perf(
		&skipped_model,
		starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
		starpu_task_data_footprint(&(struct starpu_task){.cl = &skipped}))));
	starpu_shutdown();
	unsetenv("STARPU_CALIBRATE");
}

static void others_cannot(void)
{
	claim_start(1);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CUDA_WORKER), -ENODEV);
	CLAIM_EQ(starpu_energy_start(99, STARPU_CPU_WORKER), -ENODEV);
	starpu_shutdown();
}

static void without_counters(void)
{
	setenv("ORRERY_POWERCAP", "/nowhere", 1);
	claim_start(1);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), -ENODEV);
	starpu_shutdown();
}

/* ---- simulation ------------------------------------------------------- */

static double two_j(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		    unsigned implementation)
{
	(void)task;
	(void)arch;
	(void)implementation;
	return 2;
}

static struct starpu_perfmodel two_model = {.type = STARPU_PER_ARCH,
					    .arch_cost_function = two_j};
static double one_ms(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static struct starpu_perfmodel ms_model = {.type = STARPU_COMMON,
					   .cost_function = one_ms};
static struct starpu_perfmodel learnt = {.type = STARPU_HISTORY_BASED};
static struct starpu_codelet modelled = {.cpu_funcs = {work},
					 .cuda_funcs = {work},
					 .model = &ms_model,
					 .energy_model = &two_model};

/* What one of NTASKS tasks has used since starpu_energy_start(). */
static double learnt_j(int worker, enum starpu_worker_archtype type)
{
	int id = worker >= 0 ? worker : starpu_worker_get_by_type(type, 0);
	struct starpu_task *task = starpu_task_create();
	double joules;

	task->cl = &modelled;
	CLAIM_EQ(starpu_energy_stop(&learnt, task, 0, NTASKS, worker, type), 0);
	joules = starpu_perfmodel_history_based_expected_perf(
		&learnt, starpu_worker_get_perf_archtype(id, 0),
		starpu_task_footprint(&learnt, task, NULL, 0));
	starpu_task_destroy(task);
	starpu_perfmodel_deinit(&learnt);
	return joules;
}

static void run_on(int worker)
{
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&modelled, STARPU_EXECUTE_ON_WORKER, worker,
					    0),
			 0);
	starpu_task_wait_for_all();
}

static void models_are_the_meters(void)
{
	int cpu, gpu;

	claim_start(1);
	cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	CLAIM_EQ(starpu_energy_start(gpu, STARPU_CUDA_WORKER), -EBUSY);
	run_on(cpu);
	run_on(gpu);
	CLAIM(is_near(learnt_j(-1, STARPU_CPU_WORKER), 2));
	CLAIM_EQ(starpu_energy_start(gpu, STARPU_CUDA_WORKER), 0);
	run_on(cpu);
	run_on(gpu);
	run_on(gpu);
	CLAIM(is_near(learnt_j(gpu, STARPU_CUDA_WORKER), 4));
	/* Of another device, and of nothing. */
	CLAIM_EQ(starpu_energy_start(gpu, STARPU_CUDA_WORKER), 0);
	CLAIM_EQ(starpu_energy_stop(&learnt, &(struct starpu_task){.cl = &modelled}, 0, 1,
				    cpu, STARPU_CPU_WORKER),
		 -EINVAL);
	CLAIM_EQ(starpu_energy_start(cpu, STARPU_CPU_WORKER), 0);
	CLAIM_EQ(starpu_energy_stop(&learnt, &(struct starpu_task){.cl = &modelled}, 0, 1,
				    cpu, STARPU_CPU_WORKER),
		 -ENODEV);
	starpu_shutdown();
}

/* An epoch that does not run uses nothing; that after it does. */
static void what_is_skipped_uses_nothing(void)
{
	struct starpu_transaction *transaction;

	claim_start(1);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	transaction = starpu_transaction_open(does_not_run, NULL);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&modelled, STARPU_TRANSACTION, transaction,
					    STARPU_EXECUTE_WHERE, STARPU_CPU, 0),
			 0);
	starpu_transaction_close(transaction);
	run_on(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0));
	CLAIM(is_near(learnt_j(-1, STARPU_CPU_WORKER), 2));
	starpu_shutdown();
}

static void waiting_uses_power(void)
{
	double before_us, idle_j;
	int cpu;

	setenv("STARPU_IDLE_POWER", "10", 1);
	claim_start(2);
	cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	before_us = starpu_timing_now();
	run_on(cpu);
	starpu_usleep(5000);
	/* One worker all the time, the other one when it has no task. */
	idle_j = 10 * (2e-6 * (starpu_timing_now() - before_us) - NTASKS * 1e-3);
	CLAIM(fabs(learnt_j(-1, STARPU_CPU_WORKER) - 2 - idle_j / NTASKS) < 1e-4);
	/* Half of a task. */
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	CLAIM_EQ(starpu_task_insert(&modelled, STARPU_EXECUTE_ON_WORKER, cpu, 0), 0);
	starpu_usleep(500);
	CLAIM(fabs(learnt_j(-1, STARPU_CPU_WORKER) - (1 + 10 * 500e-6) / NTASKS) < 1e-3);
	starpu_task_wait_for_all();
	starpu_shutdown();
	unsetenv("STARPU_IDLE_POWER");
}

static void counters_may_have_no_range(void)
{
	struct starpu_perfmodel used = {.type = STARPU_HISTORY_BASED,
					.symbol = "energy_without_range"};
	struct starpu_task *task;
	char path[256];
	double joules;

	snprintf(path, sizeof(path), "%s/intel-rapl:0/max_energy_range_uj", top);
	CLAIM_EQ(unlink(path), 0);
	turn("intel-rapl:0", 70000000);
	claim_start(1);
	task = starpu_task_create();
	task->cl = &cl;
	CLAIM_EQ(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
	turn("intel-rapl:0", 90000000);
	/* Anew, of which it is known that it has used 10 J since. */
	turn("intel-rapl:0", 10000000);
	CLAIM_EQ(starpu_energy_stop(&used, task, 0, 10, -1, STARPU_CPU_WORKER), 0);
	joules = starpu_perfmodel_history_based_expected_perf(
		&used, starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS),
		starpu_task_footprint(&used, task, NULL, 0));
	CLAIM(joules > 0.999 && joules < 1.001);
	starpu_task_destroy(task);
	starpu_perfmodel_deinit(&used);
	starpu_shutdown();
}

static const struct claim simulated_claims[] = {
	{"energy models are what devices use", models_are_the_meters},
	{"workers that wait use STARPU_IDLE_POWER", waiting_uses_power},
	{"tasks of an epoch that does not run use nothing", what_is_skipped_uses_nothing},
	{"what cannot be measured is said", others_cannot},
	{NULL, NULL}};

static const struct claim claims[] = {
	{"what packages use is shared among tasks", packages_are_measured},
	{"a task that runs alone has used all of it", tasks_alone_have_all},
	{"tasks that run side by side share it", tasks_side_by_side_share},
	{"models learn nothing of what does not run", what_is_skipped_teaches_nothing},
	{"counters may have no range", counters_may_have_no_range},
	{"what cannot be measured is said", others_cannot},
	{"so are counters that are not there", without_counters},
	{NULL, NULL}};

int main(void)
{
	int failed;

	if (orrery_is_simulated())
		return claims_run(simulated_claims, 0);
	if (!mkdtemp(top))
		return 1;
	make_counters();
	setenv("ORRERY_POWERCAP", top, 1);
	setenv("STARPU_HOME", top, 1);
	setenv("STARPU_ENERGY_PROFILING", "1", 1);
	failed = claims_run(claims, 0);
	remove_counters();
	return failed;
}
