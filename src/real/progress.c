/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <limits.h>
#include <sched.h>

#include "base/check.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * The progress thread polls while nobody else does, as a waiting thread would; while
 * others poll it looks up every PROGRESS_YIELD_S.
 */
#define PROGRESS_BUSY_S   50e-6
#define PROGRESS_YIELD_S  1e-3
#define PROGRESS_ASLEEP_S 0.05

/* Its rounds are short or asleep. */
enum { ROUNDS_PER_LOOK = 16 };

/* MPI that copies from and to devices does it in the caller's context. */
static int poll_with_devices(struct plat *plat, int (*poll)(void *arg))
{
	const struct cuda_device *first =
		plat->cuda && plat->cuda->is_direct ? &plat->cuda->devices[0] : NULL;
	int advanced;

	if (first)
		cuda_enter(first);
	advanced = poll(plat->progress.arg);
	if (first)
		cuda_leave(first);
	return advanced;
}

int progress_poll(struct plat *plat)
{
	struct progress *progress = &plat->progress;
	int (*poll)(void *arg);
	int advanced = -1;

	if (!__atomic_load_n(&progress->poll, __ATOMIC_RELAXED))
		return -1;
	orr_store(&progress->npolled, orr_load(&progress->npolled) + 1);
	orr_add(&progress->ncalls, 1);
	/* After the count, as plat_set_poll() looks at the count after its change. */
	poll = __atomic_load_n(&progress->poll, __ATOMIC_SEQ_CST);
	if (poll)
		advanced = poll_with_devices(plat, poll);
	orr_add(&progress->ncalls, -1);
	return advanced;
}

/* A kick that came after kicks was read changes the word, so none is lost. */
void progress_sleep(struct plat *plat, int state, int kicks, double nap_s)
{
	struct progress *progress = &plat->progress;

	orr_store(&progress->state, state);
	orr_fence();
	if (state < PROGRESS_NAPPING || !bell_sleep(plat, state, kicks))
		real_futex_wait(&progress->kicks, kicks, nap_s);
	orr_store(&progress->state, PROGRESS_AWAKE);
}

static void bind_thread(struct plat *plat)
{
	if (plat->progress.has_core)
		cores_bind(plat, plat->machine.polling_pu);
}

enum progress_state progress_rest(struct plat *plat, int advanced, double heard_s,
				  double *nap_s)
{
	*nap_s = PROGRESS_ASLEEP_S;
	/* Others may send what this rank does not wait for yet, or ask whether it still
	 * answers: no sleep is without end. */
	if (advanced < 0)
		return PROGRESS_ASLEEP;
	/* A core of its own is there to be used. */
	*nap_s = plat->progress.has_core
			 ? 0
			 : wait_nap_s(plat_now_s(plat) - heard_s, PROGRESS_BUSY_S);
	return *nap_s > 0 ? PROGRESS_NAPPING : PROGRESS_AWAKE;
}

/* One round; heard_s is when the network, or a kick, was last heard of, helped_s since
 * when a worker polls instead, or 0. */
static void progress_round(struct plat *plat, struct helped *helped, double *heard_s,
			   double *helped_s)
{
	struct progress *progress = &plat->progress;
	int kicks = orr_load(&progress->kicks), advanced;
	enum progress_state state;
	double nap_s;

	if (orr_load(&progress->npollers) > 0) {
		progress_sleep(plat, PROGRESS_YIELDED, kicks, PROGRESS_YIELD_S);
		*heard_s = plat_now_s(plat);
		return;
	}
	if (helper_answers(plat, helped)) {
		progress_sleep(plat, PROGRESS_YIELDED, kicks,
			       wait_helped_nap_s(plat, helped_s));
		*heard_s = plat_now_s(plat);
		return;
	}
	*helped_s = 0;
	advanced = progress_poll(plat);
	if (advanced > 0 || orr_load(&progress->kicks) != kicks) {
		*heard_s = plat_now_s(plat);
		return;
	}
	state = progress_rest(plat, advanced, *heard_s, &nap_s);
	if (state == PROGRESS_AWAKE)
		sched_yield();
	else
		progress_sleep(plat, state, kicks, nap_s);
	if (state == PROGRESS_ASLEEP)
		*heard_s = plat_now_s(plat);
}

