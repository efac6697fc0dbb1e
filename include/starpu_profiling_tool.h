/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Tools that are called while a program runs: a library that STARPU_PROF_TOOL names, or
 * that is linked or preloaded, exports starpu_prof_tool_library_register().  It is called
 * when the library is initialised, and registers a function for each event that the tool
 * wants to hear.
 *
 * In the order in which they come:
 *
 *   init_begin
 *      starpu_init() begins; conf is what it was given
 *   driver_init_start, driver_init_end
 *      a worker's thread begins and is bound to its core; it calls the tool itself,
 *      but in simulation, where it has none, the program's main does.  Of workers that
 *      the application runs (starpu_driver_run()) there are no such events
 *   driver_init
 *      the worker begins to take tasks
 *   init, init_end
 *      the library can be used; starpu_init() returns
 *   start_cpu_exec, end_cpu_exec
 *      the kernel of a task is called on a core, has returned
 *   start_gpu_exec, end_gpu_exec
 *      it is queued on a GPU, has ended there
 *   start_transfer, end_transfer
 *      a value is copied from a memory to another
 *   driver_deinit
 *      a worker takes no more tasks
 *   terminate
 *      starpu_shutdown() ends; nothing is called any more
 *
 * user_start and user_end are the application's: the library never calls them.
 *
 * Functions are called at the moment and by the thread of the event; what they last is
 * the program's time.  They may be called by several threads at once.  Those of transfers
 * are called with the datum locked: they may ask for the time and for the calling worker,
 * and nothing else of this interface.
 */

#ifndef STARPU_PROFILING_TOOL_H
#define STARPU_PROFILING_TOOL_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_prof_tool_event {
	starpu_prof_tool_event_none = 0,
	starpu_prof_tool_event_init,
	starpu_prof_tool_event_terminate,
	starpu_prof_tool_event_init_begin,
	starpu_prof_tool_event_init_end,
	starpu_prof_tool_event_driver_init,
	starpu_prof_tool_event_driver_deinit,
	starpu_prof_tool_event_driver_init_start,
	starpu_prof_tool_event_driver_init_end,
	starpu_prof_tool_event_start_cpu_exec,
	starpu_prof_tool_event_end_cpu_exec,
	starpu_prof_tool_event_start_gpu_exec,
	starpu_prof_tool_event_end_gpu_exec,
	starpu_prof_tool_event_start_transfer,
	starpu_prof_tool_event_end_transfer,
	starpu_prof_tool_event_user_start,
	starpu_prof_tool_event_user_end
};

enum starpu_prof_tool_driver_type {
	starpu_prof_tool_driver_cpu,
	starpu_prof_tool_driver_gpu,
	starpu_prof_tool_driver_hip,
	starpu_prof_tool_driver_ocl
};

/** What to do with a function: only reg is known. */
enum starpu_prof_tool_command {
	starpu_prof_tool_command_reg = 0,
	starpu_prof_tool_command_toggle = 1,
	starpu_prof_tool_command_toggle_per_thread = 2
};

/** What has happened; valid during the call. */
struct starpu_prof_tool_info {
	/** What starpu_init() was given, in events of init; else NULL. */
	struct starpu_conf *conf;
	enum starpu_prof_tool_event event_type;
	/** Major, minor, release. */
	unsigned int starpu_version[3];
	/** The worker whose thread calls, -1: another thread. */
	int thread_id;
	/** The worker that it is about, and its device; -1: none. */
	int worker_id;
	int device_number;
	enum starpu_prof_tool_driver_type driver_type;
	/** The worker's memory; of a transfer, that to which it goes. */
	unsigned memnode;
	/** Of a transfer, bytes that are to move, and at its end that have moved; at most
	 * UINT_MAX. */
	unsigned bytes_to_transfer;
	unsigned bytes_transfered;
	/** The kernel of the task. */
	void *fun_ptr;
};

union starpu_prof_tool_event_info {
	enum starpu_prof_tool_event event_type;
};

/** Nothing so far; given so that more can come. */
struct starpu_prof_tool_api_info {
	char unused;
};

/** A function of the tool's. */
typedef void (*starpu_prof_tool_cb_func)(struct starpu_prof_tool_info *info,
					 union starpu_prof_tool_event_info *event_info,
					 struct starpu_prof_tool_api_info *api_info);

/**
 * Call cb at each event of this type from now on, rather than another one; or, given as
 * unreg, no longer.  Any thread of a rank, while the library is initialised or begins to
 * be.  A command other than starpu_prof_tool_command_reg has a message and no effect.
 */
typedef void (*starpu_prof_tool_entry_register_func)(
	enum starpu_prof_tool_event event_type, starpu_prof_tool_cb_func cb,
	enum starpu_prof_tool_command command);

/** The type of starpu_prof_tool_library_register(). */
typedef void (*starpu_prof_tool_entry_func)(starpu_prof_tool_entry_register_func reg,
					    starpu_prof_tool_entry_register_func unreg);

/** The tool's: called as starpu_init() begins, on each rank.  The library has one that
 * does nothing, for programs without a tool. */
void starpu_prof_tool_library_register(starpu_prof_tool_entry_register_func reg,
				       starpu_prof_tool_entry_register_func unreg);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PROFILING_TOOL_H */
