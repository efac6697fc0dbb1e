/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/room.h"

#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/coherency.h"
#include "core/task/task.h"

/*
 * used_bytes is the sum of what is in use (pinned_bytes), of what is leaving
 * (leaving_bytes) and of the idle copies in the list, least recently used first.
 */

/* Jobs in line for which room is made at a time: as many as a GPU has in its pipeline. */
enum { ROOM_AHEAD = WORKER_MAX_PIPELINE };

static struct memory *memory_of(const struct copy_state *copy)
{
	return &copy->datum->node->memories[copy->memory];
}

/* ---- the list of idle copies; the memory is locked ------------------- */

static void link_newest(struct memory *memory, struct copy_state *copy)
{
	copy->newer = NULL;
	copy->older = memory->newest;
	if (memory->newest)
		memory->newest->newer = copy;
	else
		memory->oldest = copy;
	memory->newest = copy;
}

static void link_oldest(struct memory *memory, struct copy_state *copy)
{
	copy->older = NULL;
	copy->newer = memory->oldest;
	if (memory->oldest)
		memory->oldest->older = copy;
	else
		memory->newest = copy;
	memory->oldest = copy;
}

static void unlink_copy(struct memory *memory, struct copy_state *copy)
{
	if (copy->older)
		copy->older->newer = copy->newer;
	else
		memory->oldest = copy->newer;
	if (copy->newer)
		copy->newer->older = copy->older;
	else
		memory->newest = copy->older;
}

/* ---- one copy -------------------------------------------------------- */

void room_measure(struct copy_state *copy, size_t bytes)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	if (copy->room == ROOM_NONE)
		copy->bytes = bytes;
	orr_unlock(&memory->lock);
}

/* One more user; the memory is locked, and there is room for the copy. */
static void use(struct memory *memory, struct copy_state *copy)
{
	switch (copy->room) {
	case ROOM_NONE:
		memory->used_bytes += copy->bytes;
		memory->pinned_bytes += copy->bytes;
		break;
	case ROOM_IDLE:
		unlink_copy(memory, copy);
		memory->pinned_bytes += copy->bytes;
		break;
	case ROOM_LEAVING:
		memory->leaving_bytes -= copy->bytes;
		memory->pinned_bytes += copy->bytes;
		break;
	default:
		ORR_ASSERT(copy->room == ROOM_USED);
	}
	copy->room = ROOM_USED;
	copy->refs++;
}

void room_use(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	if (copy->room == ROOM_USERS)
		return;
	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room != ROOM_NONE);
	use(memory, copy);
	orr_unlock(&memory->lock);
}

int room_try(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int fits;

	if (copy->room == ROOM_USERS)
		return 1;
	orr_lock(&memory->lock);
	fits = !memory->capacity_bytes ||
	       (!memory->waiting &&
		memory->used_bytes + copy->bytes <= memory->capacity_bytes);
	if (copy->room == ROOM_GOING)
		fits = 0;
	else if (copy->room != ROOM_NONE)
		fits = 1;
	if (fits)
		use(memory, copy);
	orr_unlock(&memory->lock);
	return fits;
}

/* The application, not a task, is the user. */
static int is_held(const struct access *access)
{
	return access && access->job->ops->is_held;
}

void room_unuse(struct copy_state *copy, const struct access *access, int stale)
{
	struct memory *memory = memory_of(copy);

	if (copy->room == ROOM_USERS)
		return;
	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room == ROOM_USED && copy->refs > 0);
	if (is_held(access) && --copy->holds == 0)
		memory->held_bytes -= copy->bytes;
	if (--copy->refs == 0) {
		copy->room = ROOM_IDLE;
		memory->pinned_bytes -= copy->bytes;
		if (stale)
			link_oldest(memory, copy);
		else
			link_newest(memory, copy);
	}
	orr_unlock(&memory->lock);
}

void room_demote(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	if (copy->room == ROOM_IDLE) {
		unlink_copy(memory, copy);
		link_oldest(memory, copy);
	}
	orr_unlock(&memory->lock);
}

