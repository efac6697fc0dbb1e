/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_NODE_H
#define ORR_CORE_NODE_H

/*
 * node.h - one rank: everything that a rank of the program owns hangs here.
 *
 * Passed first everywhere below src/api.  struct world is what the nodes of a
 * process share; it is made on first use and stays.  struct settings is what those nodes
 * share that read the same environment.
 */
#include <starpu.h>

#include "base/knobs.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/symbols.h"
#include "base/table.h"
#include "core/device.h"
#include "core/energy.h"
#include "core/event.h"
#include "plat/plat.h"

struct mpi;
struct ms;
struct arena;
struct bound;
struct ranks;
struct conditions;
struct cores;
struct counters;
struct pulse;
struct disk;
struct job;
struct model_store;
struct routes;
struct sched;
struct lasting;
struct sinks;
struct teams;
struct worker;

enum { NODE_MAX_MEMORIES = STARPU_MAXNODES };
enum { NODE_CLOSED_TRANSACTIONS = 16 };

/* Of core/task/foresee.h: who is told of tasks that will be ready; set once each. */
struct foresight {
	struct orr_lock lock; /* of: */
	starpu_notify_ready_soon_func call;
	void *arg;
};

struct kept_conf {
	struct kept_conf *next;
	struct starpu_conf conf;
};

/*
 * What the environment said when a node opened, and what depends on it.  Constant but for
 * the model files read.  Nodes that read the same share one: a rank costs no copy.
 */
struct settings {
	struct settings *next; /* in the world */
	int nnodes;            /* the last one frees it */
	int unread_told;       /* variables of the environment that nothing reads */
	struct knobs knobs;
	struct kept_conf *confs;    /* what its nodes were given */
	struct model_store *models; /* model files read so far */
	unsigned nmodel_changes;    /* of what they say; atomic, may wrap */
	int too_many_told;          /* workers, by device_count() */
	int argument_told; /* an argument without size, by the master of slaves */
};

struct world {
	struct settings *settings; /* of the nodes open now; the newest first */
	struct chunk_store store;  /* chunks for the nodes' data */
	struct pool_commons pools; /* for the rest of simulated nodes */
	struct shapes *shapes;     /* of core/data/shapes.h, or NULL */
	void *utilisation;         /* the API's, for the table of ORRERY_TRACE; or NULL */
	int is_refused_told;       /* that records of events cannot be written */
	int is_shared_told;        /* that workers share cores; see core/choice.h */
	int nnodes;                /* nodes open now */
	struct orr_lock lasting_lock;
	struct table lasting; /* struct lasting by the seat of their rank */
	struct orr_lock disk_lock;
	struct arena *disk_space; /* addresses of objects of disks, or NULL */
};

/* The process's world, made when there is none yet.  Any thread. */
struct world *world_get(void);
/* No node is open, and nothing will be asked any more: free it (tests). */
void world_end(void);

/* One memory: the first are main memories, as a rule 0 alone, then come those of devices,
 * in the order of workers, then those that no worker works on. */
