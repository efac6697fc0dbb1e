/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_PROGRAM_H
#define ORR_TESTS_FUZZ_PROGRAM_H

/*
 * program.h - a random program: a list of operations in lanes, made from a seed.
 *
 * A lane is a sequence of operations on data of its own; lanes run side by side, in
 * threads where there are some.  Each operation carries all its random choices, so any
 * of them may be left out and the others stay what they are.  The oracle runs a
 * program sequentially: it makes each operation legal (what has no value is written
 * first), and notes the values that must be seen.  Ranks of a distributed program all
 * make the same list.  No file of this folder has writable globals: simulated and fake
 * ranks share a process.
 */
#include <stdint.h>
#include <stdio.h>

enum { MAX_DATA = 90, MAX_USES = 90, MAX_LANES = 4, NCHOICES = 10 };

struct rng {
	uint64_t state;
};

unsigned rng_below(struct rng *rng, unsigned n);

/* ---- data ------------------------------------------------------------ */

enum shape_kind { SHAPE_VARIABLE, SHAPE_VECTOR, SHAPE_MATRIX };

/* How uses of a datum are ordered. */
enum order {
	ORDERED,
	LOOSE,       /* only additions and reads: their order does not matter */
	LOOSE_HANDLE /* so, and the handle's sequential consistency is off */
};

enum { MAX_ENV = 32, OWNER_EACH = -1, SPILL_DISKS = 2, SPILL_MAINS = 4 };

struct shape {
	unsigned char kind, order;
	unsigned char homed; /* registered with memory, where it is owned */
	int owner;           /* a rank of the lane, or OWNER_EACH: per node */
	unsigned nx, ny, ld;
	uint64_t first; /* initial value */
};

/* Values in memory; the rows of a matrix are ld apart. */
struct view {
	uint64_t *values;
	unsigned nx, ny, ld;
};

static inline unsigned view_count(const struct view *view)
{
	return view->nx * view->ny;
}

static inline uint64_t *view_at(const struct view *view, unsigned i)
{
	return &view->values[(size_t)(i / view->nx) * view->ld + i % view->nx];
}

uint64_t view_hash(const struct view *view);
/* What an acquisition does to what it acquired: a new value, or a change. */
void view_overwrite(struct view *view, uint64_t salt);
void view_change(struct view *view, uint64_t salt);
void view_fill(struct view *view, const struct shape *shape);

/* ---- operations ------------------------------------------------------ */

enum use_mode {
	USE_R,
	USE_W,
	USE_RW,
	USE_COMMUTE,
	USE_SCRATCH,
	USE_ADD,
	USE_GLANCE,
	USE_REDUX
};

struct use {
	unsigned char datum, mode, variant;
};

#define FUZZ_OPS(X)                                                                      \
	X(TASK, "task")                                                                  \
	X(ACQUIRE, "acquire")                                                            \
	X(ACQUIRE_CB, "acquire with a callback")                                         \
	X(TRY, "try to acquire")                                                         \
	X(INVALIDATE, "invalidate")                                                      \
	X(PREFETCH, "prefetch")                                                          \
	X(STATUS, "query")                                                               \
	X(RENEW, "unregister and register")                                              \
	X(WAIT_ALL, "wait for all")                                                      \
	X(WAIT_N, "wait for n submitted")                                                \
	X(WAIT_KEPT, "wait for kept tasks")                                              \
	X(WAIT_TAG, "wait for a tag")                                                    \
	X(CHAIN, "chain")                                                                \
	X(REPEAT, "repeated subgraph")                                                   \
	X(PAUSE, "pause and resume")                                                     \
	X(GATE, "tags behind a gate")                                                    \
	X(MEDLEY, "medley")                                                              \
	X(EMPTY, "empty task")                                                           \
	X(FAMILY, "partitions")                                                          \
	X(CLAN, "partitions between nodes")                                              \
	X(UPHEAVAL, "balancing and losses")                                              \
	X(CROWD, "change of a context")                                                  \
	X(END_DEP, "end dependency")                                                     \
	X(FLUSH, "cache flush")                                                          \
	X(FLUSH_ALL, "cache flush of all")                                               \
	X(CACHE_SET, "switch the cache")                                                 \
	X(SOURCE, "another source")                                                      \
	X(MIGRATE, "migrate")                                                            \
	X(GET, "get on a node")                                                          \
	X(GET_DETACHED, "get on a node, detached")                                       \
	X(GET_ALL, "get on all nodes")                                                   \
	X(BARRIER, "barrier")                                                            \
	X(MPI_WAIT, "wait for all transfers")                                            \
	X(CHECK, "check where it is owned")                                              \
	X(OWNER_WRITES, "the owner writes")                                              \
	X(PING, "ping-pong by callbacks")                                                \
	X(P2P, "point to point")                                                         \
	X(BATCH, "messages in any order")                                                \
	X(COPY, "copy between data")                                                     \
	X(SPREAD, "owners changed by hand")                                              \
	X(POST, "the owner sends it")                                                    \
	X(TAKE, "the owner receives it")                                                 \
	X(REPLACE, "unregister when unused, and register")                               \
	X(COOP, "cooperative sends on or off")                                           \
	X(COMBINE, "combine what all ranks have")                                        \
	X(ALL_GATHER, "gather on all ranks")

