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

#include <starpu_config.h>
#include <starpu_scheduler.h>
#include <starpu_task.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** Which of the context's workers the caller is, from 0 on; (unsigned)-1: none. */
unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id);

/** The same as an int; -1: none. */
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

/** Whether the policy, the environment or the application has set it: 1 or 0. */
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
