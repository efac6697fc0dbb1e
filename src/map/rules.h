/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_RULES_H
#define ORR_MAP_RULES_H

/*
 * rules.h - what the user asks for: the four inputs of the algorithm, read from text.
 */
#include "map/level.h"

enum map_order {
	ORDER_NATURAL,    /* rank = order of mapping */
	ORDER_SEQUENTIAL, /* from left to right over the hardware */
	ORDER_SLOT,       /* node after node, in each in order of mapping */
	ORDER_BY          /* in turn over the objects of a level, node after node */
};

struct map_rules {
	enum map_level loops[NLEVELS]; /* the innermost loop first */
	int nloops;
	enum map_level bind;
	int nbind;           /* so many consecutive objects of that level */
	int limits[NLEVELS]; /* processes per object; 0: no limit */
	enum map_order order;
	enum map_level rank_by; /* of ORDER_BY */
	/* The object that a process is mapped to, for ORDER_BY: that of the simple form,
	 * a node for "slot", the place itself for letters. */
	enum map_level mapped_to;
	/* The level that a simple form goes by, which every machine must have; NLEVELS:
	 * the loops were given by letters. */
	enum map_level by;
	int oversubscribe;
};

/* The texts; NULL: not given.  A pair excludes each other: letters and a simple form. */
struct map_texts {
	const char *map, *map_by;    /* "csbnh"; "core".  Preset: by core */
	const char *bind, *bind_to;  /* "2c"; "core".  Preset: the whole node */
	const char *limits;          /* "1:c,2:s" */
	const char *order, *rank_by; /* "n" or "s"; "socket".  Preset: natural */
	int oversubscribe;
};

/* 0, or -EINVAL with a sentence that says what stands where, and what was expected. */
int rules_read(struct map_rules *rules, const struct map_texts *texts,
	       struct map_says *says);
/* The loops as letters, at least 2 * NLEVELS + 1 bytes. */
void rules_letters(const struct map_rules *rules, char *text);

#endif
