/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/drive.h"

#include <errno.h>

#include "base/check.h"
#include "core/sched/sched.h"
#include "core/wait.h"

/* worker->driven */
enum { DRIVEN_BY_ITSELF, DRIVEN_BY_NOBODY, DRIVEN_ATTACHED, DRIVEN_NOW };

struct worker *drive_find(struct node *node, const struct starpu_driver *driver)
{
	unsigned number = driver->type == STARPU_CPU_WORKER    ? driver->id.cpu_id
			  : driver->type == STARPU_CUDA_WORKER ? driver->id.cuda_id
			  : driver->type == STARPU_HIP_WORKER  ? driver->id.hip_id
							       : ~0u;

	for (int i = 0; i < node->nworkers; i++)
		if (node->workers[i].type == driver->type &&
		    (unsigned)node->workers[i].devid == number)
			return &node->workers[i];
	return NULL;
}

void drive_open(struct node *node)
{
	const struct starpu_conf *conf = node->conf;

	orr_lock_init(&node->drivers.lock);
	for (unsigned i = 0; i < conf->n_not_launched_drivers; i++) {
		struct worker *worker = drive_find(node, &conf->not_launched_drivers[i]);

		if (worker)
			worker->driven = DRIVEN_BY_NOBODY;
		else
			orr_complain(node->rank,
				     "starpu_init: conf.not_launched_drivers[%u] names a "
				     "device of type %d that no worker has; expected one "
				     "of the %d workers' devices, counted from 0 within "
				     "its type",
				     i, (int)conf->not_launched_drivers[i].type,
				     node->nworkers);
	}
}

/* From state on; from here on the node stays open until leave(). */
static int enter(struct worker *worker, int state)
{
	struct drivers *drivers = &worker->node->drivers;

	if (!orr_cas(&worker->driven, state, DRIVEN_NOW))
		return orr_load(&worker->driven) == DRIVEN_BY_NOBODY ? -EINVAL : -EBUSY;
	orr_lock(&drivers->lock);
	drivers->ninside++;
	orr_unlock(&drivers->lock);
	return 0;
}

static void leave(struct worker *worker, int state)
{
	struct node *node = worker->node;
	struct drivers *drivers = &node->drivers;
	struct plat_gate *closer = NULL;

	orr_store(&worker->driven, state);
	orr_lock(&drivers->lock);
	orr_add(&drivers->nleaving, 1);
	if (--drivers->ninside == 0)
		closer = drivers->closer;
	orr_unlock(&drivers->lock);
	if (closer)
		plat_gate_open(node->plat, closer);
	orr_add(&drivers->nleaving, -1); /* The node may be gone after this. */
}

static void take_thread(struct worker *worker)
{
	if (worker->driver->begin)
		worker->driver->begin(worker);
}

int drive_begin(struct worker *worker)
{
	int ret = enter(worker, DRIVEN_BY_NOBODY);

	if (ret < 0)
		return ret;
	take_thread(worker);
	leave(worker, DRIVEN_ATTACHED);
	return 0;
}

int drive_once(struct worker *worker)
{
	int ret = enter(worker, DRIVEN_ATTACHED);

	if (ret < 0)
		return ret;
	ret = plat_worker_drive(worker, 1);
	leave(worker, DRIVEN_ATTACHED);
	return ret;
}

/* Who was woken for a task and leaves without it owes it to the others. */
static void wake_others(const struct worker *worker)
{
	for (int i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct sched *sched = orr_load_ptr((void **)&worker->scheds[i]);

		if (sched)
			workers_wake(sched, ~0u, 1);
	}
}

/* It takes nothing new, and ends what it has taken. */
static int finish_taken(struct worker *worker)
{
	int depth = orr_load(&worker->depth), ret = 0;

	orr_store(&worker->depth, 0);
	while (ret == 0 && worker->npipeline > 0)
		ret = plat_worker_drive(worker, 1);
	orr_store(&worker->depth, depth);
	return ret;
}

int drive_on(struct worker *worker)
{
	int ret = enter(worker, DRIVEN_BY_NOBODY), end;

	if (ret < 0)
		return ret;
	take_thread(worker);
	ret = plat_worker_drive(worker, 0);
	wake_others(worker);
	end = finish_taken(worker);
	leave(worker, DRIVEN_BY_NOBODY);
	return ret < 0 ? ret : end;
}

int drive_end(struct worker *worker)
{
	int ret = enter(worker, DRIVEN_ATTACHED);

	if (ret < 0)
		return ret;
	ret = finish_taken(worker);
	leave(worker, DRIVEN_BY_NOBODY);
	return ret;
}

int drive_is_missed(const struct worker *worker)
{
	int driven = orr_load(&worker->driven);

	return driven == DRIVEN_BY_NOBODY || driven == DRIVEN_ATTACHED;
}

void drive_dismiss(struct node *node)
{
	orr_store(&node->drivers.are_dismissed, 1);
	orr_fence();
	for (int i = 0; i < node->nworkers; i++)
		if (orr_load(&node->workers[i].driven))
			plat_worker_wake(&node->workers[i]);
}

void drive_close(struct node *node)
{
	struct drivers *drivers = &node->drivers;
	struct plat_gate gate;
	int ninside;

	drive_dismiss(node);
	plat_gate_init(&gate);
	orr_lock(&drivers->lock);
	ninside = drivers->ninside;
	drivers->closer = &gate;
	orr_unlock(&drivers->lock);
	if (ninside > 0)
		wait_at(node, &gate, WAIT_THREAD, "starpu_shutdown");
	while (orr_load(&drivers->nleaving) > 0)
		plat_sleep(node->plat, 1e-6);
}
