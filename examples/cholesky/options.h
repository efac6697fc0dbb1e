/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef CHOLESKY_OPTIONS_H
#define CHOLESKY_OPTIONS_H

/* What the command line asks for. */
struct options {
	int nb;   /* tiles in a row of the matrix */
	int tile; /* rows of a tile */
	int p, q; /* grid of nodes; 0: choose */
	int is_double;
	int prune; /* insert only the tasks that concern this node */
	int check; /* compare L L^T with A; only where values exist */
	int priorities;
	int seed;
};

/*
 * Fill options from the command line for a run on size nodes.  0: run; 1: help was
 * asked for; -1: the command line is wrong.  Prints only where say is set.
 */
int options_read(struct options *options, int argc, char **argv, int size, int say);

#endif
