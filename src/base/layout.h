/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_LAYOUT_H
#define ORR_BASE_LAYOUT_H

/*
 * layout.h - where the bytes of a value lie: a block, repeated at nested strides.
 *
 * A block of a program's n-dimensional array is described from the inside out: contiguous
 * bytes, then layout_repeat() for each dimension around them.  What turns out to be
 * contiguous is made one block, so a layout with no dimension is the usual case and
 * layouts that have few have a reason.  The order of the bytes is that of the dimensions,
 * innermost first: two layouts of as many bytes describe values that can be copied.
 *
 * base is NULL when the bytes do not exist (simulation without execution): only the sizes
 * count then.
 */
#include <stddef.h>

enum {
	LAYOUT_MAX_DIMS = 4,                       /* arrays of five dimensions */
	LAYOUT_MAX_PARTS = 2 * LAYOUT_MAX_DIMS + 1 /* see layout_cut() */
};

struct layout {
	char *base;
	size_t block_bytes;
	int ndims;
	struct layout_dim {
		size_t count, stride_bytes;
	} dims[LAYOUT_MAX_DIMS]; /* the innermost first */
};

/* Contiguous bytes; the other dimensions are not written. */
static inline void layout_flat(struct layout *layout, void *base, size_t bytes)
{
	layout->base = base;
	layout->block_bytes = bytes;
	layout->ndims = 0;
}

/* What it is, count times, stride_bytes apart.  0, or -E2BIG: too many dimensions. */
int layout_repeat(struct layout *layout, size_t count, size_t stride_bytes);

static inline int layout_is_flat(const struct layout *layout)
{
	return layout->ndims == 0;
}

static inline size_t layout_bytes(const struct layout *layout)
{
	size_t bytes = layout->block_bytes;

	for (int i = 0; i < layout->ndims; i++)
		bytes *= layout->dims[i].count;
	return bytes;
}

/* From the first byte to the one after the last. */
size_t layout_extent_bytes(const struct layout *layout);

/* Do later bytes of the value lie at higher addresses, and none at those of others? */
int layout_ascends(const struct layout *layout);
/* Where byte at of the value lies; there is one. */
char *layout_address(const struct layout *layout, size_t at);

/*
 * Bytes [from, from + bytes) of the value as layouts in their order; returns how many,
 * at most LAYOUT_MAX_PARTS.  Only with a base.
 */
int layout_cut(const struct layout *layout, size_t from, size_t bytes,
	       struct layout *parts);

/* Copy between layouts of as many bytes, or contiguous bytes to a layout, or the
 * reverse.  Nothing happens when an address is NULL. */
void layout_copy(const struct layout *to, const struct layout *from);
void layout_scatter(const struct layout *to, const void *from);
void layout_gather(void *to, const struct layout *from);

/* Who moves the bytes otherwise: visit is called for what is contiguous in both, in
 * order. */
typedef void layout_row_func(void *arg, char *to, const char *from, size_t bytes);
void layout_each_row(const struct layout *to, const struct layout *from,
		     layout_row_func *visit, void *arg);
/* Of bytes [at, at + bytes) of both alone. */
void layout_each_row_of(const struct layout *to, const struct layout *from, size_t at,
			size_t bytes, layout_row_func *visit, void *arg);

#endif
