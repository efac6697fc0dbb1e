/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "fake_impl.h"

/*
 * The "fake" transport.  A message leaves in bytes / bandwidth, arrives a latency
 * later and never before an earlier one of the same pair.  The halves of a bulk meet
 * by sender, receiver and key, and both end when the data have crossed.
 */
struct fake_net {
	struct net base; /* first */
	struct plat *plat;
	struct fake_domain *domain;
	void *barriers, **barriers_last; /* started, oldest first, by backend[0] */
	int refusal;                     /* how gets from a place end */
};

/* A message on its way. */
struct fake_parcel {
	struct fake_event event; /* first; used by the first of a packet */
	struct fake_domain *domain;
	struct fake_parcel *next; /* in domain->early */
	struct fake_parcel *rest; /* of the packet */
	int from, to, has_body;
	size_t head_bytes, body_bytes;
	char head[NET_HEAD_BYTES];
	char body[];
};

struct sent_event {
	struct fake_event event; /* first */
	struct net_message *message;
};

struct fake_half {
	struct fake_half *next;
	struct net_bulk *bulk;
	int from, to, is_put;
};

struct bulk_event {
	struct fake_event event; /* first */
	struct net_bulk *bulk;
	struct fake_net *net;
};

struct barrier_event {
	struct fake_event event; /* first */
	struct net_barrier *barrier;
};

static struct fake_net *fake_net_of(struct net *net)
{
	return (struct fake_net *)net;
}

static double crossing_s(size_t bytes)
{
	const struct fake *fake = fake_get();

	return (double)bytes / fake->bytes_per_s;
}

static int is_peer(const struct net *net, int peer)
{
	return peer >= 0 && peer < net->size;
}

/* ---- messages -------------------------------------------------------- */

static void on_sent(struct plat_timer *timer)
{
	struct net_message *message = ((struct sent_event *)timer)->message;

	fake_event_free(timer);
	message->sender->sent(message);
}

static void on_arrival(struct plat_timer *timer)
{
	struct fake_parcel *parcel = (struct fake_parcel *)timer;
	struct fake_net *to = parcel->domain->nets[parcel->to];

	ORR_ASSERT(to); /* It was open when the message was on its way. */
	while (parcel) {
		struct fake_parcel *rest = parcel->rest;

		to->base.has_more = rest != NULL;
		to->base.deliver(
			&to->base, parcel->from, parcel->head, parcel->head_bytes,
			parcel->has_body ? parcel->body : NULL, parcel->body_bytes);
		fake_event_free(parcel);
		parcel = rest;
	}
}

static struct fake_parcel *parcel_new(const struct fake_net *net,
				      const struct net_message *message)
{
	size_t carried = message->body ? message->body_bytes : 0;
	struct fake_parcel *parcel = fake_event_new(sizeof(*parcel) + carried);

	parcel->head_bytes = message->head_bytes;
	parcel->body_bytes = message->body_bytes;
	parcel->has_body = message->body != NULL;
	parcel->domain = net->domain;
	parcel->from = net->base.rank;
	parcel->to = message->peer;
	memcpy(parcel->head, message->head, message->head_bytes);
	if (carried)
		memcpy(parcel->body, message->body, carried);
	return parcel;
}

/* Arrive in order; or, at a net that is not open, wait for it, in order as well. */
static void parcel_start(struct fake_domain *domain, struct fake_parcel *parcel,
			 double date_s)
{
	double *last_s = &domain->arrived_s[parcel->from * domain->size + parcel->to];
	struct fake_net *to = domain->nets[parcel->to];
	struct fake_parcel **last = &domain->early;

	if (date_s < *last_s)
		date_s = *last_s;
	*last_s = date_s;
	if (to) {
		fake_event_at(to->plat, parcel, date_s, on_arrival);
		return;
	}
	while (*last)
		last = &(*last)->next;
	parcel->next = NULL;
	*last = parcel;
}

static int fake_send(struct net *base, struct net_message *message)
{
	struct fake_net *net = fake_net_of(base);
	struct fake *fake = fake_get();
	double left_s = fake->now_s;
	struct fake_parcel *parcel = NULL, **last = &parcel;
	struct sent_event *sent;
	size_t bytes = 0;

	if (!is_peer(base, message->peer))
		return -EINVAL;
	for (struct net_message *m = message; m; m = m->next) {
		ORR_ASSERT(m->head_bytes <= NET_HEAD_BYTES);
		ORR_ASSERT(m->body_bytes <= base->eager_bytes);
		ORR_ASSERT(m->peer == message->peer);
		left_s += crossing_s(m->head_bytes + m->body_bytes);
		bytes += net_message_bytes(m);
		*last = parcel_new(net, m);
		last = &(*last)->rest;
	}
	ORR_ASSERT(!message->next || bytes <= base->packet_bytes);
	parcel_start(net->domain, parcel, left_s + fake->latency_s + fake_jitter_s(fake));
	sent = fake_event_new(sizeof(*sent));
	sent->message = message;
	fake_event_at(net->plat, sent, left_s + fake_jitter_s(fake), on_sent);
	return 0;
}

