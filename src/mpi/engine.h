/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_ENGINE_H
#define ORR_MPI_ENGINE_H

/*
 * engine.h - moves data between nodes: matching, small and large transfers.
 *
 * One lock guards all of it, held for the time of a look-up and a small copy.  No
 * code of the application, no release of data and no call of MPI runs under it: complete
 * requests go to finish.h's list, which the pollers (or, where a calendar drives the
 * transport, its callbacks) work off; what is sent goes through outbox.h.
 *
 * A small transfer is one message.  A large or synchronous one is announced; the
 * receiver grants it when a receive is matched and has its datum (large.h), so its
 * payload is usually never stored on the way; early.h says when it is.  Announcements
 * are never held back: limits and priorities apply to granted transfers, which cannot
 * block one another.
 */
#include "base/list.h"
#include "base/table.h"
#include "mpi/coop.h"
#include "mpi/early.h"
#include "mpi/large.h"
#include "mpi/outbox.h"
#include "mpi/raise.h"
#include "mpi/request.h"
#include "mpi/wire.h"

struct knobs;

/* The first transfer that was matched though its two ranks count it differently: no
 * error by itself, since ranks may order what is independent as they like. */
struct suspect {
	int is_set, peer;
	uint32_t sent, received; /* ordinals */
	int64_t tag;
	char what[64];
};

struct engine {
	struct orr_lock lock;
	struct outbox outbox;
	struct net_sender sender;
	struct pool requests, parcels;
	struct match posted;
	struct list all; /* requests, oldest first */
	struct earlies earlies;
	struct large large;
	struct coop coop;
	struct raising raising;
	struct suspect suspect;

	struct request *moved, *moved_last;         /* to be released */
	struct request *callbacks, *callbacks_last; /* released, to be called back */
	int is_calling; /* callbacks run one at a time, in order */
	int ndraining;  /* atomic: nested or concurrent finish_drain() */
	int is_polled;  /* atomic: somebody has called engine_poll(): no calendar does all
			 */
	int nflying;    /* atomic: messages and bulk transfers that the transport owns */
	const void *only_thread; /* that may poll; NULL: any */
	int is_asleep;           /* atomic: nobody polls before the next kick */
	int npending; /* atomic, changed with the lock held: requests, until their
		       * callback has run */
	unsigned long nposted; /* requests ever */
	double flying_s;       /* since when there is any, as far as it is told; or -1 */
	uint64_t nevents;      /* anything that happened, for the watchdog; orr_count() */
	struct pending_waiter *waiters;
	struct table sent_to; /* peers that were sent small transfers */
	/* A send that nobody waits for ends with a copy of its value beside the head,
	 * where that has room: a thread of the library's sees the message leave. */
	int copies_small;
	int is_timer_set; /* atomic: drain_timer */
	struct plat_timer drain_timer;
};

void engine_init(struct mpi *mpi);
void engine_set_limits(struct mpi *mpi, const struct knobs *knobs);
/* The transport is open. */
void engine_connect(struct mpi *mpi, struct net *net);
/* Only the calling thread uses the transport. */
void engine_funnel(struct mpi *mpi);
void engine_free(struct mpi *mpi);

/*
 * Start a transfer.  Returns the request when post->is_waited, for finish_wait() or
 * finish_test() to free; NULL otherwise.  post is copied.  Any thread, also
 * callbacks.
 */
struct request *engine_post(struct mpi *mpi, const struct post *post);

/* The receive has its datum and its message; the engine is locked. */
void engine_consume(struct request *request);
/* What may explain, once it is certain that something went wrong, or NULL.  Returns
 * text. */
const char *engine_suspicion(struct mpi *mpi, char *text, size_t bytes);

/* For plat_set_poll(); arg is the struct mpi. */
int engine_poll(void *arg);
/* There may be something to poll for again. */
void engine_wake(struct mpi *mpi);

/* Send a message without body, which overtakes nothing and is not overtaken; the engine
 * is locked. */
void engine_send_control(struct mpi *mpi, int peer, const struct wire_head *head,
			 size_t head_bytes);
/* One about a transfer of that priority: it may overtake what is less urgent. */
void engine_send_about(struct mpi *mpi, int peer, int priority,
		       const struct wire_head *head, size_t head_bytes);
/* One that may come before or behind any other, where the transport has a shorter way for
 * such.  0: it has not. */
int engine_tell(struct mpi *mpi, int peer, const struct wire_head *head,
		size_t head_bytes);
/* The same one to each peer that was sent small transfers.  Returns to how many. */
int engine_send_behind(struct mpi *mpi, const struct wire_head *head, size_t head_bytes);

/* To have the transport start something; the engine is locked. */
void engine_note(struct mpi *mpi, struct outgoing *item);
/* The end of a callback of the transport that has locked the engine: from poll(), or from
 * a calendar. */
void engine_unlock_called_back(struct mpi *mpi);

/* No other thread calls MPI in between. */
void engine_hold_mpi(struct mpi *mpi);
void engine_let_go_mpi(struct mpi *mpi);

/* What others may ask.  Requests are listed oldest first, NULL before the first and after
 * the last, with the engine locked; the rest may change at any time. */
struct request *engine_next(struct mpi *mpi, const struct request *request);
int engine_npending(struct mpi *mpi);
/* How many threads end requests, those nested counted as often; or about to. */
int engine_nending(struct mpi *mpi);
/* Messages and payloads that the transport has not let go. */
int engine_nflying(struct mpi *mpi);
/* Has anybody polled?  No: a calendar drives everything. */
int engine_is_polled(struct mpi *mpi);
/* Changes whenever anything happens. */
unsigned long engine_signature(struct mpi *mpi);

static inline void engine_lock(struct engine *engine)
{
	orr_lock(&engine->lock);
}

/* Something that the watchdog is to see; the engine is locked. */
static inline void engine_happened(struct engine *engine)
{
	orr_note(&engine->nevents, engine->nevents + 1);
}

/* Unlock, and do what was noted. */
void engine_unlock_noted(struct engine *engine);

static inline void engine_unlock(struct engine *engine)
{
	if (engine->outbox.first)
		engine_unlock_noted(engine);
	else
		orr_unlock(&engine->lock);
}

/* One message or bulk more or less is the transport's; the engine is locked. */
void engine_flies(struct mpi *mpi, int more);

#endif
