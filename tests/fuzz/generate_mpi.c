/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "program.h"

void generate_distributed(struct program *program, struct rng *rng, int lane)
{
	(void)program;
	(void)rng;
	(void)lane;
	abort();
}
