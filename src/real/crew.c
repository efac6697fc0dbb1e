/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/check.h"
#include "core/lasting.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * crew.c - several workers of GPUs on one thread (STARPU_CUDA_THREAD_PER_WORKER=0,
 * STARPU_CUDA_THREAD_PER_DEV), for who has fewer cores than GPUs' workers to spare.
 *
 * The thread steps them in turn.  When none advances, all of them are parked, each
 * under its own word, and who wakes one of them wakes the thread.  A kernel that waits
 * for its work holds up the whole crew.
 */

struct crew {
	struct plat *plat;
	struct worker **workers;
	int nworkers, calls; /* the latter: a futex word, changes when one is woken */
	int entered;         /* the device whose context the thread has, or -1 */
};

static struct crew *crew_of(const struct plat *plat, const struct worker *worker)
{
	return plat->crews.of ? plat->crews.of[worker - plat->workers] : NULL;
}

int crew_leads(const struct plat *plat, const struct worker *worker)
{
	const struct crew *crew = crew_of(plat, worker);

	return crew && crew->workers[0] == worker;
}

pthread_t *crew_thread(struct plat *plat, const struct worker *worker)
{
	const struct crew *crew = crew_of(plat, worker);

	return crew ? &plat->threads[crew->workers[0] - plat->workers] : NULL;
}

void crew_wake(struct worker *worker)
{
	struct crew *crew = crew_of(worker->backend, worker);

	orr_add(&crew->calls, 1);
	real_futex_wake(&crew->calls, 1);
}

/* ---- its life --------------------------------------------------------- */

/* Its thread does what this worker does. */
static void enter(struct crew *crew, struct worker *worker)
{
	pthread_setspecific(real_get()->caller, &worker->caller);
	if (crew->entered == worker->devid)
		return;
	worker->driver->begin(worker);
	crew->entered = worker->devid;
}

/* All that can be done at once.  1: something was done; *running: kernels run. */
static int turn_all(struct crew *crew, int *running)
{
	int sum = 0;

	*running = 0;
	for (int i = 0; i < crew->nworkers; i++) {
		struct worker *worker = crew->workers[i];
		int found;

		enter(crew, worker);
		sum += worker_step(worker);
		found = worker->driver->poll(worker);
		sum += found > 0;
		*running += found == 0;
	}
	return sum > 0;
}

/* Without a limit of time each is woken for its data, too; within one who can take no
 * task is not to be woken for one instead of another. */
static int is_to_be_woken(const struct worker *worker, double nap_s)
{
	return nap_s <= 0 || worker->npipeline < orr_load(&worker->depth);
}

static void mark(struct crew *crew, double nap_s)
{
	for (int i = 0; i < crew->nworkers; i++)
		if (is_to_be_woken(crew->workers[i], nap_s))
			orr_store(&crew->workers[i]->parked, PARKED_AWAKE);
	orr_fence();
}

static int was_woken(const struct crew *crew, int calls)
{
	return orr_load(&crew->calls) != calls;
}

/* From now on a call is made for who is woken.  0: one was woken before. */
static int ask_for_calls(struct crew *crew, double nap_s)
{
	int all = 1;

	for (int i = 0; i < crew->nworkers; i++)
		if (is_to_be_woken(crew->workers[i], nap_s))
			all &= orr_cas(&crew->workers[i]->parked, PARKED_AWAKE,
				       PARKED_IN_CREW);
	return all;
}

static void tell_rest(struct crew *crew, int is_asleep)
{
	for (int i = 0; i < crew->nworkers; i++)
		worker_tell_rest(crew->workers[i], is_asleep);
}

/* Nothing was to be done: sleep until a call, or so long; 0: without limit. */
static void rest(struct crew *crew, double nap_s)
{
	int calls = orr_load(&crew->calls), running;

	mark(crew, nap_s);
	if (!turn_all(crew, &running) && !orr_load(&crew->plat->workers_stopping) &&
	    ask_for_calls(crew, nap_s)) {
		tell_rest(crew, nap_s <= 0);
		do
			real_futex_wait(&crew->calls, calls, nap_s);
		while (nap_s <= 0 && !was_woken(crew, calls));
		tell_rest(crew, 0);
	}
	for (int i = 0; i < crew->nworkers; i++)
		__atomic_store_n(&crew->workers[i]->parked, 0, __ATOMIC_SEQ_CST);
}

