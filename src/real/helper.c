/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <sched.h>

#include "real/real.h"

/*
 * helper.c - while tasks wait for messages, one of the idle workers polls the network and
 * executes at once what a message made ready: the core changes no hands on the way.
 *
 * The worker is progress.helper then, and progress.nhelped counts its polls.  Threads
 * that wait at gates, and the progress thread, nap while they see the count change.
 * A kick while there is a helper wakes nobody: the helper looks for kicks after each
 * task, and before it leaves.  It keeps the post while it executes short tasks; one whose
 * tasks are long leaves before each.  Who finds that the helper has not polled for a nap
 * takes the post away, and polls.
 *
 * Who has tasks polls between them when nobody did for a while: where workers have all
 * cores, a thread that polls and yields gets one of them after milliseconds.
 */

/* Without a task for so long, it leaves the network to others. */
#define HELP_S 100e-6
/* Who executes longer does not answer kicks. */
#define LONG_TASK_S 20e-6
/* It says that it does after so many such turns more than others: one may be due to
 * another process that had the core. */
enum { SLOW_TURNS = 2, MOST_SLOW_TURNS = 3 };
/* Between short tasks it polls so often. */
#define LOOK_S 10e-6
/* Others that have tasks poll when nobody has for so long. */
#define STILL_S 40e-6
enum { SHORT_STEPS = 4 }; /* that are shorter than a part of this: one look for all */

static int may_get_tasks(struct plat *plat)
{
	return node_nsubmitted(plat->node) > 0 || orr_load(&plat->node->serves);
}

static int is_post_free(struct plat *plat)
{
	struct progress *progress = &plat->progress;

	return __atomic_load_n(&progress->poll, __ATOMIC_RELAXED) &&
	       !orr_load_ptr(&progress->helper) && !orr_load(&progress->has_core) &&
	       !progress->is_explicit && may_get_tasks(plat);
}

