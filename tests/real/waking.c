/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "base/check.h"
#include "core/node.h"
#include "real/real.h"

/*
 * Who waits lets others work.  All threads have one core here.
 *
 * A thread that polls while it waits gives the core to a worker that it has just woken,
 * instead of polling for as long as it would alone.  A blocking receive wakes no thread
 * to poll for it, also when its message came before it.
 */
enum { NROUNDS = 200, MOST_POLLS = 8, TAG = 7 };

struct play {
	pthread_t main;
	int is_waiting, has_begun; /* the task of this round */
	int npolls, nspins;        /* by the main thread: in this round before; of all */
};

/* What comes twice makes polls without a yield worth while again. */
static int look(void *arg)
{
	struct play *play = arg;

	if (!pthread_equal(pthread_self(), play->main) || !play->is_waiting ||
	    orr_load(&play->has_begun))
		return 0;
	play->nspins++;
	return ++play->npolls <= 2;
}

static void begin(void *buffers[], void *arg)
{
	struct play *play = arg;

	(void)buffers;
	orr_store(&play->has_begun, 1);
}

static int stay_on_one_core(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		return -1;
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_SET(i, &one);
		break;
	}
	return sched_setaffinity(0, sizeof(one), &one);
}

static int gives_way(struct plat *plat)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {begin}, .name = "begin"};
	struct play play = {.main = pthread_self()};

	plat_set_poll(plat, look, &play);
	for (int i = 0; i < NROUNDS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &codelet;
		task->cl_arg = &play;
		play.npolls = 0;
		orr_store(&play.has_begun, 0);
		if (starpu_task_submit(task) != 0)
			return 0;
		play.is_waiting = 1;
		starpu_task_wait_for_all();
		play.is_waiting = 0;
	}
	plat_set_poll(plat, NULL, NULL);
	printf("%s who waits gives way to a worker: %d polls before %d tasks began\n",
	       play.nspins <= MOST_POLLS * NROUNDS ? "PASS" : "FAIL", play.nspins,
	       NROUNDS);
	return play.nspins <= MOST_POLLS * NROUNDS;
}

static int wakes_nobody(struct plat *plat)
{
	int values[2] = {1, 0}, nkicks = 0;
	starpu_data_handle_t from, to;

	starpu_variable_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)&values[0],
				      sizeof(values[0]));
	starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&values[1],
				      sizeof(values[1]));
	for (int i = 0; i < NROUNDS; i++) {
		int kicks;

		starpu_mpi_isend_detached(from, 0, TAG, MPI_COMM_WORLD, NULL, NULL);
		starpu_mpi_wait_for_all(MPI_COMM_WORLD);
		kicks = orr_load(&plat->progress.kicks);
		starpu_mpi_recv(to, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		nkicks += orr_load(&plat->progress.kicks) != kicks;
	}
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	printf("%s a blocking receive wakes nobody: %d of %d did\n",
	       nkicks == 0 && values[1] == 1 ? "PASS" : "FAIL", nkicks, NROUNDS);
	return nkicks == 0 && values[1] == 1;
}

int main(int argc, char **argv)
{
	int gives, wakes;

	if (stay_on_one_core() < 0)
		return 77;
	setenv("STARPU_NCPU", "1", 1);
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	if (starpu_init(NULL) != 0)
		return 77;
	gives = gives_way(plat_self()->plat);
	starpu_shutdown();
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	wakes = wakes_nobody(plat_self()->plat);
	starpu_mpi_shutdown();
	return gives && wakes ? 0 : 1;
}
