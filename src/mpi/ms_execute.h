/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MS_EXECUTE_H
#define ORR_MPI_MS_EXECUTE_H

/*
 * ms_execute.h - the body of a command to execute: this struct, then the name of the
 * kernel, the argument, and for each buffer its struct and what the interface packed of
 * it; each at a multiple of 16 bytes.
 */
#include <stdint.h>

#include <starpu.h>

#include "base/symbols.h"

struct job;

enum { MS_ALIGN_BYTES = 16 };

struct ms_execute {
	struct symbol_place kernel; /* when the name is not found */
	/* Where master and slave are one process: for durations, and to be called. */
	const struct job *job;
	uint64_t address;
	uint64_t argument;       /* itself, when it has no size */
	uint64_t argument_bytes; /* 0: it is passed as it is */
	uint32_t name_bytes, nbuffers, flags;
	uint32_t implementation;
};

struct ms_buffer {
	uint64_t bytes;                   /* of the struct, or of what was packed */
	struct symbol_place unpack, free; /* of the interface; nowhere: a plain struct */
};

static inline uint64_t ms_aligned(uint64_t bytes)
{
	return (bytes + MS_ALIGN_BYTES - 1) & ~(uint64_t)(MS_ALIGN_BYTES - 1);
}

#endif
