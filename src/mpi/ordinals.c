/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/insert_parts.h"

#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

/* Transfers inserted so far between this rank and a peer, modulo 2^32. */
struct ordinals {
	int peer;
	uint32_t sent, received;
};

/* The lock is held. */
static struct ordinals *ordinals_of(struct insertion *insertion, int peer)
{
	struct ordinals *ordinals = insertion->recent;

	if (ordinals && ordinals->peer == peer)
		return ordinals;
	ordinals = table_get(&insertion->ordinals, (uint64_t)peer);
	if (!ordinals) {
		ordinals = orr_alloc(sizeof(*ordinals));
		ordinals->peer = peer;
		table_put(&insertion->ordinals, (uint64_t)peer, ordinals);
	}
	insertion->recent = ordinals;
	return ordinals;
}

uint32_t insert_ordinal(struct mpi *mpi, int net_peer, enum request_kind kind)
{
	struct insertion *insertion = &mpi->insertion;
	struct ordinals *ordinals;
	uint32_t *ordinal, next;

	orr_lock(&insertion->lock);
	ordinals = ordinals_of(insertion, net_peer);
	ordinal = kind == REQUEST_SEND ? &ordinals->sent : &ordinals->received;
	next = ++*ordinal;
	if (next == 0) /* which means: none */
		next = ++*ordinal;
	orr_unlock(&insertion->lock);
	return next;
}

void insertion_free(struct mpi *mpi)
{
	struct ordinals *ordinals;
	size_t cursor = 0;

	while ((ordinals = table_next(&mpi->insertion.ordinals, &cursor)))
		free(ordinals);
	table_free(&mpi->insertion.ordinals);
	free(mpi->insertion.guess);
}
