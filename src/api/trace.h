/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_TRACE_H
#define ORR_API_TRACE_H

/* trace.h - which sinks of events a node has, by the environment. */
#include "core/node.h"

/* The node has opened; is about to close. */
void trace_begin(struct node *node);
void trace_end(struct node *node);
/* Is what is recorded to be saved when a signal ends the process?  As the environment
 * says, until this is called. */
void trace_catch_signals(struct node *node, int is_wanted);
/* It is one of several ranks, who have just met. */
void trace_meet(struct node *node);
/* The ranks have met for the last time: by now and then clocks of several machines are
 * compared. */
void trace_part(struct node *node);

#endif
