/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/check.h"
#include "real/real.h"

/*
 * interleaved.c - the first CPU worker is the thread of communication, too
 * (STARPU_MPI_DRIVER_CALL_FREQUENCY): so many polls, then so many tasks.  While it
 * executes a task, messages are seen to by threads that wait and by idle workers only.
 */

void interleaved_choose(struct plat *plat, struct worker *workers, int nworkers)
{
	const struct knobs *knobs = node_knobs(plat->node);
	struct progress *progress = &plat->progress;

	progress->worker = NULL;
	progress->is_explicit = knobs->mpi_explicit;
	if (progress->is_explicit)
		return;
	progress->npolls = knobs->mpi_driver_call_frequency;
	progress->ntasks = knobs->mpi_driver_task_frequency;
	if (progress->npolls == 0)
		return;
	for (int i = 0; i < nworkers && !progress->worker; i++)
		if (workers[i].driver == &cpu_driver && !orr_load(&workers[i].driven))
			progress->worker = &workers[i];
	if (!progress->worker)
		orr_complain(
			plat->node->rank,
			"STARPU_MPI_DRIVER_CALL_FREQUENCY is %d, but there is no CPU "
			"worker to execute tasks between polls: a thread of its own "
			"polls; raise STARPU_NCPU",
			progress->npolls);
}

/* Step until so many tasks were executed.  Returns whether it advanced. */
static int execute_some(struct worker *worker, int ntasks)
{
	uint64_t last = worker->executed + (uint64_t)(ntasks > 0 ? ntasks : 1);
	int advanced = 0;

	while (worker->executed < last && worker_step(worker))
		advanced = 1;
	return advanced;
}

/* As a poll.  Who waits at a gate polls, unless this worker is the helper. */
static int poll_some(struct plat *plat, struct worker *worker, struct helping *helping)
{
	struct progress *progress = &plat->progress;
	int sum = 0, advanced;

	for (int i = 0; i < progress->npolls; i++) {
		if (!helper_poll(plat, worker, helping, &advanced)) {
			if (orr_load(&progress->npollers) > 0)
				return sum;
			advanced = progress_poll(plat);
		}
		if (advanced < 0)
			return sum > 0 ? sum : -1;
		sum += advanced;
	}
	return sum;
}

/* There was nothing to do: until it is woken for a task or by a kick, or for a while. */
static void sleep_or_step(struct plat *plat, struct worker *worker, int kicks,
			  int advanced, double heard_s)
{
	double nap_s;
	enum progress_state state = progress_rest(plat, advanced, heard_s, &nap_s);

	/* A yield would cost milliseconds where others want the core, too. */
	if (state == PROGRESS_AWAKE)
		return;
	__atomic_store_n(&worker->parked, PARKED_AWAKE, __ATOMIC_SEQ_CST);
	orr_fence();
	if (worker_step(worker) || orr_load(&plat->workers_stopping)) {
		orr_cas(&worker->parked, PARKED_AWAKE, 0);
		return;
	}
	/* Who takes the mark away makes a kick after it, which is not slept through. */
	if (orr_cas(&worker->parked, PARKED_AWAKE, PARKED_POLLING))
		progress_sleep(plat, state, kicks, nap_s);
	orr_store(&worker->parked, 0);
}

void interleaved_run(struct plat *plat, struct worker *worker)
{
	struct progress *progress = &plat->progress;
	struct helping helping = {0};
	double heard_s = plat_now_s(plat);

	for (;;) {
		int kicks = orr_load(&progress->kicks);
		int executed = execute_some(worker, progress->ntasks);
		int advanced;

		if (!executed && orr_load(&plat->workers_stopping))
			break;
		advanced = poll_some(plat, worker, &helping);
		/* While its tasks wait for messages no other thread polls in between. */
		if (executed || advanced > 0 || helper_rest(plat, worker, &helping) ||
		    orr_load(&progress->kicks) != kicks) {
			heard_s = plat_now_s(plat);
			continue;
		}
		sleep_or_step(plat, worker, kicks, advanced, heard_s);
		helper_woke(plat, worker, &helping);
	}
	helper_quit(plat, worker, &helping);
}
