/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Contexts: a scheduling policy and the workers that it decides for.  Context 0 is there
 * from the start and has all workers.  What policies of the application's ask about their
 * context.  All functions need an initialised library and may be called by any thread; an
 * id that is no context ends the program.
 */
#ifndef STARPU_SCHED_CTX_H
#define STARPU_SCHED_CTX_H

#include <stdio.h>

#include <starpu_config.h>
#include <starpu_scheduler.h>
#include <starpu_task.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arguments of starpu_sched_ctx_create(): one of these, then its value. */
#define STARPU_SCHED_CTX_POLICY_NAME     (1 << 16)  /* const char *; "": the usual one */
#define STARPU_SCHED_CTX_POLICY_STRUCT   (2 << 16)  /* struct starpu_sched_policy * */
#define STARPU_SCHED_CTX_POLICY_MIN_PRIO (3 << 16)  /* int */
#define STARPU_SCHED_CTX_POLICY_MAX_PRIO (4 << 16)  /* int */
#define STARPU_SCHED_CTX_HIERARCHY_LEVEL (5 << 16)  /* int */
#define STARPU_SCHED_CTX_NESTED          (6 << 16)  /* unsigned: the context around it */
#define STARPU_SCHED_CTX_AWAKE_WORKERS   (7 << 16)  /* no value */
#define STARPU_SCHED_CTX_POLICY_INIT     (8 << 16)  /* void (*)(unsigned), for its id */
#define STARPU_SCHED_CTX_USER_DATA       (9 << 16)  /* void * */
#define STARPU_SCHED_CTX_CUDA_NSMS       (10 << 16) /* int, which is kept */
#define STARPU_SCHED_CTX_SUB_CTXS        (11 << 16) /* int *, int: nested in this one */

/**
 * A new context; tasks go there by STARPU_SCHED_CTX, starpu_task_submit_to_ctx() or
 * starpu_sched_ctx_set_context().  It has the workers named, or with NULL all (0 workers:
 * none).  These also stay where they are: a worker of several contexts takes tasks of
 * each in turns, see starpu_sched_ctx_set_priority().  Then come arguments from above,
 * and 0.
 *
 * Without a policy, the context keeps the cores of its workers free for code that runs in
 * parallel: its workers sleep, whatever else they belong to, but for one, the master (the
 * first core, or the first device), which runs the tasks of the context one by one and
 * those of its other contexts.  With STARPU_SCHED_CTX_AWAKE_WORKERS the others sleep not:
 * all its cores call the kernel of each task, and starpu_sched_ctx_get_worker_rank() says
 * which is whose part; of a STARPU_FORKJOIN codelet the first one calls it.
 *
 * Priorities are what the policy knows, unless bounds are given.  More contexts than
 * STARPU_NMAX_SCHED_CTXS, the initial one included, end the program.
 */
unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx,
				 const char *sched_ctx_name, ...);

/** The same with a policy, and workers that the library chooses: as many as there are up
 * to max, first those that belong to the initial context alone; others only if they may
 * overlap.  Fewer than min end the program. */
unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
						 const char *sched_ctx_name,
						 int min_ncpus, int max_ncpus,
						 int min_ngpus, int max_ngpus,
						 unsigned allow_overlap);

/** Workers come and go while tasks run: who has begun a task ends it.  A worker may
 * belong to no context, and then sleeps. */
void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx,
				  unsigned sched_ctx_id);
void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
				     unsigned sched_ctx_id);

/** Of the contexts of a worker, those with the highest priority go first: 0 to 255, 0
 * unless it is set. */
void starpu_sched_ctx_set_priority(int *workers, int nworkers, unsigned sched_ctx_id,
				   unsigned priority);
unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id);

/** No more tasks will be submitted to it.  As soon as all have ended, its inheritor, if
 * it has one, gets its workers, too, which leave this one when it is deleted, and the
 * close callback is called.  Who submits more all the same may finish again. */
void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id);

/** Called once, at the end of the context's last task after
 * starpu_sched_ctx_finished_submit(), or else by starpu_sched_ctx_delete(). */
void starpu_sched_ctx_register_close_callback(
	unsigned sched_ctx_id, void (*close_callback)(unsigned sched_ctx_id, void *args),
	void *args);

/** Wait for its tasks, then end it.  Its workers go to its inheritor; without one, those
 * that belong to no other go to context 0.  Not from tasks and callbacks while it has
 * tasks. */
void starpu_sched_ctx_delete(unsigned sched_ctx_id);