static enum copy_room room_of(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	enum copy_room room;

	orr_lock(&memory->lock);
	room = copy->room;
	orr_unlock(&memory->lock);
	return room;
}

int room_is_leaving(struct copy_state *copy)
{
	return room_of(copy) == ROOM_LEAVING;
}

int room_is_taken(struct copy_state *copy)
{
	enum copy_room room = room_of(copy);

	return room != ROOM_NONE && room != ROOM_USERS;
}

int room_is_idle(struct copy_state *copy)
{
	return room_of(copy) == ROOM_IDLE;
}

/* It is idle, and leaves. */
static void let_leave(struct memory *memory, struct copy_state *copy)
{
	unlink_copy(memory, copy);
	copy->room = ROOM_LEAVING;
	copy->refs++;
	memory->leaving_bytes += copy->bytes;
}

int room_expel(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int expelled;

	orr_lock(&memory->lock);
	expelled = copy->room == ROOM_IDLE;
	if (expelled) {
		let_leave(memory, copy);
	}
	orr_unlock(&memory->lock);
	return expelled;
}

int room_let_go(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int goes;

	orr_lock(&memory->lock);
	goes = copy->room == ROOM_LEAVING;
	if (goes)
		copy->room = ROOM_GOING;
	orr_unlock(&memory->lock);
	return goes;
}

int room_take(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int taken;

	orr_lock(&memory->lock);
	taken = copy->room == ROOM_IDLE;
	if (taken) {
		unlink_copy(memory, copy);
		memory->leaving_bytes += copy->bytes;
		copy->refs++;
		copy->room = ROOM_GOING;
	}
	orr_unlock(&memory->lock);
	return taken;
}

void room_close(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room == ROOM_USED && copy->refs == 1);
	memory->pinned_bytes -= copy->bytes;
	memory->leaving_bytes += copy->bytes;
	copy->room = ROOM_GOING;
	if (copy->holds)
		memory->held_bytes -= copy->bytes;
	orr_unlock(&memory->lock);
}

void room_gone(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room == ROOM_GOING && copy->refs == 1);
	copy->room = ROOM_NONE;
	copy->refs = 0;
	memory->used_bytes -= copy->bytes;
	memory->leaving_bytes -= copy->bytes;
	orr_unlock(&memory->lock);
}

/* ---- the needs of a job; the memory is locked ------------------------ */

struct need {
	size_t total_bytes;  /* of all its copies */
	size_t absent_bytes; /* of those that have no room yet */
	size_t used_bytes;   /* of those that somebody uses */
	size_t held_bytes;   /* of those that the application uses */
	int waits;           /* for a copy that is just being freed */
};

static struct need need_of(const struct job *job)
{
	struct need need = {0};

	for (int i = 0; i < job->naccesses; i++) {
		const struct copy_state *copy = job->accesses[i].copy;

		if (!copy || copy->room == ROOM_USERS)
			continue;
		need.total_bytes += copy->bytes;
		need.waits |= copy->room == ROOM_GOING;
		if (copy->room == ROOM_NONE || copy->room == ROOM_GOING)
			need.absent_bytes += copy->bytes;
		if (copy->room == ROOM_USED)
			need.used_bytes += copy->bytes;
		if (copy->holds > 0)
			need.held_bytes += copy->bytes;
	}
	return need;
}

static int wants(const struct job *job, const struct copy_state *copy)
{
	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].copy == copy)
			return 1;
	return 0;
}

/* All that the job needs is its own from here on. */
static void grant(struct memory *memory, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		struct copy_state *copy = access->copy;

		if (!copy || copy->room == ROOM_USERS)
			continue;
		use(memory, copy);
		if (is_held(access) && copy->holds++ == 0)
			memory->held_bytes += copy->bytes;
	}
}

/* What the job wants does not leave. */
static void keep(struct memory *memory, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct copy_state *copy = job->accesses[i].copy;

		if (!copy || copy->room != ROOM_LEAVING)
			continue;
		memory->leaving_bytes -= copy->bytes;
		memory->pinned_bytes += copy->bytes;
		copy->room = ROOM_USED; /* By its eviction, which does nothing now. */
	}
}

