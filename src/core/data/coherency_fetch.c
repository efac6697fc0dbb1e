/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Room for all data of a job, then their values. */
#include "core/data/coherency.h"

#include "base/check.h"
#include "core/data/buffers.h"
#include "core/data/copies.h"
#include "core/data/mapped.h"
#include "core/data/redux.h"
#include "core/data/room.h"
#include "core/data/specific.h"
#include "core/data/spill.h"
#include "core/data/spread.h"

/* Whose value it uses. */
static starpu_data_handle_t value_of(const struct access *access)
{
	return access->mode & STARPU_REDUX ? redux_target(access) : access->datum;
}

/* Merged accesses are fetched by the first of them. */
static int is_fetched(const struct access *access)
{
	return !access->skipped || (access->mode & STARPU_SCRATCH);
}

/* Somebody may have begun to stand in line, or given back, in the first main memory. */
static void serve_passages(struct node *node)
{
	room_serve(node, STARPU_MAIN_RAM);
}

/* The copy that the access will use; the datum is locked. */
static struct copy_state *copy_for(struct access *access, starpu_data_handle_t datum,
				   unsigned memory)
{
	struct copy_state *copy = access->mode & STARPU_SCRATCH
					  ? buffers_scratch(datum, memory)
					  : data_copy(datum, memory);

	if (!(access->mode & STARPU_SCRATCH))
		mapped_try(copy);
	copy_measure(copy);
	return copy;
}

/* Name the access's copy, before there is room for it. */
static void prepare_one(struct access *access, unsigned memory)
{
	starpu_data_handle_t datum;

	access->memory = (unsigned char)memory;
	if (!is_fetched(access))
		return;
	datum = value_of(access);
	orr_lock(&datum->lock);
	access->copy = copy_for(access, datum, memory);
	orr_unlock(&datum->lock);
}

static int is_booked(const struct node *node, unsigned memory)
{
	return node->memories[memory].is_booked;
}

/*
 * Of a large simulation most data have not been touched for long.  To wait for the first
 * line of one, then for the next that it names, and for those of another one after that
 * is a third of its time: so the lines of all data of a job come together, step by step.
 */
static void expect_all(const struct job *job, unsigned memory)
{
	const struct access *access = job->accesses;
	struct copy_state *copies[JOB_INLINE_ACCESSES];
	int n = job->naccesses < JOB_INLINE_ACCESSES ? job->naccesses
						     : JOB_INLINE_ACCESSES;

	for (int i = 0; i < n; i++)
		if (access[i].datum->body)
			orr_bring(&access[i].datum->body->valid);
	for (int i = 0; i < n; i++)
		if (access[i].datum->body)
			orr_bring(access[i].datum->body->index);
	for (int i = 0; i < n; i++) {
		copies[i] = data_find_copy(access[i].datum, memory);
		orr_bring(copies[i]);
	}
	for (int i = 0; i < n; i++) {
		if (!copies[i])
			continue;
		orr_bring(copies[i]->older);
		orr_bring(copies[i]->newer);
	}
}

void coherency_expect(const struct job *job, unsigned memory)
{
	int goes_home = is_booked(job->node, memory);

	for (int i = 0; i < job->naccesses; i++) {
		const struct data_body *body = job->accesses[i].datum->body;

		if (body && goes_home)
			orr_bring(&body->main);
		else if (body)
			orr_bring(body->index);
	}
}

static void prepare(struct job *job, unsigned memory)
{
	if (job->node->machine->takes_turns)
		expect_all(job, memory);
	for (int i = 0; i < job->naccesses; i++)
		prepare_one(&job->accesses[i], memory);
}

/* The datum is locked.  1: the value is there. */
static inline int use_home(struct access *access, starpu_data_handle_t datum)
{
	access->copy = data_home_copy(datum);
	access->copy->refs++;
	return coherency_bring(access);
}

/* Use the copy in a main memory without a limit, where nothing is mapped, and bring the
 * value.  1 when it is there. */
static inline int fetch_home(struct access *access)
{
	starpu_data_handle_t datum = value_of(access);
	int there = 1;

	access->memory = STARPU_MAIN_RAM;
	orr_lock(&datum->lock);
	if (access->mode & STARPU_SCRATCH) {
		access->copy = buffers_scratch(datum, STARPU_MAIN_RAM);
		access->copy->refs++;
		buffers_allocate(access->copy);
	} else {
		there = use_home(access, datum);
	}
	orr_unlock(&datum->lock);
	return there;
}

