/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/ahead.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/data/coherency.h"
#include "core/data/copies.h"
#include "core/data/room.h"
#include "core/data/specific.h"
#include "core/data/views.h"
#include "core/task/acquire.h"
#include "core/task/deps.h"
#include "core/task/expect.h"

/* That fetch to a memory at a time: one travels, and the next has begun. */
enum { AHEAD_AT_ONCE = 2 };

/* In line it counts as a user of the datum, so that this does not end. */
struct wish {
	struct acquire acquire; /* first */
	struct wish *next;      /* in line */
	starpu_data_handle_t handle;
	struct ahead ahead;
	int fetches; /* is one of those that fetch */
};

static struct memory *memory_of(const struct wish *wish)
{
	return &wish->handle->node->memories[wish->ahead.memory];
}

static struct wish *wish_of(struct acquire *acquire)
{
	return ORR_CONTAINER(acquire, struct wish, acquire);
}

/* ---- the line; the memory is locked ---------------------------------- */

/* Does one go before another that came earlier? */
static int overtakes(const struct wish *wish, const struct wish *other)
{
	if (wish->ahead.is_idle != other->ahead.is_idle)
		return other->ahead.is_idle;
	return wish->ahead.prio > other->ahead.prio;
}

static int is_time(const struct memory *memory, const struct wish *wish)
{
	if (wish->ahead.is_idle)
		return memory->nfetching_ahead == 0 && !memory->waiting &&
		       orr_load(&memory->ncopies) == 0;
	return memory->nfetching_ahead < AHEAD_AT_ONCE;
}

static void stand_in_line(struct memory *memory, struct wish *wish)
{
	struct wish *first = memory->wishes, **at = &first;

	while (*at && !overtakes(wish, *at))
		at = &(*at)->next;
	wish->next = *at;
	*at = wish;
	orr_swap_ptr((void **)&memory->wishes, first);
}

/* The first of the line, if it is its time: it fetches. */
static struct wish *next_in_time(struct memory *memory)
{
	struct wish *wish = memory->wishes;

	if (!wish || !is_time(memory, wish))
		return NULL;
	orr_swap_ptr((void **)&memory->wishes, wish->next);
	memory->nfetching_ahead++;
	wish->fetches = 1;
	return wish;
}

/* Of a datum, or all: taken out, linked by next. */
static struct wish *take_out(struct memory *memory, starpu_data_handle_t handle)
{
	struct wish *first = memory->wishes, **at = &first, *taken = NULL, *wish;

	while ((wish = *at)) {
		if (handle && wish->handle != handle) {
			at = &wish->next;
			continue;
		}
		*at = wish->next;
		wish->next = taken;
		taken = wish;
	}
	orr_swap_ptr((void **)&memory->wishes, first);
	return taken;
}

/* ---- a wish ends ----------------------------------------------------- */

static void stop_fetching(struct wish *wish)
{
	struct memory *memory = memory_of(wish);

	orr_lock(&memory->lock);
	memory->nfetching_ahead--;
	orr_unlock(&memory->lock);
}

/* They have left the line. */
static void drop(struct wish *wishes)
{
	while (wishes) {
		struct wish *wish = wishes;

		wishes = wish->next;
		deps_unpend(wish->handle);
		free(wish);
	}
}

static void take_out_and_drop(struct memory *memory, starpu_data_handle_t handle)
{
	struct wish *taken;

	if (!orr_load_ptr((void **)&memory->wishes))
		return;
	orr_lock(&memory->lock);
	taken = take_out(memory, handle);
	orr_unlock(&memory->lock);
	drop(taken);
}

void ahead_forget(starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & DATUM_WISHED))
		return;
	for (int i = 0; i < node_nmemories(handle->node); i++)
		take_out_and_drop(&handle->node->memories[i], handle);
}

void ahead_close(struct node *node)
{
	for (int i = 0; i < node_nmemories(node); i++)
		take_out_and_drop(&node->memories[i], NULL);
}