struct memory {
	const struct memory_driver *driver;
	enum starpu_node_kind kind;
	int devid;                     /* among those of its kind */
	const char *name, *limit_name; /* of its kind; of the variables that limit it */
	struct disk *disk;             /* core/disk/disk.h; NULL: it is none */
	/* By who allocates: the first main memory without a limit; 0: by room.c, with
	 * copies. */
	int is_booked;
	struct orr_lock
		lock; /* of all below, and of the copies' room; see core/data/room.h */
	size_t used_bytes, capacity_bytes;  /* capacity 0: no limit */
	size_t pinned_bytes, leaving_bytes; /* of copies in use, being evicted */
	size_t held_bytes;                  /* in use by the application */
	struct copy_state *oldest, *newest; /* idle copies, least recently used first */
	/* Idle ones that had nowhere to go, in the order in which they tried, and
	 * node->nspill_changes when one of them was allowed to try again. */
	struct copy_state *stuck, *stuck_last;
	int stuck_at;
	int refuses;   /* atomic: a disk that could not take a value; see spill.h */
	int full_told; /* a task went over the limit since disks are full */
	int is_short;  /* its driver had less than the limit: others use it, too */
	struct job *waiting, *waiting_last; /* for room, in order */
	size_t minimum_bytes, target_bytes; /* to be available, of limited memory */
	/* room_serve(), and who makes room ahead, are at work; 2: and are to look again
	 */
	int serving, tidying;
	int default_flags;                    /* of starpu_malloc_on_node() */
	struct budget_waiter *budget_waiters; /* in order; see budget.c */
	/* See core/data/ahead.h: in line, atomic; how many fetch; is ahead_serve() at
	 * work; transfers that begin or end here, atomic. */
	struct wish *wishes;
	int nfetching_ahead, serving_ahead, ncopies;
	int nlost; /* atomic, may wrap: copies that had the value, or were to get it */
	struct kept *kept; /* see core/data/kept.h; atomic, NULL: nothing yet */
};

/* See core/watchdog.h; of the thread that has set the flag. */
struct watchdog {
	int is_looking;          /* atomic */
	int verdict;             /* atomic enum watchdog_verdict, at signature */
	uint64_t signature;      /* of the node when something happened last; atomic */
	double since_s;          /* as the next ones, of watchdog_now_s() */
	int nasleep;             /* watchdog_facts', while that is a proof */
	double report_s;         /* the silence after which it is said */
	double looked_s, lost_s; /* the clock at the last look; not counted so far */
	struct plat_timer timer; /* of watchdog_start(), when it is due, what it saw */
	double due_s;
	uint64_t ended;
	struct node *node;
};

/* See core/model/model_own.h. */
struct combinations {
	struct orr_lock lock;
	int n;
	struct starpu_perfmodel_arch **archs; /* owned, their devices too */
};

/* Does the application insert tasks?  Who begins or ends that has it for himself. */
enum node_insertion { INSERTION_NONE, INSERTION_GOES_ON, INSERTION_CHANGES };

