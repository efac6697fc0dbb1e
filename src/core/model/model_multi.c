/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_multi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void model_multi_init(struct model_multi *multi, unsigned ncombinations)
{
	size_t columns = ncombinations + 2;

	multi->ncoeff = ncombinations + 1;
	multi->triangle = orr_alloc(columns * columns * sizeof *multi->triangle);
	multi->nsample = 0;
}

void model_multi_clear(struct model_multi *multi)
{
	free(multi->triangle);
	*multi = (struct model_multi){0};
}

void model_multi_terms(const struct starpu_perfmodel *model, const double *parameters,
		       double *terms)
{
	terms[0] = 1;
	for (unsigned i = 0; i < model->ncombinations; i++) {
		terms[i + 1] = 1;
		for (unsigned k = 0; k < model->nparameters; k++)
			terms[i + 1] *= pow(parameters[k], model->combinations[i][k]);
	}
}

double model_multi_us(const double *coeff, unsigned ncoeff, const double *terms)
{
	double us = 0;

	for (unsigned i = 0; i < ncoeff; i++)
		us += coeff[i] * terms[i];
	return us < 0 ? 1e-5 : us;
}

/* Rotate row into the triangle, from its first column on; row is used up. */
static void rotate_in(double *triangle, double *row, unsigned columns)
{
	for (unsigned j = 0; j < columns; j++) {
		double *kept = triangle + (size_t)j * columns;
		double r = hypot(kept[j], row[j]), c, s;

		if (r == 0)
			continue;
		c = kept[j] / r;
		s = row[j] / r;
		for (unsigned k = j; k < columns; k++) {
			double above = kept[k];

			kept[k] = c * above + s * row[k];
			row[k] = c * row[k] - s * above;
		}
	}
}

int model_multi_add(struct model_multi *multi, const double *terms, double us,
		    unsigned number)
{
	unsigned columns = multi->ncoeff + 1;
	double weight = sqrt(number), row[MODEL_MAX_TERMS + 1];
	int finite = isfinite(us);

	for (unsigned i = 0; i < multi->ncoeff; i++)
		finite = finite && isfinite(terms[i] * weight);
	if (!finite)
		return -EDOM;
	for (unsigned i = 0; i < multi->ncoeff; i++)
		row[i] = terms[i] * weight;
	row[multi->ncoeff] = us * weight;
	rotate_in(multi->triangle, row, columns);
	multi->nsample += number;
	return 0;
}

/* ---- Solving: a copy of the triangle whose columns have length 1 ---------- */

struct system {
	unsigned n;
	double *a;       /* n rows, n columns and the right-hand side */
	double *lengths; /* of the columns before */
	unsigned *order; /* column i was column order[i] */
};

/* Below this part of its length, what is left of a column is rounding. */
static const double dependent = 1e-11;

static double *at(const struct system *system, unsigned row, unsigned column)
{
	return system->a + (size_t)row * (system->n + 1) + column;
}

/* Length of a column from a row on; hypot() neither overflows nor loses the small. */
static double length_from(const struct system *system, unsigned row, unsigned column)
{
	double length = 0;

	for (; row < system->n; row++)
		length = hypot(length, *at(system, row, column));
	return length;
}

static void system_init(struct system *system, const struct model_multi *multi)
{
	size_t n = multi->ncoeff;

	system->n = multi->ncoeff;
	system->a = orr_alloc(n * (n + 1) * sizeof *system->a);
	system->lengths = orr_alloc(n * sizeof *system->lengths);
	system->order = orr_alloc(n * sizeof *system->order);
	memcpy(system->a, multi->triangle, n * (n + 1) * sizeof *system->a);
	for (unsigned j = 0; j < n; j++) {
		double length = length_from(system, 0, j);

		system->order[j] = j;
		system->lengths[j] = length > 0 ? length : 1;
		for (unsigned i = 0; i < n; i++)
			*at(system, i, j) /= system->lengths[j];
	}
}

static void system_clear(struct system *system)
{
	free(system->a);
	free(system->lengths);
	free(system->order);
}

static void exchange_columns(struct system *system, unsigned j, unsigned k)
{
	unsigned order = system->order[j];

	for (unsigned i = 0; i < system->n; i++) {
		double value = *at(system, i, j);

		*at(system, i, j) = *at(system, i, k);
		*at(system, i, k) = value;
	}
	system->order[j] = system->order[k];
	system->order[k] = order;
}

/* Bring the column with most left to place k; 0: none has anything left.  Among equals
 * the first, so that the constant is kept before what cannot be told from it. */
static int choose_column(struct system *system, unsigned k)
{
	double longest = dependent;
	unsigned chosen = system->n;

	for (unsigned j = k; j < system->n; j++) {
		double length = length_from(system, k, j);

		if (length > longest * (1 + 1e-9)) {
			longest = length;
			chosen = j;
		}
	}
	if (chosen == system->n)
		return 0;
	if (chosen != k)
		exchange_columns(system, k, chosen);
	return 1;
}

/* Reflect so that column k has nothing below row k (Householder). */
static void reflect(struct system *system, unsigned k)
{
	double length = length_from(system, k, k), head = *at(system, k, k);
	double alpha = head > 0 ? -length : length;
	double half = length * (length + fabs(head)); /* half the square of v's length */

	/* v is column k with its head replaced; the column itself comes last. */
	*at(system, k, k) = head - alpha;
	for (unsigned j = k + 1; j <= system->n; j++) {
		double product = 0;

		for (unsigned i = k; i < system->n; i++)
			product += *at(system, i, k) * *at(system, i, j);
		for (unsigned i = k; i < system->n; i++)
			*at(system, i, j) -= product / half * *at(system, i, k);
	}
	*at(system, k, k) = alpha;
	for (unsigned i = k + 1; i < system->n; i++)
		*at(system, i, k) = 0;
}

unsigned model_multi_solve(const struct model_multi *multi, double *coeff)
{
	struct system system;
	unsigned rank = 0;

	system_init(&system, multi);
	while (rank < system.n && choose_column(&system, rank))
		reflect(&system, rank++);
	for (unsigned i = 0; i < system.n; i++)
		coeff[i] = 0;
	for (unsigned i = rank; i-- > 0;) {
		double sum = *at(&system, i, system.n);

		for (unsigned j = i + 1; j < rank; j++)
			sum -= *at(&system, i, j) * coeff[system.order[j]];
		coeff[system.order[i]] = sum / *at(&system, i, i);
	}
	for (unsigned i = 0; i < system.n; i++)
		coeff[i] /= system.lengths[i];
	system_clear(&system);
	return rank;
}

double model_multi_deviation(const struct model_multi *multi, unsigned rank)
{
	size_t last = (size_t)(multi->ncoeff + 1) * (multi->ncoeff + 1) - 1;

	if (multi->nsample <= rank)
		return NAN;
	return fabs(multi->triangle[last]) / sqrt(multi->nsample - rank);
}