enum verdict { MAY_GO, MUST_WAIT, IS_REFUSED, LETS_PASS };

static enum verdict judge(const struct memory *memory, const struct job *job,
			  const struct need *need)
{
	size_t capacity = memory->capacity_bytes;

	if (!capacity)
		return need->waits ? MUST_WAIT : MAY_GO;
	if (need->absent_bytes + memory->used_bytes <= capacity && !need->waits)
		return MAY_GO;
	/* Nobody waits for others because of a hint. */
	if (job->is_hint &&
	    memory->pinned_bytes - need->used_bytes + need->total_bytes > capacity)
		return IS_REFUSED;
	if (memory->held_bytes - need->held_bytes + need->total_bytes > capacity)
		return LETS_PASS;
	return MUST_WAIT;
}

/* ---- those who wait -------------------------------------------------- */

struct served {
	struct job *job; /* granted, or refused; NULL: nobody */
	int refused;
	struct copy_state *victims;
};

static void remove_waiting(struct memory *memory, struct job *before, struct job *job)
{
	if (before)
		before->next = job->next;
	else
		orr_swap_ptr((void **)&memory->waiting, job->next);
	if (memory->waiting_last == job)
		memory->waiting_last = before;
}

/* Does a job of the line, from first to last, want the copy? */
static int wants_one(const struct job *first, const struct job *last,
		     const struct copy_state *copy)
{
	for (const struct job *job = first;; job = job->next) {
		if (wants(job, copy))
			return 1;
		if (job == last)
			return 0;
	}
}

/* Adds an idle copy to the victims, linked by older. */
static void choose(struct memory *memory, struct copy_state *copy,
		   struct copy_state **victims)
{
	let_leave(memory, copy);
	copy->older = *victims;
	*victims = copy;
}

/*
 * Let idle copies leave, the least recently used first, until bytes fit beside what is
 * leaving; spare those that the jobs from first to last want.  Adds to victims.
 */
static void choose_victims(struct memory *memory, const struct job *first,
			   const struct job *last, size_t bytes,
			   struct copy_state **victims)
{
	struct copy_state *copy = memory->oldest, *newer;

	for (; copy && bytes > memory->capacity_bytes + memory->leaving_bytes;
	     copy = newer) {
		newer = copy->newer;
		if (wants_one(first, last, copy))
			continue;
		choose(memory, copy, victims);
	}
}

/* What job needs beyond what the jobs from first to it want already. */
static size_t further_bytes(const struct job *first, const struct job *job)
{
	size_t bytes = 0;

	for (int i = 0; i < job->naccesses; i++) {
		const struct copy_state *copy = job->accesses[i].copy;
		const struct job *other = first;

		if (!copy || (copy->room != ROOM_NONE && copy->room != ROOM_GOING))
			continue;
		while (other != job && !wants(other, copy))
			other = other->next;
		if (other == job)
			bytes += copy->bytes;
	}
	return bytes;
}

/*
 * The first in line has to wait: who leaves for it, and for some that come after it, so
 * that values leave while others are fetched.
 */
static struct copy_state *make_room(struct memory *memory, struct job *first)
{
	struct copy_state *victims = NULL;
	struct job *job = first;
	size_t needed = memory->used_bytes + further_bytes(first, first), bytes = needed;

	keep(memory, first);
	for (int i = 0; i < ROOM_AHEAD && job; i++, job = job->next) {
		if (job->is_hint && job != first)
			continue;
		if (job != first)
			bytes += further_bytes(first, job);
		choose_victims(memory, first, job, bytes, &victims);
	}
	/* The first goes before all others. */
	choose_victims(memory, first, first, needed, &victims);
	return victims;
}

/* The first in line that does not let others pass; the memory is locked. */
static struct served serve_first(struct memory *memory)
{
	struct served served = {0};
	struct job *before = NULL, *job = memory->waiting;

	for (; job; before = job, job = job->next) {
		struct need need = need_of(job);
		enum verdict verdict = judge(memory, job, &need);

		if (verdict == LETS_PASS)
			continue;
		if (verdict == MUST_WAIT) {
			served.victims = make_room(memory, job);
			return served;
		}
		served.job = job;
		served.refused = verdict == IS_REFUSED;
		remove_waiting(memory, before, job);
		if (!served.refused)
			grant(memory, job);
		return served;
	}
	return served;
}

