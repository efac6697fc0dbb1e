/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/coherency.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/buffers.h"
#include "core/data/convert.h"
#include "core/data/mapped.h"
#include "core/data/redux.h"
#include "core/data/room.h"
#include "core/data/routes.h"
#include "core/data/spread.h"
#include "core/data/way.h"
#include "core/task/task.h"

/*
 * Locks: a datum's, then a memory's.  Whoever gives something of a memory back calls
 * room_serve() when the datum is unlocked.
 *
 * A copy has at most one transfer to it in flight, and as long as it has, nobody uses
 * the copy: the hardware writes there, even when the value has become stale.
 */

/* A contribution goes on from those before it, or begins with the neutral element. */
static int continues(const struct access *access)
{
	struct data_body *body = access->copy->datum->body;

	if (!body->has_value)
		body->awaits_neutral = 1;
	return body->has_value;
}

/* Its copy is known, and locked. */
static inline int needs_value(const struct access *access)
{
	if (access->mode & STARPU_REDUX)
		return continues(access);
	return (access->mode & (STARPU_R | ACCESS_NO_VALUE)) == STARPU_R;
}

/* Whose value it uses. */
static starpu_data_handle_t value_of(const struct access *access)
{
	return access->mode & STARPU_REDUX ? redux_target(access) : access->datum;
}

/* Merged accesses are fetched by the first of them. */
static int is_fetched(const struct access *access)
{
	return access->state != ACCESS_SKIPPED || (access->mode & STARPU_SCRATCH);
}

static int is_valid(const struct copy_state *copy)
{
	return (copy->datum->body->valid & memory_bit(copy->memory)) != 0;
}

static int is_valid_elsewhere(const struct copy_state *copy)
{
	return (copy->datum->body->valid & ~memory_bit(copy->memory)) != 0;
}

/* ---- what is told ---------------------------------------------------- */

static void tell_copy(struct node *node, const struct plat_copy *copy,
		      enum event_kind kind)
{
	if (events_on(&node->events))
		event_tell(node, NULL,
			   (struct event){.kind = (uint8_t)kind,
					  .n = copy->from << 16 | copy->to,
					  .id = (uintptr_t)copy,
					  .value = copy->bytes});
}

/* ---- copies; the datum is locked ------------------------------------- */

static void use_copy(struct copy_state *copy)
{
	if (copy->memory == STARPU_MAIN_RAM)
		copy->refs++;
	else
		room_use(copy);
}

static void unuse_copy(struct copy_state *copy, const struct access *access)
{
	if (copy->memory == STARPU_MAIN_RAM)
		copy->refs--;
	else
		room_unuse(copy, access,
			   !is_valid(copy) || (copy->datum->flags & DATUM_UNIMPORTANT));
}

/* The copy's room is its own no more: free it and give the room back. */
static void free_going(struct copy_state *copy)
{
	copy->datum->body->valid &= ~memory_bit(copy->memory);
	copy->datum->body->promised &= ~memory_bit(copy->memory);
	buffers_free(copy);
	room_gone(copy);
}

/* Free what the runtime allocated for this copy, unless something still uses it. */
static void release_copy(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;

	if (copy->memory != STARPU_MAIN_RAM) {
		if (room_take(copy))
			free_going(copy);
	} else if (!(datum->flags & DATUM_USER_MEMORY) && !copy->incoming &&
		   copy->refs == 0) {
		buffers_free(copy);
	}
}

/* ---- values; the datum is locked ------------------------------------- */

/* What is in flight from now on is of another epoch. */
static void forget_value(struct data_body *body)
{
	body->valid = 0;
	body->arriving = 0;
	body->promised = 0;
	body->epoch++;
}

/* Copies of what is no longer the value leave first; the datum is locked. */
static void demote_all(starpu_data_handle_t datum, unsigned memories)
{
	for (; memories; memories &= memories - 1)
		room_demote(data_find_copy(datum, (unsigned)__builtin_ctz(memories)));
}

/* access has its copy and is going to write it: the others are stale. */
static void settle(struct access *access)
{
	struct copy_state *copy = access->copy;
	starpu_data_handle_t datum = copy->datum;
	struct data_body *body = datum->body;
	unsigned stale =
		body->valid & ~memory_bit(copy->memory) & ~memory_bit(STARPU_MAIN_RAM);

	if (!(access->mode & (STARPU_W | STARPU_REDUX)))
		return;
	forget_value(body);
	body->valid = memory_bit(copy->memory);
	body->has_value = 1;
	demote_all(datum, stale);
}

