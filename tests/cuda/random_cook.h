/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_CUDA_RANDOM_COOK_H
#define ORR_TESTS_CUDA_RANDOM_COOK_H

/* random_cook.h - what kernels of random programs compute, on processors and devices. */
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HERE static inline __host__ __device__
#else
#define HERE static inline
#endif

enum { MAX_USES = 6 };

/* Values in memory, in rows and planes; of a sparse matrix also where they belong. */
struct view {
	uint64_t *values,
		*more; /* the latter: where elements from split on are; or NULL */
	size_t ldy, ldz;
	const uint32_t *columns, *rows;
	uint32_t nx, ny, nz, split;
	uint32_t area, nrows; /* elements of a block, rows of blocks */
};

HERE uint32_t view_count(const struct view *view)
{
	return view->nx * view->ny * view->nz;
}

HERE uint64_t *view_at(const struct view *view, uint32_t i)
{
	uint32_t x = i % view->nx, rest = i / view->nx;

	if (view->more && i >= view->split)
		return &view->more[i - view->split];
	return &view->values[rest / view->ny * view->ldz + rest % view->ny * view->ldy +
			     x];
}

/* A value, and where it belongs in a sparse matrix. */
HERE uint64_t view_seen(const struct view *view, uint32_t i)
{
	uint64_t value = *view_at(view, i);

	if (view->columns)
		value += 7u * view->columns[i / view->area] +
			 3u * view->rows[i % (view->nrows + 1)];
	return value;
}

enum use {
	USE_R,
	USE_W,
	USE_RW,
	USE_COMMUTE,
	USE_REDUX,
	USE_SCRATCH,
	USE_NEUTRAL,
	USE_PLUS
};

/* A task: each view that is written gets a sum of those that are read. */
struct cook {
	int n;
	int which; /* the view that this launch writes */
	uint64_t step;
	unsigned char use[MAX_USES];
	struct view views[MAX_USES];
};

HERE uint64_t scratch_value(const struct cook *cook, uint32_t i)
{
	return cook->step * 0x9e3779b97f4a7c15ull + i;
}

HERE uint64_t cook_sum(const struct cook *cook, uint32_t i)
{
	uint64_t sum = cook->step * (i + 1) + (uint64_t)cook->which;

	for (int r = 0; r < cook->n; r++) {
		const struct view *view = &cook->views[r];
		uint32_t k = i % view_count(view);

		if (cook->use[r] == USE_R)
			sum += (uint64_t)(r + 1) * view_seen(view, k);
		else if (cook->use[r] == USE_SCRATCH)
			sum += *view_at(view, k) - scratch_value(cook, k);
	}
	return sum;
}

HERE void cook_element(const struct cook *cook, uint32_t i)
{
	uint64_t *at = view_at(&cook->views[cook->which], i);

	switch (cook->use[cook->which]) {
	case USE_W:
		*at = cook_sum(cook, i);
		break;
	case USE_RW:
		*at = 3 * *at + cook_sum(cook, i);
		break;
	case USE_COMMUTE:
	case USE_REDUX:
		*at += cook_sum(cook, i);
		break;
	case USE_SCRATCH:
		*at = scratch_value(cook, i);
		break;
	case USE_NEUTRAL:
		*at = 0;
		break;
	case USE_PLUS:
		*at += *view_at(&cook->views[1], i);
		break;
	default:
		break;
	}
}

#endif
