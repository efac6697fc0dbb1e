/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_parameters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_samples.h"
#include "core/model/sampling.h"
#include "core/outside.h"

static const char *symbol_of(const struct model_query *query)
{
	const char *symbol = query->model->symbol;

	return symbol ? symbol : "(without a symbol)";
}

/* 1 for the first mistake of the model on this node. */
static int first_mistake(const struct model_query *query)
{
	return orr_cas(&model_state(query->node, query->model)->told, 0, 1);
}

/* The terms of the sum; 0 when the model cannot tell them. */
static int look_at(const struct model_query *query, double *parameters, double *terms)
{
	const struct starpu_perfmodel *model = query->model;
	OUTSIDE(outside);

	if (!model->parameters || model->nparameters == 0 ||
	    model->nparameters > MODEL_MAX_PARAMETERS ||
	    model->ncombinations >= MODEL_MAX_TERMS ||
	    (model->ncombinations && !model->combinations)) {
		if (first_mistake(query))
			orr_complain(
				query->node->rank,
				"performance model %s: %s parameters, %u of them, %u "
				"combinations; a multiple regression is expected to "
				"have a function, 1 to %d parameters and at most %d "
				"combinations: it knows nothing",
				symbol_of(query),
				model->parameters ? "a function for" : "no function for",
				model->nparameters, model->ncombinations,
				MODEL_MAX_PARAMETERS, MODEL_MAX_TERMS - 1);
		return 0;
	}
	outside_enter(&outside, query->node, "parameters of a performance model");
	model->parameters(query->task, parameters);
	outside_end(&outside);
	model_multi_terms(model, parameters, terms);
	return 1;
}

static void tell_coefficients(const struct model_query *query, unsigned found)
{
	if (first_mistake(query))
		orr_complain(
			query->node->rank,
			"performance model %s: its file has %u coefficients, expected "
			"%u, 1 more than the program's combinations: it is of another "
			"program; STARPU_CALIBRATE=1 fits it again, on a real machine",
			symbol_of(query), found, query->model->ncombinations + 1);
}

double model_parameters_us(const struct model_query *query,
			   const struct model_answer *answer)
{
	const struct starpu_perfmodel_regression_model *fit =
		&answer->known->known.regression;
	double parameters[MODEL_MAX_PARAMETERS], terms[MODEL_MAX_TERMS], us = NAN;
	unsigned ncoeff;

	if (!look_at(query, parameters, terms))
		return NAN;
	orr_lock(&answer->file->lock);
	ncoeff = fit->ncoeff;
	if (ncoeff == query->model->ncombinations + 1)
		us = model_multi_us(fit->coeff, ncoeff, terms);
	orr_unlock(&answer->file->lock);
	/* StarPU writes a single NaN where it could not fit. */
	if (ncoeff > 1 && ncoeff != query->model->ncombinations + 1)
		tell_coefficients(query, ncoeff);
	return us;
}

/* ---- Measurements -------------------------------------------------------- */

/* "SYMBOL.out" for the usual one, "SYMBOL.cuda0_impl1.out" for others. */
static void print_name(FILE *f, const struct model_query *query,
		       const struct model_answer *answer)
{
	struct starpu_perfmodel_device device = {
		.type = answer->type, .devid = answer->devid, .ncores = answer->ncores};
	struct starpu_perfmodel_arch arch = {.ndevices = 1, .devices = &device};

	fprintf(f, "codelets/tmp/%s", query->model->symbol);
	if (query->arch->ndevices != 1)
		arch = *query->arch;
	if (arch.ndevices != 1 || device.type != STARPU_CPU_WORKER || device.devid != 0 ||
	    device.ncores != 1 || query->implementation != 0) {
		fprintf(f, ".");
		model_print_arch(f, &arch);
		if (arch.devices[0].ncores != 1)
			fprintf(f, "_cores%d", arch.devices[0].ncores);
		fprintf(f, "_impl%u", query->implementation);
	}
	fprintf(f, ".out");
}

static struct model_samples *open_samples(const struct model_query *query,
					  const struct model_answer *answer)
{
	char path[SAMPLING_PATH_BYTES], *name = NULL;
	struct node *node = query->node;
	int afresh = orr_load(&node->calibrate) == 2, status = -ENOENT;
	size_t bytes;
	FILE *f;

	/* A model without a file of its own is kept in memory only. */
	if (answer->file->name) {
		f = open_memstream(&name, &bytes);
		ORR_ASSERT(f);
		print_name(f, query, answer);
		fclose(f);
		status = sampling_place(node_knobs(node), name, path);
		free(name);
	}
	return model_samples_new(query->model, status ? NULL : path, afresh, node->rank);
}

void model_parameters_add(const struct model_query *query, double us, unsigned number)
{
	double parameters[MODEL_MAX_PARAMETERS], terms[MODEL_MAX_TERMS];
	const struct starpu_perfmodel *model = query->model;
	struct model_answer answer;
	struct model_arch *known;

	if (!look_at(query, parameters, terms))
		return;
	answer = model_find(query->node, query->model, query->arch, query->implementation,
			    1);
	known = answer.known;
	if (!known)
		return;
	orr_lock(&answer.file->lock);
	if (!known->samples)
		known->samples = open_samples(query, &answer);
	/* Another model of the same symbol may have other combinations. */
	if (known->samples->multi.ncoeff == model->ncombinations + 1 &&
	    known->samples->nparameters == model->nparameters) {
		model_samples_add(known->samples, parameters, terms, us, number);
		model_samples_fit(known->samples, &known->known.regression,
				  node_knobs(query->node)->calibrate_minimum);
		answer.file->dirty = 1;
	}
	orr_unlock(&answer.file->lock);
}
