/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/room.h"

#include <limits.h>
#include <stdio.h>

#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/coherency.h"
#include "core/data/room_list.h"
#include "core/task/task.h"

/* Jobs in line for which room is made at a time: as many as a GPU has in its pipeline. */
enum { ROOM_AHEAD = WORKER_OWN_PIPELINE };

/* ---- the needs of a job; the memory is locked ------------------------ */

struct need {
	size_t total_bytes;  /* of all its copies */
	size_t absent_bytes; /* of those that have no room yet */
	size_t used_bytes;   /* of those that somebody uses */
	size_t held_bytes;   /* of those that the application uses */
	int waits;           /* for a copy that is just being freed */
};

/* The data of a job may lie in several memories. */
static int is_there(const struct memory *memory, const struct copy_state *copy)
{
	return memory == &copy->datum->node->memories[copy->memory];
}

static struct need need_of(const struct memory *memory, const struct job *job)
{
	struct need need = {0};

	for (int i = 0; i < job->naccesses; i++) {
		const struct copy_state *copy = job->accesses[i].copy;

		if (!copy || copy->is_users || !is_there(memory, copy))
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

static void complain_too_large(const struct job *job, const struct need *need,
			       const struct memory *memory)
{
	char who[JOB_NAME_BYTES];

	job->ops->describe(job, who, sizeof(who));
	if (memory->is_short)
		orr_die(job->node->rank,
			"%s needs %zu bytes in memory node %d, whose device refuses more "
			"than %zu, and nothing is left there that could leave: another "
			"program, rank or library uses it: let that end or use less "
			"(%s), use smaller pieces, or run it elsewhere (where)",
			who, need->total_bytes, (int)(memory - job->node->memories),
			memory->capacity_bytes, budget_limit_name(memory));
	orr_die(job->node->rank,
		"%s needs %zu bytes in memory node %d, which has %zu: "
		"use smaller pieces, raise the limit (%s), or run it elsewhere (where)",
		who, need->total_bytes, (int)(memory - job->node->memories),
		memory->capacity_bytes, budget_limit_name(memory));
}

static void check_size(const struct memory *memory, const struct job *job,
		       const struct need *need)
{
	/* A hint is refused. */
	if (memory->capacity_bytes && need->total_bytes > memory->capacity_bytes &&
	    !(memory->is_short && job->is_hint))
		complain_too_large(job, need, memory);
}

/* All that the job needs is its own from here on. */
static void grant(struct memory *memory, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		struct copy_state *copy = access->copy;

		if (!copy || copy->is_users || !is_there(memory, copy))
			continue;
		room_list_use(memory, copy);
		if (room_is_held(access) && copy->holds++ == 0)
			memory->held_bytes += copy->bytes;
	}
}

/* What the job wants does not leave. */
static void keep(struct memory *memory, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct copy_state *copy = job->accesses[i].copy;

		if (!copy || copy->room != ROOM_LEAVING || !is_there(memory, copy))
			continue;
		memory->leaving_bytes -= copy->bytes;
		memory->pinned_bytes += copy->bytes;
		copy->room = ROOM_USED; /* By its eviction, which does nothing now. */
	}
}

enum verdict { MAY_GO, MUST_WAIT, IS_REFUSED, LETS_PASS };

/* Waits for nobody in a main memory: see room.h. */
static int goes_first(const struct memory *memory, const struct job *job)
{
	return memory->kind == STARPU_CPU_RAM && job->ops->is_held && !job->is_hint;
}

static enum verdict judge(const struct memory *memory, const struct job *job,
			  const struct need *need)
{
	size_t capacity = memory->capacity_bytes;

	if (!capacity)
		return need->waits ? MUST_WAIT : MAY_GO;
	if (need->absent_bytes + memory->used_bytes <= capacity && !need->waits)
		return MAY_GO;
	if (goes_first(memory, job))
		return need->waits ? MUST_WAIT : MAY_GO;
	/* Nobody waits for others because of a hint. */
	if (job->is_hint &&
	    memory->pinned_bytes - need->used_bytes + need->total_bytes > capacity)
		return IS_REFUSED;
	if (memory->held_bytes - need->held_bytes + need->total_bytes > capacity)
		return memory->kind == STARPU_CPU_RAM && !need->waits &&
				       memory->pinned_bytes == memory->held_bytes
			       ? MAY_GO
			       : LETS_PASS;
	return MUST_WAIT;
}

/* ---- those who wait -------------------------------------------------- */

