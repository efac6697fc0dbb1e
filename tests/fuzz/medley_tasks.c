/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "medley.h"

#include <string.h>

/* medley_tasks.c - values of data of a medley, and what its tasks do to them. */

int values_present(const struct values *values)
{
	int n = 0;

	for (int q = 0; q < values->n; q++)
		n += values->has[q];
	return n;
}

int values_are_full(const struct values *values)
{
	return values_present(values) == values->n;
}

void values_do(struct values *values, enum deed deed, uint64_t salt,
	       const struct values *other)
{
	for (int q = 0; q < values->n; q++) {
		if (deed == SET) {
			values->base[q] = salt + (uint64_t)q;
			values->slope[q] = salt % 7;
		} else if (deed == CHANGE) {
			values->base[q] = 3 * values->base[q] + salt;
			values->slope[q] *= 3;
		} else if (deed == ADD) {
			values->base[q] += salt;
		} else if (deed == MIX) {
			values->base[q] += other->base[q];
			values->slope[q] += other->slope[q];
		} else if (deed == CONTRIBUTE) {
			if (!values->has[q])
				values->base[q] = values->slope[q] = 0;
			values->base[q] += salt;
		}
		values->has[q] |= deed != SEE;
	}
}

/* The first element that differs, or -1. */
static long differs(const uint64_t *x, const struct values *values)
{
	unsigned each = values->nx / (unsigned)values->n;

	for (unsigned i = 0; i < values->nx; i++)
		if (x[i] != values->base[i / each] + values->slope[i / each] * (i % each))
			return (long)i;
	return -1;
}

void values_look(struct run *run, const struct op *op, const char *what,
		 const uint64_t *x, const struct values *values)
{
	unsigned each = values->nx / (unsigned)values->n;
	long i = differs(x, values);

	if (i >= 0)
		run_bad(run, op, what, x[i],
			values->base[(unsigned)i / each] +
				values->slope[(unsigned)i / each] * ((unsigned)i % each));
}

void values_apply(uint64_t *x, const struct values *values, enum deed deed, uint64_t salt,
		  const uint64_t *other)
{
	unsigned each = values->nx / (unsigned)values->n;

	for (unsigned i = 0; i < values->nx; i++) {
		if (deed == SET)
			x[i] = salt + i / each + salt % 7 * (i % each);
		else if (deed == CHANGE)
			x[i] = 3 * x[i] + salt;
		else if (deed == ADD || deed == CONTRIBUTE)
			x[i] += salt;
		else if (deed == MIX)
			x[i] += other[i];
	}
}

/* ---- kernels --------------------------------------------------------- */

static void compute(void *buffers[], void *arg)
{
	struct errand order;
	uint64_t *x = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]), *y = NULL;

	starpu_codelet_unpack_args(arg, &order);
	if (STARPU_VECTOR_GET_NX(buffers[0]) != order.before.nx) {
		run_bad(order.run, order.op, "elements in a task of a medley",
			STARPU_VECTOR_GET_NX(buffers[0]), order.before.nx);
		return;
	}
	if (order.is_seen)
		values_look(order.run, order.op, "value in a task of a medley", x,
			    &order.before);
	if (order.deed == MIX) {
		y = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);
		values_look(order.run, order.op, "what a task of a medley adds", y,
			    &order.other);
	}
	values_apply(x, &order.before, order.deed, order.salt, y);
}

static void neutral_kernel(void *buffers[], void *arg)
{
	(void)arg;
	memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(uint64_t));
}

static void combine_kernel(void *buffers[], void *arg)
{
	uint64_t *x = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const uint64_t *y = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += y[i];
}

struct starpu_codelet medley_anywhere = {.cpu_funcs = {compute},
					 .cuda_funcs = {compute},
					 .nbuffers = STARPU_VARIABLE_NBUFFERS,
					 .model = &starpu_perfmodel_nop,
					 .name = "medley"};
struct starpu_codelet medley_on_cpus = {.cpu_funcs = {compute},
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.model = &starpu_perfmodel_nop,
					.name = "medley on CPUs"};
struct starpu_codelet medley_neutral = {.cpu_funcs = {neutral_kernel},
					.cuda_funcs = {neutral_kernel},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "neutral"};
struct starpu_codelet medley_combine = {.cpu_funcs = {combine_kernel},
					.cuda_funcs = {combine_kernel},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "combine"};
