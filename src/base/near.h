/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_NEAR_H
#define ORR_BASE_NEAR_H

/*
 * near.h - small objects of several sizes that are asked for in turns, side by side.
 *
 * Among all else that a program allocates they would lie on a page each, and who asks for
 * one waits for the translation of its address as well.  Blocks double up to 2 MiB; those
 * are huge pages where the system has them.  They go back only in near_free(), as a
 * whole; objects of a size are reused.  Each starts a line of the cache.  Not locked.
 */
#include <stddef.h>

/* Objects of up to so many lines; larger ones are malloc()'s. */
enum { NEAR_MOST_LINES = 64 };

struct near {
	char *fresh; /* not yet handed out, of the newest block */
	size_t left_bytes, block_bytes;
	void *blocks;                     /* the first word of each points to the next */
	void *spare[NEAR_MOST_LINES + 1]; /* by lines: lists through the first words */
};

/* A zeroed struct near has none.  Objects are not zeroed; those that are larger than
 * NEAR_MOST_LINES must be put back before. */
void near_free(struct near *near);
void *near_get(struct near *near, size_t bytes);
/* bytes: as asked for. */
void near_put(struct near *near, void *object, size_t bytes);

#endif
