/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/large.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/task/expect.h"
#include "mpi/ahead.h"
#include "mpi/engine_messages.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

/* One half of a large transfer. */
struct half {
	struct net_bulk bulk; /* first */
	struct outgoing outgoing;
	struct mpi *mpi;
	struct request *request; /* that it is for; or */
	struct early *early;     /* it goes to temporary memory */
	struct heap_entry order; /* of a put, until few enough others move; how urgent */
	struct half *next, **at; /* of a put that moves */
	/* A get of a shared value: its owner, the request there, and whether the value is
	 * to be kept for others. */
	int owner, is_kept;
	uint64_t sender; /* of one that is taken from its place, too */
};

enum { NO_KEY = NET_KEYS, MAX_TAKING = 2 };

/* So many move in any case: the second uses what the first leaves when its receiver is
 * slow. */
enum { ENOUGH_PUTS = 2 };

void large_init(struct large *large, struct pool_commons *commons)
{
	list_init(&large->line);
	pool_init_among(&large->halves, sizeof(struct half), commons);
}

void large_free(struct large *large)
{
	table_free(&large->shared);
	heap_free(&large->others);
	heap_free(&large->puts);
	free(large->free_keys);
	pool_free(&large->halves);
}

/* ---- keys ------------------------------------------------------------ */

/* Of what a node pushes; one at a time to each receiver. */
static uint32_t key_of_rank(int rank)
{
	return NET_KEYS - 1 - (uint32_t)rank;
}

/* The window keeps them below the senders'. */
static uint32_t take_key(struct large *large)
{
	if (large->nfree_keys > 0)
		return large->free_keys[--large->nfree_keys];
	return large->nkeys++;
}

static void give_key(struct large *large, uint32_t key)
{
	if (key >= large->nkeys) /* a sender's */
		return;
	if (large->nfree_keys == large->free_keys_capacity) {
		uint32_t capacity = large->free_keys_capacity;

		capacity = capacity ? 2 * capacity : 16;
		large->free_keys = orr_realloc(large->free_keys,
					       capacity * sizeof(*large->free_keys));
		large->free_keys_capacity = capacity;
	}
	large->free_keys[large->nfree_keys++] = key;
}

/* ---- halves ---------------------------------------------------------- */

static struct half *half_new(struct mpi *mpi, int peer, uint32_t key,
			     void (*done)(struct net_bulk *bulk))
{
	struct half *half = pool_get(&mpi->engine.large.halves);

	memset(half, 0, sizeof(*half));
	half->bulk.peer = peer;
	half->bulk.key = key;
	half->bulk.done = done;
	half->mpi = mpi;
	return half;
}

/* The engine is locked. */
static void half_start(struct half *half, enum outgoing_kind kind)
{
	half->outgoing.kind = kind;
	half->outgoing.what.bulk = &half->bulk;
	engine_flies(half->mpi, 1);
	engine_note(half->mpi, &half->outgoing);
}

static int is_in_ram(const struct mpi *mpi, const struct request *request)
{
	return !(mpi->net->memories >> request->payload.memory & 1);
}

static void check(const struct half *half, int ret)
{
	char text[320] = "into temporary memory";

	if (ret >= 0)
		return;
	if (half->request)
		request_describe(half->request, text, sizeof(text));
	if (ret == -ESRCH)
		orr_die(half->mpi->rank,
			"the process of rank %d is gone, it was killed or has left: %s",
			half->bulk.peer, text);
	orr_die(half->mpi->rank, "the transport fails with error %d: %s", -ret, text);
}

/* ---- the receiver ---------------------------------------------------- */

static void start_wanted(struct mpi *mpi);

/* Who has payloads of its own to send keeps none: they would have to wait.  And what is
 * unpacked at its end is not there any more in the form in which it came. */
static int may_keep(const struct half *half)
{
	const struct large *large = &half->mpi->engine.large;

	return half->request && !half->request->payload.is_packed && large->nputs == 0 &&
	       large->puts.count == 0;
}

