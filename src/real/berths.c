/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/table.h"
#include "real/onehost.h"

static size_t class_of(const struct net_half *half)
{
	return table_mix(half->comm ^ (uint64_t)half->tag) % NCLASSES;
}

static struct berth *berths_of(const struct onehost *onehost, struct row *row, int place)
{
	struct berth *all = (void *)&row->slots[(size_t)onehost->size * NSLOTS];

	return all + (size_t)place * NBERTHS;
}

size_t berths_row_bytes(int size)
{
	return (size_t)size * NBERTHS * sizeof(struct berth);
}

void berths_open(struct onehost *onehost)
{
	onehost->leads = orr_alloc(sizeof(*onehost->leads));
	for (int i = 0; i < onehost->n; i++) {
		struct neighbour *peer = &onehost->neighbours[i];

		if (!peer->pid)
			continue;
		peer->came = orr_alloc(NCLASSES * sizeof(*peer->came));
		peer->nannounced = orr_alloc(NCLASSES * sizeof(*peer->nannounced));
	}
}

void berths_close(struct onehost *onehost)
{
	for (int i = 0; i < onehost->n; i++) {
		free(onehost->neighbours[i].came);
		free(onehost->neighbours[i].nannounced);
	}
	free(onehost->leads);
}

/* ---- the receiver ---------------------------------------------------- */

static void announced(struct net *net, const struct net_half *receive, uint64_t number)
{
	struct neighbour *peer = neighbour_of(onehost_of(net), receive->peer);
	struct class *class = &peer->came[class_of(receive)];

	class->ncame++;
	if (class->last < number)
		class->last = number;
}

/* While the words change there is no unit to be claimed, and who has seen one of them
 * changed sees that, too. */
static void fill(struct berth *berth, const struct net_half *receive, size_t unit_bytes,
		 uint64_t number)
{
	struct slot *slot = &berth->slot;
	uint64_t high = ((load(&slot->claim) >> 32) + 1) << 32;

	set(&slot->claim, high | UINT32_MAX);
	set(&slot->to, receive->place);
	set(&slot->bytes, receive->bytes);
	set(&slot->unit_bytes, unit_bytes);
	set_small(&slot->nwritten, 0);
	set_small(&slot->has_failed, 0);
	set(&berth->comm, receive->comm);
	set(&berth->tag, (uint64_t)receive->tag);
	set(&berth->number, number);
	set_small(&slot->nunits, units_of(receive->bytes, unit_bytes));
	set(&slot->claim, high);
}

static unsigned await(struct net *net, const struct net_half *receive)
{
	struct onehost *onehost = onehost_of(net);
	struct neighbour *sender = neighbour_of(onehost, receive->peer);
	const struct class *class = &sender->came[class_of(receive)];
	size_t unit_bytes = onehost_unit_bytes(onehost, receive->bytes);
	struct berth *berths;

	if (!sender->row || class->ncame != class->last ||
	    __atomic_load_n(&sender->is_unable, __ATOMIC_RELAXED) ||
	    units_of(receive->bytes, unit_bytes) < LEAST_OFFERED)
		return 0;
	berths = berths_of(onehost, sender->row, onehost->place);
	for (unsigned i = 0; i < NBERTHS; i++) {
		if (load_small(&berths[i].slot.nunits) != 0)
			continue;
		fill(&berths[i], receive, unit_bytes, class->last + 1);
		__atomic_add_fetch(&sender->row->nawaited, 1, __ATOMIC_RELEASE);
		return i + 1;
	}
	return 0;
}

static struct berth *berth_of(const struct onehost *onehost, int peer, unsigned berth)
{
	struct row *row = neighbour_of(onehost, peer)->row;

	return &berths_of(onehost, row, onehost->place)[berth - 1];
}

struct slot *berth_slot(const struct onehost *onehost, int peer, unsigned berth)
{
	return &berth_of(onehost, peer, berth)->slot;
}

