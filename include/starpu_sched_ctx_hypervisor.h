/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Contexts that something above them resizes: it is told what happens in a context, and
 * moves workers with starpu_sched_ctx_add_workers() and
 * starpu_sched_ctx_remove_workers(), also in the calls.
 */
#ifndef STARPU_SCHED_CTX_HYPERVISOR_H
#define STARPU_SCHED_CTX_HYPERVISOR_H

#include <stddef.h>
#include <stdint.h>

#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What is called about a context; NULL: nothing.  Any thread calls, several at a time,
 * with nothing of the library locked.  The calls must not block.
 */
struct starpu_sched_ctx_performance_counters {
	/* The worker had no task for so long, in microseconds.  Long spans come in
	 * pieces: at wake-ups that bring nothing, and with the next task. */
	void (*notify_idle_cycle)(unsigned sched_ctx_id, int worker, double idle_time);
	/* The worker has taken a task of the context. */
	void (*notify_poped_task)(unsigned sched_ctx_id, int worker);
	/* A task was given to the worker; it may have been taken by then.  Where the
	 * policy leaves open who takes it: as it is taken.  A policy of the application's
	 * tells it by starpu_sched_ctx_call_pushed_task_cb(). */
	void (*notify_pushed_task)(unsigned sched_ctx_id, int worker);
	/* The task's kernel has run, its successors have not begun.  data_size: bytes of
	 * its data; footprint: of its model, 0 without one; the others are the task's. */
	void (*notify_post_exec_task)(struct starpu_task *task, size_t data_size,
				      uint32_t footprint, int hypervisor_tag,
				      double flops);
	/* The task is being submitted. */
	void (*notify_submitted_job)(struct starpu_task *task, uint32_t footprint,
				     size_t data_size);
	/* A task is ready, and the context has no workers: it waits for some. */
	void (*notify_empty_ctx)(unsigned sched_ctx_id, struct starpu_task *task);
	/* The context is being deleted; its workers have left. */
	void (*notify_delete_context)(unsigned sched_ctx);
};

/** Call these, a struct starpu_sched_ctx_performance_counters that stays as long as the
 * context, or NULL for none any more; calls under way go on. */
void starpu_sched_ctx_set_perf_counters(unsigned sched_ctx_id, void *perf_counters);

/** For policies of the application's: a task was pushed to the worker. */
void starpu_sched_ctx_call_pushed_task_cb(int workerid, unsigned sched_ctx_id);

/** There is something that resizes contexts; kept for who asks, also before
 * starpu_init(). */
void starpu_sched_ctx_notify_hypervisor_exists(void);

/** Has that been said?  1 or 0. */
unsigned starpu_sched_ctx_check_if_hypervisor_exists(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_SCHED_CTX_HYPERVISOR_H */
