/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_TAG_RANGES_H
#define ORR_MPI_TAG_RANGES_H

/*
 * tag_ranges.h - ranges of tags handed out to the parts of a program, first fit.
 * The account is of the program, not of a life of the MPI layer.
 */
#include "plat/plat.h"

/* A tree in the order of the tags, balanced by chance (a treap), that knows where the
 * first gap is that is wide enough. */
struct tag_range {
	int64_t first, count;
	int64_t gap,
		widest; /* free tags right before it; the widest gap in its subtree */
	uint64_t draw;  /* above those that drew less */
	struct tag_range *left, *right;
};

struct tag_ranges {
	struct orr_lock lock;
	struct tag_range *root; /* taken */
	uint64_t ndrawn;
};

void tag_ranges_init(struct tag_ranges *tags);
void tag_ranges_free(struct tag_ranges *tags);
/* The first of count > 0 consecutive free tags, or -ENOSPC. */
int64_t tag_ranges_take(struct tag_ranges *tags, int64_t count);
/* The tag after the last range, 0 without one, INT64_MAX when no tag is left there. */
int64_t tag_ranges_end(struct tag_ranges *tags);
/* 0, or -EINVAL: no range starts there. */
int tag_ranges_give(struct tag_ranges *tags, int64_t first);

#endif
