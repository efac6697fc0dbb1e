/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/check.h"
#include "core/watchdog.h"
#include "real/real.h"

/*
 * vigil.c - a program waits in a call of MPI: will whom it waits for ever come?
 *
 * In a life of the library the progress thread asks, where there is one.  Else, as when
 * the program meets its ranks in MPI between two lives or after the last one, a thread of
 * its own does, which begins with the first such call and stays.  It knows the ranks that
 * met last.
 *
 * What is waited for in MPI may have to come from anyone: who has ended before
 * MPI_Finalize(), where all meet, ends the run, and so does who stays stopped.
 */
static double most_stopped_s(double limit_s)
{
	double silence_s = limit_s / 4;

	return (silence_s > PEERS_SILENCE_S ? silence_s : PEERS_SILENCE_S) +
	       PEERS_STOPPED_S;
}

/* Seconds for which the program has waited in MPI. */
static double waited_s(struct vigil *vigil, double now_s)
{
	const struct blocking *blocking = &real_get()->blocking;

	if (orr_load(&blocking->nthreads) <= 0 ||
	    (vigil->plat && threads_are_busy(vigil->plat)))
		return 0;
	return now_s - (double)orr_count(&blocking->since_ns) * 1e-9;
}

static void end_run(const struct vigil *vigil, const struct peers_lost *lost,
		    double for_s)
{
	if (lost->stopped_s > 0)
		orr_die(vigil->rank,
			"the program has waited in a call of MPI for %.3g s, and the "
			"process of rank %d has been stopped for %.3g s (SIGSTOP, "
			"SIGTSTP, Ctrl-Z): the run ends; continue it sooner (SIGCONT), "
			"or allow more time (ORRERY_WATCHDOG)",
			for_s, lost->rank, lost->stopped_s);
	if (lost->cut_s > 0)
		orr_die(vigil->rank,
			"the program has waited in a call of MPI for %.3g s, and the "
			"machine of rank %d has not answered for %.3g s: it has failed, "
			"or the network to it; the run ends; allow more time "
			"(ORRERY_WATCHDOG) where it may come back",
			for_s, lost->rank, lost->cut_s);
	orr_die(vigil->rank,
		"the program has waited in a call of MPI for %.3g s, and the "
		"process of rank %d has ended before %s: it "
		"was killed (by the system for lack of memory, perhaps) or has "
		"crashed, which its launcher and the system's log may tell; "
		"the run ends",
		for_s, lost->rank,
		vigil->plat ? "starpu_mpi_shutdown()" : "all were in MPI_Finalize()");
}

static void look(struct vigil *vigil)
{
	double now_s = plat_now_s(vigil->plat), for_s;
	struct peers_lost lost;

	orr_lock(&vigil->lock);
	for_s = vigil->peers ? waited_s(vigil, now_s) : 0;
	if (for_s >= vigil->limit_s && vigil->peers &&
	    peers_find_lost(vigil->peers, now_s, 2 * vigil->period_s,
			    most_stopped_s(vigil->limit_s), &lost))
		end_run(vigil, &lost, for_s);
	orr_unlock(&vigil->lock);
}

void vigil_look(void)
{
	look(&real_get()->vigil);
}

static void *vigil_main(void *arg)
{
	struct vigil *vigil = arg;

	for (;;) {
		int nchanges = orr_load(&vigil->nchanges);

		if (!orr_load(&vigil->is_on)) {
			real_futex_wait(&vigil->nchanges, nchanges, 0);
			continue;
		}
		real_futex_wait(&vigil->nchanges, nchanges, vigil->period_s);
		look(vigil);
	}
	return NULL;
}

int vigil_nthreads(void)
{
	return orr_load(&real_get()->vigil.has_thread);
}

void vigil_call(const struct node *node)
{
	struct vigil *vigil = &real_get()->vigil;
	pthread_t thread;

	if (!orr_load(&vigil->is_on) || orr_load(&vigil->has_thread) ||
	    (node && node->plat->progress.started) || !orr_cas(&vigil->has_thread, 0, 1))
		return;
	if (pthread_create(&thread, NULL, vigil_main, vigil) == 0)
		pthread_detach(thread);
	else
		orr_store(&vigil->has_thread, 0);
}

static void change(struct vigil *vigil, int is_on)
{
	orr_store(&vigil->is_on, is_on);
	orr_add(&vigil->nchanges, 1);
	real_futex_wake(&vigil->nchanges, 1);
}

void vigil_begin(struct plat *plat, int rank, struct peers *peers)
{
	struct vigil *vigil = &real_get()->vigil;

	orr_lock(&vigil->lock);
	vigil->plat = plat;
	vigil->peers = peers;
	vigil->rank = rank;
	vigil->limit_s = node_knobs(plat->node)->watchdog_s;
	vigil->period_s = watchdog_period_s(plat->node);
	orr_unlock(&vigil->lock);
	if (vigil->period_s > 0)
		change(vigil, 1);
}

void vigil_leave(const struct plat *plat)
{
	struct vigil *vigil = &real_get()->vigil;

	orr_lock(&vigil->lock);
	if (vigil->plat == plat)
		vigil->plat = NULL;
	orr_unlock(&vigil->lock);
}

void vigil_end(void)
{
	struct vigil *vigil = &real_get()->vigil;
	struct peers *peers;

	if (!vigil->peers)
		return;
	orr_lock(&vigil->lock);
	peers = vigil->peers;
	vigil->peers = NULL;
	orr_unlock(&vigil->lock);
	change(vigil, 0);
	peers_free(peers);
}
