/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/sched_modular.h"

#include <limits.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/inner.h"
#include "core/task/task.h"

static struct sched *modular_open(struct node *node)
{
	(void)node;
	return orr_alloc(sizeof(struct sched));
}

static void modular_opened(struct sched *sched)
{
	const struct modular *modular = ORR_CONTAINER(sched->ops, struct modular, ops);

	simple_build(tree_new(sched), modular->decisions, modular->n);
}

static void modular_close(struct sched *sched)
{
	if (sched->tree)
		tree_free(sched->tree);
	free(sched);
}

static struct worker *modular_push(struct sched *sched, struct job *job)
{
	job->implementation = 0;
	tree_push(sched->tree, job->task);
	return NULL;
}

static struct job *modular_pop(struct sched *sched, struct worker *worker)
{
	struct starpu_task *task = tree_pop(sched->tree, worker);

	return task ? task->starpu_private : NULL;
}

static void modular_started(struct sched *sched, struct worker *worker, struct job *job)
{
	tree_started(sched->tree, worker, job);
}

static void modular_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	(void)job;
	tree_ended(sched->tree, worker);
}

static void modular_schedule(struct sched *sched)
{
	tree_schedule(sched->tree);
}

static void modular_workers_come(struct sched *sched, int *ids, unsigned n)
{
	tree_change_workers(sched->tree, ids, n, 1);
}

/* The tree itself passes on what it has for them. */
static void modular_workers_leave(struct sched *sched, int *ids, unsigned n)
{
	tree_change_workers(sched->tree, ids, n, 0);
}

#define WORKERS           STARPU_SCHED_SIMPLE_DECIDE_WORKERS
#define MEMNODES          STARPU_SCHED_SIMPLE_DECIDE_MEMNODES
#define ALWAYS            STARPU_SCHED_SIMPLE_DECIDE_ALWAYS
#define PERFMODEL         STARPU_SCHED_SIMPLE_PERFMODEL
#define IMPL              STARPU_SCHED_SIMPLE_IMPL
#define FIFO_ABOVE        STARPU_SCHED_SIMPLE_FIFO_ABOVE
#define ABOVE             (ALWAYS | FIFO_ABOVE)
#define ABOVE_PRIO        (FIFO_ABOVE | STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO)
#define FIFOS_BELOW       STARPU_SCHED_SIMPLE_FIFOS_BELOW
#define FIFOS_BELOW_PRIO  STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO
#define BELOW_PRIO        (FIFOS_BELOW | FIFOS_BELOW_PRIO)
#define FIFOS_BELOW_READY STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY
#define NOLIMIT           STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT
#define WS_BELOW          STARPU_SCHED_SIMPLE_WS_BELOW
#define COMBINED          STARPU_SCHED_SIMPLE_COMBINED_WORKERS

/* A second decision there is in one of them only, which counts it. */
#define MODULAR(id, name, description, knows_priorities, kind, with)                     \
	[MODULAR_##id] = {.ops = {.object = {.policy_name = "modular-" name,             \
					     .policy_description = description,          \
					     INNER_CALLS(id)},                           \
				  .least = knows_priorities ? INT_MIN : 0,               \
				  .most = knows_priorities ? INT_MAX : 0,                \
				  .open = modular_open,                                  \
				  .opened = modular_opened,                              \
				  .close = modular_close,                                \
				  .push = modular_push,                                  \
				  .pop = modular_pop,                                    \
				  .started = modular_started,                            \
				  .ended = modular_ended,                                \
				  .schedule = modular_schedule,                          \
				  .workers_come = modular_workers_come,                  \
				  .workers_leave = modular_workers_leave},               \
			  .n = MODULAR_##id == MODULAR_HETEROPRIO_HEFT ? 2 : 1,          \
			  .decisions = {{.create = component_##kind, .flags = with},     \
					{.create = component_heft,                       \
					 .flags = WORKERS | BELOW_PRIO | IMPL}}},

const struct modular sched_modulars[NMODULARS] = {MODULAR_POLICIES(MODULAR)};
