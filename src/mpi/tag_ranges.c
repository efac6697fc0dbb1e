/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/tag_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/table.h"

void tag_ranges_init(struct tag_ranges *tags)
{
	memset(tags, 0, sizeof(*tags));
	orr_lock_init(&tags->lock);
}

/* ---- the tree -------------------------------------------------------- */

static void free_all(struct tag_range *range)
{
	if (!range)
		return;
	free_all(range->left);
	free_all(range->right);
	free(range);
}

static void update(struct tag_range *range)
{
	int64_t widest = range->gap;

	if (range->left && range->left->widest > widest)
		widest = range->left->widest;
	if (range->right && range->right->widest > widest)
		widest = range->right->widest;
	range->widest = widest;
}

/* Those that begin before the tag, and the others. */
static void split(struct tag_range *range, int64_t tag, struct tag_range **before,
		  struct tag_range **others)
{
	if (!range) {
		*before = *others = NULL;
		return;
	}
	if (range->first < tag) {
		split(range->right, tag, &range->right, others);
		*before = range;
	} else {
		split(range->left, tag, before, &range->left);
		*others = range;
	}
	update(range);
}

static struct tag_range *join(struct tag_range *before, struct tag_range *others)
{
	if (!before || !others)
		return before ? before : others;
	if (before->draw > others->draw) {
		before->right = join(before->right, others);
		update(before);
		return before;
	}
	others->left = join(before, others->left);
	update(others);
	return others;
}

static void widen_first(struct tag_range *range, int64_t by)
{
	if (range->left)
		widen_first(range->left, by);
	else
		range->gap += by;
	update(range);
}

/* Without the first one, which is the caller's to free. */
static struct tag_range *drop_first(struct tag_range *range)
{
	if (!range->left)
		return range->right;
	range->left = drop_first(range->left);
	update(range);
	return range;
}

/* The first one with such a gap before it; there is one. */
static const struct tag_range *find_gap(const struct tag_range *range, int64_t count)
{
	for (;;) {
		if (range->left && range->left->widest >= count)
			range = range->left;
		else if (range->gap >= count)
			return range;
		else
			range = range->right;
	}
}

/* ---- ranges ---------------------------------------------------------- */

void tag_ranges_free(struct tag_ranges *tags)
{
	free_all(tags->root);
	tags->root = NULL;
}

/* The tag after the last range; negative when there is none. */
static int64_t find_end(const struct tag_ranges *tags)
{
	const struct tag_range *last = tags->root;

	if (!last)
		return 0;
	while (last->right)
		last = last->right;
	return INT64_MAX - last->first < last->count ? -1 : last->first + last->count;
}

int64_t tag_ranges_end(struct tag_ranges *tags)
{
	int64_t end;

	orr_lock(&tags->lock);
	end = find_end(tags);
	orr_unlock(&tags->lock);
	return end < 0 ? INT64_MAX : end;
}

/* Where no tag is free between it and the range before it. */
static void insert(struct tag_ranges *tags, int64_t first, int64_t count)
{
	struct tag_range *range = orr_alloc(sizeof(*range)), *before, *behind;

	range->first = first;
	range->count = count;
	range->draw = table_mix(++tags->ndrawn);
	split(tags->root, first, &before, &behind);
	if (behind)
		widen_first(behind, -count);
	tags->root = join(join(before, range), behind);
}

int64_t tag_ranges_take(struct tag_ranges *tags, int64_t count)
{
	const struct tag_range *next;
	int64_t first;

	orr_lock(&tags->lock);
	if (tags->root && tags->root->widest >= count) {
		next = find_gap(tags->root, count);
		first = next->first - next->gap;
	} else {
		first = find_end(tags);
	}
	/* Tags end with INT64_MAX. */
	if (first < 0 || INT64_MAX - first < count - 1)
		first = -ENOSPC;
	else
		insert(tags, first, count);
	orr_unlock(&tags->lock);
	return first;
}

int tag_ranges_give(struct tag_ranges *tags, int64_t first)
{
	struct tag_range *before, *others, *range;
	int ret = -EINVAL;

	orr_lock(&tags->lock);
	split(tags->root, first, &before, &others);
	range = others;
	while (range && range->left)
		range = range->left;
	if (range && range->first == first) {
		others = drop_first(others);
		if (others)
			widen_first(others, range->gap + range->count);
		free(range);
		ret = 0;
	}
	tags->root = join(before, others);
	orr_unlock(&tags->lock);
	return ret;
}
