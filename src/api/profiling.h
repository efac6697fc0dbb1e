/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_PROFILING_H
#define ORR_API_PROFILING_H

/* profiling.h - what a life of the library begins and ends with, of starpu_profiling.h.
 */
#include "core/node.h"

/* Its events may be heard. */
void profiling_begin(struct node *node);
/* All tasks have ended. */
void profiling_end(struct node *node);

#endif