/* ---- a wish waits ---------------------------------------------------- */

/* The datum is locked. */
static int is_ending(starpu_data_handle_t handle)
{
	return handle->body->gate || handle->body->idle ||
	       (data_flags(handle) & DATUM_DYING);
}

/* It counts as a user of its datum until it is in line, or dropped. */
static void queue_up(struct wish *wish)
{
	starpu_data_handle_t handle = wish->handle;
	struct memory *memory = memory_of(wish);
	int is_in_line;

	orr_lock(&handle->lock);
	is_in_line = !is_ending(handle);
	if (is_in_line) {
		data_change_flags(handle, DATUM_WISHED, 0);
		orr_lock(&memory->lock);
		stand_in_line(memory, wish);
		orr_unlock(&memory->lock);
	}
	orr_unlock(&handle->lock);
	if (!is_in_line) {
		wish->next = NULL;
		drop(wish);
	}
}

/* ---- a wish fetches -------------------------------------------------- */

void ahead_let_leave(starpu_data_handle_t handle)
{
	for (int i = 0; i < node_nmemories(handle->node); i++) {
		struct copy_state *copy = data_find_copy(handle, (unsigned)i);

		if (copy && !copy_is_own(copy))
			room_demote(copy);
	}
}

static void let_leave(starpu_data_handle_t handle)
{
	orr_lock(&handle->lock);
	ahead_let_leave(handle);
	orr_unlock(&handle->lock);
}

/* With room and copy, or with its turn only. */
static void wish_acquired(struct acquire *acquire)
{
	struct wish *wish = wish_of(acquire);
	struct node *node = wish->handle->node;
	unsigned memory = wish->ahead.memory;

	if (wish->ahead.leaves)
		let_leave(wish->handle);
	if (wish->fetches) {
		stop_fetching(wish);
		acquire_release(acquire);
		free(wish);
	} else {
		deps_pend(wish->handle);
		acquire_release(acquire);
		queue_up(wish);
	}
	ahead_serve(node, memory);
}

/* Its turn has come: fetch now, or give it back. */
static void wish_granted(struct acquire *acquire)
{
	struct wish *wish = wish_of(acquire);
	struct memory *memory = memory_of(wish);

	orr_lock(&memory->lock);
	wish->fetches = is_time(memory, wish) &&
			(!memory->wishes || overtakes(wish, memory->wishes));
	memory->nfetching_ahead += wish->fetches;
	orr_unlock(&memory->lock);
	acquire->memory =
		wish->fetches ? (int)wish->ahead.memory : STARPU_ACQUIRE_NO_NODE;
}

static void prepare(struct wish *wish, const struct acquirer *by)
{
	wish->acquire = (struct acquire){
		.by = by, .memory = (int)wish->ahead.memory, .is_hint = 1, .counted = 1};
}

void ahead_wish(starpu_data_handle_t handle, const struct ahead *ahead)
{
	static const struct acquirer by = {.acquired = wish_acquired,
					   .granted = wish_granted,
					   .what = "starpu_data_prefetch_on_node()"};
	struct wish *wish = orr_alloc(sizeof(*wish));

	wish->handle = handle;
	wish->ahead = *ahead;
	prepare(wish, &by);
	acquire_start(handle->node, &wish->acquire, handle, STARPU_R, 1);
}

/* Is the value neither there, nor on its way, nor hidden by parts? */
static int is_of_use(const struct wish *wish)
{
	starpu_data_handle_t handle = wish->handle;
	uint64_t there;

	orr_lock(&handle->lock);
	there = handle->body->valid | handle->body->arriving;
	orr_unlock(&handle->lock);
	return !(there & memory_bit(wish->ahead.memory)) &&
	       (!(data_flags(handle) & DATUM_VIEWS) || views_allow_reading(handle));
}

