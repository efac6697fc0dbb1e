/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_EVENT_H
#define ORR_CORE_EVENT_H

/*
 * event.h - what happens in a node, told where it happens and read by sinks.
 *
 * Each change of state of a task, a copy, a request and so on has one hook in the
 * source.  While nobody listens it costs a load and a branch.  Else a record goes into
 * the ring of the worker that calls; threads that are no worker share one ring under its
 * lock, and so does everybody where threads take turns.  Who finds its ring full gives
 * the records to the sinks: none is lost.  Dates of task->profiling_info come from the
 * same hooks (task_event()).
 *
 * Locks: a shared ring's, then that of the events, under which sinks are called.  Hooks
 * may be called with any other lock held, so sinks take none.
 */
#include <time.h>

#include "base/table.h"
#include "plat/plat.h"

/*
 * What a record is of.  Its fields mean what is said here; value is a number of bytes, or
 * the bits of a date (event_bits()), or the key of a text.  Addresses (of jobs, handles,
 * copies, requests) only say what is the same: where threads take turns a number stands
 * for each, in the order in which they are first told, so that equal runs have equal
 * records.
 */
enum event_kind {
	EVENT_NONE,
	/* The node, before anything else, and at the end. */
	EVENT_OPENED, /* id: EVENT_MAGIC, n: EVENT_VERSION, value: date of the origin */
	EVENT_WORKER, /* id: its memory, n: enum starpu_worker_archtype, value: name */
	EVENT_HOST,   /* value: name of the machine */
	EVENT_RANK,   /* id: rank, n: of so many, who meet now; value: as OPENED */
	EVENT_CLOSED,
	/* Eight bytes of a text: id: its key, n: where in it, value: the bytes; it ends
	 * with a zero.  Comes before the record that uses it, in the same ring. */
	EVENT_TEXT,
	/* What follows is of one ring, in order.  n: its records, id: the ring.  Written
	 * to files only. */
	EVENT_PIECE,
	/* A task; id: its number (starpu_task_get_job_id()). */
	EVENT_TASK_SUBMITTED, /* n: priority, value: address of its job, flag: 1 when the
			       * library submits it, at its time */
	EVENT_TASK_PUSHED,    /* ready, to the scheduler; again after exclusion came */
	EVENT_TASK_TAKEN,     /* by the worker */
	EVENT_TASK_FETCHING,  /* value: bits of its flops */
	EVENT_TASK_STARTED,   /* value: name, n: footprint, 0 without a model, flag: of it
			       */
	EVENT_TASK_ENDED,     /* value: date at which it began to run, n: bits of a float:
			       * microseconds that its model expected, or 0 */
	EVENT_TASK_RELEASING,
	EVENT_TASK_RELEASED,
	EVENT_TASK_CALLING,    /* successors and callback */
	EVENT_TASK_TERMINATED, /* unless its callback submitted it again */
	/* A copy between memories; id: of the transfer while it lasts, n: from << 16 |
	 * to, value: bytes. */
	EVENT_COPY_BEGINS,
	EVENT_COPY_ENDS,
	/* Bytes of a datum in a memory; id: the handle, n: the memory, value: bytes. */
	EVENT_ALLOCATED,
	EVENT_FREED,
	EVENT_EVICTED, /* is told to leave */
	/* A request; id: its address, n: the peer, flag: 0 for a send, 1 for a receive.
	 */
	EVENT_REQUEST_POSTED, /* value: tag */
	EVENT_REQUEST_MATCHED,
	EVENT_REQUEST_READY, /* has the datum */
	EVENT_REQUEST_ANNOUNCED,
	EVENT_REQUEST_GRANTED,
	EVENT_REQUEST_MOVING,
	EVENT_REQUEST_MOVED, /* value: bytes */
	EVENT_REQUEST_DONE,
	/* A message; n: the peer, flag: enum wire_kind, value: bytes of its body. */
	EVENT_MESSAGE_SENT,
	EVENT_MESSAGE_RECEIVED,
	/* The network has just carried nothing more of this node.  value: date since when
	 * it did. */
	EVENT_NET_BUSY,
	EVENT_WORKER_BUSY, /* found a task */
	EVENT_WORKER_IDLE, /* found none */
	/* The application's. */
	EVENT_USER,      /* id: its number */
	EVENT_USER_TEXT, /* value: the text */
	EVENT_USER_META, /* value: a text about the run */
	EVENT_PAUSED,    /* nothing is recorded until */
	EVENT_RESUMED,
	/* What a task did that has ended; id: its number, value: bits of it. */
	EVENT_TASK_FLOPS,
	EVENT_TASK_JOULES,
	/* What tasks wait for.  A datum that one uses; id: the task, or with EVENT_OTHER
	 * the address of another job, such as a request; flag: enum event_use_flag, n:
	 * bytes, at most 2^32 - 1, value: the handle. */
	EVENT_TASK_USES,
	/* Told of jobs that may not have been submitted yet: id: address of the one that
	 * waits, value: of the one that it waits for, n: 1 when that was submitted. */
	EVENT_TASK_LINKED,
	EVENT_TASK_TAGGED, /* id: the task, value: the tag that it carries */
	EVENT_TAG_LINKED,  /* id: the tag that waits, value: for this one */
	EVENT_FORGOTTEN,   /* value: a handle, which may be another datum's later */
	EVENT_MODEL, /* n: the flag by which tasks name it from now on, value: its symbol
		      */
	/* How the node was started; value: the text "scheduler=" and the policy's name,
	 * "cores=" and how many it may use, or a variable of the environment that the
	 * library reads, "=" and its value. */
	EVENT_SETTING,
	/* The contributions of workers to a datum, which that used with EVENT_REDUCES,
	 * are over.  value: the handle, id: address of the job that adds the last of
	 * them, which will be submitted, or 0: nothing is to be added.  Who is next waits
	 * for it. */
	EVENT_COMBINED,
	/* A thread of the program goes on that has waited.  n: enum wait_kind, value:
	 * date since when. */
	EVENT_WAITED,
	/* A worker is one of several that run a task together, and not the first of them;
	 * id: the task, value: name, then the date at which it began. */
	EVENT_HELP_BEGINS,
	EVENT_HELP_ENDS,
	EVENT_NKINDS
};

