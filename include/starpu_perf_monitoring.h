/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Counters of what happens to tasks, told to the application as they change.
 *
 * A set chooses counters of one scope; a listener has a set and a function; attached to
 * the node, to a worker or to a codelet, its function is called whenever one of their
 * counters may have changed, with a sample of their values.  Nothing is counted, and it
 * costs nothing, before starpu_perf_counter_collection_start() (or conf.
 * start_perf_counter_collection = 1); a later stop keeps the values.
 *
 * Each rank counts its own tasks, those of the library itself left out.  Counters:
 *   starpu.task.g_total_submitted    int64   tasks submitted
 *   starpu.task.g_peak_submitted     int64   most tasks at a time that waited for others
 *   starpu.task.g_peak_ready         int64   most tasks at a time that were ready and had
 *                                            not begun
 *   starpu.task.g_total_executed     int64   tasks executed
 *   starpu.task.w_total_executed     int64   the same of a worker
 *   starpu.task.w_cumul_execution_time double time in kernels, microseconds
 *   starpu.task.c_total_submitted, c_peak_submitted, c_peak_ready, c_total_executed,
 *   starpu.task.c_cumul_execution_time       the same of a codelet's tasks
 * Kernels are timed where profiling is on or their codelet has a model, and in
 * simulation; a peak counts tasks submitted since counting began.
 *
 * A listener's function is called by the thread that submits, pushes or executes a task:
 * it must not block.  It may submit tasks.  Calls about one node, worker or codelet never
 * overlap, but those about two may.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_PERF_MONITORING_H
#define STARPU_PERF_MONITORING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_perf_counter_scope {
	starpu_perf_counter_scope_undefined = 0,
	starpu_perf_counter_scope_global = 2,
	starpu_perf_counter_scope_per_worker = 4,
	starpu_perf_counter_scope_per_codelet = 6
};

enum starpu_perf_counter_type {
	starpu_perf_counter_type_undefined = 0,
	starpu_perf_counter_type_int32 = 1,
	starpu_perf_counter_type_int64 = 2,
	starpu_perf_counter_type_float = 3,
	starpu_perf_counter_type_double = 4
};

struct starpu_codelet;
struct starpu_perf_counter_listener;
struct starpu_perf_counter_sample;
struct starpu_perf_counter_set;

/** Count from now on, after what was counted before.  After starpu_init(); any thread. */
void starpu_perf_counter_collection_start(void);
/** Count no more; nothing is told any more. */
void starpu_perf_counter_collection_stop(void);

/* ---- what there is: any time, any thread ---- */

/** "global", "per_worker", "per_codelet": enum starpu_perf_counter_scope; else -1. */
int starpu_perf_counter_scope_name_to_id(const char *name);
/** NULL for what is no scope. */
const char *starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope);
/** "int32", "int64", "float", "double": enum starpu_perf_counter_type; else -1. */
int starpu_perf_counter_type_name_to_id(const char *name);
/** NULL for what is no type. */
const char *starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type);
/** How many counters a scope has. */
int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope);
/** The counter of that name, or the nth from 0 on; -1: there is none. */
int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope,
				   const char *name);
int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope, int nth);
/** NULL, -1 and NULL for what is no counter. */
const char *starpu_perf_counter_id_to_name(int id);
int starpu_perf_counter_get_type_id(int id);
const char *starpu_perf_counter_get_help_string(int id);
/** Write names, types and meanings to stderr. */
void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_list_all_avail(void);

/* ---- sets and listeners ---- */

/** An empty set for counters of a scope; the application frees it.  NULL, and a message,
 * for what is no scope. */
struct starpu_perf_counter_set *
starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set);
/** A counter of another scope ends the program. */
void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set, int id);
void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set, int id);

/** Takes the set as it is now.  context of the calls: user_arg; the sample lasts as long
 * as the call. */
struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
	struct starpu_perf_counter_set *set,
	void (*callback)(struct starpu_perf_counter_listener *listener,
			 struct starpu_perf_counter_sample *sample, void *context),
	void *user_arg);
/** The application needs it no more; where it is still attached, it is until the end. */
void starpu_perf_counter_listener_exit(struct starpu_perf_counter_listener *listener);

/** Attach, in place of what was attached before, after starpu_init().  A listener for
 * another scope ends the program.  It may be attached to several workers or codelets;
 * that of a codelet is told of tasks of this rank. */
void starpu_perf_counter_set_global_listener(
	struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_per_worker_listener(
	unsigned workerid, struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_all_per_worker_listeners(
	struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_per_codelet_listener(
	struct starpu_codelet *cl, struct starpu_perf_counter_listener *listener);
/** When they return, no call is under way but one that the caller itself is in. */
void starpu_perf_counter_unset_global_listener(void);
void starpu_perf_counter_unset_per_worker_listener(unsigned workerid);
void starpu_perf_counter_unset_all_per_worker_listeners(void);
void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl);

/** The value of a counter of the listener's set; another one ends the program.  An
 * integer is asked for as an integer (int32: at most INT32_MAX), a real as a real. */
int32_t
starpu_perf_counter_sample_get_int32_value(struct starpu_perf_counter_sample *sample,
					   const int counter_id);
int64_t
starpu_perf_counter_sample_get_int64_value(struct starpu_perf_counter_sample *sample,
					   const int counter_id);
float starpu_perf_counter_sample_get_float_value(
	struct starpu_perf_counter_sample *sample, const int counter_id);
double
starpu_perf_counter_sample_get_double_value(struct starpu_perf_counter_sample *sample,
					    const int counter_id);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PERF_MONITORING_H */
