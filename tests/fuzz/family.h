/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_FAMILY_H
#define ORR_TESTS_FUZZ_FAMILY_H

/*
 * family.h - a random program on one datum and its partitions: several, nested, planned
 * and synchronous, changed by tasks and acquisitions.
 *
 * What each use must see is known when it is submitted.  Public headers only.
 */
#include <stdint.h>

#include <starpu.h>

struct family_wish {
	uint64_t seed;
	int nmemories; /* to prefetch to */
	int uses_gpus; /* kernels run there, too */
	void (*bad)(void *arg, const char *what, uint64_t seen, uint64_t expected);
	void *arg;
};

/* All of it, to the end of the datum; blocks. */
void family_run(const struct family_wish *wish);

#endif
