/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ms.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { LEAST_PART_BYTES = 64 };

/* A message on its way. */
struct parcel {
	struct net_message message; /* first */
	struct outgoing outgoing;
	struct ms *ms;
	_Alignas(16) char body[];
};

/* ---- what comes ------------------------------------------------------ */

static struct ms_event *event_new(const struct ms_head *head, int peer, size_t bytes)
{
	struct ms_event *event = orr_alloc(sizeof(*event) + bytes);

	event->head = *head;
	event->peer = peer;
	event->bytes = bytes;
	return event;
}

/* ms is locked. */
static void append(struct ms *ms, struct ms_event *event)
{
	if (ms->first)
		ms->last->next = event;
	else
		ms->first = event;
	ms->last = event;
}

/* In order, so one thread at a time.  Returns how many. */
static int handle_all(struct ms *ms)
{
	struct ms_event *event;
	int n = 0;

	orr_lock(&ms->lock);
	if (ms->is_handling) {
		orr_unlock(&ms->lock);
		return 0;
	}
	ms->is_handling = 1;
	while ((event = ms->first)) {
		ms->first = event->next;
		orr_next(&ms->nevents);
		orr_unlock(&ms->lock);
		ms->handle(ms, event);
		free(event);
		n++;
		orr_lock(&ms->lock);
	}
	ms->is_handling = 0;
	orr_unlock(&ms->lock);
	return n;
}

/* ---- polling --------------------------------------------------------- */

static int is_active(struct ms *ms)
{
	return ms->slave || orr_load(&ms->nawaited) > 0 || orr_load(&ms->nflying) > 0;
}

static int poll(void *arg)
{
	struct ms *ms = arg;
	int nevents;

	if (ms->polled)
		ms->polled(ms);
	nevents = outbox_poll(&ms->outbox);
	nevents = (nevents > 0 ? nevents : 0) + handle_all(ms);
	if (nevents > 0)
		return 1;
	if (is_active(ms))
		return 0;
	/* Who makes it active looks at is_asleep afterwards: one of us sees the other. */
	orr_store(&ms->is_asleep, 1);
	orr_fence();
	return is_active(ms) ? 0 : -1;
}

static void wake(struct ms *ms, int is_left)
{
	orr_fence();
	if (orr_load(&ms->is_asleep)) {
		orr_store(&ms->is_asleep, 0);
		is_left = 1;
	}
	if (is_left)
		plat_poll_kick(ms->node->plat);
}

/* Behind a note. */
static void unlock_noted(struct ms *ms)
{
	wake(ms, outbox_unlock(&ms->outbox));
}

/* In a callback of the transport. */
static void unlock_called_back(struct ms *ms)
{
	if (ms->net->has_more) { /* The last one does it for all. */
		outbox_unlock_deferring(&ms->outbox);
		return;
	}
	if (ms->outbox.is_polling) {
		outbox_unlock_polling(&ms->outbox);
		return;
	}
	if (ms->outbox.first)
		unlock_noted(ms);
	else
		orr_unlock(&ms->lock);
	handle_all(ms);
}

void ms_awaits(struct ms *ms, int more)
{
	orr_add(&ms->nawaited, more);
}

/* ---- what goes ------------------------------------------------------- */

/* ms is locked. */
static void parcels_left(struct outbox *outbox, struct net_message *messages)
{
	struct net_message *next;

	(void)outbox;
	for (; messages; messages = next) {
		struct parcel *parcel = (struct parcel *)(void *)messages;

		next = messages->next;
		orr_add(&parcel->ms->nflying, -1);
		free(parcel);
	}
}

static void parcels_sent(struct net_message *message)
{
	struct ms *ms = ((struct parcel *)(void *)message)->ms;

	outbox_sent_lock(&ms->outbox, message->peer);
	parcels_left(&ms->outbox, message);
	unlock_called_back(ms);
}

static const struct net_sender sender = {parcels_sent};

static struct parcel *parcel_new(struct ms *ms, int peer, const struct ms_head *head,
				 const void *body, size_t bytes)
{
	struct parcel *parcel = orr_alloc(sizeof(*parcel) + bytes);
	struct net_message *message = &parcel->message;

	parcel->ms = ms;
	parcel->outgoing = (struct outgoing){.kind = OUTGOING_MESSAGE};
	parcel->outgoing.what.message = message;
	message->peer = peer;
	message->head_bytes = sizeof(*head);
	memcpy(message->head, head, sizeof(*head));
	message->body_bytes = (unsigned)bytes;
	message->body = bytes ? parcel->body : NULL;
	message->sender = &sender;
	if (bytes)
		memcpy(parcel->body, body, bytes);
	return parcel;
}

