/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef METG_PATTERN_H
#define METG_PATTERN_H

/*
 * pattern.h - graphs of tasks for the smallest task that is worth it: width columns, a
 * task for each in each step, which reads what some columns made in the step before.
 */
enum { MAX_INPUTS = 256 };

struct metg {
	const char *pattern; /* trivial, stencil, fft, random or all */
	int inputs;          /* 1 to 4; trivial has none, all has width */
	int width, steps, repeats;
	double from_us, to_us, factor; /* lengths of tasks that are tried */
	int rank, size;
};

/* Reads the command line; 0, or -1 when it is wrong, which rank 0 says. */
int metg_read(struct metg *metg, int argc, char **argv);

/* The columns of step - 1 that the task of column in step reads, into inputs. */
int metg_inputs(const struct metg *metg, int step, int column, int inputs[MAX_INPUTS]);

int metg_owner(const struct metg *metg, int column);

/* Works until that much wall-clock time has passed. */
void metg_spin(double us);

#endif
