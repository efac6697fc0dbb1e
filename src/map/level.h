/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_LEVEL_H
#define ORR_MAP_LEVEL_H

/*
 * level.h - the levels of a machine and their letters; how this folder reports errors.
 *
 * The nine letters are those of the Locality-Aware Mapping Algorithm (Hursey, Squyres,
 * Dontje, IEEE Cluster 2011).  Two more, g and i, name the share of a node's cores that
 * is near to one GPU or to one network interface.
 */

/* From the widest to the narrowest, as machines usually nest them. */
enum map_level {
	LEVEL_NODE,
	LEVEL_BOARD,
	LEVEL_SOCKET,
	LEVEL_NUMA,
	LEVEL_GPU,
	LEVEL_NIC,
	LEVEL_L3,
	LEVEL_L2,
	LEVEL_L1,
	LEVEL_CORE,
	LEVEL_THREAD,
	NLEVELS
};

/* What is wrong, in one sentence with its remedy; "" when nothing is. */
struct map_says {
	char text[512];
};

/* Writes the sentence; returns -EINVAL. */
int map_refuse(struct map_says *says, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *level_letter(enum map_level level);
/* "node", "hardware thread", ...: for sentences. */
const char *level_name(enum map_level level);
/* The level that a simple form means by a word such as "core"; NLEVELS: none. */
enum map_level level_of_word(const char *word);
/* The words of simple forms, for messages. */
const char *level_words(void);
/* Reads one letter (L1 counts as one) and moves on; NLEVELS: it is none. */
enum map_level level_parse(const char **at);

#endif
