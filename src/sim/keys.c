/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "sim/posix_own.h"

/*
 * keys.c - what threads keep by pthread_setspecific(): to the C library, which has 1,024
 * keys for a process, all threads of all ranks are one.
 *
 * Keys that ranks make have numbers from FIRST on, each once in the process, so that what
 * a library that ranks share has made for one is good for all.  Their values are with the
 * threads, workers and nodes that starpu_pthread_setspecific() knows, and in threads that
 * the simulation does not know with a key of the C library's.
 */
enum { FIRST = 1 << 20 };

struct posix_value {
	struct posix_value *next;
	pthread_key_t key;
	void *value;
};

struct posix_key {
	void (*destructor)(void *value); /* or NULL */
};

/* 0: there is no such key. */
static int look_up(struct sim_posix *own, pthread_key_t key, struct posix_key *found)
{
	const struct posix_key *known;

	own->mutex_lock(&own->keys_mutex);
	known = table_get(&own->keys, key);
	if (known)
		*found = *known;
	own->mutex_unlock(&own->keys_mutex);
	return known != NULL;
}

static struct posix_value *take_first(struct posix_value **values)
{
	struct posix_value *first = *values;

	if (first)
		*values = first->next;
	return first;
}

void posix_values_drop(struct posix_value **values)
{
	struct posix_value *first;

	while ((first = take_first(values)))
		free(first);
}

/* A destructor may set values again: a bounded number of times, as POSIX says. */
void posix_values_end(struct posix_value **values)
{
	for (int round = 0; *values && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
		struct posix_value *all = *values, *first;

		*values = NULL;
		while ((first = take_first(&all))) {
			struct posix_value was = *first;
			struct posix_key key;

			free(first);
			if (was.value && look_up(posix_get(), was.key, &key) &&
			    key.destructor)
				key.destructor(was.value);
		}
	}
	posix_values_drop(values);
}

/* ---- whose they are --------------------------------------------------- */

static void end_stranger(void *values)
{
	posix_values_end(values);
	free(values);
}

static struct posix_value **values_of_stranger(struct sim_posix *own)
{
	struct posix_value **values = own->getspecific(own->strangers_key);

	if (!values) {
		values = orr_alloc(sizeof(*values));
		own->setspecific(own->strangers_key, values);
	}
	return values;
}

static struct posix_value **values_of_caller(struct sim_posix *own)
{
	struct specifics *specifics;

	if (sim_is_stranger())
		return values_of_stranger(own);
	specifics = specifics_self();
	return specifics ? &specifics->posix : &own->nobodys;
}

static struct posix_value *find(struct sim_posix *own, pthread_key_t key)
{
	struct posix_value *value = *values_of_caller(own);

	while (value && value->key != key)
		value = value->next;
	return value;
}

/* ---- the C library's functions ---------------------------------------- */

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *value))
{
	struct sim_posix *own = posix_get();
	struct posix_key *made;
	int status = 0;

	if (!sim_rank_self())
		return own->key_create(key, destructor);
	own->mutex_lock(&own->keys_mutex);
	if (own->nkeys == 0)
		status = own->key_create(&own->strangers_key, end_stranger);
	if (status == 0) {
		made = orr_alloc(sizeof(*made));
		made->destructor = destructor;
		*key = FIRST + own->nkeys++;
		table_put(&own->keys, *key, made);
	}
	own->mutex_unlock(&own->keys_mutex);
	return status;
}

/* The number is not used again, so values of it that threads still have do not matter. */
int pthread_key_delete(pthread_key_t key)
{
	struct sim_posix *own = posix_get();
	struct posix_key *deleted;

	if (key < FIRST)
		return own->key_delete(key);
	own->mutex_lock(&own->keys_mutex);
	deleted = table_remove(&own->keys, key);
	own->mutex_unlock(&own->keys_mutex);
	free(deleted);
	return deleted ? 0 : EINVAL;
}

int pthread_setspecific(pthread_key_t key, const void *pointer)
{
	struct sim_posix *own = posix_get();
	struct posix_value **values, *value;
	struct posix_key known;

	if (key < FIRST)
		return own->setspecific(key, pointer);
	if (!look_up(own, key, &known))
		return EINVAL;
	value = find(own, key);
	if (!value && !pointer)
		return 0;
	if (!value) {
		values = values_of_caller(own);
		value = orr_alloc(sizeof(*value));
		value->key = key;
		value->next = *values;
		*values = value;
	}
	value->value = (void *)(uintptr_t)pointer;
	return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
	struct sim_posix *own = posix_get();
	struct posix_value *value;

	if (key < FIRST)
		return own->getspecific(key);
	value = find(own, key);
	return value ? value->value : NULL;
}

/* ---- those of C11, which do not look here ------------------------------ */

int c11_tss_create(pthread_key_t *key,
		   void (*destructor)(void *value)) __asm__("tss_create");
void c11_tss_delete(pthread_key_t key) __asm__("tss_delete");
int c11_tss_set(pthread_key_t key, void *value) __asm__("tss_set");
void *c11_tss_get(pthread_key_t key) __asm__("tss_get");

int c11_tss_create(pthread_key_t *key, void (*destructor)(void *value))
{
	return c11_status(pthread_key_create(key, destructor));
}

void c11_tss_delete(pthread_key_t key)
{
	pthread_key_delete(key);
}

int c11_tss_set(pthread_key_t key, void *value)
{
	return c11_status(pthread_setspecific(key, value));
}

void *c11_tss_get(pthread_key_t key)
{
	return pthread_getspecific(key);
}
