/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_CLAIM_H
#define ORR_TESTS_CLAIM_H

/*
 * claim.h - a test program is a list of claims; each prints PASS or FAIL with what
 * was seen.  Public headers only, so that the same source runs in both flavours.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

struct claim {
	const char *name;
	void (*check)(void);
};

/* Failures of the running claim; in main's file, since programs are privatised. */
extern int claim_failures;

/* Further ones are counted only. */
enum { CLAIM_MAX_SHOWN = 10 };

#define CLAIM_EQ(seen, expected)                                                         \
	do {                                                                             \
		long long seen_ = (long long)(seen), expected_ = (long long)(expected);  \
		if (seen_ != expected_ && claim_failures++ < CLAIM_MAX_SHOWN)            \
			printf("%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
			       #seen, seen_, expected_);                                 \
	} while (0)

#define CLAIM(condition)                                                                 \
	do {                                                                             \
		if (!(condition) && claim_failures++ < CLAIM_MAX_SHOWN)                  \
			printf("%s:%d: this does not hold: %s\n", __FILE__, __LINE__,    \
			       #condition);                                              \
	} while (0)

/* A life of the runtime with so many workers, whatever the environment says. */
static inline void claim_start(int ncpus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

/* Run all claims, each in a life of the runtime of its own; returns main's status. */
static inline int claims_run(const struct claim *claims, int silent)
{
	int failed = 0;

	for (const struct claim *claim = claims; claim->name; claim++) {
		claim_failures = 0;
		claim->check();
		failed += claim_failures != 0;
		if (!silent || claim_failures)
			printf("%s %s\n", claim_failures ? "FAIL" : "PASS", claim->name);
		fflush(stdout);
	}
	return failed != 0;
}

#endif
