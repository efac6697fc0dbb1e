/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Parallel workers: the cores of a socket, or of another part of the machine, as one
 * worker for kernels that are parallel themselves.
 *
 * Each is a scheduling context without a policy (starpu_sched_ctx.h): its first core, the
 * master, takes tasks, those of context 0 too, and the others are kept free for the
 * threads that a kernel starts.  Only where hwloc's types are known,
 * which STARPU_PARALLEL_WORKER says: who simulates includes hwloc.h before starpu.h.
 */
#ifndef STARPU_PARALLEL_WORKER_H
#define STARPU_PARALLEL_WORKER_H

#include <starpu_config.h>
#include <starpu_task_util.h>
#include <starpu_util.h>

#if defined(STARPU_HAVE_HWLOC) || defined(HWLOC_H)
#define STARPU_PARALLEL_WORKER 1
#endif

#ifdef STARPU_PARALLEL_WORKER

#include <hwloc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_CLUSTER 1

/* Arguments of starpu_parallel_worker_init(): one of these, then its value if it has one.
 */
/* int: how many in each object; at least, at most.  1 unless they say otherwise, of a
 * range the largest number that has a core for each. */
#define STARPU_PARALLEL_WORKER_MIN_NB (1 << STARPU_MODE_SHIFT)
#define STARPU_PARALLEL_WORKER_MAX_NB (2 << STARPU_MODE_SHIFT)
#define STARPU_PARALLEL_WORKER_NB     (3 << STARPU_MODE_SHIFT)
/* int, not 0: of a range the smallest number. */
#define STARPU_PARALLEL_WORKER_PREFERE_MIN (4 << STARPU_MODE_SHIFT)
/* int, not 0: those of an object have as many cores each; what is left stays as it was.
 */
#define STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS (5 << STARPU_MODE_SHIFT)
/* const char *, struct starpu_sched_policy *: tasks that the calling thread submits from
 * now on go to a context with this policy, which has all workers. */
#define STARPU_PARALLEL_WORKER_POLICY_NAME   (6 << STARPU_MODE_SHIFT)
#define STARPU_PARALLEL_WORKER_POLICY_STRUCT (7 << STARPU_MODE_SHIFT)
/* void (*)(void *), void *: called once by the master of each. */
#define STARPU_PARALLEL_WORKER_CREATE_FUNC     (8 << STARPU_MODE_SHIFT)
#define STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG (9 << STARPU_MODE_SHIFT)
/* enum starpu_parallel_worker_types: the function that is called unless one is given. */
#define STARPU_PARALLEL_WORKER_TYPE (10 << STARPU_MODE_SHIFT)
/* int, not 0: the other cores take tasks, too. */
#define STARPU_PARALLEL_WORKER_AWAKE_WORKERS (11 << STARPU_MODE_SHIFT)
/* No value: what follows describes the next object of the level, the first at first. */
#define STARPU_PARALLEL_WORKER_PARTITION_ONE (12 << STARPU_MODE_SHIFT)
/* No value: one more in this object. */
#define STARPU_PARALLEL_WORKER_NEW (13 << STARPU_MODE_SHIFT)
/* int: how many cores that one has; without it, its part of what is left. */
#define STARPU_PARALLEL_WORKER_NCORES (14 << STARPU_MODE_SHIFT)

enum starpu_parallel_worker_types {
	STARPU_PARALLEL_WORKER_OPENMP,
	STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL,
	STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL
};

struct starpu_parallel_worker_config;

/**
 * Make parallel workers of the CPU workers in each object of that hwloc type; arguments
 * from above, then 0.  In simulation a node has its sockets and NUMA nodes where it has
 * several main memories, and no caches.
 *
 * A task on a parallel worker takes as long as its performance model says for that many
 * cores; one that was measured on a single core only, as there.
 *
 * From threads of the application.  Returns what starpu_parallel_worker_shutdown() takes
 * back, or NULL, with a message: the machine has no such objects, there are no CPU
 * workers, more than STARPU_NMAX_SCHED_CTXS contexts would be needed.  An argument that
 * is none of the above ends the program.
 */
struct starpu_parallel_worker_config *
starpu_parallel_worker_init(hwloc_obj_type_t parallel_worker_level, ...);

/** Wait for their tasks and end them: their cores are workers again.  0; -EINVAL: NULL.
 */
int starpu_parallel_worker_shutdown(
	struct starpu_parallel_worker_config *parallel_workers);

/** Write to stdout how many there are, and the workers of each.  0; -EINVAL: NULL. */
int starpu_parallel_worker_print(struct starpu_parallel_worker_config *parallel_workers);

/** For the master of a parallel worker, as a create function or
 * task->prologue_callback_pop_func: OpenMP regions of the calling thread use its cores, a
 * thread bound to each.  Programs without OpenMP: nothing.  The argument is not used. */
void starpu_parallel_worker_openmp_prologue(void *arg);

#define starpu_parallel_worker_intel_openmp_mkl_prologue                                 \
	starpu_parallel_worker_openmp_prologue

#ifdef STARPU_MKL
/** The same, and as many threads for MKL. */
void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg);
#endif

/* ---- deprecated: the same under old names ---------------------------- */

#define STARPU_CLUSTER_MIN_NB           STARPU_PARALLEL_WORKER_MIN_NB
#define STARPU_CLUSTER_MAX_NB           STARPU_PARALLEL_WORKER_MAX_NB
#define STARPU_CLUSTER_NB               STARPU_PARALLEL_WORKER_NB
#define STARPU_CLUSTER_PREFERE_MIN      STARPU_PARALLEL_WORKER_PREFERE_MIN
#define STARPU_CLUSTER_KEEP_HOMOGENEOUS STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS
#define STARPU_CLUSTER_POLICY_NAME      STARPU_PARALLEL_WORKER_POLICY_NAME
#define STARPU_CLUSTER_POLICY_STRUCT    STARPU_PARALLEL_WORKER_POLICY_STRUCT
#define STARPU_CLUSTER_CREATE_FUNC      STARPU_PARALLEL_WORKER_CREATE_FUNC
#define STARPU_CLUSTER_CREATE_FUNC_ARG  STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG
#define STARPU_CLUSTER_TYPE             STARPU_PARALLEL_WORKER_TYPE
#define STARPU_CLUSTER_AWAKE_WORKERS    STARPU_PARALLEL_WORKER_AWAKE_WORKERS
#define STARPU_CLUSTER_PARTITION_ONE    STARPU_PARALLEL_WORKER_PARTITION_ONE
#define STARPU_CLUSTER_NEW              STARPU_PARALLEL_WORKER_NEW
#define STARPU_CLUSTER_NCORES           STARPU_PARALLEL_WORKER_NCORES

enum starpu_cluster_types {
	STARPU_CLUSTER_OPENMP = STARPU_PARALLEL_WORKER_OPENMP,
	STARPU_CLUSTER_INTEL_OPENMP_MKL = STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL,
	STARPU_CLUSTER_GNU_OPENMP_MKL = STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL
};

struct starpu_cluster_machine;

/** starpu_parallel_worker_init(). */
struct starpu_cluster_machine *starpu_cluster_machine(hwloc_obj_type_t cluster_level,
						      ...) STARPU_DEPRECATED;
/** starpu_parallel_worker_shutdown(). */
int starpu_uncluster_machine(struct starpu_cluster_machine *clusters) STARPU_DEPRECATED;
/** starpu_parallel_worker_print(). */
int starpu_cluster_print(struct starpu_cluster_machine *clusters) STARPU_DEPRECATED;

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PARALLEL_WORKER */
#endif /* STARPU_PARALLEL_WORKER_H */
