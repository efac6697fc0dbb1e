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
 * Only a rank's main may call MPI, but tasks that end in kernel context send, and threads
 * of the program, too.
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

/* A message that has come, and is not yet received. */
struct arrival {
	struct arrival *next; /* of its packet */
	struct plat_timer timer;
	struct deferred *deferred;
	int peer, has_body;
	unsigned head_bytes;
	size_t body_bytes;
	_Alignas(NET_ALIGN_BYTES) char data[]; /* head and body, aligned */
};

struct deferred {
	struct net net;
	struct plat *plat;
	struct net *inner;
	struct net_group *group; /* for what nodes share */
	struct net_pace pace;
	struct queue waiting, ready; /* for their dates, in this order; for the main */
	struct plat_timer due;       /* of the first that waits */
	struct pool items;
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

static int start(struct deferred *deferred, const struct item *item)
{
	struct net *inner = deferred->inner;
	int ret;

	enter();
	if (item->kind == ITEM_MESSAGE) {
		deferred->group->ncoming[item->what.message->peer]++;
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
	struct deferred *deferred = ORR_CONTAINER(timer, struct deferred, due);
	struct sim *sim = deferred->plat->sim;

	while (deferred->waiting.first && deferred->waiting.first->date_s <= sim->now_s)
		append(&deferred->ready, take_first(&deferred->waiting));
	if (deferred->waiting.first)
		calendar_add(sim, timer, deferred->waiting.first->date_s);
	sim_kick(deferred->plat);
}

/* Now, where the caller is the main and the date is: what waits is older. */
static int start_at(struct deferred *deferred, const struct item *wanted)
{
	struct sim *sim = deferred->plat->sim;
	int is_later =
		wanted->date_s > (sim->in_kernel ? sim->now_s : simgrid_get_clock());
	struct item *item;

	if (!is_later && sim_is_main()) {
		flush(deferred);
		return start(deferred, wanted);
	}
	item = pool_get(&deferred->items);
	*item = *wanted;
	append(is_later ? &deferred->waiting : &deferred->ready, item);
	if (!is_later)
		sim_kick(deferred->plat);
	else if (deferred->waiting.first == item)
		calendar_add(sim, &deferred->due, item->date_s);
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
	return start_at(deferred, &item);
}

static int deferred_get(struct net *net, struct net_bulk *bulk)
{
	struct item item = {.kind = ITEM_GET, .what.bulk = bulk};

	if (!net_bulk_has_peer(net, bulk, 0))
		return -EINVAL;
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

/* Receiving costs time, what comes together once. */
static void deferred_deliver(struct net *inner, int peer, const void *head,
			     size_t head_bytes, const void *body, size_t body_bytes)
{
	struct deferred *deferred = inner->owner;
	struct arrival *arrival = new_arrival(peer, head, head_bytes, body, body_bytes);
	double date_s;

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
	arrival->timer.fire = on_received;
	sim_lend(deferred->plat,
		 wire_receive_overhead_s(deferred->pace.costs, deferred->packet_bytes),
		 0);
	date_s = net_receive_date_s(deferred->plat, &deferred->pace,
				    deferred->packet_bytes);
	deferred->packet_bytes = 0;
	calendar_add(deferred->plat->sim, &arrival->timer, date_s);
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

	ORR_ASSERT(!deferred->waiting.first);
	flush(deferred);
	deferred->inner->ops->close(deferred->inner);
	deferred->plat->polls = 0;
	pool_free(&deferred->items);
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
	status = transport_mpi_open(config, NET_MPI_MEETS_FIRST, &inner);
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
	deferred->due.fire = on_due;
	pool_init(&deferred->items, sizeof(struct item));
	inner->owner = deferred;
	inner->deliver = deferred_deliver;
	inner->ncoming = &deferred->group->ncoming[inner->rank];
	plat->polls = 1;
	calendar_bind(plat->sim);
	*net = &deferred->net;
	return 0;
}
