/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/tool.h"

#include <limits.h>
#include <stdint.h>

#include "core/lasting.h"
#include "core/outside.h"
#include "core/worker.h"

void tool_register(struct tool *tool, enum starpu_prof_tool_event event, void *cb)
{
	orr_swap_ptr(&tool->calls[event], cb);
}

int tool_wants_work(const struct tool *tool)
{
	for (int i = starpu_prof_tool_event_start_cpu_exec;
	     i <= starpu_prof_tool_event_end_transfer; i++)
		if (orr_load_ptr((void **)&tool->calls[i]))
			return 1;
	return 0;
}

static void call(struct tool *tool, struct starpu_prof_tool_info *info)
{
	starpu_prof_tool_cb_func cb = (starpu_prof_tool_cb_func)(uintptr_t)orr_load_ptr(
		&tool->calls[info->event_type]);
	union starpu_prof_tool_event_info event = {.event_type = info->event_type};
	struct starpu_prof_tool_api_info api = {0};
	OUTSIDE(outside);

	info->starpu_version[0] = STARPU_MAJOR_VERSION;
	info->starpu_version[1] = STARPU_MINOR_VERSION;
	info->starpu_version[2] = STARPU_RELEASE_VERSION;
	if (!cb)
		return;
	outside_enter(&outside, plat_self(), "a function of a profiling tool");
	cb(info, &event, &api);
	outside_end(&outside);
}

void tool_tell(struct tool *tool, enum starpu_prof_tool_event event,
	       struct starpu_conf *conf)
{
	struct starpu_prof_tool_info info = {.conf = conf,
					     .event_type = event,
					     .thread_id = -1,
					     .worker_id = -1,
					     .device_number = -1};

	call(tool, &info);
}

/* About a worker, or NULL. */
static struct starpu_prof_tool_info
info_of(struct node *node, const struct worker *worker, enum starpu_prof_tool_event event)
{
	const struct worker *caller = plat_current_worker(node->plat);
	struct starpu_prof_tool_info info = {.event_type = event,
					     .thread_id = caller ? caller->id : -1,
					     .worker_id = worker ? worker->id : -1,
					     .device_number =
						     worker ? worker->devid : -1};

	if (!worker)
		return info;
	info.memnode = worker->memory;
	if (worker->type != STARPU_CPU_WORKER)
		info.driver_type = starpu_prof_tool_driver_gpu;
	return info;
}

void tool_worker(struct worker *worker, enum starpu_prof_tool_event event)
{
	struct tool *tool = &worker->node->lasting->tool;
	struct starpu_prof_tool_info info;

	if (!orr_load_ptr(&tool->calls[event]))
		return;
	info = info_of(worker->node, worker, event);
	call(tool, &info);
}

void tool_worker_begins(struct worker *worker)
{
	tool_worker(worker, starpu_prof_tool_event_driver_init_start);
	tool_worker(worker, starpu_prof_tool_event_driver_init_end);
	tool_worker(worker, starpu_prof_tool_event_driver_init);
}

void tool_task(struct job *job, enum event_kind kind)
{
	const struct worker *worker = job->worker;
	struct starpu_prof_tool_info info;
	enum starpu_prof_tool_event event;

	if (kind != EVENT_TASK_STARTED && kind != EVENT_TASK_ENDED)
		return;
	if (worker->type == STARPU_CPU_WORKER)
		event = kind == EVENT_TASK_STARTED ? starpu_prof_tool_event_start_cpu_exec
						   : starpu_prof_tool_event_end_cpu_exec;
	else
		event = kind == EVENT_TASK_STARTED ? starpu_prof_tool_event_start_gpu_exec
						   : starpu_prof_tool_event_end_gpu_exec;
	info = info_of(job->node, worker, event);
	info.fun_ptr = (void *)(uintptr_t)worker_kernel(worker, job);
	call(&job->node->lasting->tool, &info);
}

void tool_copy(struct node *node, const struct plat_copy *copy, enum event_kind kind)
{
	int ends = kind == EVENT_COPY_ENDS;
	struct starpu_prof_tool_info info =
		info_of(node, NULL,
			ends ? starpu_prof_tool_event_end_transfer
			     : starpu_prof_tool_event_start_transfer);

	info.memnode = (unsigned)copy->to;
	info.bytes_to_transfer =
		copy->bytes < UINT_MAX ? (unsigned)copy->bytes : UINT_MAX;
	if (ends && !copy->error)
		info.bytes_transfered = info.bytes_to_transfer;
	call(&node->lasting->tool, &info);
}