/* The owner hears of it when somebody else sent it, or it is to be kept. */
static void shared_arrived(struct half *half)
{
	struct mpi *mpi = half->mpi;

	table_remove(&mpi->engine.large.shared, half->bulk.key);
	if (half->is_kept)
		coop_tell(mpi, half->owner, half->sender, WIRE_KNOWN,
			  may_keep(half) ? half->request : NULL);
	else if (half->bulk.peer != half->owner)
		coop_tell(mpi, half->owner, half->sender, 0, NULL);
}

/* To who has announced it.  What has been taken is not heard of in any other message. */
static void answer(struct half *half, enum wire_kind kind, size_t head_bytes)
{
	struct wire_head head = {
		.kind = (uint8_t)kind, .sender = half->sender, .key = half->bulk.key};
	const struct request *receive =
		half->request ? half->request : half->early->receive;

	if (kind == WIRE_TAKEN &&
	    engine_tell(half->mpi, half->bulk.peer, &head, head_bytes))
		return;
	engine_send_about(half->mpi, half->bulk.peer, mpi_priority(half->mpi, receive),
			  &head, head_bytes);
}

/* What it takes from its place: 0: that memory cannot be read by others, and the peer
 * puts it after all. */
static int is_taken(struct half *half)
{
	struct mpi *mpi = half->mpi;
	struct net_bulk *bulk = &half->bulk;

	if (bulk->status == -EFAULT || bulk->status == -EPERM) {
		mpi->engine.large.ntaking--;
		bulk->from = 0;
		bulk->key = take_key(&mpi->engine.large);
		engine_flies(mpi, -1);
		half_start(half, OUTGOING_GET);
		answer(half, WIRE_GRANT, WIRE_GRANT_BYTES);
		half->sender = 0;
		return 0;
	}
	check(half, bulk->status);
	answer(half, WIRE_TAKEN, WIRE_TAKEN_BYTES);
	mpi->engine.large.ntaking--;
	half->sender = 0;
	return 1;
}

static void get_done(struct net_bulk *bulk)
{
	struct half *half = (struct half *)(void *)bulk;
	struct mpi *mpi = half->mpi;
	struct large *large = &mpi->engine.large;

	engine_lock(&mpi->engine);
	if (bulk->from && !is_taken(half)) {
		engine_unlock_called_back(mpi);
		return;
	}
	check(half, bulk->status);
	engine_flies(mpi, -1);
	engine_happened(&mpi->engine);
	give_key(large, bulk->key);
	large->nmoving--;
	large->moving_bytes -= layout_bytes(&bulk->layout);
	if (half->sender)
		shared_arrived(half);
	if (half->request)
		finish_moved(mpi, half->request);
	else
		early_arrived(half->early);
	pool_put(&large->halves, half);
	start_wanted(mpi);
	engine_unlock_called_back(mpi);
}

/* Where it goes: in place when its receive is ready, which then needs no early. */
static void aim(struct half *half, struct early *early)
{
	struct layout *layout = &half->bulk.layout;

	if (early->is_taken_in) {
		half->early = early;
		early->state = EARLY_MOVING;
		layout_flat(layout, early->body, early->head.bytes);
		return;
	}
	half->request = early->receive;
	payload_layout(&half->request->payload, layout);
	half->request->early = NULL;
	request_move(half->request, REQUEST_MOVING);
	early_free(half->mpi, early);
}

/* The receive of what is announced as DIRECT: not into the memory of a device. */
static int may_take(const struct mpi *mpi, const struct early *early)
{
	return (early->head.flags & WIRE_DIRECT) &&
	       (early->is_taken_in || is_in_ram(mpi, early->receive));
}

/* Its key, or from where it is taken. */
static void aim_from(struct half *half, const struct early *early)
{
	struct large *large = &half->mpi->engine.large;

	half->sender = early->head.sender;
	if (may_take(half->mpi, early)) {
		half->bulk.from = early->head.key;
		half->bulk.is_spread = (early->head.flags & WIRE_SPREAD) != 0;
	}
	half->bulk.berth = ahead_keep(half->mpi, early);
	if (half->bulk.from)
		return;
	if (half->bulk.is_pushed)
		half->bulk.key = key_of_rank(half->bulk.peer);
	else
		half->bulk.key = take_key(large);
}

