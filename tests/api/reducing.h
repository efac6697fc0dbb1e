/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_REDUCING_H
#define ORR_TESTS_REDUCING_H

/*
 * reducing.h - for claims about reductions: sums of vectors of a type.
 */
#include <stdint.h>

#include <starpu.h>

/* The codelets neutral and combine. */
#define REDUCING(type)                                                                   \
	static void neutral_cpu(void *buffers[], void *arg)                              \
	{                                                                                \
		type *x = (type *)STARPU_VECTOR_GET_PTR(buffers[0]);                     \
                                                                                         \
		(void)arg;                                                               \
		for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)          \
			x[i] = 0;                                                        \
	}                                                                                \
	static void combine_cpu(void *buffers[], void *arg)                              \
	{                                                                                \
		type *x = (type *)STARPU_VECTOR_GET_PTR(buffers[0]);                     \
		const type *y = (const type *)STARPU_VECTOR_GET_PTR(buffers[1]);         \
                                                                                         \
		(void)arg;                                                               \
		for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)          \
			x[i] += y[i];                                                    \
	}                                                                                \
	static struct starpu_codelet neutral = {.cpu_funcs = {neutral_cpu},              \
						.nbuffers = 1,                           \
						.modes = {STARPU_W},                     \
						.model = &starpu_perfmodel_nop,          \
						.name = "neutral"};                      \
	static struct starpu_codelet combine = {                                         \
		.cpu_funcs = {combine_cpu},                                              \
		.nbuffers = 2,                                                           \
		.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},                         \
		.model = &starpu_perfmodel_nop,                                          \
		.name = "combine"}

#endif
