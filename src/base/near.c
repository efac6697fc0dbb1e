/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/near.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"

/* The last block's size is that of a huge page. */
enum { FIRST_BLOCK_BYTES = 1 << 15, LAST_BLOCK_BYTES = 1 << 21 };

static size_t lines_of(size_t bytes)
{
	return bytes ? (bytes + ORR_LINE_BYTES - 1) / ORR_LINE_BYTES : 1;
}

static void new_block(struct near *near)
{
	size_t bytes = near->block_bytes ? 2 * near->block_bytes : FIRST_BLOCK_BYTES;
	int is_huge = bytes >= LAST_BLOCK_BYTES;
	void **block;

	if (is_huge)
		bytes = LAST_BLOCK_BYTES;
	block = aligned_alloc(is_huge ? bytes : ORR_LINE_BYTES, bytes);
	if (!block)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	if (is_huge)
		(void)madvise(block, bytes, MADV_HUGEPAGE);
	*block = near->blocks;
	near->blocks = block;
	near->block_bytes = bytes;
	near->fresh = (char *)block + ORR_LINE_BYTES;
	near->left_bytes = bytes - ORR_LINE_BYTES;
}

void *near_get(struct near *near, size_t bytes)
{
	size_t lines = lines_of(bytes);
	void **object;

	if (lines > NEAR_MOST_LINES)
		return orr_alloc_lines(bytes);
	object = near->spare[lines];
	if (object) {
		near->spare[lines] = *object;
		return object;
	}
	bytes = lines * ORR_LINE_BYTES;
	if (near->left_bytes < bytes)
		new_block(near);
	object = (void **)(void *)near->fresh;
	near->fresh += bytes;
	near->left_bytes -= bytes;
	return object;
}

void near_put(struct near *near, void *object, size_t bytes)
{
	size_t lines = lines_of(bytes);

	if (!object)
		return;
	if (lines > NEAR_MOST_LINES) {
		free(object);
		return;
	}
	*(void **)object = near->spare[lines];
	near->spare[lines] = object;
}

void near_free(struct near *near)
{
	while (near->blocks) {
		void **block = near->blocks;

		near->blocks = *block;
		free(block);
	}
	*near = (struct near){0};
}
