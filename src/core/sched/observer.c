/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/observer.h"

#include "core/data/data.h"
#include "core/model/model.h"
#include "core/sched/contexts.h"
#include "core/sched/sched_own.h"
#include "core/task/task.h"

typedef const struct starpu_sched_ctx_performance_counters *calls_t;

/* In job->observed. */
enum { OBSERVED_FLOPS = 1, OBSERVED_PUSHED = 2 };

static calls_t calls_of(struct sched *sched)
{
	return orr_load_ptr((void **)(uintptr_t)&sched->observer);
}

void observer_set(struct sched *sched, calls_t calls)
{
	void **at = (void **)(uintptr_t)&sched->observer;
	int was_set = orr_swap_ptr(at, (void *)(uintptr_t)calls) != NULL;

	orr_add(&sched->node->nobserved, (calls != NULL) - was_set);
}

void observer_pushed(struct sched *sched, int worker)
{
	calls_t calls = calls_of(sched);

	if (calls && calls->notify_pushed_task)
		calls->notify_pushed_task((unsigned)sched->id, worker);
}

/* ---- of a task ------------------------------------------------------- */

static size_t bytes_of(const struct job *job)
{
	size_t bytes = 0;

	for (int i = 0; i < job->naccesses; i++)
		bytes += data_bytes(job->accesses[i].datum);
	return bytes;
}

static uint32_t footprint_of(const struct job *job)
{
	const struct starpu_codelet *cl = job->task->cl;

	return cl && cl->model ? model_footprint(cl->model, job->task) : 0;
}

void observer_submitted(struct job *job)
{
	calls_t calls = calls_of(job->sched);

	job->observed = 0;
	if (calls && calls->notify_submitted_job)
		calls->notify_submitted_job(job->task, footprint_of(job), bytes_of(job));
}

static void count_flops(struct job *job)
{
	struct sched *sched = job->sched;

	if (job->task->flops == 0 || (job->observed & OBSERVED_FLOPS))
		return;
	job->observed |= OBSERVED_FLOPS;
	orr_lock(&sched->lock);
	sched->ready_flops += job->task->flops;
	sched->nwith_flops++;
	orr_unlock(&sched->lock);
}

/* Its number may have been changed meanwhile: nothing of that stays. */
static void uncount_flops(struct job *job)
{
	struct sched *sched = job->sched;

	if (!(job->observed & OBSERVED_FLOPS))
		return;
	job->observed &= (unsigned char)~OBSERVED_FLOPS;
	orr_lock(&sched->lock);
	sched->ready_flops -= job->task->flops;
	if (--sched->nwith_flops == 0)
		sched->ready_flops = 0;
	orr_unlock(&sched->lock);
}

double observer_ready_flops(struct sched *sched)
{
	double flops;

	orr_lock(&sched->lock);
	flops = sched->ready_flops;
	orr_unlock(&sched->lock);
	return flops;
}

static int is_placed(const struct job *job)
{
	const struct starpu_task *task = job->task;

	/* Of a team, whoever leads it. */
	if (task->execute_on_a_specific_worker)
		return task->workerid < (unsigned)job->node->nworkers;
	return job->sched->ops->places;
}

/* Who is held comes back. */
static int has_workers(const struct sched *sched)
{
	for (int i = 0; i < sched->node->nworkers; i++)
		if (contexts_owns(sched, &sched->node->workers[i]))
			return 1;
	return 0;
}

void observer_ready(struct job *job)
{
	struct sched *sched = job->sched;
	calls_t calls = calls_of(sched);

	count_flops(job);
	if (calls && calls->notify_empty_ctx && !has_workers(sched))
		calls->notify_empty_ctx((unsigned)sched->id, job->task);
}

int observer_will_place(struct job *job)
{
	int was_told = job->observed & OBSERVED_PUSHED;

	if (is_placed(job))
		job->observed |= OBSERVED_PUSHED;
	return is_placed(job) && !was_told;
}

void observer_put_aside(struct job *job)
{
	job->observed &= (unsigned char)~OBSERVED_PUSHED;
}

void observer_taken(struct worker *worker, struct job *job)
{
	struct sched *sched = job->sched;
	calls_t calls = calls_of(sched);

	observer_idle(worker, 0);
	if (!calls)
		return;
	/* A policy of the application's tells its pushes itself. */
	if (!(job->observed & OBSERVED_PUSHED) &&
	    (sched->ops != &sched_own || sched->inner))
		observer_pushed(sched, worker->id);
	if (calls->notify_poped_task)
		calls->notify_poped_task((unsigned)sched->id, worker->id);
}

void observer_executed(struct job *job)
{
	calls_t calls = calls_of(job->sched);
	struct starpu_task *task = job->task;

	uncount_flops(job);
	if (calls && calls->notify_post_exec_task)
		calls->notify_post_exec_task(task, bytes_of(job), footprint_of(job),
					     (int)task->hypervisor_tag, task->flops);
}

void observer_deleted(struct sched *sched)
{
	calls_t calls = calls_of(sched);

	observer_set(sched, NULL);
	if (calls && calls->notify_delete_context)
		calls->notify_delete_context((unsigned)sched->id);
}

/* ---- of a worker ----------------------------------------------------- */

/* What it is told of is told in pieces; their sum is how long it was idle. */
void observer_idle(struct worker *worker, int is_idle)
{
	double since_s = worker->idle_since_s, now_s;

	if (orr_load(&worker->node->nobserved) == 0) {
		worker->idle_since_s = 0;
		return;
	}
	if (!is_idle && since_s == 0)
		return;
	now_s = plat_now_s(worker->node->plat);
	worker->idle_since_s = is_idle ? now_s : 0;
	if (since_s == 0 || now_s <= since_s)
		return;
	for (int i = 0; i < worker->njoined; i++) {
		struct sched *sched = worker->joined[i];
		calls_t calls = calls_of(sched);

		if (calls && calls->notify_idle_cycle)
			calls->notify_idle_cycle((unsigned)sched->id, worker->id,
						 (now_s - since_s) * 1e6);
	}
}
