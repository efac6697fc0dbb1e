/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "net_sim.h"

#include "base/check.h"

/*
 * bulk.c - large transfers.  The half that comes first waits in the destination's
 * table; the bytes begin to flow when both are there.
 */
enum { KEY_BITS = 20 };

/* Of a half and what it is part of, when it ends. */
enum { HALF_LINES = 4 };

/* What is kept in bulk->backend while a half waits. */
struct half {
	double date_s;
	struct sim_net *net; /* whose it is */
	int is_put;
};

_Static_assert(sizeof(struct half) <= sizeof(((struct net_bulk *)0)->backend),
	       "a half must have room for its date");

struct pair {
	struct net_bulk *put, *get;
	struct sim_net *from, *to;
	const struct plat *plat; /* of to */
	double stretch;
	struct plat_timer refusal; /* when the sizes differ */
	struct look look;
};

static struct half *half_of(struct net_bulk *bulk)
{
	return (struct half *)(void *)bulk->backend;
}

void bulk_open(struct net_group *group)
{
	pool_init(&group->pairs, sizeof(struct pair));
}

static void end_pair(struct pair *pair, int status)
{
	struct net_bulk *put = pair->put, *get = pair->get;
	struct sim_net *from = pair->from, *to = pair->to;

	pool_put(&from->group->pairs, pair);
	put->status = get->status = status;
	net_become(to);
	get->done(get);
	net_become(from);
	put->done(put);
}

/* Of both halves each step at once. */
static void expect_end(const struct pair *pair, int step)
{
	if (pair->to->net.expect_end)
		pair->to->net.expect_end(pair->get, step);
	if (pair->from->net.expect_end)
		pair->from->net.expect_end(pair->put, step);
}

static void looked(struct look *look)
{
	struct pair *pair = ORR_CONTAINER(look, struct pair, look);

	expect_end(pair, 1);
	net_lend_for(pair->to, pair->from, (double)layout_bytes(&pair->put->layout),
		     pair->stretch, pair->look.is_late);
	net_touch(pair->to, (double)layout_bytes(&pair->put->layout));
	layout_copy(&pair->get->layout, &pair->put->layout);
	net_moves(pair->from, -1);
	net_moves(pair->to, -1);
	expect_end(pair, 2);
	end_pair(pair, 0);
}

static void expect_half(const struct net_bulk *bulk)
{
	for (int line = 0; line < HALF_LINES; line++)
		orr_bring((const char *)bulk + line * ORR_LINE_BYTES);
}

/* The transfer will end soon. */
static void expect(void *arg, int step)
{
	const struct pair *pair = arg;

	if (step == 0) {
		net_expect(pair->from, pair->to, pair->plat);
		orr_bring(&pair->from->net.owner);
		expect_half(pair->get);
		expect_half(pair->put);
	} else {
		expect_end(pair, step - 1);
	}
}

static void on_arrival(void *arg)
{
	struct pair *pair = arg;

	net_expect(pair->from, pair->to, pair->plat);
	orr_bring(&pair->from->net.owner);
	expect_half(pair->get);
	expect_half(pair->put);
	expect_end(pair, 0);
	if (!look_later(pair->to->plat, &pair->look, looked))
		looked(&pair->look);
}

static void on_refusal(struct plat_timer *timer)
{
	end_pair(ORR_CONTAINER(timer, struct pair, refusal), -EMSGSIZE);
}

/* real/onehost.c: of so many bytes, four of its units, a sender that has nothing to do
 * copies its part. */
enum { HELPED_BYTES = 3 * (16 << 10) + 1 };

/* The part of the bandwidth, which is that of both, for whom the sender does not help. */
static double part_of(const struct pair *pair, double bytes)
{
	const struct plat *to = pair->to->plat;
	double part = to->costs.lone_copy;

	return to->lends_cores && to->copies_messages && bytes >= HELPED_BYTES &&
			       part > 0 && sim_any_runs(pair->from->plat)
		       ? part
		       : 1;
}

/*
 * The factors are of values of 1 MiB, and of 64 KiB, between which seconds go as a power
 * of the size.  Smaller ones that are slower than memory already, for what each costs
 * besides its bytes, are not slowed down by it once more.
 */
