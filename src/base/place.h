/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_PLACE_H
#define ORR_BASE_PLACE_H

/*
 * place.h - where the bytes of a value lie when nested strides cannot say it: a tree.
 *
 * A place is a block of bytes, or other places one after the other, each at an offset;
 * all of it once, or several times at a stride, which may be negative.  Offsets are from
 * the address of the value.  The order of the bytes is that of the tree.
 */
#include "base/layout.h"

struct place;

struct place *place_block(size_t bytes);
/* Takes the inner one. */
struct place *place_repeat(struct place *inner, size_t count, ptrdiff_t stride_bytes);
/* Of n members, each to be set once; takes the member, which may be held by others. */
struct place *place_members(size_t n);
void place_set(struct place *place, size_t i, ptrdiff_t at, struct place *member);
/* One more holder, who frees it. */
struct place *place_hold(struct place *place);
void place_free(struct place *place);
/* The same with blocks elsewhere: shift() says for an offset how much is added. */
struct place *place_shifted(const struct place *place,
			    ptrdiff_t (*shift)(void *arg, ptrdiff_t at), void *arg);

size_t place_bytes(const struct place *place);
/* Offsets from from on, before to. */
struct place_range {
	ptrdiff_t from, to;
};

/* Widen span until the blocks, offset by at, are in it; those that lie in except, which
 * may be NULL, do not count. */
void place_span(const struct place *place, ptrdiff_t at, const struct place_range *except,
		struct place_range *span);
/* The same from base on as nested strides: 0, or -E2BIG. */
int place_layout(const struct place *place, char *base, struct layout *layout);
/* Copy between the value at base and bytes in a row. */
void place_gather(void *to, const struct place *place, const char *base);
void place_scatter(const struct place *place, char *base, const void *from);

#endif
