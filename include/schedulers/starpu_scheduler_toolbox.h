/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Queues of tasks for policies of the application's.  Nothing here locks: the policy does
 * that, or keeps a queue for one worker.  Times are whatever the policy writes,
 * microseconds by convention.  Who takes a task for a worker gets one that the worker
 * can execute, its first possible implementation set.
 *
 * Where StarPU's documentation leaves it open: each function that puts or takes a task
 * counts it in ntasks, and who puts it in nprocessed; the functions _inc() correct these
 * counts for tasks that the policy keeps elsewhere, and do not change what is in the
 * queue.  Expected times are kept for the policy and changed by nobody else.
 */
#ifndef SCHEDULERS_STARPU_SCHEDULER_TOOLBOX_H
#define SCHEDULERS_STARPU_SCHEDULER_TOOLBOX_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tasks in the order in which they came, or by priority.  The fields are private. */
struct starpu_st_fifo_taskq {
	void *tasks;
	unsigned ntasks, nprocessed;
	double exp_start, exp_end, exp_len, pipeline_len;
	double *exp_len_per_priority;
	unsigned *ntasks_per_priority;
};
typedef struct starpu_st_fifo_taskq *starpu_st_fifo_taskq_t;

/** Tasks by priority, taken from either end.  The field is private. */
struct starpu_st_prio_deque {
	void *tasks;
};
typedef struct starpu_st_prio_deque *starpu_st_prio_deque_t;

/** Number of entries of the arrays per priority. */
#define STARPU_ST_NPRIORITIES 1024

/** An empty queue on the heap; starpu_st_fifo_taskq_destroy() frees it. */
starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void);

/** Make a queue that holds nothing yet empty: all counts 0, exp_start and exp_end now.
 * Not needed after starpu_st_fifo_taskq_create(). */
void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo);

/** Free a queue of starpu_st_fifo_taskq_create(); the tasks in it stay the policy's. */
void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo);

/** 1 when no task is in it, else 0; also while others change it. */
int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo);

/** What the tasks that a sorted queue would place before the task are expected to take on
 * a worker with an implementation, in microseconds; those without a model count 0.
 * *fifo_ntasks, unless it is NULL, becomes their number. */
double starpu_st_fifo_taskq_get_exp_len_prev_task_list(starpu_st_fifo_taskq_t fifo_queue,
						       struct starpu_task *task,
						       int workerid, int nimpl,
						       int *fifo_ntasks);

/** The counts, see above. */
unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n);
unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n);

/** Arrays of STARPU_ST_NPRIORITIES entries, 0 at first, that the policy keeps by
 * starpu_st_normalize_prio(). */
unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo);
double *starpu_st_fifo_exp_len_per_priority_get(starpu_st_fifo_taskq_t fifo);

/** Expected start and end of the tasks in it, their sum, and of those taken that have not
 * started. */
double starpu_st_fifo_exp_start_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_start_set(starpu_st_fifo_taskq_t fifo, double exp_start);
double starpu_st_fifo_exp_end_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_end_set(starpu_st_fifo_taskq_t fifo, double exp_end);
double starpu_st_fifo_exp_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_len_set(starpu_st_fifo_taskq_t fifo, double exp_len);
void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len);
double starpu_st_fifo_pipeline_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_pipeline_len_set(starpu_st_fifo_taskq_t fifo, double pipeline_len);
void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo, double pipeline_len);

/** Put a task behind those of its priority and before those of lower ones; 0. */
int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo_queue,
					  struct starpu_task *task);

/** Put a task behind all others; 0.  Both are one. */
int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo, struct starpu_task *task);
int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo_queue,
					struct starpu_task *task);

/** Take this task, which is there, if the worker (-1: any) can execute it: 1, else 0. */
int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo_queue, int workerid,
				       struct starpu_task *task);

/** Take the first task that the worker can execute; NULL without one. */
struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo,
						  int workerid);

/** Take the first task, whoever can execute it; NULL without one. */
struct starpu_task *starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo);

/** Take, of the tasks with the priority of the first, the first for which the fewest
 * bytes would have to come to the worker's memory; NULL without one.  Where
 * num_priorities is positive, the array ntasks_per_priority is counted down. */
struct starpu_task *
starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo_queue,
					  unsigned workerid, int num_priorities);

/** Make a deque that holds nothing yet empty; free what it needs. */
void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque);
void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque);

/** 1 when no task is in it, else 0; also while others change it. */
int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque);

/** Put a task behind, or before, those of its priority; 0. */
int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque,
					struct starpu_task *task);
int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque,
					 struct starpu_task *task);

/** The first task of the highest priority, which stays (highest) or is taken; the last
 * one of the lowest (back); NULL without one. */
struct starpu_task *starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque);

/** Take the first task (pop), or the last one (deque), that the worker can execute; NULL
 * without one.  *skipped, unless it is NULL, becomes the first one that was passed over
 * because the worker cannot, or NULL: others may want to be woken for it. */
struct starpu_task *
starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque, int workerid,
					 struct starpu_task **skipped);
struct starpu_task *
starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque, int workerid,
					   struct starpu_task **skipped);

/** As starpu_st_fifo_taskq_pop_first_ready_task(). */
struct starpu_task *
starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
					    unsigned workerid);

/** As starpu_st_fifo_taskq_pop_this_task(). */
int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque, int workerid,
				       struct starpu_task *task);

/** Take out a task that is there. */
void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque, struct starpu_task *task);

/** A priority between the least and the greatest of the context, scaled to 0 to
 * num_priorities - 1. */
int starpu_st_normalize_prio(int priority, int num_priorities, unsigned sched_ctx_id);

/** How many of the data that the task reads or writes are not in the worker's memory. */
int starpu_st_non_ready_buffers_count(struct starpu_task *task, unsigned worker);

/** Bytes of the task's data that are not in the worker's memory; those of these that are
 * not on their way there; those of these that have no room there. */
void starpu_st_non_ready_buffers_size(struct starpu_task *task, unsigned worker,
				      size_t *non_readyp, size_t *non_loadingp,
				      size_t *non_allocatedp);

#ifdef __cplusplus
}
#endif

#endif /* SCHEDULERS_STARPU_SCHEDULER_TOOLBOX_H */