static void evict(struct copy_state *victims)
{
	while (victims) {
		struct copy_state *copy = victims;

		victims = copy->older;
		coherency_evict(copy);
	}
}

/* ---- room ahead of need ----------------------------------------------- */

/* Are so many bytes available, once what is leaving has left?  The memory is locked. */
static int has_available(const struct memory *memory, size_t bytes)
{
	return !memory->capacity_bytes ||
	       memory->used_bytes - memory->leaving_bytes + bytes <=
		       memory->capacity_bytes;
}

void room_tidy(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	struct copy_state *victims = NULL, *copy;

	orr_lock(&memory->lock);
	while ((copy = memory->oldest) && !memory->waiting &&
	       !has_available(memory, memory->target_bytes)) {
		choose(memory, copy, &victims);
	}
	orr_unlock(&memory->lock);
	evict(victims);
}

/* Those who wait come first. */
static void tidy_if_short(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	int is_short;

	if (!memory->minimum_bytes)
		return;
	orr_lock(&memory->lock);
	is_short = !has_available(memory, memory->minimum_bytes);
	orr_unlock(&memory->lock);
	if (is_short)
		room_tidy(node, index);
}

/* 1: this call serves; 0: another one, further up the stack or in another thread,
 * looks again. */
static int begin_serving(struct memory *memory)
{
	int first;

	orr_lock(&memory->lock);
	first = !memory->serving;
	memory->serving = first ? 1 : 2;
	orr_unlock(&memory->lock);
	return first;
}

void room_serve(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	int again;

	tidy_if_short(node, index);
	/* Who waits since has seen what we gave back. */
	if (!orr_load_ptr((void **)&memory->waiting) || !begin_serving(memory))
		return;
	do {
		struct served served;

		orr_lock(&memory->lock);
		memory->serving = 1;
		served = serve_first(memory);
		orr_unlock(&memory->lock);
		evict(served.victims);
		if (served.refused)
			coherency_refused(served.job);
		else if (served.job)
			coherency_admitted(served.job);
		orr_lock(&memory->lock);
		again = served.job || memory->serving == 2;
		if (!again)
			memory->serving = 0;
		orr_unlock(&memory->lock);
	} while (again);
}

static void complain_too_large(const struct job *job, const struct need *need,
			       const struct memory *memory)
{
	char who[JOB_NAME_BYTES];

	job->ops->describe(job, who, sizeof(who));
	orr_die(job->node->rank,
		"%s needs %zu bytes in memory node %d, which has %zu: "
		"use smaller pieces, raise the limit (%s), or run it elsewhere (where)",
		who, need->total_bytes, (int)(memory - job->node->memories),
		memory->capacity_bytes, budget_limit_name(memory));
}

int room_fits(struct node *node, unsigned memory, size_t bytes)
{
	size_t capacity = node->memories[memory].capacity_bytes;

	/* Of main memory the limit is checked when it is allocated: see
	 * core/data/budget.h. */
	return memory == STARPU_MAIN_RAM || !capacity || bytes <= capacity;
}

static void wait_in_line(struct memory *memory, struct job *job)
{
	job->next = NULL;
	if (memory->waiting)
		memory->waiting_last->next = job;
	else
		orr_swap_ptr((void **)&memory->waiting, job);
	memory->waiting_last = job;
}

int room_reserve(struct job *job, unsigned index)
{
	struct memory *memory = &job->node->memories[index];
	struct need need;
	int granted;

	orr_lock(&memory->lock);
	need = need_of(job);
	if (!room_fits(job->node, index, need.total_bytes))
		complain_too_large(job, &need, memory);
	granted = !memory->waiting && judge(memory, job, &need) == MAY_GO;
	if (granted)
		grant(memory, job);
	else
		wait_in_line(memory, job);
	orr_unlock(&memory->lock);
	if (granted)
		tidy_if_short(job->node, index);
	else
		room_serve(job->node, index);
	return granted;
}
