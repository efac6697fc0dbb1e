/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_FIT_H
#define ORR_CORE_MODEL_MODEL_FIT_H

/*
 * model_fit.h - from measurements to a duration, and from a duration to the sums.
 *
 * Pure arithmetic.  Every duration is in microseconds; NaN when there is none.
 */
#include "core/model/model_file.h"

/* A power of the size may be used from 0.9 times the smallest size measured to 1.1
 * times the largest, once minimum samples of different sizes are there. */
double model_fit_power(const struct starpu_perfmodel_regression_model *fit, size_t bytes,
		       unsigned minimum);
double model_fit_nonlinear(const struct starpu_perfmodel_regression_model *fit,
			   size_t bytes, unsigned minimum);
/*
 * On the straight line, in logarithms of size and duration, between the measured
 * sizes around bytes; up to a factor of 2 outside them, on the line of the two
 * nearest.
 */
double model_fit_between(struct model_arch *arch, size_t bytes);
/*
 * By which part that is off (one standard error), as far as the measured sizes tell: each
 * of them is left out, and compared with what the others say of it; farther outside than
 * the outermost are from their neighbours, by so much more.  NaN: there are fewer than
 * three.
 */
double model_fit_between_error(struct model_arch *arch, size_t bytes);
/* The same of a regression: how far the measured sizes are from it. */
double model_fit_power_error(struct model_arch *arch, unsigned minimum);
double model_fit_nonlinear_error(struct model_arch *arch, unsigned minimum);

/* The mean of all measurements of an entry; NaN when there is none. */
double model_fit_mean(const struct model_entry *entry);
double model_fit_deviation(const struct model_entry *entry);

/* One measurement, or the average of several identical ones. */
struct model_sample {
	uint32_t footprint;
	size_t bytes;
	double flops, duration_us;
	unsigned number;
};

/*
 * Add a sample by StarPU's rules: the first of a history is discarded, one too far
 * from the mean only counts as an error, and more errors than samples start the
 * entry afresh.  1: it was started afresh; 0 otherwise.  In the mean of all it counts
 * as well, unless it is GROSS times StarPU's or more; after a fresh start those before
 * count half.
 */
int model_fit_add(struct model_arch *arch, enum starpu_perfmodel_type type,
		  const struct model_sample *sample, unsigned max_error_percent);
/* Recompute alpha and beta (and a, b, c for a non-linear model) from the sums. */
void model_fit_solve(struct model_arch *arch, enum starpu_perfmodel_type type,
		     unsigned minimum);

#endif
