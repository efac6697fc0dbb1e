/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_MULTI_H
#define ORR_CORE_MODEL_MODEL_MULTI_H

/*
 * model_multi.h - multiple linear regression: a sum of products of powers of a task's
 * parameters, fitted to measurements.
 *
 *   us = c[0] + sum over i of c[i + 1] * product over k of
 * parameters[k]^combinations[i][k]
 *
 * Least squares by orthogonal transformations: each measurement is rotated into a
 * triangle (Givens), which is all that is kept, and the triangle is solved with column
 * pivoting (Golub and Van Loan, Matrix Computations, 5.2 and 5.4).  The normal equations
 * would square the condition of the problem, which powers of similar sizes make large.
 * Pure arithmetic; durations are in microseconds.
 */
#include <stddef.h>

#include <starpu.h>

/* Of parameters and of combinations, 1 added, that a model may have. */
enum { MODEL_MAX_PARAMETERS = 64, MODEL_MAX_TERMS = 256 };

struct model_multi {
	unsigned ncoeff;  /* 1 + combinations */
	double *triangle; /* ncoeff + 1 rows and columns; the last column is the duration
			   */
	size_t nsample;
};

void model_multi_init(struct model_multi *multi, unsigned ncombinations);
void model_multi_clear(struct model_multi *multi);

/* The terms of the sum without their coefficients, 1 first: 1 + ncombinations values. */
void model_multi_terms(const struct starpu_perfmodel *model, const double *parameters,
		       double *terms);
/* Add number measurements of us with these terms.  0, or -EDOM: a term or us is not
 * finite, and nothing was added. */
int model_multi_add(struct model_multi *multi, const double *terms, double us,
		    unsigned number);
/*
 * The coefficients, ncoeff values; returns how many of them the measurements tell apart.
 * Those of the other terms, which were combinations of the former in all measurements,
 * are 0: the sum is right for parameters like the measured ones.
 */
unsigned model_multi_solve(const struct model_multi *multi, double *coeff);
/* Standard deviation of measurements around the fit with that many coefficients told
 * apart; NaN when there are no more measurements than these. */
double model_multi_deviation(const struct model_multi *multi, unsigned rank);

/* The duration of a task with these terms; 1e-5 where the sum is negative, as StarPU has
 * it; NaN when a coefficient is. */
double model_multi_us(const double *coeff, unsigned ncoeff, const double *terms);

#endif