/* Neighbours that all have the same of the first three have no order among them. */
enum event_use_flag {
	EVENT_READS = 1,    /* only */
	EVENT_COMMUTES = 2, /* with others that do */
	EVENT_REDUCES = 4,
	EVENT_WRITES = 8, /* and does not read, unless: */
	EVENT_UPDATES = 16,
	EVENT_OTHER = 32, /* no task */
	EVENT_OWN = 64    /* where a worker gathers what its tasks contribute */
};

#define EVENT_BIT(kind) (1ull << (kind))
#define EVENT_ALL       (EVENT_BIT(EVENT_NKINDS) - 1)
#define EVENT_MAGIC     0x31746e766572726full /* "orrevnt1" on little-endian machines */

enum { EVENT_VERSION = 1, EVENT_BYTES = 32, EVENT_NO_WORKER = 0xffff };

/* Written to files as it is. */
struct event {
	double date_s; /* on the clock of plat_now_s() */
	uint8_t kind, flag;
	uint16_t worker; /* that it happened on or to, or EVENT_NO_WORKER */
	uint32_t n;
	uint64_t id, value;
};

_Static_assert(sizeof(struct event) == EVENT_BYTES, "files have this size");

/* Reads records.  Added and removed while nothing is recorded, or with the others, or by
 * events_listen(). */
struct event_sink {
	struct event_sink *next;
	uint64_t kinds; /* EVENT_BIT() of those that it wants; may get others */
	int goes_on;    /* in a pause, too */
	/* Wants each record at once where a node has one thread, so that it gets those of
	 * all nodes of the process in order. */
	int is_prompt;
	/* Records of one ring, in order.  With the events locked; any thread, perhaps in
	 * the handler of a signal that ends the process. */
	void (*take)(struct event_sink *sink, int ring, const struct event *records,
		     unsigned n);
};

/* Records from ntaken to nwritten, modulo the size, have not been given to sinks. */
struct event_ring {
	struct event *records; /* made with the first one */
	int nwritten;          /* atomic: by the owner */
	unsigned limit;        /* the owner's: it may write so far */
	unsigned ntaken;       /* under the lock of the events */
	struct orr_lock lock;  /* of who writes, when several do */
	struct table texts;    /* keys of texts that it has told */
	struct table models;   /* that it has told, by address: their numbers */
	char last_text[48];    /* that was asked for, or its key is 0 */
	uint64_t last_key;
	char apart[64]; /* other rings have other cache lines */
};

enum event_use {
	EVENT_STAMPS = 1,    /* some task has profiling_info */
	EVENT_RECORDS = 2,   /* some sink wants records now */
	EVENT_COUNTS = 4,    /* core/counters.h counts */
	EVENT_CALLS = 8,     /* a tool is called: core/tool.h */
	EVENT_FORESEES = 16, /* core/task/foresee.h */
	EVENT_BREAKS = 32    /* core/task/breaks.h */
};

