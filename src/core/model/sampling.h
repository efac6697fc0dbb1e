/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_SAMPLING_H
#define ORR_CORE_MODEL_SAMPLING_H

/*
 * sampling.h - StarPU's directories of measurements: which of them has a file, and where
 * a new one goes.  Names are below such a directory: "codelets/45/SYMBOL.HOST".
 */
#include <stddef.h>

#include "base/knobs.h"

enum { SAMPLING_PATH_BYTES = 2048 };

/* Is given a directory, with a slash at its end.  Not 0: enough. */
typedef int sampling_visit(void *arg, const char *dir);

/* All directories in StarPU's order, whether they exist or not; what the visitor returned
 * at last. */
int sampling_each(const struct knobs *knobs, sampling_visit *visitor, void *arg);
/* The first directory that has the file, in StarPU's order.  0 or -ENOENT. */
int sampling_find(const struct knobs *knobs, const char *name, char *path);
/* For a user: where the model SYMBOL of HOST was looked for in vain, and what is there.
 */
void sampling_absent(const struct knobs *knobs, const char *symbol, const char *host,
		     char *text, size_t bytes);
/* Where a new file goes; its directories are made, but no home.  0 or a reason. */
int sampling_place(const struct knobs *knobs, const char *name, char *path);

#endif
