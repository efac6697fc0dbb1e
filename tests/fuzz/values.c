/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "values.h"

uint64_t view_hash(const struct view *view)
{
	uint64_t hash = 1469598103934665603u;

	for (unsigned i = 0; i < view_count(view); i++)
		hash = (hash ^ *view_at(view, i)) * 1099511628211u;
	return hash;
}

void view_overwrite(struct view *view, uint64_t salt)
{
	for (unsigned i = 0; i < view_count(view); i++)
		*view_at(view, i) = salt + i;
}

void view_change(struct view *view, uint64_t salt)
{
	for (unsigned i = 0; i < view_count(view); i++)
		*view_at(view, i) = *view_at(view, i) * 3 + salt;
}

void view_fill(struct view *view, const struct shape *shape)
{
	for (unsigned i = 0; i < view_count(view); i++)
		*view_at(view, i) =
			shape->order == ORDERED ? shape->first + 7 * i : shape->first;
}

static int is_read(const struct use *use)
{
	return use->mode == USE_R;
}

static int is_written(const struct use *use)
{
	return use->mode == USE_W || use->mode == USE_RW || use->mode == USE_COMMUTE ||
	       use->mode == USE_ADD || use->mode == USE_REDUX;
}

/* From the values that are read in order: what others may change meanwhile is not. */
static uint64_t sum_of_reads(const struct op *op, const struct view *views, unsigned i)
{
	uint64_t sum = 0;

	for (int r = 0; r < op->nuses; r++) {
		unsigned n = view_count(&views[r]);

		if (is_read(&op->uses[r]) && n > 0)
			sum += (uint64_t)(r + 1) * *view_at(&views[r], i % n);
	}
	return sum;
}

void values_compute(const struct op *op, struct view *views)
{
	for (int w = 0; w < op->nuses; w++) {
		const struct use *use = &op->uses[w];

		if (!is_written(use))
			continue;
		for (unsigned i = 0; i < view_count(&views[w]); i++) {
			uint64_t *x = view_at(&views[w], i);
			uint64_t sum = op->salt * (i + 1) + (unsigned)w;

			if (use->mode == USE_ADD) {
				*x += op->salt;
				continue;
			}
			sum += sum_of_reads(op, views, i);
			if (use->mode == USE_W)
				*x = sum;
			else if (use->mode == USE_RW)
				*x = 3 * *x + sum;
			else
				*x += sum;
		}
	}
}
