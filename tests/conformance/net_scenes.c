/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "scenes.h"

/* A message that tells its actor when it was sent. */
struct letter {
	struct net_message message; /* first */
	struct actor *actor;
	int is_being_sent;
};

static void letter_sent(struct net_message *message)
{
	struct letter *letter = (struct letter *)message;

	EXPECT(letter->actor, !letter->is_being_sent, "sent ran inside send");
	while (message) {
		struct net_message *next = message->next;

		actor_ended(letter->actor);
		message = next;
	}
}

/* The lock is held. */
static int letter_send(struct letter *letter, struct actor *actor, int peer)
{
	int ret;

	letter->actor = actor;
	letter->message.peer = peer;
	letter->message.sent = letter_sent;
	letter->is_being_sent = 1;
	ret = actor->net->ops->send(actor->net, &letter->message);
	letter->is_being_sent = 0;
	if (ret != 1)
		return ret;
	letter_sent(&letter->message);
	return 0;
}

static void letter_head(struct letter *letter, int number)
{
	memcpy(letter->message.head, &number, sizeof(number));
	letter->message.head_bytes = sizeof(number);
}

static int number_of(const void *head)
{
	int number;

	memcpy(&number, head, sizeof(number));
	return number;
}

/* ---- each gets its left neighbour's ---------------------------------- */

static void ring_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct letter));
	actor_expect(actor, 2);
}

static void ring_start(struct actor *actor)
{
	struct letter *letter = actor->data;
	int ret;

	letter_head(letter, actor->rank);
	orr_lock(&actor->lock);
	ret = letter_send(letter, actor, (actor->rank + 1) % actor->size);
	orr_unlock(&actor->lock);
	EXPECT(actor, ret == 0, "send returned %d", ret);
}

static void ring_deliver(struct actor *actor, int peer, const void *head,
			 size_t head_bytes, const void *body, size_t body_bytes)
{
	int left = (actor->rank + actor->size - 1) % actor->size;

	(void)body;
	EXPECT(actor, peer == left, "a message from %d instead of %d", peer, left);
	EXPECT(actor, head_bytes == sizeof(int), "the head has %zu bytes", head_bytes);
	EXPECT(actor, number_of(head) == left, "the head says %d", number_of(head));
	EXPECT(actor, body_bytes == 0, "%zu bytes of body, none was sent", body_bytes);
	actor_ended(actor);
}

/* ---- order ----------------------------------------------------------- */

enum { ORDER_LETTERS = 150 };

struct order {
	char *body;
	int *next;                     /* by peer: the number that must come */
	int nsent_behind, ngot_before; /* another one in the same packet */
	struct letter letters[];
};

static size_t order_bytes(const struct actor *actor, int number)
{
	size_t eager = actor->net->eager_bytes, sizes[] = {0, 1, eager, 100, eager - 1};

	return sizes[number % 5];
}

static void order_prepare(struct actor *actor)
{
	int n = ORDER_LETTERS * actor->size;
	struct order *order =
		orr_alloc(sizeof(*order) + (size_t)n * sizeof(struct letter));

	actor->data = order;
	order->next = orr_alloc((size_t)actor->size * sizeof(int));
	order->body = orr_alloc(actor->net->eager_bytes);
	for (size_t i = 0; i < actor->net->eager_bytes; i++)
		order->body[i] = (char)(i * 31 + (size_t)actor->rank);
	actor_expect(actor, 2 * n); /* as many are received */
}

static struct letter *order_letter(struct actor *actor, int number, int peer)
{
	struct order *order = actor->data;
	struct letter *letter = &order->letters[number * actor->size + peer];

	letter_head(letter, number);
	/* Heads of any size. */
	letter->message.head_bytes += (unsigned)number % (NET_HEAD_BYTES - 4 + 1);
	letter->message.body = order->body;
	letter->message.body_bytes = order_bytes(actor, number);
	letter->message.peer = peer;
	return letter;
}

/* Some alone, others with those behind them.  Returns the number of the next one. */
static int order_send_packet(struct actor *actor, int number, int peer)
{
	struct order *order = actor->data;
	struct letter *first = order_letter(actor, number, peer), *last = first;
	size_t bytes = net_message_bytes(&first->message);
	int wanted = 1 + number % 7, ret;

	while (--wanted > 0 && ++number < ORDER_LETTERS) {
		struct letter *letter = order_letter(actor, number, peer);

		bytes += net_message_bytes(&letter->message);
		if (bytes > actor->net->packet_bytes)
			break;
		last->message.next = &letter->message;
		last = letter;
		order->nsent_behind++;
	}
	ret = letter_send(first, actor, peer);
	EXPECT(actor, ret == 0, "send returned %d", ret);
	return number_of(last->message.head) + 1;
}

static void order_start(struct actor *actor)
{
	orr_lock(&actor->lock);
	for (int peer = 0; peer < actor->size; peer++)
		for (int number = 0; number < ORDER_LETTERS;)
			number = order_send_packet(actor, number, peer);
	orr_unlock(&actor->lock);
}

