/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/decimal.h"
#include "core/model/model_file.h"

/* Rows in memory before they go to the file; repetitions of one row in it. */
enum { MANY_ROWS = 4096, MANY_TIMES = 1000 };

/* StarPU's tools find the duration by this name. */
static const char duration_name[] = "Duration";

static char *make_head(const struct starpu_perfmodel *model)
{
	char *head = NULL;
	size_t bytes;
	FILE *f = open_memstream(&head, &bytes);

	ORR_ASSERT(f);
	fprintf(f, "%s", duration_name);
	for (unsigned i = 0; i < model->nparameters; i++)
		if (model->parameters_names && model->parameters_names[i])
			fprintf(f, ", %s", model->parameters_names[i]);
		else
			fprintf(f, ", P%u", i + 1);
	fprintf(f, "\n");
	fclose(f);
	return head;
}

/* ---- Reading ---------------------------------------------------------- */

static int refuse_file(struct model_samples *samples, unsigned long line,
		       const char *found)
{
	orr_complain(
		samples->rank,
		"performance model %s: %s, line %lu: found \"%.40s\", expected a line "
		"of names, then %u numbers a line with commas between: the file is "
		"not used and not added to; mend it or remove it, or measure again "
		"with STARPU_CALIBRATE=2",
		samples->symbol, samples->path, line, found, samples->nparameters + 1);
	return -EINVAL;
}

/* Which column is the duration: the one of that name, else the last. */
static unsigned duration_column(const struct model_samples *samples, const char *head)
{
	if (head && !strncmp(head, "\xEF\xBB\xBF", 3))
		head += 3; /* the mark of an editor, no part of the name */
	for (unsigned i = 0; i <= samples->nparameters && head; i++) {
		head += strspn(head, " \t\"");
		if (!strncasecmp(head, duration_name, sizeof duration_name - 1))
			return i;
		head = strchr(head, ',');
		head = head ? head + 1 : NULL;
	}
	return samples->nparameters;
}

/* As many numbers as there are parameters, and one; 0 when the line has others. */
static int read_row(const char *text, double *row, unsigned n)
{
	char *end;

	for (unsigned i = 0; i < n; i++) {
		row[i] = decimal_read(text, &end);
		if (end == text)
			return 0;
		end += strspn(end, " \t\r");
		if (i + 1 < n && *end++ != ',')
			return 0;
		text = end;
	}
	return *text == '\n';
}

static void add_row(struct model_samples *samples, const struct starpu_perfmodel *model,
		    double *row, unsigned duration)
{
	double us = row[duration], terms[MODEL_MAX_TERMS];

	memmove(row + duration, row + duration + 1,
		(samples->nparameters - duration) * sizeof *row);
	model_multi_terms(model, row, terms);
	/* What is not finite was not used in the run that wrote it either. */
	(void)model_multi_add(&samples->multi, terms, us, 1);
}

static int read_rows(struct model_samples *samples, const struct starpu_perfmodel *model,
		     FILE *f)
{
	double row[MODEL_MAX_PARAMETERS + 1];
	unsigned n = samples->nparameters + 1;
	unsigned long line = 0;
	char *text = NULL;
	size_t capacity = 0;
	int rc = 0;

	while (!rc && getline(&text, &capacity, f) >= 0) {
		if (!line++)
			samples->duration = duration_column(samples, text);
		else if (read_row(text, row, n))
			add_row(samples, model, row, samples->duration);
		else if (text[strspn(text, " \t\r\n")])
			rc = refuse_file(samples, line, text);
	}
	free(text);
	return rc;
}

/* 0 also when there is no such file. */
static int read_file(struct model_samples *samples, const struct starpu_perfmodel *model)
{
	FILE *f = fopen(samples->path, "r");
	int rc;

	if (!f && errno == ENOENT)
		return 0;
	if (!f) {
		rc = -errno;
		orr_complain(
			samples->rank,
			"performance model %s: %s cannot be read (%s), expected the "
			"measurements of former runs: this one is not added to them; "
			"check its permissions",
			samples->symbol, samples->path, strerror(-rc));
		return rc;
	}
	model_file_lock(f, F_RDLCK);
	rc = read_rows(samples, model, f);
	fclose(f);
	return rc;
}

/* ---- Writing ---------------------------------------------------------- */

static void write_rows(const struct model_samples *samples, FILE *f)
{
	unsigned n = samples->nparameters + 1;
	locale_t before = decimal_begin();

	for (size_t i = 0; i < samples->nrows; i++) {
		const double *row = samples->rows + i * n;

		for (unsigned k = 0; k < n; k++)
			fprintf(f, "%.9g%s",
				k == samples->duration ? row[n - 1]
						       : row[k - (k > samples->duration)],
				k + 1 < n ? ", " : "\n");
	}
	decimal_end(before);
}

static void append_rows(struct model_samples *samples)
{
	FILE *f = samples->path && samples->nrows ? fopen(samples->path, "a") : NULL;
	int failed = samples->path && samples->nrows && !f ? errno : 0;
	struct stat status;

	if (f) {
		/* Several ranks of a machine add to one file. */
		model_file_lock(f, F_WRLCK);
		if (!fstat(fileno(f), &status) && status.st_size == 0)
			fputs(samples->head, f);
		write_rows(samples, f);
		failed = ferror(f);
		if (fclose(f) || failed)
			failed = errno ? errno : EIO;
	}
	samples->nrows = 0;
	if (!failed)
		return;
	orr_complain(
		samples->rank,
		"performance model %s: %s cannot be written (%s), expected room and a "
		"writable directory: measurements of this run count in its fit, later "
		"runs will not have them; see STARPU_PERF_MODEL_DIR",
		samples->symbol, samples->path, strerror(failed));
	free(samples->path);
	samples->path = NULL;
}

