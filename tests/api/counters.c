/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What starpu_perf_monitoring.h tells while tasks are submitted and run. */
#include <stdint.h>
#include <string.h>

#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>

#include "said.h"

int claim_failures;

enum { NTASKS = 50, KERNEL_US = 100, NCOUNTERS = 5 };

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return KERNEL_US;
}

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	starpu_usleep(KERNEL_US);
}

static struct starpu_perfmodel time_model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "counters_time"};
static struct starpu_codelet cl = {.cpu_funcs = {work}, .model = &time_model};
static struct starpu_codelet chain_cl = {
	.cpu_funcs = {work}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &time_model};

/* What a listener has heard last, and how often. */
struct ear {
	struct starpu_perf_counter_set *set;
	struct starpu_perf_counter_listener *listener;
	int ids[NCOUNTERS], nids, ncalls;
	double values[NCOUNTERS], executed; /* by all workers that share it */
};

static double value_of(struct starpu_perf_counter_sample *sample, int id)
{
	if (starpu_perf_counter_get_type_id(id) == starpu_perf_counter_type_double) {
		double value = starpu_perf_counter_sample_get_double_value(sample, id);

		CLAIM(starpu_perf_counter_sample_get_float_value(sample, id) ==
		      (float)value);
		return value;
	}
	return (double)starpu_perf_counter_sample_get_int64_value(sample, id);
}

static void hear(struct starpu_perf_counter_listener *listener,
		 struct starpu_perf_counter_sample *sample, void *context)
{
	struct ear *ear = context;

	CLAIM(listener == ear->listener);
	ear->ncalls++;
	for (int i = 0; i < ear->nids; i++) {
		double value = value_of(sample, ear->ids[i]);

		CLAIM(value >= ear->values[i]);
		ear->values[i] = value;
	}
}

static void open_ear(struct ear *ear, enum starpu_perf_counter_scope scope)
{
	*ear = (struct ear){.set = starpu_perf_counter_set_alloc(scope),
			    .nids = starpu_perf_counter_nb(scope)};
	for (int i = 0; i < ear->nids; i++) {
		ear->ids[i] = starpu_perf_counter_nth_to_id(scope, i);
		starpu_perf_counter_set_enable_id(ear->set, ear->ids[i]);
	}
	ear->listener = starpu_perf_counter_listener_init(ear->set, hear, ear);
}

static void close_ear(struct ear *ear)
{
	starpu_perf_counter_listener_exit(ear->listener);
	starpu_perf_counter_set_free(ear->set);
}

static double heard(const struct ear *ear, enum starpu_perf_counter_scope scope,
		    const char *name)
{
	int id = starpu_perf_counter_name_to_id(scope, name);

	for (int i = 0; i < ear->nids; i++)
		if (ear->ids[i] == id)
			return ear->values[i];
	CLAIM(!"the name is known");
	return -1;
}

static double heard_of_all(const struct ear *ear, const char *name)
{
	return heard(ear, starpu_perf_counter_scope_global, name);
}

static double heard_of_codelet(const struct ear *ear, const char *name)
{
	return heard(ear, starpu_perf_counter_scope_per_codelet, name);
}

static void run_free(void)
{
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	starpu_task_wait_for_all();
}

static void run_chain(void)
{
	int value = 0;
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&chain_cl, STARPU_RW, handle, 0), 0);
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
}

/* ---- claims ---------------------------------------------------------- */

static void names_and_numbers(void)
{
	static const char *const names[] = {
		"starpu.task.g_total_submitted",
		"starpu.task.g_peak_submitted",
		"starpu.task.g_peak_ready",
		"starpu.task.g_total_executed",
		"starpu.task.w_total_executed",
		"starpu.task.w_cumul_execution_time",
		"starpu.task.c_total_submitted",
		"starpu.task.c_peak_submitted",
		"starpu.task.c_peak_ready",
		"starpu.task.c_total_executed",
		"starpu.task.c_cumul_execution_time",
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		enum starpu_perf_counter_scope scope =
			names[i][12] == 'g'   ? starpu_perf_counter_scope_global
			: names[i][12] == 'w' ? starpu_perf_counter_scope_per_worker
					      : starpu_perf_counter_scope_per_codelet;
		int id = starpu_perf_counter_name_to_id(scope, names[i]);
		int is_time = strstr(names[i], "time") != NULL;

		CLAIM(id >= 0);
		CLAIM(!strcmp(starpu_perf_counter_id_to_name(id), names[i]));
		CLAIM_EQ(starpu_perf_counter_get_type_id(id),
			 is_time ? starpu_perf_counter_type_double
				 : starpu_perf_counter_type_int64);
		CLAIM(strlen(starpu_perf_counter_get_help_string(id)) > 0);
	}
	for (int scope = 2; scope <= 6; scope += 2) {
		const char *name = starpu_perf_counter_scope_id_to_name(
			(enum starpu_perf_counter_scope)scope);

		CLAIM_EQ(starpu_perf_counter_scope_name_to_id(name), scope);
		n += starpu_perf_counter_nb((enum starpu_perf_counter_scope)scope);
	}
	CLAIM_EQ(n, 11);
	CLAIM_EQ(starpu_perf_counter_type_name_to_id("int64"), 2);
	CLAIM(!strcmp(starpu_perf_counter_type_id_to_name(4), "double"));
	CLAIM_EQ(starpu_perf_counter_type_name_to_id("int128"), -1);
	CLAIM_EQ(starpu_perf_counter_scope_name_to_id("everywhere"), -1);
	CLAIM_EQ(starpu_perf_counter_name_to_id(starpu_perf_counter_scope_global, "x"),
		 -1);
	CLAIM_EQ(starpu_perf_counter_nth_to_id(starpu_perf_counter_scope_global, 4), -1);
	CLAIM(starpu_perf_counter_id_to_name(-1) == NULL);
	CLAIM_EQ(starpu_perf_counter_get_type_id(1 << 20), -1);
}

