/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_KNOBS_H
#define ORR_BASE_KNOBS_H

/*
 * knobs.h - every environment variable that the library reads, in one table.
 *
 * The environment is read at each initialisation, never later, so programs may
 * setenv() between two lives of the runtime.  doc/knobs.md is printed from the
 * table by knobs_print_manual().
 */
#include <stdio.h>

/* As many as STARPU_MAXCUDADEVS, as STARPU_MAXNUMANODES. */
enum { KNOBS_CUDA_DEVICES = 16, KNOBS_NUMA_NODES = 8 };

/* STARPU_DISABLE_ASYNCHRONOUS_*COPY; -1: unset. */
struct knobs_copies {
	int all, cuda, hip, opencl, max_fpga, mpi_ms, tcpip_ms;
};

/* Texts are owned and never NULL; knobs_free() gives them back. */
struct knobs {
	/* Workers. */
	int nmpi_ms, nmpi_ms_threads, mpi_ms_pipeline, mpi_master_node;
	int ncpu, reserve_ncpu, ncuda, workers_nobind, workers_getbind;
	int display_bindings, use_numa;
	int main_thread_bind, main_thread_cpuid, main_thread_coreid;
	int nthreads_per_core, cuda_pipeline, local_size, local_rank;
	int mpi_gpudirect, cuda_direct, cuda_workers, cuda_thread_per_worker,
		cuda_thread_per_dev, disable_pinning;
	char *workers_cpuid, *workers_coreid, *workers_cudaid, *cuda_library;
	char *hwloc_input, *powercap;
	/* Scheduling. */
	char *sched, *sched_lib, *prof_tool;
	int catch_signals; /* -1: unset */
	int heteroprio_auto, heteroprio_locality, graph_test_descendants;
	int combined_arity, min_workersize, max_workersize, single_combined;
	int min_prio, max_prio, calibrate, calibrate_minimum, history_max_error;
	int limit_min_submitted, limit_max_submitted, prefetch;
	int starpu_stealing;
	double sched_alpha, sched_beta, sched_gamma, idle_power;
	double exp_len_threshold;
	int ntasks_threshold, sched_sorted_above, sched_sorted_below, sched_ready;
	/* Performance models. */
	char *perf_model_dir, *perf_model_path;
	char *starpu_home, *xdg_cache_home;
	char *home, *hostname;
	char *mpi_hostnames;
	int homogeneous_cpu, homogeneous_cuda, homogeneous_mpi_ms;
	/* Simulation. */
	int simgrid, execute, progress, real_threads, limit_cuda_mem_mib,
		limit_cpu_mem_mib;
	int limit_one_cuda_mem_mib[KNOBS_CUDA_DEVICES];
	int limit_numa_mem_mib, limit_one_numa_mem_mib[KNOBS_NUMA_NODES];
	int transfer_cost, submit_cost, push_cost, sched_cost;
	int cuda_malloc_cost, cuda_queue_cost, fetch_cost, limit_bandwidth, noise_seed;
	double submit_s, datum_s, insert_s, post_s, push_s, clock_s, quantum_s;
	double exchange_s, lone_copy;
	double wake_s, main_wake_s, look_s, switch_s, page_s;
	double cuda_malloc_s, pin_s, cuda_queue_s, fetch_s, noise;
	double disk_bytes_per_s, disk_latency_s;
	char *transport, *ucx_library, *trace, *summary, *events;
	char *user, *fxt_prefix, *fxt_suffix, *generate_trace_options;
	int fxt_trace, generate_trace;
	char *disk_swap, *disk_swap_backend;
	int disk_swap_mib;
	/* Memory. */
	int minimum_available, target_available, memory_stats, fold_mib, enable_map;
	/* Behaviour. */
	int disable_kernels, silent, profiling, codelet_profiling, energy_profiling;
	int bus_calibrate, bus_stats, worker_stats;
	char *bus_stats_file, *worker_stats_file;
	struct knobs_copies disabled_copies;
	/* MPI. */
	int mpi_cache, mpi_cache_stats, mpi_stats, comm_stats_old, mpi_priorities;
	int mpi_ndetached_send, mpi_redux_threshold, mpi_fake_size, mpi_fake_rank,
		mpi_coop_sends;
	int mpi_thread_cpuid, mpi_thread_coreid, mpi_nobind;
	int mpi_compare;
	int mpi_driver_call_frequency, mpi_driver_task_frequency, mpi_explicit;
	long mpi_eager_bytes, mpi_early_bytes, mpi_window_bytes, mpi_coop_bytes,
		mpi_put_bytes, mpi_beside_bytes, mpi_piece_bytes, mpi_packet_bytes;
	char *mpi_comm, *mpi_lb, *mpi_lose;
	int lb_sleep_threshold, lb_time_threshold_us;
	double lb_wakeup_ratio;
	int mpi_window, mpi_direct;
	double progress_period_s;
	long break_on_push, break_on_sched, break_on_pop, break_on_exec;
	double watchdog_s, task_watchdog_us, task_watchdog_delay_us;
	int task_watchdog_crash;
};

/* Fill from the environment.  A bad number ends the program with a message that
 * names the variable, as StarPU does; a value out of range is clamped. */
void knobs_read(struct knobs *knobs);
/* A message for each value of the environment that was clamped. */
void knobs_complain(void);
void knobs_free(struct knobs *knobs);

/* Do both have the same values? */
int knobs_same(const struct knobs *a, const struct knobs *b);

/* The name of knob i of the table, NULL behind the last. */
const char *knobs_name(int i);

/* The raw text of any variable, or NULL; for starpu_getenv(), and to tell it. */
const char *knobs_raw(const char *name);

/* The manual of all knobs, as a Markdown table. */
void knobs_print_manual(FILE *out);

#endif
