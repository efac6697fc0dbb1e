/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Multiple linear regression: what is found again, what cannot be told, least squares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/model/model_multi.h"

enum { TERMS = 5, POINTS = 60 };

static double uniform(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 8) / (double)(1u << 24);
}

/* M N K, M N, M^2, M: what a tiled kernel costs. */
static unsigned mnk[] = {1, 1, 1}, mn[] = {1, 1, 0}, mm[] = {2, 0, 0}, m[] = {1, 0, 0};
static unsigned *combinations[] = {mnk, mn, mm, m};
static const struct starpu_perfmodel model = {
	.nparameters = 3, .ncombinations = TERMS - 1, .combinations = combinations};
static const double truth[TERMS] = {12.5, 3e-7, 2e-5, 4e-6, 1e-3};

static void random_terms(unsigned *state, double low, double high, double *terms)
{
	double parameters[3];

	for (int k = 0; k < 3; k++)
		parameters[k] = floor(low + (high - low) * uniform(state));
	model_multi_terms(&model, parameters, terms);
}

static void check_coefficients(const double *seen, const double *expected,
			       double relative)
{
	for (int i = 0; i < TERMS; i++)
		if (!(fabs(seen[i] - expected[i]) <= relative * fabs(expected[i])))
			fail_msg("coefficient %d is %.17g, expected %.17g", i, seen[i],
				 expected[i]);
}

static void terms_are_products_of_powers(void **state)
{
	double terms[TERMS];

	(void)state;
	model_multi_terms(&model, (double[]){2, 3, 5}, terms);
	assert_true(terms[0] == 1 && terms[1] == 30 && terms[2] == 6 && terms[3] == 4 &&
		    terms[4] == 2);
	assert_true(model_multi_us((double[]){1, 2, 0, 0, 10}, TERMS, terms) == 81);
	assert_true(model_multi_us((double[]){1, -2, 0, 0, 10}, TERMS, terms) == 1e-5);
	assert_true(isnan(model_multi_us((double[]){NAN, 0, 0, 0, 0}, TERMS, terms)));
}

/* Sizes between low and high, without noise. */
static void find_again(double low, double high, double relative)
{
	struct model_multi multi;
	double terms[TERMS], coeff[TERMS];
	unsigned random = 1;

	model_multi_init(&multi, model.ncombinations);
	for (int i = 0; i < POINTS; i++) {
		random_terms(&random, low, high, terms);
		assert_int_equal(model_multi_add(&multi, terms,
						 model_multi_us(truth, TERMS, terms), 1),
				 0);
	}
	assert_int_equal(model_multi_solve(&multi, coeff), TERMS);
	check_coefficients(coeff, truth, relative);
	assert_true(model_multi_deviation(&multi, TERMS) < 1e-6);
	model_multi_clear(&multi);
}

static void exact_measurements_are_found_again(void **state)
{
	(void)state;
	find_again(64, 4096, 1e-8);
	/* All within a twentieth: the normal equations would have a condition of 1e16. */
	find_again(2000, 2100, 1e-4);
}

static void residuals_are_orthogonal_to_all_terms(void **state)
{
	static double terms[POINTS][TERMS], us[POINTS];
	struct model_multi multi;
	double coeff[TERMS], square = 0;
	unsigned random = 7;

	(void)state;
	model_multi_init(&multi, model.ncombinations);
	for (int i = 0; i < POINTS; i++) {
		random_terms(&random, 64, 4096, terms[i]);
		us[i] = model_multi_us(truth, TERMS, terms[i]) *
			(0.8 + 0.4 * uniform(&random));
		assert_int_equal(model_multi_add(&multi, terms[i], us[i], 1), 0);
	}
	assert_int_equal(model_multi_solve(&multi, coeff), TERMS);
	for (int j = 0; j < TERMS; j++) {
		double product = 0, lengths = 0;

		for (int i = 0; i < POINTS; i++) {
			double residual = us[i];

			/* Not model_multi_us(), which is never negative. */
			for (int k = 0; k < TERMS; k++)
				residual -= coeff[k] * terms[i][k];
			product += residual * terms[i][j];
			lengths += fabs(residual * terms[i][j]);
			square += j == 0 ? residual * residual : 0;
		}
		assert_true(fabs(product) <= 1e-9 * lengths);
	}
	assert_true(fabs(model_multi_deviation(&multi, TERMS) /
				 sqrt(square / (POINTS - TERMS)) -
			 1) < 1e-9);
	model_multi_clear(&multi);
}

