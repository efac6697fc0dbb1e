/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include <starpu_perf_monitoring.h>

#include "api/api.h"
#include "api/perf_table.h"
#include "base/check.h"
#include "core/counters.h"
#include "core/worker.h"

enum {
	GLOBAL = starpu_perf_counter_scope_global,
	PER_WORKER = starpu_perf_counter_scope_per_worker,
	PER_CODELET = starpu_perf_counter_scope_per_codelet
};

/* Values of a tally. */
enum value { TOTAL_SUBMITTED, PEAK_SUBMITTED, PEAK_READY, TOTAL_EXECUTED, EXECUTION_US };

static const char *const scopes[PERF_NSCOPES] = {
	[GLOBAL] = "global", [PER_WORKER] = "per_worker", [PER_CODELET] = "per_codelet"};

static const struct perf_entry entries[] = {
	{"starpu.task.g_total_submitted", "tasks submitted", GLOBAL, 0, 1,
	 TOTAL_SUBMITTED},
	{"starpu.task.g_peak_submitted",
	 "most tasks at a time that were submitted and waited for others", GLOBAL, 0, 1,
	 PEAK_SUBMITTED},
	{"starpu.task.g_peak_ready",
	 "most tasks at a time that were ready and had not begun", GLOBAL, 0, 1,
	 PEAK_READY},
	{"starpu.task.g_total_executed", "tasks executed", GLOBAL, 0, 1, TOTAL_EXECUTED},
	{"starpu.task.w_total_executed", "tasks that the worker executed", PER_WORKER, 0,
	 1, TOTAL_EXECUTED},
	{"starpu.task.w_cumul_execution_time",
	 "time of the worker in kernels, microseconds", PER_WORKER, 1, 0, EXECUTION_US},
	{"starpu.task.c_total_submitted", "tasks of the codelet submitted", PER_CODELET,
	 0, 1, TOTAL_SUBMITTED},
	{"starpu.task.c_peak_submitted",
	 "most tasks of the codelet at a time that waited for others", PER_CODELET, 0, 1,
	 PEAK_SUBMITTED},
	{"starpu.task.c_peak_ready",
	 "most tasks of the codelet at a time that were ready and had not begun",
	 PER_CODELET, 0, 1, PEAK_READY},
	{"starpu.task.c_total_executed", "tasks of the codelet executed", PER_CODELET, 0,
	 1, TOTAL_EXECUTED},
	{"starpu.task.c_cumul_execution_time",
	 "time in kernels of the codelet, microseconds", PER_CODELET, 1, 0, EXECUTION_US},
};

static const struct perf_table table = {.noun = "counter",
					.scopes = scopes,
					.entries = entries,
					.nentries = sizeof(entries) / sizeof(entries[0])};

/* ---- names ----------------------------------------------------------- */

int starpu_perf_counter_scope_name_to_id(const char *name)
{
	return perf_scope(&table, name);
}

const char *starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope)
{
	return perf_scope_name(&table, (int)scope);
}

int starpu_perf_counter_type_name_to_id(const char *name)
{
	return perf_type(name);
}

const char *starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type)
{
	return perf_type_name((int)type);
}

int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope)
{
	return perf_count(&table, (int)scope);
}

int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope, const char *name)
{
	return perf_named(&table, (int)scope, name);
}

int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope, int nth)
{
	return perf_nth(&table, (int)scope, nth);
}

const char *starpu_perf_counter_id_to_name(int id)
{
	const struct perf_entry *entry = perf_find(&table, id);

	return entry ? entry->name : NULL;
}

int starpu_perf_counter_get_type_id(int id)
{
	return perf_type_of(perf_find(&table, id));
}

const char *starpu_perf_counter_get_help_string(int id)
{
	const struct perf_entry *entry = perf_find(&table, id);

	return entry ? entry->help : NULL;
}

void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope)
{
	perf_list(&table, (int)scope);
}

void starpu_perf_counter_list_all_avail(void)
{
	perf_list_all(&table);
}

