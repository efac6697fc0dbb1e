/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_LIBRARY_H
#define ORR_CORE_SCHED_LIBRARY_H

/*
 * library.h - policies that a library brings, which STARPU_SCHED_LIB names.
 *
 * It exports starpu_get_sched_lib_policy(), and perhaps starpu_get_sched_lib_policies(),
 * as starpu_scheduler.h declares them.  Once loaded it stays, since the names of its
 * policies are asked for after the node's end.  Nodes that share a process share it, and
 * what it keeps in variables of its own.
 */
#include <stdio.h>

#include "core/node.h"

/* Says so when it cannot be used. */
void library_open(struct node *node);
/* Its policy of that name, or NULL. */
struct starpu_sched_policy *library_find(const struct node *node, const char *name);
/* A line for each that it tells of. */
void library_list(const struct node *node, FILE *file);

#endif
