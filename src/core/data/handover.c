/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/handover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/coherency.h"
#include "core/data/redux.h"
#include "core/task/blocked.h"
#include "core/task/callback.h"
#include "core/task/deps.h"
#include "core/task/exclusion.h"

struct handover {
	struct job job;   /* first: its turns */
	struct job fetch; /* what it brings: accesses without turns */
	struct partition *partition;
	struct handover_wish wish;
};

/* What each kind needs and does. */
static const struct kind {
	const char *name;
	unsigned short parent_mode, part_mode; /* of its turns */
	unsigned char brings_parent, brings_parts;
	/* Their bytes may be written from then on, by who uses the parts or the parent.
	 */
	unsigned char gives_parent, gives_parts;
} kinds[] = {
	[HANDOVER_OPEN_READ] = {"starpu_data_partition_readonly_submit()", STARPU_R,
				STARPU_W, .brings_parent = 1},
	[HANDOVER_OPEN_WRITE] = {"starpu_data_partition_submit()", STARPU_W, STARPU_W,
				 .brings_parent = 1, .gives_parent = 1},
	[HANDOVER_UPGRADE] = {"starpu_data_partition_readwrite_upgrade_submit()",
			      STARPU_W, STARPU_R, .gives_parent = 1},
	[HANDOVER_DOWNGRADE] = {"starpu_data_partition_readonly_downgrade_submit()",
				STARPU_W, STARPU_R, .brings_parts = 1},
	[HANDOVER_CLOSE_READ] = {"starpu_data_unpartition_submit()", STARPU_R, STARPU_W,
				 .gives_parts = 1},
	[HANDOVER_CLOSE_WRITE] = {"starpu_data_unpartition_submit()", STARPU_W, STARPU_W,
				  .brings_parts = 1, .gives_parts = 1},
	/* The parent may be without a value here: nobody shall make it neutral. */
	[HANDOVER_CLEAN] = {"starpu_data_partition_clean()", STARPU_W, STARPU_W,
			    .gives_parts = 0},
};

static const struct kind *kind_of(const struct handover *handover)
{
	return &kinds[handover->wish.kind];
}

static struct handover *of_fetch(struct job *job)
{
	return ORR_CONTAINER(job, struct handover, fetch);
}

/* ---- whose the value is ---------------------------------------------- */

static int has_value(starpu_data_handle_t handle)
{
	return data_body(handle)->has_value;
}

static void place_parts(struct partition *partition, unsigned memory)
{
	int value = has_value(partition->parent);

	partition->keeps = (unsigned char)(value && partition->is_partial);
	coherency_hold(partition->parent, memory);
	partition_follow(partition);
	for (unsigned i = 0; i < partition->nparts; i++)
		coherency_place(partition->parts[i], memory, value);
}

/* Parts that nobody has written since the parent had no value are as they were. */
static void place_parent(struct partition *partition, unsigned memory)
{
	int value = partition->nparts == 0 || partition->keeps;

	for (unsigned i = 0; i < partition->nparts && !value; i++)
		value = has_value(partition->parts[i]);
	coherency_place(partition->parent, memory, value);
}

static void displace_parts(struct partition *partition, unsigned memory)
{
	for (unsigned i = 0; i < partition->nparts; i++)
		coherency_displace(partition->parts[i]);
	coherency_let(partition->parent, memory);
}

static void free_idle(starpu_data_handle_t handle)
{
	data_free(handle->node, handle);
}

/* Their last users free them. */
static void end_parts(struct partition *partition)
{
	for (unsigned i = 0; i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		orr_lock(&part->lock);
		data_body(part)->idle = free_idle;
		orr_unlock(&part->lock);
		ahead_forget(part);
	}
	partition_drop(partition);
}

/* All turns are ours, and what we bring is there. */
static void change_hands(struct handover *handover)
{
	struct partition *partition = handover->partition;
	unsigned memory = data_base_memory(partition->parent);

	switch (handover->wish.kind) {
	case HANDOVER_OPEN_READ:
		place_parts(partition, memory);
		break;
	case HANDOVER_OPEN_WRITE:
		place_parts(partition, memory);
		coherency_displace(partition->parent);
		break;
	case HANDOVER_UPGRADE:
		coherency_displace(partition->parent);
		break;
	case HANDOVER_DOWNGRADE:
		place_parent(partition, memory);
		break;
	case HANDOVER_CLOSE_WRITE:
		place_parent(partition, memory);
		displace_parts(partition, memory);
		break;
	case HANDOVER_CLOSE_READ:
		displace_parts(partition, memory);
		break;
	case HANDOVER_CLEAN:
		end_parts(partition);
		break;
	}
}

/* ---- the job --------------------------------------------------------- */

static void finish(struct handover *handover, struct ready *ready)
{
	struct job *job = &handover->job;
	struct node *node = job->node;
	struct handover_wish wish = handover->wish;

	job_move(job, JOB_RUNNING);
	change_hands(handover);
	if (handover->fetch.naccesses) {
		coherency_unpin(&handover->fetch);
		job_reserve(&handover->fetch, 0);
	}
	job_move(job, JOB_DONE);
	partition_drop(handover->partition);
	deps_release(job, ready);
	job_reserve(job, 0);
	free(handover);
	if (wish.callback)
		callback_call(node, NULL, wish.callback, wish.arg);
	if (wish.gate)
		plat_gate_open(node->plat, wish.gate);
	/* Before its end is counted: who waits until none is ready waits for these. */
	ready_run(node, ready);
	node_ended(node);
}

