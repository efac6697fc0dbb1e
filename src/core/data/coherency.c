/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/coherency.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/buffers.h"
#include "core/data/convert.h"
#include "core/data/copies.h"
#include "core/data/mapped.h"
#include "core/data/redux.h"
#include "core/data/room.h"
#include "core/data/routes.h"
#include "core/data/spill.h"
#include "core/data/spread.h"
#include "core/data/way.h"
#include "core/sched/contexts.h"
#include "core/task/task.h"
#include "core/tool.h"

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

/* ---- what is told ---------------------------------------------------- */

static void tell_copy(struct node *node, const struct plat_copy *copy,
		      enum event_kind kind)
{
	if (!events_on(&node->events))
		return;
	event_tell(node, NULL,
		   (struct event){.kind = (uint8_t)kind,
				  .n = copy->from << 16 | copy->to,
				  .id = (uintptr_t)copy,
				  .value = copy->bytes});
	if (orr_load(&node->events.on) & EVENT_CALLS)
		tool_copy(node, copy, kind);
}

/* ---- values; the datum is locked ------------------------------------- */

/* access has its copy and is going to write it: the others are stale. */
static inline void settle(struct access *access)
{
	struct copy_state *copy = access->copy;
	starpu_data_handle_t datum = copy->datum;
	struct data_body *body = datum->body;
	uint64_t here = memory_bit(copy->memory), stale = body->valid & ~here;

	if (!(access->mode & (STARPU_W | STARPU_REDUX)))
		return;
	copies_forget_value(body);
	data_set_memories(&body->valid, here);
	body->has_value = 1;
	if (stale)
		copies_demote(datum, stale);
}

static void complain_no_value(struct access *access)
{
	struct job *job = access->job;
	starpu_data_handle_t datum = access->datum;
	char what[128], who[JOB_NAME_BYTES];

	job->ops->describe(job, who, sizeof(who));
	if (datum->owner >= 0 && datum->owner != job->node->rank && datum->comm == 0)
		orr_die(job->node->rank,
			"%s reads %s, which has no value here: it belongs to rank %d, "
			"and other ranks have a copy only until it is written, flushed "
			"(starpu_mpi_cache_flush()), or used once without cache "
			"(STARPU_MPI_CACHE=0, starpu_mpi_cache_set()). Ask for it by "
			"starpu_mpi_get_data_on_node(), called on all ranks.",
			who, data_describe(datum, what, sizeof(what)), datum->owner);
	orr_die(job->node->rank,
		"%s reads %s, which has no value: it was registered without "
		"one (home node -1) and nothing has written it. Write it first, or "
		"register it with its memory.",
		who, data_describe(datum, what, sizeof(what)));
}

/* ---- transfers ------------------------------------------------------- */

enum purpose {
	/* Accesses wait for it, or will: they use to. */
	TO_FETCH,
	/* To is used by the transfer. */
	TO_STOP,  /* accesses wait for it on the way elsewhere */
	TO_EVICT, /* from leaves at the end */
	TO_SPREAD /* nobody waits */
};

struct transfer {
	struct plat_copy copy; /* first */
	struct copy_state *from, *to;
	unsigned epoch; /* of the value */
	enum purpose purpose;
	struct starpu_codelet *converts; /* to be run when the bytes have come, or NULL */
};

/* Not zeroed. */
static struct transfer *new_transfer(struct node *node)
{
	struct transfer *transfer;

	orr_lock(&node->transfer_lock);
	if (!node->transfer_pool.object_bytes)
		pool_init_among(&node->transfer_pool, sizeof(*transfer), node->commons);
	transfer = pool_get(&node->transfer_pool);
	orr_unlock(&node->transfer_lock);
	return transfer;
}

static void free_transfer(struct node *node, struct transfer *transfer)
{
	orr_lock(&node->transfer_lock);
	pool_put(&node->transfer_pool, transfer);
	orr_unlock(&node->transfer_lock);
}

/* The copy was evicted, and its value is elsewhere if it is needed. */
static void end_eviction(struct copy_state *copy)
{
	if (room_let_go(copy))
		copy_free_going(copy);
	else
		copy_unuse(copy, NULL);
}

static void step_eviction(struct copy_state *copy);

/* The value has left, or could not: then it goes elsewhere, or stays. */
static void end_leaving(struct copy_state *from, int failed)
{
	if (failed)
		step_eviction(from);
	else
		end_eviction(from);
}

/* The disk did not take the bytes: nothing is there. */
static void refuse(struct copy_state *to)
{
	copy_release(to);
	spill_disk_refused(to->datum->node, to->memory);
}

/* Does the source keep its turn for it?  Else a writer may begin meanwhile. */
static int is_beside(enum purpose purpose)
{
	return purpose == TO_EVICT || purpose == TO_SPREAD;
}