static void complain_no_value(struct access *access)
{
	struct job *job = access->job;
	char what[128], who[JOB_NAME_BYTES];

	job->ops->describe(job, who, sizeof(who));
	orr_die(job->node->rank,
		"%s reads %s, which has no value: it was registered without "
		"one (home node -1) and nothing has written it. Write it first, or "
		"register it with its memory.",
		who, data_describe(access->datum, what, sizeof(what)));
}

/* ---- transfers ------------------------------------------------------- */

enum purpose {
	TO_FETCH,  /* accesses wait for it, or will */
	TO_EVICT,  /* from leaves at the end */
	TO_SPREAD, /* nobody waits: to is used by the transfer alone */
};

struct transfer {
	struct plat_copy copy; /* first */
	struct copy_state *from, *to;
	unsigned epoch; /* of the value */
	enum purpose purpose;
	struct starpu_codelet *converts; /* to be run when the bytes have come, or NULL */
};

/* The copy was evicted, and its value is elsewhere if it is needed. */
static void end_eviction(struct copy_state *copy)
{
	if (room_let_go(copy))
		free_going(copy);
	else
		unuse_copy(copy, NULL);
}

/* The bytes have come; the datum is locked. */
static void land(struct transfer *transfer)
{
	struct copy_state *to = transfer->to;
	struct data_body *body = to->datum->body;
	int goes_on = transfer->purpose == TO_SPREAD && body->nholders >= 0;

	tell_copy(to->datum->node, &transfer->copy, EVENT_COPY_ENDS);
	ahead_count(to->datum->node, transfer->from->memory, to->memory, -1);
	to->incoming = 0;
	if (transfer->epoch == body->epoch) {
		body->valid |= memory_bit(to->memory);
		body->arriving &= ~memory_bit(to->memory);
	}
	if (transfer->purpose == TO_SPREAD)
		unuse_copy(to, NULL);
	if (transfer->purpose == TO_EVICT)
		end_eviction(transfer->from);
	else
		unuse_copy(transfer->from, NULL);
	free(transfer);
	/* Nobody writes now, and the copy can be written to again. */
	if (goes_on && (to->datum->flags & DATUM_WRITES_THROUGH))
		spread_value(to->datum);
}

static void arrived(struct plat_copy *copy);

/* The bytes have come: 1 when they are to be converted, and will arrive again. */
static int convert(struct transfer *transfer)
{
	struct starpu_codelet *cl = transfer->converts;

	if (!cl)
		return 0;
	transfer->converts = NULL;
	convert_start(transfer->to, cl, &transfer->copy);
	return 1;
}

/* The value is in from's bytes, which are to's as well. */
static int share(struct copy_state *from, struct copy_state *to, enum purpose purpose)
{
	if (!mapped_update(from, to))
		return 0;
	unuse_copy(from, NULL);
	if (purpose == TO_SPREAD)
		unuse_copy(to, NULL);
	return 1;
}

/* The datum is locked; from is used once for the time of the transfer. */
static void start_transfer(struct copy_state *from, struct copy_state *to,
			   enum purpose purpose)
{
	struct transfer *transfer;
	starpu_data_handle_t datum = from->datum;

	if (share(from, to, purpose))
		return;
	transfer = orr_alloc(sizeof(*transfer));
	transfer->copy = (struct plat_copy){.from = from->memory,
					    .to = to->memory,
					    .bytes = data_moved_bytes(datum),
					    .from_interface = from->interface,
					    .to_interface = to->interface,
					    .methods = datum->ops->copy_methods,
					    .owner = datum,
					    .done = arrived};
	transfer->from = from;
	transfer->to = to;
	transfer->epoch = datum->body->epoch;
	transfer->purpose = purpose;
	ORR_ASSERT(!to->incoming && is_valid(from));
	to->incoming = 1;
	datum->body->arriving |= memory_bit(to->memory);
	if (datum->ops->is_multiformat) {
		transfer->converts = convert_codelet(from, to);
		transfer->copy.bytes = convert_bytes(from);
	}
	tell_copy(datum->node, &transfer->copy, EVENT_COPY_BEGINS);
	ahead_count(datum->node, from->memory, to->memory, 1);
	if (routes_copy(datum->node, &transfer->copy) && !convert(transfer))
		land(transfer);
}