/* Where M = N = K and there is one size, only the constant is told. */
static void what_cannot_be_told_is_zero(void **state)
{
	struct model_multi multi;
	double terms[TERMS], coeff[TERMS];

	(void)state;
	model_multi_init(&multi, model.ncombinations);
	model_multi_terms(&model, (double[]){960, 960, 960}, terms);
	for (int i = 0; i < POINTS; i++)
		model_multi_add(&multi, terms, i % 2 ? 90 : 110, 1);
	assert_int_equal(model_multi_solve(&multi, coeff), 1);
	assert_true(fabs(coeff[0] - 100) < 1e-9);
	for (int i = 1; i < TERMS; i++)
		assert_true(coeff[i] == 0);
	model_multi_clear(&multi);

	/* M = N: M N and M^2 are one; the sum is right all the same. */
	model_multi_init(&multi, model.ncombinations);
	for (int i = 1; i <= POINTS; i++) {
		model_multi_terms(&model, (double[]){64 * i, 64 * i, 32 * (i % 7) + 32},
				  terms);
		model_multi_add(&multi, terms, model_multi_us(truth, TERMS, terms), 1);
	}
	assert_int_equal(model_multi_solve(&multi, coeff), TERMS - 1);
	assert_true(coeff[2] == 0 || coeff[3] == 0);
	assert_true(fabs(coeff[2] + coeff[3] - truth[2] - truth[3]) < 1e-6 * truth[2]);
	model_multi_clear(&multi);
}

static void a_number_of_measurements_is_as_many_single_ones(void **state)
{
	struct model_multi at_once, singly;
	double terms[TERMS], together[TERMS], alone[TERMS];
	unsigned random = 3;

	(void)state;
	model_multi_init(&at_once, model.ncombinations);
	model_multi_init(&singly, model.ncombinations);
	for (unsigned i = 0; i < POINTS; i++) {
		double us = 100 + 50 * uniform(&random);

		random_terms(&random, 64, 4096, terms);
		model_multi_add(&at_once, terms, us, 1 + i % 5);
		for (unsigned k = 0; k < 1 + i % 5; k++)
			model_multi_add(&singly, terms, us, 1);
	}
	assert_int_equal(at_once.nsample, singly.nsample);
	assert_int_equal(model_multi_solve(&at_once, together), TERMS);
	assert_int_equal(model_multi_solve(&singly, alone), TERMS);
	check_coefficients(together, alone, 1e-8);
	model_multi_clear(&at_once);
	model_multi_clear(&singly);
}

static void what_is_not_finite_is_refused(void **state)
{
	struct model_multi multi;
	double terms[TERMS], coeff[TERMS];
	unsigned random = 5;

	(void)state;
	model_multi_init(&multi, model.ncombinations);
	assert_int_equal(model_multi_solve(&multi, coeff), 0);
	for (int i = 0; i < POINTS; i++) {
		random_terms(&random, 64, 4096, terms);
		model_multi_add(&multi, terms, model_multi_us(truth, TERMS, terms), 1);
		assert_int_equal(model_multi_add(&multi, terms, NAN, 1), -EDOM);
		terms[i % TERMS] = INFINITY;
		assert_int_equal(model_multi_add(&multi, terms, 1, 1), -EDOM);
	}
	assert_int_equal(multi.nsample, POINTS);
	model_multi_solve(&multi, coeff);
	check_coefficients(coeff, truth, 1e-8);
	model_multi_clear(&multi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_products_of_powers),
		cmocka_unit_test(exact_measurements_are_found_again),
		cmocka_unit_test(residuals_are_orthogonal_to_all_terms),
		cmocka_unit_test(what_cannot_be_told_is_zero),
		cmocka_unit_test(a_number_of_measurements_is_as_many_single_ones),
		cmocka_unit_test(what_is_not_finite_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
