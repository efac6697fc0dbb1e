/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Is the error that a simulation tells of its durations honest?  Kernels are made up, of
 * which the truth is known, and measured with noise; in most of fifty seeds the truth is
 * within what is said, which a normal distribution would be in 68 % of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "core/model/model.h"
#include "core/model/model_fit.h"

enum { NSEEDS = 50, MOST = 27, NEARLY_ALL = 49 };

static const double mean_us = 1000;

static double normal(unsigned short state[3])
{
	double u = 1 - erand48(state), v = erand48(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static void seed(unsigned short state[3], int number)
{
	state[0] = (unsigned short)(number * 7919);
	state[1] = (unsigned short)(number + 17);
	state[2] = 42;
}

static struct model_arch *new_arch(struct model_data *data)
{
	struct starpu_perfmodel_device device = {.type = STARPU_CPU_WORKER, .ncores = 1};
	struct starpu_perfmodel_arch cpu = {.ndevices = 1, .devices = &device};

	return model_data_add(data, &cpu, 0);
}

static void measure(struct model_arch *arch, size_t bytes, double us)
{
	struct model_sample sample = {.footprint = (uint32_t)bytes,
				      .bytes = bytes,
				      .duration_us = us,
				      .number = 1};

	model_fit_add(arch, STARPU_REGRESSION_BASED, &sample, 50);
}

/* ---- at a size that was measured --------------------------------------- */

/* Did the tasks take what their mean says, within the error? */
static int is_known(int number, int nmeasured, int ntasks, double noise)
{
	struct model_data data = {0};
	struct model_arch *arch = new_arch(&data);
	struct model_doubt doubt = {0};
	struct model_estimate estimate = {.source = MODEL_HISTORY};
	const struct model_entry *entry;
	unsigned short state[3];
	double took_s = 0;
	int is_within;

	seed(state, number);
	for (int i = 0; i < nmeasured; i++)
		measure(arch, 64, mean_us * (1 + noise * normal(state)));
	entry = model_entry_of(model_arch_entry(arch, 64, 0));
	estimate.seconds = 1e-6 * model_fit_mean(entry);
	estimate.deviation_s = 1e-6 * model_fit_deviation(entry);
	estimate.nsample = entry->all.nsample;
	for (int i = 0; i < ntasks; i++) {
		model_doubt_add(&doubt, &estimate);
		took_s += 1e-6 * mean_us * (1 + noise * normal(state));
	}
	model_data_clear(&data);
	is_within =
		fabs(took_s - doubt.work_s) <= doubt.work_s * model_doubt_error(&doubt);
	model_doubt_free(&doubt);
	return is_within;
}

static void what_was_measured_is_known_as_it_says(void **state)
{
	static const int measured[] = {2, 3, 5, 10, 100}, tasks[] = {1, 30, 1000};

	(void)state;
	for (int m = 0; m < 5; m++)
		for (int t = 0; t < 3; t++) {
			int n = 0;

			for (int s = 0; s < NSEEDS; s++)
				n += is_known(s, measured[m], tasks[t], 0.1);
			print_message("%d measurements, %d tasks: %d of %d within\n",
				      measured[m], tasks[t], n, NSEEDS);
			assert_in_range(n, MOST, NEARLY_ALL);
		}
}

/* ---- at several sizes that were measured -------------------------------- */

enum { NMEASURED_SIZES = 16, NOT_TOO_OFTEN = 43 };

static struct model_estimate measured_at(struct model_arch *arch, size_t bytes,
					 unsigned short state[3])
{
	struct model_estimate estimate = {.source = MODEL_HISTORY, .origin = bytes};
	const struct model_entry *entry;

	for (int i = 0; i < 5; i++)
		measure(arch, bytes, mean_us * (1 + 0.1 * normal(state)));
	entry = model_entry_of(model_arch_entry(arch, (uint32_t)bytes, 0));
	estimate.seconds = 1e-6 * model_fit_mean(entry);
	estimate.deviation_s = 1e-6 * model_fit_deviation(entry);
	estimate.nsample = entry->all.nsample;
	return estimate;
}

/* Means of sizes err in different directions, and the error of the sum is said so: no
 * larger than it is, either. */
static void sizes_are_wrong_independently(void **state)
{
	int n = 0;

	(void)state;
	for (int s = 0; s < NSEEDS; s++) {
		struct model_data data = {0};
		struct model_arch *arch = new_arch(&data);
		struct model_doubt doubt = {0};
		unsigned short draws[3];

		seed(draws, s);
		for (size_t i = 1; i <= NMEASURED_SIZES; i++) {
			struct model_estimate estimate = measured_at(arch, 64 * i, draws);

			for (int k = 0; k < 100; k++)
				model_doubt_add(&doubt, &estimate);
		}
		n += fabs(NMEASURED_SIZES * 100e-6 * mean_us - doubt.work_s) <=
		     doubt.work_s * model_doubt_error(&doubt);
		model_doubt_free(&doubt);
		model_data_clear(&data);
	}
	print_message("%d sizes: %d of %d within\n", NMEASURED_SIZES, n, NSEEDS);
	assert_in_range(n, MOST, NOT_TOO_OFTEN);
}

/* ---- at others --------------------------------------------------------- */

enum { NSIZES = 8, NEACH = 5 };

static double truth_us(double bytes)
{
	return 0.01 * pow(bytes, 1.5);
}

/* Does the truth at a size lie within the error that is said of it? */
static int is_between(int number, size_t step, double target, int by_regression)
{
	struct model_data data = {0};
	struct model_arch *arch = new_arch(&data);
	const struct starpu_perfmodel_regression_model *fit = &arch->known.regression;
	size_t bytes = (size_t)(target * (double)(1000 + step * (NSIZES - 1)));
	unsigned short state[3];
	double us, error;

	seed(state, number);
	for (size_t i = 0; i < NSIZES; i++)
		for (int k = 0; k < NEACH; k++) {
			size_t size = 1000 + step * i;

			measure(arch, size,
				truth_us((double)size) * (1 + 0.05 * normal(state)));
		}
	model_fit_solve(arch, STARPU_REGRESSION_BASED, 10);
	us = by_regression ? model_fit_power(fit, bytes, 10)
			   : model_fit_between(arch, bytes);
	error = by_regression ? model_fit_power_error(arch, 10)
			      : model_fit_between_error(arch, bytes);
	assert_true(us > 0 && error > 0);
	model_data_clear(&data);
	return fabs(us / truth_us((double)bytes) - 1) <= error;
}

static void try_sizes(size_t step, double target, int by_regression)
{
	int n = 0;

	for (int s = 0; s < NSEEDS; s++)
		n += is_between(s, step, target, by_regression);
	print_message("steps of %zu, %g times the largest%s: %d of %d within\n", step,
		      target, by_regression ? " by regression" : "", n, NSEEDS);
	assert_in_range(n, MOST, NSEEDS);
}

/* Near the sizes that were measured, and up to twice the largest. */
static void what_was_not_measured_is_known_as_it_says(void **state)
{
	static const double targets[] = {0.9, 1.05, 1.2, 1.5, 2};

	(void)state;
	for (int i = 0; i < 5; i++) {
		try_sizes(1000, targets[i], 0);
		try_sizes(150, targets[i], 0);
	}
	try_sizes(1000, 0.9, 1);
	try_sizes(1000, 1.09, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_measured_is_known_as_it_says),
		cmocka_unit_test(sizes_are_wrong_independently),
		cmocka_unit_test(what_was_not_measured_is_known_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
