/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/spill.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/room.h"

/* ---- where to -------------------------------------------------------- */

static int is_disk(const struct node *node, unsigned memory)
{
	return node->memories[memory].kind == STARPU_DISK_RAM;
}

/* May values of the datum go there? */
static int takes(starpu_data_handle_t datum, unsigned memory)
{
	struct node *node = datum->node;

	return is_disk(node, memory) && !(data_flags(datum) & DATUM_NO_DISK) &&
	       !orr_load(&node->memories[memory].refuses);
}

/* Another main memory in which there is room. */
static struct copy_state *in_other_main(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;

	for (unsigned i = 0; memory_is_main(datum->node, i); i++) {
		struct copy_state *to;

		if (i == copy->memory)
			continue;
		to = data_copy(datum, i);
		if (copy_reserve(to))
			return to;
	}
	return NULL;
}

/* Does the copy go there without a new object? */
static int has_object(starpu_data_handle_t datum, unsigned memory)
{
	struct copy_state *copy = data_find_copy(datum, memory);

	return copy && copy->allocated;
}

/* The disk that has an object of the datum already, else the one with room that has the
 * least to do. */
static struct copy_state *on_disk(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	struct node *node = datum->node;
	int best = -1, least = 0;
	struct copy_state *to;

	for (int i = 1; i < node_nmemories(node); i++) {
		int load = orr_load(&node->memories[i].ncopies);

		if (!takes(datum, (unsigned)i))
			continue;
		if (has_object(datum, (unsigned)i))
			load = -1;
		else if (!room_has(node, (unsigned)i, copy->bytes))
			continue;
		if (best >= 0 && load >= least)
			continue;
		best = i;
		least = load;
	}
	if (best < 0)
		return NULL;
	to = data_copy(datum, (unsigned)best);
	return copy_reserve(to) ? to : NULL;
}

enum spill_way spill_choose(struct copy_state *copy, struct copy_state **to)
{
	starpu_data_handle_t datum = copy->datum;
	unsigned haven = data_haven(datum);

	if (copy->memory != haven) {
		*to = data_copy(datum, haven);
		if ((*to)->incoming)
			return SPILL_WAITS;
		if (copy_reserve(*to))
			return SPILL_GOES;
	}
	*to = in_other_main(copy);
	if (!*to && memory_is_main(datum->node, copy->memory))
		*to = on_disk(copy);
	if (*to)
		return SPILL_GOES;
	if (copy->memory == haven)
		return SPILL_STAYS;
	*to = data_copy(datum, haven);
	return SPILL_LINES;
}

void spill_make_way(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	struct node *node = datum->node;

	if (!memory_is_main(node, copy->memory))
		return;
	for (int i = 1; i < node_nmemories(node); i++) {
		if (!takes(datum, (unsigned)i))
			continue;
		if (has_object(datum, (unsigned)i) ||
		    room_clear(node, (unsigned)i, copy->bytes))
			return;
	}
}

void spill_disk_refused(struct node *node, unsigned memory)
{
	orr_store(&node->memories[memory].refuses, 1);
}

/* ---- passages -------------------------------------------------------- */

struct passage {
	struct job job; /* first */
	struct access access;
	struct copy_state *leaving;
};

static void describe(const struct job *job, char *text, size_t bytes)
{
	const struct passage *passage = ORR_CONTAINER(job, struct passage, job);
	char what[JOB_NAME_BYTES / 2];

	data_describe(job->accesses[0].datum, what, sizeof(what));
	if (passage->leaving)
		snprintf(text, bytes, "the value of %s, which leaves memory node %u,",
			 what, passage->leaving->memory);
	else
		snprintf(text, bytes, "the value of %s on its way", what);
}

static const struct job_ops passage_ops = {.describe = describe};

int spill_is_passage(const struct job *job)
{
	return job->ops == &passage_ops;
}

void spill_stand_in_line(struct copy_state *copy, struct copy_state *leaving)
{
	struct passage *passage = orr_alloc(sizeof(*passage));
	struct job *job = &passage->job;

	job_init(job, copy->datum->node, &passage_ops, &passage->access, 1);
	job->naccesses = 1;
	job->accesses[0] = (struct access){
		.job = job, .datum = copy->datum, .copy = copy, .memory = copy->memory};
	passage->leaving = leaving;
	if (!leaving)
		copy->awaits_room = 1;
	room_stand_in_line(job, copy->memory);
}

void spill_admitted(struct job *job)
{
	struct passage *passage = ORR_CONTAINER(job, struct passage, job);
	struct copy_state *copy = job->accesses[0].copy, *leaving = passage->leaving;

	free(passage);
	coherency_pass(copy, leaving);
}