static double stretch_of(const struct pair *pair, double bytes)
{
	double part = part_of(pair, bytes);
	const double mib = 1 << 20, small = 1 << 16;
	sg_host_t from = pair->from->plat->host, to = pair->to->plat->host;
	struct wire *wire = pair->to->sim->wire;
	struct cost_stretch stretch =
		costs_stretch(pair->to->plat, pair->put->datum, bytes);
	double large_s, small_s, taken_s;

	stretch.large /= part;
	stretch.small /= part;
	if (bytes >= mib || (stretch.large <= 1 && stretch.small <= 1))
		return stretch.large;
	large_s = stretch.large * wire_bytes_s(wire, from, to, mib);
	taken_s = large_s / mib * bytes;
	if (stretch.small > 0) {
		small_s = stretch.small * wire_bytes_s(wire, from, to, small);
		taken_s = small_s / small * bytes;
		if (bytes > small)
			taken_s = small_s * pow(large_s / small_s,
						log(bytes / small) / log(mib / small));
	}
	return fmax(1, taken_s / wire_bytes_s(wire, from, to, bytes));
}

static void start_pair(struct pair *pair)
{
	double bytes = (double)layout_bytes(&pair->put->layout);
	double put_s = half_of(pair->put)->date_s, get_s = half_of(pair->get)->date_s;
	struct sim *sim = pair->from->sim;
	struct wire_transfer transfer = {
		.from = pair->from->plat->host,
		.to = pair->to->plat->host,
		.bytes = bytes,
		.start_s = put_s > get_s ? put_s : get_s,
		.done = on_arrival,
		.expect = expect,
		.arg = pair,
	};

	if (layout_bytes(&pair->put->layout) != layout_bytes(&pair->get->layout)) {
		pair->refusal.fire = on_refusal;
		calendar_add(sim, &pair->refusal, transfer.start_s);
		return;
	}
	pair->plat = pair->to->plat;
	pair->stretch = stretch_of(pair, bytes);
	transfer.stretch = pair->stretch;
	transfer.start_s += wire_receive_overhead_s(pair->to->pace.costs, bytes);
	net_moves(pair->from, 1);
	net_moves(pair->to, 1);
	wire_start(sim->wire, &transfer);
}

static int post_half(struct sim_net *net, struct net_bulk *bulk, int is_put)
{
	struct sim_net *to = net;
	struct net_bulk *other;
	struct pair *pair;

	if (!net_bulk_has_peer(&net->net, bulk, is_put))
		return -EINVAL;
	if (is_put) {
		to = net->group->members[bulk->peer];
		table_expect(&to->halves, bulk->key);
		wire_expect(net->sim->wire, net->group->hosts[net->net.rank],
			    net->group->hosts[bulk->peer], 0);
	}
	ORR_ASSERT(to); /* The halves were agreed on by messages. */
	ORR_ASSERT(bulk->key < 1u << KEY_BITS);
	*half_of(bulk) = (struct half){plat_now_s(net->plat), net, is_put};
	if (is_put)
		half_of(bulk)->date_s = net_send_date_s(
			net->plat, &net->pace, (double)layout_bytes(&bulk->layout));
	other = table_get(&to->halves, bulk->key);
	if (!other) {
		table_put(&to->halves, bulk->key, bulk);
		return 0;
	}
	ORR_ASSERT(half_of(other)->is_put != is_put);
	table_remove(&to->halves, bulk->key);
	pair = pool_get(&net->group->pairs);
	if (is_put)
		wire_expect(net->sim->wire, net->group->hosts[net->net.rank],
			    net->group->hosts[bulk->peer], 1);
	memset(pair, 0, sizeof(*pair));
	pair->put = is_put ? bulk : other;
	pair->get = is_put ? other : bulk;
	pair->from = half_of(pair->put)->net;
	pair->to = to;
	pair->get->peer = pair->from->net.rank;
	start_pair(pair);
	return 0;
}

int bulk_put(struct net *net, struct net_bulk *bulk)
{
	return post_half(ORR_CONTAINER(net, struct sim_net, net), bulk, 1);
}

int bulk_get(struct net *net, struct net_bulk *bulk)
{
	return post_half(ORR_CONTAINER(net, struct sim_net, net), bulk, 0);
}
