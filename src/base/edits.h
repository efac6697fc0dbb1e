/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_EDITS_H
#define ORR_BASE_EDITS_H

/* edits.h - which of the known names is meant. */

enum { EDITS_LONGEST = 63 };

/* Letters to insert, leave out or replace to get from a to b; of a b that is longer than
 * EDITS_LONGEST its length. */
int edits_between(const char *a, const char *b);

#endif
