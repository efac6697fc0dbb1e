/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/counters.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/worker.h"

/* Where a counted task is, as a value of counters->stages. */
enum stage { STAGE_NONE, STAGE_WAITING, STAGE_READY, STAGE_BEGUN };

static struct counters *counters_of(struct node *node)
{
	return orr_load_ptr((void **)&node->counters);
}

static void free_empty(struct counters *counters)
{
	free(counters->workers);
	free(counters);
}

/* The same, made when there are none yet. */
static struct counters *counters_made(struct node *node)
{
	struct counters *counters = counters_of(node);

	if (counters)
		return counters;
	counters = orr_alloc(sizeof(*counters));
	counters->workers = orr_alloc((size_t)node->nworkers * sizeof(struct tally));
	orr_lock_init(&counters->lock);
	if (!orr_cas_ptr((void **)&node->counters, NULL, counters))
		free_empty(counters);
	return counters_of(node);
}

static void forget_listener(struct tally *tally)
{
	if (tally->listener)
		counters_drop(tally->listener);
	tally->listener = NULL;
}

void counters_free(struct node *node)
{
	struct counters *counters = counters_of(node);
	struct tally *tally;
	size_t cursor = 0;

	if (!counters)
		return;
	while ((tally = table_next(&counters->codelets, &cursor))) {
		forget_listener(tally);
		free(tally);
	}
	forget_listener(&counters->all);
	for (int i = 0; i < node->nworkers; i++)
		forget_listener(&counters->workers[i]);
	table_free(&counters->codelets);
	table_free(&counters->stages);
	free_empty(counters);
	node->counters = NULL;
}

/* ---- on and off ------------------------------------------------------ */

void counters_start(struct node *node)
{
	struct counters *counters = counters_made(node);

	orr_lock(&counters->lock);
	counters->is_on = 1;
	orr_unlock(&counters->lock);
	events_use(&node->events, EVENT_COUNTS, 1);
}

/* Of the tasks on their way nothing more will be known. */
void counters_stop(struct node *node)
{
	struct counters *counters = counters_of(node);
	struct tally *tally;
	size_t cursor = 0;

	if (!counters)
		return;
	events_use(&node->events, EVENT_COUNTS, 0);
	orr_lock(&counters->lock);
	counters->is_on = 0;
	table_free(&counters->stages);
	counters->stages = (struct table){0};
	counters->all.nwaiting = counters->all.nready = 0;
	while ((tally = table_next(&counters->codelets, &cursor)))
		tally->nwaiting = tally->nready = 0;
	orr_unlock(&counters->lock);
}

/* ---- counting; the counters are locked ------------------------------- */

static struct tally *of_codelet(struct counters *counters,
				const struct starpu_codelet *cl)
{
	struct tally *tally = table_get(&counters->codelets, (uintptr_t)cl);

	if (!tally) {
		tally = orr_alloc(sizeof(*tally));
		table_put(&counters->codelets, (uintptr_t)cl, tally);
	}
	return tally;
}

static void add_submitted(struct tally *tally)
{
	tally->total_submitted++;
}

static void add_waiting(struct tally *tally, int change)
{
	tally->nwaiting += change;
	if (tally->peak_submitted < tally->nwaiting)
		tally->peak_submitted = tally->nwaiting;
}

static void add_ready(struct tally *tally, int change)
{
	tally->nready += change;
	if (tally->peak_ready < tally->nready)
		tally->peak_ready = tally->nready;
}

static void add_executed(struct tally *tally, double duration_s)
{
	tally->total_executed++;
	tally->execution_us += 1e6 * duration_s;
}

static void change_stage(struct tally *tally, enum stage from, enum stage to)
{
	if (from == STAGE_WAITING)
		add_waiting(tally, -1);
	if (from == STAGE_READY)
		add_ready(tally, -1);
	if (to == STAGE_WAITING)
		add_waiting(tally, 1);
	if (to == STAGE_READY)
		add_ready(tally, 1);
}

/* A task that waits for exclusion is pushed again: it stays ready. */
static void move(struct counters *counters, struct tally *codelet, uint64_t id,
		 enum stage to)
{
	enum stage from = (enum stage)(uintptr_t)table_get(&counters->stages, id);

	if (from == to || (from == STAGE_NONE && to != STAGE_WAITING))
		return;
	change_stage(&counters->all, from, to);
	if (codelet)
		change_stage(codelet, from, to);
	if (to == STAGE_NONE)
		table_remove(&counters->stages, id);
	else
		table_put(&counters->stages, id, (void *)(uintptr_t)to);
}

