/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_PARAMETERS_H
#define ORR_CORE_MODEL_MODEL_PARAMETERS_H

/*
 * model_parameters.h - models of type STARPU_MULTIPLE_REGRESSION_BASED: what their
 * function tells of a task, and where measurements of it go.  The application's function
 * is called without a lock.
 */
#include "core/model/model_query.h"
#include "core/model/model_store.h"

/* Microseconds by the coefficients of answer; NaN: there are none for this model. */
double model_parameters_us(const struct model_query *query,
			   const struct model_answer *answer);
/* Add number measurements of us. */
void model_parameters_add(const struct model_query *query, double us, unsigned number);

#endif
