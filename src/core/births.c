/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/births.h"

#include <stdlib.h>

#include "base/check.h"

struct birth {
	uint64_t number; /* 0: that of all ranks, which nothing has made, or none */
	uint64_t nchildren;
	int has_ended;
};

/* The lock is held. */
static struct birth *note(struct births *births, uint64_t comm, uint64_t number)
{
	struct birth *birth = table_get(&births->known, comm);

	if (!birth) {
		birth = orr_alloc(sizeof(*birth));
		table_put(&births->known, comm, birth);
	}
	birth->number = number;
	birth->nchildren = 0;
	birth->has_ended = 0;
	return birth;
}

void births_note(struct births *births, uint64_t first, uint64_t parent, uint64_t child)
{
	struct birth *birth;
	uint64_t number;

	orr_lock(&births->lock);
	birth = table_get(&births->known, parent);
	if (!birth && parent == first)
		birth = note(births, first, 0);
	if (birth && !birth->has_ended) {
		number = table_mix(table_mix(birth->number + 1) + ++birth->nchildren);
		if (child)
			note(births, child, number ? number : 1);
	} else {
		free(table_remove(&births->known, child));
	}
	orr_unlock(&births->lock);
}

void births_note_unknown(struct births *births, uint64_t comm)
{
	orr_lock(&births->lock);
	free(table_remove(&births->known, comm));
	orr_unlock(&births->lock);
}

void births_end(struct births *births, uint64_t comm)
{
	orr_lock(&births->lock);
	note(births, comm, 0)->has_ended = 1;
	orr_unlock(&births->lock);
}

int births_has_ended(struct births *births, uint64_t comm)
{
	const struct birth *birth;
	int has_ended;

	orr_lock(&births->lock);
	birth = table_get(&births->known, comm);
	has_ended = birth && birth->has_ended;
	orr_unlock(&births->lock);
	return has_ended;
}

uint64_t births_number(struct births *births, uint64_t comm)
{
	const struct birth *birth;
	uint64_t number;

	orr_lock(&births->lock);
	birth = table_get(&births->known, comm);
	number = birth ? birth->number : 0;
	orr_unlock(&births->lock);
	return number;
}

void births_free(struct births *births)
{
	struct birth *birth;
	size_t cursor = 0;

	while ((birth = table_next(&births->known, &cursor)))
		free(birth);
	table_free(&births->known);
}