/* In groups: who writes one does not slow down those that read another. */
struct node {
	/* Set when the node opens, or seldom later. */
	struct world *world;
	/* For its pools; NULL: threads may ask at once. */
	struct pool_commons *commons;
	struct chunk_store *store;
	struct settings *settings;
	struct plat *plat;
	const struct plat_machine *machine;
	struct events events;
	/* Of 1, and what the launcher says or 0, until the MPI layer knows better. */
	int rank, size;
	int ninit;              /* nested starpu_init() */
	int is_for_models;      /* opened by starpu_perfmodel_initialize() */
	int reduction_told;     /* of a codelet without STARPU_COMMUTE */
	int is_bounding;        /* atomic: who records tasks, see core/bound/graph.h */
	struct worker *workers; /* accelerators first, as in StarPU */
	int nworkers;
	/* By enum starpu_worker_archtype. */
	int nworkers_of[STARPU_NARCH], first_worker_of[STARPU_NARCH];
	unsigned arch_mask; /* STARPU_CPU | STARPU_CUDA: kinds of workers there are */
	struct memory *memories;
	int nmemories; /* atomic: disks come while tasks run; node_nmemories() */
	int most_memories;
	int nmains;              /* of these, main memories: from 0 on */
	int swap_node;           /* see core/disk/swap.h; -1: none */
	struct routes *routes;   /* see core/data/routes.h */
	int ntransfers;          /* atomic: in flight */
	struct plat_gate *quiet; /* atomic: of who waits until there is none */
	/* Atomic: changes when a disk may have got room for what had nowhere to go. */
	int nspill_changes;
	int limit_min, limit_max; /* submitted tasks; -1: no throttling */
	double start_s;
	struct lasting *lasting;        /* the rank's, longer-lived than the node */
	const struct starpu_conf *conf; /* the settings': most of it is arrays */
	int calibrate, catch_signals;   /* atomic: as in conf, then as steered */
	struct mpi *mpi;                /* the MPI layer's state, NULL without it */
	struct bound *bound;            /* of bound.h; NULL: never started */
	/* Atomic: schedulers that bring data ahead, that put decisions off; see
	 * core/sched/sched.h. */
	int nquiet, nputting_off;
	int nobserved;       /* atomic: schedulers with an observer */
	int nleaders;        /* atomic: workers that lead the cores of a context */
	struct ranks *ranks; /* of core/sched/ranks.h; NULL: never used */
	/* Of core/counters.h; atomic, NULL: never wanted so far. */
	struct counters *counters;
	struct sinks *sinks; /* the sinks of the API; NULL: not yet, or no more */
	/* The MPI layer's wish to hear of data that go away, when that is submitted and
	 * when it is over; NULL without it. */
	void (*on_unregister)(struct node *node, starpu_data_handle_t handle,
			      int is_over);
	/* And before: a datum with DATUM_CONTRIBUTED is about to go, its value is wanted.
	 */
	void (*on_last_use)(struct node *node, starpu_data_handle_t handle);
	/* More lines for stuck_describe(); NULL without the MPI layer. */
	void (*on_describe)(struct node *node, void (*say)(void *arg, const char *line),
			    void *arg);
	/* For the watchdog, NULL without the MPI layer: a number that changes when
	 * something happens there; is it doing something now; the node stands still (0:
	 * other ranks have no part in it). */
	unsigned long (*on_signature)(struct node *node);
	int (*on_busy)(struct node *node);
	int (*on_standstill)(struct node *node, double silence_s, const char *why);
	/* Nobody has polled for so long, and all threads of the program sleep: 1 when
	 * messages wait for that.  for_ever: none of them can wake; then it ends the run.
	 * NULL without the MPI layer. */
	int (*on_unpolled)(struct node *node, double silence_s, int for_ever);
	/* While tells_executed (atomic): a worker has executed a task, whose accesses are
	 * not released yet. */
	void (*on_executed)(struct node *node, const struct job *job);
	int tells_executed;
	/* The backend knows that nothing will happen any more, on any node, unless this
	 * does something: 1.  Or plat_unstick() was called.  NULL without MPI layer. */
	int (*on_stuck)(struct node *node);
	/* The job of another node of this process whose kernel a job runs, or NULL; set
	 * by who has such jobs. */
	const struct job *(*stands_for)(const struct job *job);
	/* All workers have ended and all memory is given back; NULL: nothing to do. */
	void (*on_close)(struct node *node);
	struct ms *ms; /* of a master and of a slave, see mpi/ms.h; else NULL */
	/* Atomic.  Tasks may come by messages while none is submitted. */
	int serves;
	/* By the number of their contexts; atomic. */
	struct sched *scheds[STARPU_NMAX_SCHED_CTXS];
	struct sched *closing[STARPU_NMAX_SCHED_CTXS]; /* deleted, with users left */
	const struct starpu_sched_policy
		*policy;                  /* of the first, also when it is closed */
	int callers_choose;               /* atomic: some thread has a context */
	struct orr_lock scheds_lock;      /* of these, and of who works for whom */
	struct combinations combinations; /* of devices, by number */
	struct teams *teams;              /* of processors, for parallel tasks */

	/* Submitting threads.  They and those that end what was submitted write to lines
	 * of their own, see node_nsubmitted(). */
	ORR_OWN_LINE uint64_t tasks_submitted; /* atomic; the last job's id */
	int others_submitted; /* atomic, may wrap: acquisitions, changes of view */

