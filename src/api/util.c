/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/api.h"
#include "base/check.h"
#include "core/model/hash.h"
#include "core/lasting.h"

/* ---- time ------------------------------------------------------------ */

double starpu_timing_now(void)
{
	struct node *node = plat_self();

	return 1e6 * (node ? plat_look_s(node->plat) : plat_clock_s());
}

double starpu_timing_timespec_to_us(struct timespec *ts)
{
	return 1e6 * (double)ts->tv_sec + 1e-3 * (double)ts->tv_nsec;
}

double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end)
{
	return starpu_timing_timespec_to_us(end) - starpu_timing_timespec_to_us(start);
}

void starpu_sleep(float nb_sec)
{
	struct node *node = plat_self();

	if (node)
		plat_looked(node->plat);
	plat_sleep(node ? node->plat : NULL, (double)nb_sec);
}

void starpu_usleep(float nb_micro_sec)
{
	struct node *node = plat_self();

	if (node)
		plat_looked(node->plat);
	plat_sleep(node ? node->plat : NULL, 1e-6 * (double)nb_micro_sec);
}

void starpu_energy_use(float joules)
{
	struct node *node = api_node(__func__);

	orr_lock(&node->energy_lock);
	node->energy_j += (double)joules;
	orr_unlock(&node->energy_lock);
}

double starpu_energy_used(void)
{
	struct node *node = api_node(__func__);
	double joules;

	orr_lock(&node->energy_lock);
	joules = node->energy_j;
	orr_unlock(&node->energy_lock);
	return joules;
}

/* ---- hash ------------------------------------------------------------ */

uint32_t starpu_hash_crc32c_be_n(const void *input, size_t n, uint32_t inputcrc)
{
	return hash_crc32c_be_n(input, n, inputcrc);
}

uint32_t starpu_hash_crc32c_be_ptr(void *input, uint32_t inputcrc)
{
	return hash_crc32c_be_n(&input, sizeof(input), inputcrc);
}

uint32_t starpu_hash_crc32c_be(uint32_t input, uint32_t inputcrc)
{
	return hash_crc32c_be(input, inputcrc);
}

uint32_t starpu_hash_crc32c_string(const char *str, uint32_t inputcrc)
{
	return hash_crc32c_be_n(str, strlen(str), inputcrc);
}

/* ---- environment ----------------------------------------------------- */

char *starpu_getenv(const char *str)
{
	return (char *)knobs_raw(str);
}

int starpu_get_env_string_var_default(const char *str, const char *strings[],
				      int defvalue)
{
	const char *text = knobs_raw(str);

	if (!text)
		return defvalue;
	for (int i = 0; strings[i]; i++)
		if (strcasecmp(text, strings[i]) == 0)
			return i;
	orr_complain(ORR_NO_RANK,
		     "%s is \"%s\", which is none of its values; using \"%s\"", str, text,
		     strings[defvalue]);
	return defvalue;
}

static const char *past_spaces(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* The power of two that a suffix of a size stands for, -1: it is none. */
static int suffix_shift(const char *text)
{
	static const char units[] = "bkmg";
	const char *unit = *text ? strchr(units, tolower((unsigned char)*text)) : NULL;

	if (!*text)
		return 10; /* The default unit is KiB. */
	if (!unit)
		return -1;
	text++;
	if (unit > units && tolower((unsigned char)*text) == 'b')
		text++;
	return *past_spaces(text) ? -1 : 10 * (int)(unit - units);
}

int starpu_get_env_size_default(const char *str, int defval)
{
	const char *text = knobs_raw(str);
	char *end;
	long value;
	int shift;

	if (!text || !*past_spaces(text))
		return defval;
	errno = 0;
	value = strtol(text, &end, 10);
	shift = suffix_shift(past_spaces(end));
	if (shift < 0)
		orr_die(api_rank(),
			"%s is \"%s\": expected a size such as 64, 64k, 16m or 1g", str,
			text);
	if (errno || value > INT_MAX >> shift || value < INT_MIN >> shift)
		orr_die(api_rank(),
			"%s is \"%s\": expected less than 2 GiB, which is more than the "
			"result of starpu_get_env_size_default() holds",
			str, text);
	return (int)(value * (1L << shift));
}