/* The bytes have come; the datum is locked. */
static void land(struct transfer *transfer)
{
	struct copy_state *from = transfer->from, *to = transfer->to;
	struct data_body *body = to->datum->body;
	enum purpose purpose = transfer->purpose;
	int goes_on = purpose == TO_SPREAD && body->nholders >= 0;
	int failed = transfer->copy.error != 0;

	tell_copy(to->datum->node, &transfer->copy, EVENT_COPY_ENDS);
	ahead_count(to->datum->node, from->memory, to->memory, -1);
	to->incoming = 0;
	from->outgoing -= is_beside(purpose);
	if (transfer->epoch == body->epoch) {
		if (!failed)
			data_set_memories(&body->valid,
					  body->valid | memory_bit(to->memory));
		data_set_memories(&body->arriving,
				  body->arriving & ~memory_bit(to->memory));
	}
	free_transfer(to->datum->node, transfer);
	if (purpose != TO_FETCH)
		copy_unuse(to, NULL);
	if (failed) {
		orr_add(&to->datum->node->memories[to->memory].nlost, 1);
		refuse(to);
	}
	if (purpose == TO_EVICT)
		end_leaving(from, failed);
	else
		copy_unuse(from, NULL);
	/* Nobody writes now, and the copy can be written to again. */
	if (goes_on && !failed && (data_flags(to->datum) & DATUM_WRITES_THROUGH))
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
	copy_unuse(from, NULL);
	if (purpose != TO_FETCH)
		copy_unuse(to, NULL);
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
	transfer = new_transfer(datum->node);
	event_unname(&datum->node->events, &transfer->copy, EVENT_NAMES_COPY);
	transfer->copy = (struct plat_copy){.from = from->memory,
					    .to = to->memory,
					    .bytes = data_moved_bytes(datum),
					    .from_interface = from->interface,
					    .to_interface = to->interface,
					    .methods = datum->ops->copy_methods,
					    .owner = datum,
					    .may_fail = purpose == TO_EVICT ||
							purpose == TO_SPREAD,
					    .done = arrived};
	transfer->from = from;
	transfer->to = to;
	transfer->epoch = datum->body->epoch;
	transfer->purpose = purpose;
	transfer->converts = NULL;
	ORR_ASSERT(!to->incoming && copy_is_valid(from));
	to->incoming = 1;
	from->outgoing += is_beside(purpose);
	data_set_memories(&datum->body->arriving,
			  datum->body->arriving | memory_bit(to->memory));
	if (datum->ops->is_multiformat) {
		transfer->converts = convert_codelet(from, to);
		transfer->copy.bytes = convert_bytes(from);
	}
	orr_add(&datum->node->ntransfers, 1);
	tell_copy(datum->node, &transfer->copy, EVENT_COPY_BEGINS);
	ahead_count(datum->node, from->memory, to->memory, 1);
	if (routes_copy(datum->node, &transfer->copy) && !convert(transfer)) {
		land(transfer);
		orr_add(&datum->node->ntransfers, -1);
	}
}

static void wait_for_copy(struct access *access, struct copy_state *copy)
{
	access->next = copy->waiters;
	copy->waiters = access;
}

/* One hop, to a copy that nobody uses yet: it may have to wait for room. */
static struct copy_state *hop_to_stop(struct copy_state *from, unsigned memory)
{
	struct copy_state *stop = data_copy(from->datum, memory);

	if (stop->incoming || stop->awaits_room)
		return stop;
	if (copy_reserve(stop)) {
		buffers_allocate(stop);
		copy_use(from);
		start_transfer(from, stop, TO_STOP);
	} else {
		spill_stand_in_line(stop, NULL);
	}
	return stop;
}

/* Bring the value one hop towards the access's copy; returns where that ends. */
static struct copy_state *hop(struct access *access)
{
	struct copy_state *to = access->copy;
	struct copy_state *from = way_source(to);
	unsigned next;

	if (!from)
		complain_no_value(access);
	next = way_next(from, to);
	if (next != to->memory)
		return hop_to_stop(from, next);
	if (!to->incoming) {
		copy_use(from);
		start_transfer(from, to, TO_FETCH);
	}
	return to;
}

/* A hint about a value that has been taken back meanwhile. */
static int is_moot(const struct access *access)
{
	return access->job->is_hint && !access->copy->datum->body->has_value;
}

/* Who copies the bytes may read them with the application's functions, which must not
 * find a value that is half another one: neither that of who has the access, nor that of
 * who gets the bytes from it.  Where threads take turns nobody looks meanwhile. */
static int is_being_read(const struct access *access)
{
	return access->copy->outgoing > 0 &&
	       ((access->mode & (STARPU_W | STARPU_REDUX)) ||
		access->job->ops->gives_bytes) &&
	       !access->job->node->machine->takes_turns;
}