static void order_deliver(struct actor *actor, int peer, const void *head,
			  size_t head_bytes, const void *body, size_t body_bytes)
{
	struct order *order = actor->data;
	int number = number_of(head), wanted = order->next[peer]++;
	size_t wanted_bytes = order_bytes(actor, number);
	size_t wanted_head = 4 + (size_t)number % (NET_HEAD_BYTES - 4 + 1);
	const char *bytes = body;

	order->ngot_before += actor->net->has_more;
	EXPECT(actor, number == wanted, "message %d of %d came instead of %d", number,
	       peer, wanted);
	EXPECT(actor, head_bytes == wanted_head, "message %d: head of %zu bytes", number,
	       head_bytes);
	EXPECT(actor, body_bytes == wanted_bytes, "message %d: body of %zu bytes", number,
	       body_bytes);
	for (size_t i = 0; body_bytes && i < body_bytes; i += body_bytes / 2 + 1)
		EXPECT(actor, bytes && bytes[i] == (char)(i * 31 + (size_t)peer),
		       "message %d: the body is wrong at %zu", number, i);
	actor_ended(actor);
}

static void order_check(struct actor *actor)
{
	struct order *order = actor->data;

	/* Each sends to me what I send to each. */
	EXPECT(actor, order->nsent_behind > 0, "no packet has several messages");
	EXPECT(actor, order->ngot_before == order->nsent_behind,
	       "%d messages were told to have more behind them, not %d",
	       order->ngot_before, order->nsent_behind);
	free(order->next);
	free(order->body);
}

/* ---- a body that is not carried -------------------------------------- */

enum { ABSENT_BYTES = 1000 };

static void absent_start(struct actor *actor)
{
	struct letter *letter = actor->data;

	letter->message.body_bytes = ABSENT_BYTES;
	ring_start(actor);
}

static void absent_deliver(struct actor *actor, int peer, const void *head,
			   size_t head_bytes, const void *body, size_t body_bytes)
{
	(void)peer;
	(void)head;
	(void)head_bytes;
	EXPECT(actor, !body, "a body came that was not carried");
	EXPECT(actor, body_bytes == ABSENT_BYTES, "it counts %zu bytes", body_bytes);
	actor_ended(actor);
}

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

	if (!strcmp(actor->net->ops->name, "mpi") && actor->rank < 2)
		wanted = (uint64_t)((double)(late_layout.block_bytes - 1) /
				    actor->settings.knobs.mpi_piece_bytes);
	EXPECT(actor, npieces == wanted, "%llu pieces were counted, of %llu",
	       (unsigned long long)npieces, (unsigned long long)wanted);
	for (size_t i = 0; actor->rank == 1 && i < late_layout.block_bytes; i++)
		EXPECT(actor, parcel->memory[i] == payload_byte(7, i),
		       "byte %zu is wrong", i);
	parcels_free(actor);
}

/* ---- no such peer ---------------------------------------------------- */

static void peer_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct parcels));
	actor_expect(actor, 0);
}

static void never_sent(struct net_message *message)
{
	(void)message;
	abort();
}

static void never_done(struct net_bulk *bulk)
{
	(void)bulk;
	abort();
}

static void peer_start(struct actor *actor)
{
	const struct net_ops *ops = actor->net->ops;
	int peers[] = {NET_ANYBODY, -2, actor->size, 1 << 30};

	orr_lock(&actor->lock);
	for (size_t i = 0; i < 4; i++) {
		struct net_message message = {.peer = peers[i], .sent = never_sent};
		struct net_bulk bulk = {.peer = peers[i],
					.layout = {.block_bytes = 1},
					.done = never_done};
		int sent = ops->send(actor->net, &message);
		int put = ops->put(actor->net, &bulk);
		/* That of anybody is for who asks. */
		int got = i ? ops->get(actor->net, &bulk) : -EINVAL;

		EXPECT(actor, sent == -EINVAL, "send to %d returned %d", peers[i], sent);
		EXPECT(actor, put == -EINVAL, "put to %d returned %d", peers[i], put);
		EXPECT(actor, got == -EINVAL, "get from %d returned %d", peers[i], got);
	}
	orr_unlock(&actor->lock);
}

/* ---- barrier --------------------------------------------------------- */

#define BARRIER_LATE_S 3e-3

struct meeting {
	struct plat_timer timer; /* of the late node */
	struct net_barrier barrier;
	struct letter *letters; /* of the late node: when it came, to each */
	struct actor *actor;
	double came_s, done_s, last_came_s;
};

static void meeting_done(struct net_barrier *barrier)
{
	struct meeting *meeting = ORR_CONTAINER(barrier, struct meeting, barrier);
	struct actor *actor = meeting->actor;

	meeting->done_s = plat_now_s(actor->plat);
	for (int i = 0; meeting->letters && i < actor->size; i++) {
		struct letter *letter = &meeting->letters[i];

		memcpy(letter->message.head, &meeting->came_s, sizeof(double));
		letter->message.head_bytes = sizeof(double);
		letter_send(letter, actor, i);
	}
	actor_ended(actor);
}

