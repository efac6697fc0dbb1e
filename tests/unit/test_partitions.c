/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random programs on partitions, on a fake machine whose GPUs have too little memory,
 * some with several main memories: kernels and copies take times drawn from the seed.
 *
 * usage: test_partitions [FIRST_SEED [COUNT]]
 */
#include <stdlib.h>

#include <starpu.h>

#include "../fuzz/family.h"
#include "fake.h"
#include "seeds.h"

static struct {
	struct seeds seeds;
	unsigned long state;
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
	seeds_bad(&self.seeds, what, seen, expected);
}

static void play(void *arg)
{
	struct family_wish wish = {
		.seed = self.seeds.seed, .uses_gpus = 1, .bad = bad, .arg = arg};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = below(2) ? "eager" : "dmda";
	conf.enable_map = (int)below(2);
	if (starpu_init(&conf) != 0)
		exit(77);
	wish.nmemories = (int)starpu_memory_nodes_get_count();
	family_run(&wish);
	starpu_shutdown();
}

static void run_seed(void)
{
	unsigned long seed = self.seeds.seed;

	self.state = seed * 7919 + 1;
	fake_start(1, 1e-6, 1e9);
	fake_shuffle(seed);
	fake_machine()->ncpus = 1 + (int)below(3);
	fake_machine()->ngpus = 1 + (int)below(2);
	/* Three whole data. */
	fake_machine()->gpu_memory_bytes = below(3) ? 3 * 48 * sizeof(unsigned) : 0;
	fake_machine()->no_peer_copies = (int)below(2);
	fake_machine()->nnumas = below(2) ? 1 : 1 + (int)below(3);
	fake_machine()->ncpus += fake_machine()->nnumas - 1;
	fake_machine()->duration_s = kernel_s;
	fake_machine()->copy_s = copy_s;
	fake_spawn(0, play, NULL);
	fake_play();
	fake_stop();
}

int main(int argc, char **argv)
{
	return seeds_run(&self.seeds, argc, argv, run_seed,
			 "values of parts, with GPUs and several main memories,");
}
