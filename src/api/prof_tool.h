/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_PROF_TOOL_H
#define ORR_API_PROF_TOOL_H

/* prof_tool.h - the profiling tool of a life of the library, if there is one. */
#include "core/node.h"

/* Before the node is opened; when it is open; after it was closed, or could not be
 * opened. */
void prof_tool_begin(struct starpu_conf *conf);
void prof_tool_begun(struct node *node, struct starpu_conf *conf);
void prof_tool_end(void);

#endif
