/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

#include "net_sim.h"

/*
 * deferred.c - transport "mpi" in simulation.
 *
 * A rank's main calls MPI for the library, but tasks that end in kernel context send, and
 * threads of the program, too.
 * What is started there waits here until the main polls; it is woken for that.
 *
 * What messages cost the software is charged here, as the other transports do, and not by
 * SMPI, which would take it from the main: it sends and receives, works and waits, and on
 * a real machine these are several threads (decision 012).
 */
enum item_kind { ITEM_MESSAGE, ITEM_PUT, ITEM_GET };

/* Something to be started, from a date on. */
struct item {
	struct item *next;
	double date_s;
	enum item_kind kind;
	union {
		struct net_message *message;
		struct net_bulk *bulk;
	} what;
};

struct queue {
	struct item *first, *last;
};

/* Items for their dates, in this order. */
struct waiting {
	struct queue queue;
	struct plat_timer due; /* of the first */
	struct deferred *deferred;
};

/* A message that has come, and is not yet received. */
struct arrival {
	struct arrival *next; /* of its packet */
	struct plat_timer timer;
	struct deferred *deferred;
	double packet_bytes; /* of the first of a packet */
	int peer, has_body;
	unsigned head_bytes;
	size_t body_bytes;
	_Alignas(NET_ALIGN_BYTES) char data[]; /* head and body, aligned */
};

/* The number of a message on its way. */
struct number {
	struct number *next; /* between the same two ranks */
	uint64_t order;
};

struct numbers {
	struct number *first, *last;
};

/* A half that SMPI has moved, and that is not yet told of. */
struct moved_half {
	struct plat_timer timer;
	struct deferred *deferred;
	struct net_bulk *bulk;
};

/* A put, until both halves have ended. */
struct transit {
	uint64_t order;       /* of the get, and one more of the put */
	struct net_bulk *put; /* that has ended before its get */
	int has_come;
};

/* In bulk->backend while SMPI has the half. */
struct half {
	struct deferred *deferred;
	void (*done)(struct net_bulk *bulk);
	int is_put;
};

_Static_assert(sizeof(struct half) <= sizeof(((struct net_bulk *)0)->backend),
	       "a half must have room for who is told of its end");

struct deferred {
	struct net net;
	struct plat *plat;
	struct net *inner;
	struct net_group *group; /* for what nodes share */
	struct net_pace pace;
	/* Puts leave later than messages that are sent after them, which keep their
	 * order. */
	struct waiting messages, puts;
	struct queue ready; /* for the main */
	struct pool items, moved_halves;
	struct arrival *packet, *last_of_packet; /* what has come of it so far */
	double packet_bytes;
};

static struct deferred *deferred_of(struct net *net)
{
	return ORR_CONTAINER(net, struct deferred, net);
}

/* ---- what SMPI charges --------------------------------------------------- */

/* What the transport sends has been charged for. */
static double message_cost_s(enum kernel_message kind, double bytes, sg_host_t host)
{
	struct sim_thread *thread = sg_actor_self_get_data();
	struct sim *sim = the_sim;

	if ((thread && thread->is_transport) || !sim->wire)
		return 0;
	return wire_message_s(wire_costs(sim->wire, host), kind, bytes);
}

/* Brackets around the calls of MPI that are the transport's. */
static void enter(void)
{
	sim_thread_self()->is_transport++;
}

static void leave(void)
{
	sim_thread_self()->is_transport--;
}

/* ---- what ends at one date ----------------------------------------------- */

/*
 * Each main finds for itself what has ended, in the order in which SimGrid lets them run.
 * Who is told first is granted first, which changes a schedule: so all of one date is
 * told by events in the order in which it started, as in the other transports (decision
 * 106).
 */
static uint64_t key_of_pair(const struct net_group *group, int from, int to)
{
	return (uint64_t)from * (uint64_t)group->size + (uint64_t)to;
}

static uint64_t key_of_put(const struct net_group *group, int from, int to, uint32_t key)
{
	return key_of_pair(group, from, to) * NET_KEYS + key;
}

static void keep_number(struct deferred *deferred, int peer)
{
	struct net_group *group = deferred->group;
	struct number *number = pool_get(&group->numbers);
	uint64_t key = key_of_pair(group, deferred->net.rank, peer);
	struct numbers *numbers = table_get(&group->sends, key);

	*number = (struct number){.order = calendar_order(group->sim)};
	if (!numbers) {
		numbers = orr_alloc(sizeof(*numbers));
		table_put(&group->sends, key, numbers);
	}
	*(numbers->first ? &numbers->last->next : &numbers->first) = number;
	numbers->last = number;
}

