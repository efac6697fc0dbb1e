/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/api.h"
#include "base/check.h"
#include "core/hash.h"
#include "core/lasting.h"

/* ---- memory ---------------------------------------------------------- */

enum { MALLOC_ALIGN = 64 };

int starpu_malloc_flags(void **A, size_t dim, int flags)
{
	struct node *node = plat_self();

	(void)flags;
	if (!node)
		*A = aligned_alloc(MALLOC_ALIGN,
				   (dim + MALLOC_ALIGN) & ~(size_t)(MALLOC_ALIGN - 1));
	else
		*A = plat_alloc(node->plat, STARPU_MAIN_RAM, dim);
	return *A ? 0 : -ENOMEM;
}

int starpu_free_flags(void *A, size_t dim, int flags)
{
	struct node *node = plat_self();

	(void)flags;
	plat_free(node ? node->plat : NULL, STARPU_MAIN_RAM, A, dim);
	return 0;
}

int starpu_malloc(void **A, size_t dim)
{
	return starpu_malloc_flags(A, dim, STARPU_MALLOC_PINNED);
}

int starpu_free(void *A)
{
	return starpu_free_flags(A, 0, STARPU_MALLOC_PINNED);
}

int starpu_free_noflag(void *A, size_t dim)
{
	return starpu_free_flags(A, dim, STARPU_MALLOC_PINNED);
}

/* Without a GPU to copy from it, no memory needs pinning. */
int starpu_memory_pin(void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return 0;
}

int starpu_memory_unpin(void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return 0;
}

static void count_memory(struct memory *memory, size_t bytes)
{
	orr_lock(&memory->lock);
	memory->used_bytes += bytes;
	orr_unlock(&memory->lock);
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
	struct node *node = api_node(__func__);

	(void)flags;
	if (dst_node == STARPU_MAIN_RAM)
		count_memory(&node->memories[0], size);
	return (uintptr_t)plat_alloc(node->plat, dst_node, size);
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
	return starpu_malloc_on_node_flags(dst_node, size, STARPU_MALLOC_COUNT);
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags)
{
	struct node *node = api_node(__func__);

	(void)flags;
	if (dst_node == STARPU_MAIN_RAM)
		count_memory(&node->memories[0], (size_t)0 - size);
	plat_free(node->plat, dst_node, (void *)addr, size);
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
	starpu_free_on_node_flags(dst_node, addr, size, STARPU_MALLOC_COUNT);
}

/* NULL while there is no node: then nothing is known, and nothing used. */
static struct memory *memory_at(const char *func, unsigned memory)
{
	struct node *node = plat_self();

	if (!node)
		return NULL;
	if (memory >= (unsigned)node->nmemories)
		orr_die(node->rank, "%s: there is no memory node %u; expected 0 to %d",
			func, memory, node->nmemories - 1);
	return &node->memories[memory];
}

starpu_ssize_t starpu_memory_get_total(unsigned memory)
{
	const struct memory *of = memory_at(__func__, memory);

	return of && of->capacity_bytes ? (starpu_ssize_t)of->capacity_bytes : -1;
}

starpu_ssize_t starpu_memory_get_available(unsigned memory)
{
	struct memory *of = memory_at(__func__, memory);

	return of && of->capacity_bytes
		       ? (starpu_ssize_t)(of->capacity_bytes - of->used_bytes)
		       : -1;
}

size_t starpu_memory_get_used(unsigned memory)
{
	const struct memory *of = memory_at(__func__, memory);

	return of ? of->used_bytes : 0;
}

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

	plat_sleep(node ? node->plat : NULL, (double)nb_sec);
}

void starpu_usleep(float nb_micro_sec)
{
	struct node *node = plat_self();

	plat_sleep(node ? node->plat : NULL, 1e-6 * (double)nb_micro_sec);
}

int starpu_profiling_status_set(int status)
{
	struct lasting *lasting = lasting_get();
	int before = lasting->profiling;

	lasting->profiling = status;
	return before;
}

int starpu_profiling_status_get(void)
{
	return lasting_get()->profiling;
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

int starpu_get_env_size_default(const char *str, int defval)
{
	const char *text = knobs_raw(str);
	char *end;
	long value;
	int shift = 10; /* The default unit is KiB. */

	if (!text)
		return defval;
	value = strtol(text, &end, 10);
	while (isspace((unsigned char)*end))
		end++;
	if (*end) {
		const char *units = "bkmg";
		const char *unit = strchr(units, tolower((unsigned char)*end));

		if (!unit || end[1])
			orr_die(ORR_NO_RANK,
				"%s is \"%s\": expected a size such as 64, 64k, 16m or "
				"1g",
				str, text);
		shift = 10 * (int)(unit - units);
	}
	return (int)(value << shift);
}
