/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/overlap.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/interface/interface.h"

enum { LOOKS_PER_PART = 32 };

struct span {
	struct layout layout;
	const char *end;
	unsigned part;
};

/* ---- two parts ------------------------------------------------------- */

/*
 * Strides are nested: what repeats at one stride fits into it.  So two layouts are rows
 * of the larger outermost stride, and a row of one can meet two rows of the other: the
 * one that begins before it and the one after that.  What the rows are is asked again.
 */
struct rows {
	struct layout row;
	ptrdiff_t count;
};

static size_t outer_stride(const struct layout *layout)
{
	return layout->ndims ? layout->dims[layout->ndims - 1].stride_bytes : 0;
}

/* 0: it is not made of such rows. */
static int take_rows(const struct layout *layout, size_t stride, struct rows *rows)
{
	*rows = (struct rows){*layout, 1};
	if (outer_stride(layout) == stride)
		rows->count = (ptrdiff_t)layout->dims[--rows->row.ndims].count;
	return layout_extent_bytes(&rows->row) <= stride;
}

static int meet(const struct layout *first, const struct layout *second, ptrdiff_t apart);

/* One that goes on over several rows, since nothing, or as much as elsewhere, is between
 * them: full rows, and what is left of the last one. */
static int long_meets(const struct layout *layout, size_t stride,
		      const struct layout *second, ptrdiff_t apart)
{
	struct layout full = *layout, rest = *layout;
	size_t unit = layout->ndims ? outer_stride(layout) : 1, n;
	size_t *whole = &full.block_bytes, *left = &rest.block_bytes;

	if (stride % unit || layout->ndims == LAYOUT_MAX_DIMS)
		return 0;
	if (layout->ndims) {
		whole = &full.dims[layout->ndims - 1].count;
		left = &rest.dims[layout->ndims - 1].count;
	}
	n = *whole / (stride / unit);
	*whole = stride / unit;
	*left %= stride / unit;
	full.dims[full.ndims++] = (struct layout_dim){n, stride};
	return meet(&full, second, apart) ||
	       (*left > 0 && meet(&rest, second, apart - (ptrdiff_t)(n * stride)));
}

static int rows_meet(const struct rows *first, const struct rows *second,
		     ptrdiff_t stride, ptrdiff_t apart)
{
	ptrdiff_t rest = apart % stride < 0 ? apart % stride + stride : apart % stride;
	ptrdiff_t before = (apart - rest) / stride;

	for (ptrdiff_t i = 0; i < 2; i++, before++, rest -= stride)
		if (before < first->count && -before < second->count &&
		    meet(&first->row, &second->row, rest))
			return 1;
	return 0;
}

/* The second begins apart bytes after the first, or before it.  0 also when they are of
 * different grids, which nobody knows how to compare. */
static int meet(const struct layout *first, const struct layout *second, ptrdiff_t apart)
{
	size_t one = outer_stride(first), other = outer_stride(second);
	size_t stride = one > other ? one : other;
	struct rows rows[2];

	if (stride == 0)
		return apart < (ptrdiff_t)first->block_bytes &&
		       -apart < (ptrdiff_t)second->block_bytes;
	if (one < stride && layout_extent_bytes(first) > stride)
		return long_meets(first, stride, second, apart);
	if (other < stride && layout_extent_bytes(second) > stride)
		return long_meets(second, stride, first, -apart);
	return take_rows(first, stride, &rows[0]) &&
	       take_rows(second, stride, &rows[1]) &&
	       rows_meet(&rows[0], &rows[1], (ptrdiff_t)stride, apart);
}

int overlap_shares(const struct layout *first, const struct layout *second)
{
	return meet(first, second, second->base - first->base);
}

static int compare(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return (a->layout.base > b->layout.base) - (a->layout.base < b->layout.base);
}

/* Those whose layouts are known, in the order of their addresses. */
static unsigned fill(const struct partition *partition, struct span *spans)
{
	unsigned n = 0, memory = data_base_memory(partition->parent);

	for (unsigned i = 0; i < partition->nparts; i++) {
		struct span *span = &spans[n];

		if (!interface_layout(partition->parts[i], memory, &span->layout) ||
		    !span->layout.base || layout_bytes(&span->layout) == 0)
			continue;
		span->end = span->layout.base + layout_extent_bytes(&span->layout);
		span->part = i;
		n++;
	}
	qsort(spans, n, sizeof(*spans), compare);
	return n;
}

