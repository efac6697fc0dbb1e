/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_MEDLEY_H
#define ORR_TESTS_FUZZ_MEDLEY_H

/* medley.h - what medley.c and its tasks know of values.  Public headers only. */
#include "run.h"

enum { QUARTERS = 4 };

/* In each quarter there is no value, or element i is base + slope * i. */
struct values {
	int n; /* quarters */
	unsigned nx;
	int has[QUARTERS];
	uint64_t base[QUARTERS], slope[QUARTERS];
};
enum deed { SEE, SET, CHANGE, ADD, MIX, CONTRIBUTE };

/* What is given to tasks, by value: they may end after what made them. */
struct errand {
	struct run *run;
	const struct op *op;
	enum deed deed;
	int is_seen; /* the value before is known */
	uint64_t salt;
	struct values before, other;
};

/* How many of its quarters have a value; have all? */
int values_present(const struct values *values);
int values_are_full(const struct values *values);
/* Do it to the model. */
void values_do(struct values *values, enum deed deed, uint64_t salt,
	       const struct values *other);
/* The same to elements in memory. */
void values_apply(uint64_t *x, const struct values *values, enum deed deed, uint64_t salt,
		  const uint64_t *other);
/* Complain of the first element that is another. */
void values_look(struct run *run, const struct op *op, const char *what,
		 const uint64_t *x, const struct values *values);

extern struct starpu_codelet medley_anywhere, medley_on_cpus, medley_neutral,
	medley_combine;

#endif
