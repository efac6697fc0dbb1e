/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_ENVIRONMENT_H
#define ORR_BASE_ENVIRONMENT_H

/*
 * environment.h - variables of the environment that are set and that no knob reads.
 *
 * StarPU's that need no counterpart here (what they ask for is always so, or concerns
 * something that Orrery does not have) are passed over.  A message goes to stderr for
 * each of StarPU's that asks for what is not offered, and for each name with STARPU_ or
 * ORRERY_ in front that neither knows, with the nearest name that is known.
 */
#include <stdio.h>

void environment_complain(void);

/* StarPU's variables that no knob reads, as a Markdown table. */
void environment_print_manual(FILE *out);

#endif
