/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/sched_own.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/sched/aliases.h"
#include "core/sched/contexts.h"
#include "core/sched/inner.h"
#include "core/sched/relax.h"
#include "core/sched/teams.h"
#include "core/sched/telling.h"
#include "core/task/codelet.h"
#include "core/task/task.h"

static struct sched *own_open(struct node *node)
{
	(void)node;
	return orr_alloc(sizeof(struct sched));
}

static void own_opened(struct sched *sched)
{
	contexts_collection(sched);
	telling_open(sched);
}

static void begin(struct outside *outside, const struct sched *sched, const char *what)
{
	outside_enter(outside, sched->node, what);
}

static void tell_leave(struct sched *sched, int *ids, unsigned n)
{
	OUTSIDE(outside);

	if (!sched->policy->remove_workers)
		return;
	begin(&outside, sched, "remove_workers of a scheduling policy");
	sched->policy->remove_workers((unsigned)sched->id, ids, n);
	outside_end(&outside);
}

/* At the end of the node there are those that never left. */
static void remove_all(struct sched *sched)
{
	int ids[STARPU_NMAXWORKERS];
	unsigned n = 0;

	for (int i = 0; i < sched->node->nworkers; i++)
		if (telling_knows(sched, &sched->node->workers[i]))
			ids[n++] = i;
	if (n > 0)
		tell_leave(sched, ids, n);
}

static void own_closing(struct sched *sched)
{
	OUTSIDE(outside);

	if (!sched->policy->deinit_sched)
		return;
	begin(&outside, sched, "deinit_sched of a scheduling policy");
	sched->policy->deinit_sched((unsigned)sched->id);
	outside_end(&outside);
}

static void own_close(struct sched *sched)
{
	if (!sched->is_closed) {
		remove_all(sched);
		own_closing(sched);
	}
	inner_close(sched);
	free(sched);
}

static void own_workers_come(struct sched *sched, int *ids, unsigned n)
{
	OUTSIDE(outside);

	if (sched->policy->add_workers) {
		begin(&outside, sched, "add_workers of a scheduling policy");
		sched->policy->add_workers((unsigned)sched->id, ids, n);
		outside_end(&outside);
	}
	if (sched->inner && sched->inner->ops->workers_come)
		sched->inner->ops->workers_come(sched->inner, ids, n);
}

/* The policy itself passes on what it has for the workers, which look for no task of it
 * from now on, see own_pop(), and once its lock has been taken, none does any more. */
static void own_workers_leave(struct sched *sched, int *ids, unsigned n)
{
	struct worker *self = plat_current_worker(sched->node->plat);

	for (unsigned i = 0; i < n; i++) {
		struct worker *worker = &sched->node->workers[ids[i]];

		relax_lock(self, worker);
		relax_unlock(self, worker);
	}
	tell_leave(sched, ids, n);
	if (sched->inner && sched->inner->ops->workers_leave)
		sched->inner->ops->workers_leave(sched->inner, ids, n);
}

static struct worker *own_push(struct sched *sched, struct job *job)
{
	OUTSIDE(outside);
	int ret;

	job->implementation = 0;
	job->task->scheduled = 1;
	/* It may have run and be gone afterwards. */
	begin(&outside, sched, "push_task of a scheduling policy");
	ret = sched->policy->push_task(job->task);
	outside_end(&outside);
	if (ret)
		orr_die(sched->node->rank,
			"push_task of scheduling policy \"%s\" returned %d, expected 0: "
			"the task would never run",
			sched->policy->policy_name, ret);
	orr_fence();
	workers_wake(sched, ~0u, 1);
	return NULL;
}

/* The application may have chosen. */
static void choose_implementation(struct worker *worker, struct job *job)
{
	unsigned i = job->implementation;

	if (worker_next_implementation(worker, job->task, i) != i)
		worker_choose_implementation(worker, job);
}

__attribute__((noreturn)) static void refuse_stranger(const struct sched *sched,
						      const struct worker *worker,
						      const struct starpu_task *task)
{
	orr_die(sched->node->rank,
		"pop_task of scheduling policy \"%s\" gave worker %d task \"%s\", which "
		"has not been submitted; expected one that push_task was given, or its "
		"starpu_task_dup() after starpu_parallel_task_barrier_init*()",
		sched->policy->policy_name, worker->id, task_name(task));
}

/* Where it has no function for it, one of ours inside it is asked. */
static struct starpu_task *ask(struct sched *sched, struct worker *worker)
{
	struct starpu_task *task;
	struct job *job;
	OUTSIDE(outside);

	if (sched->policy->pop_task) {
		outside_begin(&outside, sched->node, &worker->caller,
			      "pop_task of a scheduling policy");
		task = sched->policy->pop_task((unsigned)sched->id);
		outside_end(&outside);
		return task;
	}
	job = inner_pop(sched->inner, worker);
	return job ? job->task : NULL;
}

static struct job *own_pop(struct sched *sched, struct worker *worker)
{
	struct starpu_task *task = NULL;
	char what[JOB_NAME_BYTES];
	struct job *job;

