/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/tag_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void tag_ranges_init(struct tag_ranges *tags)
{
	memset(tags, 0, sizeof(*tags));
	orr_lock_init(&tags->lock);
}

void tag_ranges_free(struct tag_ranges *tags)
{
	free(tags->ranges);
	tags->ranges = NULL;
	tags->nranges = tags->capacity = 0;
}

static void insert_at(struct tag_ranges *tags, size_t place, int64_t first, int64_t count)
{
	if (tags->nranges == tags->capacity) {
		tags->capacity = tags->capacity ? 2 * tags->capacity : 4;
		tags->ranges =
			orr_realloc(tags->ranges, tags->capacity * sizeof(*tags->ranges));
	}
	memmove(&tags->ranges[place + 1], &tags->ranges[place],
		(tags->nranges - place) * sizeof(*tags->ranges));
	tags->ranges[place] = (struct tag_range){.first = first, .count = count};
	tags->nranges++;
}

/* The tag after the last; negative when there is none. */
static int64_t end_of(const struct tag_range *range)
{
	if (INT64_MAX - range->first < range->count)
		return -1;
	return range->first + range->count;
}

int64_t tag_ranges_end(struct tag_ranges *tags)
{
	int64_t end = 0;

	orr_lock(&tags->lock);
	if (tags->nranges > 0)
		end = end_of(&tags->ranges[tags->nranges - 1]);
	orr_unlock(&tags->lock);
	return end < 0 ? INT64_MAX : end;
}

int64_t tag_ranges_take(struct tag_ranges *tags, int64_t count)
{
	int64_t first = 0;
	size_t place;

	orr_lock(&tags->lock);
	for (place = 0; place < tags->nranges; place++) {
		if (tags->ranges[place].first - first >= count)
			break;
		first = end_of(&tags->ranges[place]);
	}
	/* Tags end with INT64_MAX. */
	if (first < 0 || INT64_MAX - first < count - 1)
		first = -ENOSPC;
	else
		insert_at(tags, place, first, count);
	orr_unlock(&tags->lock);
	return first;
}

int tag_ranges_give(struct tag_ranges *tags, int64_t first)
{
	int ret = -EINVAL;

	orr_lock(&tags->lock);
	for (size_t i = 0; i < tags->nranges; i++) {
		if (tags->ranges[i].first != first)
			continue;
		tags->nranges--;
		memmove(&tags->ranges[i], &tags->ranges[i + 1],
			(tags->nranges - i) * sizeof(*tags->ranges));
		ret = 0;
		break;
	}
	orr_unlock(&tags->lock);
	return ret;
}
