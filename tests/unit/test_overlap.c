/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Do two boxes share bytes?  Random boxes of random grids of up to five dimensions,
 * against a mark on each byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/data/overlap.h"

enum { NDIM = 5, NGRIDS = 1000, NPAIRS = 40, BYTES = 1 << 15 };

static uint64_t state = 1;

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

struct grid {
	int ndim;
	size_t element_bytes, n[NDIM], stride_bytes[NDIM];
};

static struct grid draw_grid(void)
{
	struct grid grid = {.ndim = 1 + (int)draw(NDIM), .element_bytes = 1 + draw(3)};
	size_t bytes = grid.element_bytes;

	for (int i = 0; i < grid.ndim; i++) {
		grid.n[i] = 1 + draw(5);
		/* The first dimension is contiguous, as more would be no layout. */
		grid.stride_bytes[i] = bytes + (i == 0 || draw(2) ? 0 : draw(4));
		bytes = grid.n[i] * grid.stride_bytes[i];
	}
	assert_true(bytes < BYTES);
	return grid;
}

static char cells[BYTES];

static struct layout draw_box(const struct grid *grid)
{
	struct layout box;
	size_t n[NDIM], at = 0;

	for (int i = 0; i < grid->ndim; i++) {
		n[i] = 1 + draw((unsigned)grid->n[i]);
		at += draw((unsigned)(grid->n[i] - n[i] + 1)) * grid->stride_bytes[i];
	}
	layout_flat(&box, cells + at, grid->element_bytes);
	for (int i = 0; i < grid->ndim; i++)
		assert_int_equal(layout_repeat(&box, n[i], grid->stride_bytes[i]), 0);
	return box;
}

/* Byte by byte. */
static int share(const struct layout *first, const struct layout *second)
{
	static char ones[BYTES], found[BYTES];
	size_t bytes = layout_bytes(second);

	memset(cells, 0, sizeof(cells));
	memset(ones, 1, sizeof(ones));
	layout_scatter(first, ones);
	layout_gather(found, second);
	return memchr(found, 1, bytes) != NULL;
}

static void boxes_share_bytes_or_not(void **unused)
{
	int nshare = 0;

	(void)unused;
	for (int i = 0; i < NGRIDS; i++) {
		struct grid grid = draw_grid();

		for (int k = 0; k < NPAIRS; k++) {
			struct layout a = draw_box(&grid), b = draw_box(&grid);
			int expected = share(&a, &b);

			assert_int_equal(overlap_shares(&a, &b), expected);
			assert_int_equal(overlap_shares(&b, &a), expected);
			nshare += expected;
		}
	}
	/* Both cases are frequent. */
	assert_in_range(nshare, NGRIDS * NPAIRS / 5, NGRIDS * NPAIRS * 4 / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_share_bytes_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
