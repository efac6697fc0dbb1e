/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Threads that wait for bytes of a memory (STARPU_LIMIT_CPU_MEM=64), large and small. */
#include <pthread.h>

#include "claim.h"

int claim_failures;

#define MIB ((size_t)1 << 20)

enum { NTHREADS = 3, ROUNDS = 3000, SMALL = 20, LARGE = 48 };

static int large_came; /* atomic */

static void take(int mibs)
{
	CLAIM_EQ(starpu_memory_allocate(STARPU_MAIN_RAM, (size_t)mibs * MIB,
					(int)STARPU_MEMORY_WAIT),
		 0);
}

static void give(int mibs)
{
	starpu_memory_deallocate(STARPU_MAIN_RAM, (size_t)mibs * MIB);
}

static void *take_a_large_piece(void *arg)
{
	(void)arg;
	take(LARGE);
	__atomic_store_n(&large_came, 1, __ATOMIC_SEQ_CST);
	give(LARGE);
	return NULL;
}

static void *take_small_pieces(void *arg)
{
	int rounds = 0;

	starpu_usleep(200.0f * (float)*(int *)arg);
	while (!__atomic_load_n(&large_came, __ATOMIC_SEQ_CST) && rounds++ < ROUNDS) {
		take(SMALL);
		starpu_usleep(600);
		give(SMALL);
	}
	CLAIM(rounds < ROUNDS);
	return NULL;
}

static void start(void)
{
	large_came = 0;
	if (starpu_init(NULL) != 0)
		exit(77);
}

static void stop(void)
{
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	starpu_shutdown();
}

/* Of three who take small pieces in turns there is always one who has one. */
static void large_ones_do_not_starve(void)
{
	pthread_t threads[NTHREADS], large;
	int turns[NTHREADS];

	start();
	for (int i = 0; i < NTHREADS; i++) {
		turns[i] = i;
		pthread_create(&threads[i], NULL, take_small_pieces, &turns[i]);
	}
	starpu_usleep(2000);
	pthread_create(&large, NULL, take_a_large_piece, NULL);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(large, NULL);
	stop();
}

/* What is ours now is given back by who waits for more, be it in line or new. */
static void *ask_for_more(void *arg)
{
	(void)arg;
	take(SMALL);
	give(SMALL);
	give(SMALL);
	return NULL;
}

static void who_has_a_piece_gets_more_past_who_waits(int rest)
{
	pthread_t large, more;

	start();
	take(SMALL);
	take(rest);
	pthread_create(&large, NULL, take_a_large_piece, NULL);
	starpu_usleep(5000); /* a window that is shut */
	pthread_create(&more, NULL, ask_for_more, NULL);
	starpu_usleep(20000);
	give(rest);
	pthread_join(more, NULL);
	pthread_join(large, NULL);
	CLAIM(large_came);
	stop();
}

int main(void)
{
	large_ones_do_not_starve();
	who_has_a_piece_gets_more_past_who_waits(2 * SMALL);
	who_has_a_piece_gets_more_past_who_waits(1);
	return claim_failures != 0;
}