static void wait_for_copy(struct access *access, struct copy_state *copy)
{
	access->next = copy->waiters;
	copy->waiters = access;
}

/* Bring the value one hop towards the access's copy; returns where that ends. */
static struct copy_state *hop(struct access *access)
{
	struct copy_state *to = access->copy;
	starpu_data_handle_t datum = to->datum;
	struct copy_state *from = way_source(to);
	unsigned next;

	if (!from)
		complain_no_value(access);
	next = way_next(from, to);
	if (next != to->memory) {
		to = data_copy(datum, next);
		buffers_allocate(to);
	}
	if (!to->incoming) {
		use_copy(from);
		start_transfer(from, to, TO_FETCH);
	}
	return to;
}

/* A hint about a value that has been taken back meanwhile. */
static int is_moot(const struct access *access)
{
	return access->job->is_hint && !access->copy->datum->body->has_value;
}

/* The access's copy has room and is used, the datum is locked: bring the value.  1 when
 * it is there, 0 when the access waits for a transfer, after which to try again. */
static int bring(struct access *access)
{
	struct copy_state *copy = access->copy, *stop = mapped_bytes(copy);

	while (!stop->incoming) {
		buffers_allocate(copy);
		if (!needs_value(access) || is_valid(copy) || is_moot(access)) {
			settle(access);
			return 1;
		}
		stop = hop(access);
	}
	wait_for_copy(access, stop);
	return 0;
}

static void access_fetched(struct access *access)
{
	struct job *job = access->job;
	const struct job_ops *ops = job->ops;
	/* When the last copy has been counted its worker may run the job at once. */
	struct worker *worker = job->worker;

	if (orr_add(&job->nfetching, -1) == 0)
		ops->fetched(job, worker);
}

/* Those that waited for a transfer to this copy; returns who has all, linked. */
static struct access *bring_again(struct copy_state *copy)
{
	struct access *waiters = copy->waiters, *settled = NULL, **last = &settled;

	copy->waiters = NULL;
	while (waiters) {
		struct access *access = waiters;

		waiters = access->next;
		if (!bring(access))
			continue;
		access->next = NULL;
		*last = access;
		last = &access->next;
	}
	return settled;
}

/* ---- evictions ------------------------------------------------------- */

/* The copy is being evicted; the datum is locked. */
static void step_eviction(struct copy_state *copy)
{
	struct copy_state *home = data_copy(copy->datum, data_haven(copy->datum));

	if (!room_is_leaving(copy) || !is_valid(copy) || is_valid_elsewhere(copy)) {
		end_eviction(copy);
	} else if (home->incoming) {
		copy->evict_waits = 1; /* A stale value is on its way there. */
	} else {
		buffers_allocate(home);
		start_transfer(copy, home, TO_EVICT);
	}
}

/* Where evicted values go, they can go again. */
static void resume_evictions(starpu_data_handle_t datum)
{
	struct data_extra *extra = datum->body->extra;

	for (int i = 1; extra && i < datum->node->nmemories; i++) {
		struct copy_state *copy = extra->copies[i];

		if (!copy || !copy->evict_waits)
			continue;
		copy->evict_waits = 0;
		step_eviction(copy);
	}
}

/* ---- copies that nobody waits for ------------------------------------- */

/* Use the copy for a transfer to it: 1; 0: it has no room, or cannot be written. */
static int reserve_copy(struct copy_state *copy)
{
	if (mapped_bytes(copy)->incoming)
		return 0;
	if (copy->memory == STARPU_MAIN_RAM) {
		copy->refs++;
		return 1;
	}
	mapped_try(copy);
	room_measure(copy, data_alloc_bytes(copy->datum));
	return room_try(copy);
}

void coherency_send(starpu_data_handle_t datum, unsigned memory)
{
	struct copy_state *to = data_copy(datum, memory);
	struct copy_state *from = way_source(to);

	to = data_copy(datum, way_next(from, to));
	if (!reserve_copy(to))
		return;
	buffers_allocate(to);
	use_copy(from);
	start_transfer(from, to, TO_SPREAD);
}

/* ---- the end of a datum ---------------------------------------------- */

static int is_in_use(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;
	struct data_extra *extra = body->extra;

	if (body->main.incoming || body->main.refs > 0)
		return 1;
	for (int i = 1; extra && i < datum->node->nmemories; i++)
		if (extra->copies[i] && room_is_taken(extra->copies[i]))
			return 1;
	return 0;
}

