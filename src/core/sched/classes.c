/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/classes.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

int classes_hold_for(const struct node *node, const struct starpu_task *task)
{
	const struct starpu_perfmodel *model = task->cl->model;

	/* Who leads other cores has their model. */
	return !task->cl->can_execute && !task->workerids &&
	       !task->execute_on_a_specific_worker &&
	       !(model && model->type == STARPU_PER_WORKER) &&
	       orr_load(&node->nleaders) == 0;
}

/* Do both have one device's model, and one way to data? */
int classes_are_like(const struct worker *worker, const struct worker *other)
{
	return worker->device.type == other->device.type &&
	       worker->device.devid == other->device.devid &&
	       worker->memory == other->memory && worker->like->node == other->like->node;
}

/* Those that have no class yet and are as the first make the next. */
static int gather(struct classes *classes, struct node *node, int first, int nplaced)
{
	struct worker **workers = &classes->workers[nplaced];
	int n = 0;

	for (int i = first; i < node->nworkers; i++) {
		if (classes->seats[i].class >= 0 ||
		    !classes_are_like(&node->workers[i], &node->workers[first]))
			continue;
		classes->seats[i] = (struct seat){.class = classes->n, .place = n};
		workers[n++] = &node->workers[i];
	}
	classes->class[classes->n].memory = workers[0]->memory;
	soonest_init(&classes->class[classes->n++].soonest, workers, n);
	return nplaced + n;
}

void classes_init(struct classes *classes, struct node *node)
{
	size_t n = (size_t)node->nworkers;
	int nplaced = 0;

	*classes = (struct classes){
		.seen_changes = -1,
		.class = orr_alloc((n + 1) * sizeof(struct class)),
		.seats = orr_alloc((n + 1) * sizeof(struct seat)),
		.workers = orr_alloc((n + 1) * sizeof(struct worker *)),
	};
	for (int i = 0; i < node->nworkers; i++)
		classes->seats[i].class = -1;
	for (int i = 0; i < node->nworkers; i++)
		if (classes->seats[i].class < 0)
			nplaced = gather(classes, node, i, nplaced);
	/* Few, as a rule. */
	classes->class = orr_realloc(classes->class,
				     ((size_t)classes->n + 1) * sizeof(struct class));
}

void classes_free(struct classes *classes)
{
	for (int i = 0; i < classes->n; i++)
		soonest_free(&classes->class[i].soonest);
	free(classes->class);
	free(classes->seats);
	free(classes->workers);
}

void classes_choose(struct classes *classes,
		    int (*is_member)(const void *whose, const struct worker *worker),
		    const void *whose)
{
	for (int i = 0; i < classes->n; i++) {
		struct class *class = &classes->class[i];
		int nmembers = 0;

		for (int k = 0; k < class->soonest.n; k++) {
			const struct worker *worker = class->soonest.workers[k];
			struct seat *seat = &classes->seats[worker->id];

			seat->is_member = is_member(whose, worker);
			if (seat->is_member && nmembers++ == 0)
				class->first = k;
			if (!seat->is_member)
				soonest_set(&class->soonest, k, INFINITY, INFINITY);
		}
		orr_store(&class->nmembers, nmembers);
	}
}

static int is_of_sched(const void *sched, const struct worker *worker)
{
	return sched_worker_from((struct sched *)(uintptr_t)sched, worker->id) == worker;
}

void classes_follow(struct classes *classes, struct sched *sched)
{
	int changes = orr_load(&sched->changes);

	classes_choose(classes, is_of_sched, sched);
	orr_store(&classes->seen_changes, changes);
}

void classes_note(struct classes *classes, int worker, double waiting_s, double end_s)
{
	const struct seat *seat = &classes->seats[worker];

	if (seat->is_member)
		soonest_set(&classes->class[seat->class].soonest, seat->place, waiting_s,
			    end_s);
}
