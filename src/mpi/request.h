/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_REQUEST_H
#define ORR_MPI_REQUEST_H

/*
 * request.h - one transfer as its rank sees it, from post to end.
 *
 * It takes its turn on the datum like a task.  A receive also waits for its message,
 * and the two may happen in either order.  The request is freed when both the engine
 * and the application, which holds those it can wait for, have let it go.
 */
#include <stddef.h>

#include "base/list.h"
#include "core/task/acquire.h"
#include "mpi/match.h"
#include "mpi/payload.h"

struct mpi;

enum request_state {
	REQUEST_NEW,
	REQUEST_TURN,      /* waits for the datum */
	REQUEST_MATCHED,   /* receive: the message came first, the datum is awaited */
	REQUEST_READY,     /* has the datum; receive: waits for the message */
	REQUEST_ANNOUNCED, /* send: waits for the receiver's grant */
	REQUEST_GRANTED,   /* send: waits until few enough others move */
	REQUEST_MOVING,    /* the payload is on its way */
	REQUEST_MOVED,     /* to be released and called back; see request_end() */
	REQUEST_NSTATES
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE };

/* What the API asks for. */
struct post {
	enum request_kind kind;
	starpu_data_handle_t handle;
	int comm, peer; /* index of the communicator, rank in it */
	int64_t tag;
	int priority;
	int is_sync;      /* a send that ends after its match only */
	int is_unordered; /* does not take its turn on the datum */
	int is_waited;    /* the application will wait or test */
	int is_blocking;  /* as well, at once, and does nothing else meanwhile */
	uint32_t ordinal; /* as struct wire_head */
	const char *what; /* for messages: function called, or codelet; borrowed */
	void (*callback)(void *arg); /* of one that is not waited for, or NULL */
	void *arg;
};

enum {
	REQUEST_HOLDER = 1,
	REQUEST_HOLDERS = (1 << 16) - 1,
	REQUEST_IS_ENDED = 1 << 16,
	REQUEST_IS_BEGUN = 1 << 17,
	REQUEST_IS_TAKEN = 1 << 18
};

/*
 * Many wait at a time on each node of a large simulation, so what is not needed at the
 * same time lies in the same place.
 */
struct request {
	struct acquire acquire; /* first */
	struct mpi *mpi;
	int peer;
	int priority;
	/* From here on a line of the cache: what is looked at to match. */
	union {
		/* is_posted: in posted receives.  Its source, the peer's rank in the
		 * transport, and its tag are always the request's. */
		struct match_entry match;
		struct {
			struct request *next; /* in a completion list */
			union {
				/* Receive: the message that came first, see
				 * request_early(). */
				struct early *early;
				struct share *share; /* send: its part in coop.h */
			};
			union {
				/* Receive: the send of this node that it is for. */
				struct request *local;
				/* Send: its payload, while it waits for others. */
				struct half *put;
			};
			union {
				/* Receive: its value, while it waits for others. */
				struct kept *kept;
				/* Send: its small message, until that has left. */
				struct outgoing *message;
			};
		};
	};
	struct list link; /* all requests, for reports */
	unsigned char kind, state;
	unsigned char is_sync : 1, is_waited : 1;
	unsigned char berth;               /* of a receive: see mpi/ahead.h; or 0 */
	unsigned char is_posted, is_noted; /* in match; in raise.h */
	short comm;
	/* Atomic: REQUEST_HOLDER for the engine and for the application each, whether it
	 * has ended, for tests, whether who posts it is about to wait for it, and whether
	 * the application has done so. */
	int holders;
	uint32_t ordinal;
	const char *what;
	struct payload payload;
	union {
		struct plat_gate gate; /* is_waited */
		struct {
			void (*callback)(void *arg); /* or NULL */
			void *arg;
		};
	};
};

_Static_assert(offsetof(struct request, kept) + sizeof(struct kept *) <=
		       offsetof(struct request, match.tag),
	       "what comes behind the match leaves its key");
_Static_assert(offsetof(struct request, match) % ORR_LINE_BYTES == 0,
	       "requests are lines long");

/* What of a posted receive is needed when it is matched. */
static inline void request_match_lines(struct match *match)
{
	match->nlines_before = offsetof(struct request, match) / ORR_LINE_BYTES;
	match->nlines_behind = (sizeof(struct request) - 1) / ORR_LINE_BYTES -
			       offsetof(struct request, match) / ORR_LINE_BYTES;
}

static inline starpu_data_handle_t request_handle(const struct request *request)
{
	return request->acquire.access.datum;
}

/* Of one that is waited for. */
static inline int request_has_ended(const struct request *request)
{
	return (orr_load(&request->holders) & REQUEST_IS_ENDED) != 0;
}

/* It has, and the application has not been told.  Else the engine may be about to free
 * it, and nothing of it may be read but with the last holder. */
static inline int request_is_forgotten(const struct request *request)
{
	int holders = orr_load(&request->holders);

	return (holders & (REQUEST_IS_ENDED | REQUEST_IS_TAKEN)) == REQUEST_IS_ENDED;
}

/* Of a receive: the message that it is matched with and that has not left it, or NULL. */
static inline struct early *request_early(const struct request *request)
{
	if (request->kind != REQUEST_RECEIVE || request->is_posted)
		return NULL;
	return request->early;
}

/* Every change of state is checked against the table of legal moves; under the engine's
 * lock. */
void request_move(struct request *request, enum request_state state);
/* Say that it has been released and called back.  Nothing is locked then, so its state
 * stays: who looks at all requests asks request_has_ended(). */
void request_end(struct request *request);
/* "receive of tag 7 from rank 2 into ... (960 bytes), waiting for ...".  Returns text. */
const char *request_describe(const struct request *request, char *text, size_t bytes);

#endif