int coherency_fetch_home(struct job *job)
{
	struct access *access = &job->accesses[0];

	ORR_ASSERT(job->naccesses == 1 && access->mode & STARPU_RW &&
		   is_booked(job->node, STARPU_MAIN_RAM));
	access->memory = STARPU_MAIN_RAM;
	orr_store(&job->nfetching, 2);
	if (!use_home(access, access->datum))
		return 0;
	orr_store(&job->nfetching, 0);
	return 1;
}

void coherency_serve(struct node *node)
{
	serve_passages(node);
}

/* The same where there is room for the copy now. */
static int fetch_there(struct access *access)
{
	starpu_data_handle_t datum = access->copy->datum;
	int there = 1;

	orr_lock(&datum->lock);
	if (copy_is_own(access->copy))
		access->copy->refs++;
	if (access->mode & STARPU_SCRATCH)
		buffers_allocate(access->copy);
	else
		there = coherency_bring(access);
	orr_unlock(&datum->lock);
	return there;
}

/* The same in a main memory without a limit. */
static void expect_home(const struct job *job)
{
	const struct access *access = job->accesses;
	int n = job->naccesses;

	for (int i = 0; i < n; i++)
		orr_bring(access[i].datum);
	for (int i = 0; i < n; i++) {
		const struct data_body *body = access[i].datum->body;

		if (!body)
			continue;
		orr_bring(&body->valid);
		orr_bring(&body->main);
	}
}

/* 1 when all values are there. */
static int fetch_all(struct job *job, unsigned memory)
{
	int nthere = 1, n = job->naccesses, is_all;
	struct node *node = job->node;
	int goes_home = is_booked(node, memory);

	if (goes_home && n > JOB_INLINE_ACCESSES && node->machine->takes_turns)
		expect_home(job);
	/* At the end the job may be gone. */
	orr_store(&job->nfetching, 1 + n);
	for (int i = 0; i < n; i++) {
		struct access *access = &job->accesses[i];

		if (!is_fetched(access) ||
		    (goes_home ? fetch_home(access) : fetch_there(access)))
			nthere++;
	}
	if (nthere == 1 + n) {
		/* No transfer knows of it. */
		orr_store(&job->nfetching, 0);
		is_all = 1;
	} else {
		is_all = orr_add(&job->nfetching, -nthere) == 0;
	}
	serve_passages(node);
	return is_all;
}

/* ---- memories that others take of, too --------------------------------- */

static int lies_in(const struct access *access, unsigned memory)
{
	return is_fetched(access) && access->memory == memory;
}

/* All copies of the job's in the memory have buffers: NULL, or the first that has not. */
static struct copy_state *find_refused(struct job *job, unsigned memory)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct copy_state *copy = job->accesses[i].copy;
		int has;

		if (!copy || !lies_in(&job->accesses[i], memory))
			continue;
		orr_lock(&copy->datum->lock);
		has = buffers_try(copy);
		orr_unlock(&copy->datum->lock);
		if (!has)
			return copy;
	}
	return NULL;
}

/* Nobody would know of what it leaves behind. */
static void free_scratch(struct job *job, unsigned memory)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		if (!access->copy || !lies_in(access, memory) ||
		    !(access->mode & STARPU_SCRATCH))
			continue;
		orr_lock(&access->copy->datum->lock);
		buffers_free(access->copy);
		orr_unlock(&access->copy->datum->lock);
	}
}

/*
 * There is room for the job within the limit; are there bytes?  1; 0: there are none, and
 * coherency_admitted() will be called when others have left.
 */
static int secure(struct job *job, unsigned memory)
{
	struct node *node = job->node;
	const struct copy_state *refused;

	if (!node->memories[memory].driver->may_refuse)
		return 1;
	refused = find_refused(job, memory);
	if (!refused)
		return 1;
	free_scratch(job, memory);
	room_retreat(job, memory, refused);
	room_serve(node, memory);
	return 0;
}

/* ---- of tasks whose data lie in several memories ----------------------- */

/* One count of job->nfetching stays until all memories are done, so that nobody takes
 * the job for ready in between. */

static int has_any_in(const struct job *job, unsigned memory)
{
	for (int i = 0; i < job->naccesses; i++)
		if (lies_in(&job->accesses[i], memory))
			return 1;
	return 0;
}