int berth_withdraw(struct slot *slot)
{
	uint64_t word = load(&slot->claim);

	if ((uint32_t)word != 0 ||
	    !__atomic_compare_exchange_n(&slot->claim, &word, word | UINT32_MAX, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return 0;
	set_small(&slot->nunits, 0);
	return 1;
}

static int keep(struct net *net, int peer, unsigned number_of_berth, uint64_t number)
{
	struct berth *berth = berth_of(onehost_of(net), peer, number_of_berth);
	int is_withdrawn;

	if (load(&berth->number) == number)
		return 1;
	/* Another one of its class came first; the sender knew. */
	is_withdrawn = berth_withdraw(&berth->slot);
	ORR_ASSERT(is_withdrawn);
	return 0;
}

/* ---- the sender ------------------------------------------------------ */

static uint64_t announce(struct net *net, const struct net_half *send)
{
	struct onehost *onehost = onehost_of(net);
	struct leads *leads = onehost->leads;
	struct neighbour *receiver = neighbour_of(onehost, send->peer);
	uint64_t number = ++receiver->nannounced[class_of(send)];
	uint64_t used = load(&leads->used);
	struct lead *lead;
	int i;

	if (!send->place || used == UINT64_MAX || !receiver->row ||
	    send->bytes < (uint64_t)LEAST_OFFERED * onehost->unit_bytes)
		return number;
	i = __builtin_ctzll(~used);
	lead = &leads->of[i];
	lead->half = *send;
	lead->number = number;
	lead->slot = NULL;
	lead->is_over = 0;
	__atomic_or_fetch(&leads->used, UINT64_C(1) << i, __ATOMIC_RELEASE);
	__atomic_add_fetch(&leads->nadded, 1, __ATOMIC_RELEASE);
	return number;
}

static void answered(struct net *net, const struct net_half *send)
{
	struct leads *leads = onehost_of(net)->leads;

	for (uint64_t left = load(&leads->used); left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (leads->of[i].half.name != send->name)
			continue;
		__atomic_and_fetch(&leads->used, ~(UINT64_C(1) << i), __ATOMIC_RELEASE);
		return;
	}
}

/* What is read here is the lead's if a claim of that number succeeds. */
static int leads_to(struct lead *lead, struct berth *berth)
{
	const struct net_half *half = &lead->half;
	struct slot *slot = &berth->slot;
	uint64_t word = load(&slot->claim);

	if ((uint32_t)word != 0 || load(&berth->number) != lead->number ||
	    load(&berth->tag) != (uint64_t)half->tag ||
	    load(&berth->comm) != half->comm || load(&slot->bytes) != half->bytes)
		return 0;
	lead->span = (struct span){.from = half->place,
				   .to = load(&slot->to),
				   .bytes = half->bytes,
				   .unit_bytes = load(&slot->unit_bytes),
				   .nunits = load_small(&slot->nunits)};
	lead->slot_number = (uint32_t)(word >> 32);
	lead->slot = slot;
	return lead->span.nunits > 0;
}

static void find_berth(struct onehost *onehost, struct row *own, struct lead *lead)
{
	int place = onehost->places[lead->half.peer];
	struct berth *berths = berths_of(onehost, own, place);

	/* The first free one is filled, so behind one that never was there is none. */
	for (int i = 0; i < NBERTHS && load(&berths[i].slot.claim) != 0; i++)
		if (leads_to(lead, &berths[i]))
			return;
	lead->slot = NULL;
}

static size_t follow(const struct onehost *onehost, struct lead *lead)
{
	int pid = neighbour_of(onehost, lead->half.peer)->pid;
	uint64_t word = load(&lead->slot->claim);
	size_t total = 0;

	while (total < POLL_BYTES) {
		if (word >> 32 != lead->slot_number ||
		    (uint32_t)word >= lead->span.nunits) {
			lead->is_over = 1;
			break;
		}
		total += onehost_write(pid, lead->slot, &lead->span, &word);
	}
	return total;
}

size_t berths_help(struct onehost *onehost, struct row *own)
{
	struct leads *leads = onehost->leads;
	uint64_t left = load(&leads->used);
	uint32_t nadded = load_small(&leads->nadded);
	uint32_t nawaited = load_small(&own->nawaited);
	int looks = nadded != leads->nlooked || nawaited != leads->nawaited;
	size_t total = 0;

	if (!left || !(looks || leads->nfollowed) || !onehost_is_idle(onehost))
		return 0;
	leads->nlooked = nadded;
	leads->nawaited = nawaited;
	leads->nfollowed = 0;
	for (; left && total < POLL_BYTES; left &= left - 1) {
		struct lead *lead = &leads->of[__builtin_ctzll(left)];

		if (!lead->slot && looks)
			find_berth(onehost, own, lead);
		if (lead->slot && !lead->is_over)
			total += follow(onehost, lead);
		leads->nfollowed += lead->slot && !lead->is_over;
	}
	/* Those behind have not been looked at. */
	if (left)
		leads->nlooked = nadded - 1;
	return total;
}

const struct net_ahead berths_ahead = {.announce = announce,
				       .answered = answered,
				       .announced = announced,
				       .await = await,
				       .keep = keep};
