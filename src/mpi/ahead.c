/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ahead.h"

#include "mpi/mpi.h"

static int is_near(const struct mpi *mpi, int peer)
{
	const struct net *net = mpi->net;

	return net->ops->ahead && peer != net->rank && net->ops->reaches(net, peer);
}

/* What is small comes with its message, and what is packed has no place of its own. */
static int has_place(const struct mpi *mpi, const struct request *request)
{
	const struct payload *payload = &request->payload;

	return payload->bytes > mpi->net->eager_bytes && payload->base &&
	       !payload->is_strided && !payload->is_packed &&
	       !(mpi->net->memories >> payload->memory & 1);
}

/* From where a sender may begin to write. */
static int is_in_one_run(const struct wire_head *head)
{
	return (head->flags & (WIRE_DIRECT | WIRE_SPREAD)) == WIRE_DIRECT;
}

static struct net_half half_of(struct mpi *mpi, const struct request *request)
{
	return (struct net_half){.peer = request->match.source,
				 .comm = comm_at(&mpi->comms, request->comm)->id,
				 .tag = request->match.tag,
				 .bytes = request->payload.bytes,
				 .name = (uintptr_t)request};
}

void ahead_await(struct mpi *mpi, struct request *request)
{
	struct net_half half;

	if (!mpi->net->ops->ahead || !request->is_posted || !has_place(mpi, request) ||
	    !is_near(mpi, request->match.source) ||
	    !match_is_next(&mpi->engine.posted, &request->match))
		return;
	half = half_of(mpi, request);
	half.place = (uintptr_t)request->payload.base;
	request->berth = (unsigned char)mpi->net->ops->ahead->await(mpi->net, &half);
}

void ahead_announced(struct mpi *mpi, int peer, const struct wire_head *head)
{
	struct net_half half = {.peer = peer, .comm = head->comm, .tag = head->tag};

	if (head->number && is_near(mpi, peer))
		mpi->net->ops->ahead->announced(mpi->net, &half, head->number);
}

size_t ahead_announce(struct mpi *mpi, const struct request *request,
		      struct wire_head *head)
{
	struct net_half half;

	if (is_near(mpi, request->match.source)) {
		half = half_of(mpi, request);
		half.place = is_in_one_run(head) ? head->key : 0;
		head->number = mpi->net->ops->ahead->announce(mpi->net, &half);
		return WIRE_NUMBERED_BYTES;
	}
	return head->flags & WIRE_DIRECT ? WIRE_DIRECT_BYTES : WIRE_ANNOUNCE_BYTES;
}

void ahead_answered(struct mpi *mpi, const struct request *request)
{
	struct net_half half;

	if (!is_near(mpi, request->match.source))
		return;
	half = half_of(mpi, request);
	mpi->net->ops->ahead->answered(mpi->net, &half);
}

unsigned ahead_keep(struct mpi *mpi, const struct early *early)
{
	struct request *request = early->is_taken_in ? NULL : early->receive;
	unsigned berth = request ? request->berth : 0;

	if (!berth)
		return 0;
	request->berth = 0;
	return mpi->net->ops->ahead->keep(mpi->net, early->match.source, berth,
					  is_in_one_run(&early->head) ? early->head.number
								      : 0)
		       ? berth
		       : 0;
}
