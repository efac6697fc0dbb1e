/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TOOL_H
#define ORR_CORE_TOOL_H

/*
 * tool.h - functions of a tool that are called where something happens
 * (starpu_profiling_tool.h).
 *
 * The hooks of core/event.h call them, so that they cost nothing while there is no tool.
 * The table is the rank's and outlives its nodes: a tool registers before there is one.
 */
#include <starpu_profiling_tool.h>

#include "core/event.h"

enum { TOOL_NEVENTS = starpu_prof_tool_event_user_end + 1 };

struct job;
struct node;
struct worker;

struct tool {
	void *calls[TOOL_NEVENTS]; /* atomic starpu_prof_tool_cb_func */
	void *library;             /* that STARPU_PROF_TOOL names, or NULL */
};

/* cb NULL: nobody.  The calling rank's. */
void tool_register(struct tool *tool, enum starpu_prof_tool_event event, void *cb);
/* Does it hear what workers do? */
int tool_wants_work(const struct tool *tool);

/* Of the library itself; node: NULL before and after. */
void tool_tell(struct tool *tool, enum starpu_prof_tool_event event,
	       struct starpu_conf *conf);
/* The worker begins or ends; its own thread, where it has one. */
void tool_worker(struct worker *worker, enum starpu_prof_tool_event event);
/* All that it tells as it begins, at once. */
void tool_worker_begins(struct worker *worker);
/* The hook of tasks. */
void tool_task(struct job *job, enum event_kind kind);
/* The hook of copies. */
void tool_copy(struct node *node, const struct plat_copy *copy, enum event_kind kind);

#endif
