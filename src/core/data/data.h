/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_DATA_H
#define ORR_CORE_DATA_DATA_H

/*
 * data.h - a registered datum: who may touch it when, and where its copies are.
 *
 * Most data of a large run belong to other ranks and are never touched here, so a
 * handle is one cache line and the interface behind it, or not even that (shapes.h); the
 * rest, struct data_body, is made on first use, and copies in GPUs when first needed.
 *
 * Turns (deps.c): accesses queue in submission order.  The active group is whose turn
 * it is; the next group follows when the active one is empty (turns.h).
 * Exclusion (exclusion.c): who holds it now, and who waits outside.
 * Copies (coherency.c): MSI; valid says which memories hold the current value.
 * Room (room.c): which copies may be in a memory, and who has to leave.
 * Ways (way.c): from where a value comes, and by which memories.
 */
#include "core/task/job.h"

struct turn_kind;
struct turn_kinds;
struct redux;

/* Changed with the handle locked; submitting threads may read them without. */
enum datum_flag {
	DATUM_MPI = 1 << 0,         /* has been given to starpu_mpi_data_register() */
	DATUM_RECEIVED = 1 << 1,    /* cache: we hold a copy of another rank's datum */
	DATUM_SENT = 1 << 2,        /* cache: sent is not empty */
	DATUM_SEQUENTIAL = 1 << 3,  /* accesses take their turn */
	DATUM_TAGGED = 1 << 4,      /* tag is in the MPI layer's table */
	DATUM_DYING = 1 << 5,       /* unregister_submit() has been called */
	DATUM_IMAGE = 1 << 6,       /* see data_register() */
	DATUM_USER_MEMORY = 1 << 7, /* the copy in main memory is the application's */
	DATUM_READ_ONLY = 1 << 9,   /* a duplicate: see core/data/duplicate.h */
	DATUM_DUPLICATED = 1 << 10, /* may have a current duplicate */
	DATUM_REGISTERING = 1 << 8, /* inside register_data_handle() */
	/* To be reduced between nodes: mpi/reduce.h. */
	DATUM_CONTRIBUTED = 1 << 13,
	DATUM_PART = 1 << 11,           /* lies in another datum: core/data/partition.h */
	DATUM_VIEWS = 1 << 12,          /* who uses it may need a handover before */
	DATUM_WRITES_THROUGH = 1 << 15, /* extra->wt_mask says where to */
	DATUM_UNIMPORTANT = 1 << 16,    /* its copies are the first that leave */
	DATUM_WISHED = 1 << 17,         /* may have a prefetch in line */
	DATUM_SOURCED = 1 << 18,  /* others than the owner may send: mpi/sources.h */
	DATUM_NO_DISK = 1 << 19,  /* its value does not leave memory for a disk */
	DATUM_OUTDATED = 1 << 20, /* see data_settle_outdated() */
	DATUM_KIN = 1 << 14 /* ranks may have copies of what shares bytes: mpi/kin.h */
};

/* Of a value that simulations carry though they call no kernels. */
enum { DATA_CARRIED_BYTES = 4096 };

/* What a copy has of its memory; see room.h. */
enum copy_room {
	ROOM_NONE,
	ROOM_USED,    /* refs > 0: by accesses, by transfers */
	ROOM_IDLE,    /* in the list of the memory, to be evicted */
	ROOM_STUCK,   /* idle, and its value had nowhere to go when it was to leave */
	ROOM_LEAVING, /* being evicted, nobody uses it; may be used again */
	ROOM_GOING    /* being freed */
};

/*
 * One copy of a datum, under the datum's lock.  What is "room" is under the memory's, but
 * for the first main memory without a limit, and memory of the application's there.
 */
