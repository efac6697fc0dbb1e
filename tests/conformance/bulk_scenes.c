/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "letters.h"

/* ---- bulks ----------------------------------------------------------- */

struct parcel {
	struct net_bulk bulk; /* first */
	struct actor *actor;
	int is_starting, is_misfit; /* the receiver must hear of it, the sender may */
	char *memory;               /* owned */
	size_t memory_bytes;
};

enum { MAX_PARCELS = 32 };

struct parcels {
	int n;
	struct parcel parcels[MAX_PARCELS];
};

static void parcel_done(struct net_bulk *bulk)
{
	struct parcel *parcel = (struct parcel *)bulk;
	int wanted = parcel->is_misfit ? -EMSGSIZE : 0;
	int is_sender = parcel->actor->rank == 0;

	EXPECT(parcel->actor, !parcel->is_starting, "done ran inside put or get");
	EXPECT(parcel->actor, bulk->status == wanted || (is_sender && bulk->status == 0),
	       "key %u: the status is %d instead of %d", bulk->key, bulk->status, wanted);
	actor_ended(parcel->actor);
}

static struct parcel *parcel_new(struct actor *actor, int peer, uint32_t key,
				 struct layout layout)
{
	struct parcels *parcels = actor->data;
	struct parcel *parcel = &parcels->parcels[parcels->n++];
	size_t bytes = layout_extent_bytes(&layout);

	ORR_ASSERT(parcels->n <= MAX_PARCELS);
	parcel->actor = actor;
	parcel->memory = orr_alloc(bytes);
	parcel->memory_bytes = bytes;
	parcel->bulk = (struct net_bulk){
		.peer = peer, .key = key, .layout = layout, .done = parcel_done};
	parcel->bulk.layout.base = parcel->memory;
	return parcel;
}

/* The lock is held. */
static void parcel_start(struct parcel *parcel, int is_put)
{
	const struct net_ops *ops = parcel->actor->net->ops;
	int ret;

	parcel->is_starting = 1;
	ret = (is_put ? ops->put : ops->get)(parcel->actor->net, &parcel->bulk);
	parcel->is_starting = 0;
	EXPECT(parcel->actor, ret == 0, "%s returned %d", is_put ? "put" : "get", ret);
}

static void parcels_free(struct actor *actor)
{
	struct parcels *parcels = actor->data;

	for (int i = 0; i < parcels->n; i++)
		free(parcels->parcels[i].memory);
}

/* Byte i of the payload, wherever it lies. */
static char *payload_at(const struct layout *layout, size_t i)
{
	char *at = layout->base + i % layout->block_bytes;

	i /= layout->block_bytes;
	for (int k = 0; k < layout->ndims; k++) {
		at += i % layout->dims[k].count * layout->dims[k].stride_bytes;
		i /= layout->dims[k].count;
	}
	return at;
}

static char payload_byte(uint32_t key, size_t i)
{
	return (char)(i * 7 + i / 251 + key + 1);
}

/* What is sent in which layout, and received in which. */
static const struct layout shapes[][2] = {
	{{NULL, 1, 0, {{0}}}, {NULL, 1, 0, {{0}}}},
	{{NULL, 65536, 0, {{0}}}, {NULL, 65536, 0, {{0}}}},
	{{NULL, 3 << 20, 0, {{0}}}, {NULL, 3 << 20, 0, {{0}}}},
	{{NULL, 800, 1, {{100, 1000}}}, {NULL, 800, 1, {{100, 1000}}}},
	{{NULL, 800, 1, {{100, 1000}}}, {NULL, 80000, 0, {{0}}}},
	{{NULL, 80000, 0, {{0}}}, {NULL, 8, 1, {{10000, 24}}}},
	{{NULL, 3, 1, {{1000, 7}}}, {NULL, 300, 1, {{10, 333}}}},
	{{NULL, 1000, 1, {{50, 1000}}}, {NULL, 500, 1, {{100, 500}}}},
	{{NULL, 24, 2, {{30, 40}, {20, 1300}}}, {NULL, 14400, 0, {{0}}}},
	{{NULL, 24, 2, {{30, 40}, {20, 1300}}}, {NULL, 16, 2, {{9, 17}, {100, 160}}}},
	{{NULL, 5, 4, {{4, 7}, {3, 30}, {6, 99}, {2, 700}}},
	 {NULL, 8, 3, {{9, 9}, {5, 90}, {2, 451}}}},
};