/* ---- bulks ----------------------------------------------------------- */

static void on_bulk_end(struct plat_timer *timer)
{
	struct net_bulk *bulk = ((struct bulk_event *)timer)->bulk;

	fake_event_free(timer);
	bulk->done(bulk);
}

static void bulk_end_at(struct plat *plat, struct net_bulk *bulk, double date_s)
{
	struct bulk_event *event = fake_event_new(sizeof(*event));

	event->bulk = bulk;
	fake_event_at(plat, event, date_s, on_bulk_end);
}

static void bulk_cross(struct fake_domain *domain, int from, int to, struct net_bulk *put,
		       struct net_bulk *get)
{
	struct fake *fake = fake_get();
	size_t bytes = layout_bytes(&put->layout);
	double end_s = fake->now_s + fake->latency_s + crossing_s(bytes);

	put->status = 0;
	get->peer = from;
	get->status = bytes == layout_bytes(&get->layout) ? 0 : -EMSGSIZE;
	if (get->status == 0)
		layout_copy(&get->layout, &put->layout);
	bulk_end_at(domain->nets[from]->plat, put, end_s + fake_jitter_s(fake));
	bulk_end_at(domain->nets[to]->plat, get, end_s + fake_jitter_s(fake));
}

static int start_half(struct fake_net *net, struct net_bulk *bulk, int is_put)
{
	struct fake_domain *domain = net->domain;
	int from = is_put ? net->base.rank : bulk->peer; /* NET_ANYBODY */
	int to = is_put ? bulk->peer : net->base.rank;
	struct fake_half **at = &domain->halves, *half;

	if (!net_bulk_has_peer(&net->base, bulk, is_put))
		return -EINVAL;
	for (; *at; at = &(*at)->next) {
		half = *at;
		if (half->is_put == is_put || half->to != to ||
		    half->bulk->key != bulk->key)
			continue;
		from = is_put ? from : half->from;
		*at = half->next;
		if (is_put)
			bulk_cross(domain, from, to, bulk, half->bulk);
		else
			bulk_cross(domain, from, to, half->bulk, bulk);
		free(half);
		return 0;
	}
	half = *at = orr_alloc(sizeof(*half));
	*half = (struct fake_half){
		.bulk = bulk, .from = from, .to = to, .is_put = is_put};
	return 0;
}

static int fake_put(struct net *base, struct net_bulk *bulk)
{
	return start_half(fake_net_of(base), bulk, 1);
}

static int fake_reaches(const struct net *net, int peer)
{
	return is_peer(net, peer);
}

static int fake_takes(const struct layout *layout)
{
	return layout_ascends(layout);
}

/* As late as possible: the sender's datum must still be what it was. */
static void on_taken(struct plat_timer *timer)
{
	struct bulk_event *event = (struct bulk_event *)timer;
	struct net_bulk *bulk = event->bulk;

	bulk->status = event->net->refusal;
	if (bulk->status == 0 && bulk->is_spread)
		layout_copy(&bulk->layout, (const void *)(uintptr_t)bulk->from);
	else if (bulk->status == 0)
		layout_scatter(&bulk->layout, (const void *)(uintptr_t)bulk->from);
	fake_event_free(timer);
	bulk->done(bulk);
}

static int fake_take(struct net *base, struct net_bulk *bulk)
{
	struct fake_net *net = fake_net_of(base);
	struct fake *fake = fake_get();
	struct bulk_event *event;

	if (!bulk->from)
		return start_half(net, bulk, 0);
	event = fake_event_new(sizeof(*event));
	event->bulk = bulk;
	event->net = net;
	fake_event_at(net->plat, event,
		      fake->now_s + crossing_s(layout_bytes(&bulk->layout)) +
			      fake_jitter_s(fake),
		      on_taken);
	return 0;
}

/* ---- barrier --------------------------------------------------------- */

static void on_barrier_end(struct plat_timer *timer)
{
	struct net_barrier *barrier = ((struct barrier_event *)timer)->barrier;

	fake_event_free(timer);
	barrier->done(barrier);
}

static void end_oldest_barrier(struct fake_net *net)
{
	struct barrier_event *event = fake_event_new(sizeof(*event));
	struct fake *fake = fake_get();

	event->barrier = net->barriers;
	net->barriers = event->barrier->backend[0];
	if (!net->barriers)
		net->barriers_last = &net->barriers;
	fake_event_at(net->plat, event, fake->now_s + fake->latency_s, on_barrier_end);
}

