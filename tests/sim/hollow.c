/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Buffers whose content means nothing: with STARPU_MALLOC_SIMULATION_FOLDED a few pages
 * again and again, with STARPU_MALLOC_SIMULATION_UNIQUE one for all of a size.
 */
#include <errno.h>
#include <string.h>

#include "../api/claim.h"

int claim_failures;

#define MIB ((size_t)1 << 20)

static const int folded = (int)STARPU_MALLOC_SIMULATION_FOLDED;
static const int unique = (int)STARPU_MALLOC_SIMULATION_UNIQUE;

static void start(void)
{
	CLAIM_EQ(starpu_init(NULL), 0);
}

static void *get(size_t bytes, int flags)
{
	void *ptr = NULL;

	CLAIM_EQ(starpu_malloc_flags(&ptr, bytes, flags), 0);
	CLAIM(ptr != NULL);
	return ptr;
}

static void folded_buffers_are_a_few_pages(void)
{
	size_t many = 4096 * MIB;
	volatile char *large; /* Two places of it may be one. */
	char *small;

	start();
	large = get(many, folded);
	/* All of it is touched, and is less than a process may have. */
	for (size_t at = 0; at < many; at += 64 * MIB)
		memset((char *)large + at, (int)(at / MIB), 4096);
	CLAIM_EQ(large[0], large[many - MIB]);
	large[17] = 5;
	CLAIM_EQ(large[17 + 100 * MIB], 5);
	small = get(MIB / 2, folded);
	memset(small, 1, MIB / 2);
	starpu_free_flags(small, MIB / 2, folded);
	starpu_free_flags((void *)large, many, folded);
	/* Whoever gets the addresses gets memory. */
	large = get(many, 0);
	large[17] = 6;
	CLAIM_EQ(large[17 + 100 * MIB], 0);
	starpu_free_flags((void *)large, many, 0);
	starpu_shutdown();
}

static void unique_buffers_are_one_for_each_size(void)
{
	void *a, *b, *other;

	start();
	a = get(3 * MIB, unique);
	b = get(3 * MIB, unique);
	other = get(2 * MIB, unique);
	CLAIM(a == b);
	CLAIM(a != other);
	starpu_free_flags(a, 3 * MIB, unique);
	CLAIM(get(3 * MIB, unique) == b);
	starpu_free_flags(b, 3 * MIB, unique);
	starpu_free_flags(b, 3 * MIB, unique);
	starpu_free_flags(other, 2 * MIB, unique);
	CLAIM(get(3 * MIB, 0) != get(3 * MIB, 0));
	/* Data of the library, too. */
	starpu_malloc_on_node_set_default_flags(STARPU_MAIN_RAM, unique);
	a = (void *)starpu_malloc_on_node(STARPU_MAIN_RAM, MIB);
	CLAIM(a == (void *)starpu_malloc_on_node(STARPU_MAIN_RAM, MIB));
	starpu_free_on_node(STARPU_MAIN_RAM, (uintptr_t)a, MIB);
	starpu_free_on_node(STARPU_MAIN_RAM, (uintptr_t)a, MIB);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"folded buffers are a few pages", folded_buffers_are_a_few_pages},
	{"unique buffers are one for each size", unique_buffers_are_one_for_each_size},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
