/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_DECIMAL_H
#define ORR_BASE_DECIMAL_H

/*
 * decimal.h - numbers in files and variables have a point, whatever the application's
 * locale writes.  Of this thread only; nothing is allocated for the locale "C".
 */
#include <locale.h>
#include <stdlib.h>

static inline locale_t decimal_begin(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void decimal_end(locale_t before)
{
	uselocale(before);
}

/* As strtod(). */
static inline double decimal_read(const char *text, char **end)
{
	locale_t before = decimal_begin();
	double value = strtod(text, end);

	decimal_end(before);
	return value;
}

#endif
