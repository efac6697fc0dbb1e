/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_INNER_H
#define ORR_CORE_SCHED_INNER_H

/*
 * inner.h - a policy of ours inside one of the application's, which calls its functions.
 *
 * The functions in the objects of ours (starpu_sched_get_predefined_policies()) work on
 * sched->inner: a scheduler of our policy that init_sched() puts into that of the
 * context, which is sched->outer of it.  The inner one is in no list of schedulers and no
 * worker joins it: it has the set of workers of the outer one, by which it hears of
 * workers, starts and ends, so those functions of ours tell nothing more.  What decides
 * is called by the application: push_task(), pop_task(), do_schedule().
 */
#include "core/sched/sched.h"
#include "core/sched/sched_modular.h"

#define INNER_DECLARE(policy)          void inner_init_##policy(unsigned id);
#define INNER_DECLARE_MODULAR(id, ...) INNER_DECLARE(id)
SCHED_POLICIES(INNER_DECLARE)
MODULAR_POLICIES(INNER_DECLARE_MODULAR)
#undef INNER_DECLARE_MODULAR
#undef INNER_DECLARE

void inner_deinit(unsigned id);
int inner_push_task(struct starpu_task *task);
struct starpu_task *inner_pop_task(unsigned id);
void inner_do_schedule(unsigned id);
/* The scheduler knows already, or hears by itself. */
void inner_notify(struct starpu_task *task, int worker, int perf_worker, unsigned id);
void inner_hook(struct starpu_task *task, unsigned id);
void inner_workers(unsigned id, int *ids, unsigned n);

/* Microseconds, of starpu_timing_now(); NaN: nobody knows.  Only of policies that reckon
 * with durations, as of StarPU's. */
double inner_simulate_push_task(struct starpu_task *task);
#define INNER_SIMULATES_dm               , inner_simulate_push_task
#define INNER_SIMULATES_dmda             , inner_simulate_push_task
#define INNER_SIMULATES_dmdap            , inner_simulate_push_task
#define INNER_SIMULATES_dmdar            , inner_simulate_push_task
#define INNER_SIMULATES_dmdas            , inner_simulate_push_task
#define INNER_SIMULATES_dmdasd           , inner_simulate_push_task
#define INNER_SECOND(first, second, ...) second
/* What stands there for the policy, else NULL. */
#define INNER_OR_NULL(...) INNER_SECOND(__VA_ARGS__, NULL, )

/* The functions of a policy's object, which differ by init_sched alone. */
#define INNER_CALLS(policy)                                                              \
	.init_sched = inner_init_##policy, .deinit_sched = inner_deinit,                 \
	.push_task = inner_push_task,                                                    \
	.simulate_push_task = INNER_OR_NULL(INNER_SIMULATES_##policy),                   \
	.push_task_notify = inner_notify, .pop_task = inner_pop_task,                    \
	.pre_exec_hook = inner_hook, .post_exec_hook = inner_hook,                       \
	.do_schedule = inner_do_schedule, .add_workers = inner_workers,                  \
	.remove_workers = inner_workers, .worker_type = STARPU_WORKER_LIST

/* ---- for the scheduler around it; all of them when there is none, too --- */

/* A worker comes or has left; node->scheds_lock is taken. */
void inner_flip(struct sched *inner, const struct worker *worker);
/* Push again what lies at workers that have left, or aside. */
void inner_settle(struct sched *inner);
struct job *inner_pop(struct sched *inner, struct worker *worker);
void inner_schedule(struct sched *inner);
void inner_close(struct sched *outer);

#endif
