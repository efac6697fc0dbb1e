/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/breaks.h"

#include <signal.h>

#include "core/task/job.h"

static void stop_at(const struct job *job, long wanted)
{
	if (wanted >= 0 && job->id == (uint64_t)wanted)
		raise(SIGTRAP);
}

void breaks_open(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);

	if (knobs->break_on_push >= 0 || knobs->break_on_pop >= 0 ||
	    knobs->break_on_exec >= 0)
		events_use(&node->events, EVENT_BREAKS, 1);
}

void breaks_at(const struct job *job, enum event_kind kind)
{
	const struct knobs *knobs = node_knobs(job->node);

	if (kind == EVENT_TASK_PUSHED)
		stop_at(job, knobs->break_on_push);
	else if (kind == EVENT_TASK_TAKEN)
		stop_at(job, knobs->break_on_pop);
	else if (kind == EVENT_TASK_STARTED)
		stop_at(job, knobs->break_on_exec);
}

void breaks_at_decision(const struct job *job)
{
	stop_at(job, node_knobs(job->node)->break_on_sched);
}
