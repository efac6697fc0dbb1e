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

struct records_wish {
	const char *directory;
	char name[96]; /* of the file before the rank is known, without suffix */
	int life;      /* of the library on this rank, from 1 */
	int *told;     /* that something cannot be written: once in a process */
};

struct records *records_open(const struct records_wish *wish);
struct event_sink *records_sink(struct records *records);
void records_close(struct records *records);

#endif