static void all_tasks_are_counted(void)
{
	struct ear ear;

	claim_start(2);
	open_ear(&ear, starpu_perf_counter_scope_global);
	starpu_perf_counter_set_global_listener(ear.listener);
	run_free();
	CLAIM_EQ(ear.ncalls, 0);
	starpu_perf_counter_collection_start();
	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_submitted"), NTASKS);
	CLAIM(heard_of_all(&ear, "starpu.task.g_peak_ready") >= NTASKS - 2);
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_executed"), NTASKS);
	CLAIM(heard_of_all(&ear, "starpu.task.g_peak_submitted") <= NTASKS);
	/* One call for each change: submitted, ready, executed; several may be one. */
	CLAIM(ear.ncalls > NTASKS && ear.ncalls <= 3 * NTASKS);
	starpu_perf_counter_collection_stop();
	run_free();
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_submitted"), NTASKS);
	starpu_perf_counter_collection_start();
	run_free();
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_submitted"), 2 * NTASKS);
	starpu_perf_counter_unset_global_listener();
	run_free();
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_submitted"), 2 * NTASKS);
	close_ear(&ear);
	starpu_shutdown();
}

static void workers_add_up(void)
{
	struct ear ears[STARPU_NMAXWORKERS];
	double executed = 0, us = 0;
	unsigned n;

	claim_start(2);
	n = starpu_worker_get_count();
	for (unsigned i = 0; i < n; i++) {
		open_ear(&ears[i], starpu_perf_counter_scope_per_worker);
		starpu_perf_counter_set_per_worker_listener(i, ears[i].listener);
	}
	starpu_perf_counter_collection_start();
	run_free();
	starpu_perf_counter_unset_all_per_worker_listeners();
	for (unsigned i = 0; i < n; i++) {
		executed += heard(&ears[i], starpu_perf_counter_scope_per_worker,
				  "starpu.task.w_total_executed");
		us += heard(&ears[i], starpu_perf_counter_scope_per_worker,
			    "starpu.task.w_cumul_execution_time");
		close_ear(&ears[i]);
	}
	CLAIM_EQ(executed, NTASKS);
	CLAIM(us >= 0.99 * NTASKS * KERNEL_US);
	starpu_shutdown();
}

static int nheard; /* of all workers; atomic */

static void count_calls(struct starpu_perf_counter_listener *listener,
			struct starpu_perf_counter_sample *sample, void *context)
{
	CLAIM(starpu_perf_counter_sample_get_int64_value(sample, *(int *)context) > 0);
	CLAIM(listener != NULL);
	__atomic_add_fetch(&nheard, 1, __ATOMIC_SEQ_CST);
}

static void one_listener_hears_all_workers(void)
{
	const enum starpu_perf_counter_scope scope = starpu_perf_counter_scope_per_worker;
	int id = starpu_perf_counter_name_to_id(scope, "starpu.task.w_total_executed");
	struct starpu_perf_counter_set *set = starpu_perf_counter_set_alloc(scope);
	struct starpu_perf_counter_listener *listener;
	int n;

	claim_start(2);
	starpu_perf_counter_set_enable_id(set, id);
	listener = starpu_perf_counter_listener_init(set, count_calls, &id);
	starpu_perf_counter_set_all_per_worker_listeners(listener);
	starpu_perf_counter_collection_start();
	nheard = 0;
	run_free();
	n = __atomic_load_n(&nheard, __ATOMIC_SEQ_CST);
	CLAIM(n >= NTASKS);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_perf_counter_unset_per_worker_listener(i);
	run_free();
	CLAIM_EQ(__atomic_load_n(&nheard, __ATOMIC_SEQ_CST), n);
	starpu_perf_counter_listener_exit(listener);
	starpu_perf_counter_set_free(set);
	starpu_shutdown();
}

/* What a call writes to stderr. */
static void said_by(void (*call)(void), char *text, size_t bytes)
{
	struct said said;

	said_begin(&said);
	call();
	snprintf(text, bytes, "%s", said_end(&said));
}