	if (alias_is_awaiting(worker))
		return NULL;
	relax_hold(worker);
	/* It may have left since it looked at its schedulers, or not quite come; then the
	 * policy may be gone. */
	if (telling_knows(sched, worker))
		task = ask(sched, worker);
	relax_let(worker);
	if (!task)
		return NULL;
	job = task->starpu_private;
	if (!job || job->life == LIFE_NEW)
		refuse_stranger(sched, worker, task);
	if (!worker_can_run_job(worker, job)) {
		job->ops->describe(job, what, sizeof(what));
		orr_die(sched->node->rank,
			"pop_task of scheduling policy \"%s\" gave worker %d %s, which "
			"it cannot run; ask starpu_worker_can_execute_task() before",
			sched->policy->policy_name, worker->id, what);
	}
	if (alias_taken(worker, task, 1))
		return NULL;
	choose_implementation(worker, job);
	return job;
}

/* The hook may ask for the current task. */
static void own_started(struct sched *sched, struct worker *worker, struct job *job)
{
	struct plat_caller *caller = plat_caller(sched->node->plat);
	struct starpu_task *task = gang_task(worker, job), *outer = caller->task;
	OUTSIDE(outside);

	if (sched->inner && sched->inner->ops->started)
		sched->inner->ops->started(sched->inner, worker, job);
	if (!sched->policy->pre_exec_hook)
		return;
	caller->task = task;
	outside_begin(&outside, sched->node, caller,
		      "pre_exec_hook of a scheduling policy");
	sched->policy->pre_exec_hook(task, (unsigned)sched->id);
	outside_end(&outside);
	caller->task = outer;
}

static void tell_end(struct sched *sched, struct starpu_task *task)
{
	OUTSIDE(outside);

	if (!sched->policy->post_exec_hook)
		return;
	task->status = STARPU_TASK_FINISHED;
	begin(&outside, sched, "post_exec_hook of a scheduling policy");
	sched->policy->post_exec_hook(task, (unsigned)sched->id);
	outside_end(&outside);
}

/* Aliases are gone when the task has finished. */
static void own_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	struct starpu_task *task = gang_task(worker, job);

	if (sched->inner && sched->inner->ops->ended)
		sched->inner->ops->ended(sched->inner, worker, job);
	if (task == job->task)
		return;
	worker->told_end = job->worker == worker;
	tell_end(sched, task);
}

static void own_finished(struct sched *sched, struct worker *worker, struct job *job)
{
	if (!worker->told_end)
		tell_end(sched, job->task);
	worker->told_end = 0;
}

static double own_expect(struct worker *worker, struct job *job)
{
	struct sched *sched = job->sched;
	OUTSIDE(outside);

	if (sched->policy->push_task_notify) {
		begin(&outside, sched, "push_task_notify of a scheduling policy");
		sched->policy->push_task_notify(job->task, worker->id, worker->id,
						(unsigned)sched->id);
		outside_end(&outside);
	}
	if (sched->inner && sched->inner->ops->expect)
		return sched->inner->ops->expect(worker, job);
	return -1;
}

/* Policies of the application's may ask the codelet where it can run. */
static void own_submitted(struct sched *sched, struct starpu_task *task)
{
	struct starpu_codelet *cl = task->cl;
	OUTSIDE(outside);

	if (cl && !codelet_stated_where(cl))
		codelet_state_where(sched->node, cl);
	if (!sched->policy->submit_hook)
		return;
	begin(&outside, sched, "submit_hook of a scheduling policy");
	sched->policy->submit_hook(task);
	outside_end(&outside);
}

static void own_schedule(struct sched *sched)
{
	OUTSIDE(outside);

	if (!sched->policy->do_schedule) {
		inner_schedule(sched->inner);
		return;
	}
	begin(&outside, sched, "do_schedule of a scheduling policy");
	sched->policy->do_schedule((unsigned)sched->id);
	outside_end(&outside);
}

static void own_quiet(struct sched *sched, unsigned memory)
{
	if (sched->inner && sched->inner->ops->quiet)
		sched->inner->ops->quiet(sched->inner, memory);
}

static int own_weigh(struct sched *sched, enum sched_weight weight, double *value,
		     int is_set)
{
	if (!sched->inner || !sched->inner->ops->weigh)
		return -1;
	return sched->inner->ops->weigh(sched->inner, weight, value, is_set);
}

const struct sched_ops sched_own = {
	.object = {.policy_name = "own", .policy_description = "the application's"},
	.open = own_open,
	.opened = own_opened,
	.close = own_close,
	.push = own_push,
	.pop = own_pop,
	.started = own_started,
	.ended = own_ended,
	.finished = own_finished,
	.expect = own_expect,
	.submitted = own_submitted,
	.schedule = own_schedule,
	.quiet = own_quiet,
	.weigh = own_weigh,
	.workers_come = own_workers_come,
	.workers_leave = own_workers_leave,
	.closing = own_closing,
};
