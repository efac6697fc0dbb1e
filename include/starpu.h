/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Start and end of the library, and everything but the MPI layer. */

#ifndef STARPU_H
#define STARPU_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_thread.h>
#include <starpu_thread_util.h>
#include <starpu_util.h>
#include <starpu_data.h>
#include <starpu_helper.h>
#include <starpu_disk.h>
#include <starpu_data_interfaces.h>
#include <starpu_data_filters.h>
#include <starpu_stdlib.h>
#include <starpu_task_bundle.h>
#include <starpu_task_dep.h>
#include <starpu_worker.h>
#include <starpu_perfmodel.h>
#include <starpu_task.h>
#include <starpu_task_list.h>
#include <starpu_task_util.h>
#include <starpu_scheduler.h>
#include <starpu_sched_ctx.h>
#include <starpu_sched_ctx_hypervisor.h>
#include <starpu_expert.h>
#include <starpu_rand.h>
#include <starpu_cublas.h>
#include <starpu_cuda.h>
#include <starpu_cusparse.h>
#include <starpu_hip.h>
#include <starpu_hipblas.h>
#include <starpu_bound.h>
#include <starpu_hash.h>
#include <starpu_profiling.h>
#include <starpu_driver.h>
#include <starpu_fxt.h>
#include <starpu_tree.h>
#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>
#include <starpu_opencl.h>
#include <starpu_bitmap.h>
#include <starpu_parallel_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What to start.  starpu_conf_init fills it from the environment; after that,
 * the environment still wins over a field, unless the field
 * precedence_over_environment_variables is 1.  starpu_mpi_init_conf() sets will_use_mpi;
 * of disable_asynchronous_*copy, those of HIP, OpenCL, FPGA, MPI and TCP/IP are only
 * told. Without effect are all other fields of HIP, OpenCL, FPGA and TCP/IP, of OpenGL,
 * *_mpi_ms_deviceid, data_locality_enforce, trace_buffer_size, driver_spinning_backoff_*
 * and cuda_only_fast_alloc_other_memnodes.
 */
struct starpu_conf {
	int magic;
	int will_use_mpi;
	const char *sched_policy_name; /* NULL: the default */
	struct starpu_sched_policy *sched_policy;
	/* Kept: see starpu_sched_ctx_get_sched_policy_callback(). */
	void (*sched_policy_callback)(unsigned);
	int precedence_over_environment_variables;
	int ncpus;         /* workers of each type; -1: all there are */
	int reserve_ncpus; /* cores without worker; -1: none */
	int ncuda;
	int nhip;
	int nopencl;
	int nmax_fpga;
	int nmpi_ms;
	int ntcpip_ms;
	unsigned use_explicit_workers_bindid;
	unsigned workers_bindid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_cuda_gpuid;
	unsigned workers_cuda_gpuid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_hip_gpuid;
	unsigned workers_hip_gpuid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_opencl_gpuid;
	unsigned workers_opencl_gpuid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_max_fpga_deviceid;
	unsigned workers_max_fpga_deviceid[STARPU_NMAXWORKERS];
	void *max_fpga_load;
	unsigned use_explicit_workers_mpi_ms_deviceid;
	unsigned workers_mpi_ms_deviceid[STARPU_NMAXWORKERS];
	int bus_calibrate;
	int calibrate; /* 1: update models; 2: start them afresh */
	int data_locality_enforce;
	int single_combined_worker; /* one parallel task at a time */
	int disable_asynchronous_copy;
	int disable_asynchronous_cuda_copy;
	int disable_asynchronous_hip_copy;
	int disable_asynchronous_opencl_copy;
	int disable_asynchronous_mpi_ms_copy;
	int disable_asynchronous_tcpip_ms_copy;
	int disable_asynchronous_max_fpga_copy;
	int enable_map; /* see starpu_interface_map() */
	unsigned *cuda_opengl_interoperability;
	unsigned n_cuda_opengl_interoperability;
	struct starpu_driver *not_launched_drivers; /* see starpu_driver_run() */
	unsigned n_not_launched_drivers;
	uint64_t trace_buffer_size;        /* bytes */
	int global_sched_ctx_min_priority; /* -1: as the policy wants */
	int global_sched_ctx_max_priority; /* -1: as the policy wants */
#ifdef STARPU_WORKER_CALLBACKS
	/* As starpu_worker_set_going_to_sleep_callback() and its like set them. */
	void (*callback_worker_going_to_sleep)(unsigned workerid);
	void (*callback_worker_waking_up)(unsigned workerid);
#endif
	int catch_signals;
	unsigned start_perf_counter_collection;
	unsigned driver_spinning_backoff_min;
	unsigned driver_spinning_backoff_max;
	int cuda_only_fast_alloc_other_memnodes;
};

