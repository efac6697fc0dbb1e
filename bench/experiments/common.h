/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef EXPERIMENTS_COMMON_H
#define EXPERIMENTS_COMMON_H

/*
 * common.h - what the programs of the experiments share: options with numbers, a grid of
 * ranks, and time that passes without work.
 */

/* "--name NUMBER" sets *value; what is not given keeps its value. */
struct setting {
	const char *name;
	double *value;
};

/*
 * 0, or -1 when argv names an option that is not in the list of n, or no number with it.
 * Only the rank that is told to say so prints what is wrong.
 */
int settings_read(const struct setting *settings, int n, int argc, char **argv, int say);

/* The rank that is at place in a grid of extent[0] * extent[1] * extent[2] ranks, where
 * the first coordinate changes fastest; -1 beyond an edge. */
int grid_rank(const int extent[3], const int place[3]);
void grid_place(const int extent[3], int rank, int place[3]);

/* Lets time pass, as computing does: seconds of simulated time. */
void compute_s(double seconds);

#endif
