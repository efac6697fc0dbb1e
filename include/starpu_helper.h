/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Readers of the environment, which any thread may call at any time; copies of data. */

#ifndef STARPU_HELPER_H
#define STARPU_HELPER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdint.h>
#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Value of variable str, NULL when unset; belongs to the environment. */
char *starpu_getenv(const char *str);

/**
 * Index in strings, an array ended by NULL, of the value of variable str;
 * defvalue when it is unset.  Another value gives a message and defvalue.
 */
int starpu_get_env_string_var_default(const char *str, const char *strings[],
				      int defvalue);

/**
 * Bytes given by variable str, a number with an optional suffix b, k, m, g, kb, mb or gb
 * (powers of 1024; k when missing) and spaces around them; defval when it is unset or
 * empty.  Any other suffix, and a size that int does not hold, end the process.
 */
int starpu_get_env_size_default(const char *str, int defval);

/** Non-negative value of variable str, 0 when empty; defval when unset; ends the process
 * otherwise. */
static __starpu_inline int starpu_get_env_number_default(const char *str, int defval)
{
	const char *text = starpu_getenv(str);
	char *end;
	long val;

	if (!text)
		return defval;
	val = strtol(text, &end, 10);
	STARPU_ASSERT_MSG(*end == '\0', "%s is \"%s\": an integer was expected", str,
			  text);
	STARPU_ASSERT_MSG(val >= 0, "%s is \"%s\": a non-negative number was expected",
			  str, text);
	return (int)val;
}

/** The same with -1 when it is unset. */
static __starpu_inline int starpu_get_env_number(const char *str)
{
	return starpu_get_env_number_default(str, -1);
}

/** Value of variable str, 0 when empty; defval when unset; ends the process when it is no
 * number. */
static __starpu_inline float starpu_get_env_float_default(const char *str, float defval)
{
	const char *text = starpu_getenv(str);
	char *end;
	double val;

	if (!text)
		return defval;
	val = strtod(text, &end);
	STARPU_ASSERT_MSG(*end == '\0', "%s is \"%s\": a number was expected", str, text);
	return (float)val;
}

#define starpu_getenv_string_var_default(s, ss, d)                                       \
	starpu_get_env_string_var_default(s, ss, d)
#define starpu_getenv_size_default(s, d)   starpu_get_env_size_default(s, d)
#define starpu_getenv_number(s)            starpu_get_env_number(s)
#define starpu_getenv_number_default(s, d) starpu_get_env_number_default(s, d)
#define starpu_getenv_float_default(s, d)  starpu_get_env_float_default(s, d)

/**
 * Submit a task that copies src_handle to dst_handle, of the same interface and shape,
 * in its turn among the tasks on both.  With the same handle twice there is nothing to
 * copy, and the callback is called at once.
 *
 * @param asynchronous   0: wait for the end; then not from tasks and callbacks
 * @param callback_func  called with callback_arg after the copy; may be NULL
 * @return 0; -ENODEV: no worker can execute it
 */
int starpu_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
		    int asynchronous, void (*callback_func)(void *), void *callback_arg);

/** The same with a priority for the task. */
int starpu_data_cpy_priority(starpu_data_handle_t dst_handle,
			     starpu_data_handle_t src_handle, int asynchronous,
			     void (*callback_func)(void *), void *callback_arg,
			     int priority);

/**
 * Give a handle with the value that src_handle has after the tasks submitted so far, for
 * reading only: writing to it ends the process.  Calls without a write to src_handle
 * between them share one duplicate.  Each result is unregistered as often as it was
 * given.
 *
 * @param asynchronous  0: wait for the copy; then not from tasks and callbacks
 * @return 0; -ENODEV: no worker can make the copy
 */
int starpu_data_dup_ro(starpu_data_handle_t *dst_handle, starpu_data_handle_t src_handle,
		       int asynchronous);

/**
 * Call func(arg) once on each worker whose kind is in where (STARPU_CPU | STARPU_CUDA),
 * as a task of its own; returns when all calls have ended.  Application's threads.  In
 * simulation the calls are made and take no time.
 */
void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where);

/** The same; name is shown for the tasks. */
void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where,
				      const char *name);

/** The same on num_workers workers, by their numbers, once each. */
void starpu_execute_on_specific_workers(void (*func)(void *), void *arg,
					unsigned num_workers, unsigned *workers,
					const char *name);

/** The same as starpu_cpu_os_index(). */
int starpu_get_pu_os_index(unsigned logical_index);
/**
 * The NUMA nodes that the bytes from ptr on lie on, a bit each by hwloc's logical number;
 * pages that nobody has touched lie nowhere.  -1: unknown, as in simulation.
 */
long starpu_get_memory_location_bitmap(void *ptr, size_t size);

#ifdef STARPU_HAVE_HWLOC
/** A copy of the topology that the library uses, for hwloc_topology_destroy(); between
 * starpu_init() and starpu_shutdown(). */
hwloc_topology_t starpu_get_hwloc_topology(void);
#endif

#ifdef __cplusplus
}
#endif

#endif /* STARPU_HELPER_H */