/* ---- sets ------------------------------------------------------------ */

struct starpu_perf_counter_set {
	int scope;
	unsigned enabled; /* a bit for each entry */
};

_Static_assert(sizeof(entries) / sizeof(entries[0]) <= 32, "a bit for each");

struct starpu_perf_counter_set *
starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope)
{
	struct starpu_perf_counter_set *set;

	if (!perf_scope_name(&table, (int)scope)) {
		orr_complain(api_rank(),
			     "%s: there is no scope %d; expected one of enum "
			     "starpu_perf_counter_scope",
			     __func__, (int)scope);
		return NULL;
	}
	set = orr_alloc(sizeof(*set));
	set->scope = (int)scope;
	return set;
}

void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set)
{
	free(set);
}

static unsigned bit(const struct perf_entry *entry)
{
	return 1u << (entry - entries);
}

void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set, int id)
{
	api_given(__func__, "set", set);
	set->enabled |= bit(perf_at(&table, __func__, id, set->scope));
}

void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set, int id)
{
	api_given(__func__, "set", set);
	set->enabled &= ~bit(perf_at(&table, __func__, id, set->scope));
}

/* ---- samples --------------------------------------------------------- */

struct starpu_perf_counter_sample {
	int scope;
	unsigned enabled;
	const struct tally *tally;
};

static const struct perf_entry *sampled(const struct starpu_perf_counter_sample *sample,
					const char *func, int id, int is_real)
{
	const struct perf_entry *entry;

	api_given(func, "sample", sample);
	entry = perf_at(&table, func, id, sample->scope);
	perf_check_kind(entry, func, is_real);
	if (!(sample->enabled & bit(entry)))
		orr_die(api_rank(),
			"%s: %s is not in the listener's set; enable it before "
			"starpu_perf_counter_listener_init()",
			func, entry->name);
	return entry;
}

static int64_t count_of(const struct starpu_perf_counter_sample *sample, const char *func,
			int id)
{
	const struct perf_entry *entry = sampled(sample, func, id, 0);

	switch (entry->what) {
	case TOTAL_SUBMITTED:
		return sample->tally->total_submitted;
	case PEAK_SUBMITTED:
		return sample->tally->peak_submitted;
	case PEAK_READY:
		return sample->tally->peak_ready;
	default:
		return sample->tally->total_executed;
	}
}

int32_t
starpu_perf_counter_sample_get_int32_value(struct starpu_perf_counter_sample *sample,
					   const int counter_id)
{
	int64_t value = count_of(sample, __func__, counter_id);

	return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

int64_t
starpu_perf_counter_sample_get_int64_value(struct starpu_perf_counter_sample *sample,
					   const int counter_id)
{
	return count_of(sample, __func__, counter_id);
}

float starpu_perf_counter_sample_get_float_value(
	struct starpu_perf_counter_sample *sample, const int counter_id)
{
	sampled(sample, __func__, counter_id, 1);
	return (float)sample->tally->execution_us;
}

double
starpu_perf_counter_sample_get_double_value(struct starpu_perf_counter_sample *sample,
					    const int counter_id)
{
	sampled(sample, __func__, counter_id, 1);
	return sample->tally->execution_us;
}

/* ---- listeners ------------------------------------------------------- */

struct starpu_perf_counter_listener {
	struct counters_listener base;
	struct starpu_perf_counter_set set;
	void (*callback)(struct starpu_perf_counter_listener *listener,
			 struct starpu_perf_counter_sample *sample, void *context);
	void *context;
};

static void heard(struct counters_listener *base, const struct tally *tally)
{
	struct starpu_perf_counter_listener *listener =
		ORR_CONTAINER(base, struct starpu_perf_counter_listener, base);
	struct starpu_perf_counter_sample sample = {.scope = listener->set.scope,
						    .enabled = listener->set.enabled,
						    .tally = tally};

	listener->callback(listener, &sample, listener->context);
}

static void free_listener(struct counters_listener *base)
{
	free(ORR_CONTAINER(base, struct starpu_perf_counter_listener, base));
}

struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
	struct starpu_perf_counter_set *set,
	void (*callback)(struct starpu_perf_counter_listener *listener,
			 struct starpu_perf_counter_sample *sample, void *context),
	void *user_arg)
{
	struct starpu_perf_counter_listener *listener = orr_alloc(sizeof(*listener));

	api_given(__func__, "set", set);
	if (!callback)
		orr_die(api_rank(), "%s: the callback is NULL; give a function",
			__func__);
	listener->base = (struct counters_listener){
		.heard = heard, .free = free_listener, .nusers = 1};
	listener->set = *set;
	listener->callback = callback;
	listener->context = user_arg;
	return listener;
}