/** The thread keeps its core busy, so it must not share one. */
#define STARPU_THREAD_ACTIVE (1 << 0)

/** The release of StarPU whose interface the library follows, at run time. */
void starpu_get_version(int *major, int *minor, int *release);

/** Fill *conf with the defaults and the environment; 0, or -EINVAL for NULL. */
int starpu_conf_init(struct starpu_conf *conf);

/** Set all numbers of workers to 0, to ask for one kind only; 0, or -EINVAL for NULL. */
int starpu_conf_noworker(struct starpu_conf *conf);

/**
 * Start the workers; NULL takes the defaults.  Calls are counted: only the first
 * starts anything, and others wait for it.  A library that was shut down may be
 * started again.
 *
 * @return 0; -EINVAL: conf was not filled by starpu_conf_init; -ENODEV: there
 *         would be no worker
 */
int starpu_init(struct starpu_conf *conf) STARPU_WARN_UNUSED_RESULT;

/** The same; argc and argv are those of main, and may be NULL. */
int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv);

/** 1 between the start and the end of the library; any thread, any time. */
int starpu_is_initialized(void);

/** Wait until another thread has started the library. */
void starpu_wait_initialized(void);

/**
 * Undo one start; the last one waits for the tasks that are ready or running
 * and stops the workers.  Blocking; the library must not be paused.
 */
void starpu_shutdown(void);

/** Let workers take no new task until starpu_resume; calls are counted; any thread. */
void starpu_pause(void);

/** Undo one starpu_pause; any thread. */
void starpu_resume(void);

/** 1 while paused; any thread. */
int starpu_is_paused(void);

/*
 * Copies between memories in the background.  Each tells what the configuration asked
 * for, 1 when they are disabled; 0 without an initialised library.  In simulation copies
 * take their time in the background whatever is asked for.
 */

int starpu_asynchronous_copy_disabled(void);
int starpu_asynchronous_cuda_copy_disabled(void);
int starpu_asynchronous_hip_copy_disabled(void);
int starpu_asynchronous_opencl_copy_disabled(void);
int starpu_asynchronous_max_fpga_copy_disabled(void);
int starpu_asynchronous_mpi_ms_copy_disabled(void);
int starpu_asynchronous_tcpip_ms_copy_disabled(void);

/** The same for the memory nodes of a kind; 0 for main memory and disks. */
int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind);

/** Whether buffers may be mapped rather than copied: 1 with starpu_conf.enable_map or
 * STARPU_ENABLE_MAP=1. */
int starpu_map_enabled(void);

/** Print to stdout which core each worker is bound to, a line each; any thread, between
 * starpu_init() and starpu_shutdown().  STARPU_DISPLAY_BINDINGS=1 does so at init. */
void starpu_display_bindings(void);

/*
 * Cores for threads of the application.  In simulation they are numbers only.  These
 * need an initialised library.
 */

/**
 * A logical core for one more thread: preferred[0] when there is one, else a core without
 * a worker while there is one.  flags: 0 or STARPU_THREAD_ACTIVE.
 */
unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred);

/** Bind the calling thread to a logical core; name is for messages; 0, or -1: no such
 * core. */
int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name);

/** Bind the calling thread to the core of a worker, if workers are bound. */
void starpu_bind_thread_on_worker(unsigned workerid);

/** Bind the calling thread to the core that STARPU_MAIN_THREAD_BIND keeps free. */
void starpu_bind_thread_on_main(void);

/** Bind the calling thread to a logical core. */
void starpu_bind_thread_on_cpu(int cpuid);

/** How the system numbers a logical core, -1 when there is no such core; in simulation
 * the same number. */
int starpu_cpu_os_index(int cpuid);

/** Write now what starpu_shutdown() writes with STARPU_BUS_STATS=1 and
 * STARPU_WORKER_STATS=1: how many bytes went over each link, and how the workers spent
 * their time.  The counters begin again. */
void starpu_display_stats(void);

/** Print workers and memory nodes. */
void starpu_topology_print(FILE *f);

#ifdef __cplusplus
}
#endif

#include <starpu_deprecated_api.h>

#endif /* STARPU_H */