enum op_kind {
#define FUZZ_KIND(kind, text) OP_##kind,
	FUZZ_OPS(FUZZ_KIND)
#undef FUZZ_KIND
};

/* In the flags of a task. */
enum {
	TASK_BY_HAND = 1,
	TASK_SYNC = 2,
	TASK_KEPT = 4,     /* detach 0: waited for later */
	TASK_TAGGED = 8,   /* with dependencies on earlier tags */
	TASK_AFTER = 16,   /* explicit dependency on an earlier kept task */
	TASK_WORKER = 32,  /* on one worker */
	TASK_WORKERS = 64, /* on a set of workers */
	TASK_PICKY = 128,  /* can_execute refuses some workers */
	TASK_MODEL = 256,  /* with a history model */
	TASK_CALLBACK = 512,
	TASK_UNORDERED = 1024, /* sequential_consistency 0: loose data only */
	TASK_HALVES = 2048,    /* task_build and task_post_build */
	TASK_POLICY = 4096,    /* an own policy chooses the node */
	TASK_ON_NODE = 8192,
	TASK_ON_DATA = 16384,
	TASK_EACH_ORDER = 32768 /* handles_sequential_consistency: 0 for loose data */
};

struct op {
	int id;
	unsigned char kind, lane, skip; /* skip: not legal here; set by the oracle */
	unsigned flags;
	unsigned choice[NCHOICES];
	int nuses;
	struct use *uses;
	struct shape shape; /* RENEW: the new one */
	uint64_t expected;  /* hash of what an observation sees, or a task in the last
			     * value that it only reads; set by the oracle */
	int node;           /* where a distributed task runs when told; or target */
	uint64_t salt;      /* distinguishes the values it writes */
	uint32_t workers;   /* bits of TASK_WORKERS, for the task's lifetime */
};

/* ---- programs -------------------------------------------------------- */

