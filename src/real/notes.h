/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_NOTES_H
#define ORR_REAL_NOTES_H

/*
 * notes.h - short messages in memory that several processes map: any of them puts, one
 * takes, in the order in which places were found.  Memory of zeros is an empty queue.
 *
 * A note is one line of the cache, so to take it costs one miss.
 */
#include <stddef.h>
#include <stdint.h>

enum { NOTE_BYTES = 48, NOTES = 64 };

struct note {
	uint64_t turn; /* atomic: twice how often it was taken, and 1 while it is full */
	int32_t from;
	uint32_t bytes;
	char text[NOTE_BYTES];
} __attribute__((aligned(64)));

struct notes {
	uint64_t next __attribute__((aligned(64))); /* atomic: to be put */
	struct note of[NOTES];
};

/* 1, or 0: there is no room, now or for so many bytes.  Any number of callers. */
int notes_put(struct notes *notes, int from, const void *text, size_t bytes);
/* The oldest.  1: text, of NOTE_BYTES, has it; 0: there is none.  One caller at a time,
 * whose count of taken ones begins at 0. */
int notes_take(struct notes *notes, uint64_t *ntaken, int *from, void *text,
	       size_t *bytes);

#endif