/* Its copy is not usable as it is.  As coherency_bring(). */
static int bring(struct access *access) __attribute__((noinline));

static int bring(struct access *access)
{
	struct copy_state *copy = access->copy, *stop = mapped_bytes(copy);

	while (!stop->incoming && (stop == copy || !stop->awaits_room)) {
		if (!copy->allocated)
			buffers_allocate(copy);
		if (!needs_value(access) || copy_is_valid(copy) || is_moot(access)) {
			if (is_being_read(access))
				break;
			settle(access);
			return 1;
		}
		stop = hop(access);
	}
	wait_for_copy(access, stop->incoming || stop->awaits_room ? stop : copy);
	return 0;
}

/* Nothing travels to the copy or from it, and it has what the access needs. */
static inline int is_usable(const struct access *access)
{
	const struct copy_state *copy = access->copy;

	return copy->allocated && !copy->incoming && !copy->mapped &&
	       copy->outgoing == 0 && (!needs_value(access) || copy_is_valid(copy));
}

int coherency_bring(struct access *access)
{
	if (!is_usable(access))
		return bring(access);
	settle(access);
	return 1;
}

static void access_fetched(struct access *access)
{
	struct job *job = access->job;
	const struct job_ops *ops = job->ops;
	/* When the last copy has been counted its worker may run the job at once. */
	struct worker *worker = job->worker;

	int is_part = job->booking != 0;
	int left = orr_add(&job->nfetching, -1);

	if (left == 0)
		ops->fetched(job, worker);
	else if (left == 1 && is_part)
		coherency_fetched_in(job);
}

/* Those that waited for a transfer to this copy; returns who has all, linked. */
static struct access *bring_again(struct copy_state *copy)
{
	struct access *waiters = copy->waiters, *settled = NULL, **last = &settled;

	copy->waiters = NULL;
	while (waiters) {
		struct access *access = waiters;

		waiters = access->next;
		if (!coherency_bring(access))
			continue;
		access->next = NULL;
		*last = access;
		last = &access->next;
	}
	return settled;
}

/* ---- evictions ------------------------------------------------------- */

/* It stays where it is: nobody else has the value. */
static void stay(struct copy_state *copy)
{
	if (!room_stay(copy))
		copy_unuse(copy, NULL);
}

/* Is it leaving, and nobody else has the value? */
static int must_move(struct copy_state *copy)
{
	return room_is_leaving(copy) && copy_is_valid(copy) &&
	       !copy_is_valid_elsewhere(copy);
}

/* The copy is being evicted; the datum is locked. */
static void step_eviction(struct copy_state *copy)
{
	struct copy_state *to;

	if (!must_move(copy)) {
		end_eviction(copy);
		return;
	}
	switch (spill_choose(copy, &to)) {
	case SPILL_GOES:
		buffers_allocate(to);
		start_transfer(copy, to, TO_EVICT);
		break;
	case SPILL_WAITS:
		/* A stale value is on its way there. */
		copy->evict_waits = copy->datum->body->main.some_wait = 1;
		break;
	case SPILL_LINES:
		spill_stand_in_line(to, copy);
		break;
	case SPILL_STAYS:
		stay(copy);
		break;
	}
}

/* Where evicted values go, they can go again.  1: some of other memories did, or had not
 * to any more. */
static int resume_evictions(starpu_data_handle_t datum)
{
	int resumed = 0;

	if (!datum->body->main.some_wait)
		return 0;
	datum->body->main.some_wait = 0;
	for (int i = 0; i < node_nmemories(datum->node); i++) {
		struct copy_state *copy = data_find_copy(datum, (unsigned)i);

		if (!copy || !copy->evict_waits)
			continue;
		copy->evict_waits = 0;
		step_eviction(copy);
		resumed = 1;
	}
	return resumed;
}

/* ---- copies that nobody waits for ------------------------------------- */

/* Can the value come at once from where it is? */
static int is_one_hop(starpu_data_handle_t datum, unsigned memory)
{
	const struct starpu_data_copy_methods *methods = datum->ops->copy_methods;

	if (routes_differ(datum->node) || (methods && methods->can_copy))
		return 0;
	for (uint64_t left = datum->body->valid; left; left &= left - 1)
		if (route(datum->node, (unsigned)__builtin_ctzll(left), memory)->next ==
		    memory)
			return 1;
	return 0;
}

/* Of a full memory, this is asked for one datum after the other: before there is a copy
 * in it, and for as little as possible. */
static int finds_no_room(starpu_data_handle_t datum, unsigned memory)
{
	const struct copy_state *to = data_find_copy(datum, memory);

	if (memory_is_main(datum->node, memory) || (to && !room_is_unmade(to)))
		return 0;
	return !room_is_free(datum->node, memory, data_alloc_bytes(datum)) &&
	       is_one_hop(datum, memory);
}

