/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DISK_SWAP_H
#define ORR_CORE_DISK_SWAP_H

/*
 * swap.h - the disk that the environment asks for: STARPU_DISK_SWAP.
 */
#include "core/node.h"

/* The node opens: its node->swap_node, or -1.  Whatever is wrong is told, and the node
 * goes on without. */
void swap_open(struct node *node);

#endif