enum { NSHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void sizes_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct parcels));
	actor_expect(actor, 2 * NSHAPES);
}

/* Halves meet whichever comes first: even nodes get first, odd nodes put first. */
static void sizes_start(struct actor *actor)
{
	int left = (actor->rank + actor->size - 1) % actor->size;
	int right = (actor->rank + 1) % actor->size;

	orr_lock(&actor->lock);
	for (uint32_t i = 0; i < 2 * NSHAPES; i++) {
		int is_put = (int)(i + (uint32_t)actor->rank) % 2;
		uint32_t key = i / 2;
		int from = key % 2 ? NET_ANYBODY : left;
		struct parcel *parcel = parcel_new(actor, is_put ? right : from, key,
						   shapes[key][is_put ? 0 : 1]);
		struct layout *layout = &parcel->bulk.layout;

		for (size_t k = 0; is_put && k < layout_bytes(layout); k++)
			*payload_at(layout, k) = payload_byte(key, k);
		parcel_start(parcel, is_put);
	}
	orr_unlock(&actor->lock);
}

static void sizes_check(struct actor *actor)
{
	struct parcels *parcels = actor->data;

	for (int i = 0; i < parcels->n; i++) {
		const struct net_bulk *bulk = &parcels->parcels[i].bulk;
		size_t bytes = layout_bytes(&bulk->layout), k = 0, touched = 0;

		EXPECT(actor, bulk->peer >= 0 && bulk->peer < actor->size,
		       "shape %u: the peer is %d afterwards", bulk->key, bulk->peer);
		while (k < bytes &&
		       *payload_at(&bulk->layout, k) == payload_byte(bulk->key, k))
			k++;
		EXPECT(actor, k == bytes, "shape %u is wrong from byte %zu of %zu",
		       bulk->key, k, bytes);
		/* Nothing between the blocks was written. */
		for (k = 0; k < bytes; k++)
			*payload_at(&bulk->layout, k) = 0;
		for (k = 0; k < parcels->parcels[i].memory_bytes; k++)
			touched += parcels->parcels[i].memory[k] != 0;
		EXPECT(actor, touched == 0, "shape %u: %zu bytes between blocks changed",
		       bulk->key, touched);
	}
	parcels_free(actor);
}

/* ---- bulks that do not fit, or do not exist -------------------------- */

static const struct layout hundred = {NULL, 100, 0, {{0}}}, fifty = {NULL, 50, 0, {{0}}};

static void misfit_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct parcels));
	actor_expect(actor, actor->rank < 2 ? 2 : 0);
}

/* Node 1 gets less, then more than node 0 puts. */
static void misfit_start(struct actor *actor)
{
	struct parcel *first, *second;

	if (actor->rank >= 2)
		return;
	first = parcel_new(actor, !actor->rank, 5, actor->rank ? hundred : fifty);
	second = parcel_new(actor, !actor->rank, 6, actor->rank ? fifty : hundred);
	first->is_misfit = second->is_misfit = 1;
	orr_lock(&actor->lock);
	parcel_start(first, !actor->rank);
	parcel_start(second, !actor->rank);
	orr_unlock(&actor->lock);
}

static void nothing_start(struct actor *actor)
{
	static const struct layout large = {NULL, 1000, 1, {{200, 4000}}};
	struct parcel *parcels[2];

	if (actor->rank >= 2)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		parcels[i] = parcel_new(actor, !actor->rank, i, i ? large : fifty);
		parcels[i]->bulk.layout.base = NULL;
	}
	orr_lock(&actor->lock);
	for (int i = 0; i < 2; i++)
		parcel_start(parcels[i], !actor->rank);
	orr_unlock(&actor->lock);
}

/* ---- one key again and again ----------------------------------------- */

enum { NREUSES = 20 };

