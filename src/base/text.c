/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void text_add(struct text *text, const char *format, ...)
{
	size_t left = sizeof(text->bytes) - text->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->bytes + text->used, left, format, args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n < left ? (size_t)n : left - 1;
}

void text_put(const struct text *text)
{
	ssize_t n = write(STDERR_FILENO, text->bytes, text->used);

	(void)n;
}