struct copy_state {
	starpu_data_handle_t datum;
	void *interface;
	/* Of the transfer to this copy, or its room; writers: of those from it. */
	struct access *waiters;
	struct copy_state *older, *newer; /* room: idle copies */
	size_t bytes;                     /* room: as asked when it got none yet */
	int refs;                         /* room: users */
	unsigned short holds;             /* room: of these, the application's */
	unsigned char room;               /* room: enum copy_room */
	unsigned char memory, allocated;
	unsigned char is_users;    /* the application's memory: stays, has no room */
	unsigned char mapped;      /* its bytes are another one's: mapped.h */
	unsigned char incoming;    /* a transfer to this copy is in flight */
	unsigned char evict_waits; /* until a main memory can take the value */
	/* In the first main memory's: evict_waits of some copy is set, or was. */
	unsigned char some_wait;
	unsigned char awaits_room; /* a passage (spill.h) stands in line for it */
	/* Transfers from it, in flight, for which nobody waits: beside writers. */
	unsigned char outgoing;
};

/*
 * The copies outside of main memory, from the second one on.  Programs ask for those of
 * memories that the node has not, too: then a larger one takes its place, and this one
 * stays for who looks at it just now.
 */
struct copy_index {
	struct copy_index *older;
	unsigned n;
	struct copy_state *copies[]; /* n; of memory 1 and those behind it */
};

/* What few data need; allocated on demand. */
struct data_extra {
	void *user_data, *sched_data;
	struct starpu_arbiter *arbiter; /* borrowed; see api/arbiter.c */
	char *name;
	int ndimensions, dimensions[5];
	/* See core/data/duplicate.h. */
	starpu_data_handle_t duplicate, duplicate_of;
	/* See core/data/partition.h; newest first; those that are not closed. */
	struct partition *partitions, *open_partitions;
	struct redux *redux; /* see core/data/redux.h */
	unsigned wt_mask;    /* memories that get each new value */
	int nshares;         /* holders of a read-only datum beyond the first */
};

/*
 * What a datum needs once this node uses it; its lock is the handle's.  Sets of memories
 * have a bit each: which copies matter is known without touching them.
 */
struct data_body {
	/* All that an access changes when it comes and when it goes, in one line: turns,
	 * and who holds the datum (exclusion). */
	struct access *waiting, *waiting_last;
	struct access *waiting_before;  /* in the queue before the last one, or NULL */
	const struct turn_kind *group;  /* the active one, see turns.h; NULL: none */
	const struct turn_kinds *kinds; /* of the accesses */
	struct access *granted;   /* hold by their turn; their jobs may be blocked */
	int nactive;              /* members of the active group */
	int npending;             /* accesses submitted and not released, scratch too */
	int nholders;             /* readers, or -1 for a writer */
	unsigned char last_wrote; /* who gave it back was a writer */
	unsigned char has_value;  /* some copy has been written or was given */
	unsigned char awaits_neutral; /* has memory for contributions, see redux.h */
	unsigned char retired : 1;    /* nobody will use it: see coherency_retire() */
	/* Behind all in the queue is an invalidation that has not been made: deps.h. */
	unsigned char is_wiped_last : 1;
	/* The second line: copies. */
	uint64_t valid;     /* memories that hold the current value */
	uint64_t arriving;  /* memories that it is on its way to */
	uint64_t promised;  /* memories that queued tasks will bring it to: a hint */
	unsigned epoch;     /* of the value: a transfer from before brings nothing */
	unsigned overtaken; /* exclusion: readers that passed the first writer outside */
	/* Outside of main memory: most data have one copy there, which needs no index. */
	struct copy_state *first_copy;
	struct copy_index *index; /* from the second on: all of them */
	/* The last ones of those that wait for exclusion, readers and writers: each list
	 * is a ring, linked by next. */
	struct access *outside[2];
	/* The third. */
	struct copy_state main;
	struct access *holding;     /* hold, and their jobs have started */
	struct plat_gate *retiring; /* who waits for the last transfer then */
	/* The last user has gone: whom to tell, and what to do; with npending 0. */
	struct plat_gate *gate;
	void (*idle)(starpu_data_handle_t handle);
	struct data_extra *extra;
	struct held *held;         /* the application's acquisitions, newest first */
	struct partition *part_of; /* of a part */
};