static void grant(struct mpi *mpi, struct early *early)
{
	struct large *large = &mpi->engine.large;
	int peer = early->match.source, is_shared = early->head.flags & WIRE_SHARED;
	struct half *half = half_new(mpi, peer, NO_KEY, get_done);

	half->bulk.is_pushed = (early->head.flags & WIRE_PUSHED) != 0;
	aim_from(half, early);
	aim(half, early);
	large->nmoving++;
	large->moving_bytes += layout_bytes(&half->bulk.layout);
	half_start(half, OUTGOING_GET);
	if (half->bulk.from) {
		large->ntaking++;
		return;
	}
	if (!half->bulk.is_pushed)
		answer(half, WIRE_GRANT, WIRE_GRANT_BYTES);
	if (is_shared) {
		half->owner = peer;
		half->bulk.peer = NET_ANYBODY;
		table_put(&large->shared, half->bulk.key, half);
	} else {
		half->sender = 0;
	}
}

void large_on_keep(struct mpi *mpi, int owner, const struct wire_head *head)
{
	struct half *half = table_get(&mpi->engine.large.shared, head->key);

	if (half && half->owner == owner && half->sender == head->sender)
		half->is_kept = 1;
	else /* It came before this. */
		coop_tell(mpi, owner, head->sender, WIRE_KNOWN, NULL);
}

/* What this node copies itself is copied one by one: no more than one waits behind that
 * which moves, so that what is more urgent goes before the others. */
static int has_room(const struct large *large, const struct early *early)
{
	uint64_t bytes = early->head.bytes;

	if ((early->head.flags & WIRE_DIRECT) && large->ntaking >= MAX_TAKING)
		return 0;
	if (large->nmoving == 0)
		return 1;
	return large->nmoving < large->max_moving && bytes <= large->max_moving_bytes &&
	       large->moving_bytes <= large->max_moving_bytes - bytes;
}

static void add_wanted(struct large *large, struct early *early, double date_s)
{
	struct list *last = large->line.prev;

	early->order.date_s = date_s;
	early->order.order = large->nwanted++;
	if (list_is_empty(&large->line) ||
	    LIST_ENTRY(last, struct early, link)->order.date_s == date_s)
		list_push_back(&large->line, &early->link);
	else
		heap_push_ordered(&large->others, &early->order, date_s,
				  early->order.order);
}

static void remove_wanted(struct large *large, struct early *early)
{
	if (early->order.place)
		heap_remove(&large->others, &early->order);
	else if (early->link.next)
		list_remove(&early->link);
}

static int goes_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->date_s < b->date_s || (a->date_s == b->date_s && a->order < b->order);
}

static struct early *most_wanted(const struct large *large)
{
	struct heap_entry *other =
		large->others.count ? large->others.keys[0].entry : NULL;
	struct early *first = NULL;

	if (!list_is_empty(&large->line))
		first = LIST_ENTRY(large->line.next, struct early, link);
	if (!other || (first && goes_before(&first->order, other)))
		return first;
	return ORR_CONTAINER(other, struct early, order);
}

/* The most urgent one is never overtaken, also when it alone does not fit. */
static void start_wanted(struct mpi *mpi)
{
	struct large *large = &mpi->engine.large;

	struct early *early;

	while ((early = most_wanted(large)) && has_room(large, early)) {
		remove_wanted(large, early);
		grant(mpi, early);
	}
}

void large_want(struct mpi *mpi, struct early *early)
{
	struct large *large = &mpi->engine.large;

	remove_wanted(large, early);
	add_wanted(large, early, -(double)mpi_priority(mpi, early->receive));
	start_wanted(mpi);
}

/* ---- more urgent than before ----------------------------------------- */

