/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_DRAW_H
#define ORR_CORE_SCHED_DRAW_H

/* draw.h - numbers that policies draw: the same in each run. */
#include <stdint.h>

/* The n-th: at least 0, less than 1.  A hash of n (splitmix64). */
static inline double draw_number(uint64_t n)
{
	uint64_t bits = n * 0x9e3779b97f4a7c15u;

	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
	bits ^= bits >> 31;
	return (double)(bits >> 11) / (double)(1ull << 53);
}

#endif