void starpu_perf_counter_listener_exit(struct starpu_perf_counter_listener *listener)
{
	api_given(__func__, "listener", listener);
	counters_drop(&listener->base);
}

static struct counters_listener *checked(struct starpu_perf_counter_listener *listener,
					 const char *func, int scope)
{
	api_given(func, "listener", listener);
	if (listener->set.scope != scope)
		orr_die(api_rank(), "%s: the listener's set has scope %s, not %s", func,
			scopes[listener->set.scope], scopes[scope]);
	return &listener->base;
}

static const struct worker *worker_at(struct node *node, const char *func,
				      unsigned workerid)
{
	if (workerid >= (unsigned)node->nworkers)
		orr_die(node->rank, "%s: there is no worker %u; expected 0 to %d", func,
			workerid, node->nworkers - 1);
	return &node->workers[workerid];
}

static void listen_to_worker(const char *func, unsigned workerid,
			     struct counters_listener *listener)
{
	struct node *node = api_node(func);

	counters_listen(
		node,
		(struct counters_subject){.worker = worker_at(node, func, workerid)},
		listener);
}

static void listen_to_workers(const char *func, struct counters_listener *listener)
{
	unsigned n = (unsigned)api_node(func)->nworkers;

	for (unsigned i = 0; i < n; i++)
		listen_to_worker(func, i, listener);
}

static void listen_to_codelet(const char *func, const struct starpu_codelet *cl,
			      struct counters_listener *listener)
{
	api_given(func, "cl", cl);
	counters_listen(api_node(func), (struct counters_subject){.cl = cl}, listener);
}

void starpu_perf_counter_set_global_listener(
	struct starpu_perf_counter_listener *listener)
{
	counters_listen(api_node(__func__), (struct counters_subject){0},
			checked(listener, __func__, GLOBAL));
}

void starpu_perf_counter_set_per_worker_listener(
	unsigned workerid, struct starpu_perf_counter_listener *listener)
{
	listen_to_worker(__func__, workerid, checked(listener, __func__, PER_WORKER));
}

void starpu_perf_counter_set_all_per_worker_listeners(
	struct starpu_perf_counter_listener *listener)
{
	listen_to_workers(__func__, checked(listener, __func__, PER_WORKER));
}

void starpu_perf_counter_set_per_codelet_listener(
	struct starpu_codelet *cl, struct starpu_perf_counter_listener *listener)
{
	listen_to_codelet(__func__, cl, checked(listener, __func__, PER_CODELET));
}

void starpu_perf_counter_unset_global_listener(void)
{
	counters_listen(api_node(__func__), (struct counters_subject){0}, NULL);
}

void starpu_perf_counter_unset_per_worker_listener(unsigned workerid)
{
	listen_to_worker(__func__, workerid, NULL);
}

void starpu_perf_counter_unset_all_per_worker_listeners(void)
{
	listen_to_workers(__func__, NULL);
}

void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl)
{
	listen_to_codelet(__func__, cl, NULL);
}

/* ---- on and off ------------------------------------------------------ */

void starpu_perf_counter_collection_start(void)
{
	counters_start(api_node(__func__));
}

void starpu_perf_counter_collection_stop(void)
{
	counters_stop(api_node(__func__));
}
