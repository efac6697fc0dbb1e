/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE /* environ */
#include "base/knobs.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/decimal.h"

enum knob_kind { KNOB_INT, KNOB_LONG, KNOB_DOUBLE, KNOB_TEXT };

struct knob {
	const char *name, *unit, *doc;
	enum knob_kind kind;
	size_t at;
	double preset, min, max;
};

#define AT(field) offsetof(struct knobs, field)
#define NUMBER(name, unit, field, preset, min, max, doc)                                 \
	{                                                                                \
		name, unit, doc, KNOB_INT, AT(field), preset, min, max                   \
	}
#define REAL(name, unit, field, preset, min, max, doc)                                   \
	{                                                                                \
		name, unit, doc, KNOB_DOUBLE, AT(field), preset, min, max                \
	}
#define TEXT(name, field, doc)                                                           \
	{                                                                                \
		name, "text", doc, KNOB_TEXT, AT(field), 0, 0, 0                         \
	}
#define COPIES(kind, field)                                                              \
	NUMBER("STARPU_DISABLE_ASYNCHRONOUS_" kind "COPY", "0 or 1",                     \
	       disabled_copies.field, -1, 0, 1,                                          \
	       "what starpu_asynchronous_*copy_disabled() answers")
#define ONE_CUDA_MEM(device)                                                             \
	NUMBER("STARPU_LIMIT_CUDA_" #device "_MEM", "MiB",                               \
	       limit_one_cuda_mem_mib[device], -1, 0, MANY, "the same for GPU " #device)
#define ONE_NUMA_MEM(node)                                                               \
	NUMBER("STARPU_LIMIT_CPU_NUMA_" #node "_MEM", "MiB",                             \
	       limit_one_numa_mem_mib[node], -1, 1, MANY,                                \
	       "the same of the NUMA node with the system's number " #node)
#define SWITCH(name, field, preset, doc) NUMBER(name, "0 or 1", field, preset, 0, 1, doc)
#define JOB(name, field, stage)                                                          \
	{                                                                                \
		name, "task",                                                            \
			"stop a debugger, by SIGTRAP, when the task of this number "     \
			"(starpu_task_get_job_id()) " stage,                             \
			KNOB_LONG, AT(field), -1, -1, MANY_BYTES                         \
	}
#define MANY       1e9
#define MANY_BYTES 1e15

/* Defaults are StarPU's where the name is StarPU's; -1 means unset. */
static const struct knob knob_table[] = {
	NUMBER("STARPU_NCPU", "workers", ncpu, -1, 0, MANY,
	       "CPU workers; unset: all cores"),
	NUMBER("STARPU_NCPUS", "workers", ncpu, -1, 0, MANY, "old name of STARPU_NCPU"),
	NUMBER("STARPU_RESERVE_NCPU", "cores", reserve_ncpu, -1, 0, MANY,
	       "cores left to the application"),
	NUMBER("STARPU_NCUDA", "devices", ncuda, -1, 0, MANY, "CUDA devices; unset: all"),
	NUMBER("STARPU_NMPI_MS", "slaves", nmpi_ms, -1, 0, MANY,
	       "ranks whose cores are workers of a program without starpu_mpi; unset: 0"),
	NUMBER("STARPU_NMPIMSTHREADS", "workers", nmpi_ms_threads, -1, 0, MANY,
	       "CPU workers of each slave; unset: its cores"),
	NUMBER("STARPU_NMPI_SC", "slaves", nmpi_ms, -1, 0, MANY,
	       "later name of STARPU_NMPI_MS"),
	NUMBER("STARPU_MPI_SC_NTHREADS", "workers", nmpi_ms_threads, -1, 0, MANY,
	       "later name of STARPU_NMPIMSTHREADS"),
	NUMBER("ORRERY_MPI_MS_PIPELINE", "tasks", mpi_ms_pipeline, 31, 0, 255,
	       "tasks that wait at most on a slave's worker behind the one that runs"),
	NUMBER("STARPU_MPI_MASTER_NODE", "rank", mpi_master_node, 0, 0, MANY,
	       "the rank that has slaves"),
	NUMBER("STARPU_MPI_SERVER_NODE", "rank", mpi_master_node, 0, 0, MANY,
	       "later name of STARPU_MPI_MASTER_NODE"),
	SWITCH("STARPU_WORKERS_NOBIND", workers_nobind, 0,
	       "do not bind workers to cores"),
	NUMBER("STARPU_DISPLAY_BINDINGS", "0, 1 or 2", display_bindings, 0, 0, 2,
	       "1: print at init which core each worker is bound to; 2: the machine"),
	SWITCH("STARPU_WORKERS_GETBIND", workers_getbind, 1,
	       "use only the cores in the process's affinity mask"),
	TEXT("STARPU_WORKERS_CPUID", workers_cpuid,
	     "logical hardware threads of the workers, in order"),
	TEXT("STARPU_WORKERS_COREID", workers_coreid,
	     "logical cores of the workers, in order; STARPU_WORKERS_CPUID goes before"),
	NUMBER("STARPU_NTHREADS_PER_CORE", "workers", nthreads_per_core, 1, 1, MANY,
	       "CPU workers of a core, each on a hardware thread of its own"),
	SWITCH("STARPU_MAIN_THREAD_BIND", main_thread_bind, 0,
	       "reserve a core and bind the initialising thread to it"),
	NUMBER("STARPU_MAIN_THREAD_CPUID", "logical hardware thread", main_thread_cpuid,
	       -1, -1, MANY, "bind the initialising thread to it, and reserve its core"),
	NUMBER("STARPU_MAIN_THREAD_COREID", "logical core", main_thread_coreid, -1, -1,
	       MANY, "the same for a core; STARPU_MAIN_THREAD_CPUID goes before"),
	SWITCH("STARPU_USE_NUMA", use_numa, 0,
	       "each NUMA node is a memory of its own, near to its workers"),
	TEXT("STARPU_WORKERS_CUDAID", workers_cudaid,
	     "numbers of the CUDA devices that have workers, in order; unset: all"),
	SWITCH("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", cuda_direct, 1,
	       "copy between CUDA devices that reach each other; 0: by main memory"),
	SWITCH("STARPU_DISABLE_PINNING", disable_pinning, 0,
	       "main memory is not pinned for CUDA: slower copies, faster allocations"),
	NUMBER("STARPU_MPI_GPUDIRECT", "-1, 0 or 1", mpi_gpudirect, -1, -1, 1,
	       "large messages leave and reach memories of GPUs: -1: where MPI says it "
	       "can; 0: no; 1: yes, whatever it says"),
	TEXT("ORRERY_CUDA_LIBRARY", cuda_library,
	     "library with the functions of CUDA's driver, instead of libcuda.so.1"),
	NUMBER("STARPU_CUDA_PIPELINE", "tasks", cuda_pipeline, 2, 0, 3,
	       "tasks in flight per GPU beyond the running one"),
	NUMBER("STARPU_NWORKER_PER_CUDA", "workers", cuda_workers, 1, 1, 16,
	       "workers of each CUDA device, each with a stream"),
	NUMBER("STARPU_CUDA_THREAD_PER_WORKER", "0 or 1", cuda_thread_per_worker, -1, -1,
	       1,
	       "1, or with neither of these two: a thread for each worker of a GPU; "
	       "0: one for those of a GPU"),
	NUMBER("STARPU_CUDA_THREAD_PER_DEV", "0 or 1", cuda_thread_per_dev, -1, -1, 1,
	       "1: a thread for the workers of a GPU; 0: one for those of all GPUs"),
	NUMBER("OMPI_COMM_WORLD_LOCAL_SIZE", "ranks", local_size, 1, 1, MANY,
	       "set by mpirun: ranks on this machine; unbound, they share its cores"),
	NUMBER("OMPI_COMM_WORLD_LOCAL_RANK", "rank", local_rank, 0, 0, MANY,
	       "set by mpirun: which of them this is"),
	TEXT("ORRERY_POWERCAP", powercap,
	     "where Linux shows the counters of RAPL that starpu_energy_start() and "
	     "STARPU_ENERGY_PROFILING read; "
	     "unset: /sys/class/powercap"),
	TEXT("STARPU_HWLOC_INPUT", hwloc_input, "XML topology for hwloc"),
	NUMBER("STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", "parts", combined_arity, 2, 2,
	       MANY, "combined workers: in how many a set of CPU workers is cut"),
	NUMBER("STARPU_MIN_WORKERSIZE", "workers", min_workersize, 2, 1, MANY,
	       "smallest combined worker that policies make"),
	NUMBER("STARPU_MAX_WORKERSIZE", "workers", max_workersize, MANY, 1, MANY,
	       "largest combined worker that policies make"),
	SWITCH("STARPU_SINGLE_COMBINED_WORKER", single_combined, 0,
	       "one parallel task at a time"),
	TEXT("STARPU_SCHED", sched,
	     "scheduling policy: eager, prio, random, lws, ws, dm, dmda, dmdap, dmdar, "
	     "dmdas, dmdasd, peager, pheft, heteroprio or graph_test; unset: lws, or "
	     "dmdas on simulated nodes with GPUs; help: list them"),
	TEXT("STARPU_SCHED_LIB", sched_lib,
	     "library of scheduling policies: STARPU_SCHED and contexts name them as it "
	     "does, before ours"),
	SWITCH("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", heteroprio_auto, 1,
	       "heteroprio without a word of the application's: 1: buckets by what "
	       "models expect; 0: by priority, 0 the first"),
	SWITCH("STARPU_HETEROPRIO_USE_LA", heteroprio_locality, 0,
	       "heteroprio: tasks wait at the memory where most of their data are"),
	SWITCH("STARPU_SCHED_GRAPH_TEST_DESCENDANTS", graph_test_descendants, 0,
	       "graph_test: 1: ranks count all tasks after one, 0: those on the longest "
	       "way to the end"),
	NUMBER("STARPU_MIN_PRIO", "priority", min_prio, -1, 0, MANY,
	       "lowest task priority"),
	NUMBER("STARPU_MAX_PRIO", "priority", max_prio, -1, 0, MANY,
	       "highest task priority"),
	NUMBER("STARPU_PREFETCH", "0 or 1", prefetch, 1, 0, 1,
	       "0: fetch the data of a task only when its worker is idle"),
	REAL("STARPU_SCHED_ALPHA", "ratio", sched_alpha, 1, 0, MANY,
	     "dmda and its kind: weight of the time to completion"),
	REAL("STARPU_SCHED_BETA", "ratio", sched_beta, 1, 0, MANY,
	     "dmda and its kind: weight of the transfer time"),
	REAL("STARPU_SCHED_GAMMA", "us/J", sched_gamma, 1000, 0, MANY,
	     "dmda and its kind: weight of the energy"),
	REAL("STARPU_IDLE_POWER", "W", idle_power, 0, 0, MANY,
	     "dmda and its kind: power of a worker that waits"),
	NUMBER("STARPU_NTASKS_THRESHOLD", "tasks", ntasks_threshold, -1, 0, MANY,
	       "modular-*: most tasks in a queue below a decision, 0: any number; unset: "
	       "2 where the policy limits them"),
	REAL("STARPU_EXP_LEN_THRESHOLD", "us", exp_len_threshold, 1e9, 0, 1e18,
	     "modular-*: longest expected wait in such a queue, 0: any"),
	NUMBER("STARPU_SCHED_SORTED_ABOVE", "0 or 1", sched_sorted_above, -1, 0, 1,
	       "modular-*: 1: queues above a decision go by priority; unset: as the "
	       "policy says"),
	NUMBER("STARPU_SCHED_SORTED_BELOW", "0 or 1", sched_sorted_below, -1, 0, 1,
	       "modular-*: the same of those below it"),
	NUMBER("STARPU_SCHED_READY", "0 or 1", sched_ready, -1, 0, 1,
	       "modular-*: 1: queues below give first what needs least data to come; "
	       "unset: as the policy says"),
	NUMBER("STARPU_CALIBRATE", "0, 1 or 2", calibrate, -1, 0, 2,
	       "1: measure tasks and save models; 2: forget the old ones first"),
	NUMBER("STARPU_BUS_CALIBRATE", "0 or 1", bus_calibrate, -1, 0, 1,
	       "write the bus files again"),
	NUMBER("STARPU_CALIBRATE_MINIMUM", "samples", calibrate_minimum, 10, 1, MANY,
	       "samples before a history model is trusted"),
	NUMBER("STARPU_HISTORY_MAX_ERROR", "%", history_max_error, 50, 1, MANY,
	       "deviation beyond which a measurement is an outlier"),
	NUMBER("STARPU_LIMIT_MIN_SUBMITTED_TASKS", "tasks", limit_min_submitted, -1, 0,
	       MANY, "submission resumes at this number"),
	NUMBER("STARPU_LIMIT_MAX_SUBMITTED_TASKS", "tasks", limit_max_submitted, -1, 0,
	       MANY, "submission blocks at this number"),
	TEXT("STARPU_PERF_MODEL_DIR", perf_model_dir, "first directory of models"),
	TEXT("STARPU_PERF_MODEL_PATH", perf_model_path, "more directories, ':' between"),
	TEXT("STARPU_HOME", starpu_home, "base of .starpu/"),
	TEXT("XDG_CACHE_HOME", xdg_cache_home, "base of .starpu/, before STARPU_HOME"),
	TEXT("HOME", home, "base of .starpu/, last"),
	TEXT("STARPU_HOSTNAME", hostname, "machine name in model file names"),
	TEXT("STARPU_MPI_HOSTNAMES", mpi_hostnames,
	     "machine names by rank, blank between"),
	SWITCH("STARPU_PERF_MODEL_HOMOGENEOUS_CPU", homogeneous_cpu, 1,
	       "CPU workers share one model"),
	SWITCH("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", homogeneous_cuda, 0,
	       "CUDA devices share one model"),
	SWITCH("STARPU_PERF_MODEL_HOMOGENEOUS_MPI_MS", homogeneous_mpi_ms, 0,
	       "slaves share one model"),
	SWITCH("STARPU_PERF_MODEL_HOMOGENEOUS_MPI_SC", homogeneous_mpi_ms, 0,
	       "later name of STARPU_PERF_MODEL_HOMOGENEOUS_MPI_MS"),
	NUMBER("STARPU_SIMGRID", "0 or 1", simgrid, -1, 0, 1,
	       "1 with the real library: starpu_init refuses"),
	SWITCH("ORRERY_EXECUTE", execute, 0, "simulation: really run CPU kernels"),
	SWITCH("ORRERY_PROGRESS", progress, 0,
	       "lines on stderr about the progress of the run"),
	SWITCH("STARPU_TASK_PROGRESS", progress, 0, "StarPU's name of ORRERY_PROGRESS"),
	REAL("ORRERY_PROGRESS_PERIOD", "seconds", progress_period_s, 0, 0, MANY,
	     "time between two of them on real machines; 0: 0.5 on a terminal, else 10"),
	TEXT("ORRERY_TRACE", trace, "CSV file of node utilisation over time"),
	TEXT("ORRERY_EVENTS", events,
	     "directory for a file of all events of each node, for orrery trace"),
	SWITCH("STARPU_FXT_TRACE", fxt_trace, 0,
	       "the same in a file of StarPU's name, for starpu_fxt_tool, unless "
	       "ORRERY_EVENTS is set"),
	TEXT("USER", user, "part of the name of that file"),
	TEXT("STARPU_FXT_PREFIX", fxt_prefix, "directory of that file; unset: /tmp"),
	TEXT("STARPU_FXT_SUFFIX", fxt_suffix,
	     "its name, with _RANK behind where there are several ranks; unset: "
	     "prof_file_USER_RANK, rank 0 without MPI"),
	SWITCH("STARPU_GENERATE_TRACE", generate_trace, 0,
	       "starpu_shutdown() lets starpu_fxt_tool write paje.trace and the like of "
	       "that file, unless there are several ranks"),
	TEXT("STARPU_GENERATE_TRACE_OPTIONS", generate_trace_options,
	     "words for that starpu_fxt_tool, such as -no-bus"),
	TEXT("ORRERY_SUMMARY", summary,
	     "file for the figures of a run: of all ranks in simulation, else of rank 0"),
	TEXT("ORRERY_TRANSPORT", transport,
	     "simulation: routes (default), mpi, flows or none; otherwise: mpi (default) "
	     "or ucx, where all ranks have it"),
	TEXT("ORRERY_UCX_LIBRARY", ucx_library,
	     "file of UCX's libucp; unset: libucp.so.0"),
	NUMBER("STARPU_LIMIT_CPU_MEM", "MiB", limit_cpu_mem_mib, -1, 1, MANY,
	       "main memory that may be allocated through the library: tasks wait for "
	       "room, what nobody uses leaves for a disk; of several NUMA nodes, each "
	       "has an equal part"),
	TEXT("STARPU_DISK_SWAP", disk_swap,
	     "directory on a disk where values go that have no room in a limited main "
	     "memory; in simulation, that there is a disk"),
	TEXT("STARPU_DISK_SWAP_BACKEND", disk_swap_backend,
	     "how: unistd (default), unistd_o_direct or stdio"),
	NUMBER("STARPU_DISK_SWAP_SIZE", "MiB", disk_swap_mib, -1, -1, MANY,
	       "how much of it may be used, at least 16; -1: as much as there is"),
	NUMBER("STARPU_LIMIT_CPU_NUMA_MEM", "MiB", limit_numa_mem_mib, -1, 1, MANY,
	       "the same of each NUMA node; without STARPU_USE_NUMA, which are one, the "
	       "same"),
	ONE_NUMA_MEM(0),
	ONE_NUMA_MEM(1),
	ONE_NUMA_MEM(2),
	ONE_NUMA_MEM(3),
	ONE_NUMA_MEM(4),
	ONE_NUMA_MEM(5),
	ONE_NUMA_MEM(6),
	ONE_NUMA_MEM(7),
	NUMBER("STARPU_LIMIT_CUDA_MEM", "MiB", limit_cuda_mem_mib, -1, 0, MANY,
	       "memory used on each GPU"),
	ONE_CUDA_MEM(0),
	ONE_CUDA_MEM(1),
	ONE_CUDA_MEM(2),
	ONE_CUDA_MEM(3),
	ONE_CUDA_MEM(4),
	ONE_CUDA_MEM(5),
	ONE_CUDA_MEM(6),
	ONE_CUDA_MEM(7),
	ONE_CUDA_MEM(8),
	ONE_CUDA_MEM(9),
	ONE_CUDA_MEM(10),
	ONE_CUDA_MEM(11),
	ONE_CUDA_MEM(12),
	ONE_CUDA_MEM(13),
	ONE_CUDA_MEM(14),
	ONE_CUDA_MEM(15),
	SWITCH("STARPU_SIMGRID_TRANSFER_COST", transfer_cost, 1,
	       "simulation: transfers take time"),
	SWITCH("STARPU_SIMGRID_TASK_SUBMIT_COST", submit_cost, 1,
	       "simulation: submission takes time"),
	SWITCH("STARPU_SIMGRID_TASK_PUSH_COST", push_cost, 1,
	       "simulation: scheduling takes time"),
	SWITCH("STARPU_SIMGRID_SCHED_COST", sched_cost, 0,
	       "simulation: the policy's own work takes the time that it takes here, "
	       "for the task's submitter and its workers: no two runs are alike"),
	SWITCH("STARPU_SIMGRID_CUDA_MALLOC_COST", cuda_malloc_cost, 0,
	       "simulation: allocating memory of GPUs takes time, and so does memory "
	       "that starpu_malloc() pins for them"),
	SWITCH("STARPU_SIMGRID_CUDA_QUEUE_COST", cuda_queue_cost, 0,
	       "simulation: launching kernels and copies of GPUs takes time"),
	SWITCH("STARPU_SIMGRID_FETCHING_INPUT_COST", fetch_cost, 0,
	       "simulation: looking after the data of a task takes time"),
	NUMBER("STARPU_LIMIT_BANDWIDTH", "MB/s", limit_bandwidth, -1, 1, MANY,
	       "simulation: of the links between main memory and GPUs, and between "
	       "GPUs, whatever the platform says"),
	REAL("ORRERY_CUDA_MALLOC_COST", "seconds", cuda_malloc_s, 1.75e-4, 0, 1,
	     "simulation: a GPU gives a chunk of memory, of 32 MiB at least, and its "
	     "copies and kernels wait for it; StarPU's figure"),
	REAL("ORRERY_PIN_COST", "seconds/MiB", pin_s, 6.5e-4, 0, 1,
	     "simulation: charged to who allocates memory that is pinned, on nodes with "
	     "GPUs; StarPU's figure"),
	REAL("ORRERY_CUDA_QUEUE_COST", "seconds", cuda_queue_s, 1.0e-6, 0, 1,
	     "simulation: to launch a copy, or a kernel on a GPU that has nothing to do; "
	     "an estimate, not measured"),
	REAL("ORRERY_FETCH_COST", "seconds", fetch_s, 5.0e-8, 0, 1,
	     "simulation: charged on the worker for each datum of a task; an estimate: "
	     "about 150 instructions of this library"),
	SWITCH("ORRERY_STARPU_STEALING", starpu_stealing, 0,
	       "simulation: under lws tasks are stolen as StarPU does, so that the run "
	       "predicts StarPU instead of this library"),
	REAL("ORRERY_NOISE", "ratio", noise, 0, 0, 10,
	     "simulation: a task takes this times the absolute value of a normal "
	     "variable longer than its model says, which is the shortest time"),
	NUMBER("ORRERY_NOISE_SEED", "number", noise_seed, 1, 0, MANY,
	       "simulation: the same seed, the same noise; each node has its own"),
	REAL("ORRERY_SUBMIT_COST", "seconds", submit_s, 1.0e-6, 0, 1,
	     "simulation: charged for a task submitted on the rank that runs it"),
	REAL("ORRERY_SUBMIT_DATUM_COST", "seconds", datum_s, 0, 0, 1,
	     "simulation: charged for each datum of such a task"),
	REAL("ORRERY_INSERT_COST", "seconds", insert_s, 5.0e-8, 0, 1,
	     "simulation: charged for a task inserted that runs elsewhere"),
	REAL("ORRERY_POST_COST", "seconds", post_s, 0, 0, 1,
	     "simulation: charged for a message that the program itself sends or "
	     "receives; 2e-07 was measured on a core of 2 to 3 GHz"),
	REAL("ORRERY_EXCHANGE_COST", "seconds", exchange_s, 0, 0, 1,
	     "simulation: charged for a value that an insertion sends or receives"),
	REAL("ORRERY_PUSH_COST", "seconds", push_s, 5.0e-7, 0, 1,
	     "simulation: charged on the worker for each task it takes"),
	REAL("ORRERY_WAKE_COST", "seconds", wake_s, 0, 0, 1,
	     "simulation: a worker that has slept begins its task so much later"),
	REAL("ORRERY_MAIN_WAKE_COST", "seconds", main_wake_s, 0, 0, 1,
	     "simulation: the same of a thread of the application that has waited long"),
	REAL("ORRERY_POLL_WAIT", "seconds", look_s, 0, 0, 1,
	     "simulation: without spare cores (spare_cores), a message that comes while "
	     "all workers run tasks waits so long at most until a thread looks for it"),
	REAL("ORRERY_SWITCH_COST", "seconds", switch_s, 0, 0, 1,
	     "simulation: a change of thread on a core; that thread costs a task two"),
	REAL("ORRERY_PAGE_COST", "seconds", page_s, 0, 0, 1,
	     "simulation: without spare cores (spare_cores), a page of 4 KiB of memory "
	     "that is new costs so much when a message fills it"),
	REAL("ORRERY_LONE_COPY", "ratio", lone_copy, 1, 1e-3, 1,
	     "simulation: without spare cores (spare_cores), with copies_messages, a "
	     "value of 48 KiB and more from a rank that runs tasks comes with this part "
	     "of the bandwidth, as its receiver copies it alone"),
	REAL("ORRERY_CLOCK_COST", "seconds", clock_s, 5.0e-8, 1e-9, 1,
	     "simulation: charged for each look at a clock after many at the same date"),
	SWITCH("ORRERY_REAL_THREADS", real_threads, 0,
	       "simulation: threads that the program makes by pthread_create() or "
	       "std::thread from now on work in real time, and may not call the library"),
	REAL("ORRERY_QUANTUM", "seconds", quantum_s, 1.0e-4, 1e-9, 1,
	     "simulation: submission cost is charged in steps of this"),
	REAL("ORRERY_DISK_BANDWIDTH", "bytes/s", disk_bytes_per_s, 5.0e8, 1, 1e15,
	     "simulation: of disks that the platform file gives none "
	     "(disk_read_bw, disk_write_bw); a disk on a SATA link moves about 550e6"),
	REAL("ORRERY_DISK_LATENCY", "seconds", disk_latency_s, 1.0e-4, 0, 1,
	     "simulation: of disks that the platform file gives none (disk_lat); "
	     "usual for a solid state disk"),
	SWITCH("STARPU_DISABLE_KERNELS", disable_kernels, 0, "never call kernels"),
	NUMBER("STARPU_ENABLE_MAP", "0 or 1", enable_map, -1, 0, 1,
	       "1: among NUMA nodes, use the application's memory where it is instead of "
	       "copies"),
	NUMBER("STARPU_MINIMUM_AVAILABLE_MEM", "%", minimum_available, 0, 0, 100,
	       "less of a device's memory available: unused copies leave it"),
	NUMBER("STARPU_TARGET_AVAILABLE_MEM", "%", target_available, 0, 0, 100,
	       "until so much of it is available"),
	NUMBER("STARPU_MALLOC_SIMULATION_FOLD", "MiB", fold_mib, 1, 1, 4096,
	       "simulation: memory of a folded buffer, however large it is"),
	SWITCH("STARPU_MEMORY_STATS", memory_stats, 0,
	       "at shutdown, list the data that were never unregistered"),
	SWITCH("STARPU_SILENT", silent, 0, "no informative messages"),
	SWITCH("STARPU_PROFILING", profiling, 0, "profile from the start"),
	SWITCH("STARPU_BUS_STATS", bus_stats, 0,
	       "at shutdown, and by starpu_profiling_bus_helper_display_summary(): what "
	       "memories exchanged"),
	TEXT("STARPU_BUS_STATS_FILE", bus_stats_file,
	     "file for that; unset: standard error output"),
	TEXT("STARPU_PROF_TOOL", prof_tool,
	     "library of a profiling tool, which exports "
	     "starpu_prof_tool_library_register(); unset: one that is linked or "
	     "preloaded"),
	NUMBER("STARPU_CATCH_SIGNALS", "0 or 1", catch_signals, -1, 0, 1,
	       "1: what a trace still has to write is written when a signal such as "
	       "Ctrl-C ends the process, and in whose code a SIGSEGV or the like came "
	       "is said; unset: 1"),
	SWITCH("STARPU_WORKER_STATS", worker_stats, 0,
	       "at shutdown, and by starpu_profiling_worker_helper_display_summary(): "
	       "how workers spent their time"),
	TEXT("STARPU_WORKER_STATS_FILE", worker_stats_file,
	     "file for that; unset: standard error output"),
	SWITCH("STARPU_ENERGY_PROFILING", energy_profiling, 0,
	       "share what the packages of cores use (ORRERY_POWERCAP) among the tasks "
	       "that run, for profiling_info, worker statistics and energy models"),
	SWITCH("STARPU_CODELET_PROFILING", codelet_profiling, 1,
	       "count for starpu_codelet_display_stats()"),
	COPIES("", all),
	COPIES("CUDA_", cuda),
	COPIES("HIP_", hip),
	COPIES("OPENCL_", opencl),
	COPIES("MAX_FPGA_", max_fpga),
	COPIES("MPI_MS_", mpi_ms),
	COPIES("MPI_SC_", mpi_ms),
	COPIES("TCPIP_MS_", tcpip_ms),
	NUMBER("STARPU_MPI_CACHE", "0 or 1", mpi_cache, 1, 0, 1, "communication cache"),
	SWITCH("STARPU_MPI_CACHE_STATS", mpi_cache_stats, 0, "report cache changes"),
	NUMBER("STARPU_MPI_STATS", "0 to 2", mpi_stats, -1, 0, 2,
	       "print bytes sent by destination at shutdown; 2: messages, too"),
	TEXT("STARPU_MPI_COMM", mpi_comm, "any text: tell each message on stderr"),
	SWITCH("STARPU_COMM_STATS", comm_stats_old, 0, "old name of STARPU_MPI_STATS"),
	SWITCH("STARPU_MPI_PRIORITIES", mpi_priorities, 1, "order messages by priority"),
	NUMBER("STARPU_MPI_NDETACHED_SEND", "messages", mpi_ndetached_send, 10, 0, MANY,
	       "large sends in flight; 0: no limit"),
	NUMBER("STARPU_MPI_REDUX_ARITY_THRESHOLD", "bytes", mpi_redux_threshold, 1024, -1,
	       MANY,
	       "data from this size on are reduced between nodes in a binary tree, "
	       "smaller ones at once; -1: all at once"),
	TEXT("STARPU_MPI_LB", mpi_lb,
	     "policy of the load balancer, instead of the program's; there is: heat"),
	NUMBER("LB_HEAT_SLEEP_THRESHOLD", "iterations", lb_sleep_threshold, 2000, 1, MANY,
	       "load balancer: insertion goes so far between two rounds"),
	REAL("LB_HEAT_WAKEUP_RATIO", "ratio", lb_wakeup_ratio, 0.5, 0, 1,
	     "load balancer: fraction of these that need not have ended at a round"),
	NUMBER("LB_HEAT_TIME_THRESHOLD", "microseconds", lb_time_threshold_us, 2000, 0,
	       MANY, "load balancer: smaller differences between neighbours stay"),
	TEXT("ORRERY_MPI_LOSE", mpi_lose,
	     "RANK@SECONDS, several with commas: emulate that the rank loses its memory "
	     "so long after starpu_init(); see orrery_mpi.h"),
	NUMBER("STARPU_MPI_FAKE_SIZE", "ranks", mpi_fake_size, -1, 1, MANY,
	       "pretend to be one rank of so many; nothing is communicated"),
	NUMBER("STARPU_MPI_FAKE_RANK", "rank", mpi_fake_rank, -1, 0, MANY,
	       "the rank to pretend to be"),
	SWITCH("STARPU_MPI_COOP_SENDS", mpi_coop_sends, 1,
	       "ranks that got a large value pass it on to others that want it"),
	NUMBER("STARPU_MPI_THREAD_CPUID", "core", mpi_thread_cpuid, -1, 0, MANY,
	       "logical core of the progress thread"),
	NUMBER("STARPU_MPI_THREAD_COREID", "core", mpi_thread_coreid, -1, 0, MANY,
	       "physical core of the progress thread"),
	SWITCH("STARPU_MPI_NOBIND", mpi_nobind, 0, "do not bind the progress thread"),
	NUMBER("STARPU_MPI_DRIVER_CALL_FREQUENCY", "polls", mpi_driver_call_frequency, 0,
	       0, MANY,
	       "above 0: no core is reserved and no thread polls, but the first CPU "
	       "worker polls so often between tasks"),
	NUMBER("STARPU_MPI_DRIVER_TASK_FREQUENCY", "tasks", mpi_driver_task_frequency, 0,
	       0, MANY, "which it executes between these polls; 0: one"),
	SWITCH("ORRERY_MPI_EXPLICIT", mpi_explicit, 0,
	       "real machines: no core is reserved and no thread of the library polls, "
	       "but those of the program inside of calls that wait or test, and of "
	       "orrery_mpi_progress()"),
	SWITCH("ORRERY_MPI_COMPARE", mpi_compare, 0,
	       "for programs whose ranks all insert all tasks in one order: tell at "
	       "shutdown the first one for which a rank has another codelet or executor "
	       "than rank 0"),
	{"ORRERY_MPI_EAGER", "bytes", "largest payload sent together with its header",
	 KNOB_LONG, AT(mpi_eager_bytes), 16384, 0, 1048576},
	{"ORRERY_MPI_PACKET", "bytes",
	 "messages to one rank that are ready at a time travel together up to this size; "
	 "0: each alone",
	 KNOB_LONG, AT(mpi_packet_bytes), 4000, 0, 1048576},
	{"ORRERY_MPI_EARLY_BYTES", "bytes",
	 "temporary memory of a rank for large messages whose receive is not ready",
	 KNOB_LONG, AT(mpi_early_bytes), 1073741824, 0, MANY_BYTES},
	NUMBER("ORRERY_MPI_WINDOW", "messages", mpi_window, 64, 1, 1048576,
	       "large messages that move to a rank at a time"),
	{"ORRERY_MPI_WINDOW_BYTES", "bytes",
	 "bytes of large messages that move to a rank at a time; one moves in any case",
	 KNOB_LONG, AT(mpi_window_bytes), 1073741824, 1, MANY_BYTES},
	{"ORRERY_MPI_PUT_BYTES", "bytes",
	 "bytes of large messages that move from a rank at a time; two move in any case",
	 KNOB_LONG, AT(mpi_put_bytes), 4194304, 0, MANY_BYTES},
	{"ORRERY_MPI_BESIDE", "bytes",
	 "bytes of large messages that move from a rank when one of them is more urgent "
	 "than the next; two move in any case",
	 KNOB_LONG, AT(mpi_beside_bytes), 262144, 0, MANY_BYTES},
	{"ORRERY_MPI_PIECE", "bytes",
	 "larger payloads are cut into pieces, which tell the watchdog that they move",
	 KNOB_LONG, AT(mpi_piece_bytes), 1073741824, 1, 1073741824},
	NUMBER("ORRERY_MPI_DIRECT", "mode", mpi_direct, 2, 0, 2,
	       "real machines, large messages between ranks of one host that may read "
	       "each other's memory: 0: by MPI, 1: the receiver copies them itself, "
	       "2: and a sender that has nothing to do helps, or begins where the "
	       "receiver waits while that computes"),
	{"ORRERY_MPI_COOP_BYTES", "bytes", "smallest value that ranks pass on to others",
	 KNOB_LONG, AT(mpi_coop_bytes), 65536, 0, MANY_BYTES},
	REAL("ORRERY_WATCHDOG", "seconds", watchdog_s, 5, 0, MANY,
	     "after so long without progress (twelve times so long while a kernel or a "
	     "callback runs), say what is waited for, and end the run when nothing can "
	     "happen any more; 0: never"),
	REAL("STARPU_WATCHDOG_TIMEOUT", "microseconds", task_watchdog_us, 0, 0, 1e15,
	     "real machines: say each time that so long no task has ended, while some "
	     "are submitted, what is waited for; 0: never"),
	REAL("STARPU_WATCHDOG_DELAY", "microseconds", task_watchdog_delay_us, 0, 0, 1e15,
	     "time before the first look of STARPU_WATCHDOG_TIMEOUT"),
	JOB("STARPU_TASK_BREAK_ON_PUSH", break_on_push, "becomes ready"),
	JOB("STARPU_TASK_BREAK_ON_SCHED", break_on_sched,
	    "is given to starpu_sched_task_break()"),
	JOB("STARPU_TASK_BREAK_ON_POP", break_on_pop, "comes to a worker"),
	JOB("STARPU_TASK_BREAK_ON_EXEC", break_on_exec, "starts"),
	SWITCH("STARPU_WATCHDOG_CRASH", task_watchdog_crash, 0, "end the run, then"),
	REAL("ORRERY_MPI_WATCHDOG", "seconds", watchdog_s, 5, 0, MANY,
	     "old name of ORRERY_WATCHDOG"),
};

enum { NKNOBS = sizeof(knob_table) / sizeof(knob_table[0]) };

static void store(struct knobs *knobs, const struct knob *knob, double value)
{
	char *field = (char *)knobs + knob->at;

	if (knob->kind == KNOB_INT)
		*(int *)(void *)field = (int)value;
	else if (knob->kind == KNOB_LONG)
		*(long *)(void *)field = (long)value;
	else if (knob->kind == KNOB_DOUBLE)
		*(double *)(void *)field = value;
	else
		*(char **)(void *)field = orr_strdup("");
}

/* StarPU reads -1 as a variable that is not set. */
static int is_unset(const struct knob *knob, double value)
{
	return knob->kind == KNOB_INT && value == -1 &&
	       (knob->preset == -1 ||
		(knob->min >= 0 && !strncmp(knob->name, "STARPU_", 7)));
}

static double clamp(const struct knob *knob, double value)
{
	if (value < knob->min)
		return knob->min;
	return value > knob->max ? knob->max : value;
}

static int is_whole(double value)
{
	return value < -MANY_BYTES || value > MANY_BYTES || (double)(long)value == value;
}

static void parse(struct knobs *knobs, const struct knob *knob, const char *text)
{
	const char *number = knob->kind == KNOB_DOUBLE ? "number" : "whole number";
	char *end;
	double value;

	if (knob->kind == KNOB_TEXT) {
		char **field = (char **)(void *)((char *)knobs + knob->at);

		free(*field);
		*field = orr_strdup(text);
		return;
	}
	value = decimal_read(text, &end);
	while (end != text && isspace((unsigned char)*end))
		end++;
	if (end == text || *end || value != value ||
	    (knob->kind != KNOB_DOUBLE && !is_whole(value)))
		orr_die(ORR_NO_RANK,
			"%s is \"%s\": it must be a %s from %.10g to %.10g (%s: %s)",
			knob->name, text, number, knob->min, knob->max, knob->unit,
			knob->doc);
	if (is_unset(knob, value))
		return;
	store(knobs, knob, clamp(knob, value));
}

void knobs_complain(void)
{
	for (int i = 0; i < NKNOBS; i++) {
		const struct knob *knob = &knob_table[i];
		const char *text = getenv(knob->name);
		double value = text ? decimal_read(text, NULL) : 0;

		if (!text || !*text || knob->kind == KNOB_TEXT ||
		    value == clamp(knob, value) || is_unset(knob, value))
			continue;
		/* Switches take any positive number for "on", as StarPU's do. */
		if (knob->max == 1 && value > 1)
			continue;
		orr_complain(ORR_NO_RANK,
			     "%s is %s: expected %.10g to %.10g (%s); using %.10g",
			     knob->name, text, knob->min, knob->max, knob->unit,
			     clamp(knob, value));
	}
}

/* A program asks for hundreds of variables, and has set few of those that begin as most
 * do: these are picked out once. */
enum { MOST_SET = 64, PREFIX_BYTES = 7 };

struct set_ones {
	const char *texts[MOST_SET]; /* NAME=VALUE */
	int n;                       /* or more than there is room for */
};

static int has_prefix(const char *text)
{
	return !strncmp(text, "STARPU_", PREFIX_BYTES) ||
	       !strncmp(text, "ORRERY_", PREFIX_BYTES);
}

static void find_set_ones(struct set_ones *set)
{
	set->n = 0;
	for (char **at = environ; at && *at && set->n <= MOST_SET; at++)
		if (has_prefix(*at)) {
			if (set->n < MOST_SET)
				set->texts[set->n] = *at;
			set->n++;
		}
}

/* As getenv(). */
static const char *value_of(const struct set_ones *set, const char *name)
{
	size_t bytes;

	if (set->n > MOST_SET || !has_prefix(name))
		return getenv(name);
	bytes = set->n > 0 ? strlen(name) : 0;
	for (int i = 0; i < set->n; i++)
		if (!strncmp(set->texts[i], name, bytes) && set->texts[i][bytes] == '=')
			return set->texts[i] + bytes + 1;
	return NULL;
}

void knobs_read(struct knobs *knobs)
{
	struct set_ones set;

	find_set_ones(&set);
	for (int i = 0; i < NKNOBS; i++)
		store(knobs, &knob_table[i], knob_table[i].preset);
	/* From the last row to the first, so that an old name never wins. */
	for (int i = NKNOBS - 1; i >= 0; i--) {
		const char *text = value_of(&set, knob_table[i].name);

		if (text && (*text || knob_table[i].kind == KNOB_TEXT))
			parse(knobs, &knob_table[i], text);
	}
	if (knobs->mpi_stats == -1)
		knobs->mpi_stats = knobs->comm_stats_old;
}

static int same(const struct knob *knob, const void *a, const void *b)
{
	switch (knob->kind) {
	case KNOB_INT:
		return *(const int *)a == *(const int *)b;
	case KNOB_LONG:
		return *(const long *)a == *(const long *)b;
	case KNOB_DOUBLE:
		return *(const double *)a == *(const double *)b;
	case KNOB_TEXT:
		break;
	}
	return !strcmp(*(char *const *)a, *(char *const *)b);
}

void knobs_free(struct knobs *knobs)
{
	for (int i = 0; i < NKNOBS; i++)
		if (knob_table[i].kind == KNOB_TEXT)
			free(*(char **)(void *)((char *)knobs + knob_table[i].at));
}

int knobs_same(const struct knobs *a, const struct knobs *b)
{
	for (int i = 0; i < NKNOBS; i++)
		if (!same(&knob_table[i], (const char *)a + knob_table[i].at,
			  (const char *)b + knob_table[i].at))
			return 0;
	return 1;
}

const char *knobs_name(int i)
{
	return i < NKNOBS ? knob_table[i].name : NULL;
}

const char *knobs_raw(const char *name)
{
	return getenv(name);
}

static void print_range(FILE *out, const struct knob *knob)
{
	if (knob->kind == KNOB_TEXT)
		fprintf(out, " | ");
	else if (knob->max >= MANY)
		fprintf(out, " | from %.10g", knob->min);
	else
		fprintf(out, " | %.10g to %.10g", knob->min, knob->max);
}

void knobs_print_manual(FILE *out)
{
	fprintf(out, "| variable | unit | default | range | effect |\n"
		     "|---|---|---|---|---|\n");
	for (int i = 0; i < NKNOBS; i++) {
		const struct knob *knob = &knob_table[i];

		fprintf(out, "| %s | %s | ", knob->name, knob->unit);
		if (knob->kind == KNOB_TEXT || knob->preset == -1)
			fprintf(out, "unset");
		else
			fprintf(out, "%.10g", knob->preset);
		print_range(out, knob);
		fprintf(out, " | %s |\n", knob->doc);
	}
}