/* Among its equals it keeps its place. */
static void put_forward(struct heap *heap, struct heap_entry *entry, int priority)
{
	heap_remove(heap, entry);
	heap_push_ordered(heap, entry, -(double)priority, entry->order);
}

void large_raise(struct mpi *mpi, struct request *request)
{
	struct large *large = &mpi->engine.large;
	struct early *early = NULL;

	if (request->kind == REQUEST_RECEIVE)
		early = request_early(request);
	else if (request->put)
		put_forward(&large->puts, &request->put->order, request->priority);
	if (!early || early->state != EARLY_WANTED)
		return;
	remove_wanted(large, early);
	put_forward(&large->others, &early->order, request->priority);
}

/* ---- the sender ------------------------------------------------------ */

/* Those that move, the most urgent first. */
static void add_moving(struct large *large, struct half *half)
{
	struct half **at = &large->leaving;

	while (*at && (*at)->order.date_s < half->order.date_s)
		at = &(*at)->next;
	half->next = *at;
	half->at = at;
	if (half->next)
		half->next->at = &half->next;
	*at = half;
}

static void remove_moving(struct half *half)
{
	*half->at = half->next;
	if (half->next)
		half->next->at = half->at;
}

void large_expect_end(const struct net_bulk *bulk, int step)
{
	const struct half *half = (const struct half *)(const void *)bulk;
	const struct request *request = half->request;
	const struct access *access = request ? &request->acquire.access : NULL;

	if (step == 0) {
		engine_bring(&half->mpi->engine);
		if (request)
			orr_bring_lines(request, sizeof(*request));
	} else if (access && step == 1) {
		orr_bring(access->datum);
		orr_bring(access->copy);
	} else if (access && step == 2 && access->datum) {
		orr_bring(access->datum->body);
		orr_bring(&access->datum->body->valid);
	} else if (access && access->datum) {
		deps_expect_next_access(access);
	}
}

static void put_done(struct net_bulk *bulk)
{
	struct half *half = (struct half *)(void *)bulk;
	struct request *request = half->request;
	struct mpi *mpi = half->mpi;

	engine_lock(&mpi->engine);
	check(half, bulk->status);
	engine_flies(mpi, -1);
	engine_happened(&mpi->engine);
	remove_moving(half);
	mpi->engine.large.nputs--;
	mpi->engine.large.put_bytes -= layout_bytes(&bulk->layout);
	pool_put(&mpi->engine.large.halves, half);
	if (!coop_put_done(mpi, request))
		finish_moved(mpi, request);
	large_start_puts(mpi);
	engine_unlock_called_back(mpi);
}

/*
 * Those that move share the way out, so that many make the urgent one slow: few leave
 * beside a more urgent one.  As urgent ones are all wanted; of these too many do no harm
 * that is known here, and too few leave idle whom they are for.
 */
static int may_put(const struct large *large, const struct half *half)
{
	size_t bytes = layout_bytes(&half->bulk.layout), most = large->max_put_bytes;
	const struct half *first = large->leaving;

	if (large->max_puts > 0 && large->nputs + large->has_pushed >= large->max_puts)
		return 0;
	if (first && first->order.date_s < half->order.date_s &&
	    most > large->beside_bytes)
		most = large->beside_bytes;
	return large->nputs < ENOUGH_PUTS ||
	       (bytes <= most && large->put_bytes <= most - bytes);
}

void large_start_puts(struct mpi *mpi)
{
	struct large *large = &mpi->engine.large;

	while (large->puts.count > 0) {
		struct heap_entry *entry = large->puts.keys[0].entry;
		struct half *half = ORR_CONTAINER(entry, struct half, order);

		if (!may_put(large, half))
			return;
		heap_pop(&large->puts);
		add_moving(large, half);
		large->put_bytes += layout_bytes(&half->bulk.layout);
		if (half->request->kind == REQUEST_SEND) {
			half->request->put = NULL;
			coop_leaves(mpi, half->request);
			request_move(half->request, REQUEST_MOVING);
		}
		large->nputs++;
		half_start(half, OUTGOING_PUT);
	}
}

