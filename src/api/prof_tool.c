/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/prof_tool.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include <starpu_profiling_tool.h>

#include "api/api.h"
#include "base/check.h"
#include "core/lasting.h"
#include "core/tool.h"

static const char entry_name[] = "starpu_prof_tool_library_register";

/* What a linked or a preloaded tool puts its own in place of. */
__attribute__((weak)) void
starpu_prof_tool_library_register(starpu_prof_tool_entry_register_func reg,
				  starpu_prof_tool_entry_register_func unreg)
{
	(void)reg;
	(void)unreg;
}

static void set(enum starpu_prof_tool_event event, starpu_prof_tool_cb_func cb,
		enum starpu_prof_tool_command command)
{
	struct tool *tool = &lasting_get()->tool;
	struct node *node = plat_self();

	if (event <= starpu_prof_tool_event_none || (int)event >= TOOL_NEVENTS ||
	    command != starpu_prof_tool_command_reg) {
		orr_complain(api_rank(),
			     "profiling tool: event %d and command %d cannot be "
			     "registered; expected events %d to %d and command %d "
			     "(starpu_prof_tool_command_reg); nothing is changed",
			     (int)event, (int)command, starpu_prof_tool_event_init,
			     starpu_prof_tool_event_user_end,
			     starpu_prof_tool_command_reg);
		return;
	}
	tool_register(tool, event, (void *)(uintptr_t)cb);
	if (node)
		events_use(&node->events, EVENT_CALLS, tool_wants_work(tool));
}

static void unset(enum starpu_prof_tool_event event, starpu_prof_tool_cb_func cb,
		  enum starpu_prof_tool_command command)
{
	(void)cb;
	set(event, NULL, command);
}

static void load(struct tool *tool, const char *path)
{
	starpu_prof_tool_entry_func entry;

	tool->library = dlopen(path, RTLD_NOW);
	if (!tool->library) {
		orr_complain(ORR_NO_RANK,
			     "STARPU_PROF_TOOL: %s; expected a library of a profiling "
			     "tool; going on without it",
			     dlerror());
		return;
	}
	entry = (starpu_prof_tool_entry_func)(uintptr_t)dlsym(tool->library, entry_name);
	if (entry)
		entry(set, unset);
	else
		orr_complain(ORR_NO_RANK,
			     "STARPU_PROF_TOOL: library \"%s\" does not export %s(), so "
			     "it is told of nothing",
			     path, entry_name);
}

/* The first of the program's libraries that has one, at the latest ours. */
static void call_linked(void)
{
	starpu_prof_tool_entry_func entry =
		(starpu_prof_tool_entry_func)(uintptr_t)dlsym(RTLD_DEFAULT, entry_name);

	if (!entry)
		entry = starpu_prof_tool_library_register;
	entry(set, unset);
}

void prof_tool_begin(struct starpu_conf *conf)
{
	struct tool *tool = &lasting_get()->tool;
	struct knobs knobs;

	knobs_read(&knobs);
	if (*knobs.prof_tool)
		load(tool, knobs.prof_tool);
	else
		call_linked();
	knobs_free(&knobs);
	tool_tell(tool, starpu_prof_tool_event_init_begin, conf);
}

void prof_tool_begun(struct node *node, struct starpu_conf *conf)
{
	struct tool *tool = &node->lasting->tool;

	if (tool_wants_work(tool))
		events_use(&node->events, EVENT_CALLS, 1);
	tool_tell(tool, starpu_prof_tool_event_init, conf);
	tool_tell(tool, starpu_prof_tool_event_init_end, conf);
}

void prof_tool_end(void)
{
	struct tool *tool = &lasting_get()->tool;

	tool_tell(tool, starpu_prof_tool_event_terminate, NULL);
	for (int i = 0; i < TOOL_NEVENTS; i++)
		tool_register(tool, (enum starpu_prof_tool_event)i, NULL);
	if (tool->library)
		dlclose(tool->library);
	tool->library = NULL;
}
