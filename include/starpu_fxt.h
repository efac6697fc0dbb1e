/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Traces of events, which a run with "orrery run --trace DIRECTORY", or ORRERY_EVENTS,
 * records; see doc/traces.md.  The functions may be called from any thread at any time.
 * Without a trace, and while the library is not initialised, they have no effect but for
 * starpu_fxt_autostart_profiling().
 */

#ifndef STARPU_FXT_H
#define STARPU_FXT_H

#include <starpu_config.h>
#include <starpu_perfmodel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Record from starpu_init() on (1), or from starpu_fxt_start_profiling() on (0). */
void starpu_fxt_autostart_profiling(int autostart);

/** Record from now on. */
void starpu_fxt_start_profiling(void);

/** Record no longer. */
void starpu_fxt_stop_profiling(void);

/** Whether this run has a trace: 1 or 0. */
int starpu_fxt_is_enabled(void);

/** Record an event of the application's, with its number. */
void starpu_fxt_trace_user_event(unsigned long code);

/** Record a text of the application's; the first 255 bytes are kept. */
void starpu_fxt_trace_user_event_string(const char *s);

/** Record a text about the run. */
void starpu_fxt_trace_user_meta_string(const char *s);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_FXT_H */
