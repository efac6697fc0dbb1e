/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TRACE_UTILISATION_H
#define ORR_TRACE_UTILISATION_H

/*
 * utilisation.h - how busy each node was, over about UTILISATION_BINS intervals of time:
 * the table of ORRERY_TRACE.
 *
 * Nobody knows beforehand how long a run is: when it leaves the last bin, bins are merged
 * two by two and their width doubles, for all nodes of the process alike.
 */
#include "core/event.h"

enum { UTILISATION_BINS = 256 };

enum utilisation_kind {
	UTILISATION_CPU,
	UTILISATION_GPU,
	UTILISATION_NET,
	UTILISATION_NKINDS
};

/* Of one node; without pointers, so that ranks can send it to each other. */
struct utilisation_bins {
	int rank, ncpus, ngpus;
	double end_s;
	double width_s; /* of the bins below */
	float busy_s[UTILISATION_NKINDS][UTILISATION_BINS];
};

/* The table of a process, and a row of it for one node's time. */
struct utilisation;
struct utilisation_row;

/* Open a row, in the table that all share or that is made now. */
struct utilisation_row *utilisation_open(struct utilisation **shared, const char *path,
					 const char *title);
struct event_sink *utilisation_sink(struct utilisation_row *row);
/* The node has closed.  Of the last one: write the file, and free all. */
void utilisation_close(struct utilisation_row *row);

/* Of a run whose ranks are processes: what this rank has, ending now; */
const struct utilisation_bins *utilisation_bins_at(struct utilisation_row *row,
						   double now_s);
/* at the rank that writes: the others' rows; and at the others: theirs are written. */
void utilisation_add(struct utilisation_row *row, const struct utilisation_bins *bins);
void utilisation_give_away(struct utilisation_row *row);

#endif