static void fake_barrier(struct net *base, struct net_barrier *barrier)
{
	struct fake_net *net = fake_net_of(base);
	struct fake_domain *domain = net->domain;

	barrier->backend[0] = NULL;
	*net->barriers_last = barrier;
	net->barriers_last = &barrier->backend[0];
	for (int i = 0; i < domain->size; i++)
		if (!domain->nets[i] || !domain->nets[i]->barriers)
			return;
	for (int i = 0; i < domain->size; i++)
		end_oldest_barrier(domain->nets[i]);
}

/* ---- life ------------------------------------------------------------ */

static int fake_poll(struct net *base)
{
	(void)base;
	return 0;
}

static void domain_free(struct fake *fake, struct fake_domain *domain)
{
	struct fake_domain **at = &fake->domains;

	while (*at && *at != domain)
		at = &(*at)->next;
	if (*at)
		*at = domain->next;
	for (struct fake_half *half = domain->halves; half;) {
		struct fake_half *next = half->next;

		free(half);
		half = next;
	}
	free(domain->nets);
	free(domain->arrived_s);
	free(domain);
}

static void fake_close(struct net *base)
{
	struct fake_net *net = fake_net_of(base);
	struct fake_domain *domain = net->domain;

	domain->nets[base->rank] = NULL;
	free(net);
	if (++domain->nclosed == domain->size)
		domain_free(fake_get(), domain);
}

void fake_nets_free(struct fake *fake)
{
	while (fake->domains) {
		struct fake_domain *domain = fake->domains;

		for (int i = 0; i < domain->size; i++)
			free(domain->nets[i]);
		domain_free(fake, domain);
	}
}

static const struct net_ops fake_ops = {
	.name = "fake",
	.send = fake_send,
	.put = fake_put,
	.get = fake_take,
	.barrier = fake_barrier,
	.poll = fake_poll,
	.close = fake_close,
};

static const struct net_ops fake_near_ops = {
	.name = "fake",
	.send = fake_send,
	.put = fake_put,
	.get = fake_take,
	.reaches = fake_reaches,
	.takes = fake_takes,
	.barrier = fake_barrier,
	.poll = fake_poll,
	.close = fake_close,
};

void fake_net_reaches(struct net *net, int refusal)
{
	net->ops = &fake_near_ops;
	fake_net_of(net)->refusal = refusal;
}

/* The domain of the next network that this rank opens: the k-th of each rank. */
static struct fake_domain *domain_of(struct fake *fake, const struct net_config *config)
{
	int k = fake->nets_opened[fake->selected]++;
	struct fake_domain *domain = fake->domains;
	size_t size = (size_t)config->size;

	while (domain && (domain->number != k || domain->size != config->size))
		domain = domain->next;
	if (domain)
		return domain;
	domain = orr_alloc(sizeof(*domain));
	domain->size = config->size;
	domain->number = k;
	domain->nets = orr_alloc(size * sizeof(struct fake_net *));
	domain->arrived_s = orr_alloc(size * size * sizeof(double));
	domain->next = fake->domains;
	fake->domains = domain;
	return domain;
}

/* Messages that came before the net was open arrive now. */
static void take_early(struct fake_net *net)
{
	struct fake_domain *domain = net->domain;
	struct fake_parcel *parcel = domain->early;

	domain->early = NULL;
	while (parcel) {
		struct fake_parcel *next = parcel->next;

		parcel_start(domain, parcel, fake_get()->now_s);
		parcel = next;
	}
}

int plat_net_agree(struct plat *plat, const struct net_config *config,
		   struct net_agreement *items, int n)
{
	(void)plat;
	(void)config;
	for (int i = 0; i < n; i++)
		items[i].least = items[i].most = items[i].own;
	return 0;
}

int plat_net_open(struct plat *plat, const struct net_config *config, struct net **out)
{
	struct fake *fake = fake_get();
	struct fake_net *net;

	if (*config->name && strcmp(config->name, "fake") != 0)
		return -EINVAL;
	ORR_ASSERT(config->rank >= 0 && config->rank < config->size);
	net = orr_alloc(sizeof(*net));
	net->base = (struct net){.ops = fake->chance / 6 % 2 ? &fake_near_ops : &fake_ops,
				 .rank = config->rank,
				 .size = config->size,
				 .eager_bytes = config->eager_bytes,
				 .packet_bytes = config->packet_bytes,
				 .may_push = 1,
				 /* 0 before fake_shuffle(). */
				 .may_copy = (int)(fake->chance % 2),
				 .max_packets = (int)(fake->chance / 2 % 3)};
	net->plat = plat;
	net->barriers_last = &net->barriers;
	net->domain = domain_of(fake, config);
	net->base.shared = net->domain->shared;
	ORR_ASSERT(!net->domain->nets[config->rank]);
	net->domain->nets[config->rank] = net;
	take_early(net);
	*out = &net->base;
	return 0;
}
