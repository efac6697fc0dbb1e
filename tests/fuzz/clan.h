/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_CLAN_H
#define ORR_TESTS_FUZZ_CLAN_H

/*
 * clan.h - a random program on a datum and its parts, each owned by some rank.
 *
 * All ranks of the communicator make the same program and keep the same account of what
 * every datum must hold and on which rank its elements are up to date: as with StarPU,
 * owners of a datum and of its parts may differ, and the program moves what a task needs
 * to the owner of what it names.  Public headers only.
 */
#include <stdint.h>

#include <starpu_mpi.h>

struct clan_wish {
	uint64_t seed;
	MPI_Comm comm;
	int rank, nranks;
	int64_t first_tag; /* 1,000 from there are the program's */
	int reduces;       /* contributions may be used */
	int is_alone;      /* no other thread has tasks that wait for other ranks */
	void (*bad)(void *arg, const char *what, uint64_t seen, uint64_t expected);
	void *arg;
};

/* All of it, to the end of the datum; blocks. */
void clan_run(const struct clan_wish *wish);

#endif
