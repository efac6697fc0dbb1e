/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/large.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

/* One half of a large transfer. */
struct half {
	struct net_bulk bulk; /* first */
	struct outgoing outgoing;
	struct mpi *mpi;
	struct request *request; /* that it is for; or */
	struct early *early;     /* it goes to temporary memory */
};

void large_init(struct large *large)
{
	pool_init(&large->halves, sizeof(struct half));
}

void large_free(struct large *large)
{
	heap_free(&large->wanted);
	heap_free(&large->granted);
	free(large->free_keys);
	pool_free(&large->halves);
}

/* ---- keys ------------------------------------------------------------ */

/* The window keeps them below the transport's limit. */
static uint32_t take_key(struct large *large)
{
	if (large->nfree_keys > 0)
		return large->free_keys[--large->nfree_keys];
	return large->nkeys++;
}

static void give_key(struct large *large, uint32_t key)
{
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

static void check(const struct half *half, int ret)
{
	char text[320] = "into temporary memory";

	if (ret >= 0)
		return;
	if (half->request)
		request_describe(half->request, text, sizeof(text));
	orr_die(half->mpi->rank, "the transport fails with error %d: %s", -ret, text);
}

/* ---- the receiver ---------------------------------------------------- */

static void start_wanted(struct mpi *mpi);

static void get_done(struct net_bulk *bulk)
{
	struct half *half = (struct half *)(void *)bulk;
	struct mpi *mpi = half->mpi;
	struct large *large = &mpi->engine.large;

	engine_lock(&mpi->engine);
	check(half, bulk->status);
	engine_flies(mpi, -1);
	orr_next(&mpi->engine.nevents);
	give_key(large, bulk->key);
	large->nmoving--;
	large->moving_bytes -= layout_bytes(&bulk->layout);
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
	*layout = half->request->payload.layout;
	half->request->early = NULL;
	request_move(half->request, REQUEST_MOVING);
	early_free(half->mpi, early);
}

static void grant(struct mpi *mpi, struct early *early)
{
	struct large *large = &mpi->engine.large;
	struct wire_head head = {.kind = WIRE_GRANT, .sender = early->head.sender};
	int peer = early->match.source;
	struct half *half = half_new(mpi, peer, take_key(large), get_done);

	head.key = half->bulk.key;
	aim(half, early);
	large->nmoving++;
	large->moving_bytes += layout_bytes(&half->bulk.layout);
	half_start(half, OUTGOING_GET);
	engine_send_control(mpi, peer, &head, WIRE_GRANT_BYTES);
}

static int has_room(const struct large *large, uint64_t bytes)
{
	if (large->nmoving == 0)
		return 1;
	return large->nmoving < large->max_moving && bytes <= large->max_moving_bytes &&
	       large->moving_bytes <= large->max_moving_bytes - bytes;
}

/* The most urgent one is never overtaken, also when it alone does not fit. */
static void start_wanted(struct mpi *mpi)
{
	struct large *large = &mpi->engine.large;

	while (large->wanted.count > 0) {
		struct heap_entry *entry = large->wanted.keys[0].entry;
		struct early *early = ORR_CONTAINER(entry, struct early, order);

		if (!has_room(large, early->head.bytes))
			return;
		heap_pop(&large->wanted);
		grant(mpi, early);
	}
}

void large_want(struct mpi *mpi, struct early *early)
{
	struct large *large = &mpi->engine.large;
	int priority = 0;

	if (early->receive && mpi->has_priorities)
		priority = early->receive->priority;
	heap_remove(&large->wanted, &early->order);
	heap_push(&large->wanted, &early->order, -(double)priority);
	start_wanted(mpi);
}

/* ---- the sender ------------------------------------------------------ */

static void start_granted(struct mpi *mpi);

static void put_done(struct net_bulk *bulk)
{
	struct half *half = (struct half *)(void *)bulk;
	struct request *request = half->request;
	struct mpi *mpi = half->mpi;

	engine_lock(&mpi->engine);
	check(half, bulk->status);
	engine_flies(mpi, -1);
	orr_next(&mpi->engine.nevents);
	mpi->engine.large.nputs--;
	pool_put(&mpi->engine.large.halves, half);
	finish_moved(mpi, request);
	start_granted(mpi);
	engine_unlock_called_back(mpi);
}

/* Start granted sends, the most urgent first, up to the limit. */
static void start_granted(struct mpi *mpi)
{
	struct large *large = &mpi->engine.large;
	int limit = large->max_puts;

	while (large->granted.count > 0 && (limit == 0 || large->nputs < limit)) {
		struct heap_entry *entry = heap_pop(&large->granted);
		struct request *request = ORR_CONTAINER(entry, struct request, order);
		struct net_bulk *bulk = request->bulk;

		request->bulk = NULL;
		request_move(request, REQUEST_MOVING);
		large->nputs++;
		half_start((struct half *)(void *)bulk, OUTGOING_PUT);
	}
}

void large_on_grant(struct mpi *mpi, const struct wire_head *head)
{
	struct request *request = (struct request *)(uintptr_t)head->sender;
	int priority = mpi->has_priorities ? request->priority : 0;
	struct half *half =
		half_new(mpi, request->net_peer, (uint32_t)head->key, put_done);

	half->request = request;
	half->bulk.layout = request->payload.layout;
	request_move(request, REQUEST_GRANTED);
	request->bulk = &half->bulk;
	heap_push(&mpi->engine.large.granted, &request->order, -(double)priority);
	start_granted(mpi);
}
