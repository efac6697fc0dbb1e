/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/room.h"
#include "plat/net.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_share.c - ranks that use the same devices.  Each of them saw the whole memory of a
 * device when its node opened; once they know of each other they take equal parts.  A
 * limit that the user has set stays what it is.
 */
#pragma weak real_mpi_near

enum { UUID_BYTES = 16 };

/* What a rank tells those on its machine. */
struct hand {
	int n;
	unsigned char uuids[STARPU_MAXCUDADEVS][UUID_BYTES];
};

/* In the order of the devices. */
static struct hand hand_of(const struct cuda *cuda)
{
	struct hand hand = {0};

	for (int i = 0; cuda && i < cuda->ndevices; i++, hand.n++)
		if (cuda->call.uuid(hand.uuids[i], cuda->devices[i].device) !=
		    CUDA_SUCCESS)
			memset(hand.uuids[i], 0, UUID_BYTES);
	return hand;
}

/* A device without an identity is nobody else's. */
static int is_known(const unsigned char *uuid)
{
	static const unsigned char unknown[UUID_BYTES];

	return memcmp(uuid, unknown, UUID_BYTES) != 0;
}

static int has(const struct hand *hand, const unsigned char *uuid)
{
	for (int i = 0; i < hand->n; i++)
		if (memcmp(hand->uuids[i], uuid, UUID_BYTES) == 0)
			return 1;
	return 0;
}

/* Those of the ranks that use it; first: the first of them. */
static int count_users(const struct hand *hands, int n, const unsigned char *uuid,
		       int *first)
{
	int nusers = 0;

	for (int i = n - 1; i >= 0; i--)
		if (has(&hands[i], uuid)) {
			nusers++;
			*first = i;
		}
	return nusers;
}

static size_t capacity_of(const struct plat *plat, int index)
{
	return room_capacity(&plat->node->memories[plat->machine.nnumas + index]);
}

static void divide(struct plat *plat, int index, int nusers, int is_first)
{
	struct plat_device *is = &plat->cuda->each[index];
	double part_bytes = is->memory_bytes / nusers;

	if (capacity_of(plat, index) != (size_t)is->memory_bytes)
		return;
	if (is_first)
		orr_complain(plat->node->rank,
			     "%d ranks use CUDA %d (%s): each takes %.0f MiB of its %.0f "
			     "(STARPU_LIMIT_CUDA_MEM says otherwise, in MiB)",
			     nusers, is->id, is->model, part_bytes / (1 << 20),
			     is->total_bytes / (1 << 20));
	is->memory_bytes = part_bytes;
	room_limit(plat->node, (unsigned)(plat->machine.nnumas + index),
		   (size_t)part_bytes);
}

static void divide_all(struct plat *plat, const struct hand *own,
		       const struct hand *hands, int n, int place)
{
	for (int i = 0; i < own->n; i++) {
		int first = 0, nusers = count_users(hands, n, own->uuids[i], &first);

		if (nusers > 1 && is_known(own->uuids[i]))
			divide(plat, i, nusers, first == place);
	}
}

void cuda_share(struct plat *plat, const struct net_config *config)
{
	struct hand own = hand_of(plat->cuda);
	struct net_agreement devices = {.own = own.n};
	void *hands = NULL;
	int n, place;

	if (!real_mpi_near || transport_mpi_agree(config, &devices, 1) < 0 ||
	    devices.most == 0)
		return;
	n = real_mpi_near(config->comm, &own, sizeof(own), &hands, &place);
	divide_all(plat, &own, hands, n, place);
	free(hands);
}
