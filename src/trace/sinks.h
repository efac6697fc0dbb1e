/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TRACE_SINKS_H
#define ORR_TRACE_SINKS_H

/*
 * sinks.h - the sinks of a node's events, as the API opens them.
 *
 * A sink knows of the node what the records say.  Nodes of one process share what hangs
 * in one slot: made by the first that opens, written by the last that closes.
 */
#include "trace/profile.h"
#include "trace/records.h"
#include "trace/utilisation.h"

struct sinks_wish {
	const char *utilisation; /* path of the table, or "" */
	const char *title;       /* of the run */
	struct utilisation **shared;
	struct records_wish records; /* directory "": none */
};

struct sinks_link {
	unsigned char direct, ngpus; /* one more than said; 0: not said */
};

/* What one node has open. */
struct sinks {
	struct utilisation_row *row; /* NULL: not wanted */
	struct records *records;     /* NULL: not wanted */
	struct orr_lock lock;        /* of: */
	struct profile *profile;     /* NULL: never wanted so far */
	int is_profiling;
	/* What the application says of the links between memories, from and to; NULL:
	 * nothing so far. */
	struct sinks_link (*links)[STARPU_MAXNODES];
};

/* Before events_begin(). */
struct sinks *sinks_open(const struct sinks_wish *wish, struct events *events);
/* After events_end(). */
void sinks_close(struct sinks *sinks);

#endif
