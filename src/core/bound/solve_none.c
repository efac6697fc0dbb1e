/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/program.h"

#include <errno.h>

/* Built without GLPK. */
int program_solve(const struct program *program, int whole, double *minimum,
		  double *values)
{
	(void)program;
	(void)whole;
	(void)minimum;
	(void)values;
	return -ENOSYS;
}
