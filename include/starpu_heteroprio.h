/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STARPU_HETEROPRIO_H
#define STARPU_HETEROPRIO_H

/**
 * starpu_heteroprio.h - policy heteroprio: tasks wait in buckets of alike ones, and each
 * type of workers has its own order of buckets.
 *
 * By itself the policy asks performance models: accelerators begin with the tasks that
 * gain most on them, cores with those that gain least; between tasks that gain alike the
 * more urgent goes first.  The functions here end that, from the first call on: the
 * priority of a task (0 to 99) is then the number of its bucket, and each type of workers
 * looks at the buckets that it is told of, in that order.  With the variable
 * STARPU_HETEROPRIO_USE_AUTO_CALIBRATION=0 all look at all, 0 the first.
 *
 * Call them before the first task is submitted, from starpu_conf.sched_policy_callback or
 * from the STARPU_SCHED_CTX_POLICY_INIT of a context.  They end the program with a
 * message when the context has another policy, when a number is out of range, and when
 * tasks wait already.  Any thread.
 */
#include <stdio.h>

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/** StarPU's tasks ahead of a worker; no effect: those of GPUs are STARPU_CUDA_PIPELINE.
 */
#define STARPU_HETEROPRIO_MAX_PREFETCH 2

/** Workers of the type look at so many buckets, 0 to 100: those of their priorities 0,
 * which goes first, to max_prio - 1. */
void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id,
				    enum starpu_worker_archtype arch, unsigned max_prio);

/** Their priority source_prio (0 to 99) is bucket dest_bucket_id (0 to 99); unless told
 * otherwise it is the bucket of the same number. */
void starpu_heteroprio_set_mapping(unsigned sched_ctx_id,
				   enum starpu_worker_archtype arch, unsigned source_prio,
				   unsigned dest_bucket_id);

/** Workers of the type are the fastest with tasks of the bucket.  Others take such tasks
 * only when, for n tasks there and w workers of the type, n / w is at least their slow
 * factor; so they always take them while it is 0, and when there is no such worker. */
void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id,
				       enum starpu_worker_archtype arch,
				       unsigned bucket_id);

/** How many times as long as the fastest, workers of the type take for tasks of the
 * bucket: 0, which it is unless told, or more. */
void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id,
					    enum starpu_worker_archtype arch,
					    unsigned bucket_id, float slow_factor);

/** 1: in each bucket, tasks wait at the memory where most of their data are, and workers
 * look at their own memory first; 0: they do not.  Unless told, STARPU_HETEROPRIO_USE_LA
 * says which.  Does not end the order by models. */
void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id, unsigned use_locality);

/** Groups of workers that look at the same tasks first are those of a memory: there are
 * no others, so this is the same as use_locality 1. */
void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id);

/** A line for each memory: the numbers of the context's workers there. */
void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id);

#ifdef __cplusplus
}
#endif

#endif
