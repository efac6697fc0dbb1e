/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_SYMBOLS_H
#define ORR_BASE_SYMBOLS_H

/*
 * symbols.h - functions of this program in another process that runs the same one.
 *
 * An address differs between processes; its place in the program, or in a library that
 * both have loaded, does not.
 */
#include <stddef.h>
#include <stdint.h>

struct symbol_place {
	uint64_t object; /* of the program's files; 0: nowhere */
	uint64_t offset; /* from its first byte in memory */
};

/* Where an address lies; nowhere when no file of the program is there. */
struct symbol_place symbols_place(const void *address);
/* The address that has this place here, or NULL: no such file is loaded. */
void *symbols_at(struct symbol_place place);

/* A part of one of the program's files in memory. */
struct symbols_part {
	uintptr_t first;
	size_t bytes;
	int is_constant; /* it cannot be written */
};

/* The part where an address lies; without bytes when no file of the program is there.
 * Looks at each file that is loaded. */
struct symbols_part symbols_part_of(const void *address);
/* The function that the program, or a library of it, exports under a name, or NULL. */
void *symbols_named(const char *name);
/* What a message calls a function: its name, where the program or a library of it exports
 * that, or the file and its place there, for addr2line. */
void symbols_name(const void *address, char *text, size_t bytes);

#endif
