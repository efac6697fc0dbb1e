/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_SAMPLES_H
#define ORR_CORE_MODEL_MODEL_SAMPLES_H

/*
 * model_samples.h - what a multiple regression is fitted to, in this run and before.
 *
 * The measurements of all runs are in StarPU's file codelets/tmp/SYMBOL.out: a line of
 * names, then a line for each task, its duration in microseconds and its parameters,
 * with commas between them; in a file that is there the duration stays where its name
 * is.  So does the first implementation on processors; others
 * have files of their own, SYMBOL.cuda0_impl1.out.  Those of this run are appended when
 * the model is saved, and whenever many are there.
 */
#include "core/model/model_multi.h"

struct model_samples {
	struct model_multi multi;
	unsigned nparameters;
	char *symbol;      /* of the model, for messages */
	char *path;        /* NULL: they are not kept */
	char *head;        /* the line of names, for a new file */
	unsigned duration; /* its column in the file */
	double *rows;      /* not in the file yet: parameters, duration */
	size_t nrows;
	size_t next_solve;   /* number of samples to fit again at */
	double deviation_us; /* of the samples around the last fit */
	int rank;            /* of the node, for messages */
	int told;            /* of a sample that was refused */
};

/*
 * path: where they are kept, borrowed, or NULL.  What is there is read, or with afresh
 * removed.  A file that cannot be read is left alone, after a message; it is then not
 * written either.
 */
struct model_samples *model_samples_new(const struct starpu_perfmodel *model,
					const char *path, int afresh, int rank);
void model_samples_free(struct model_samples *samples);

/* Add number measurements of us with these parameters and the terms made of them. */
void model_samples_add(struct model_samples *samples, const double *parameters,
		       const double *terms, double us, unsigned number);
/* Fit, when there are minimum measurements, and more than when it was done last. */
void model_samples_fit(struct model_samples *samples,
		       struct starpu_perfmodel_regression_model *fit, unsigned minimum);
/* The end of a run, or of a part of it: fit all that is there, and append to the file. */
void model_samples_save(struct model_samples *samples,
			struct starpu_perfmodel_regression_model *fit, unsigned minimum,
			int silent);

#endif
