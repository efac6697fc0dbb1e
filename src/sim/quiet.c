/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>

#include <simgrid/engine.h>
#include <simgrid/semaphore.h>

#include "core/watchdog.h"
#include "sim.h"

/*
 * quiet.c - finds that nothing will ever happen in a simulation while threads of the
 * program go on to poll: loops of starpu_mpi_test() for what nobody sends.
 *
 * Between two polls time must pass.  A thread that has polled in vain often sleeps in the
 * calendar, in a nap, and not in SimGrid: where SimGrid has nothing to do and the
 * calendar nothing but naps, all other threads wait for what only those that nap could
 * begin.  They do not as long as no node changes.  What is left is that one of them
 * stops to poll, by the clock, then it is only told; or by a number of its own, and so
 * this must last for the time of the watchdog, or through very many polls.
 */
enum { PAUSES_AWAKE = 100000, STEPS_MOST = 1000000, TEXT_BYTES = 280 };

static const double pause_s = 1e-6;

struct nap {
	struct plat_timer timer;
	struct sim_thread *thread;
	int is_over;
};

static void release(void *sem)
{
	SIM_YIELDS(sg_sem_release(sem));
}

static void wake(struct plat_timer *timer)
{
	struct nap *nap = ORR_CONTAINER(timer, struct nap, timer);
	struct sim *sim = sim_get();

	sim->quiet.nnaps--;
	nap->is_over = 1;
	calendar_reach(sim, release, nap->thread->sem);
}

void plat_pause(struct plat *plat)
{
	struct sim *sim = plat->sim;
	struct nap nap = {.timer = {.fire = wake, .plat = plat}};

	/* What a thread looks for only main may find. */
	plat_poll_kick(plat);
	if (sim->in_kernel || ++plat->npauses < PAUSES_AWAKE) {
		plat_sleep(plat, pause_s);
		return;
	}
	plat->npauses = PAUSES_AWAKE;
	sim_pay(plat);
	nap.thread = sim_thread_self();
	nap.thread->is_napping = 1;
	sim->quiet.nnaps++;
	calendar_add(sim, &nap.timer, simgrid_get_clock() + pause_s);
	sim_block(plat, &nap.is_over, -1);
	nap.thread->is_napping = 0;
}

int quiet_is_all(const struct sim *sim)
{
	return sim->quiet.nnaps > 0 && sim->calendar.count == sim->quiet.nnaps;
}

static unsigned long sign(const struct sim *sim)
{
	unsigned long sum = (unsigned long)sim->nplats;

	for (const struct plat *plat = sim->first; plat; plat = plat->next)
		sum = 31 * sum + watchdog_signature(plat->node);
	return sum;
}

static void begin(struct sim *sim)
{
	struct quiet *quiet = &sim->quiet;

	quiet->is_on = 1;
	quiet->since_s = simgrid_get_clock();
	quiet->signature = sign(sim);
	quiet->nsteps = 0;
	quiet->has_looked = 0;
}

/* All nodes have the same, as a rule; one that never ends a run is obeyed. */
static double limit_s(const struct sim *sim)
{
	double most_s = 0;

	for (const struct plat *plat = sim->first; plat; plat = plat->next) {
		double limit_s = node_knobs(plat->node)->watchdog_s;

		if (limit_s <= 0)
			return 0;
		most_s = limit_s > most_s ? limit_s : most_s;
	}
	return most_s;
}

static void judge(struct sim *sim, double for_s)
{
	char why[TEXT_BYTES];

	if (sim->quiet.has_looked) {
		snprintf(why, sizeof(why),
			 "nothing has happened for %.3g s but that loops of the program "
			 "call starpu_mpi_test(), sched_yield() or the like in vain, and "
			 "look at the clock (ORRERY_WATCHDOG)",
			 for_s);
		if (!sim->quiet.is_told)
			report_waits(why);
		sim->quiet.is_told = 1;
		return;
	}
	snprintf(why, sizeof(why),
		 "nothing can make progress: for %.3g s loops of the program have called "
		 "starpu_mpi_test(), sched_yield() or the like in vain, and nothing else "
		 "is due "
		 "(ORRERY_WATCHDOG=0 would let them)",
		 for_s);
	report_end(why);
}

void quiet_look(struct sim *sim, double others_s)
{
	struct quiet *quiet = &sim->quiet;
	double for_s, most_s;

	if (calendar_has(&sim->unstick))
		return;
	if (others_s >= 0 || !quiet_is_all(sim)) {
		quiet->is_on = 0;
		return;
	}
	if (!quiet->is_on)
		begin(sim);
	for_s = simgrid_get_clock() - quiet->since_s;
	most_s = limit_s(sim);
	if (most_s <= 0 || (for_s < most_s && ++quiet->nsteps < STEPS_MOST))
		return;
	quiet->is_on = 0;
	if (sign(sim) == quiet->signature)
		judge(sim, for_s);
}