static void note_row(struct model_samples *samples, const double *parameters, double us)
{
	unsigned n = samples->nparameters;
	double *row;

	if (samples->nrows == MANY_ROWS)
		append_rows(samples);
	if (!samples->path)
		return;
	if (!samples->rows)
		samples->rows = orr_alloc(MANY_ROWS * (n + 1) * sizeof *samples->rows);
	row = samples->rows + samples->nrows++ * (n + 1);
	memcpy(row, parameters, n * sizeof *row);
	row[n] = us;
}

/* ---- Life -------------------------------------------------------------- */

struct model_samples *model_samples_new(const struct starpu_perfmodel *model,
					const char *path, int afresh, int rank)
{
	struct model_samples *samples = orr_alloc(sizeof *samples);

	samples->rank = rank;
	samples->nparameters = model->nparameters;
	samples->symbol =
		orr_strdup(model->symbol ? model->symbol : "(without a symbol)");
	samples->path = path ? orr_strdup(path) : NULL;
	samples->head = make_head(model);
	model_multi_init(&samples->multi, model->ncombinations);
	if (path && afresh && unlink(path) < 0 && errno != ENOENT)
		orr_complain(rank, "performance model %s: %s cannot be removed (%s)",
			     samples->symbol, path, strerror(errno));
	if (path && !afresh && read_file(samples, model) < 0) {
		/* Half of the file is no basis either. */
		model_multi_clear(&samples->multi);
		model_multi_init(&samples->multi, model->ncombinations);
		free(samples->path);
		samples->path = NULL;
	}
	return samples;
}

void model_samples_free(struct model_samples *samples)
{
	if (!samples)
		return;
	model_multi_clear(&samples->multi);
	free(samples->symbol);
	free(samples->path);
	free(samples->head);
	free(samples->rows);
	free(samples);
}

void model_samples_add(struct model_samples *samples, const double *parameters,
		       const double *terms, double us, unsigned number)
{
	if (model_multi_add(&samples->multi, terms, us, number)) {
		if (!samples->told++)
			orr_complain(
				samples->rank,
				"performance model %s: a task's parameters, or powers "
				"of them, are not finite, expected numbers: it is not "
				"used; look at its function parameters",
				samples->symbol);
		return;
	}
	for (unsigned i = 0; i < number && i < MANY_TIMES; i++)
		note_row(samples, parameters, us);
}

static unsigned solve(struct model_samples *samples,
		      struct starpu_perfmodel_regression_model *fit)
{
	unsigned rank;

	/* The application may look at them meanwhile: they move only when they must. */
	if (fit->ncoeff != samples->multi.ncoeff)
		fit->coeff = orr_realloc(fit->coeff,
					 samples->multi.ncoeff * sizeof *fit->coeff);
	fit->ncoeff = samples->multi.ncoeff;
	fit->multi_valid = 1;
	rank = model_multi_solve(&samples->multi, fit->coeff);
	samples->deviation_us = model_multi_deviation(&samples->multi, rank);
	return rank;
}

/* StarPU's minimum of measurements, and more than coefficients: noise is to be seen. */
static int enough(const struct model_samples *samples, unsigned minimum)
{
	return samples->multi.ncoeff > 1 && samples->multi.nsample >= minimum &&
	       samples->multi.nsample > samples->multi.ncoeff;
}

void model_samples_fit(struct model_samples *samples,
		       struct starpu_perfmodel_regression_model *fit, unsigned minimum)
{
	size_t n = samples->multi.nsample;

	if (!enough(samples, minimum) || n < samples->next_solve)
		return;
	samples->next_solve = n + n / 8 + 1;
	solve(samples, fit);
}

static void tell_too_few(const struct model_samples *samples, unsigned minimum)
{
	if (samples->multi.ncoeff == 1)
		orr_complain(
			samples->rank,
			"performance model %s: it has no combinations, expected some to "
			"fit: %zu measurements are in %s, to look for good ones",
			samples->symbol, samples->multi.nsample,
			samples->path ? samples->path : "no file");
	else
		orr_complain(
			samples->rank,
			"performance model %s: %zu measurements, expected at least %u "
			"and more than %u coefficients: it is not fitted yet; run "
			"again with STARPU_CALIBRATE=1",
			samples->symbol, samples->multi.nsample, minimum,
			samples->multi.ncoeff);
}

void model_samples_save(struct model_samples *samples,
			struct starpu_perfmodel_regression_model *fit, unsigned minimum,
			int silent)
{
	unsigned rank = 0;
	int fitted = enough(samples, minimum);

	append_rows(samples);
	if (fitted)
		rank = solve(samples, fit);
	if (fitted && rank < fit->ncoeff && !silent)
		orr_complain(
			samples->rank,
			"performance model %s: %zu measurements tell %u of %u "
			"coefficients apart, expected parameters that vary "
			"independently: the others are 0, and other sizes may be far "
			"off; measure more of them",
			samples->symbol, samples->multi.nsample, rank, fit->ncoeff);
	if (!fitted && !silent)
		tell_too_few(samples, minimum);
}
