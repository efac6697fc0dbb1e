/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/telling.h"

static int bit_of(const struct worker *worker)
{
	return (int)(1u << (worker->id % 32));
}

int telling_knows(const struct sched *sched, const struct worker *worker)
{
	return (orr_load(&sched->told[worker->id / 32]) & bit_of(worker)) != 0;
}

static void flip_told(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->told[worker->id / 32], old;

	do
		old = orr_load(word);
	while (!orr_cas(word, old, old ^ bit_of(worker)));
}

static int take_turn(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->telling[worker->id / 32], old;

	do {
		old = orr_load(word);
		if (old & bit_of(worker))
			return 0;
	} while (!orr_cas(word, old, old | bit_of(worker)));
	return 1;
}

/* The set is read after it: who changed it meanwhile has found the turn taken. */
static void give_turn(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->telling[worker->id / 32], old;

	do
		old = orr_load(word);
	while (!orr_cas(word, old, old & ~bit_of(worker)));
}

/* The caller has the turn.  Between the two flips the policy has all that it keeps for
 * the worker. */
static void tell(struct sched *sched, struct worker *worker, int comes)
{
	struct ready left = {0};
	int id = worker->id;

	if (comes) {
		sched->ops->workers_come(sched, &id, 1);
		flip_told(sched, worker);
	} else {
		flip_told(sched, worker);
		sched->ops->remove_worker(sched, worker, &left);
	}
}

/* Returns whether something was told. */
static int settle(struct sched *sched, struct worker *worker)
{
	int n = 0;

	while (telling_knows(sched, worker) != sched_has(sched, worker) &&
	       take_turn(sched, worker)) {
		int comes = sched_has(sched, worker);

		if (telling_knows(sched, worker) != comes) {
			tell(sched, worker, comes);
			n++;
		}
		give_turn(sched, worker);
	}
	return n > 0;
}

int telling_begin(struct sched *sched, const int *ids, int n, int *mine)
{
	int fresh[STARPU_NMAXWORKERS];
	unsigned nfresh = 0;
	int nmine = 0;

	for (int i = 0; i < n; i++) {
		const struct worker *worker = &sched->node->workers[ids[i]];

		if (!take_turn(sched, worker))
			continue;
		mine[nmine++] = ids[i];
		if (!telling_knows(sched, worker))
			fresh[nfresh++] = ids[i];
	}
	if (!nfresh)
		return nmine;
	sched->ops->workers_come(sched, fresh, nfresh);
	for (int i = 0; i < nmine; i++)
		if (!telling_knows(sched, &sched->node->workers[mine[i]]))
			flip_told(sched, &sched->node->workers[mine[i]]);
	return nmine;
}

int telling_end(struct sched *sched, struct worker *worker)
{
	give_turn(sched, worker);
	return settle(sched, worker);
}

void telling_first(struct sched *sched)
{
	int ids[STARPU_NMAXWORKERS];
	unsigned n = 0;

	SCHED_EACH_WORKER(worker, sched)
	{
		flip_told(sched, worker);
		ids[n++] = worker->id;
	}
	sched->ops->workers_come(sched, ids, n);
}

void telling_settle(struct sched *sched)
{
	orr_fence();
	for (int i = 0; i < sched->node->nworkers; i++)
		settle(sched, &sched->node->workers[i]);
}