	/* Workers that end tasks, and acquisitions. */
	ORR_OWN_LINE int nended; /* atomic, may wrap */
	int nblocked; /* of what is submitted, waiting for turns or predecessors */
	/* Tasks of other schedulers than the initial one, ever; atomic, may wrap. */
	int submitted_elsewhere, ended_elsewhere;
	int blocked_elsewhere; /* atomic: of nblocked, those of other schedulers */
	/* Atomic: the highest limits of those that wait for few submitted, for few ready;
	 * -1 for none. */
	int wait_limit[2];

	/* As well: where their structs come from. */
	ORR_OWN_LINE struct orr_lock pool_lock;
	struct pool job_pool, task_pool, body_pool, datum_pools[8];
	struct folder *folder;                      /* see core/task/fold.h */
	starpu_data_handle_t retired, retired_last; /* see data_free() */
	int nretired;

	/* Destroyed tasks, linked as in task_pool, which takes them all when it has none:
	 * who creates and who destroys meet that seldom. */
	ORR_OWN_LINE struct orr_lock returned_lock;
	void *returned_tasks;

	struct orr_lock transfer_lock;
	struct pool transfer_pool; /* of coherency.c */

	void *sched_library; /* see core/sched/library.h */

	/* Threads of the application that run workers; see core/drive.h. */
	struct drivers {
		struct orr_lock lock; /* of: */
		int ninside;
		struct plat_gate *closer; /* who waits until there is none */
		int nleaving;             /* atomic: about to be away */
		int are_dismissed;        /* atomic */
	} drivers;

	/* See starpu_worker_set_going_to_sleep_callback(). */
	struct rest_calls {
		struct orr_lock lock; /* of: */
		void (*going_to_sleep)(unsigned worker);
		void (*waking_up)(unsigned worker);
	} rest_calls;
	struct foresight foresight; /* see core/task/foresee.h */
	/* Of each worker, for policies that ask; atomic, NULL: none has. */
	struct conditions *conditions;
	struct cores *cores; /* of core/sched/cores.h; atomic, NULL: nobody has asked */

	/* Workers that find nothing to do, and who wakes them. */
	ORR_OWN_LINE int nidle; /* atomic: whose last step found nothing to do */
	int npaused;
	int nbound; /* atomic: cores given to threads of the application */

	/* Tasks with explicit dependencies. */
	ORR_OWN_LINE struct orr_lock
		links_lock; /* of all below, and what links.h knows */
	struct table tags;  /* explicit tags (starpu_tag_t) to struct tag */
	struct pool link_pool, point_pool;
	/* The last ones, see transaction_close(), and how many ever. */
	struct starpu_transaction *closed[NODE_CLOSED_TRANSACTIONS];
	unsigned nclosed;
	void *spare_wipings; /* of data_ops.c, under pool_lock; linked by first words */
	int nspare_wipings;
	uint64_t wave; /* changes with each arrival at a tag */

	/* The MPI layer, and who inserts. */
	/* Tasks for any rank: a few less where threads insert at the same time. */
	ORR_OWN_LINE uint64_t tasks_inserted;
	int insertion;                         /* atomic enum node_insertion */
	double inserting_since_s, inserting_s; /* and before that, in all */
	unsigned long uncalibrated_tasks;      /* simulated by the roofline */
	/* Under the engine's lock; whoever asks reads them without. */
	uint64_t messages_sent, bytes_sent;
	uint64_t early_transfers, early_bytes; /* large ones, before their receive */

	/* Threads that wait, and what is seldom done. */
	ORR_OWN_LINE struct orr_lock wait_lock;
	struct count_waiter *waiters; /* threads waiting for counters */
	struct list waits;            /* struct wait: threads that are blocked now */
	struct orr_lock waits_lock;
	uint64_t nwaits; /* ever; atomic */
	struct watchdog watchdog;
	struct pulse *pulse; /* NULL: nothing is said of progress */
	struct orr_lock duplicates_lock;
	struct orr_lock energy_lock; /* of the next three: see starpu_energy_use() */
	double energy_j;
	struct energy energy;
	int measures_energy; /* of each task; since node_open() */
	/* Since starpu_energy_start(), of a device's worker, or NULL: of cores. */
	int is_metering;
	const struct worker *metered;
	double metered_from_j;
	struct orr_lock constants_lock;
	struct symbols_part constants; /* of the program, where the last codelet was */
	struct orr_lock uniques_lock;
	struct table uniques;       /* by their size: see core/data/hollow.h */
	struct orr_lock views_lock; /* of all partitions: see core/data/partition.h */
};

