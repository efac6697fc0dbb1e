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

/** A policy: where ready tasks wait and which of them a worker gets. */
struct starpu_sched_policy {
	void (*init_sched)(unsigned sched_ctx_id);
	void (*deinit_sched)(unsigned sched_ctx_id);
	/* A task has become ready; 0 when accepted. */
	int (*push_task)(struct starpu_task *);
	double (*simulate_push_task)(struct starpu_task *);
	void (*push_task_notify)(struct starpu_task *, int workerid, int perf_workerid,
				 unsigned sched_ctx_id);
	/* The calling worker wants a task; NULL when there is none for it. */
	struct starpu_task *(*pop_task)(unsigned sched_ctx_id);
	void (*submit_hook)(struct starpu_task *task);
	void (*pre_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	void (*post_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	void (*do_schedule)(unsigned sched_ctx_id);
	void (*add_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	void (*remove_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	int prefetches;
	const char *policy_name;
	const char *policy_description;
	enum starpu_worker_collection_type worker_type;
};

/** The policies of the library, the last followed by NULL. */
struct starpu_sched_policy **starpu_sched_get_predefined_policies(void);

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

/** Whether a worker can execute implementation nimpl of the task. */
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

/** Time until the data are on a memory node for an access in mode: 0 when they are there,
 * or are not read. */
double starpu_data_expected_transfer_time(starpu_data_handle_t handle,
					  unsigned memory_node,
					  enum starpu_data_access_mode mode);

/** The sum of it over the data of a task. */
double starpu_task_expected_data_transfer_time(unsigned memory_node,
					       struct starpu_task *task);

/** The same for the memory node of a worker. */
double starpu_task_expected_data_transfer_time_for(struct starpu_task *task,
						   unsigned worker);

/** Whether data of tasks are fetched ahead: STARPU_PREFETCH. */
int starpu_get_prefetch_flag(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_SCHEDULER_H */
