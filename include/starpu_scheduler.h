/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Scheduling policies and what they ask about tasks.  Times are in
 * microseconds: NaN when the model is not calibrated, 0 without model.
 * All functions need an initialised library and may be called by any thread.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_SCHEDULER_H
#define STARPU_SCHEDULER_H

#include <starpu_config.h>
#include <starpu_perfmodel.h>
#include <starpu_task.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A policy: where ready tasks wait and which of them a worker gets.  Only push_task()
 * and, unless it puts all tasks with starpu_push_local_task(), pop_task() are needed.
 * They are called by any thread, several at once: the policy has its own locks.  They
 * must neither wait for tasks nor submit any.
 */
struct starpu_sched_policy {
	/* Once each, by the thread that opens the library or the context, and the last
	 * one that uses it. */
	void (*init_sched)(unsigned sched_ctx_id);
	void (*deinit_sched)(unsigned sched_ctx_id);
	/* A task has become ready; 0 when accepted.  It comes again when its data were
	 * not free when a worker took it (commuting accesses, arbiters). */
	int (*push_task)(struct starpu_task *);
	/* Never called by the library.  Those of dm, dmda, dmdap, dmdar, dmdas and dmdasd
	 * tell a policy that is made of them when a task that its push_task() was given
	 * is expected to end, in microseconds of starpu_timing_now(), or NaN. */
	double (*simulate_push_task)(struct starpu_task *);
	/* A task that must run on workerid goes there without the policy. */
	void (*push_task_notify)(struct starpu_task *, int workerid, int perf_workerid,
				 unsigned sched_ctx_id);
	/* The calling worker wants a task; NULL when there is none for it.  Those of
	 * peager and pheft return none for a parallel task, which its workers begin
	 * together afterwards; the hooks are called by the first of these. */
	struct starpu_task *(*pop_task)(unsigned sched_ctx_id);
	/* By the thread that submits it; not of acquisitions of data, which are no tasks
	 * here. */
	void (*submit_hook)(struct starpu_task *task);
	/* By the worker, around the kernel; of bound tasks, too. */
	void (*pre_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	void (*post_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	/* starpu_do_schedule(), or somebody waits for all tasks. */
	void (*do_schedule)(unsigned sched_ctx_id);
	/* What the policy has for workers that leave it gives to others. */
	void (*add_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	void (*remove_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	int prefetches; /* no effect */
	const char *policy_name;
	const char *policy_description;
	/* Of the context's collection, which the library makes. */
	enum starpu_worker_collection_type worker_type;
};

/** The policies of the library, the last followed by NULL. */
struct starpu_sched_policy **starpu_sched_get_predefined_policies(void);

/**
 * A library that STARPU_SCHED_LIB names defines these; ours does not.  It is linked with
 * ours, as programs are; in simulation all ranks share its variables.  The first returns
 * its policy of that name, or NULL; it is asked before the policies above are.  The
 * second returns all of them, the last followed by NULL, for STARPU_SCHED=help.
 */
struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name);
struct starpu_sched_policy **starpu_get_sched_lib_policies(void);

/** The policy of context 0. */
struct starpu_sched_policy *starpu_sched_get_sched_policy(void);

/** The policy of a context. */
struct starpu_sched_policy *starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id);

/** Priorities below are raised to the least that the policy knows. */
#define STARPU_MIN_PRIO (starpu_sched_get_min_priority())
/** Priorities above are lowered to the greatest that the policy knows. */
#define STARPU_MAX_PRIO (starpu_sched_get_max_priority())
/** Priority of a task that sets none. */
#define STARPU_DEFAULT_PRIO 0

/** The least priority; 0 when the policy ignores priorities. */
int starpu_sched_get_min_priority(void);

/** The greatest priority; 0 when the policy ignores priorities. */
int starpu_sched_get_max_priority(void);

/** Set the least priority; returns 0. */
int starpu_sched_set_min_priority(int min_prio);

/** Set the greatest priority; returns 0. */
int starpu_sched_set_max_priority(int max_prio);

/** Whether a worker can execute implementation nimpl of the task: its kind can, workerids
 * names it, and can_execute agrees.  execute_on_a_specific_worker is not looked at: such
 * tasks come to no policy. */
int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
				   unsigned nimpl);

/** Set *impl_mask to the implementations it can execute; whether there are any. */
int starpu_worker_can_execute_task_impl(unsigned workerid, struct starpu_task *task,
					unsigned *impl_mask);

/** Set *nimpl to the first implementation it can execute; whether there is one. */
int starpu_worker_can_execute_task_first_impl(unsigned workerid, struct starpu_task *task,
					      unsigned *nimpl);

/** Number that tells tasks of different sizes apart, as the model defines it. */
uint32_t starpu_task_footprint(struct starpu_perfmodel *model, struct starpu_task *task,
			       struct starpu_perfmodel_arch *arch, unsigned nimpl);

/** The same from the shapes of the task's data. */
uint32_t starpu_task_data_footprint(struct starpu_task *task);

/** How long implementation nimpl takes on an architecture. */
double starpu_task_expected_length(struct starpu_task *task,
				   struct starpu_perfmodel_arch *arch, unsigned nimpl);

/** How long implementation nimpl takes on a worker. */
double starpu_task_worker_expected_length(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl);

/**
 * The harmonic mean over the context's workers that can execute the task, each with its
 * best implementation: what it takes when they share many such tasks, times their
 * number.  NaN when one of them does not know, or none can execute it.
 */
double starpu_task_expected_length_average(struct starpu_task *task,
					   unsigned sched_ctx_id);

/** The same of joules. */
double starpu_task_expected_energy_average(struct starpu_task *task,
					   unsigned sched_ctx_id);

/*
 * For policies of the application's
 */

/** The policy has taken the task; returns 0. */
int starpu_push_task_end(struct starpu_task *task);

/** Give the task, which push_task() was called with, to one worker, whose tasks of this
 * kind go before those of the policy, whatever their priorities: with back 0 in the order
 * of their arrival, otherwise it is the next one.  Returns 0. */
int starpu_push_local_task(int workerid, struct starpu_task *task, int back);

/** 1 unless STARPU_PREFETCH is 0. */
int starpu_get_prefetch_flag(void);

/** Nothing: each worker asks its policy. */
void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id);