/* It was in line, and is no more. */
static void fetch_or_forget(struct wish *wish)
{
	static const struct acquirer by = {.acquired = wish_acquired,
					   .what = "starpu_data_prefetch_on_node()"};
	starpu_data_handle_t handle = wish->handle;

	prepare(wish, &by);
	if (!is_of_use(wish) ||
	    !acquire_try(handle->node, &wish->acquire, handle, STARPU_R)) {
		stop_fetching(wish);
		free(wish);
	}
	/* The wish may be gone, but it counted for its datum until now. */
	deps_unpend(handle);
}

/* 1: this call serves; 0: another one, further up the stack or in another thread, looks
 * again. */
static int begin_serving(struct memory *memory)
{
	int first;

	orr_lock(&memory->lock);
	first = !memory->serving_ahead;
	memory->serving_ahead = 1;
	orr_unlock(&memory->lock);
	return first;
}

/* The next one to fetch; NULL: nobody serves any more. */
static struct wish *next_to_serve(struct memory *memory)
{
	struct wish *wish;

	/* Who asked to look again has changed what it saw before this lock. */
	orr_lock(&memory->lock);
	wish = next_in_time(memory);
	memory->serving_ahead = wish != NULL;
	orr_unlock(&memory->lock);
	return wish;
}

void ahead_serve(struct node *node, unsigned index)
{
	struct memory *memory = &node->memories[index];
	struct wish *wish;

	if (!orr_load_ptr((void **)&memory->wishes) || !begin_serving(memory))
		return;
	while ((wish = next_to_serve(memory)))
		fetch_or_forget(wish);
}

void ahead_count(struct node *node, unsigned from, unsigned to, int change)
{
	orr_add(&node->memories[from].ncopies, change);
	orr_add(&node->memories[to].ncopies, change);
}

int ahead_room(const struct memory *memory)
{
	int nmost = memory->driver->nahead > 0 ? memory->driver->nahead : 1;

	return nmost - orr_load(&memory->ncopies);
}

/* ---- for tasks in queues ------------------------------------------------ */

/* The guess of who has not locked the datum is most often right. */
static enum ahead_answer look(const struct access *access, unsigned memory)
{
	const struct data_body *body = access->datum->body;
	uint64_t valid = data_glance(&body->valid);

	if ((valid | data_glance(&body->arriving)) & memory_bit(memory))
		return AHEAD_THERE;
	return valid ? AHEAD_TRAVELS : AHEAD_LATER;
}

/* Can a value that is not there begin to travel?  It may have to pass by another memory:
 * then it comes as far as there. */
static enum ahead_answer bring(struct access *access, unsigned memory)
{
	starpu_data_handle_t datum = access->datum;
	enum ahead_answer answer = look(access, memory);
	uint64_t arriving;

	if (answer != AHEAD_TRAVELS)
		return answer;
	orr_lock(&datum->lock);
	arriving = datum->body->arriving;
	/* A writer may have taken the datum from us since we looked. */
	if (access->state == ACCESS_GRANTED && look(access, memory) == AHEAD_TRAVELS &&
	    !arriving)
		coherency_send(datum, memory);
	if (datum->body->arriving == arriving)
		answer = AHEAD_LATER;
	orr_unlock(&datum->lock);
	return answer;
}

static int reads_value(const struct access *access)
{
	return !access->skipped &&
	       (access->mode & (STARPU_R | STARPU_REDUX | ACCESS_NO_VALUE)) == STARPU_R;
}

enum ahead_answer ahead_bring(struct job *job, unsigned memory)
{
	int is_specific = specific_is(job);
	enum ahead_answer all = is_specific ? AHEAD_LATER : AHEAD_THERE;

	deps_expect_data(job);
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		enum ahead_answer one = AHEAD_LATER;

		if (!reads_value(access) ||
		    (is_specific && specific_memory(job, i, memory) != memory))
			continue;
		if (access->state == ACCESS_GRANTED)
			one = bring(access, memory);
		if (one == AHEAD_TRAVELS)
			return one;
		if (one == AHEAD_LATER)
			all = one;
	}
	return all;
}
