/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Reads real calibrations, which are not part of this repository: those under
 * $ORR_TEST_DATA, else ../shared/data beside the sources.  Each must be read, and be
 * the same after it was written and read again, also word by word in the file, but for
 * comments; and a multiple regression goes through it.
 */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/model/model_file.h"
#include "core/model/model_multi.h"

static int same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fabs(a);
}

static int same_arch(const struct model_arch *a, const struct model_arch *b)
{
	if (!a || !b)
		return a == b;
	if (a->nentries != b->nentries ||
	    !same_number(a->known.regression.alpha, b->known.regression.alpha) ||
	    !same_number(a->known.regression.c, b->known.regression.c) ||
	    a->known.regression.nsample != b->known.regression.nsample ||
	    a->known.regression.ncoeff != b->known.regression.ncoeff)
		return 0;
	for (size_t i = 0; i < a->nentries; i++)
		if (a->entries[i]->footprint != b->entries[i]->footprint ||
		    a->entries[i]->size != b->entries[i]->size ||
		    a->entries[i]->nsample != b->entries[i]->nsample ||
		    !same_number(a->entries[i]->mean, b->entries[i]->mean) ||
		    !same_number(a->entries[i]->flops, b->entries[i]->flops))
			return 0;
	return 1;
}

static int same_data(const struct model_data *a, const struct model_data *b)
{
	if (a->ncombinations != b->ncombinations)
		return 0;
	for (size_t i = 0; i < a->ncombinations; i++)
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++)
			if (!same_arch(a->combinations[i]->implementations[k],
				       b->combinations[i]->implementations[k]))
				return 0;
	return 1;
}

/* The next word that is not in a comment; 0: none. */
static int next_word(FILE *f, char word[64])
{
	while (fscanf(f, " %63s", word) == 1) {
		if (*word != '#')
			return 1;
		while (fgetc(f) != '\n')
			if (feof(f))
				return 0;
	}
	return 0;
}

/* Footprints are no numbers, and others may be written with fewer digits by hand.  What a
 * file has behind its end is not written again. */
static int same_words(const char *path, const char *written)
{
	FILE *a = fopen(path, "r"), *b = fopen(written, "r");
	char x[64], y[64];
	int same = a && b;

	while (same && next_word(b, y))
		same = next_word(a, x) &&
		       (!strcmp(x, y) || (strchr(y, '.') &&
					  same_number(strtod(x, NULL), strtod(y, NULL))));
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return same;
}

/* n^2 and n^3 of the side of a square matrix, as a kernel's duration goes. */
static unsigned square[] = {2}, cube[] = {3};
static unsigned *combinations[] = {square, cube};
static const struct starpu_perfmodel powers = {
	.nparameters = 1, .ncombinations = 2, .combinations = combinations};

/* How far the residuals are from being orthogonal to the terms, which least squares
 * have to be: 0 exactly, 1 when nothing cancels. */
static double obliquity(const struct model_arch *arch, const double *coeff)
{
	double product[3] = {0}, all[3] = {0}, worst = 0;

	for (size_t i = 0; i < arch->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = arch->entries[i];
		double terms[3], residual = e->mean, side = sqrt(e->size / 8.);

		model_multi_terms(&powers, &side, terms);
		for (int k = 0; k < 3; k++)
			residual -= coeff[k] * terms[k];
		for (int k = 0; k < 3; k++) {
			product[k] += residual * terms[k] * e->nsample;
			all[k] +=
				(fabs(residual) + fabs(e->mean)) * terms[k] * e->nsample;
		}
	}
	for (int k = 0; k < 3; k++)
		if (all[k] > 0 && fabs(product[k]) / all[k] > worst)
			worst = fabs(product[k]) / all[k];
	return worst;
}

/* A multiple regression through the means of one implementation. */
static int check_regression(const struct model_arch *arch)
{
	struct model_multi multi;
	double coeff[3], terms[3];
	unsigned rank;
	int ok;

	model_multi_init(&multi, powers.ncombinations);
	for (size_t i = 0; i < arch->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = arch->entries[i];

		model_multi_terms(&powers, &(double){sqrt(e->size / 8.)}, terms);
		if (e->nsample && model_multi_add(&multi, terms, e->mean, e->nsample))
			printf("FAIL a mean is not finite\n");
	}
	rank = model_multi_solve(&multi, coeff);
	ok = rank <= 3 && (rank > 0 || !multi.nsample) && obliquity(arch, coeff) < 1e-8;
	model_multi_clear(&multi);
	return ok;
}

static int check_regressions(const struct model_data *data)
{
	int good = 1;

	for (size_t i = 0; i < data->ncombinations; i++)
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
			const struct model_arch *arch =
				data->combinations[i]->implementations[k];

			good = good && (!arch || check_regression(arch));
		}
	return good;
}

static int check_file(const char *path, const char *scratch)
{
	struct model_data data = {0}, again = {0};
	int ok = !model_data_read(&data, path, -1);

	if (ok)
		ok = model_data_type(&data) != STARPU_PERFMODEL_INVALID ||
		     !data.ncombinations;
	if (!ok)
		printf("FAIL %s: not read\n", path);
	else if (model_data_write(&data, scratch, -1) ||
		 model_data_read(&again, scratch, -1) || !same_data(&data, &again))
		printf("FAIL %s: differs after it was written\n", path), ok = 0;
	else if (!same_words(path, scratch))
		printf("FAIL %s: was written with other words\n", path), ok = 0;
	if (ok && !check_regressions(&data))
		printf("FAIL %s: a regression is not of least squares\n", path), ok = 0;
	model_data_clear(&data);
	model_data_clear(&again);
	return ok;
}

int main(void)
{
	const char *data = getenv("ORR_TEST_DATA"), *source = getenv("ORRERY_SRC");
	char dir[PATH_MAX / 2], path[PATH_MAX], scratch[] = "/tmp/orrery-corpus-XXXXXX";
	int total = 0, good = 0, fd;
	struct dirent *entry;
	DIR *stream;

	if (data)
		snprintf(dir, sizeof dir, "%s/starpu-sampling/codelets/45", data);
	else
		snprintf(dir, sizeof dir, "%s/../shared/data/starpu-sampling/codelets/45",
			 source ? source : ".");
	stream = opendir(dir);
	fd = mkstemp(scratch);
	if (!stream || fd < 0) {
		printf("SKIP no calibrations in %s\n", dir);
		return 77;
	}
	while ((entry = readdir(stream))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		total++;
		good += check_file(path, scratch);
	}
	closedir(stream);
	close(fd);
	unlink(scratch);
	printf("%s %d of %d calibrations are read and written\n",
	       good == total ? "PASS" : "FAIL", good, total);
	return good != total;
}