/* The datum is locked.  Forget the value, free what nobody uses. */
static void wipe(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;

	body->has_value = 0;
	forget_value(body);
	release_copy(&body->main);
	for (int i = 1; body->extra && i < datum->node->nmemories; i++)
		if (body->extra->copies[i])
			release_copy(body->extra->copies[i]);
}

/* Unlock a datum of which a transfer or an eviction has ended. */
static void unlock_after_use(starpu_data_handle_t datum)
{
	struct data_body *body = datum->body;
	struct node *node = datum->node;
	struct plat_gate *gate = NULL;
	int over = 0;

	if (!body->has_value)
		release_copy(&body->main);
	if (body->retired) {
		wipe(datum);
		over = !is_in_use(datum);
		gate = body->retiring;
	}
	orr_unlock(&datum->lock);
	if (!over)
		return;
	if (gate)
		plat_gate_open(node->plat, gate);
	else
		data_free_now(node, datum);
}

/* Of all memories whose room may have changed. */
static void serve_all(struct node *node)
{
	for (int i = 1; i < node->nmemories; i++)
		room_serve(node, (unsigned)i);
}

int coherency_retire(starpu_data_handle_t handle, struct plat_gate *gate)
{
	struct node *node = handle->node;
	int over;

	orr_lock(&handle->lock);
	handle->body->retired = 1;
	handle->body->retiring = gate;
	wipe(handle);
	over = !is_in_use(handle);
	orr_unlock(&handle->lock);
	serve_all(node);
	return over;
}

void coherency_invalidate(starpu_data_handle_t handle, int release)
{
	struct data_body *body = data_body(handle);

	orr_lock(&handle->lock);
	if (release) {
		wipe(handle);
	} else {
		body->has_value = 0;
		forget_value(body);
	}
	orr_unlock(&handle->lock);
	serve_all(handle->node);
}

/* ---- data that share their bytes with others -------------------------- */

void coherency_hold(starpu_data_handle_t handle, unsigned memory)
{
	if (memory != STARPU_MAIN_RAM)
		return; /* The application's. */
	orr_lock(&handle->lock);
	buffers_allocate(data_copy(handle, memory));
	data_body(handle)->main.refs++;
	orr_unlock(&handle->lock);
}

void coherency_let(starpu_data_handle_t handle, unsigned memory)
{
	struct data_body *body = data_body(handle);

	if (memory != STARPU_MAIN_RAM)
		return;
	orr_lock(&handle->lock);
	body->main.refs--;
	if (!body->has_value)
		release_copy(&body->main);
	orr_unlock(&handle->lock);
}

void coherency_place(starpu_data_handle_t handle, unsigned memory, int has_value)
{
	struct data_body *body = data_body(handle);

	orr_lock(&handle->lock);
	forget_value(body);
	body->has_value = (unsigned char)(has_value != 0);
	if (has_value)
		body->valid = memory_bit(memory);
	orr_unlock(&handle->lock);
}

void coherency_displace(starpu_data_handle_t handle)
{
	struct data_body *body = data_body(handle);
	unsigned stale;

	orr_lock(&handle->lock);
	stale = body->valid & ~memory_bit(STARPU_MAIN_RAM);
	forget_value(body);
	body->has_value = 0;
	demote_all(handle, stale);
	orr_unlock(&handle->lock);
}

/* ---- ends of transfers ----------------------------------------------- */

static void arrived(struct plat_copy *plat_copy)
{
	struct transfer *transfer = ORR_CONTAINER(plat_copy, struct transfer, copy);
	struct copy_state *to = transfer->to;
	starpu_data_handle_t datum = to->datum;
	struct node *node = datum->node;
	unsigned from = transfer->from->memory, target = to->memory;
	int was_spread = transfer->purpose == TO_SPREAD;
	struct access *settled;

	if (convert(transfer))
		return;
	orr_lock(&datum->lock);
	land(transfer);
	settled = bring_again(to);
	if (target == data_haven(datum))
		resume_evictions(datum);
	unlock_after_use(datum);
	while (settled) {
		struct access *access = settled;

		settled = access->next;
		access_fetched(access);
	}
	if (from != STARPU_MAIN_RAM)
		room_serve(node, from);
	if (was_spread && target != STARPU_MAIN_RAM)
		room_serve(node, target);
	ahead_serve(node, from);
	ahead_serve(node, target);
}