/*
 * Open the calling rank's node with conf (not NULL).  0, -ENODEV when it has no
 * worker, -EINVAL when conf is wrong; nothing is left behind on failure.
 */
int node_open(struct node **node, struct starpu_conf *conf);
/* The same; before there are workers, extend() may give the node another machine, and set
 * on_close.  It returns 0 or -errno. */
int node_open_extended(struct node **node, struct starpu_conf *conf,
		       int (*extend)(struct node *node, void *arg), void *arg);
/* While it opens: whatever the environment says. */
void node_want_cpus(struct node *node, int ncpus);
/* All tasks have ended.  Frees everything. */
void node_close(struct node *node);
/* One more memory, as plat_machine() might have named it: its number, or -ENOSPC when
 * there are too many.  Any thread; one at a time. */
int node_add_memory(struct node *node, const struct plat_memory *of);

/* How long the application inserts tasks: from the first one to the end of a phase, when
 * it waits for all.  Any thread. */
void node_begin_insertion(struct node *node);
void node_end_insertion(struct node *node);
/*
 * Block the calling user thread until at most limit jobs are submitted and not
 * ended (or ready, for the second).  0 or -EDEADLK.
 */
int node_wait_submitted(struct node *node, int limit);
int node_wait_ready(struct node *node, int limit);
/* The same of tasks of one scheduler. */
int node_wait_context(struct node *node, struct sched *sched, int limit);
/* Of a scheduler's jobs those that are submitted, wait for nothing but a worker, and have
 * not ended; about so many while others change them. */
int node_nready_of(const struct sched *sched);
/* A counter went down: wake those whose limit is reached. */
void node_counted_for_some(struct node *node);

/* Of which all have been opened.  Any thread. */
static inline int node_nmemories(const struct node *node)
{
	return orr_load(&node->nmemories);
}

/* Tasks and acquisitions from submission to termination.  What changes meanwhile makes
 * it more, never less: 0 was true. */
static inline int node_nsubmitted(const struct node *node)
{
	unsigned nended = (unsigned)orr_load(&node->nended);

	return (int)((unsigned)orr_count(&node->tasks_submitted) +
		     (unsigned)orr_load(&node->others_submitted) - nended);
}

/* The limits first: who ends tasks that nobody waits for leaves the submitters' counter
 * alone. */
static inline void node_counted(struct node *node)
{
	int limit = orr_load(&node->wait_limit[0]);

	if (orr_load(&node->wait_limit[1]) >= 0 ||
	    (limit >= 0 && node_nsubmitted(node) <= limit))
		node_counted_for_some(node);
}

static inline void node_ended(struct node *node)
{
	orr_add(&node->nended, 1);
	node_counted(node);
}

/* One more job is blocked, which who waits for few ready ones may have counted. */
static inline void node_blocked(struct node *node)
{
	if (orr_load(&node->wait_limit[1]) >= 0)
		node_counted(node);
}

/* Something without words of its own; worker: that it is about, or NULL: the caller. */
static inline void node_event(struct node *node, const struct worker *worker,
			      enum event_kind kind)
{
	if (events_on(&node->events))
		event_tell(node, worker, (struct event){.kind = (uint8_t)kind});
}

/* One of those that the application's pointers can point to. */
static inline int memory_is_main(const struct node *node, unsigned memory)
{
	return memory < (unsigned)node->nmains;
}

static inline const struct knobs *node_knobs(const struct node *node)
{
	return &node->settings->knobs;
}

#endif
