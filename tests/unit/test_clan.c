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

static struct {
	unsigned long seed;
	int nranks, nbad;
} self;

static void bad(void *arg, const char *what, uint64_t seen, uint64_t expected)
{
	(void)arg;
	if (self.nbad++ < 3)
		printf("seed %lu: %s is %llx, expected %llx\n", self.seed, what,
		       (unsigned long long)seen, (unsigned long long)expected);
}

static void play(void *arg)
{
	struct clan_wish wish = {.seed = self.seed,
				 .comm = MPI_COMM_WORLD,
				 .nranks = self.nranks,
				 .first_tag = 10,
				 .reduces = 1,
				 .is_alone = 1,
				 .bad = bad,
				 .arg = arg};

	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		exit(77);
	if (self.seed % 5 == 0)
		starpu_mpi_cache_set(0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &wish.rank);
	clan_run(&wish);
	starpu_mpi_shutdown();
}

static void run_seed(unsigned long seed)
{
	self.seed = seed;
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
	unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;

	for (unsigned long seed = first; seed < first + count; seed++)
		run_seed(seed);
	printf("%s values of parts between nodes in %lu random programs\n",
	       self.nbad ? "FAIL" : "PASS", count);
	return self.nbad != 0;
}
