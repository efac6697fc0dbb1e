/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_SEEDS_H
#define ORR_TESTS_SEEDS_H

/*
 * seeds.h - a test that runs a random program for each seed, and says what it found.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS_SHOWN = 3 };

/* Of the program that runs; bad ones are of all. */
struct seeds {
	unsigned long seed;
	int nbad;
};

static inline void seeds_bad(struct seeds *seeds, const char *what, uint64_t seen,
			     uint64_t expected)
{
	if (seeds->nbad++ < SEEDS_SHOWN)
		printf("seed %lu: %s is %llx, expected %llx\n", seeds->seed, what,
		       (unsigned long long)seen, (unsigned long long)expected);
}

/* [FIRST_SEED [COUNT]]; returns main's status. */
static inline int seeds_run(struct seeds *seeds, int argc, char **argv, void (*run)(void),
			    const char *claim)
{
	unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;

	for (seeds->seed = first; seeds->seed < first + count; seeds->seed++)
		run();
	printf("%s %s in %lu random programs\n", seeds->nbad ? "FAIL" : "PASS", claim,
	       count);
	return seeds->nbad != 0;
}

#endif
