/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_STUCK_H
#define ORR_CORE_STUCK_H

/*
 * stuck.h - says what a node waits for: threads, data and their holders, tasks, tags.
 *
 * It looks at what exists (the pools of tasks and data, the table of tags), so that
 * nothing is kept for it while all goes well.  It may look while other threads run:
 * then it takes locks, passes over a datum that is locked just now, and what it says
 * may be a moment old.
 */
#include "core/node.h"

/* Line by line; also what the MPI layer knows (node->on_describe). */
void stuck_describe(struct node *node, void (*say)(void *arg, const char *line),
		    void *arg);

#endif
