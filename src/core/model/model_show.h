/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_SHOW_H
#define ORR_CORE_MODEL_MODEL_SHOW_H

/*
 * model_show.h - texts of what a model has measured, as StarPU's tools print them.
 *
 * Combinations of devices are numbered as in the model's file.
 */
#include <stdio.h>

#include "core/model/model_store.h"

/* What is to be shown. */
struct model_choice {
	/* "cpu": of this type of device; "cpu:2": 2 of it; "cuda1": this one;
	 * "cuda1_impl0"; NULL: all */
	const char *type;
	const struct starpu_perfmodel_arch *arch; /* exactly these devices; NULL: any */
	int implementation;                       /* -1: all */
	const char *parameter;     /* "a", "mean" and so on; NULL: everything */
	const uint32_t *footprint; /* of one size; NULL: all */
};

/* The file that the model was loaded from, or measured into; NULL: none yet. */
struct model_file *model_show_file(struct starpu_perfmodel *model);

/* How many combinations and implementations were shown; -EINVAL after a message: there is
 * no such parameter. */
int model_show(struct node *node, struct starpu_perfmodel *model,
	       const struct model_choice *choice, FILE *out);
void model_show_xml(struct starpu_perfmodel *model, FILE *out);
/* The number of combinations. */
int model_show_combinations(struct starpu_perfmodel *model, FILE *out);
/* Directories with models; the files in them.  0, or -ENOENT: there is no directory. */
int model_show_directories(const struct knobs *knobs, FILE *out);
int model_show_files(const struct knobs *knobs, FILE *out);

#endif
