/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/foresee.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/model/model.h"
#include "core/task/fold.h"
#include "core/task/links.h"
#include "core/task/turns.h"

/* Who waits for the job that starts, and for how many of its things. */
struct followers {
	struct follower {
		struct job *job;
		int nmissing;
	} * of;
	int n, room;
};

/* What is missing to a follower is locked. */
static void add_follower(void *arg, struct job *job)
{
	struct followers *all = arg;
	int i = 0;

	while (i < all->n && all->of[i].job != job)
		i++;
	if (i < all->n) {
		all->of[i].nmissing++;
		return;
	}
	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->of = orr_realloc(all->of, (size_t)all->room * sizeof(*all->of));
	}
	all->of[all->n++] = (struct follower){job, 1};
}

/* Those whose turn on the datum comes when this access gives it back. */
static void add_next_turns(struct followers *all, const struct access *access)
{
	starpu_data_handle_t datum = access->datum;
	const struct data_body *body;
	const struct access *next;

	if (access->state != ACCESS_GRANTED || (access->mode & ACCESS_UNORDERED))
		return;
	orr_lock(&datum->lock);
	body = datum->body;
	next = body->nactive == 1 ? body->waiting : NULL;
	for (const struct access *first = next; next; next = next->next) {
		if (turn_of(body, next) != turn_of(body, first))
			break;
		add_follower(all, next->job);
		if (!turn_of(body, first)->shares)
			break;
	}
	orr_unlock(&datum->lock);
}

/* They cannot go before the job has ended, and it is only about to begin. */
static void tell_followers(struct job *job, double delay_s,
			   starpu_notify_ready_soon_func call, void *arg)
{
	struct followers all = {0};

	for (int i = 0; i < job->naccesses; i++)
		add_next_turns(&all, &job->accesses[i]);
	links_followers(job, add_follower, &all);
	for (int i = 0; i < all.n; i++) {
		struct job *after = all.of[i].job;

		if (!job_has_task(after) ||
		    orr_load(&after->missing) != all.of[i].nmissing)
			continue;
		job_unfold(after);
		call(arg, after->task, delay_s * 1e6);
	}
	free(all.of);
}

/* Negative: nobody knows. */
static double expected_s(struct job *job)
{
	struct model_estimate estimate;

	if (job->predicted_s > 0)
		return job->predicted_s;
	if (job->task->predicted > 0)
		return job->task->predicted * 1e-6;
	if (!job->task->cl)
		return -1;
	estimate = model_expect(job->worker, job->task, job->implementation);
	return estimate.source == MODEL_NONE ? -1 : estimate.seconds;
}

void foresee(struct job *job, enum event_kind kind)
{
	struct foresight *foresight = &job->node->foresight;
	starpu_notify_ready_soon_func call;
	double end_s;
	void *arg;

	if (kind == EVENT_TASK_ENDED)
		orr_note(&job->worker->expected_end, event_bits(0));
	if (kind != EVENT_TASK_STARTED)
		return;
	end_s = expected_s(job);
	if (end_s < 0)
		return;
	orr_note(&job->worker->expected_end,
		 event_bits(plat_now_s(job->node->plat) + end_s));
	orr_lock(&foresight->lock);
	call = foresight->call;
	arg = foresight->arg;
	orr_unlock(&foresight->lock);
	if (call)
		tell_followers(job, end_s, call, arg);
}

void foresee_tell(struct node *node, starpu_notify_ready_soon_func call, void *arg)
{
	orr_lock(&node->foresight.lock);
	node->foresight.call = call;
	node->foresight.arg = arg;
	orr_unlock(&node->foresight.lock);
	events_use(&node->events, EVENT_FORESEES, 1);
}

double foresee_end_s(struct worker *worker)
{
	events_use(&worker->node->events, EVENT_FORESEES, 1);
	return event_date_s(orr_count(&worker->expected_end));
}