/* ms is locked. */
static void count(struct ms *ms, size_t bytes)
{
	struct node *node = ms->node;

	orr_note(&node->messages_sent, node->messages_sent + 1);
	orr_note(&node->bytes_sent, node->bytes_sent + bytes);
}

void ms_send(struct ms *ms, int peer, const struct ms_head *head, const void *body,
	     size_t bytes)
{
	const struct ms_head part = {.kind = MS_PART};
	const char *at = body;
	size_t most = ms->net->eager_bytes;
	struct parcel *parcel;

	/* Nobody else's may come between: one hold. */
	orr_lock(&ms->lock);
	count(ms, bytes);
	while (bytes > most) {
		parcel = parcel_new(ms, peer, &part, at, most);
		at += most;
		bytes -= most;
		orr_add(&ms->nflying, 1);
		outbox_note(&ms->outbox, &parcel->outgoing);
	}
	parcel = parcel_new(ms, peer, head, at, bytes);
	orr_add(&ms->nflying, 1);
	outbox_note(&ms->outbox, &parcel->outgoing);
	unlock_noted(ms);
}

/* ms is locked: keep what belongs to a later message. */
static void keep_part(struct ms_parts *parts, const void *body, size_t bytes)
{
	if (parts->n + bytes > parts->capacity) {
		parts->capacity = 2 * (parts->n + bytes);
		parts->bytes = orr_realloc(parts->bytes, parts->capacity);
	}
	memcpy(parts->bytes + parts->n, body, bytes);
	parts->n += bytes;
}

static void deliver(struct net *net, int peer, const void *head, size_t head_bytes,
		    const void *body, size_t body_bytes)
{
	struct ms *ms = net->owner;
	struct ms_parts *parts = &ms->parts[peer];
	struct ms_head wire;
	struct ms_event *event;

	ORR_ASSERT(head_bytes == sizeof(wire) && (body || !body_bytes));
	memcpy(&wire, head, sizeof(wire));
	orr_lock(&ms->lock);
	if (wire.kind == MS_PART) {
		keep_part(parts, body, body_bytes);
		unlock_called_back(ms);
		return;
	}
	event = event_new(&wire, peer, parts->n + body_bytes);
	if (parts->n)
		memcpy(event->body, parts->bytes, parts->n);
	if (body_bytes)
		memcpy(event->body + parts->n, body, body_bytes);
	parts->n = 0;
	append(ms, event);
	unlock_called_back(ms);
}

/* ---- bulks ----------------------------------------------------------- */

static void bulk_done(struct net_bulk *base)
{
	struct ms_bulk *bulk = (struct ms_bulk *)(void *)base;
	struct ms *ms = bulk->ms;
	struct ms_head head = {
		.kind = MS_MOVED, .key = base->key, .cookie = bulk->cookie};

	if (base->status < 0)
		orr_die(ms->net->rank,
			"the transport fails with error %d: %zu bytes between master and "
			"slaves, with rank %d",
			-base->status, layout_bytes(&base->layout), base->peer);
	orr_lock(&ms->lock);
	orr_add(&ms->nflying, -1);
	if (bulk->cookie)
		append(ms, event_new(&head, ms->net->rank, 0));
	free(bulk);
	unlock_called_back(ms);
}

struct ms_bulk *ms_bulk_new(struct ms *ms, int peer, uint32_t key,
			    const struct layout *layout)
{
	struct ms_bulk *bulk = orr_alloc(sizeof(*bulk));

	bulk->ms = ms;
	bulk->bulk.peer = peer;
	bulk->bulk.key = key;
	bulk->bulk.layout = *layout;
	bulk->bulk.done = bulk_done;
	return bulk;
}

void ms_bulk_start(struct ms_bulk *bulk, enum outgoing_kind kind)
{
	struct ms *ms = bulk->ms;

	bulk->outgoing.kind = kind;
	bulk->outgoing.what.bulk = &bulk->bulk;
	orr_lock(&ms->lock);
	if (kind == OUTGOING_PUT)
		count(ms, layout_bytes(&bulk->bulk.layout));
	orr_add(&ms->nflying, 1);
	outbox_note(&ms->outbox, &bulk->outgoing);
	unlock_noted(ms);
}