struct served {
	struct job *job; /* granted, or refused; NULL: nobody */
	int refused;
	int tells_full; /* the first to go over the limit since disks are full */
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
	room_list_let_leave(memory, copy);
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
static size_t further_bytes(const struct memory *memory, const struct job *first,
			    const struct job *job)
{
	size_t bytes = 0;

	for (int i = 0; i < job->naccesses; i++) {
		const struct copy_state *copy = job->accesses[i].copy;
		const struct job *other = first;

		if (!copy || copy->is_users || !is_there(memory, copy) ||
		    (copy->room != ROOM_NONE && copy->room != ROOM_GOING))
			continue;
		while (other != job && !wants(other, copy))
			other = other->next;
		if (other == job)
			bytes += copy->bytes;
	}
	return bytes;
}

/* What leaves for the first in line, and for some that come after it. */
static struct copy_state *find_victims(struct memory *memory, struct job *first)
{
	struct copy_state *victims = NULL;
	struct job *job = first;
	size_t needed = memory->used_bytes + further_bytes(memory, first, first),
	       bytes = needed;

	for (int i = 0; i < ROOM_AHEAD && job; i++, job = job->next) {
		if (job->is_hint && job != first)
			continue;
		if (job != first)
			bytes += further_bytes(memory, first, job);
		choose_victims(memory, first, job, bytes, &victims);
	}
	/* The first goes before all others. */
	choose_victims(memory, first, first, needed, &victims);
	return victims;
}

/*
 * Has anything changed since those that had nowhere to go tried last?  They may again:
 * all of them, as long as no task has had to go over the limit because of them; then one
 * for each change, in turn, so that many of them cost no more than few.
 */
static int may_unstick(struct node *node, struct memory *memory)
{
	int now = orr_load(&node->nspill_changes);
	unsigned nchanges = (unsigned)now - (unsigned)memory->stuck_at;

	if (!memory->stuck || nchanges == 0)
		return 0;
	memory->stuck_at = now;
	room_list_unstick(memory, memory->full_told ? nchanges : UINT_MAX);
	return 1;
}

/*
 * The first in line has to wait: who leaves for it, and for some that come after it, so
 * that values leave while others are fetched.
 */
static struct copy_state *make_room(struct node *node, struct memory *memory,
				    struct job *first)
{
	struct copy_state *victims;

	keep(memory, first);
	victims = find_victims(memory, first);
	if (!victims && !memory->leaving_bytes && may_unstick(node, memory))
		victims = find_victims(memory, first);
	return victims;
}

static int has_disk(const struct node *node)
{
	for (int i = 0; i < node_nmemories(node); i++)
		if (node->memories[i].kind == STARPU_DISK_RAM)
			return 1;
	return 0;
}

/* Nobody will give anything back, and the values that could leave found no place on the
 * disks there are: rather over the limit than not at all. */
static int is_beyond_help(const struct node *node, const struct memory *memory,
			  const struct need *need)
{
	return memory->kind == STARPU_CPU_RAM && memory->stuck && !need->waits &&
	       !memory->leaving_bytes && memory->pinned_bytes == memory->held_bytes &&
	       has_disk(node);
}

/* What becomes of a job that would have to wait; the memory is locked. */
static enum verdict relieve(struct node *node, struct memory *memory, struct job *job,
			    struct copy_state **victims)
{
	struct need need;

	*victims = make_room(node, memory, job);
	need = need_of(memory, job);
	if (*victims || memory->leaving_bytes)
		return MUST_WAIT;
	if (job->is_hint && !need.waits)
		return IS_REFUSED;
	return is_beyond_help(node, memory, &need) ? MAY_GO : MUST_WAIT;
}

/* The first in line that does not let others pass; the memory is locked. */
static struct served serve_first(struct node *node, struct memory *memory)
{
	struct served served = {0};
	struct job *before = NULL, *job = memory->waiting;

