/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "letters.h"

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
	EXPECT(actor, letter_number(head) == left, "the head says %d",
	       letter_number(head));
	EXPECT(actor, body_bytes == 0, "%zu bytes of body, none was sent", body_bytes);
	actor_ended(actor);
}

/* ---- order ----------------------------------------------------------- */

enum { ORDER_LETTERS = 150 };

struct order {
	char *body;
	int *next;                     /* by peer: the number that must come */
	int nsent_behind, ngot_before; /* another one in the same packet, at least */
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
	return letter_number(last->message.head) + 1;
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
	int number = letter_number(head), wanted = order->next[peer]++;
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
	EXPECT(actor, order->ngot_before >= order->nsent_behind,
	       "%d messages were told to have more behind them, not at least %d",
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

/* ---- no such peer ---------------------------------------------------- */

static void peer_prepare(struct actor *actor)
{
	actor->data = NULL;
	actor_expect(actor, 0);
}

static void never_sent(struct net_message *message)
{
	(void)message;
	abort();
}

static const struct net_sender never = {never_sent};

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
		struct net_message message = {.peer = peers[i], .sender = &never};
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
		message->sender->sent(message);
}

static void volley_sent(struct net_message *message)
{
	struct volley *volley = (struct volley *)message;

	actor_ended(volley->letter.actor);
	volley_go_on(volley->letter.actor, volley);
}

static const struct net_sender volleys = {volley_sent};

static void volley_prepare(struct actor *actor)
{
	struct volley *volley = orr_alloc(sizeof(*volley));

	actor->data = volley;
	volley->letter.actor = actor;
	volley->letter.message.peer = !actor->rank;
	volley->letter.message.sender = &volleys;
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
	EXPECT(actor, letter_number(head) == wanted, "round %d came instead of %d",
	       letter_number(head), wanted);
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
	{"no such peer is refused", 1, peer_prepare, peer_start, NULL, NULL},
	{"a barrier waits for all", 1, meeting_prepare, meeting_start, meeting_deliver,
	 meeting_check},
	{"many messages go to and fro", 2, volley_prepare, volley_start, volley_deliver,
	 NULL},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
