/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "core/node.h"
#include "real/real.h"

/*
 * What MPI copies step by step, such as a value with gaps, is not taken for silence: the
 * polls that copy say that something happened, so that who waits goes on polling.
 */
enum { NX = 1024, NY = 16 << 10, LD = NX + 64, TAG = 7, STEPS = 10 };

struct play {
	int (*poll)(void *arg);
	void *arg;
	int counts, nadvanced; /* atomic */
};

static int look(void *arg)
{
	struct play *play = arg;
	int advanced = play->poll(play->arg);

	if (advanced > 0 && orr_load(&play->counts))
		orr_add(&play->nadvanced, 1);
	return advanced;
}

static void stand_between(struct plat *plat, struct play *play)
{
	play->poll = plat->progress.poll;
	play->arg = plat->progress.arg;
	plat_set_poll(plat, look, play);
}

int main(void)
{
	struct starpu_conf conf;
	struct play play = {0};
	struct plat *plat;
	starpu_data_handle_t handle;
	char *value = calloc(NY, LD);
	int rank, nadvanced;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (!value || starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, &conf) != 0)
		return 77;
	rank = starpu_mpi_world_rank();
	plat = plat_self()->plat;
	stand_between(plat, &play);
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)value, LD, NX,
				    NY, 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	orr_store(&play.counts, 1);
	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	else
		starpu_mpi_recv(handle, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	orr_store(&play.counts, 0);
	nadvanced = orr_load(&play.nadvanced);
	starpu_data_unregister(handle);
	plat_set_poll(plat, play.poll, play.arg);
	starpu_mpi_shutdown();
	free(value);
	if (rank == 1)
		printf("%s polls that copy say so\n",
		       nadvanced >= STEPS ? "PASS" : "FAIL");
	if (rank == 1 && nadvanced < STEPS)
		printf("%d polls of a receive of %d KiB advanced, expected %d or more\n",
		       nadvanced, NY * NX / 1024, STEPS);
	return rank == 1 && nadvanced < STEPS;
}