/* Of valid, arriving and promised: they are written under the datum's lock, and who
 * chooses a worker looks at them without it. */
static inline void data_set_memories(uint64_t *set, uint64_t memories)
{
	orr_note(set, memories);
}

static inline uint64_t data_glance(const uint64_t *set)
{
	return orr_count(set);
}

struct sent_set; /* mpi/cache.h */

/* One cache line: all that the registration of a datum writes. */
struct _starpu_data_state {
	struct starpu_data_interface_ops *ops;
	int64_t tag;
	struct sent_set *sent; /* destinations that hold the current value; NULL: none */
	struct node *node;
	struct data_body *body; /* see data_body(); NULL: never used here */
	void *interface;        /* main memory's: behind this struct, or see shapes.h */
	int owner;              /* rank in comm; -1 unset, STARPU_MPI_PER_NODE */
	unsigned flags;         /* enum datum_flag */
	short comm;             /* index in the MPI layer's table */
	signed char home;       /* memory node of the user's buffer, or -1 */
	signed char pool;       /* index in node->datum_pools, or -1 */
	struct orr_lock lock;
};

/*
 * What insertion asks of most data, apart from them, 32 in a cache line: the owner's rank
 * plus 1, and what concerns this node though it is not the owner.  0: look at the datum.
 */
enum {
	GIST_READERS = 1, /* DATUM_CONTRIBUTED, DATUM_KIN or DATUM_SOURCED */
	GIST_WRITERS = 2, /* one of these, DATUM_SENT or DATUM_RECEIVED */
	GIST_OWNER_SHIFT = 2,
	GIST_MOST_RANKS = (1 << (16 - GIST_OWNER_SHIFT)) - 1
};

/* Large interfaces are not in pools, and have none: new_state() [data.c]. */
static inline int data_has_gist(starpu_data_handle_t handle)
{
	return ((uintptr_t)handle & (CHUNK_STORE_LINE_BYTES - 1)) == 0;
}

static inline unsigned data_gist(starpu_data_handle_t handle)
{
	return data_has_gist(handle) ? orr_load_short(chunk_word(handle)) : 0;
}

/* Whoever asks, locked or not. */
static inline unsigned data_flags(const struct _starpu_data_state *handle)
{
	return (unsigned)orr_load((const int *)&handle->flags);
}

/* The datum is locked, or nobody else's yet. */
static inline void data_change_flags(starpu_data_handle_t handle, unsigned set,
				     unsigned clear)
{
	orr_store((int *)&handle->flags, (int)((handle->flags | set) & ~clear));
}

/* Its flags or its owner have changed; the datum is locked, or nobody else's yet. */
void data_note_gist(starpu_data_handle_t handle);
/* Set and clear flags; set the owner. */
void data_set_flags(starpu_data_handle_t handle, unsigned set, unsigned clear);
void data_set_owner(starpu_data_handle_t handle, int owner);

/* The part that is made on first use.  Any thread, the handle locked or not. */
struct data_body *data_make_body(starpu_data_handle_t handle);

static inline struct data_body *data_body(starpu_data_handle_t handle)
{
	struct data_body *body = orr_load_ptr((void **)&handle->body);

	return body ? body : data_make_body(handle);
}

/*
 * Register.  Copies interface (ops->interface_size bytes) when it is plain, or lets the
 * application's register_data_handle() fill the structs of all memories; of these the
 * main memory's is kept, and an image of what another one, without the value, begins as.
 */
starpu_data_handle_t data_register(struct node *node, int home, const void *interface,
				   struct starpu_data_interface_ops *ops);
/*
 * Register a part of a datum, to be used where the parent's value is kept: see
 * core/data/partition.h.  there is the struct in that memory; elsewhere, where the part
 * has no memory yet, is not needed when ops is plain.  The part has no value yet.
 */
