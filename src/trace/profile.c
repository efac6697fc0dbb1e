/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "trace/profile.h"

#include <stdlib.h>

#include "base/check.h"

/* A worker and what it does now. */
struct account {
	struct profile_worker sums;
	int is_executing, is_helping, is_calling, nfetching, is_idle;
};

struct profile {
	struct event_sink sink; /* first */
	int is_on, nworkers;
	double stopped_s;
	struct account *accounts;
	struct profile_link links[STARPU_MAXNODES][STARPU_MAXNODES]; /* from, to */
};

/* ---- time ------------------------------------------------------------ */

/* What it has done since the last change.  Records of several threads may come a little
 * out of order. */
static void advance(struct account *account, double now_s)
{
	struct profile_worker *sums = &account->sums;
	const int applies[PROFILE_NSTATES] = {
		[PROFILE_EXECUTING] = account->is_executing || account->is_helping,
		[PROFILE_CALLING] = account->is_calling,
		[PROFILE_WAITING] = account->nfetching > 0,
		[PROFILE_SLEEPING] = account->is_idle && !account->is_helping,
		[PROFILE_SCHEDULING] = 1};
	double seconds = now_s - sums->until_s;
	int first = 0;

	if (seconds <= 0)
		return;
	sums->until_s = now_s;
	while (!applies[first])
		first++;
	sums->only_s[first] += seconds;
	for (int i = 0; i < PROFILE_SCHEDULING; i++)
		if (applies[i])
			sums->all_s[i] += seconds;
	if (first == PROFILE_SCHEDULING)
		sums->all_s[first] += seconds;
}

static void reset(struct account *account, double now_s)
{
	account->sums = (struct profile_worker){.since_s = now_s, .until_s = now_s};
}

/* ---- records --------------------------------------------------------- */

static void change(struct account *account, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TASK_FETCHING:
		account->nfetching++;
		account->is_idle = account->is_calling = 0;
		break;
	case EVENT_TASK_STARTED:
		account->is_executing = 1;
		account->is_idle = account->is_calling = 0;
		account->nfetching -= account->nfetching > 0;
		break;
	case EVENT_TASK_ENDED:
		account->is_executing = 0;
		break;
	case EVENT_HELP_BEGINS:
	case EVENT_HELP_ENDS:
		account->is_helping = event->kind == EVENT_HELP_BEGINS;
		break;
	case EVENT_TASK_CALLING:
		account->is_calling = 1;
		break;
	case EVENT_TASK_TERMINATED:
		account->is_calling = 0;
		break;
	case EVENT_WORKER_BUSY:
		account->is_idle = 0;
		break;
	case EVENT_WORKER_IDLE:
		account->is_idle = 1;
		account->is_calling = account->is_executing = account->nfetching = 0;
		break;
	case EVENT_TASK_FLOPS:
		account->sums.flops += event_date_s(event->value);
		break;
	case EVENT_TASK_JOULES:
		account->sums.energy_j += event_date_s(event->value);
		break;
	default:
		break;
	}
}

static void count_copy(struct profile *profile, const struct event *event)
{
	unsigned from = event->n >> 16, to = event->n & 0xffff;
	struct profile_link *link = &profile->links[from][to];

	link->bytes += event->value;
	link->ncopies++;
}

static void take_one(struct profile *profile, const struct event *event)
{
	struct account *account;

	if (event->kind == EVENT_COPY_ENDS)
		count_copy(profile, event);
	if (event->worker >= profile->nworkers)
		return;
	account = &profile->accounts[event->worker];
	/* A task that ran when counting began is first heard of at its end. */
	if (event->kind == EVENT_TASK_ENDED && !account->is_executing)
		account->is_executing = 1;
	advance(account, event->date_s);
	change(account, event);
}

static void take(struct event_sink *sink, int ring, const struct event *records,
		 unsigned n)
{
	(void)ring;
	for (unsigned i = 0; i < n; i++)
		take_one((struct profile *)(void *)sink, &records[i]);
}

/* ---- life ------------------------------------------------------------ */

struct profile *profile_open(int nworkers)
{
	struct profile *profile = orr_alloc(sizeof(*profile));

	profile->nworkers = nworkers;
	profile->accounts = orr_alloc((size_t)nworkers * sizeof(*profile->accounts));
	profile->sink.take = take;
	profile->sink.goes_on = 1;
	profile->sink.kinds =
		EVENT_BIT(EVENT_TASK_FETCHING) | EVENT_BIT(EVENT_TASK_STARTED) |
		EVENT_BIT(EVENT_TASK_ENDED) | EVENT_BIT(EVENT_TASK_CALLING) |
		EVENT_BIT(EVENT_TASK_TERMINATED) | EVENT_BIT(EVENT_WORKER_BUSY) |
		EVENT_BIT(EVENT_WORKER_IDLE) | EVENT_BIT(EVENT_TASK_FLOPS) |
		EVENT_BIT(EVENT_TASK_JOULES) | EVENT_BIT(EVENT_COPY_ENDS) |
		EVENT_BIT(EVENT_HELP_BEGINS) | EVENT_BIT(EVENT_HELP_ENDS);
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free(profile->accounts);
	free(profile);
}

struct event_sink *profile_sink(struct profile *profile)
{
	return &profile->sink;
}

/* Workers of which nothing is heard sleep: who has a task tells its end. */
void profile_start(struct profile *profile, double now_s)
{
	if (!profile->is_on)
		for (int i = 0; i < profile->nworkers; i++)
			profile->accounts[i] = (struct account){.is_idle = 1};
	profile->is_on = 1;
	for (int i = 0; i < profile->nworkers; i++)
		reset(&profile->accounts[i], now_s);
	for (int from = 0; from < STARPU_MAXNODES; from++)
		for (int to = 0; to < STARPU_MAXNODES; to++)
			profile->links[from][to] =
				(struct profile_link){.since_s = now_s};
}

void profile_stop(struct profile *profile, double now_s)
{
	profile->is_on = 0;
	profile->stopped_s = now_s;
	for (int i = 0; i < profile->nworkers; i++)
		advance(&profile->accounts[i], now_s);
}

/* ---- answers --------------------------------------------------------- */

struct profile_worker profile_take_worker(struct profile *profile, int worker,
					  double now_s)
{
	struct account *account = &profile->accounts[worker];
	struct profile_worker sums;

	if (profile->is_on)
		advance(account, now_s);
	else
		now_s = profile->stopped_s;
	sums = account->sums;
	reset(account, now_s);
	return sums;
}

struct profile_link profile_take_link(struct profile *profile, unsigned from, unsigned to,
				      double now_s)
{
	struct profile_link *link = &profile->links[from][to], taken;

	if (!profile->is_on)
		now_s = profile->stopped_s;
	taken = *link;
	taken.until_s = now_s;
	*link = (struct profile_link){.since_s = now_s};
	return taken;
}