struct events {
	int on;         /* atomic enum event_use */
	uint64_t kinds; /* orr_count(): that some sink wants */
	double since_s; /* records are made */
	int is_paused, has_begun;
	struct event_sink *sinks;
	struct event_ring *rings; /* of the workers, then the shared one, which is always
				   * there */
	int nrings;
	unsigned ring_size;   /* a power of two */
	uint8_t is_direct;    /* threads take turns: prompt sinks are prompt */
	struct orr_lock lock; /* of the sinks, of changes of on, and of: */
	int nmodels;
	struct table models; /* numbers by address */
	/* Where is_direct, and something was told: the same of all other addresses, under
	 * the shared ring's lock. */
	struct event_names *names;
};

static inline int events_on(const struct events *events)
{
	return __builtin_expect(orr_load(&events->on), 0);
}

static inline uint64_t event_bits(double date_s)
{
	union {
		double date_s;
		uint64_t bits;
	} both = {.date_s = date_s};

	return both.bits;
}

static inline struct timespec event_timespec(double date_s)
{
	struct timespec date = {.tv_sec = (time_t)date_s};

	date.tv_nsec = (long)((date_s - (double)date.tv_sec) * 1e9);
	return date;
}

static inline double event_date_s(uint64_t bits)
{
	union {
		uint64_t bits;
		double date_s;
	} both = {.bits = bits};

	return both.date_s;
}

/* Is a record of this kind wanted?  Before its words are made. */
static inline int events_want(const struct events *events, enum event_kind kind)
{
	return events_on(events) && (orr_load(&events->on) & EVENT_RECORDS) &&
	       (orr_count(&events->kinds) & EVENT_BIT(kind));
}

/* ---- who tells ------------------------------------------------------- */

/* From now on hooks may be called; rings are made when there is something in them. */
void events_open(struct node *node);
/* Nobody calls a hook any more. */
void events_free(struct events *events);
/* Record it if it is wanted.  worker: that it is about, or NULL: the calling one, if any;
 * date_s 0: now. */
void event_tell(struct node *node, const struct worker *worker, struct event record);
/* Tell a text, for records that the same caller makes next.  Returns its key, 0 when no
 * texts are wanted. */
uint64_t event_text(struct node *node, const char *text);
/* The flag of a model with a symbol, told before; 0: it has none, or there are too many.
 */
uint8_t event_model(struct node *node, const struct starpu_perfmodel *model);
/* A text that is told this once, for a record of this kind. */
void event_tell_text(struct node *node, enum event_kind kind, const char *text);
/* What an address stands for; a request and its job have the same one. */
enum event_names_of { EVENT_NAMES_OTHER, EVENT_NAMES_COPY, EVENT_NAMES_REQUEST };
/* Forget the number of an address: what is there now has not been told. */
void events_forget(struct events *events, const void *address, enum event_names_of of);
/* The same, if there are any: whatever has a number calls this where it begins, and a
 * request also where it ends.  Where memory is used again differs between equal runs. */
static inline void event_unname(struct events *events, const void *address,
				enum event_names_of of)
{
	if (__builtin_expect(events->names != NULL, 0))
		events_forget(events, address, of);
}
/* From now on a task wants stamps. */
void events_want_stamps(struct events *events);
/* The counters, or a tool (EVENT_COUNTS, EVENT_CALLS), want to hear of tasks, or no
 * longer. */
void events_use(struct events *events, enum event_use use, int wanted);
/* The node is one of several ranks, who meet now.  Dates count from origin_s. */
void events_tell_rank(struct node *node, double origin_s);

/* ---- who listens ----------------------------------------------------- */

/* Before events_begin(). */
void events_add_sink(struct events *events, struct event_sink *sink);
/* Tell the sinks what the node is.  Dates are to be counted from origin_s. */
void events_begin(struct node *node, double origin_s);
/* Tell them that it closes, and forget them all. */
void events_end(struct node *node);
/* Give the sinks what is in the rings. */
void events_drain(struct node *node);
/* The same in the handler of a signal: 0 when the sinks were busy. */
int events_try_drain(struct node *node);
/* Record nothing from now on, or again, but for sinks that go on. */
void events_pause(struct node *node, int is_paused);
/* Between events_begin() and events_end(): the sink gets what is told from now on; until
 * it is told to stop, from when on it gets nothing. */
void events_listen(struct node *node, struct event_sink *sink);
void events_unlisten(struct node *node, struct event_sink *sink);
/* Call with all records given, and none given meanwhile: for who asks a sink. */
void events_read(struct node *node, void (*read)(void *arg), void *arg);

#endif
