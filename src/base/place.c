/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/place.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct place {
	int nholders;
	size_t count; /* of all that follows */
	ptrdiff_t stride_bytes;
	size_t block_bytes; /* without members */
	size_t nmembers;
	struct member {
		ptrdiff_t at;
		struct place *place;
	} members[];
};

/* ---- making ---------------------------------------------------------- */

struct place *place_members(size_t n)
{
	struct place *place = orr_alloc(sizeof(*place) + n * sizeof(*place->members));

	place->nholders = 1;
	place->count = 1;
	place->nmembers = n;
	return place;
}

struct place *place_block(size_t bytes)
{
	struct place *place = place_members(0);

	place->block_bytes = bytes;
	return place;
}

void place_set(struct place *place, size_t i, ptrdiff_t at, struct place *member)
{
	ORR_ASSERT(i < place->nmembers && !place->members[i].place);
	place->members[i] = (struct member){at, member};
}

static int is_block(const struct place *place)
{
	return place->count == 1 && place->nmembers == 0;
}

struct place *place_repeat(struct place *inner, size_t count, ptrdiff_t stride_bytes)
{
	struct place *place;

	if (count == 1)
		return inner;
	if (is_block(inner) && (size_t)stride_bytes == inner->block_bytes) {
		place = place_block(count * inner->block_bytes);
		place_free(inner);
	} else {
		place = place_members(1);
		place_set(place, 0, 0, inner);
		place->count = count;
		place->stride_bytes = stride_bytes;
	}
	return place;
}

struct place *place_hold(struct place *place)
{
	place->nholders++;
	return place;
}

/* As deep as a program nests its descriptions. */
void place_free(struct place *place)
{
	if (!place || --place->nholders > 0)
		return;
	for (size_t i = 0; i < place->nmembers; i++)
		place_free(place->members[i].place);
	free(place);
}

struct shifting {
	ptrdiff_t (*shift)(void *arg, ptrdiff_t at);
	void *arg;
};

/* The place was at an offset from the value, and will be at another one. */
static struct place *shifted(const struct place *place, ptrdiff_t was, ptrdiff_t will,
			     const struct shifting *by)
{
	struct place *other = place_members(place->nmembers);

	other->count = place->count;
	other->stride_bytes = place->stride_bytes;
	other->block_bytes = place->block_bytes;
	for (size_t i = 0; i < place->nmembers; i++) {
		ptrdiff_t from = was + place->members[i].at;
		ptrdiff_t to = from + by->shift(by->arg, from);

		place_set(other, i, to - will,
			  shifted(place->members[i].place, from, to, by));
	}
	return other;
}

struct place *place_shifted(const struct place *place,
			    ptrdiff_t (*shift)(void *arg, ptrdiff_t at), void *arg)
{
	return shifted(place, 0, 0, &(struct shifting){shift, arg});
}

/* ---- asking ---------------------------------------------------------- */

size_t place_bytes(const struct place *place)
{
	size_t bytes = place->block_bytes;

	for (size_t i = 0; i < place->nmembers; i++)
		bytes += place_bytes(place->members[i].place);
	return bytes * place->count;
}

static void add_block(ptrdiff_t from, size_t bytes, const struct place_range *except,
		      struct place_range *span)
{
	ptrdiff_t to = from + (ptrdiff_t)bytes;

	if (except && from >= except->from && to <= except->to)
		return;
	span->from = from < span->from ? from : span->from;
	span->to = to > span->to ? to : span->to;
}

/* The first and the last of several are enough. */
void place_span(const struct place *place, ptrdiff_t at, const struct place_range *except,
		struct place_range *span)
{
	ptrdiff_t last = at + place->stride_bytes * (ptrdiff_t)(place->count - 1);

	if (place->count == 0)
		return;
	if (place->block_bytes > 0) {
		add_block(at, place->block_bytes, except, span);
		add_block(last, place->block_bytes, except, span);
	}
	for (size_t i = 0; i < place->nmembers; i++) {
		ptrdiff_t inner = place->members[i].at;

		place_span(place->members[i].place, at + inner, except, span);
		if (last != at)
			place_span(place->members[i].place, last + inner, except, span);
	}
}

/* What goes backwards, or overlaps, is no layout. */
int place_layout(const struct place *place, char *base, struct layout *layout)
{
	int ret = 0;

	if (place->nmembers > 1)
		return -E2BIG;
	if (place->nmembers == 0)
		layout_flat(layout, base, place->block_bytes);
	else
		ret = place_layout(place->members[0].place,
				   base ? base + place->members[0].at : NULL, layout);
	if (ret < 0 || place->count == 1)
		return ret;
	if (place->stride_bytes < 0 ||
	    (size_t)place->stride_bytes < layout_extent_bytes(layout))
		return -E2BIG;
	return layout_repeat(layout, place->count, (size_t)place->stride_bytes);
}

/* ---- copying --------------------------------------------------------- */

/* One of the two is the value.  Returns where the row goes on. */
static char *move(const struct place *place, char *base, char *row, int gathers)
{
	for (size_t n = 0; n < place->count; n++, base += place->stride_bytes) {
		if (place->block_bytes) {
			memcpy(gathers ? row : base, gathers ? base : row,
			       place->block_bytes);
			row += place->block_bytes;
		}
		for (size_t i = 0; i < place->nmembers; i++)
			row = move(place->members[i].place, base + place->members[i].at,
				   row, gathers);
	}
	return row;
}

/* Neither writes to what is const. */
void place_gather(void *to, const struct place *place, const char *base)
{
	move(place, (char *)(uintptr_t)base, to, 1);
}

void place_scatter(const struct place *place, char *base, const void *from)
{
	move(place, base, (char *)(uintptr_t)from, 0);
}
