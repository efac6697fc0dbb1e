/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MATCH_H
#define ORR_MPI_MATCH_H

/*
 * match.h - first in, first out queues by (communicator, source, tag).
 *
 * Two of them make the matching: receives posted without a message, and messages
 * that came without a receive.  Entries are embedded, chained by hash; those of one
 * key hang on the first of them, so a queue costs nothing besides its entries, and
 * any number of other keys costs nothing but memory.  Not locked.
 */
#include <stddef.h>
#include <stdint.h>

struct match_entry {
	struct match_entry *chain; /* next key with the same hash */
	struct match_entry *next;  /* same key, later */
	struct match_entry *last;  /* same key, the latest; valid in the first */
	uint64_t comm;
	int64_t tag;
	int source; /* rank in the transport */
};

struct match {
	struct match_entry **buckets;
	size_t mask, nkeys, nentries;
	int64_t recent; /* tag that was asked for last */
	/* Lines of the cache before and behind that of an entry which are needed with it.
	 */
	int nlines_before, nlines_behind;
};

/* A zeroed struct match is empty; who knows them then sets the numbers of lines. */
void match_free(struct match *match);
/* comm, source and tag of entry are set. */
void match_add(struct match *match, struct match_entry *entry);
/* Who has the key will be taken soon: steps 0 and 1 bring it near. */
void match_expect(const struct match *match, uint64_t comm, int source, int64_t tag,
		  int step);
/* The oldest entry with the key, taken out, or NULL. */
struct match_entry *match_take(struct match *match, uint64_t comm, int source,
			       int64_t tag);
/* Would match_take() take this one, which is there, for its key? */
int match_is_next(const struct match *match, const struct match_entry *entry);
/* All entries; start with *cursor = 0 and *entry = NULL.  0 at the end. */
int match_next(const struct match *match, size_t *cursor, struct match_entry **entry);

#endif
