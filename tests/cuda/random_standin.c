/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* random_standin.c - what takes the place of kernels on the stand-in, which is no GPU. */
#include "random.h"

static const void *there(const void *at)
{
	return at ? standin_at(at) : NULL;
}

static void cook_all(void *arg)
{
	struct cook *cook = arg;

	for (int i = 0; i < cook->n; i++) {
		struct view *view = &cook->views[i];

		view->values = (uint64_t *)there(view->values);
		view->more = (uint64_t *)there(view->more);
		view->columns = there(view->columns);
		view->rows = there(view->rows);
	}
	for (uint32_t i = 0; i < view_count(&cook->views[cook->which]); i++)
		cook_element(cook, i);
	free(cook);
}

void random_launch(const struct cook *cook, cudaStream_t stream)
{
	struct cook *copy = malloc(sizeof(*copy));
	cudaError_t status;

	*copy = *cook;
	status = standin_launch(stream, cook_all, copy);
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

/* It has no default stream that others wait for. */
int random_launches_by_default(void)
{
	return 0;
}

void random_choose_library(void)
{
	setenv("ORRERY_CUDA_LIBRARY", STANDIN, 0);
}

void random_hold_context(void)
{
}