static void reuse_done(struct net_bulk *bulk)
{
	struct parcel *parcel = (struct parcel *)bulk;
	struct actor *actor = parcel->actor;
	int *round = (int *)(void *)parcel->memory;

	EXPECT(actor, bulk->status == 0, "the status is %d", bulk->status);
	EXPECT(actor, actor->rank == 0 || round[0] == round[1], "round %d received %d",
	       round[1], round[0]);
	round[1]++;
	if (actor->rank == 0)
		round[0] = round[1];
	actor_ended(actor);
	if (round[1] < NREUSES)
		parcel_start(parcel, !actor->rank);
}

static void reuse_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct parcels));
	actor_expect(actor, actor->rank < 2 ? NREUSES : 0);
}

/* round[0] is the payload, round[1] counts. */
static void reuse_start(struct actor *actor)
{
	static const struct layout pair = {NULL, sizeof(int), 0, {{0}}};
	struct parcel *parcel;

	if (actor->rank >= 2)
		return;
	parcel = parcel_new(actor, !actor->rank, 1048575, pair);
	free(parcel->memory);
	parcel->memory = parcel->bulk.layout.base = orr_alloc(2 * sizeof(int));
	parcel->bulk.done = reuse_done;
	orr_lock(&actor->lock);
	parcel_start(parcel, !actor->rank);
	orr_unlock(&actor->lock);
}

/* ---- a put whose get comes late -------------------------------------- */

enum { LATE_LOOKS = 2000, LATE_PIECES = 16, LATE_EVENTS = 2 };

static const struct layout late_layout = {NULL, 1 << 17, 0, {{0}}};

struct late {
	struct parcels parcels; /* first */
	struct letter letter;
	uint64_t npieces; /* of those before */
};

static void late_prepare(struct actor *actor)
{
	struct late *late = orr_alloc(sizeof(*late));

	actor->data = late;
	late->npieces = orr_count(&actor->net->npieces);
	actor_expect(actor, actor->rank < 2 ? LATE_EVENTS : 0);
}

/* Node 0 looks for a long time before it tells node 1 to begin with the get. */
static void late_start(struct actor *actor)
{
	struct late *late = actor->data;
	struct net *net = actor->net;
	struct parcel *parcel;
	uint64_t npieces;
	int ret;

	if (actor->rank != 0)
		return;
	parcel = parcel_new(actor, 1, 7, late_layout);
	for (size_t i = 0; i < late_layout.block_bytes; i++)
		parcel->memory[i] = payload_byte(7, i);
	orr_lock(&actor->lock);
	parcel_start(parcel, 1);
	for (int i = 0; i < LATE_LOOKS; i++)
		net->ops->poll(net);
	npieces = orr_count(&net->npieces) - late->npieces;
	EXPECT(actor, orr_load(&actor->nleft) == LATE_EVENTS,
	       "a large put ended before its get began");
	EXPECT(actor, npieces <= LATE_PIECES, "%llu pieces left before the get began",
	       (unsigned long long)npieces);
	letter_head(&late->letter, 0);
	ret = letter_send(&late->letter, actor, 1);
	EXPECT(actor, ret == 0, "send returned %d", ret);
	orr_unlock(&actor->lock);
}

static void late_deliver(struct actor *actor, int peer, const void *head,
			 size_t head_bytes, const void *body, size_t body_bytes)
{
	(void)head;
	(void)head_bytes;
	(void)body;
	(void)body_bytes;
	parcel_start(parcel_new(actor, peer, 7, late_layout), 0);
	actor_ended(actor);
}

/* Each piece but the last is counted while the rest moves. */
static void late_check(struct actor *actor)
{
	struct late *late = actor->data;
	const struct parcel *parcel = &late->parcels.parcels[0];
	uint64_t npieces = orr_count(&actor->net->npieces) - late->npieces, wanted = 0;

	if (actor->rank < 2 && (!strcmp(actor->net->ops->name, "mpi") ||
				!strcmp(actor->net->ops->name, "ucx")))
		wanted = (uint64_t)((double)(late_layout.block_bytes - 1) /
				    actor->settings.knobs.mpi_piece_bytes);
	EXPECT(actor, npieces == wanted, "%llu pieces were counted, of %llu",
	       (unsigned long long)npieces, (unsigned long long)wanted);
	for (size_t i = 0; actor->rank == 1 && i < late_layout.block_bytes; i++)
		EXPECT(actor, parcel->memory[i] == payload_byte(7, i),
		       "byte %zu is wrong", i);
	parcels_free(actor);
}

