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

/* The second begins before the end of the first, and not before its beginning. */
static int share_bytes(const struct layout *first, const struct layout *second)
{
	size_t apart = (size_t)(second->base - first->base), stride, rows, row, column;

	if (first->ndims == 0 || apart == 0)
		return 1;
	if (first->ndims > 1 || second->ndims > 1)
		return 0;
	stride = first->dims[0].stride_bytes;
	if (second->ndims == 1 && second->dims[0].stride_bytes != stride)
		return 0;
	rows = first->dims[0].count;
	row = apart / stride;
	column = apart % stride;
	return (row < rows && column < first->block_bytes) ||
	       (row + 1 < rows && column + second->block_bytes > stride);
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
			if (!share_bytes(&spans[i].layout, &spans[k].layout))
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

	if (!interface_layout(parent, data_base_memory(parent), &whole))
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

void overlap_look(struct partition *partition, const char *func)
{
	struct span *spans = orr_alloc((partition->nparts + 1) * sizeof(*spans));
	unsigned n = fill(partition, spans);

	look_outside(partition, spans, n, func);
	partition->overlaps = (unsigned char)find(spans, n, &partition->overlapping[0],
						  &partition->overlapping[1]);
	for (unsigned i = 0; partition->overlaps && i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		orr_lock(&part->lock);
		part->flags |= DATUM_VIEWS;
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