/* What may occur; "fuzz --help" lists the names. */
#define FUZZ_FEATURES(X)                                                                 \
	X(MANY, "many", 1)                 /* up to 90 data in one task */               \
	X(UNORDERED, "unordered", 1)       /* additions without order */                 \
	X(GLANCE, "glance", 1)             /* reads without order beside them */         \
	X(ACCESS_ORDER, "access-order", 1) /* order switched off per access */           \
	X(SCRATCH, "scratch", 1)                                                         \
	X(REDUX, "redux", 1)                                                             \
	X(CHAINS, "chains", 1)                                                           \
	X(REPEAT, "repeat", 1) /* tasks submitted again with dependencies */             \
	X(END_DEPS, "end-deps", 1)                                                       \
	X(TAGS, "tags", 1)                                                               \
	X(DEPS, "deps", 1)                                                               \
	X(WORKERS, "workers", 1) /* can_execute, workerids, one worker */                \
	X(THROTTLE, "throttle", 1)                                                       \
	X(TRY, "try", 1)                                                                 \
	X(PAUSE, "pause", 1)                                                             \
	X(LANES, "lanes", 1) /* several */                                               \
	X(LOCAL_LANE, "local-lane",                                                      \
	  1) /* tasks of the rank's own in distributed programs */                       \
	X(CACHE_SET, "cache-set", 1)                                                     \
	X(REORDER, "reorder", 1) /* receives in another order than sends */              \
	X(LANE_THREADS, "lane-threads", 1)                                               \
	X(COMMS, "comms", 1)                                                             \
	X(PING, "ping", 1)                                                               \
	X(MIGRATE, "migrate", 1)                                                         \
	X(POLICY, "policy", 1)                                                           \
	X(PRUNE, "prune", 1) /* ranks leave out what concerns others */                  \
	X(PARTITIONS, "partitions", 1)                                                   \
	X(UPHEAVAL, "upheaval", 1)       /* load balancer, checkpoints, losses */        \
	X(SPILL, "spill", 1)             /* little main memory, and disks */             \
	X(CONTEXTS, "contexts", 1)       /* of lanes; their workers come and go */       \
	X(TEAMS, "teams", 1)             /* parallel tasks */                            \
	X(OWN, "own", 1)                 /* contexts under policies of the program's */  \
	X(DRY_SCRATCH, "dry-scratch", 1) /* unregister while scratch is in use */        \
	X(BLEND, "blend", 0)             /* by hand beside inserted tasks: blend.c */    \
	X(MEDLEY, "medley", 0)           /* copies, duplicates and parts: medley.c */

enum feature {
#define FUZZ_FEATURE(name, text, preset) FEATURE_##name,
	FUZZ_FEATURES(FUZZ_FEATURE)
#undef FUZZ_FEATURE
		NFEATURES
};

struct lane {
	int ndata, distributed;
	int in_comm;                   /* half of the ranks each */
	int only_transfers;            /* a thread that only sends and receives */
	int color, nranks;             /* which half, and its size */
	struct shape shapes[MAX_DATA]; /* at the start */
};

struct program {
	uint64_t seed;
	int distributed, nranks, rank;
	int slaves;        /* the other ranks are the first one's slaves */
	uint64_t features; /* bits */
	int nlanes, limited, ncpus;
	int threaded;   /* distributed lanes are threads */
	int lacks_room; /* for messages that come before their receives */
	/* Main memory for data, 0: no limit; disks, that refuse one write in so many. */
	unsigned spill_bytes, spill_refusals;
	int ndisks;
	struct lane lanes[MAX_LANES];
	int nops, capacity;
	struct op *ops;
	/* What the environment says, by name and value; "" ends. */
	char env[MAX_ENV][2][48];
	int nenv;
	/* Set by the oracle: of each lane's data at the end. */
	uint64_t final[MAX_LANES][MAX_DATA];
	struct shape final_shapes[MAX_LANES][MAX_DATA];
	unsigned char has_value[MAX_LANES][MAX_DATA];
};

/* What is made, besides the seed. */
struct request {
	uint64_t seed;
	int distributed, nranks, rank, slaves;
	uint64_t features;
	const char *keep; /* "1,4,7-9": operations to keep; NULL: all */
};

uint64_t features_preset(void);
/* The bit of a name, all for "all"; 0 when there is none. */
uint64_t feature_named(const char *name);

struct program *program_make(const struct request *request);
void program_free(struct program *program);
void program_print(const struct program *program, FILE *file);
/* Run it sequentially and fill in what must be seen. */
void oracle_run(struct program *program);
int has_feature(const struct program *program, enum feature feature);

enum { BLEND_SPREAD = 4 };

/* The data of OP_SPREAD: fills data, BLEND_SPREAD long, and returns how many. */
int blend_members(const struct op *op, int ndata, int *data);

/* generate_mpi.c */
void generate_distributed(struct program *program, struct rng *rng, int lane);
/* generate.c, used by both */
struct op *program_add(struct program *program, struct rng *rng, int kind, int lane);
void generate_uses(struct program *program, struct rng *rng, struct op *op);
void generate_shape(struct program *program, struct rng *rng, int lane,
		    struct shape *shape);

#endif
