/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_SOURCE_H
#define ORR_MAP_SOURCE_H

/*
 * source.h - kinds of nodes from hwloc: this machine, a file, or a description in words.
 *
 * What may be used is what hwloc says is allowed: online, in the cpuset of the system's
 * control group and, for this machine, in the binding of the process.
 */
#include "map/tree.h"

/*
 * "live": this machine.  A text with a colon whose first word is a type of hwloc is a
 * synthetic description ("pack:2 core:4 pu:2").  All else is a file of hwloc's XML.
 * 0, or -EINVAL with a sentence.
 */
int source_read(const char *text, struct map_tree **tree, struct map_says *says);

/* "0-3,8" or "0x1f": numbers of the operating system, of which none may be missing. */
int source_allow(struct map_node *node, const char *text, struct map_says *says);

#endif
