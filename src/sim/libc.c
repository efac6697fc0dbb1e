/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>

/*
 * libc.c - what the C library keeps once in a process, for each rank: the sequences of
 * random numbers, and where strtok() is.  All ranks share the process, and take turns
 * between two such calls; a program that draws the same numbers on all ranks to insert
 * the same tasks would insert others.
 *
 * Ours come first when the program's symbols are looked up, as in clock.c.  Where no
 * rank asks, in threads that the simulation does not know, they are the C library's.
 */
struct sim_libc {
	struct random_data random;
	struct drand48_data drand48;
	char *token;
	char table[128]; /* what the C library's own sequence has */
};

/* The C library's own version. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static struct sim_libc *mine(void)
{
	struct sim_rank *rank = sim_rank_self();

	if (!rank)
		return NULL;
	if (!rank->libc) {
		rank->libc = orr_alloc(sizeof(*rank->libc));
		initstate_r(1, rank->libc->table, sizeof(rank->libc->table),
			    &rank->libc->random);
	}
	return rank->libc;
}

/* ---- rand() and random() have one sequence ---------------------------- */

void srandom(unsigned seed)
{
	struct sim_libc *own = mine();

	if (own)
		srandom_r(seed, &own->random);
	else
		NEXT(srandom)(seed);
}

void srand(unsigned seed)
{
	srandom(seed);
}

long random(void)
{
	struct sim_libc *own = mine();
	int32_t drawn;

	if (!own)
		return NEXT(random)();
	random_r(&own->random, &drawn);
	return drawn;
}

int rand(void)
{
	return (int)random();
}

/* A state begins with a word that describes it, before the table. */
static char *state_of(const struct random_data *data)
{
	return (char *)(data->state - 1);
}

char *initstate(unsigned seed, char *table, size_t bytes)
{
	struct sim_libc *own = mine();
	char *old;

	if (!own)
		return NEXT(initstate)(seed, table, bytes);
	old = state_of(&own->random);
	return initstate_r(seed, table, bytes, &own->random) == 0 ? old : NULL;
}

char *setstate(char *table)
{
	struct sim_libc *own = mine();
	char *old;

	if (!own)
		return NEXT(setstate)(table);
	old = state_of(&own->random);
	return setstate_r(table, &own->random) == 0 ? old : NULL;
}

/* ---- drand48() and its like -------------------------------------------- */

void srand48(long seed)
{
	struct sim_libc *own = mine();

	if (own)
		srand48_r(seed, &own->drand48);
	else
		NEXT(srand48)(seed);
}

unsigned short *seed48(unsigned short seed[3])
{
	struct sim_libc *own = mine();

	if (!own)
		return NEXT(seed48)(seed);
	seed48_r(seed, &own->drand48);
	return own->drand48.__old_x;
}

void lcong48(unsigned short param[7])
{
	struct sim_libc *own = mine();

	if (own)
		lcong48_r(param, &own->drand48);
	else
		NEXT(lcong48)(param);
}

#define DRAW(type, name)                                                                 \
	type name(void)                                                                  \
	{                                                                                \
		struct sim_libc *own = mine();                                           \
		type drawn;                                                              \
                                                                                         \
		if (!own)                                                                \
			return NEXT(name)();                                             \
		name##_r(&own->drand48, &drawn);                                         \
		return drawn;                                                            \
	}
#define DRAW_FROM(type, name)                                                            \
	type name(unsigned short from[3])                                                \
	{                                                                                \
		struct sim_libc *own = mine();                                           \
		type drawn;                                                              \
                                                                                         \
		if (!own)                                                                \
			return NEXT(name)(from);                                         \
		name##_r(from, &own->drand48, &drawn);                                   \
		return drawn;                                                            \
	}

/* clang-format off */
DRAW(double, drand48) DRAW(long, lrand48) DRAW(long, mrand48)
DRAW_FROM(double, erand48) DRAW_FROM(long, nrand48) DRAW_FROM(long, jrand48)
	/* clang-format on */

	/* ---- the words of a string ---------------------------------------------- */

	char *strtok(char *restrict text, const char *restrict delimiters)
{
	struct sim_libc *own = mine();

	return own ? strtok_r(text, delimiters, &own->token)
		   : NEXT(strtok)(text, delimiters);
}
