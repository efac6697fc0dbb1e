/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TOOLS_ENTRIES_H
#define ORR_TOOLS_ENTRIES_H

/* entries.h - what a model has measured: a line of each of its tables. */
#include <stdint.h>

enum { ENTRY_ARCH_BYTES = 128 };

struct entry {
	char arch[ENTRY_ARCH_BYTES]; /* as cpu0_impl0 (Comb0) */
	int combination, implementation;
	uint32_t footprint;
	unsigned long size;
	double flops, mean, deviation; /* of microseconds, or joules */
	unsigned nsample;
};

struct entries {
	int n, room;
	struct entry *rows; /* free them */
};

/* Those of the model with this symbol, by combination; 0, or -1 when there is none, which
 * was told. */
int entries_read(struct entries *entries, const char *tool, const char *symbol);
/* The text of "Name: text" in a line, or NULL; the end of the line is cut. */
char *field_text(char *line, const char *name);

#endif