static void run(struct crew *crew)
{
	struct plat *plat = crew->plat;
	double heard_s = plat_now_s(plat);
	int running, nyields = 0;

	for (;;) {
		double nap_s = 0;

		if (turn_all(crew, &running)) {
			heard_s = plat_now_s(plat);
			nyields = 0;
			continue;
		}
		if (!running && orr_load(&plat->workers_stopping))
			return;
		if (running)
			nap_s = wait_nap_s(plat_now_s(plat) - heard_s, KERNEL_BUSY_S);
		if (running ? nap_s <= 0 : nyields++ < REST_YIELDS)
			sched_yield();
		else
			rest(crew, nap_s);
	}
}

void *crew_main(void *arg)
{
	struct worker *leader = arg;
	struct crew *crew = crew_of(leader->backend, leader);
	char name[16];

	snprintf(name, sizeof(name), "orr-crew-%u", (unsigned)leader->id % 1000);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	crew->entered = -1;
	for (int i = 0; i < crew->nworkers; i++)
		tool_worker_begins(crew->workers[i]);
	run(crew);
	for (int i = 0; i < crew->nworkers; i++)
		tool_worker(crew->workers[i], starpu_prof_tool_event_driver_deinit);
	pthread_setspecific(real_get()->caller, NULL); /* They are the workers'. */
	return NULL;
}

/* ---- who belongs to one ------------------------------------------------ */

static int is_together(const struct plat *plat, const struct worker *a,
		       const struct worker *b)
{
	return a->driver == &cuda_driver && b->driver == &cuda_driver &&
	       !orr_load(&a->driven) && !orr_load(&b->driven) &&
	       (node_knobs(plat->node)->cuda_thread_per_dev == 0 || a->devid == b->devid);
}

/* One worker needs none. */
static void gather(struct plat *plat, int first, int nworkers)
{
	struct worker *workers = plat->workers;
	struct crew *crew;
	int n = 0;

	for (int i = first; i < nworkers; i++)
		n += is_together(plat, &workers[first], &workers[i]);
	if (n < 2)
		return;
	crew = orr_alloc(sizeof(*crew));
	crew->plat = plat;
	crew->workers = orr_alloc((size_t)n * sizeof(*crew->workers));
	for (int i = first; i < nworkers; i++) {
		if (!is_together(plat, &workers[first], &workers[i]))
			continue;
		crew->workers[crew->nworkers++] = &workers[i];
		plat->crews.of[i] = crew;
	}
}

void crews_choose(struct plat *plat, int nworkers)
{
	const struct knobs *knobs = node_knobs(plat->node);
	int by_worker = knobs->cuda_thread_per_worker,
	    by_device = knobs->cuda_thread_per_dev;

	if (by_worker > 0 && by_device >= 0)
		orr_die(plat->node->rank,
			"STARPU_CUDA_THREAD_PER_WORKER is 1 and "
			"STARPU_CUDA_THREAD_PER_DEV is %d: expected one of them; the "
			"former gives each worker of a GPU a thread, the latter each GPU "
			"(1) or all of them together (0)",
			by_device);
	if (!plat->cuda || by_worker > 0 || (by_worker < 0 && by_device < 0))
		return;
	plat->crews.of = orr_alloc((size_t)nworkers * sizeof(struct crew *));
	plat->crews.n = nworkers;
	for (int i = 0; i < nworkers; i++)
		if (!plat->crews.of[i])
			gather(plat, i, nworkers);
}

void crews_close(struct plat *plat)
{
	for (int i = plat->crews.n - 1; plat->crews.of && i >= 0; i--) {
		struct crew *crew = plat->crews.of[i];

		if (!crew || crew->workers[0] != &plat->workers[i])
			continue;
		free(crew->workers);
		free(crew);
	}
	free(plat->crews.of);
	plat->crews.of = NULL;
}