/** Who gets the workers; STARPU_NMAX_SCHED_CTXS: nobody.  The context around a nested
 * one, unless it is set.  Of an heir that is deleted, its own heir takes the place. */
void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor);
unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id);

/** 0 at the top, one more than the context around it, or as it was given. */
unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id);

/** STARPU_SCHED_CTX_CUDA_NSMS, or 0. */
int starpu_sched_ctx_get_nsms(unsigned sched_ctx);

/** The first worker of the context; -1: it has none. */
int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx);

/** The context with STARPU_SCHED_CTX_CUDA_NSMS that the worker belongs to;
 * STARPU_NMAX_SCHED_CTXS: none. */
unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid);

/** Where tasks of the calling thread go from now on that do not say it themselves; NULL:
 * to context 0. */
void starpu_sched_ctx_set_context(unsigned *sched_ctx_id);

/** STARPU_NMAX_SCHED_CTXS: none was set. */
unsigned starpu_sched_ctx_get_context(void);

/** Call func(param) while the context's cores do nothing else, and return what it does:
 * they end the tasks that they have begun, and take new ones afterwards.  From threads of
 * the application. */
void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
					  unsigned sched_ctx_id);

/** The cores of its CPU workers, as starpu_worker_get_bindid() tells them; the caller
 * frees *cpuids. */
void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids,
					   int *ncpuids);

/** Bind the calling thread to one of them, if workers are bound. */
void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid);

/** Write its workers' names. */
void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f);

/** Tasks of the context that wait for a worker or have one, and have not ended; those of
 * context 0 with acquisitions of data.  Others may change it meanwhile. */
int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id);

/** The sum of their flops. */
double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id);

/** Does the worker belong to several contexts?  1 or 0. */
unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid);

/** The context without a policy whose master the worker is, nested in sched_ctx_id or
 * anywhere; STARPU_NMAX_SCHED_CTXS: none. */
unsigned starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid,
							 unsigned sched_ctx_id);
unsigned starpu_sched_ctx_master_get_context(int masterid);

/** What the policy keeps for the context: NULL until it sets something. */
void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id);

/** Keep policy_data for the policy, which frees it in deinit_sched(). */
void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data);

/** What the application keeps for the context: NULL until it sets something. */
void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id);

/** Keep user_data for the application. */
void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data);

/** The policy of the context. */
struct starpu_sched_policy *starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id);

/** starpu_conf.sched_policy_callback, as it was given for the context; or NULL. */
void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(unsigned);

/** The context's workers, in the order of the collection: with a policy of the
 * application's the one that it asked for by worker_type, else a list. */
struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id);

/** The same: the library has made it, and type has no effect. */
struct starpu_worker_collection *
starpu_sched_ctx_create_worker_collection(unsigned sched_ctx_id,
					  enum starpu_worker_collection_type type);

/** Nothing: the library frees it with the context. */
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id);

/** Set *workerids to a new array, for the caller to free, of the context's workers;
 * returns how many. */
unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id, int **workerids);

/** The same with the library's own array, which changes when workers come and go. */
unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids);

/** How many workers the context has. */
unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id);

/** Workers that are in both contexts. */
unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id,
					      unsigned sched_ctx_id2);

/** 1 when the context has the worker, else 0. */
unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id);

/** 1 when the context has a worker of that type, else 0. */
unsigned starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
						  unsigned sched_ctx_id);

/** The caller's number if it is a worker of the context; (unsigned)-1: it is none. */
unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id);

/** Which of the context's workers the caller is, from 0 on; -1: none. */
int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id);

/** The context of a submitted task. */
unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task);

/** 1: it has a policy; *awake_workers is set to 0. */
unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id,
					       unsigned *awake_workers);

/** The least priority of the context's tasks; 0 when its policy ignores them. */
int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id);

/** The greatest priority; 0 when its policy ignores them. */
int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id);

/** Set the least priority, of tasks submitted from now on; returns 0. */
int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio);

/** Set the greatest priority; returns 0. */
int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio);

/** Whether it was given when the context was created, by the application or, of
 * context 0, the environment: 1 or 0. */
int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id);

/** The same of the greatest. */
int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id);

/**
 * Policies that share a queue between workers count in it the tasks that each might take,
 * so that StarPU asks only those workers.  Here all are asked: these change nothing.
 */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_reset(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(
	struct starpu_task *task, unsigned sched_ctx_id);
void starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(
	struct starpu_task *task, unsigned sched_ctx_id);
void starpu_sched_ctx_list_task_counters_reset_all(struct starpu_task *task,
						   unsigned sched_ctx_id);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_SCHED_CTX_H */
