/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>

#include <xbt/config.h>

#include "net_sim.h"

/*
 * deferred.c - transport "mpi" in simulation.
 *
 * Only a rank's main may call MPI, but tasks that end in kernel context send, too.
 * What is started there waits here until the main polls; it is woken for that.
 */
struct deferred {
	struct net net;
	struct plat *plat;
	struct net *inner;
	struct net_message *sends, *last_send; /* packets, by backend[0] */
	struct net_bulk *bulks, *last_bulk;    /* backend[0]: the operation */
	struct net_barrier *barrier;
};

static struct deferred *deferred_of(struct net *net)
{
	return ORR_CONTAINER(net, struct deferred, net);
}

static int flush(struct deferred *deferred)
{
	const struct net_ops *ops = deferred->inner->ops;
	int n = 0;

	for (; deferred->sends; n++) {
		struct net_message *message = deferred->sends;

		deferred->sends = message->backend[0];
		ops->send(deferred->inner, message);
	}
	deferred->last_send = NULL;
	for (; deferred->bulks; n++) {
		struct net_bulk *bulk = deferred->bulks;
		int is_put = bulk->backend[0] != NULL;

		deferred->bulks = bulk->next;
		bulk->next = NULL;
		(is_put ? ops->put : ops->get)(deferred->inner, bulk);
	}
	deferred->last_bulk = NULL;
	if (deferred->barrier) {
		struct net_barrier *barrier = deferred->barrier;

		deferred->barrier = NULL;
		ops->barrier(deferred->inner, barrier);
		n++;
	}
	return n;
}

/* 1: the caller is the main, and may call MPI. */
static int may_call(struct deferred *deferred)
{
	if (!deferred->plat->sim->in_kernel) {
		flush(deferred);
		return 1;
	}
	sim_kick(deferred->plat);
	return 0;
}

static int deferred_send(struct net *net, struct net_message *message)
{
	struct deferred *deferred = deferred_of(net);

	if (message->peer < 0 || message->peer >= net->size)
		return -EINVAL;
	if (may_call(deferred))
		return deferred->inner->ops->send(deferred->inner, message);
	message->backend[0] = NULL;
	if (deferred->last_send)
		deferred->last_send->backend[0] = message;
	else
		deferred->sends = message;
	deferred->last_send = message;
	return 0;
}

static int defer_bulk(struct deferred *deferred, struct net_bulk *bulk, int is_put)
{
	if (!net_bulk_has_peer(&deferred->net, bulk, is_put))
		return -EINVAL;
	if (may_call(deferred)) {
		const struct net_ops *ops = deferred->inner->ops;

		return (is_put ? ops->put : ops->get)(deferred->inner, bulk);
	}
	bulk->backend[0] = is_put ? bulk : NULL;
	bulk->next = NULL;
	*(deferred->last_bulk ? &deferred->last_bulk->next : &deferred->bulks) = bulk;
	deferred->last_bulk = bulk;
	return 0;
}

static int deferred_put(struct net *net, struct net_bulk *bulk)
{
	return defer_bulk(deferred_of(net), bulk, 1);
}

static int deferred_get(struct net *net, struct net_bulk *bulk)
{
	return defer_bulk(deferred_of(net), bulk, 0);
}

static void deferred_barrier(struct net *net, struct net_barrier *barrier)
{
	struct deferred *deferred = deferred_of(net);

	if (may_call(deferred))
		deferred->inner->ops->barrier(deferred->inner, barrier);
	else
		deferred->barrier = barrier;
}

static int deferred_poll(struct net *net)
{
	struct deferred *deferred = deferred_of(net);
	int n;

	if (deferred->plat->sim->in_kernel)
		return 0;
	/* Callbacks charge time, but must not let it pass: they may hold locks. */
	deferred->plat->in_poll = 1;
	n = flush(deferred);
	n += deferred->inner->ops->poll(deferred->inner);
	deferred->plat->in_poll = 0;
	deferred->net.npieces = deferred->inner->npieces;
	return n;
}

static void deferred_deliver(struct net *inner, int peer, const void *head,
			     size_t head_bytes, const void *body, size_t body_bytes)
{
	struct deferred *deferred = inner->owner;

	deferred->net.has_more = inner->has_more;
	deferred->net.deliver(&deferred->net, peer, head, head_bytes, body, body_bytes);
}

static void deferred_close(struct net *net)
{
	struct deferred *deferred = deferred_of(net);

	flush(deferred);
	deferred->inner->ops->close(deferred->inner);
	deferred->plat->polls = 0;
	free(deferred);
}

static const struct net_ops deferred_ops = {
	"mpi",         deferred_send,  deferred_put, deferred_get, deferred_barrier,
	deferred_poll, deferred_close,
};

int deferred_open(struct plat *plat, const struct net_config *config, struct net **net)
{
	struct deferred *deferred;
	struct net *inner;
	int status;

	/* Looking for messages must not cost time of its own. */
	sg_cfg_set_double("smpi/test", 0);
	sg_cfg_set_double("smpi/iprobe", 0);
	sg_cfg_set_boolean("smpi/grow-injected-times", "no");
	status = transport_mpi_open(config, 0, &inner);
	if (status < 0)
		return status;
	deferred = orr_alloc(sizeof(*deferred));
	deferred->net = *inner;
	deferred->net.may_ask = sim_is_main;
	deferred->net.ops = &deferred_ops;
	deferred->plat = plat;
	deferred->inner = inner;
	inner->owner = deferred;
	inner->deliver = deferred_deliver;
	plat->polls = 1;
	calendar_bind(plat->sim);
	*net = &deferred->net;
	return 0;
}