static void meeting_prepare(struct actor *actor)
{
	struct meeting *meeting = orr_alloc(sizeof(*meeting));
	int is_late = actor->rank == actor->size - 1;

	actor->data = meeting;
	meeting->actor = actor;
	meeting->barrier.done = meeting_done;
	if (is_late)
		meeting->letters = orr_alloc((size_t)actor->size * sizeof(struct letter));
	actor_expect(actor, 2 + (is_late ? actor->size : 0));
}

static void meeting_start(struct actor *actor)
{
	struct meeting *meeting = actor->data;

	if (meeting->letters)
		plat_sleep(actor->plat, BARRIER_LATE_S);
	meeting->came_s = plat_now_s(actor->plat);
	orr_lock(&actor->lock);
	actor->net->ops->barrier(actor->net, &meeting->barrier);
	orr_unlock(&actor->lock);
}

static void meeting_deliver(struct actor *actor, int peer, const void *head,
			    size_t head_bytes, const void *body, size_t body_bytes)
{
	struct meeting *meeting = actor->data;

	(void)peer;
	(void)head_bytes;
	(void)body;
	(void)body_bytes;
	memcpy(&meeting->last_came_s, head, sizeof(double));
	actor_ended(actor);
}

static void meeting_check(struct actor *actor)
{
	struct meeting *meeting = actor->data;

	EXPECT(actor, meeting->done_s >= meeting->last_came_s,
	       "the barrier ended %g s before the last node came",
	       meeting->last_came_s - meeting->done_s);
	free(meeting->letters);
}

/* ---- ping-pong ------------------------------------------------------- */

enum { NROUNDS = 500 };

struct volley {
	struct letter letter;
	int round, can_send; /* the letter has come back, the answer is due */
};

/* The letter may be sent again only once it was sent and the answer is there. */
static void volley_go_on(struct actor *actor, struct volley *volley)
{
	struct net_message *message = &volley->letter.message;

	if (++volley->can_send < 2 || volley->round == NROUNDS)
		return;
	volley->can_send = 0;
	letter_head(&volley->letter, volley->round++);
	if (actor->net->ops->send(actor->net, message) == 1)
		message->sent(message);
}

static void volley_sent(struct net_message *message)
{
	struct volley *volley = (struct volley *)message;

	actor_ended(volley->letter.actor);
	volley_go_on(volley->letter.actor, volley);
}

static void volley_prepare(struct actor *actor)
{
	struct volley *volley = orr_alloc(sizeof(*volley));

	actor->data = volley;
	volley->letter.actor = actor;
	volley->letter.message.peer = !actor->rank;
	volley->letter.message.sent = volley_sent;
	volley->can_send = 1;
	actor_expect(actor, actor->rank < 2 ? 2 * NROUNDS : 0);
}

static void volley_start(struct actor *actor)
{
	if (actor->rank != 0)
		return;
	orr_lock(&actor->lock);
	volley_go_on(actor, actor->data);
	orr_unlock(&actor->lock);
}

static void volley_deliver(struct actor *actor, int peer, const void *head,
			   size_t head_bytes, const void *body, size_t body_bytes)
{
	struct volley *volley = actor->data;
	int wanted = actor->rank == 0 ? volley->round - 1 : volley->round;

	(void)head_bytes;
	(void)body;
	(void)body_bytes;
	EXPECT(actor, peer == !actor->rank, "a message from %d", peer);
	EXPECT(actor, number_of(head) == wanted, "round %d came instead of %d",
	       number_of(head), wanted);
	actor_ended(actor);
	volley_go_on(actor, volley);
}

const struct scene net_scenes[] = {
	{"each gets its left neighbour's", 1, ring_prepare, ring_start, ring_deliver,
	 NULL},
	{"messages to one peer keep their order", 1, order_prepare, order_start,
	 order_deliver, order_check},
	{"a body that is not carried counts", 1, ring_prepare, absent_start,
	 absent_deliver, NULL},
	{"bulks of any size and layout arrive", 1, sizes_prepare, sizes_start, NULL,
	 sizes_check},
	{"a bulk of another size is an error", 2, misfit_prepare, misfit_start, NULL,
	 parcels_free},
	{"a bulk without payload ends", 2, misfit_prepare, nothing_start, NULL,
	 parcels_free},
	{"a key can be used again", 2, reuse_prepare, reuse_start, NULL, parcels_free},
	{"a large put waits for its get", 2, late_prepare, late_start, late_deliver,
	 late_check},
	{"no such peer is refused", 1, peer_prepare, peer_start, NULL, NULL},
	{"a barrier waits for all", 1, meeting_prepare, meeting_start, meeting_deliver,
	 meeting_check},
	{"many messages go to and fro", 2, volley_prepare, volley_start, volley_deliver,
	 NULL},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
