/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/exclusion.h"

#include "base/check.h"

/* A waiting writer lets so many readers in before it that came later. */
enum { EXCLUSION_MAX_OVERTAKEN = 1000 };

/* ---- locking several data -------------------------------------------- */

void sorted_fill(struct sorted *sorted, struct job *job)
{
	sorted->n = 0;
	if (job->own_accesses) {
		sorted->access = job->sorted;
		sorted->n = job->nsorted;
		return;
	}
	sorted->access = sorted->few;
	for (int i = 0, n = job->naccesses; i < n; i++) {
		struct access *access = &job->accesses[i];
		int k;

		if (access->skipped)
			continue;
		for (k = sorted->n++; k > 0; k--) {
			if (sorted->few[k - 1]->datum < access->datum)
				break;
			sorted->few[k] = sorted->few[k - 1];
		}
		sorted->few[k] = access;
	}
}

/* ---- what is held provisionally --------------------------------------- */

/* Keep the job from starting: 1, or 0 when it has started. */
static int hold_back(struct job *job)
{
	int missing = orr_load(&job->missing);

	while (missing > 0 && !orr_cas(&job->missing, missing, missing + 1))
		missing = orr_load(&job->missing);
	return missing > 0;
}

/* 1 when its job is still to take exclusion, for which it needs the datum's lock. */
static int take_back(struct access *access, struct ready *ready)
{
	struct job *job = access->job;

	if (hold_back(job)) {
		access->state = ACCESS_ORDERED;
		orr_store(&job->exclusive, 1);
		job_satisfy(job, ready);
		return 1;
	}
	if (!orr_load(&job->exclusive))
		return 0;
	access->state = ACCESS_ORDERED;
	return 1;
}

void exclusion_settle(struct data_body *body, struct ready *ready)
{
	struct access *access;

	while ((access = body->granted)) {
		exclusion_drop(body, access);
		if (!take_back(access, ready))
			exclusion_hold(body, &body->holding, access);
	}
}

/* ---- waiting and waking ----------------------------------------------- */

static void stand_outside(struct data_body *body, struct access *access, int first)
{
	struct access **last = &body->outside[access_writes(access)];

	if (!*last) {
		access->next = access;
		*last = access;
		return;
	}
	access->next = (*last)->next;
	(*last)->next = access;
	if (!first)
		*last = access;
}

/* The first of a list. */
static void call_in(struct access **last, struct access **woken)
{
	struct access *access = (*last)->next;

	if (access == *last)
		*last = NULL;
	else
		(*last)->next = access->next;
	access->next = *woken;
	*woken = access;
}

/* May readers join those inside, before a writer who waits? */
static int may_overtake(struct data_body *body)
{
	return !body->outside[1] || body->overtaken++ < EXCLUSION_MAX_OVERTAKEN;
}

/* Readers and writers by turns, when both wait for the datum. */
void exclusion_wake(struct data_body *body, struct access **woken)
{
	struct access **readers = &body->outside[0], **writers = &body->outside[1];

	if (body->nholders < 0)
		return;
	if (body->nholders == 0 && *writers && (!*readers || !body->last_wrote)) {
		body->overtaken = 0;
		call_in(writers, woken);
		return;
	}
	while (*readers && (body->nholders == 0 || may_overtake(body)))
		call_in(readers, woken);
}

/* Newcomers may join readers before a writer who waits, but not for ever. */
static int may_hold(struct data_body *body, const struct access *access,
		    const struct access *woken)
{
	if (!exclusion_allows(body, access))
		return 0;
	return access == woken || body->nholders == 0 || may_overtake(body);
}

/* Who hinders the job; its data are locked. */
static struct access *find_hindered(const struct sorted *sorted,
				    const struct access *woken, struct ready *ready)
{
	for (int i = 0; i < sorted->n; i++) {
		struct access *access = sorted->access[i];
		struct data_body *body = data_body(access->datum);

		if (access->state == ACCESS_GRANTED)
			continue;
		if (!exclusion_allows(body, access))
			exclusion_settle(body, ready);
		if (!may_hold(body, access, woken))
			return access;
	}
	return NULL;
}

/* What the job has by its turns only goes back: it holds all or nothing. */
static void drop_granted(const struct sorted *sorted)
{
	for (int i = 0; i < sorted->n; i++) {
		struct access *access = sorted->access[i];

		if (access->state != ACCESS_GRANTED)
			continue;
		exclusion_drop(data_body(access->datum), access);
		access->state = ACCESS_ORDERED;
	}
}

static void hold_all(const struct sorted *sorted)
{
	for (int i = 0; i < sorted->n; i++) {
		struct access *access = sorted->access[i];
		struct data_body *body = data_body(access->datum);

		if (access->state == ACCESS_GRANTED)
			continue;
		exclusion_hold(body, &body->holding, access);
		access->state = ACCESS_GRANTED;
	}
}

/*
 * woken, an access of the job or NULL, comes from outside its datum: when it cannot
 * hold, the next one there may.  All that touches data happens under their locks, while
 * the job's own accesses keep them alive.
 */
static int take(struct job *job, const struct access *woken, struct access **chain,
		struct ready *ready)
{
	struct access *hindered;
	struct sorted sorted;

	sorted_fill(&sorted, job);
	sorted_lock(&sorted);
	hindered = find_hindered(&sorted, woken, ready);
	if (hindered) {
		drop_granted(&sorted);
		stand_outside(data_body(hindered->datum), hindered, hindered == woken);
	} else {
		hold_all(&sorted);
		orr_store(&job->exclusive, 0);
	}
	for (int i = 0; i < sorted.n; i++)
		exclusion_wake(data_body(sorted.access[i]->datum), chain);
	sorted_unlock(&sorted);
	return !hindered;
}

void exclusion_retry(struct access *woken, struct ready *ready)
{
	while (woken) {
		struct access *access = woken;
		struct job *job = access->job;

		woken = access->next;
		if (take(job, access, &woken, ready))
			ready_append(ready, job);
	}
}

int exclusion_take(struct job *job, struct ready *ready)
{
	struct access *woken = NULL;
	int held = take(job, NULL, &woken, ready);

	exclusion_retry(woken, ready);
	return held;
}