static void *progress_main(void *arg)
{
	struct plat *plat = arg;
	double heard_s = plat_now_s(plat), helped_s = 0, look_s = 0;
	struct helped helped = {0};
	unsigned nrounds = 0;

	bind_thread(plat);
	while (!orr_load(&plat->progress.stopping)) {
		progress_round(plat, &helped, &heard_s, &helped_s);
		if (++nrounds % ROUNDS_PER_LOOK == 0)
			threads_look_for_all(plat, &look_s);
	}
	return NULL;
}

static void progress_start(struct plat *plat)
{
	struct progress *progress = &plat->progress;

	progress->stopping = 0;
	if (progress->is_explicit) {
		unpolled_start(plat);
		return;
	}
	if (progress->worker) {
		progress_wake(plat);
		return;
	}
	orr_store(&progress->has_core,
		  plat->machine.polling_pu >= 0 && !node_knobs(plat->node)->mpi_nobind);
	if (pthread_create(&progress->thread, NULL, progress_main, plat) != 0)
		orr_die(plat->node->rank,
			"no thread for communication: the system refuses "
			"more threads (ulimit -u or -v, cgroup pids.max)");
	progress->started = 1;
}

static void progress_stop(struct plat *plat)
{
	struct progress *progress = &plat->progress;

	orr_store(&progress->stopping, 1);
	progress_wake(plat);
	pthread_join(progress->thread, NULL);
	progress->started = 0;
}

void plat_set_poll(struct plat *plat, int (*poll)(void *arg), void *arg)
{
	struct progress *progress = &plat->progress;

	__atomic_store_n(&progress->poll, NULL, __ATOMIC_SEQ_CST);
	if (progress->started)
		progress_stop(plat);
	else
		progress_wake(plat);
	/* A waiter or an idle worker may still be inside the old function. */
	while (orr_load(&progress->ncalls) > 0 || orr_load(&progress->listens))
		sched_yield();
	progress->arg = arg;
	__atomic_store_n(&progress->poll, poll, __ATOMIC_SEQ_CST);
	if (poll)
		progress_start(plat);
}

void progress_call(struct plat *plat)
{
	struct progress *progress = &plat->progress;
	int state;

	/* MPI may want a certain one of the program's threads. */
	if (wait_disturb(plat, progress->is_explicit ? INT_MAX : 1))
		return;
	state = orr_load(&progress->state);
	if (state >= PROGRESS_NAPPING ||
	    (state == PROGRESS_YIELDED && orr_load(&progress->npollers) == 0))
		bell_rouse(progress);
}

/* Who leaves the helper's post looks at the kicks afterwards. */
void plat_poll_kick(struct plat *plat)
{
	orr_add(&plat->progress.kicks, 1);
	if (!orr_load_ptr(&plat->progress.helper))
		progress_call(plat);
}

void progress_wake(struct plat *plat)
{
	orr_add(&plat->progress.kicks, 1);
	bell_rouse(&plat->progress);
}

void progress_take_over(struct plat *plat, int advanced, int missed_kick)
{
	struct progress *progress = &plat->progress;
	int state = orr_load(&progress->state);

	/* What came may have been the last of it. */
	if (state == PROGRESS_ASLEEP && advanced > 0 && !missed_kick)
		advanced = progress_poll(plat);
	if (advanced < 0 && !missed_kick)
		return;
	/* A thread about to sleep must see it, too. */
	if (state == PROGRESS_ASLEEP || (missed_kick && state != PROGRESS_AWAKE))
		progress_wake(plat);
}
