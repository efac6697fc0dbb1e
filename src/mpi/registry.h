/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_REGISTRY_H
#define ORR_MPI_REGISTRY_H

/*
 * registry.h - tags and owners of data.
 *
 * The table of tags is a set of handles, 8 bytes a place: the address and, above it,
 * 16 bits of the tag's hash, so that a look-up reads other handles hardly ever.  Eight
 * consecutive tags share a cache line.
 */
#include "core/data/data.h"

struct mpi;

enum { OWNER_UNSET = -1, OWNER_PER_NODE = -2, TAG_UNSET = -1 };

struct registry {
	struct orr_lock lock;
	uint64_t *slots; /* 0: free */
	size_t mask, count;
	size_t nleft; /* places given back, that are not free for searches */
	/* For tally.h, modulo 2^64: a number for each tag that data of communicator 0
	 * have had with an owner, and those of them that this rank owns. */
	uint64_t known, owned;
	int owners_moved; /* a datum that was counted has got another owner or tag */
};

void registry_init(struct registry *registry);
/* Forgets all; handles that still exist keep tag and owner only. */
void registry_free(struct registry *registry);

/*
 * Attach tag and owner (rank in comm); TAG_UNSET and OWNER_UNSET leave what was.
 * Ends the program, naming func, when the handle is NULL, the rank does not exist or
 * the tag belongs to another handle.
 */
void registry_register(struct mpi *mpi, starpu_data_handle_t handle, int64_t tag,
		       int rank, int comm, const char *func);
/* The handle with a tag, or NULL. */
starpu_data_handle_t registry_find(struct mpi *mpi, int64_t tag);
/*
 * For node->on_unregister: cache and reductions forget the handle as soon as its end is
 * submitted, since another thread may free it while this one goes over what they list;
 * its tag is free when it is over.
 */
void registry_on_unregister(struct node *node, starpu_data_handle_t handle, int is_over);

#endif
