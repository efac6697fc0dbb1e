/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random programs on partitions, on a fake machine whose GPUs have too little memory:
 * kernels and copies take times drawn from the seed.
 *
 * usage: test_partitions [FIRST_SEED [COUNT]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "../fuzz/family.h"
#include "fake.h"

static struct {
	unsigned long seed, state;
	int nbad;
} self;

static unsigned below(unsigned n)
{
	self.state = self.state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((self.state >> 33) % n);
}

static double any_time(void)
{
	static const double times_s[] = {1e-7, 1e-6, 5e-6, 2e-5};

	return times_s[below(4)];
}

static double kernel_s(const struct worker *worker, const struct job *job)
{
	(void)worker;
	(void)job;
	return any_time();
}

static double copy_s(const struct plat_copy *copy)
{
	(void)copy;
	return any_time();
}

static void bad(void *arg, const char *what, uint64_t seen, uint64_t expected)
{
	(void)arg;
	if (self.nbad++ < 3)
		printf("seed %lu: %s is %llx, expected %llx\n", self.seed, what,
		       (unsigned long long)seen, (unsigned long long)expected);
}

static void play(void *arg)
{
	struct family_wish wish = {
		.seed = self.seed, .uses_gpus = 1, .bad = bad, .arg = arg};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = below(2) ? "eager" : "dmda";
	if (starpu_init(&conf) != 0)
		exit(77);
	wish.nmemories = (int)starpu_memory_nodes_get_count();
	family_run(&wish);
	starpu_shutdown();
}

static void run_seed(unsigned long seed)
{
	self.seed = seed;
	self.state = seed * 7919 + 1;
	fake_start(1, 1e-6, 1e9);
	fake_shuffle(seed);
	fake_machine()->ncpus = 1 + (int)below(3);
	fake_machine()->ngpus = 1 + (int)below(2);
	/* Three whole data. */
	fake_machine()->gpu_memory_bytes = below(3) ? 3 * 48 * sizeof(unsigned) : 0;
	fake_machine()->no_peer_copies = (int)below(2);
	fake_machine()->duration_s = kernel_s;
	fake_machine()->copy_s = copy_s;
	fake_spawn(0, play, NULL);
	fake_play();
	fake_stop();
}

int main(int argc, char **argv)
{
	unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;

	for (unsigned long seed = first; seed < first + count; seed++)
		run_seed(seed);
	printf("%s values of parts on %lu random programs with GPUs\n",
	       self.nbad ? "FAIL" : "PASS", count);
	return self.nbad != 0;
}