void coherency_evict(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	struct node *node = datum->node;
	unsigned memory = copy->memory;

	buffers_tell(copy, EVENT_EVICTED);
	orr_lock(&datum->lock);
	step_eviction(copy);
	unlock_after_use(datum);
	room_serve(node, memory);
}

/* ---- fetching -------------------------------------------------------- */

unsigned coherency_main_memory(starpu_data_handle_t handle)
{
	unsigned haven = data_haven(handle), valid;

	if (handle->node->nmains == 1)
		return haven;
	orr_lock(&handle->lock);
	valid = data_body(handle)->valid &
		(memory_bit((unsigned)handle->node->nmains) - 1);
	orr_unlock(&handle->lock);
	return !valid || (valid & memory_bit(haven)) ? haven
						     : (unsigned)__builtin_ctz(valid);
}

/* The copy that the access will use; the datum is locked. */
static struct copy_state *copy_for(struct access *access, starpu_data_handle_t datum,
				   unsigned memory)
{
	struct copy_state *copy = access->mode & STARPU_SCRATCH
					  ? buffers_scratch(datum, memory)
					  : data_copy(datum, memory);

	if (memory == STARPU_MAIN_RAM)
		return copy;
	if (!(access->mode & STARPU_SCRATCH))
		mapped_try(copy);
	room_measure(copy, data_alloc_bytes(datum));
	return copy;
}

/* Name the copies, before there is room for them. */
static void prepare(struct job *job, unsigned memory)
{
	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		starpu_data_handle_t datum;

		if (!is_fetched(access))
			continue;
		access->memory = (unsigned char)memory;
		datum = value_of(access);
		orr_lock(&datum->lock);
		access->copy = copy_for(access, datum, memory);
		orr_unlock(&datum->lock);
	}
}

/* The same in main memory, which has room, and bring the value.  1 when it is there. */
static int fetch_home(struct access *access)
{
	starpu_data_handle_t datum = value_of(access);
	int there = 1;

	access->memory = STARPU_MAIN_RAM;
	orr_lock(&datum->lock);
	access->copy = copy_for(access, datum, STARPU_MAIN_RAM);
	access->copy->refs++;
	if (access->mode & STARPU_SCRATCH)
		buffers_allocate(access->copy);
	else
		there = bring(access);
	orr_unlock(&datum->lock);
	return there;
}

/* The same where there is room for the copy now. */
static int fetch_there(struct access *access)
{
	starpu_data_handle_t datum = access->copy->datum;
	int there = 1;

	orr_lock(&datum->lock);
	if (access->mode & STARPU_SCRATCH)
		buffers_allocate(access->copy);
	else
		there = bring(access);
	orr_unlock(&datum->lock);
	return there;
}

/* 1 when all values are there. */
static int fetch_all(struct job *job, unsigned memory)
{
	int nthere = 1, n = job->naccesses;

	/* At the end the job may be gone. */
	orr_store(&job->nfetching, 1 + n);
	for (int i = 0; i < n; i++) {
		struct access *access = &job->accesses[i];

		if (!is_fetched(access) ||
		    (memory == STARPU_MAIN_RAM ? fetch_home(access)
					       : fetch_there(access)))
			nthere++;
	}
	return orr_add(&job->nfetching, -nthere) == 0;
}

int coherency_fetch(struct job *job, unsigned memory)
{
	orr_store(&job->nfetching, 1);
	if (memory != STARPU_MAIN_RAM) {
		prepare(job, memory);
		if (!room_reserve(job, memory))
			return 0;
	}
	return fetch_all(job, memory);
}

void coherency_admitted(struct job *job)
{
	const struct job_ops *ops = job->ops;
	struct worker *worker = job->worker;

	if (fetch_all(job, job->accesses[0].memory))
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

	for (int i = 0; i < job->naccesses; i++) {
		struct access *access = &job->accesses[i];
		struct copy_state *copy = access->copy;
		starpu_data_handle_t datum;

		if (!copy)
			continue;
		access->copy = NULL;
		memory = copy->memory;
		if (access->mode & STARPU_SCRATCH) {
			buffers_end_scratch(copy);
			continue;
		}
		datum = copy->datum;
		orr_lock(&datum->lock);
		unuse_copy(copy, access);
		if ((datum->flags & DATUM_WRITES_THROUGH) && (access->mode & STARPU_W))
			spread_value(datum);
		orr_unlock(&datum->lock);
	}
	if (memory != STARPU_MAIN_RAM)
		room_serve(node, memory);
}