/* ---- life ------------------------------------------------------------ */

/* For the watchdog: something is under way, or may come from outside. */
static int on_busy(struct node *node)
{
	return is_active(node->ms);
}

static unsigned long on_signature(struct node *node)
{
	return (unsigned long)orr_count(&node->ms->nevents);
}

int ms_is_lost(const struct ms *ms, int rank)
{
	struct plat *plat = ms->node->plat;

	return plat_has_ended(plat, rank) || plat_is_cut_s(plat, rank) > 0;
}

/* Who waits for a rank whose process has ended would do so for ever; its launcher may not
 * know, or may let the others live. */
static int on_standstill(struct node *node, double silence_s, const char *why)
{
	const struct ms *ms = node->ms;
	int rank = ms->slave ? ms_slave_lost(ms) : ms_master_lost(ms);
	double cut_s = rank >= 0 ? plat_is_cut_s(node->plat, rank) : 0;

	(void)silence_s;
	(void)why;
	if (cut_s > 0)
		orr_die(node->rank,
			"rank %d, %s, is needed, and its machine has not answered for "
			"%.3g s: it has failed, or the network to it; the run ends; "
			"allow more time (ORRERY_WATCHDOG) where it may come back",
			rank, ms->slave ? "the master" : "a slave", cut_s);
	if (rank >= 0)
		orr_die(node->rank,
			"rank %d, %s, is needed, and its process has ended before "
			"starpu_shutdown(): it was killed (by the system for lack of "
			"memory, perhaps) or has crashed, which its launcher and the "
			"system's log may tell; the run ends",
			rank, ms->slave ? "the master" : "a slave");
	return 0;
}

int ms_open(struct node *node, const struct ms_config *config,
	    void (*handle)(struct ms *ms, struct ms_event *event))
{
	struct ms *ms = orr_alloc(sizeof(*ms));
	struct net_config net = config->net;
	int ret;

	net.name = node_knobs(node)->transport;
	/* Commands have no other way than messages with a body, in parts of this size. */
	if (net.eager_bytes < LEAST_PART_BYTES)
		net.eager_bytes = LEAST_PART_BYTES;
	ret = plat_net_open(node->plat, &net, &ms->net);
	if (ret < 0) {
		free(ms);
		return ret;
	}
	ms->node = node;
	ms->handle = handle;
	orr_lock_init(&ms->lock);
	plat_gate_init(&ms->gate);
	outbox_init(&ms->outbox, &ms->lock, parcels_left);
	ms->outbox.net = ms->net;
	ms->parts = orr_alloc((size_t)config->net.size * sizeof(*ms->parts));
	ms->net->owner = ms;
	ms->net->deliver = deliver;
	node->ms = ms;
	node->rank = config->net.rank;
	node->size = config->net.size;
	node->on_busy = on_busy;
	node->on_signature = on_signature;
	return 0;
}

void ms_start(struct ms *ms)
{
	ms->node->on_standstill = on_standstill;
	plat_set_poll(ms->node->plat, poll, ms);
}

static void all_close(struct net_barrier *barrier)
{
	struct ms *ms = ORR_CONTAINER(barrier, struct ms, barrier);

	orr_add(&ms->nflying, -1);
	plat_gate_open(ms->node->plat, &ms->gate);
}

static void meet(struct ms *ms)
{
	ms->barrier.done = all_close;
	ms->last_outgoing.kind = OUTGOING_BARRIER;
	ms->last_outgoing.what.barrier = &ms->barrier;
	plat_gate_init(&ms->gate);
	orr_lock(&ms->lock);
	orr_add(&ms->nflying, 1);
	outbox_note(&ms->outbox, &ms->last_outgoing);
	unlock_noted(ms);
	plat_gate_wait(ms->node->plat, &ms->gate);
}

void ms_close(struct ms *ms)
{
	struct node *node = ms->node;

	meet(ms);
	while (orr_load(&ms->nflying) > 0) {
		poll(ms);
		plat_sleep(node->plat, 1e-6);
	}
	plat_set_poll(node->plat, NULL, NULL);
	node->on_busy = NULL;
	node->on_standstill = NULL;
	node->on_signature = NULL;
	node->on_describe = NULL;
	node->ms = NULL;
	ms->net->ops->close(ms->net);
	outbox_free(&ms->outbox);
	for (int i = 0; i < node->size; i++)
		free(ms->parts[i].bytes);
	free(ms->parts);
	free(ms);
}
