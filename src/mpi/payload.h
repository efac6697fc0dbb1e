/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_PAYLOAD_H
#define ORR_MPI_PAYLOAD_H

/*
 * payload.h - what of a datum travels: blocks in place, or a packed buffer.
 *
 * Kinds of data whose layout is known go straight from and to their place.  Others
 * are packed, by a datatype that the application has told or by their own operations. The
 * copy in one of the main memories is meant, and the caller has acquired it there.  Where
 * payloads do not exist, only sizes are computed.
 *
 * Many requests wait at a time, each with its payload, and nearly all are in one piece:
 * the layout of others lies apart.
 */
#include "core/data/data.h"
#include "plat/net.h"

struct answer;
struct place;

struct payload {
	char *base; /* of the layout; the owned buffer of what is packed, or NULL */
	uint64_t bytes : 48;
	uint64_t memory : 8;
	uint64_t is_strided : 1;  /* not in one piece */
	uint64_t is_packed : 1;   /* travels packed, even when nothing is carried */
	uint64_t is_answered : 1; /* the application was asked when it was posted */
	union {
		struct layout *strided; /* is_strided; owned */
		/* Else: packed as it says, not by its interface, or NULL; owned. */
		struct place *place;
		struct answer *answer; /* is_answered; owned */
	};
};

/* The value to send; packs when needed.  Ends the program when that fails.  The struct is
 * zeroed, but for the answer when there is one. */
void payload_of_send(struct payload *payload, starpu_data_handle_t handle,
		     unsigned memory);
/* Where to receive; of packed data no bytes are known before payload_expect(). */
void payload_of_receive(struct payload *payload, starpu_data_handle_t handle,
			unsigned memory);
/* bytes of packed data are coming: make room for them. */
void payload_expect(struct payload *payload, starpu_data_handle_t handle, size_t bytes);
/* All bytes, which came into temporary memory, are at body: put them in place, where
 * processors need not see the place. */
void payload_fill(struct payload *payload, void *body);
/* All bytes are there: unpack; the buffer is gone. */
void payload_received(struct payload *payload, starpu_data_handle_t handle);
/* All bytes have been read: the buffer is gone. */
void payload_sent(struct payload *payload, starpu_data_handle_t handle);
/* Nobody will ask for its layout any more. */
void payload_free(struct payload *payload);

static inline void payload_layout(const struct payload *payload, struct layout *layout)
{
	if (payload->is_strided)
		*layout = *payload->strided;
	else
		layout_flat(layout, payload->base, payload->bytes);
}

/* Whether so many bytes of payload exist on this machine. */
int payload_is_carried(const struct node *node, size_t bytes);

#endif