/* ---- pushed, one after the other, under one key ----------------------- */

enum { PUSHES = 24, PUSHED_PIECES = 31, PUSHED_BYTES = 100000 };

struct pushes {
	struct parcels parcels; /* first */
	struct letter letters[PUSHES];
};

/* Pieces behind the last one that is awaited, as many as there can be, and the last one
 * is shorter. */
static struct layout pushed_layout(const struct actor *actor)
{
	size_t piece = (size_t)actor->settings.knobs.mpi_piece_bytes;
	struct layout layout = {NULL, PUSHED_BYTES, 0, {{0}}};

	if (piece < PUSHED_BYTES)
		layout.block_bytes = piece * PUSHED_PIECES - piece / 2;
	return layout;
}

static void pushes_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct pushes));
	actor_expect(actor, actor->rank < 2 ? 2 * PUSHES : 0);
}

static void push_next(struct actor *actor);

static void push_done(struct net_bulk *bulk)
{
	struct actor *actor = ((struct parcel *)bulk)->actor;

	parcel_done(bulk);
	push_next(actor);
}

/* The letter tells node 1 to begin with the get.  The lock is held. */
static void push_next(struct actor *actor)
{
	struct pushes *pushes = actor->data;
	int round = pushes->parcels.n, ret;
	struct parcel *parcel;

	if (round == PUSHES)
		return;
	parcel = parcel_new(actor, 1, 7, pushed_layout(actor));
	for (size_t i = 0; i < parcel->memory_bytes; i++)
		parcel->memory[i] = payload_byte((uint32_t)round, i);
	parcel->bulk.is_pushed = 1;
	parcel->bulk.done = push_done;
	parcel_start(parcel, 1);
	letter_head(&pushes->letters[round], round);
	ret = letter_send(&pushes->letters[round], actor, 1);
	EXPECT(actor, ret == 0, "send returned %d", ret);
}

static void pushes_start(struct actor *actor)
{
	if (actor->rank != 0)
		return;
	orr_lock(&actor->lock);
	push_next(actor);
	orr_unlock(&actor->lock);
}

static void pushes_deliver(struct actor *actor, int peer, const void *head,
			   size_t head_bytes, const void *body, size_t body_bytes)
{
	struct parcel *parcel = parcel_new(actor, peer, 7, pushed_layout(actor));

	(void)head;
	(void)head_bytes;
	(void)body;
	(void)body_bytes;
	parcel->bulk.is_pushed = 1;
	parcel_start(parcel, 0);
	actor_ended(actor);
}

static void pushes_check(struct actor *actor)
{
	struct pushes *pushes = actor->data;

	for (int round = 0; actor->rank == 1 && round < PUSHES; round++) {
		const struct parcel *parcel = &pushes->parcels.parcels[round];

		for (size_t i = 0; i < parcel->memory_bytes; i++)
			EXPECT(actor,
			       parcel->memory[i] == payload_byte((uint32_t)round, i),
			       "byte %zu of payload %d is wrong", i, round);
	}
	parcels_free(actor);
}

const struct scene bulk_scenes[] = {
	{"bulks of any size and layout arrive", 1, sizes_prepare, sizes_start, NULL,
	 sizes_check},
	{"a bulk of another size is an error", 2, misfit_prepare, misfit_start, NULL,
	 parcels_free},
	{"a bulk without payload ends", 2, misfit_prepare, nothing_start, NULL,
	 parcels_free},
	{"a key can be used again", 2, reuse_prepare, reuse_start, NULL, parcels_free},
	{"a large put waits for its get", 2, late_prepare, late_start, late_deliver,
	 late_check},
	{"what is pushed has been met when it ends", 2, pushes_prepare, pushes_start,
	 pushes_deliver, pushes_check},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