/**
 * A mutex and a condition of the worker's own, for policies that wake it by a signal,
 * with starpu_pthread_cond_signal() or _broadcast().  They last until starpu_shutdown().
 * The library itself does not take the mutex, not around pop_task() either.
 */
void starpu_worker_get_sched_condition(int workerid, starpu_pthread_mutex_t **sched_mutex,
				       starpu_pthread_cond_t **sched_cond);

/** A policy says that it decides about the task: a debugger stops there when
 * STARPU_TASK_BREAK_ON_SCHED is its number. */
void starpu_sched_task_break(struct starpu_task *task);

/**
 * Called with data when a task starts of which it is known that it lasts delay
 * microseconds, for each other that waits for nothing but its end, by the worker that
 * starts the former.  It must not wait.
 */
typedef void (*starpu_notify_ready_soon_func)(void *data, struct starpu_task *task,
					      double delay);

/** The function to call from now on, instead of the one before; NULL: none. */
void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f, void *data);

/** Wake the worker if it sleeps for want of tasks: 1, else 0.  The caller may hold its
 * lock or not: all four are one. */
int starpu_wake_worker_relax(int workerid);
int starpu_wake_worker_no_relax(int workerid);
int starpu_wake_worker_locked(int workerid);
int starpu_wake_worker_relax_light(int workerid);

/**
 * Bring to a memory what the task only reads; what it writes comes when a worker takes
 * it. Returns at once with 0; a prefetch that finds no room is dropped.  prio, 0 without
 * it, and idleness are those of starpu_data_prefetch_on_node_prio() and
 * starpu_data_idle_prefetch_on_node_prio().
 */
int starpu_prefetch_task_input_on_node(struct starpu_task *task, unsigned node);
int starpu_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node,
					    int prio);
int starpu_idle_prefetch_task_input_on_node(struct starpu_task *task, unsigned node);
int starpu_idle_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node,
						 int prio);
/** The same to the memory of a worker. */
int starpu_prefetch_task_input_for(struct starpu_task *task, unsigned worker);
int starpu_prefetch_task_input_for_prio(struct starpu_task *task, unsigned worker,
					int prio);
int starpu_idle_prefetch_task_input_for(struct starpu_task *task, unsigned worker);
int starpu_idle_prefetch_task_input_for_prio(struct starpu_task *task, unsigned worker,
					     int prio);

/** How much faster than a core an architecture is taken to be. */
double starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch);

/** How long the conversions last that the task's data of several formats need, as they
 * are now, on an architecture, in microseconds. */
double starpu_task_expected_conversion_time(struct starpu_task *task,
					    struct starpu_perfmodel_arch *arch,
					    unsigned nimpl);

/** How long it takes to bring the datum's value to a memory for this access. */
double starpu_data_expected_transfer_time(starpu_data_handle_t handle,
					  unsigned memory_node,
					  enum starpu_data_access_mode mode);

/** The same of all data of a task. */
double starpu_task_expected_data_transfer_time(unsigned memory_node,
					       struct starpu_task *task);

/** The same to the memory of a worker. */
double starpu_task_expected_data_transfer_time_for(struct starpu_task *task,
						   unsigned worker);

/** Joules by the codelet's energy_model on an architecture. */
double starpu_task_expected_energy(struct starpu_task *task,
				   struct starpu_perfmodel_arch *arch, unsigned nimpl);

/** Joules on a worker. */
double starpu_task_worker_expected_energy(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_SCHEDULER_H */