static void handover_fetched(struct job *fetch, struct worker *worker)
{
	struct node *node = fetch->node;
	struct ready ready = {0};

	(void)worker;
	finish(of_fetch(fetch), &ready);
	ready_run(node, &ready);
}

static void describe(const struct handover *handover, char *text, size_t bytes)
{
	char what[96];

	snprintf(text, bytes, "%s of %s", kind_of(handover)->name,
		 data_describe(handover->partition->parent, what, sizeof(what)));
}

static void handover_describe(const struct job *job, char *text, size_t bytes)
{
	describe(ORR_CONTAINER(job, struct handover, job), text, bytes);
}

static void fetch_describe(const struct job *job, char *text, size_t bytes)
{
	describe(ORR_CONTAINER(job, struct handover, fetch), text, bytes);
}

/* It is started by the handover, when that has its turns. */
static void fetch_start(struct job *job, struct ready *ready)
{
	(void)ready;
	ORR_ASSERT(!job);
}

static const struct job_ops fetch_ops = {
	.start = fetch_start, .fetched = handover_fetched, .describe = fetch_describe};
static const struct job_ops giving_ops = {.start = fetch_start,
					  .fetched = handover_fetched,
					  .describe = fetch_describe,
					  .gives_bytes = 1};

/* Without a value there is still memory to come by, and what is on its way to it. */
static void want(struct job *fetch, int i, starpu_data_handle_t datum)
{
	fetch->accesses[i] =
		(struct access){.job = fetch,
				.datum = datum,
				.mode = has_value(datum) ? STARPU_R : STARPU_NONE};
}

/* May somebody copy values that are where the handover needs them? */
static int are_copied(const struct node *node)
{
	return node_nmemories(node) > 1 && !node->machine->takes_turns;
}

/* 1 when all is where it has to be, and nobody reads what it gives away. */
static int bring(struct handover *handover)
{
	const struct kind *kind = kind_of(handover);
	struct partition *partition = handover->partition;
	struct job *fetch = &handover->fetch;
	int waits = are_copied(fetch->node);
	int has_parts = kind->brings_parts || (kind->gives_parts && waits);
	unsigned n = has_parts ? partition->nparts
			       : kind->brings_parent || (kind->gives_parent && waits);

	if (n == 0)
		return 1;
	job_reserve(fetch, n);
	if (!has_parts)
		want(fetch, 0, partition->parent);
	for (unsigned i = 0; i < n && has_parts; i++)
		want(fetch, (int)i, partition->parts[i]);
	return coherency_fetch(fetch, data_base_memory(partition->parent));
}

static void handover_start(struct job *job, struct ready *ready)
{
	struct handover *handover = ORR_CONTAINER(job, struct handover, job);

	if (handover->wish.callback && callback_later(job->node, job))
		return;
	if (orr_load(&job->exclusive) && !exclusion_take(job, ready))
		return;
	job_unblocked(job);
	job_move(job, JOB_READY);
	if (bring(handover))
		finish(handover, ready);
}

static void never_fetched(struct job *job, struct worker *worker)
{
	(void)worker;
	ORR_ASSERT(!job);
}

static const struct job_ops handover_ops = {
	.start = handover_start, .fetched = never_fetched, .describe = handover_describe};

/* ---- submission ------------------------------------------------------ */

/*
 * Of what has reduction methods a part that nobody wrote is neutral when the parent gets
 * the parts' values, and so are elements of the parent that are in no part when the
 * parts get its value: who reads opens the turn with that (redux.h).
 */
static unsigned neutral_mode(const struct partition *partition, int is_wanted)
{
	const struct redux_methods *methods = redux_methods(partition->parent);

	return is_wanted && methods && methods->init ? STARPU_R : 0;
}

static void take_turn(struct job *job, int i, starpu_data_handle_t datum, unsigned mode)
{
	if (!(data_flags(datum) & DATUM_SEQUENTIAL))
		mode |= ACCESS_UNORDERED;
	job->accesses[i] =
		(struct access){.job = job, .datum = datum, .mode = (unsigned short)mode};
}

void handover_submit(struct partition *partition, const struct handover_wish *wish,
		     struct ready *ready)
{
	struct node *node = partition->parent->node;
	struct handover *handover = orr_alloc(sizeof(*handover));
	const struct kind *kind = &kinds[wish->kind];
	struct job *job = &handover->job;
	unsigned part_mode =
		kind->part_mode | neutral_mode(partition, kind->brings_parts);

	handover->partition = partition;
	handover->wish = *wish;
	orr_add(&partition->users, 1);
	job_init(&handover->fetch, node,
		 kind->gives_parent || kind->gives_parts ? &giving_ops : &fetch_ops, NULL,
		 0);
	job_init(job, node, &handover_ops, NULL, 0);
	job_reserve(job, partition->nparts + 1);
	take_turn(job, 0, partition->parent,
		  kind->parent_mode |
			  neutral_mode(partition,
				       kind->brings_parent && partition->is_partial));
	for (unsigned i = 0; i < partition->nparts; i++)
		take_turn(job, (int)i + 1, partition->parts[i], part_mode);
	deps_merge(job);
	job_move(job, JOB_BLOCKED);
	orr_add(&node->others_submitted, 1);
	deps_submit(job, wish->sequential, ready);
	if (orr_load(&job->missing) > 1) {
		job_blocked(job);
		node_blocked(node);
	}
	job_satisfy(job, ready);
}
