/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Knobs: what can be changed while the program runs.
 *
 *   starpu.global.g_calibrate_knob           int32
 *      0, 1, 2 as STARPU_CALIBRATE: are durations of tasks measured from now on?
 *   starpu.global.g_enable_catch_signal_knob int32
 *      as STARPU_CATCH_SIGNALS: is a trace saved when a signal ends the process?
 *   starpu.worker.w_bind_to_pu_knob          int32
 *      the logical core of a CPU worker; -1 when workers are not bound, as in
 *      simulation, where setting it has no effect
 *   starpu.worker.w_enable_worker_knob       int32
 *      0: the worker takes no new tasks, and what is meant for it alone waits
 *   starpu.task.s_max_priority_cap_knob, starpu.task.s_min_priority_cap_knob
 *                                        int32  bounds of the priorities of tasks
 *                                               submitted from now on
 *   starpu.dmda.s_alpha_knob, s_beta_knob, s_gamma_knob, s_idle_power_knob
 *                                        double weights of dmda and its kind, as
 *                                               STARPU_SCHED_ALPHA, _BETA, _GAMMA (us/J)
 *                                               and STARPU_IDLE_POWER (W)
 *
 * Of a scheduler: named by its policy; all contexts with that policy are set, the first
 * one is read.  Integers are read and set as integers, reals as reals; what is wrong
 * (an unknown knob, one of another scope or kind) ends the program with a message; a
 * value or a policy that cannot be gets a message and changes nothing.  After
 * starpu_init(), any thread; names at any time.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_PERF_STEERING_H
#define STARPU_PERF_STEERING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_perf_knob_scope {
	starpu_perf_knob_scope_undefined = 0,
	starpu_perf_knob_scope_global = 1,
	starpu_perf_knob_scope_per_worker = 3,
	starpu_perf_knob_scope_per_scheduler = 5
};

enum starpu_perf_knob_type {
	starpu_perf_knob_type_undefined = 0,
	starpu_perf_knob_type_int32 = 1,
	starpu_perf_knob_type_int64 = 2,
	starpu_perf_knob_type_float = 3,
	starpu_perf_knob_type_double = 4
};

/** "global", "per_worker", "per_scheduler": enum starpu_perf_knob_scope; else -1. */
int starpu_perf_knob_scope_name_to_id(const char *name);
/** NULL for what is no scope. */
const char *starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope);
/** "int32", "int64", "float", "double": enum starpu_perf_knob_type; else -1. */
int starpu_perf_knob_type_name_to_id(const char *name);
/** NULL for what is no type. */
const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type);
/** How many knobs a scope has. */
int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope);
/** The knob of that name, or the nth from 0 on; -1: there is none. */
int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope, const char *name);
int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth);
/** NULL, -1 and NULL for what is no knob. */
const char *starpu_perf_knob_id_to_name(int id);
int starpu_perf_knob_get_type_id(int id);
const char *starpu_perf_knob_get_help_string(int id);
/** Write names, types and meanings to stderr. */
void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope);
void starpu_perf_knob_list_all_avail(void);

int32_t starpu_perf_knob_get_global_int32_value(const int knob_id);
int64_t starpu_perf_knob_get_global_int64_value(const int knob_id);
float starpu_perf_knob_get_global_float_value(const int knob_id);
double starpu_perf_knob_get_global_double_value(const int knob_id);
void starpu_perf_knob_set_global_int32_value(const int knob_id, int32_t new_value);
void starpu_perf_knob_set_global_int64_value(const int knob_id, int64_t new_value);
void starpu_perf_knob_set_global_float_value(const int knob_id, float new_value);
void starpu_perf_knob_set_global_double_value(const int knob_id, double new_value);

int32_t starpu_perf_knob_get_per_worker_int32_value(const int knob_id, unsigned workerid);
int64_t starpu_perf_knob_get_per_worker_int64_value(const int knob_id, unsigned workerid);
float starpu_perf_knob_get_per_worker_float_value(const int knob_id, unsigned workerid);
double starpu_perf_knob_get_per_worker_double_value(const int knob_id, unsigned workerid);
void starpu_perf_knob_set_per_worker_int32_value(const int knob_id, unsigned workerid,
						 int32_t new_value);
void starpu_perf_knob_set_per_worker_int64_value(const int knob_id, unsigned workerid,
						 int64_t new_value);
void starpu_perf_knob_set_per_worker_float_value(const int knob_id, unsigned workerid,
						 float new_value);
void starpu_perf_knob_set_per_worker_double_value(const int knob_id, unsigned workerid,
						  double new_value);

int32_t starpu_perf_knob_get_per_scheduler_int32_value(const int knob_id,
						       const char *sched_policy_name);
int64_t starpu_perf_knob_get_per_scheduler_int64_value(const int knob_id,
						       const char *sched_policy_name);
float starpu_perf_knob_get_per_scheduler_float_value(const int knob_id,
						     const char *sched_policy_name);
double starpu_perf_knob_get_per_scheduler_double_value(const int knob_id,
						       const char *sched_policy_name);
void starpu_perf_knob_set_per_scheduler_int32_value(const int knob_id,
						    const char *sched_policy_name,
						    int32_t new_value);
void starpu_perf_knob_set_per_scheduler_int64_value(const int knob_id,
						    const char *sched_policy_name,
						    int64_t new_value);
void starpu_perf_knob_set_per_scheduler_float_value(const int knob_id,
						    const char *sched_policy_name,
						    float new_value);
void starpu_perf_knob_set_per_scheduler_double_value(const int knob_id,
						     const char *sched_policy_name,
						     double new_value);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PERF_STEERING_H */
