/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/claim.h"
#include "base/table.h"
#include "core/node.h"
#include "real/onehost.h"
#include "real/real.h"

/* Two ranks in one process, whose messages overtake one another at random but those of
 * one tag: what a sender writes where a receive waits is the value of that receive. */
int claim_failures;

enum {
	NTAGS = 5,
	MOST = 40,
	UNIT = 10,
	BYTES = 70,
	ROUNDS = 3000,
	STEPS = 120,
	COMM = 7
};

struct message {
	unsigned char bytes[BYTES];
	uint64_t number;
	int tag;
};

struct receive {
	unsigned char bytes[BYTES];
	unsigned berth;
};

/* Of one tag, in order: those up to nposted are posted, up to ncome have come. */
struct lane {
	int64_t tag;
	int nsent, ncome, nposted, nanswered;
	struct message sent[MOST];
	struct receive posted[MOST];
};

static struct {
	struct row *row; /* the sender's */
	struct onehost sender, receiver;
	struct net sends, receives;
	struct plat plat;
	struct node node;
	struct list waits;
	struct lane lanes[NTAGS];
	uint64_t random;
	int nahead; /* receives that were written before their message came */
} scene;

static unsigned draw(unsigned n)
{
	scene.random += 0x9e3779b97f4a7c15ULL;
	return (unsigned)(table_mix(scene.random) >> 33) % n;
}

static void open_rank(struct onehost *onehost, struct net *net, int place)
{
	static int places[2] = {0, 1};

	*onehost = (struct onehost){.plat = &scene.plat,
				    .unit_bytes = UNIT,
				    .n = 2,
				    .size = 2,
				    .place = place,
				    .places = places};
	onehost->neighbours = calloc(2, sizeof(*onehost->neighbours));
	for (int i = 0; i < 2; i++)
		onehost->neighbours[i] = (struct neighbour){
			.pid = i == place ? 0 : getpid(), .place = i, .row = scene.row};
	net->ops = &onehost->ops;
	net->rank = place;
	berths_open(onehost);
}

static void close_rank(struct onehost *onehost)
{
	berths_close(onehost);
	free(onehost->neighbours);
}

/* The first tags are of one class, which the others are not. */
static void choose_tags(void)
{
	int64_t tag = (int64_t)draw(1000);
	uint64_t class = table_mix(COMM ^ (uint64_t)tag) % NCLASSES;

	for (int i = 0; i < NTAGS; tag++)
		if ((table_mix(COMM ^ (uint64_t)tag) % NCLASSES == class) ==
		    (i < NTAGS - 1))
			scene.lanes[i++].tag = tag;
}

static void open_scene(void)
{
	size_t bytes = sizeof(struct row) + 2 * NSLOTS * sizeof(struct slot) +
		       berths_row_bytes(2);

	memset(scene.lanes, 0, sizeof(scene.lanes));
	scene.row = aligned_alloc(64, bytes);
	memset(scene.row, 0, bytes);
	scene.plat.node = &scene.node;
	orr_lock_init(&scene.node.waits_lock);
	list_init(&scene.node.waits);
	list_push_back(&scene.node.waits, &scene.waits);
	open_rank(&scene.sender, &scene.sends, 0);
	open_rank(&scene.receiver, &scene.receives, 1);
	choose_tags();
}

static void close_scene(void)
{
	close_rank(&scene.sender);
	close_rank(&scene.receiver);
	free(scene.row);
}

static struct net_half half_of(const struct lane *lane, int peer, const void *name)
{
	return (struct net_half){.peer = peer,
				 .comm = COMM,
				 .tag = lane->tag,
				 .bytes = BYTES,
				 .place = (uintptr_t)name,
				 .name = (uintptr_t)name};
}

static void send_one(struct lane *lane)
{
	struct message *message = &lane->sent[lane->nsent];
	struct net_half half = half_of(lane, 1, message);

	if (lane->nsent == MOST)
		return;
	lane->nsent++;
	memset(message->bytes, 1 + (int)draw(200), BYTES);
	message->number = berths_ahead.announce(&scene.sends, &half);
}

/* What the sender has not begun, the receiver takes. */
static void take(struct receive *receive, const struct message *message)
{
	struct slot *slot =
		receive->berth ? berth_slot(&scene.receiver, 0, receive->berth) : NULL;
	size_t from = 0;

	if (slot && !berth_withdraw(slot)) {
		from = (uint32_t)load(&slot->claim) * (size_t)UNIT;
		set(&slot->claim, load(&slot->claim) | UINT32_MAX);
		set_small(&slot->nunits, 0);
		scene.nahead++;
	}
	for (size_t i = from; i < BYTES; i++)
		receive->bytes[i] = message->bytes[i];
	CLAIM_EQ(memcmp(receive->bytes, message->bytes, BYTES), 0);
}

