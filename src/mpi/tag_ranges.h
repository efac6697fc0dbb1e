/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_TAG_RANGES_H
#define ORR_MPI_TAG_RANGES_H

/*
 * tag_ranges.h - ranges of tags handed out to the parts of a program, first fit..
 * The account is of the program, not of a life of the MPI layer.
 */
#include "plat/plat.h"

struct tag_range {
	int64_t first, count;
};

struct tag_ranges {
	struct orr_lock lock;
	struct tag_range *ranges; /* taken, in order */
	size_t nranges, capacity;
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