/* ---- all parts ------------------------------------------------------- */

static int find(const struct span *spans, unsigned n, unsigned *first, unsigned *second)
{
	size_t looks = (size_t)LOOKS_PER_PART * n;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = i + 1; k < n && spans[k].layout.base < spans[i].end;
		     k++) {
			if (looks-- == 0)
				return 0;
			if (!overlap_shares(&spans[i].layout, &spans[k].layout))
				continue;
			*first = spans[i].part;
			*second = spans[k].part;
			return 1;
		}
	}
	return 0;
}

static void look_outside(const struct partition *partition, const struct span *spans,
			 unsigned n, const char *func)
{
	starpu_data_handle_t parent = partition->parent;
	struct layout whole;
	const char *base, *end;
	char what[128];
	int is_known;

	/* A task may give it memory meanwhile. */
	orr_lock(&parent->lock);
	is_known = interface_layout(parent, data_base_memory(parent), &whole);
	orr_unlock(&parent->lock);
	if (!is_known)
		return;
	base = partition->is_fixed ? whole.base : (const char *)partition->base;
	if (!base)
		return;
	end = base + layout_extent_bytes(&whole);
	for (unsigned i = 0; i < n; i++) {
		if (spans[i].layout.base >= base && spans[i].end <= end)
			continue;
		orr_complain(parent->node->rank,
			     "%s: part %u of %s lies at bytes %td to %td of its memory, "
			     "of which there are %zu; correct the filter, or the size "
			     "that was registered",
			     func, spans[i].part,
			     data_describe(parent, what, sizeof(what)),
			     spans[i].layout.base - base, spans[i].end - base,
			     (size_t)(end - base));
		return;
	}
}

/* ---- parts that are none ---------------------------------------------- */

/* Its struct is as a filter finds it, but for the number of the kind. */
static int is_untouched(starpu_data_handle_t part, unsigned memory)
{
	const char *bytes = data_copy(part, memory)->interface;
	size_t n = part->ops->interface_size, i = 0;

	if (interface_is_plain(part->ops))
		i = sizeof(enum starpu_data_interface_id);
	if (n <= i)
		return 0; /* It has no content. */
	while (i < n && bytes[i] == 0)
		i++;
	return i == n;
}

static void look_for_untouched(const struct partition *partition, const char *func)
{
	starpu_data_handle_t parent = partition->parent;
	char what[128];

	for (unsigned i = 0; i < partition->nparts; i++) {
		if (!is_untouched(partition->parts[i], data_base_memory(parent)))
			continue;
		orr_complain(parent->node->rank,
			     "%s: part %u of %s is missing: filter_func left its struct "
			     "empty; fill it for each id from 0 to %u, or ask for fewer "
			     "parts (nchildren)",
			     func, i, data_describe(parent, what, sizeof(what)),
			     partition->nparts - 1);
		return;
	}
}

void overlap_look(struct partition *partition, const char *func)
{
	struct span *spans = orr_alloc((partition->nparts + 1) * sizeof(*spans));
	unsigned n = fill(partition, spans);

	look_for_untouched(partition, func);
	look_outside(partition, spans, n, func);
	partition->overlaps = (unsigned char)find(spans, n, &partition->overlapping[0],
						  &partition->overlapping[1]);
	for (unsigned i = 0; partition->overlaps && i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		orr_lock(&part->lock);
		data_change_flags(part, DATUM_VIEWS, 0);
		orr_unlock(&part->lock);
	}
	free(spans);
}

void overlap_tell(struct partition *partition, const struct access *access)
{
	const struct job *job = access->job;
	char who[JOB_NAME_BYTES], what[128], whole[128];

	partition->overlaps = 0;
	job->ops->describe(job, who, sizeof(who));
	orr_complain(job->node->rank,
		     "%s writes %s, a part of %s, whose parts share bytes (part %u and "
		     "part %u do): the other may never see them; only read parts that "
		     "overlap, or give the filter parts that do not",
		     who, data_describe(access->datum, what, sizeof(what)),
		     data_describe(partition->parent, whole, sizeof(whole)),
		     partition->overlapping[0], partition->overlapping[1]);
}
