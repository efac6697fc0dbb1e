/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_RANKS_H
#define ORR_BASE_RANKS_H

/*
 * ranks.h - names some ranks of many in a message, so that no number can be taken for
 * how many they are.
 */
#include <stddef.h>

/* "rank 3 (of 8)", "ranks 0, 3 to 5 (of 8)": those that is_in says.  Returns how many
 * they are; 0: the text is empty.  What has no room is counted: "ranks 0, 2 and 97 more
 * (of 200)". */
int ranks_name(char *text, size_t bytes, int nranks,
	       int (*is_in)(const void *arg, int rank), const void *arg);

#endif
