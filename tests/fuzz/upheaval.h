/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_UPHEAVAL_H
#define ORR_TESTS_FUZZ_UPHEAVAL_H

/*
 * upheaval.h - a random program whose data change their owners: a load balancer moves
 * them, checkpoints are taken, ranks are lost and others take their places.
 *
 * All ranks of the communicator given at init make the same program and keep the same
 * account of what every datum must hold, now and at each checkpoint.  Public headers
 * only.
 */
#include <stdint.h>

#include <starpu_mpi.h>

struct upheaval_wish {
	uint64_t seed;
	int rank, nranks;  /* at least 2 of these */
	int64_t first_tag; /* 100 from there are the program's */
	void (*bad)(void *arg, const char *what, uint64_t seen, uint64_t expected);
	void *arg;
};

/* All of it, to the end of the data; blocks. */
void upheaval_run(const struct upheaval_wish *wish);

#endif