static int take_post(struct plat *plat, struct worker *worker)
{
	void *none = NULL;

	return is_post_free(plat) &&
	       __atomic_compare_exchange_n(&plat->progress.helper, &none, worker, 0,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static int free_post(struct plat *plat, void *worker)
{
	return __atomic_compare_exchange_n(&plat->progress.helper, &worker, NULL, 0,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Returns whether a kick came that nobody has answered: who takes the post away polls. */
static int leave_post(struct plat *plat, struct worker *worker,
		      const struct helping *helping)
{
	return free_post(plat, worker) &&
	       orr_load(&plat->progress.kicks) != helping->kicks;
}

static int poll(struct plat *plat, struct helping *helping)
{
	struct progress *progress = &plat->progress;
	int advanced;

	helping->kicks = orr_load(&progress->kicks);
	advanced = progress_poll(plat);
	orr_add(&progress->nhelped, 1);
	helping->since_s = plat_now_s(plat);
	return advanced;
}

/* It has executed something since it polled last: does that leave time to answer? */
static void judge(struct helping *helping, const struct worker *worker, double now_s)
{
	uint64_t executed = worker->executed - helping->executed;

	helping->executed = worker->executed;
	if (executed == 0)
		return;
	if (now_s - helping->since_s <= LONG_TASK_S * (double)executed)
		helping->nslow -= helping->nslow > 0;
	else
		helping->nslow += helping->nslow < MOST_SLOW_TURNS;
}

static int is_slow(const struct helping *helping)
{
	return helping->nslow >= SLOW_TURNS;
}

static int has_post(struct plat *plat, const struct worker *worker)
{
	return orr_load_ptr(&plat->progress.helper) == worker;
}

/*
 * During a task kicks are not answered.  So the tasks have to be short; and should one
 * not be, there is somebody who naps for a short while only, and takes the post away
 * then.
 */
static int may_keep_post(struct plat *plat, const struct helping *helping, int advanced)
{
	struct progress *progress = &plat->progress;

	if (advanced < 0)
		return 0;
	if (orr_load(&progress->state) == PROGRESS_ASLEEP) {
		bell_rouse(progress);
		return 0;
	}
	return !is_slow(helping);
}

int helper_poll(struct plat *plat, struct worker *worker, struct helping *helping,
		int *advanced)
{
	if (!has_post(plat, worker))
		return 0;
	judge(helping, worker, plat_now_s(plat));
	*advanced = poll(plat, helping);
	if (!may_keep_post(plat, helping, *advanced) && leave_post(plat, worker, helping))
		progress_call(plat);
	return 1;
}

/* 1: nobody has polled for so long that this one should. */
static int stands_still(struct plat *plat, struct helping *helping)
{
	int npolled = orr_load(&plat->progress.npolled);
	double now_s;

	if (npolled != helping->npolled) {
		helping->npolled = npolled;
		helping->still_s = 0;
		return 0;
	}
	if (helping->nshort > 0) {
		helping->nshort--;
		return 0;
	}
	now_s = plat_now_s(plat);
	if (helping->still_s > 0 && now_s - helping->still_s >= STILL_S)
		return 1;
	if (helping->still_s > 0 && now_s - helping->still_s < STILL_S / SHORT_STEPS)
		helping->nshort = SHORT_STEPS;
	if (helping->still_s <= 0)
		helping->still_s = now_s;
	return 0;
}

static void look_too(struct plat *plat, const struct worker *worker,
		     struct helping *helping)
{
	struct progress *progress = &plat->progress;

	if (!__atomic_load_n(&progress->poll, __ATOMIC_RELAXED) || worker->driver->poll ||
	    progress->is_explicit || orr_load(&progress->state) == PROGRESS_ASLEEP ||
	    !stands_still(plat, helping))
		return;
	progress_poll(plat);
	helping->npolled = orr_load(&progress->npolled);
	helping->still_s = plat_now_s(plat);
}

void helper_look(struct plat *plat, struct worker *worker, struct helping *helping)
{
	int advanced;
	double now_s;

	if (!has_post(plat, worker)) {
		look_too(plat, worker, helping);
		return;
	}
	now_s = plat_now_s(plat);
	if (now_s - helping->since_s < LOOK_S &&
	    orr_load(&plat->progress.kicks) == helping->kicks)
		return;
	helper_poll(plat, worker, helping, &advanced);
}

/* One poll and one step.  1: stepped, 0: nothing to do, -1: there is no need to go on. */
static int help_once(struct plat *plat, struct worker *worker, struct helping *helping,
		     struct spin *spin)
{
	int advanced = poll(plat, helping);

	if (advanced > 0) {
		spin_heard(plat, spin);
		spin_start(plat, spin, helping->since_s);
	}
	if (!may_keep_post(plat, helping, advanced) &&
	    leave_post(plat, worker, helping)) {
		if (take_post(plat, worker))
			return 0;
		progress_call(plat);
		return -1;
	}
	if (worker_turn(worker))
		return 1;
	if (advanced < 0 || (!has_post(plat, worker) && !take_post(plat, worker)))
		return -1;
	if (!advanced && !spin_on(plat, spin, helping->since_s))
		sched_yield();
	return 0;
}

int helper_rest(struct plat *plat, struct worker *worker, struct helping *helping)
{
	double start_s = plat_now_s(plat);
	struct spin spin;
	int stepped = 0;

	if (!has_post(plat, worker) && !take_post(plat, worker))
		return 0;
	judge(helping, worker, start_s);
	spin_start(plat, &spin, start_s);
	while (stepped == 0 && helping->since_s - start_s < HELP_S && may_get_tasks(plat))
		stepped = help_once(plat, worker, helping, &spin);
	if (stepped > 0)
		return 1;
	if (has_post(plat, worker) && (leave_post(plat, worker, helping) ||
				       orr_load(&plat->progress.npollers) == 0))
		progress_call(plat);
	return 0;
}

void helper_woke(struct plat *plat, const struct worker *worker, struct helping *helping)
{
	helping->since_s = plat_now_s(plat);
	helping->executed = worker->executed;
}

void helper_quit(struct plat *plat, struct worker *worker, struct helping *helping)
{
	if (leave_post(plat, worker, helping))
		progress_call(plat);
}

void helper_waits(struct plat *plat)
{
	void *helper = orr_load_ptr(&plat->progress.helper);

	if (helper && helper == plat_current_worker(plat))
		free_post(plat, helper);
}

int helper_answers(struct plat *plat, struct helped *seen)
{
	struct progress *progress = &plat->progress;
	struct helped now = {orr_load(&progress->nhelped), orr_load(&progress->kicks)};
	int has_polled = now.npolls != seen->npolls;
	int was_kicked = now.kicks != seen->kicks;

	*seen = now;
	if (has_polled)
		return !was_kicked || orr_load_ptr(&progress->helper);
	if (orr_load_ptr(&progress->helper))
		free_post(plat, orr_load_ptr(&progress->helper));
	return 0;
}
