/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/layout.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"

/* ---- description ----------------------------------------------------- */

int layout_repeat(struct layout *layout, size_t count, size_t stride_bytes)
{
	struct layout_dim *last = layout->dims + layout->ndims - 1;

	if (count == 0 || layout->block_bytes == 0) {
		layout->block_bytes = 0;
		layout->ndims = 0;
	} else if (count == 1) {
		return 0;
	} else if (layout->ndims == 0 && stride_bytes == layout->block_bytes) {
		layout->block_bytes *= count;
	} else if (layout->ndims > 0 &&
		   stride_bytes == last->count * last->stride_bytes) {
		last->count *= count;
	} else if (layout->ndims == LAYOUT_MAX_DIMS) {
		return -E2BIG;
	} else {
		layout->dims[layout->ndims++] = (struct layout_dim){count, stride_bytes};
	}
	return 0;
}

size_t layout_extent_bytes(const struct layout *layout)
{
	size_t bytes = layout->block_bytes;

	for (int i = 0; i < layout->ndims; i++)
		bytes += (layout->dims[i].count - 1) * layout->dims[i].stride_bytes;
	return bytes;
}

int layout_ascends(const struct layout *layout)
{
	size_t extent = layout->block_bytes;

	for (int i = 0; i < layout->ndims; i++) {
		const struct layout_dim *dim = &layout->dims[i];

		if (dim->stride_bytes < extent)
			return 0;
		extent += (dim->count - 1) * dim->stride_bytes;
	}
	return 1;
}

/* ---- parts ----------------------------------------------------------- */

struct cutting {
	const struct layout *layout;
	struct layout *parts;
	int nparts;
};

static void add_part(struct cutting *cutting, char *base, int ndims, size_t count)
{
	struct layout *part = &cutting->parts[cutting->nparts++];

	ORR_ASSERT(cutting->nparts <= LAYOUT_MAX_PARTS);
	*part = *cutting->layout;
	part->base = base;
	part->ndims = count > 1 ? ndims + 1 : ndims;
	part->dims[ndims].count = count;
}

/* Bytes [from, to) of what lies at base, ndims dimensions of the whole. */
static void cut(struct cutting *cutting, char *base, int ndims, size_t from, size_t to)
{
	struct layout inner = *cutting->layout;
	size_t bytes, stride, first, end;

	if (ndims == 0) {
		layout_flat(&cutting->parts[cutting->nparts++], base + from, to - from);
		return;
	}
	inner.ndims = ndims - 1;
	bytes = layout_bytes(&inner);
	stride = inner.dims[ndims - 1].stride_bytes;
	first = from / bytes;
	end = to / bytes;
	if (first == end) {
		cut(cutting, base + first * stride, ndims - 1, from % bytes, to % bytes);
		return;
	}
	if (from % bytes) {
		cut(cutting, base + first * stride, ndims - 1, from % bytes, bytes);
		first++;
	}
	if (end > first)
		add_part(cutting, base + first * stride, ndims - 1, end - first);
	if (to % bytes)
		cut(cutting, base + end * stride, ndims - 1, 0, to % bytes);
}

int layout_cut(const struct layout *layout, size_t from, size_t bytes,
	       struct layout *parts)
{
	struct cutting cutting = {layout, parts, 0};

	ORR_ASSERT(from + bytes <= layout_bytes(layout));
	if (bytes > 0)
		cut(&cutting, layout->base, layout->ndims, from, from + bytes);
	return cutting.nparts;
}

/* ---- copies ---------------------------------------------------------- */

/* A walk over the blocks. */
struct cursor {
	const struct layout *layout;
	char *at;
	size_t left; /* in this block */
	size_t index[LAYOUT_MAX_DIMS];
};

/* At byte at of the value. */
static void cursor_start(struct cursor *cursor, const struct layout *layout, size_t at)
{
	size_t block = 0, within = at;

	if (at > 0) {
		block = at / layout->block_bytes;
		within = at % layout->block_bytes;
	}
	cursor->layout = layout;
	cursor->at = layout->base + within;
	cursor->left = layout->block_bytes - within;
	for (int i = 0; i < layout->ndims; i++) {
		const struct layout_dim *dim = &layout->dims[i];

		cursor->index[i] = block % dim->count;
		cursor->at += cursor->index[i] * dim->stride_bytes;
		block /= dim->count;
	}
}

static void cursor_next_block(struct cursor *cursor)
{
	const struct layout *layout = cursor->layout;

	cursor->at -= layout->block_bytes;
	cursor->left = layout->block_bytes;
	for (int i = 0; i < layout->ndims; i++) {
		const struct layout_dim *dim = &layout->dims[i];

		cursor->at += dim->stride_bytes;
		if (++cursor->index[i] < dim->count)
			return;
		cursor->index[i] = 0;
		cursor->at -= dim->count * dim->stride_bytes;
	}
}

static void cursor_advance(struct cursor *cursor, size_t bytes)
{
	cursor->at += bytes;
	cursor->left -= bytes;
	if (cursor->left == 0)
		cursor_next_block(cursor);
}

/* Bytes [at, at + left) of both. */
static inline void walk(const struct layout *to, const struct layout *from, size_t at,
			size_t left, layout_row_func *visit, void *arg)
{
	struct cursor target, source;

	if (!to->base || !from->base || left == 0)
		return;
	ORR_ASSERT(layout_bytes(to) == layout_bytes(from));
	if (layout_is_flat(to) && layout_is_flat(from)) {
		visit(arg, to->base + at, from->base + at, left);
		return;
	}
	cursor_start(&target, to, at);
	cursor_start(&source, from, at);
	while (left > 0) {
		size_t bytes = target.left < source.left ? target.left : source.left;

		bytes = bytes < left ? bytes : left;
		visit(arg, target.at, source.at, bytes);
		left -= bytes;
		cursor_advance(&target, bytes);
		cursor_advance(&source, bytes);
	}
}

static void copy_row(void *arg, char *to, const char *from, size_t bytes)
{
	(void)arg;
	memcpy(to, from, bytes);
}

char *layout_address(const struct layout *layout, size_t at)
{
	struct cursor cursor;

	cursor_start(&cursor, layout, at);
	return cursor.at;
}

void layout_copy(const struct layout *to, const struct layout *from)
{
	walk(to, from, 0, layout_bytes(from), copy_row, NULL);
}

void layout_each_row(const struct layout *to, const struct layout *from,
		     layout_row_func *visit, void *arg)
{
	walk(to, from, 0, layout_bytes(from), visit, arg);
}

void layout_each_row_of(const struct layout *to, const struct layout *from, size_t at,
			size_t bytes, layout_row_func *visit, void *arg)
{
	ORR_ASSERT(at + bytes <= layout_bytes(from));
	walk(to, from, at, bytes, visit, arg);
}

void layout_scatter(const struct layout *to, const void *from)
{
	struct layout flat;

	layout_flat(&flat, (void *)from, layout_bytes(to));
	layout_copy(to, &flat);
}

void layout_gather(void *to, const struct layout *from)
{
	struct layout flat;

	layout_flat(&flat, to, layout_bytes(from));
	layout_copy(&flat, from);
}
