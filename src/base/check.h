/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_CHECK_H
#define ORR_BASE_CHECK_H

/*
 * check.h - what to do when something is wrong; four cases, four tools.
 *
 * 1. Our own bug: ORR_ASSERT, kept in release builds.
 * 2. The caller's mistake: orr_complain(), then return -EINVAL; or orr_die()
 *    where StarPU's contract is to abort.
 * 3. A refusal of the machine (network, file): orr_complain() where it is first
 *    known, then pass the code up in silence.
 * 4. No memory for our own small objects: orr_alloc() ends the program.
 */
#include <stddef.h>

#define ORR_ASSERT(cond) ((cond) ? (void)0 : orr_bug(__FILE__, __LINE__, #cond))

#define ORR_CONTAINER(ptr, type, member)                                                 \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* For messages that belong to no rank (before init, tools). */
#define ORR_NO_RANK (-1)

void orr_bug(const char *file, int line, const char *what) __attribute__((noreturn));

/* Print "[orrery][rank N] <message>" on stderr in one write. */
void orr_complain(int rank, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As orr_complain(), then abort(). */
void orr_die(int rank, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Zeroed; never returns NULL. */
void *orr_alloc(size_t bytes);

/* The first field of a group that other threads write than those around it. */
enum { ORR_LINE_BYTES = 64 };
#define ORR_OWN_LINE _Alignas(ORR_LINE_BYTES)

/* What is at p will be looked at soon.  A function that does nothing else has no effect
 * for the compiler, which leaves out calls of it: the empty statement is one. */
static inline void orr_bring(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* The same of each line of so many bytes. */
static inline void orr_bring_lines(const void *p, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += ORR_LINE_BYTES)
		orr_bring((const char *)p + at);
}

/* orr_alloc() for structs with such groups; for free(). */
void *orr_alloc_lines(size_t bytes);
/* As realloc(); never returns NULL for bytes > 0. */
void *orr_realloc(void *ptr, size_t bytes);
char *orr_strdup(const char *text);

#endif