static uint64_t take_number(struct deferred *deferred, int peer)
{
	struct net_group *group = deferred->group;
	struct numbers *numbers =
		table_get(&group->sends, key_of_pair(group, peer, deferred->net.rank));
	struct number *number = numbers->first;
	uint64_t order = number->order;

	numbers->first = number->next;
	pool_put(&group->numbers, number);
	return order;
}

void deferred_group(struct net_group *group)
{
	pool_init(&group->numbers, sizeof(struct number));
	pool_init(&group->transits, sizeof(struct transit));
}

void deferred_group_free(struct net_group *group)
{
	struct numbers *numbers;
	size_t cursor = 0;

	while ((numbers = table_next(&group->sends, &cursor)))
		free(numbers);
	table_free(&group->sends);
	table_free(&group->puts);
	pool_free(&group->numbers);
	pool_free(&group->transits);
	if (group->opened)
		sg_barrier_destroy(group->opened);
}

static struct half *half_of(struct net_bulk *bulk)
{
	return (struct half *)(void *)bulk->backend;
}

static void on_end(struct plat_timer *timer)
{
	struct moved_half *moved = ORR_CONTAINER(timer, struct moved_half, timer);
	struct deferred *deferred = moved->deferred;
	struct net_bulk *bulk = moved->bulk;

	deferred->plat->sim->current = deferred->plat;
	deferred->net.has_more = 0;
	pool_put(&deferred->moved_halves, moved);
	bulk->done(bulk);
}

/* done is called by an event. */
static void tell_half(struct net_bulk *bulk, uint64_t order)
{
	struct half half = *half_of(bulk);
	struct deferred *deferred = half.deferred;
	struct moved_half *moved = pool_get(&deferred->moved_halves);

	bulk->done = half.done;
	*moved = (struct moved_half){
		.timer.fire = on_end, .deferred = deferred, .bulk = bulk};
	calendar_add_ordered(deferred->plat->sim, &moved->timer, simgrid_get_clock(),
			     order);
}

/*
 * The receiver is told before the sender, who is not told before all has come: SMPI ends
 * a send of less than 64 KiB when it begins, and the next one would leave at once.
 */
static void half_done(struct net_bulk *bulk)
{
	const struct half *half = half_of(bulk);
	struct net_group *group = half->deferred->group;
	int rank = half->deferred->net.rank, is_put = half->is_put;
	uint64_t key = is_put ? key_of_put(group, rank, bulk->peer, bulk->key)
			      : key_of_put(group, bulk->peer, rank, bulk->key);
	struct transit *transit = table_get(&group->puts, key);

	if (is_put && !transit->has_come) {
		transit->put = bulk;
		return;
	}
	transit->has_come = 1;
	tell_half(bulk, transit->order + (uint64_t)is_put);
	if (!is_put && !transit->put)
		return;
	if (!is_put)
		tell_half(transit->put, transit->order + 1);
	table_remove(&group->puts, key);
	pool_put(&group->transits, transit);
}

static void note_half(struct deferred *deferred, struct net_bulk *bulk, int is_put)
{
	struct net_group *group = deferred->group;
	struct transit *transit;

	*half_of(bulk) =
		(struct half){.deferred = deferred, .done = bulk->done, .is_put = is_put};
	bulk->done = half_done;
	if (!is_put)
		return;
	transit = pool_get(&group->transits);
	*transit = (struct transit){.order = calendar_order(group->sim)};
	calendar_order(group->sim);
	/* The key comes again in a grant, which is found behind the end of the last put.
	 */
	ORR_ASSERT(!table_get(&group->puts, key_of_put(group, deferred->net.rank,
						       bulk->peer, bulk->key)));
	table_put(&group->puts,
		  key_of_put(group, deferred->net.rank, bulk->peer, bulk->key), transit);
}

/* ---- on the way out ------------------------------------------------------ */

static void append(struct queue *queue, struct item *item)
{
	item->next = NULL;
	*(queue->first ? &queue->last->next : &queue->first) = item;
	queue->last = item;
}

static struct item *take_first(struct queue *queue)
{
	struct item *item = queue->first;

	queue->first = item->next;
	return item;
}

/* The peer's main posts receives for those to come, before they are too few. */
static void note_coming(struct net_group *group, int peer)
{
	if (++group->ncoming[peer] % NET_NOTED_PACKETS == 0 && group->plats[peer])
		sim_kick(group->plats[peer]);
}

static int start(struct deferred *deferred, const struct item *item)
{
	struct net *inner = deferred->inner;
	int ret;

	enter();
	if (item->kind == ITEM_MESSAGE) {
		note_coming(deferred->group, item->what.message->peer);
		ret = inner->ops->send(inner, item->what.message);
	} else {
		ret = (item->kind == ITEM_PUT ? inner->ops->put
					      : inner->ops->get)(inner, item->what.bulk);
	}
	leave();
	return ret;
}

