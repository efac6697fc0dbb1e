/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random programs on partitions whose parts are owned by several ranks, on the fake.
 *
 * usage: test_clan [FIRST_SEED [COUNT]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "../fuzz/clan.h"
#include "fake.h"
#include "seeds.h"

static struct {
	struct seeds seeds;
	int nranks;
} self;

static void bad(void *arg, const char *what, uint64_t seen, uint64_t expected)
{
	(void)arg;
	seeds_bad(&self.seeds, what, seen, expected);
}

static void play(void *arg)
{
	struct clan_wish wish = {.seed = self.seeds.seed,
				 .comm = MPI_COMM_WORLD,
				 .nranks = self.nranks,
				 .first_tag = 10,
				 .reduces = 1,
				 .is_alone = 1,
				 .bad = bad,
				 .arg = arg};

	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		exit(77);
	if (self.seeds.seed % 5 == 0)
		starpu_mpi_cache_set(0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &wish.rank);
	clan_run(&wish);
	starpu_mpi_shutdown();
}

static void run_seed(void)
{
	unsigned long seed = self.seeds.seed;

	self.nranks = 2 + (int)(seed % 3);
	fake_start(self.nranks, 1e-6, 1e9);
	fake_shuffle(seed);
	fake_machine()->ncpus = 1 + (int)(seed % 2);
	for (int i = 0; i < self.nranks; i++)
		fake_spawn(i, play, NULL);
	fake_play();
	fake_stop();
}

int main(int argc, char **argv)
{
	return seeds_run(&self.seeds, argc, argv, run_seed,
			 "values of parts between nodes");
}