/* What a task leaves in the tallies that it counts in; codelet may be NULL. */
static void count(struct counters *counters, struct tally *codelet, struct job *job,
		  enum event_kind kind)
{
	switch (kind) {
	case EVENT_TASK_SUBMITTED:
		add_submitted(&counters->all);
		if (codelet)
			add_submitted(codelet);
		move(counters, codelet, job->id, STAGE_WAITING);
		break;
	case EVENT_TASK_PUSHED:
		move(counters, codelet, job->id, STAGE_READY);
		break;
	case EVENT_TASK_STARTED:
		move(counters, codelet, job->id, STAGE_BEGUN);
		break;
	case EVENT_TASK_ENDED:
		add_executed(&counters->all, job->duration_s);
		add_executed(&counters->workers[job->worker->id], job->duration_s);
		if (codelet)
			add_executed(codelet, job->duration_s);
		break;
	default: /* before it terminates */
		move(counters, codelet, job->id, STAGE_NONE);
	}
}

/* ---- telling --------------------------------------------------------- */

void counters_drop(struct counters_listener *listener)
{
	if (orr_add(&listener->nusers, -1) == 0)
		listener->free(listener);
}

/* Call the listener, with the counters unlocked meanwhile. */
static void call(struct counters *counters, struct tally *tally, const struct node *node)
{
	struct counters_listener *listener = tally->listener;
	struct tally values = *tally;
	OUTSIDE(outside);

	orr_add(&listener->nusers, 1);
	orr_unlock(&counters->lock);
	outside_enter(&outside, node, "the callback of a listener of counters");
	listener->heard(listener, &values);
	outside_end(&outside);
	counters_drop(listener);
	orr_lock(&counters->lock);
}

/* The counters are locked, but for the time of calls. */
static void tell(struct counters *counters, struct tally *tally, const struct node *node)
{
	if (!tally || !tally->listener)
		return;
	if (tally->teller) {
		tally->is_behind = 1;
		return;
	}
	tally->teller = plat_caller(node->plat);
	do {
		tally->is_behind = 0;
		call(counters, tally, node);
	} while (tally->is_behind && tally->listener);
	tally->teller = NULL;
}

static int is_counted(enum event_kind kind)
{
	return kind == EVENT_TASK_SUBMITTED || kind == EVENT_TASK_PUSHED ||
	       kind == EVENT_TASK_STARTED || kind == EVENT_TASK_ENDED ||
	       kind == EVENT_TASK_CALLING;
}

void counters_task(struct job *job, enum event_kind kind)
{
	struct node *node = job->node;
	struct counters *counters = counters_of(node);
	const struct starpu_codelet *cl = job->task->cl;
	struct tally *worker = NULL, *codelet = NULL;

	if (job->is_inside || !is_counted(kind))
		return;
	if (kind == EVENT_TASK_ENDED)
		worker = &counters->workers[job->worker->id];
	orr_lock(&counters->lock);
	if (counters->is_on) {
		if (cl)
			codelet = of_codelet(counters, cl);
		count(counters, codelet, job, kind);
		/* The others change nothing that is told. */
		if (kind != EVENT_TASK_STARTED && kind != EVENT_TASK_CALLING) {
			tell(counters, &counters->all, node);
			tell(counters, worker, node);
			tell(counters, codelet, node);
		}
	}
	orr_unlock(&counters->lock);
}

/* ---- listening ------------------------------------------------------- */

static struct tally *tally_of(struct counters *counters, struct counters_subject subject)
{
	if (subject.cl)
		return of_codelet(counters, subject.cl);
	return subject.worker ? &counters->workers[subject.worker->id] : &counters->all;
}

/* Where threads take turns, a call that is under way is further up the stack. */
static int is_told_by_another(const struct tally *tally, const struct node *node)
{
	return tally->teller && !node->machine->takes_turns &&
	       tally->teller != plat_caller(node->plat);
}

void counters_listen(struct node *node, struct counters_subject subject,
		     struct counters_listener *listener)
{
	struct counters *counters = counters_made(node);
	struct counters_listener *before;
	struct tally *tally;

	orr_lock(&counters->lock);
	tally = tally_of(counters, subject);
	before = tally->listener;
	tally->listener = listener;
	if (listener)
		orr_add(&listener->nusers, 1);
	while (is_told_by_another(tally, node)) {
		orr_unlock(&counters->lock);
		plat_yield(node->plat);
		orr_lock(&counters->lock);
	}
	orr_unlock(&counters->lock);
	if (before)
		counters_drop(before);
}
