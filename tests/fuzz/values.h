/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_VALUES_H
#define ORR_TESTS_FUZZ_VALUES_H

/* values.h - what a task computes: the same code for the oracle and for kernels. */
#include "program.h"

/* Write all that op writes, given the views of its uses. */
void values_compute(const struct op *op, struct view *views);

#endif