static int flush(struct deferred *deferred)
{
	int n = 0;

	for (; deferred->ready.first; n++) {
		struct item *item = take_first(&deferred->ready);
		struct item taken = *item;

		pool_put(&deferred->items, item);
		start(deferred, &taken);
	}
	return n;
}

static void on_due(struct plat_timer *timer)
{
	struct waiting *waiting = ORR_CONTAINER(timer, struct waiting, due);
	struct queue *queue = &waiting->queue;
	struct deferred *deferred = waiting->deferred;
	struct sim *sim = deferred->plat->sim;

	while (queue->first && queue->first->date_s <= sim->now_s)
		append(&deferred->ready, take_first(queue));
	if (queue->first)
		calendar_add(sim, timer, queue->first->date_s);
	sim_kick(deferred->plat);
}

static void wait_for_date(struct waiting *waiting, struct item *item)
{
	append(&waiting->queue, item);
	if (waiting->queue.first == item)
		calendar_add(waiting->deferred->plat->sim, &waiting->due, item->date_s);
}

/* Now, where the caller is the main and the date is, and no message before it waits. */
static int start_at(struct deferred *deferred, const struct item *wanted)
{
	struct sim *sim = deferred->plat->sim;
	struct waiting *waiting =
		wanted->kind == ITEM_MESSAGE ? &deferred->messages : &deferred->puts;
	int is_later =
		wanted->date_s > (sim->in_kernel ? sim->now_s : simgrid_get_clock()) ||
		(wanted->kind == ITEM_MESSAGE && waiting->queue.first);
	struct item *item;

	if (!is_later && sim_is_main()) {
		flush(deferred);
		return start(deferred, wanted);
	}
	item = pool_get(&deferred->items);
	*item = *wanted;
	if (is_later) {
		wait_for_date(waiting, item);
	} else {
		append(&deferred->ready, item);
		sim_kick(deferred->plat);
	}
	return 0;
}

static int deferred_send(struct net *net, struct net_message *message)
{
	struct deferred *deferred = deferred_of(net);
	struct item item = {.kind = ITEM_MESSAGE, .what.message = message};

	if (message->peer < 0 || message->peer >= net->size)
		return -EINVAL;
	item.date_s = net_send_date_s(deferred->plat, &deferred->pace,
				      net_carried_bytes(message));
	keep_number(deferred, message->peer);
	return start_at(deferred, &item);
}

static int deferred_put(struct net *net, struct net_bulk *bulk)
{
	struct deferred *deferred = deferred_of(net);
	struct item item = {.kind = ITEM_PUT, .what.bulk = bulk};
	double bytes = (double)layout_bytes(&bulk->layout);

	if (!net_bulk_has_peer(net, bulk, 1))
		return -EINVAL;
	item.date_s = net_send_date_s(deferred->plat, &deferred->pace, bytes) +
		      wire_receive_overhead_s(deferred->pace.costs, bytes);
	note_half(deferred, bulk, 1);
	return start_at(deferred, &item);
}

static int deferred_get(struct net *net, struct net_bulk *bulk)
{
	struct item item = {.kind = ITEM_GET, .what.bulk = bulk};

	if (!net_bulk_has_peer(net, bulk, 0))
		return -EINVAL;
	note_half(deferred_of(net), bulk, 0);
	return start_at(deferred_of(net), &item);
}

static void deferred_barrier(struct net *net, struct net_barrier *barrier)
{
	net_arrive(deferred_of(net)->group, net->rank, barrier);
}

/* ---- on the way in --------------------------------------------------------- */

/* A packet has been received. */
static void on_received(struct plat_timer *timer)
{
	struct arrival *arrival = ORR_CONTAINER(timer, struct arrival, timer), *next;
	struct deferred *deferred = arrival->deferred;

	deferred->plat->sim->current = deferred->plat;
	for (; arrival; arrival = next) {
		const char *body = arrival->data + net_aligned(arrival->head_bytes);

		next = arrival->next;
		deferred->net.has_more = next != NULL;
		deferred->net.deliver(
			&deferred->net, arrival->peer, arrival->data, arrival->head_bytes,
			arrival->has_body ? body : NULL, arrival->body_bytes);
		free(arrival);
	}
}

/* The bytes of a packet are there.  Receiving costs time, what comes together once. */
static void on_arrival(struct plat_timer *timer)
{
	struct arrival *arrival = ORR_CONTAINER(timer, struct arrival, timer);
	struct deferred *deferred = arrival->deferred;
	struct sim *sim = deferred->plat->sim;
	double bytes = arrival->packet_bytes, date_s;

	sim_lend(deferred->plat, wire_receive_overhead_s(deferred->pace.costs, bytes), 0);
	date_s = net_receive_date_s(deferred->plat, &deferred->pace, bytes);
	timer->fire = on_received;
	if (date_s > sim->now_s)
		calendar_add(sim, timer, date_s);
	else
		on_received(timer);
}

