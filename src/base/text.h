/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_TEXT_H
#define ORR_BASE_TEXT_H

#include <stddef.h>

/*
 * text.h - what handlers of signals say: without memory of malloc(), and without stdio,
 * whose locks may be held by what was interrupted.
 */
struct text {
	char bytes[2048];
	size_t used;
};

/* What does not fit is left out. */
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format,
						    ...);
/* On stderr. */
void text_put(const struct text *text);

#endif