	for (; job; before = job, job = job->next) {
		struct need need = need_of(memory, job);
		enum verdict verdict = judge(memory, job, &need);

		/* The limit may have been larger when it came. */
		check_size(memory, job, &need);
		if (verdict == LETS_PASS)
			continue;
		if (verdict == MUST_WAIT) {
			verdict = relieve(node, memory, job, &served.victims);
			served.tells_full = verdict == MAY_GO && !memory->full_told;
			memory->full_told |= verdict == MAY_GO;
		}
		if (verdict == MUST_WAIT)
			return served;
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

/* 1: this call is at work from now on; 0: another one, further up the stack or in another
 * thread, looks again. */
static int begin(struct memory *memory, int *at_work)
{
	int first;

	orr_lock(&memory->lock);
	first = !*at_work;
	*at_work = first ? 1 : 2;
	orr_unlock(&memory->lock);
	return first;
}

/* ---- room ahead of need ----------------------------------------------- */

/* The memory is locked. */
static int has_free(const struct memory *memory, size_t bytes)
{
	return !memory->capacity_bytes ||
	       (bytes <= memory->capacity_bytes &&
		memory->used_bytes + bytes <= memory->capacity_bytes);
}

int room_has(struct node *node, unsigned index, size_t bytes)
{
	struct memory *memory = &node->memories[index];
	int has;

	orr_lock(&memory->lock);
	has = has_free(memory, bytes);
	orr_unlock(&memory->lock);
	return has;
}

/* Are so many bytes available, once what is leaving has left?  The memory is locked. */
static int has_available(const struct memory *memory, size_t bytes)
{
	return !memory->capacity_bytes ||
	       (bytes <= memory->capacity_bytes &&
		memory->used_bytes - memory->leaving_bytes + bytes <=
			memory->capacity_bytes);
}

/* Who leaves so that bytes become available; the memory is locked. */
static struct copy_state *choose_oldest(struct memory *memory, size_t bytes)
{
	struct copy_state *victims = NULL, *copy;

	while ((copy = memory->oldest) && !has_available(memory, bytes))
		choose(memory, copy, &victims);
	return victims;
}

/* A value that finds no place goes back to where it was: then the next one is asked, here
 * and not further down the stack. */
static void make_available(struct memory *memory, size_t bytes)
{
	struct copy_state *victims;
	int again;

	if (!begin(memory, &memory->tidying))
		return;
	do {
		orr_lock(&memory->lock);
		memory->tidying = 1;
		victims = choose_oldest(memory, bytes);
		orr_unlock(&memory->lock);
		again = victims != NULL;
		evict(victims);
		orr_lock(&memory->lock);
		again |= memory->tidying == 2;
		if (!again)
			memory->tidying = 0;
		orr_unlock(&memory->lock);
	} while (again);
}

void room_reclaim(struct node *node, unsigned index, size_t bytes)
{
	make_available(&node->memories[index], bytes);
}

/* Those who wait come first. */
void room_tidy(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];

	if (!orr_load_ptr((void **)&memory->waiting))
		make_available(memory, memory->target_bytes);
}

/* How many bytes should be available that are not; the memory is locked. */
static size_t lacking(struct node *node, struct memory *memory)
{
	size_t wanted = budget_wanted(memory);

	if (!wanted && (memory->waiting || has_available(memory, memory->minimum_bytes)))
		return 0;
	may_unstick(node, memory);
	if (wanted)
		return wanted;
	return memory->target_bytes ? memory->target_bytes : 1;
}

static void tidy_if_short(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	size_t bytes;

	/* Who goes first in a main memory may have gone over its limit. */
	if (!memory->minimum_bytes && !orr_load_ptr((void **)&memory->budget_waiters) &&
	    (memory->kind != STARPU_CPU_RAM || !memory->capacity_bytes))
		return;
	orr_lock(&memory->lock);
	bytes = lacking(node, memory);
	orr_unlock(&memory->lock);
	if (bytes)
		make_available(memory, bytes);
}

static void drop(struct copy_state *victims)
{
	while (victims) {
		struct copy_state *copy = victims;

		victims = copy->older;
		coherency_drop(copy);
	}
}

int room_clear(struct node *node, unsigned index, size_t bytes)
{
	struct memory *memory = &node->memories[index];
	struct copy_state *victims, *copy;
	int has, again;

	do {
		victims = NULL;
		orr_lock(&memory->lock);
		has = has_free(memory, bytes);
		while (!has && (copy = memory->oldest) && !has_available(memory, bytes))
			choose(memory, copy, &victims);
		orr_unlock(&memory->lock);
		again = victims != NULL;
		drop(victims);
	} while (again);
	return has;
}

static void complain_full(const struct memory *memory, const struct job *job)
{
	char who[JOB_NAME_BYTES];

	job->ops->describe(job, who, sizeof(who));
	orr_complain(job->node->rank,
		     "%s goes over the limit of memory node %d (%zu bytes, %s): the "
		     "values there found no room on the disks and stay in memory; "
		     "expected disks that can take them: give them more room "
		     "(STARPU_DISK_SWAP_SIZE, starpu_disk_register()), or let data "
		     "go there (starpu_data_set_ooc_flag())",
		     who, (int)(memory - job->node->memories), memory->capacity_bytes,
		     budget_limit_name(memory));
}

void room_serve_line(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	int again;

	tidy_if_short(node, index);
	budget_serve(node, index);
	/* Who waits since has seen what we gave back. */
	if (!orr_load_ptr((void **)&memory->waiting) || !begin(memory, &memory->serving))
		return;
	do {
		struct served served;

		orr_lock(&memory->lock);
		memory->serving = 1;
		served = serve_first(node, memory);
		orr_unlock(&memory->lock);
		evict(served.victims);
		if (served.tells_full)
			complain_full(memory, served.job);
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

static int count_stuck(const struct memory *memory)
{
	int n = 0;

	for (const struct copy_state *copy = memory->stuck; copy; copy = copy->newer)
		n++;
	return n;
}

int room_describe(struct node *node, unsigned index, char *text, size_t bytes)
{
	struct memory *memory = &node->memories[index];
	const struct job *job;
	char who[JOB_NAME_BYTES];
	int nstuck;

	orr_lock(&memory->lock);
	job = memory->waiting;
	nstuck = count_stuck(memory);
	if (job) {
		job->ops->describe(job, who, sizeof(who));
		snprintf(text, bytes,
			 "%s waits for room in memory node %u: %zu of %zu bytes (%s) are "
			 "used, %zu of these by the application and messages; %d values "
			 "that nobody uses have nowhere to go%s",
			 who, index, memory->used_bytes, memory->capacity_bytes,
			 budget_limit_name(memory), memory->held_bytes, nstuck,
			 nstuck ? " (STARPU_DISK_SWAP, starpu_disk_register(), or "
				  "unregister data)"
				: "");
	}
	orr_unlock(&memory->lock);
	return job != NULL;
}

int room_fits(struct node *node, unsigned memory, size_t bytes)
{
	size_t capacity = room_capacity(&node->memories[memory]);

	/* Of main memory the limit is checked when it is allocated: see
	 * core/data/budget.h. */
	return memory == STARPU_MAIN_RAM || !capacity || bytes <= capacity;
}

static void wait_in_line(struct memory *memory, struct job *job)
{
	job->next = NULL;
	if (memory->waiting && goes_first(memory, job)) {
		job->next = memory->waiting;
		orr_swap_ptr((void **)&memory->waiting, job);
		return;
	}
	if (memory->waiting)
		memory->waiting_last->next = job;
	else
		orr_swap_ptr((void **)&memory->waiting, job);
	memory->waiting_last = job;
	/* From a disk a value goes where there is a memory, when somebody waits. */
	if (memory->kind == STARPU_DISK_RAM)
		room_list_unstick(memory, UINT_MAX);
}

/* ---- a memory that has less than its limit said ------------------------ */

/* The memory is locked. */
static void set_capacity(struct memory *memory, size_t bytes)
{
	double part;

	if (memory->capacity_bytes && bytes >= memory->capacity_bytes)
		return;
	part = memory->capacity_bytes ? (double)bytes / (double)memory->capacity_bytes
				      : 1;
	memory->minimum_bytes = (size_t)((double)memory->minimum_bytes * part);
	memory->target_bytes = (size_t)((double)memory->target_bytes * part);
	orr_note(&memory->capacity_bytes, bytes);
}

size_t room_capacity(const struct memory *memory)
{
	return orr_count(&memory->capacity_bytes);
}

void room_limit(struct node *node, unsigned index, size_t bytes)
{
	struct memory *memory = &node->memories[index];

	orr_lock(&memory->lock);
	set_capacity(memory, bytes);
	orr_unlock(&memory->lock);
}

static void ungrant(struct memory *memory, struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];

		if (access->copy && !access->copy->is_users &&
		    is_there(memory, access->copy))
			room_list_unuse(memory, access->copy, access, 0);
	}
}

/* It was there before those who wait. */
static void wait_in_front(struct memory *memory, struct job *job)
{
	job->next = memory->waiting;
	if (!memory->waiting)
		memory->waiting_last = job;
	orr_swap_ptr((void **)&memory->waiting, job);
}

void room_retreat(struct job *job, unsigned index, const struct copy_state *refused)
{
	struct memory *memory = &job->node->memories[index];
	struct need need;

	orr_lock(&memory->lock);
	ungrant(memory, job);
	memory->is_short = 1;
	/* What is used has bytes; and there were fewer than so many beside it. */
	set_capacity(memory,
		     memory->used_bytes + (refused->bytes ? refused->bytes : 1) - 1);
	need = need_of(memory, job);
	check_size(memory, job, &need);
	wait_in_front(memory, job);
	orr_unlock(&memory->lock);
}

void room_stand_in_line(struct job *job, unsigned index)
{
	struct memory *memory = &job->node->memories[index];
	struct need need;

	orr_lock(&memory->lock);
	need = need_of(memory, job);
	check_size(memory, job, &need);
	wait_in_line(memory, job);
	orr_unlock(&memory->lock);
}

int room_reserve(struct job *job, unsigned index)
{
	struct memory *memory = &job->node->memories[index];
	struct need need;
	int granted;

	orr_lock(&memory->lock);
	need = need_of(memory, job);
	check_size(memory, job, &need);
	granted = (!memory->waiting || goes_first(memory, job)) &&
		  judge(memory, job, &need) == MAY_GO;
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