starpu_data_handle_t data_register_part(starpu_data_handle_t parent,
					struct starpu_data_interface_ops *ops,
					const void *there, const void *elsewhere);
/* Where the application's memory of the datum is, or would be. */
static inline unsigned data_base_memory(starpu_data_handle_t handle)
{
	return handle->home >= 0 ? (unsigned)handle->home : STARPU_MAIN_RAM;
}
/* Where a value goes that has to leave a memory: the main memory that the application
 * gave it, or the first one.  There is always room. */
static inline unsigned data_haven(starpu_data_handle_t handle)
{
	return handle->home > 0 && memory_is_main(handle->node, (unsigned)handle->home)
		       ? (unsigned)handle->home
		       : STARPU_MAIN_RAM;
}
/* No access is pending.  Frees all copies but the user's own memory; what an eviction
 * still uses when it ends. */
void data_free(struct node *node, starpu_data_handle_t handle);
/* The last step of it: nothing uses the datum. */
void data_free_now(struct node *node, starpu_data_handle_t handle);
/* node closes: free what waited to be used again. */
void data_free_retired(struct node *node);

/* Is handle one of node's, or has it ended, or is it NULL? */
static inline int data_is_registered(const struct node *node, starpu_data_handle_t handle)
{
	return handle && handle->node == node;
}

struct data_extra *data_extra(starpu_data_handle_t handle);
/* The same, or NULL when nobody has asked for it yet.  Any thread. */
static inline struct data_extra *data_find_extra(starpu_data_handle_t handle)
{
	struct data_body *body = orr_load_ptr((void **)&handle->body);

	return body ? orr_load_ptr((void **)&body->extra) : NULL;
}
/* The copy in a memory, made when it did not exist (not allocated, not valid); outside
 * of main memory the datum is locked. */
struct copy_state *data_copy(starpu_data_handle_t handle, unsigned memory);
/* The struct of a memory, also while register_data_handle() runs; locks as above. */
void *data_interface(starpu_data_handle_t handle, unsigned memory);
/* The application gives memory to a copy that has none, and will say where it is.  0, or
 * -EEXIST. */
int data_adopt(starpu_data_handle_t handle, unsigned memory);
/* Make to what the struct of a memory that never had the value is. */
void data_fill_interface(starpu_data_handle_t handle, void *to);
/* In the sets of memories that a body has; NODE_MAX_MEMORIES bits. */
static inline uint64_t memory_bit(unsigned memory)
{
	return UINT64_C(1) << memory;
}

/* The copy in a memory, or NULL. */
static inline struct copy_state *data_home_copy(starpu_data_handle_t handle)
{
	return &data_body(handle)->main;
}
struct copy_state *data_find_copy(starpu_data_handle_t handle, unsigned memory);
size_t data_bytes(starpu_data_handle_t handle);
/* Of its interface; 0: that tells none. */
uint32_t data_footprint(starpu_data_handle_t handle);
/* What a copy of the value moves: some interfaces say more than there is memory. */
size_t data_moved_bytes(starpu_data_handle_t handle);
/* Bytes of its memory. */
size_t data_alloc_bytes(starpu_data_handle_t handle);
/*
 * What all ranks know alike, and who inserts tasks may ask for while others change the
 * value: for decisions that ranks take each for itself, before the data's turn.  An
 * application's get_size() may look at what this rank's copy holds now.  -1: unknown.
 */
long data_agreed_bytes(starpu_data_handle_t handle);
/*
 * Call one() with the data of the node that have a body, each locked, for messages: data
 * that others have locked are left out, and one() must not lock any.
 */
void data_each(struct node *node, void (*one)(void *arg, starpu_data_handle_t handle),
	       void *arg);
/* "matrix 0x55d0 (960x960x4)" or its name, for messages.  Returns text. */
const char *data_describe(starpu_data_handle_t handle, char *text, size_t bytes);

#endif