static void match(struct lane *lane, int i)
{
	struct message *message = &lane->sent[i];
	struct receive *receive = &lane->posted[i];

	if (receive->berth &&
	    !berths_ahead.keep(&scene.receives, 0, receive->berth, message->number))
		receive->berth = 0;
	take(receive, message);
}

/* The sender hears of what was taken. */
static void answer_one(struct lane *lane)
{
	int ntaken = lane->ncome < lane->nposted ? lane->ncome : lane->nposted;
	struct net_half half = half_of(lane, 1, &lane->sent[lane->nanswered]);

	if (lane->nanswered == ntaken)
		return;
	lane->nanswered++;
	berths_ahead.answered(&scene.sends, &half);
}

static void post_one(struct lane *lane)
{
	struct receive *receive = &lane->posted[lane->nposted];
	struct net_half half = half_of(lane, 0, receive);

	if (lane->nposted == MOST)
		return;
	lane->nposted++;
	if (lane->ncome >= lane->nposted)
		match(lane, lane->nposted - 1);
	else if (lane->ncome == lane->nposted - 1)
		receive->berth = berths_ahead.await(&scene.receives, &half);
}

static void deliver_one(struct lane *lane)
{
	struct net_half half = half_of(lane, 0, NULL);

	if (lane->ncome == lane->nsent)
		return;
	berths_ahead.announced(&scene.receives, &half, lane->sent[lane->ncome].number);
	lane->ncome++;
	if (lane->ncome <= lane->nposted)
		match(lane, lane->ncome - 1);
}

static void step(void)
{
	struct lane *lane = &scene.lanes[draw(NTAGS)];

	switch (draw(5)) {
	case 0:
		send_one(lane);
		break;
	case 1:
		post_one(lane);
		break;
	case 2:
		deliver_one(lane);
		break;
	case 3:
		answer_one(lane);
		break;
	default:
		berths_help(&scene.sender, scene.row);
	}
}

static void each_value_is_its_receives(void)
{
	scene.nahead = 0;
	for (int round = 0; round < ROUNDS && !claim_failures; round++) {
		open_scene();
		for (int i = 0; i < STEPS; i++)
			step();
		close_scene();
	}
	CLAIM(scene.nahead > ROUNDS);
}

/* A sender that has not heard of its end yet has part of a value left to write, and the
 * next receive waits in the same place. */
static void who_is_late_writes_nothing(void)
{
	enum { LARGE = 300000 };
	unsigned char *from = calloc(1, LARGE), *to = calloc(2, LARGE);
	struct net_half send = {.peer = 1,
				.comm = COMM,
				.tag = 1,
				.bytes = LARGE,
				.place = (uintptr_t)from,
				.name = 1};
	struct net_half receive = {.peer = 0,
				   .comm = COMM,
				   .tag = 1,
				   .bytes = LARGE,
				   .place = (uintptr_t)to};
	unsigned berth;

	open_scene();
	scene.sender.unit_bytes = scene.receiver.unit_bytes = UNIT_BYTES;
	memset(from, 1, LARGE);
	berth = berths_ahead.await(&scene.receives, &receive);
	berths_ahead.announced(&scene.receives, &receive,
			       berths_ahead.announce(&scene.sends, &send));
	CLAIM_EQ(berths_help(&scene.sender, scene.row), POLL_BYTES);
	CLAIM_EQ(berth_withdraw(berth_slot(&scene.receiver, 0, berth)), 0);
	set_small(&berth_slot(&scene.receiver, 0, berth)->nunits, 0);
	memset(to, 2, LARGE);
	receive.tag = 2;
	receive.place += LARGE;
	CLAIM_EQ(berths_ahead.await(&scene.receives, &receive), berth);
	CLAIM_EQ(berths_help(&scene.sender, scene.row), 0);
	for (int i = 0; i < 2 * LARGE; i++)
		CLAIM_EQ(to[i], i < LARGE ? 2 : 0);
	close_scene();
	free(from);
	free(to);
}

/* While one of a class is missing, nobody knows which number the next one has. */
static void none_waits_ahead_of_a_missing_one(void)
{
	struct lane *first, *second;

	open_scene();
	first = &scene.lanes[0];
	second = &scene.lanes[1];
	send_one(first);
	send_one(second);
	deliver_one(second);
	post_one(first);
	CLAIM_EQ(first->posted[0].berth, 0);
	send_one(first);
	CLAIM_EQ(berths_help(&scene.sender, scene.row), 0);
	deliver_one(first);
	post_one(first);
	CLAIM(first->posted[1].berth > 0);
	CLAIM_EQ(berths_help(&scene.sender, scene.row), BYTES);
	deliver_one(first);
	close_scene();
}

static const struct claim claims[] = {
	{"each_value_is_its_receives", each_value_is_its_receives},
	{"none_waits_ahead_of_a_missing_one", none_waits_ahead_of_a_missing_one},
	{"who_is_late_writes_nothing", who_is_late_writes_nothing},
	{NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
