/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What starpu_perf_steering.h changes while tasks run. */
#include <stdint.h>
#include <string.h>

#include <starpu_perf_steering.h>
#include <orrery.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 40 };

static int ran_on[STARPU_NMAXWORKERS];

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 10;
}

static struct starpu_perfmodel time_model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "knobs_time"};

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {work}, .model = &time_model};

static void count_worker(void *arg)
{
	(void)arg;
	ran_on[starpu_worker_get_id()]++;
}

static void run(void)
{
	memset(ran_on, 0, sizeof(ran_on));
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, STARPU_CALLBACK, count_worker, 0), 0);
	starpu_task_wait_for_all();
}

static void begin(const char *policy, int ncpus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	conf.ncpus = ncpus;
	conf.ncuda = 0;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static int named(enum starpu_perf_knob_scope scope, const char *name)
{
	int id = starpu_perf_knob_name_to_id(scope, name);

	CLAIM(id >= 0);
	return id;
}

static int of_worker(const char *name)
{
	return named(starpu_perf_knob_scope_per_worker, name);
}

static int of_scheduler(const char *name)
{
	return named(starpu_perf_knob_scope_per_scheduler, name);
}

/* ---- claims ---------------------------------------------------------- */

static void names_and_numbers(void)
{
	int n = 0;

	for (int scope = 1; scope <= 5; scope += 2) {
		enum starpu_perf_knob_scope which = (enum starpu_perf_knob_scope)scope;
		const char *name = starpu_perf_knob_scope_id_to_name(which);

		CLAIM_EQ(starpu_perf_knob_scope_name_to_id(name), scope);
		for (int i = 0; i < starpu_perf_knob_nb(which); i++, n++) {
			int id = starpu_perf_knob_nth_to_id(which, i);

			CLAIM_EQ(starpu_perf_knob_name_to_id(
					 which, starpu_perf_knob_id_to_name(id)),
				 id);
			CLAIM(strlen(starpu_perf_knob_get_help_string(id)) > 0);
			CLAIM(starpu_perf_knob_get_type_id(id) > 0);
		}
	}
	CLAIM_EQ(n, 10);
	CLAIM_EQ(starpu_perf_knob_type_name_to_id("int32"), 1);
	CLAIM(!strcmp(starpu_perf_knob_type_id_to_name(3), "float"));
	CLAIM_EQ(starpu_perf_knob_name_to_id(starpu_perf_knob_scope_global,
					     "starpu.worker.w_enable_worker_knob"),
		 -1);
}

static void workers_are_disabled(void)
{
	int id = of_worker("starpu.worker.w_enable_worker_knob");

	begin("eager", 2);
	if (starpu_worker_get_count() >= 2) {
		CLAIM_EQ(starpu_perf_knob_get_per_worker_int32_value(id, 1), 1);
		starpu_perf_knob_set_per_worker_int32_value(id, 1, 0);
		CLAIM_EQ(starpu_perf_knob_get_per_worker_int32_value(id, 1), 0);
		/* It follows before its next task. */
		run();
		run();
		CLAIM_EQ(ran_on[1], 0);
		CLAIM_EQ(ran_on[0], NTASKS);
		starpu_perf_knob_set_per_worker_int64_value(id, 1, 1);
		starpu_perf_knob_set_per_worker_int32_value(id, 0, 0);
		run();
		run();
		CLAIM_EQ(ran_on[0], 0);
		CLAIM_EQ(ran_on[1], NTASKS);
	}
	starpu_shutdown();
}

static void workers_are_bound(void)
{
	int id = of_worker("starpu.worker.w_bind_to_pu_knob");
	int core;

	begin("eager", 1);
	core = starpu_perf_knob_get_per_worker_int32_value(id, 0);
	if (core >= 0) {
		CLAIM_EQ(starpu_worker_get_bindid(0), core);
		starpu_perf_knob_set_per_worker_int32_value(id, 0, core == 0);
		if (starpu_cpu_os_index(core == 0) >= 0)
			CLAIM_EQ(starpu_worker_get_bindid(0), core == 0);
		run();
		starpu_perf_knob_set_per_worker_int32_value(id, 0, core);
		CLAIM_EQ(starpu_worker_get_bindid(0), core);
		/* Said, and nothing happens. */
		starpu_perf_knob_set_per_worker_int32_value(id, 0, 1 << 20);
		CLAIM_EQ(starpu_worker_get_bindid(0), core);
	}
	CLAIM(core >= 0 || orrery_is_simulated() || !"bound in a real run");
	starpu_shutdown();
}

static void calibration_is_switched(void)
{
	int id = named(starpu_perf_knob_scope_global, "starpu.global.g_calibrate_knob");

	begin("eager", 1);
	starpu_perf_knob_set_global_int32_value(id, 1);
	CLAIM_EQ(starpu_perf_knob_get_global_int32_value(id), 1);
	CLAIM_EQ(starpu_perf_knob_get_global_int64_value(id), 1);
	starpu_perf_knob_set_global_int64_value(id, 0);
	/* Said, and nothing happens. */
	starpu_perf_knob_set_global_int32_value(id, 7);
	CLAIM_EQ(starpu_perf_knob_get_global_int32_value(id), 0);
	starpu_shutdown();
}

static void signals_are_caught(void)
{
	int id = named(starpu_perf_knob_scope_global,
		       "starpu.global.g_enable_catch_signal_knob");
	struct starpu_conf conf;

	setenv("STARPU_CATCH_SIGNALS", "0", 1);
	starpu_conf_init(&conf);
	CLAIM_EQ(conf.catch_signals, 0);
	unsetenv("STARPU_CATCH_SIGNALS");
	begin("eager", 1);
	CLAIM_EQ(starpu_perf_knob_get_global_int32_value(id), 1);
	starpu_perf_knob_set_global_int32_value(id, 0);
	CLAIM_EQ(starpu_perf_knob_get_global_int32_value(id), 0);
	/* Said, and nothing happens. */
	starpu_perf_knob_set_global_int32_value(id, 2);
	CLAIM_EQ(starpu_perf_knob_get_global_int32_value(id), 0);
	starpu_shutdown();
}

static void priorities_are_capped(void)
{
	int most = of_scheduler("starpu.task.s_max_priority_cap_knob");
	int least = of_scheduler("starpu.task.s_min_priority_cap_knob");
	struct starpu_task *task;

	begin("prio", 1);
	starpu_perf_knob_set_per_scheduler_int32_value(most, "prio", 10);
	starpu_perf_knob_set_per_scheduler_int32_value(least, "prio", -3);
	CLAIM_EQ(starpu_perf_knob_get_per_scheduler_int32_value(most, "prio"), 10);
	CLAIM_EQ(starpu_perf_knob_get_per_scheduler_int64_value(least, "prio"), -3);
	for (int priority = -20; priority <= 20; priority += 20) {
		task = starpu_task_create();
		task->cl = &cl;
		task->detach = 0;
		task->destroy = 0;
		task->priority = priority;
		CLAIM_EQ(starpu_task_submit(task), 0);
		CLAIM_EQ(starpu_task_wait(task), 0);
		CLAIM_EQ(task->priority, priority < 0 ? -3 : priority > 0 ? 10 : 0);
		starpu_task_destroy(task);
	}
	/* Said, and nothing happens: there is no such scheduler. */
	starpu_perf_knob_set_per_scheduler_int32_value(most, "lws", 5);
	CLAIM_EQ(starpu_perf_knob_get_per_scheduler_int32_value(most, "prio"), 10);
	starpu_shutdown();
}

static void weights_of_dmda(void)
{
	static const char *const names[] = {
		"starpu.dmda.s_alpha_knob", "starpu.dmda.s_beta_knob",
		"starpu.dmda.s_gamma_knob", "starpu.dmda.s_idle_power_knob"};
	static const double usual[] = {1, 1, 1000, 0};

	begin("dmda", 1);
	for (int i = 0; i < 4; i++) {
		int id = of_scheduler(names[i]);
		double value =
			starpu_perf_knob_get_per_scheduler_double_value(id, "dmda");

		CLAIM(value > usual[i] - 1e-9 && value < usual[i] + 1e-9);
		starpu_perf_knob_set_per_scheduler_double_value(id, "dmda", 2.5);
		CLAIM(starpu_perf_knob_get_per_scheduler_float_value(id, "dmda") == 2.5f);
		starpu_perf_knob_set_per_scheduler_float_value(id, "dmda", 0.5f);
		/* Said, and nothing happens. */
		starpu_perf_knob_set_per_scheduler_double_value(id, "dmda", -1);
		CLAIM(starpu_perf_knob_get_per_scheduler_double_value(id, "dmda") == 0.5);
	}
	run();
	starpu_shutdown();
	begin("dm", 1);
	/* Said, and nothing happens: it weighs no transfers. */
	starpu_perf_knob_set_per_scheduler_double_value(of_scheduler(names[1]), "dm", 2);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"knobs have names, numbers and types", names_and_numbers},
	{"a worker that is disabled takes no tasks", workers_are_disabled},
	{"a worker is bound elsewhere", workers_are_bound},
	{"calibration is switched on and off", calibration_is_switched},
	{"signals are caught or not", signals_are_caught},
	{"priorities of a scheduler are capped", priorities_are_capped},
	{"dmda's weights change", weights_of_dmda},
	{NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