static struct arrival *new_arrival(int peer, const void *head, size_t head_bytes,
				   const void *body, size_t body_bytes)
{
	struct arrival *arrival = orr_alloc(sizeof(*arrival) + net_aligned(head_bytes) +
					    (body ? body_bytes : 0));

	arrival->peer = peer;
	arrival->has_body = body != NULL;
	arrival->head_bytes = (unsigned)head_bytes;
	arrival->body_bytes = body_bytes;
	memcpy(arrival->data, head, head_bytes);
	if (body)
		memcpy(arrival->data + net_aligned(head_bytes), body, body_bytes);
	return arrival;
}

static void deferred_deliver(struct net *inner, int peer, const void *head,
			     size_t head_bytes, const void *body, size_t body_bytes)
{
	struct deferred *deferred = inner->owner;
	struct arrival *arrival = new_arrival(peer, head, head_bytes, body, body_bytes);

	if (deferred->packet)
		deferred->last_of_packet->next = arrival;
	else
		deferred->packet = arrival;
	deferred->last_of_packet = arrival;
	deferred->packet_bytes += (double)(head_bytes + body_bytes);
	if (inner->has_more)
		return;
	deferred->group->ncoming[inner->rank]--;
	arrival = deferred->packet;
	deferred->packet = NULL;
	arrival->deferred = deferred;
	arrival->packet_bytes = deferred->packet_bytes;
	arrival->timer.fire = on_arrival;
	deferred->packet_bytes = 0;
	calendar_add_ordered(deferred->plat->sim, &arrival->timer, simgrid_get_clock(),
			     take_number(deferred, peer));
}

static int deferred_poll(struct net *net)
{
	struct deferred *deferred = deferred_of(net);
	int n;

	if (!sim_is_main())
		return 0;
	n = flush(deferred);
	enter();
	n += deferred->inner->ops->poll(deferred->inner);
	leave();
	deferred->net.npieces = deferred->inner->npieces;
	return n;
}

/* ---- life ---------------------------------------------------------------- */

static void deferred_close(struct net *net)
{
	struct deferred *deferred = deferred_of(net);

	ORR_ASSERT(!deferred->messages.queue.first && !deferred->puts.queue.first);
	flush(deferred);
	deferred->inner->ops->close(deferred->inner);
	deferred->plat->polls = 0;
	pool_free(&deferred->items);
	pool_free(&deferred->moved_halves);
	net_leave(deferred->group);
	free(deferred);
}

static const struct net_ops deferred_ops = {
	.name = "mpi",
	.send = deferred_send,
	.put = deferred_put,
	.get = deferred_get,
	.barrier = deferred_barrier,
	.poll = deferred_poll,
	.close = deferred_close,
};

/* SMPI lets ranks out of MPI_Comm_dup() one by one: all go on with the last of them. */
static void start_together(struct net_group *group)
{
	if (!group->opened)
		group->opened = sg_barrier_init((unsigned)group->size);
	sg_barrier_wait(group->opened);
}

int deferred_open(struct plat *plat, const struct net_config *config, struct net **net)
{
	struct deferred *deferred;
	struct net *inner;
	int status;

	/* Looking for messages must not cost time of its own: see sim_looked(). */
	if (plat->sim->look_s == 0)
		plat->sim->look_s = sg_cfg_get_double("smpi/test");
	sg_cfg_set_double("smpi/test", 0);
	sg_cfg_set_double("smpi/iprobe", 0);
	sg_cfg_set_boolean("smpi/grow-injected-times", "no");
	status = transport_mpi_open(plat, config, NET_MPI_MEETS_FIRST, &inner);
	if (status < 0)
		return status;
	if (!plat->sim->wire)
		plat->sim->wire = wire_new(plat->sim, WIRE_NONE);
	kernel_charge_messages(message_cost_s);
	deferred = orr_alloc(sizeof(*deferred));
	deferred->net = *inner;
	deferred->net.max_packets = 0;
	deferred->net.may_ask = sim_is_main;
	deferred->group = net_join(plat, config);
	deferred->net.shared = deferred->group->shared;
	deferred->net.ops = &deferred_ops;
	deferred->plat = plat;
	deferred->inner = inner;
	deferred->pace.costs = wire_costs(plat->sim->wire, plat->host);
	deferred->messages.deferred = deferred->puts.deferred = deferred;
	deferred->messages.due.fire = deferred->puts.due.fire = on_due;
	pool_init(&deferred->items, sizeof(struct item));
	pool_init(&deferred->moved_halves, sizeof(struct moved_half));
	inner->owner = deferred;
	inner->deliver = deferred_deliver;
	inner->ncoming = &deferred->group->ncoming[inner->rank];
	plat->polls = 1;
	calendar_bind(plat->sim);
	start_together(deferred->group);
	*net = &deferred->net;
	return 0;
}
