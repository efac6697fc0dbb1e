/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_WAY_H
#define ORR_CORE_DATA_WAY_H

/*
 * way.h - from where a datum's value comes to a memory, and by which memories.
 *
 * The routes are the machine's (routes.h); which of them a value takes depends on where
 * it is valid, on what its interface can copy and on what is mapped.
 */
#include "core/data/data.h"

/* Where to take the value from: the first copy from which it gets there without a stop,
 * or the first that is valid; where ways differ (routes_differ()), one of the same bytes,
 * or the nearest of all.  NULL when none is valid.  The datum is locked. */
struct copy_state *way_source(struct copy_state *to);
/* The memory where it stops on the way, or to's. */
unsigned way_next(struct copy_state *from, struct copy_state *to);

#endif
