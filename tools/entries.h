/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TOOLS_ENTRIES_H
#define ORR_TOOLS_ENTRIES_H

/* entries.h - what a model has measured: a line of each of its tables, and its fits. */
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

/* A curve through them, of microseconds or joules: a size ^ b + c; c of a power law: 0.
 */
struct fit {
	char arch[ENTRY_ARCH_BYTES];
	int combination, is_nonlinear;
	double a, b, c;
};

struct entries {
	int n, room;
	struct entry *rows;
	int nfits, fits_room;
	struct fit *fits;
};

/* Those of the model with this symbol, by combination; 0, or -1 when there is none, which
 * was told. */
int entries_read(struct entries *entries, const char *tool, const char *symbol);
void entries_free(struct entries *entries);
/* The text of "Name: text" in a line, or NULL; the end of the line is cut. */
char *field_text(char *line, const char *name);

#endif
