/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A profiling tool, for STARPU_PROF_TOOL or linked: it counts what it is told and says at
 * the end what it has counted, and what was out of order. */
#include <stdio.h>

#include <starpu_profiling_tool.h>

static int counts[starpu_prof_tool_event_user_end + 1], nwrong;
static long long bytes;

static void add(int *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
}

static void expect(int holds)
{
	if (!holds)
		add(&nwrong);
}

static void heard(struct starpu_prof_tool_info *info,
		  union starpu_prof_tool_event_info *event,
		  struct starpu_prof_tool_api_info *api)
{
	expect(info->event_type == event->event_type && api != NULL);
	expect(info->starpu_version[0] == STARPU_MAJOR_VERSION);
	add(&counts[info->event_type]);
}

static void begun(struct starpu_prof_tool_info *info,
		  union starpu_prof_tool_event_info *event,
		  struct starpu_prof_tool_api_info *api)
{
	expect(info->conf && info->conf->magic == 42 && info->worker_id == -1);
	expect(!starpu_is_initialized() ==
	       (info->event_type == starpu_prof_tool_event_init_begin));
	heard(info, event, api);
}

/* A real worker tells of itself. */
static void of_worker(struct starpu_prof_tool_info *info,
		      union starpu_prof_tool_event_info *event,
		      struct starpu_prof_tool_api_info *api)
{
	expect(info->worker_id >= 0 && info->device_number >= 0);
#ifndef STARPU_SIMGRID
	expect(info->thread_id == info->worker_id);
#endif
	heard(info, event, api);
}

static void of_kernel(struct starpu_prof_tool_info *info,
		      union starpu_prof_tool_event_info *event,
		      struct starpu_prof_tool_api_info *api)
{
	int is_cpu = info->driver_type == starpu_prof_tool_driver_cpu;

	expect(info->fun_ptr != NULL);
	expect(starpu_worker_get_type(info->worker_id) ==
	       (is_cpu ? STARPU_CPU_WORKER : STARPU_CUDA_WORKER));
	expect(info->memnode == starpu_worker_get_memory_node((unsigned)info->worker_id));
	of_worker(info, event, api);
}

static void of_transfer(struct starpu_prof_tool_info *info,
			union starpu_prof_tool_event_info *event,
			struct starpu_prof_tool_api_info *api)
{
	if (info->event_type == starpu_prof_tool_event_end_transfer) {
		expect(info->bytes_transfered == info->bytes_to_transfer);
		__atomic_add_fetch(&bytes, info->bytes_transfered, __ATOMIC_SEQ_CST);
	}
	heard(info, event, api);
}

static void ended(struct starpu_prof_tool_info *info,
		  union starpu_prof_tool_event_info *event,
		  struct starpu_prof_tool_api_info *api)
{
	heard(info, event, api);
	printf("tool: init %d %d %d, driver %d %d %d %d, cpu %d %d, gpu %d %d, "
	       "transfers %d %d of %lld bytes, %d wrong\n",
	       counts[starpu_prof_tool_event_init_begin],
	       counts[starpu_prof_tool_event_init],
	       counts[starpu_prof_tool_event_init_end],
	       counts[starpu_prof_tool_event_driver_init_start],
	       counts[starpu_prof_tool_event_driver_init_end],
	       counts[starpu_prof_tool_event_driver_init],
	       counts[starpu_prof_tool_event_driver_deinit],
	       counts[starpu_prof_tool_event_start_cpu_exec],
	       counts[starpu_prof_tool_event_end_cpu_exec],
	       counts[starpu_prof_tool_event_start_gpu_exec],
	       counts[starpu_prof_tool_event_end_gpu_exec],
	       counts[starpu_prof_tool_event_start_transfer],
	       counts[starpu_prof_tool_event_end_transfer], bytes, nwrong);
}

void starpu_prof_tool_library_register(starpu_prof_tool_entry_register_func reg,
				       starpu_prof_tool_entry_register_func unreg)
{
	static const struct {
		enum starpu_prof_tool_event event;
		starpu_prof_tool_cb_func call;
	} all[] = {{starpu_prof_tool_event_init_begin, begun},
		   {starpu_prof_tool_event_init, begun},
		   {starpu_prof_tool_event_init_end, begun},
		   {starpu_prof_tool_event_driver_init_start, of_worker},
		   {starpu_prof_tool_event_driver_init_end, of_worker},
		   {starpu_prof_tool_event_driver_init, of_worker},
		   {starpu_prof_tool_event_driver_deinit, of_worker},
		   {starpu_prof_tool_event_start_cpu_exec, of_kernel},
		   {starpu_prof_tool_event_end_cpu_exec, of_kernel},
		   {starpu_prof_tool_event_start_gpu_exec, of_kernel},
		   {starpu_prof_tool_event_end_gpu_exec, of_kernel},
		   {starpu_prof_tool_event_start_transfer, of_transfer},
		   {starpu_prof_tool_event_end_transfer, of_transfer},
		   {starpu_prof_tool_event_terminate, ended}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		reg(all[i].event, all[i].call, starpu_prof_tool_command_reg);
	/* Another one is told of that no longer; said, and nothing happens. */
	reg(starpu_prof_tool_event_user_start, heard, starpu_prof_tool_command_reg);
	unreg(starpu_prof_tool_event_user_start, heard, starpu_prof_tool_command_reg);
	reg(starpu_prof_tool_event_init, ended, starpu_prof_tool_command_toggle);
}