struct half *large_put(struct mpi *mpi, struct request *request,
		       const struct large_target *to)
{
	struct half *half = half_new(mpi, to->peer, to->key, put_done);

	half->request = request;
	half->bulk.datum = request_handle(request);
	payload_layout(&request->payload, &half->bulk.layout);
	heap_push(&mpi->engine.large.puts, &half->order, -(double)to->priority);
	return half;
}

void large_take_back(struct mpi *mpi, struct half *half)
{
	heap_remove(&mpi->engine.large.puts, &half->order);
	half->request->put = NULL;
	pool_put(&mpi->engine.large.halves, half);
}

static int may_push(const struct mpi *mpi)
{
	const struct large *large = &mpi->engine.large;

	/* Another one can move beside it whatever its receiver does. */
	return mpi->net->may_push && !large->has_pushed && large->nputs == 0 &&
	       large->puts.count == 0 && large->max_puts != 1 &&
	       mpi->net->size <= NET_KEYS - large->max_moving;
}

/* The layout stays while the request does. */
static int may_be_taken(const struct net *net, const struct payload *payload,
			uint64_t *from)
{
	if (!payload->is_strided) {
		*from = (uintptr_t)payload->base;
		return WIRE_DIRECT;
	}
	if (!net->ops->takes || !net->ops->takes(payload->strided))
		return 0;
	*from = (uintptr_t)payload->strided;
	return WIRE_DIRECT | WIRE_SPREAD;
}

int large_offer(const struct mpi *mpi, const struct request *request, uint64_t *from)
{
	const struct net *net = mpi->net;
	const struct payload *payload = &request->payload;
	int how = 0;

	if (net->ops->reaches && payload->base && payload->bytes > 0 &&
	    is_in_ram(mpi, request) && net->ops->reaches(net, request->match.source))
		how = may_be_taken(net, payload, from);
	if (how)
		return how;
	return may_push(mpi) ? WIRE_PUSHED : 0;
}

static void push_done(struct net_bulk *bulk)
{
	struct half *half = (struct half *)(void *)bulk;
	struct request *request = half->request;
	struct mpi *mpi = half->mpi;
	struct large *large = &mpi->engine.large;

	engine_lock(&mpi->engine);
	check(half, bulk->status);
	engine_happened(&mpi->engine);
	large->has_pushed = 0;
	pool_put(&large->halves, half);
	finish_moved(mpi, request);
	large_start_puts(mpi);
	engine_unlock_called_back(mpi);
}

/* It does not count as flying: nothing may ever come of it. */
void large_push(struct mpi *mpi, struct request *request)
{
	struct large *large = &mpi->engine.large;
	struct half *half = half_new(mpi, request->match.source,
				     key_of_rank(mpi->net->rank), push_done);

	half->request = request;
	half->bulk.datum = request_handle(request);
	payload_layout(&request->payload, &half->bulk.layout);
	half->bulk.is_pushed = 1;
	half->outgoing.kind = OUTGOING_PUT;
	half->outgoing.what.bulk = &half->bulk;
	large->has_pushed = 1;
	engine_note(mpi, &half->outgoing);
}

void large_on_taken(struct mpi *mpi, const struct wire_head *head)
{
	struct request *request = (struct request *)(uintptr_t)head->sender;

	engine_happened(&mpi->engine);
	ahead_answered(mpi, request);
	finish_moved(mpi, request);
}

void large_on_grant(struct mpi *mpi, const struct wire_head *head)
{
	struct request *request = (struct request *)(uintptr_t)head->sender;
	struct large_target to = {.peer = request->match.source,
				  .key = (uint32_t)head->key,
				  .priority = mpi_priority(mpi, request)};

	ahead_answered(mpi, request);
	request_move(request, REQUEST_GRANTED);
	request->put = large_put(mpi, request, &to);
	coop_on_grant(request, &to, request->put);
	large_start_puts(mpi);
	if (request->state == REQUEST_GRANTED)
		coop_granted(mpi, request);
}