/* There is room for all its data in one memory.  1 when their values are there. */
static int fetch_in(struct job *job, unsigned memory)
{
	int nthere = 1, n = job->naccesses, is_all;
	struct node *node = job->node;
	int goes_home = is_booked(node, memory);

	orr_store(&job->nfetching, 2 + n);
	for (int i = 0; i < n; i++) {
		struct access *access = &job->accesses[i];

		if (!lies_in(access, memory) ||
		    (goes_home ? fetch_home(access) : fetch_there(access)))
			nthere++;
	}
	is_all = orr_add(&job->nfetching, -nthere) == 1;
	serve_passages(node);
	return is_all;
}

/*
 * Room and values in the memories below one, from the highest to main memory, one after
 * the other.  All jobs ask in this order, and values on their way stop in main memory
 * only, where who waits for them has nothing yet: so none waits for another in a circle.
 * 1: all is there; 0: coherency_admitted() or coherency_fetched_in() goes on.
 */
static int fetch_below(struct job *job, unsigned memory)
{
	while (memory-- > 0) {
		if (!has_any_in(job, memory))
			continue;
		job->booking = (unsigned char)(memory + 1);
		if (!is_booked(job->node, memory) &&
		    (!room_reserve(job, memory) || !secure(job, memory)))
			return 0;
		if (!fetch_in(job, memory))
			return 0;
	}
	job->booking = 0;
	orr_add(&job->nfetching, -1);
	return 1;
}

void coherency_fetched_in(struct job *job)
{
	const struct job_ops *ops = job->ops;
	struct worker *worker = job->worker;

	if (fetch_below(job, job->booking - 1u))
		ops->fetched(job, worker);
}

static int fetch_specific(struct job *job, unsigned memory)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		unsigned at;

		/* Merged: where the first one is. */
		at = is_fetched(access) ? specific_memory(job, i, memory)
					: access->next->memory;
		access->memory = (unsigned char)at;
		if (at != SPECIFIC_NOWHERE && !is_booked(job->node, at))
			prepare_one(access, at);
	}
	return fetch_below(job, (unsigned)node_nmemories(job->node));
}

int coherency_fetch(struct job *job, unsigned memory)
{
	orr_store(&job->nfetching, 1);
	if (specific_is(job))
		return fetch_specific(job, memory);
	if (!is_booked(job->node, memory) && job->naccesses > 0) {
		prepare(job, memory);
		if (!room_reserve(job, memory) || !secure(job, memory))
			return 0;
	}
	return fetch_all(job, memory);
}

void coherency_admitted(struct job *job)
{
	const struct job_ops *ops = job->ops;
	struct worker *worker = job->worker;

	if (spill_is_passage(job)) {
		spill_admitted(job);
		return;
	}
	if (job->booking) {
		if (secure(job, job->booking - 1u) && fetch_in(job, job->booking - 1u))
			coherency_fetched_in(job);
		return;
	}
	if (secure(job, job->accesses[0].memory) &&
	    fetch_all(job, job->accesses[0].memory))
		ops->fetched(job, worker);
}

void coherency_refused(struct job *job)
{
	for (int i = 0; i < job->naccesses; i++)
		job->accesses[i].copy = NULL;
	orr_store(&job->nfetching, 0);
	job->ops->fetched(job, job->worker);
}

void coherency_unpin(struct job *job)
{
	struct node *node = job->node;
	unsigned memory = STARPU_MAIN_RAM;

	for (int i = 0, n = job->naccesses; i < n; i++) {
		struct access *access = &job->accesses[i];
		struct copy_state *copy = access->copy;
		starpu_data_handle_t datum;

		if (!copy)
			continue;
		access->copy = NULL;
		if (copy->memory != memory) {
			if (memory != STARPU_MAIN_RAM)
				room_serve(node, memory);
			memory = copy->memory;
		}
		if (access->mode & STARPU_SCRATCH) {
			buffers_end_scratch(copy);
			continue;
		}
		datum = copy->datum;
		orr_lock(&datum->lock);
		copy_unuse(copy, access);
		if ((data_flags(datum) & DATUM_WRITES_THROUGH) &&
		    (access->mode & STARPU_W))
			spread_value(datum);
		orr_unlock(&datum->lock);
	}
	if (memory != STARPU_MAIN_RAM)
		room_serve(node, memory);
	serve_passages(node);
}

int coherency_unpin_home(struct job *job)
{
	struct access *access = &job->accesses[0];
	struct copy_state *copy = access->copy;

	if (!copy || copy->datum != access->datum || (access->mode & STARPU_SCRATCH) ||
	    (data_flags(access->datum) & DATUM_WRITES_THROUGH) || !copy_is_own(copy) ||
	    !is_booked(job->node, STARPU_MAIN_RAM))
		return 0;
	copy_unuse(copy, access);
	access->copy = NULL;
	return 1;
}