void coherency_send(starpu_data_handle_t datum, unsigned memory)
{
	struct copy_state *to, *from;

	if (finds_no_room(datum, memory))
		return;
	to = data_copy(datum, memory);
	mapped_try(to); /* Then it comes to other bytes. */
	from = way_source(to);
	to = data_copy(datum, way_next(from, to));
	if (!copy_reserve(to))
		return;
	if (!buffers_try(to)) {
		copy_give_back(to);
		return;
	}
	copy_use(from);
	start_transfer(from, to, TO_SPREAD);
}

/* ---- ends of transfers ----------------------------------------------- */

static void tell_fetched(struct access *settled)
{
	while (settled) {
		struct access *access = settled;

		settled = access->next;
		access_fetched(access);
	}
}

/* Somebody may have begun to stand in line, or given back, in the first main memory. */
static void serve_passages(struct node *node)
{
	room_serve(node, STARPU_MAIN_RAM);
}

/* Nothing of it is left. */
static void end_transfer(struct node *node)
{
	struct plat *plat = node->plat;
	struct plat_gate *gate;

	if (orr_add(&node->ntransfers, -1) > 0)
		return;
	gate = orr_load_ptr((void **)&node->quiet);
	if (gate && orr_cas_ptr((void **)&node->quiet, gate, NULL))
		plat_gate_open(plat, gate);
}

/* All of it at once. */
static void expect_arrival(const struct transfer *transfer)
{
	const struct _starpu_data_state *datum = transfer->copy.owner;

	orr_bring(transfer->from);
	orr_bring(transfer->to);
	orr_bring(datum->body);
	orr_bring(&datum->body->valid);
}

static void arrived(struct plat_copy *plat_copy)
{
	struct transfer *transfer = ORR_CONTAINER(plat_copy, struct transfer, copy);
	struct copy_state *source = transfer->from, *to = transfer->to;
	starpu_data_handle_t datum = plat_copy->owner;
	struct node *node = datum->node;
	struct access *settled, *written = NULL;
	unsigned from, target;
	int resumed = 0;

	expect_arrival(transfer);
	from = source->memory;
	target = to->memory;
	if (convert(transfer))
		return;
	orr_lock(&datum->lock);
	land(transfer);
	settled = bring_again(to);
	if (source->outgoing == 0 && !source->incoming)
		written = bring_again(source);
	if (target == data_haven(datum))
		resumed = resume_evictions(datum);
	coherency_unlock_used(datum);
	tell_fetched(settled);
	tell_fetched(written);
	room_serve(node, from);
	room_serve(node, target);
	if (resumed)
		coherency_serve_all(node);
	serve_passages(node);
	ahead_serve(node, from);
	ahead_serve(node, target);
	if (orr_load(&node->nquiet) > 0 && ahead_room(&node->memories[target]) > 0)
		contexts_quiet(node, target);
	end_transfer(node);
}

void coherency_settle_all(struct node *node)
{
	struct plat_gate gate;

	if (orr_load(&node->ntransfers) == 0)
		return;
	plat_gate_init(&gate);
	orr_swap_ptr((void **)&node->quiet, &gate);
	/* The last one may not have seen the gate: then it is still ours. */
	if (orr_load(&node->ntransfers) == 0 && orr_swap_ptr((void **)&node->quiet, NULL))
		return;
	plat_gate_wait(node->plat, &gate);
}

void coherency_evict(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;
	struct node *node = datum->node;
	unsigned memory = copy->memory;
	int moves;

	buffers_tell(copy, EVENT_EVICTED);
	orr_lock(&datum->lock);
	moves = must_move(copy);
	orr_unlock(&datum->lock);
	if (moves)
		spill_make_way(copy);
	orr_lock(&datum->lock);
	step_eviction(copy);
	coherency_unlock_used(datum);
	room_serve(node, memory);
	serve_passages(node);
}

void coherency_drop(struct copy_state *copy)
{
	starpu_data_handle_t datum = copy->datum;

	orr_lock(&datum->lock);
	if (must_move(copy)) {
		stay(copy);
	} else {
		buffers_tell(copy, EVENT_EVICTED);
		end_eviction(copy);
	}
	coherency_unlock_used(datum);
}

void coherency_pass(struct copy_state *copy, struct copy_state *leaving)
{
	starpu_data_handle_t datum = copy->datum;
	struct node *node = datum->node;
	unsigned memory = copy->memory, from = leaving ? leaving->memory : memory;
	struct access *settled = NULL;

	orr_lock(&datum->lock);
	if (leaving) {
		step_eviction(leaving);
	} else {
		copy->awaits_room = 0;
		settled = bring_again(copy);
	}
	copy_unuse(copy, NULL);
	coherency_unlock_used(datum);
	tell_fetched(settled);
	room_serve(node, memory);
	room_serve(node, from);
}
