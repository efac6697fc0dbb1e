/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_PULSE_H
#define ORR_CORE_PULSE_H

/*
 * pulse.h - the progress of a long run on a real machine, as lines on stderr.
 *
 * Simulations have one line for all nodes, from the backend.
 */
#include "core/node.h"

/* With ORRERY_PROGRESS, on a real machine: say now and then, until the node closes, how
 * many tasks have ended and when the submitted ones will have. */
void pulse_start(struct node *node);
/* The last line, where one was said before.  No timer fires any more. */
void pulse_end(struct node *node);

#endif