static void list_those_of_workers(void)
{
	starpu_perf_counter_list_avail(starpu_perf_counter_scope_per_worker);
}

static void counters_are_listed(void)
{
	char text[1 << 14];

	said_by(list_those_of_workers, text, sizeof(text));
	CLAIM(strstr(text, "starpu.task.w_total_executed") != NULL);
	CLAIM(strstr(text, "starpu.task.g_total_executed") == NULL);
	said_by(starpu_perf_counter_list_all_avail, text, sizeof(text));
	CLAIM(strstr(text, "starpu.task.w_total_executed") != NULL);
	CLAIM(strstr(text, "starpu.task.g_total_executed") != NULL);
	CLAIM(strstr(text, "starpu.task.c_total_executed") != NULL);
	said_by(starpu_perf_knob_list_all_avail, text, sizeof(text));
	CLAIM(strstr(text, "starpu.worker.w_enable_worker_knob") != NULL);
}

static void codelets_are_told_apart(void)
{
	struct ear ear, chain;

	claim_start(2);
	open_ear(&ear, starpu_perf_counter_scope_per_codelet);
	open_ear(&chain, starpu_perf_counter_scope_per_codelet);
	starpu_perf_counter_set_per_codelet_listener(&cl, ear.listener);
	starpu_perf_counter_set_per_codelet_listener(&chain_cl, chain.listener);
	starpu_perf_counter_collection_start();
	run_free();
	run_chain();
	starpu_perf_counter_unset_per_codelet_listener(&cl);
	starpu_perf_counter_unset_per_codelet_listener(&chain_cl);
	CLAIM_EQ(heard_of_codelet(&ear, "starpu.task.c_total_submitted"), NTASKS);
	CLAIM_EQ(heard_of_codelet(&chain, "starpu.task.c_total_submitted"), NTASKS);
	CLAIM_EQ(heard_of_codelet(&ear, "starpu.task.c_total_executed"), NTASKS);
	/* One may go while the others are submitted, before the pause. */
	CLAIM(heard_of_codelet(&chain, "starpu.task.c_peak_submitted") >= NTASKS - 3);
	CLAIM(heard_of_codelet(&chain, "starpu.task.c_peak_ready") >= 1);
	CLAIM(heard_of_codelet(&chain, "starpu.task.c_peak_ready") <= 2);
	CLAIM(heard_of_codelet(&chain, "starpu.task.c_cumul_execution_time") >=
	      0.99 * NTASKS * KERNEL_US);
	close_ear(&ear);
	close_ear(&chain);
	starpu_shutdown();
}

static int nleft;

/* Of the first tasks, each makes another one; the calls about them do not nest. */
static void submit_more(struct starpu_perf_counter_listener *listener,
			struct starpu_perf_counter_sample *sample, void *context)
{
	static int depth;

	(void)listener;
	(void)sample;
	(void)context;
	CLAIM_EQ(depth++, 0);
	if (nleft-- > 0)
		CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	depth--;
}

static void listeners_submit_tasks(void)
{
	struct ear ear;
	struct starpu_perf_counter_listener *listener;

	claim_start(2);
	open_ear(&ear, starpu_perf_counter_scope_per_codelet);
	listener = starpu_perf_counter_listener_init(ear.set, submit_more, NULL);
	starpu_perf_counter_set_per_codelet_listener(&cl, listener);
	starpu_perf_counter_listener_exit(listener);
	nleft = NTASKS;
	starpu_perf_counter_collection_start();
	CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	starpu_task_wait_for_all();
	starpu_perf_counter_set_per_codelet_listener(&cl, ear.listener);
	nleft = 0;
	CLAIM_EQ(starpu_task_insert(&cl, 0), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(heard_of_codelet(&ear, "starpu.task.c_total_executed"), NTASKS + 2);
	/* Still attached at the end. */
	close_ear(&ear);
	starpu_shutdown();
}

static void collection_starts_by_conf(void)
{
	struct starpu_conf conf;
	struct ear ear;

	starpu_conf_init(&conf);
	CLAIM_EQ(conf.start_perf_counter_collection, 0);
	conf.ncpus = 1;
	conf.start_perf_counter_collection = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
	run_free();
	open_ear(&ear, starpu_perf_counter_scope_global);
	starpu_perf_counter_set_global_listener(ear.listener);
	run_free();
	starpu_perf_counter_unset_global_listener();
	CLAIM_EQ(heard_of_all(&ear, "starpu.task.g_total_submitted"), 2 * NTASKS);
	close_ear(&ear);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"counters have names, numbers and types", names_and_numbers},
	{"tasks of a node are counted while that is wanted", all_tasks_are_counted},
	{"what workers execute adds up", workers_add_up},
	{"one listener hears all workers, until it is taken from each",
	 one_listener_hears_all_workers},
	{"counters and knobs are listed", counters_are_listed},
	{"codelets are counted apart", codelets_are_told_apart},
	{"a listener may submit tasks, and is not called while it is",
	 listeners_submit_tasks},
	{"counting may begin with the library", collection_starts_by_conf},
	{NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
