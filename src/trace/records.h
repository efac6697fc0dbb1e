/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TRACE_RECORDS_H
#define ORR_TRACE_RECORDS_H

/*
 * records.h - all records of a node in a file, for "orrery trace"; see doc/traces.md.
 *
 * The file is an array of struct event, in pieces of one ring each, with a record
 * EVENT_PIECE before each piece.  It is opened for each piece, so that thousands of
 * simulated nodes need no descriptors, and what the process has written is there
 * whatever becomes of it.
 */
#include "core/event.h"

/* The name of the file, without the number of the life. */
struct records_name {
	char before[200]; /* the rank is known; of this process and seat alone */
	char stem[96];    /* after */
	int is_numbered;  /* then comes the rank: 1: always, 0: where there are several */
	int is_settled;   /* who never has a rank is named as rank 0 of one */
	const char *ending;
};

struct records_wish {
	const char *directory;
	const char *knob; /* that wants them, for messages */
	struct records_name name;
	int life;  /* of the library on this rank, from 1 */
	int *told; /* that something cannot be written: once in a process */
};

struct records *records_open(const struct records_wish *wish);
struct event_sink *records_sink(struct records *records);
/* No rank will be known: the file gets the name that it keeps.  May be called in the
 * handler of a signal. */
void records_settle(struct records *records);
/* The file, "" when it cannot be written; until records_close(). */
const char *records_path(const struct records *records);
void records_close(struct records *records);

#endif
