/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Data handles: access modes, acquisition by the application, end of life.
 *
 * Unless a comment says otherwise a function may be called by any thread,
 * needs a registered handle, and returns at once.  The blocking ones wait for
 * tasks, so they must not be called from a task or a callback: doing so ends
 * the process.
 */

#ifndef STARPU_DATA_H
#define STARPU_DATA_H

#include <stdint.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_data_interface_ops;
struct starpu_data_filter;
struct starpu_codelet;

/** A piece of data that the library follows over all memory nodes. */
typedef struct _starpu_data_state *starpu_data_handle_t;

/**
 * How a task uses a piece of data.  R, W, SCRATCH and REDUX exclude each other
 * (except R with W); the other bits qualify them.
 */
enum starpu_data_access_mode {
	STARPU_R = (1 << 0),
	STARPU_W = (1 << 1), /* alone: the former content is not needed */
	STARPU_RW = (STARPU_R | STARPU_W),
	STARPU_SCRATCH = (1 << 2),      /* a buffer for the duration of the task */
	STARPU_REDUX = (1 << 3),        /* a contribution to a reduction */
	STARPU_COMMUTE = (1 << 4),      /* with W: in any order, one at a time */
	STARPU_SSEND = (1 << 5),        /* messages for this access are synchronous */
	STARPU_LOCALITY = (1 << 6),     /* a hint for the scheduler: no effect */
	STARPU_MPI_REDUX = (1 << 7),    /* a contribution per node */
	STARPU_NOPLAN = (1 << 8),       /* leave planned partitions as they are */
	STARPU_UNMAP = (1 << 9),        /* drop mapped copies: no effect */
	STARPU_NOFOOTPRINT = (1 << 10), /* leave the size out of the footprint */
	STARPU_NONE = (1 << 11),        /* no access: the argument is ignored */
	STARPU_MPI_SAME = (1 << 13),    /* see starpu_mpi_tasks_insert() */
	STARPU_ACCESS_MODE_MAX = (1 << 14)
};

/** A handle with the mode of one access to it. */
struct starpu_data_descr {
	starpu_data_handle_t handle;
	enum starpu_data_access_mode mode;
};

/** Urgency of a request for a copy, most urgent first. */
enum starpu_is_prefetch {
	STARPU_FETCH = 0,
	STARPU_TASK_PREFETCH = 1,
	STARPU_PREFETCH = 2,
	STARPU_IDLEFETCH = 3,
	STARPU_NFETCH
};

/*
 * Names
 */

/** Name the handle in traces and messages; the text is copied. */
void starpu_data_set_name(starpu_data_handle_t handle, const char *name);

/** Attach dimensions coordinates, int each; the first five are kept. */
void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned dimensions, ...);

/** Attach the dimensions coordinates of dims; the first five are kept. */
void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
				       int dims[]);

/** Copy at most dimensions coordinates to dims; return how many were copied. */
unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle,
					   unsigned dimensions, int dims[]);

/*
 * End of life
 */

/**
 * Wait for all users of the data, bring a valid copy to its home node if it has
 * one, and free the handle.  Blocking.
 */
void starpu_data_unregister(starpu_data_handle_t handle);

/** The same without the copy home: the content may be lost.  Blocking. */
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle);

/**
 * Free the handle after the tasks submitted so far, without a copy home.  The
 * caller must not use the handle any more.
 */
void starpu_data_unregister_submit(starpu_data_handle_t handle);

/**
 * Make the value undefined but keep the buffers: the next access must write.
 * Blocking.
 */
void starpu_data_deinitialize(starpu_data_handle_t handle);

/** The same after the tasks submitted so far. */
void starpu_data_deinitialize_submit(starpu_data_handle_t handle);

/**
 * Make the value undefined and free the buffers, except the one given by the
 * application: the next access must write.  Blocking.
 */
void starpu_data_invalidate(starpu_data_handle_t handle);

/** The same after the tasks submitted so far. */
void starpu_data_invalidate_submit(starpu_data_handle_t handle);

/**
 * Say whether copies in devices leave when it is their turn (1, the default), or before
 * those of other data (0), when others need the room.  The value is never lost.
 */
void starpu_data_advise_as_important(starpu_data_handle_t handle, unsigned is_important);

/*
 * Access by the application
 *
 * An acquisition takes its place in the implicit dependencies of the data, like
 * a task submitted at that moment, until it is released.  Forms without a node
 * use the home node, or the main memory when there is none.
 */

/** Node for an acquisition that orders and locks but brings no copy. */
#define STARPU_ACQUIRE_NO_NODE -1
/** The same, locking the copies of all nodes. */
#define STARPU_ACQUIRE_NO_NODE_LOCK_ALL -2

/**
 * Wait until the data may be accessed in mode, with a valid copy at hand when
 * the mode reads.  Blocking.  A second conflicting acquisition by the same
 * thread before the release never returns.
 *
 * @return 0; -ENOMEM, with a message, when the data are larger than the memory of the
 * node where they are wanted: nothing is acquired then
 */
int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode);

/** The same on memory node node, or STARPU_ACQUIRE_NO_NODE(_LOCK_ALL). */
int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
				enum starpu_data_access_mode mode);

/**
 * Call callback(arg) once the data may be accessed, in the calling thread if
 * that is now, else in a thread of the library.  The callback, or something it
 * starts, must release the data; it must not block.
 *
 * @return 0
 */
int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode,
			   void (*callback)(void *), void *arg);

/** The same on memory node node. */
int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
				   enum starpu_data_access_mode mode,
				   void (*callback)(void *), void *arg);

/** As starpu_data_acquire_cb; 0 as last argument ignores implicit dependencies. */
int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle,
						  enum starpu_data_access_mode mode,
						  void (*callback)(void *), void *arg,
						  int sequential_consistency);

/** The same on memory node node. */
int starpu_data_acquire_on_node_cb_sequential_consistency(
	starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
	void (*callback)(void *), void *arg, int sequential_consistency);

/**
 * The same, with a word in between: when the turn of the acquisition has come, and before
 * the copy is brought, callback_acquired(arg, &node, mode) may change the node (to one
 * that exists, or STARPU_ACQUIRE_NO_NODE); NULL: the node stays.  It must not block, and
 * runs where callback may.  Acquisitions are no tasks here: *pre_sync_jobid and
 * *post_sync_jobid, where given, are set to -1; quick and prio have no effect.
 */
int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
	starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
	void (*callback_acquired)(void *arg, int *node,
				  enum starpu_data_access_mode mode),
	void (*callback)(void *arg), void *arg, int sequential_consistency, int quick,
	long *pre_sync_jobid, long *post_sync_jobid, int prio);

/**
 * Acquire without waiting and without regard to implicit dependencies.
 *
 * @return 0: acquired; -EAGAIN: somebody is using the data
 */
int starpu_data_acquire_try(starpu_data_handle_t handle,
			    enum starpu_data_access_mode mode);

/** The same on memory node node. */
int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
				    enum starpu_data_access_mode mode);

/** End an acquisition; tasks that waited for it may start. */
void starpu_data_release(starpu_data_handle_t handle);

/** The same; node must be that of the acquisition. */
void starpu_data_release_on_node(starpu_data_handle_t handle, int node);

/**
 * Weaken an acquisition: to STARPU_NONE (a release), or from a mode that writes
 * to STARPU_R, which lets other readers start.  Anything else ends the process.
 */
void starpu_data_release_to(starpu_data_handle_t handle,
			    enum starpu_data_access_mode down_to_mode);

/** The same; node must be that of the acquisition. */
void starpu_data_release_to_on_node(starpu_data_handle_t handle,
				    enum starpu_data_access_mode down_to_mode, int node);

/*
 * Copies
 */

/**
 * Ask for a valid copy on a node, as urgently as a task would; async 0 waits
 * for it (then blocking).
 *
 * @return 0; -ENOMEM, with a message, when the data are larger than the node's memory
 */
int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);

/**
 * A hint: the same, after the writers submitted so far, unless others use the room
 * that it takes; what has no room stays where it is.
 *
 * @return 0
 */
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node,
				 unsigned async);

/**
 * The same; of prefetches to a node that wait for others, those of higher prio go first,
 * in their order.  Who needs the data meanwhile fetches them at once; a prefetch whose
 * data are being written, or there, when it is its time is dropped.  With async 0, prio
 * has no effect.
 */
int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node,
				      unsigned async, int prio);

/** The same as a prefetch, which goes after all others, and when nothing travels to or
 * from the node. */
int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle, unsigned node,
				      unsigned async);

/** The same, those of higher prio first. */
int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node,
					   unsigned async, int prio);

/**
 * Ask for a buffer on a node, of undefined content until a value comes there: a hint,
 * after the writers submitted so far, unless others use the room that it takes.
 *
 * @return 0
 */
int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node);

/**
 * Send each value written from now on to memory nodes, too: bit n of wt_mask stands for
 * node n, bits of nodes that do not exist are ignored, 0 (the default) ends it.  The
 * copies start when the writer ends, if there is room, and later writers do not wait for
 * them.  Parts that the data have now do the same.
 */
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask);

/**
 * Let copies that nobody uses leave a device's memory, the least recently used first,
 * until STARPU_TARGET_AVAILABLE_MEM percent of it are available, and free the buffers
 * that are kept for other data.  Without effect on main memory, but for the latter.
 */
void starpu_memchunk_tidy(unsigned memory_node);

/** Whether node holds a valid copy, or one is on its way. */
unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node);

/**
 * Say how contributions to the data (STARPU_REDUX) are reduced, before the first task
 * that makes one.  init_cl sets its one buffer (STARPU_W) to the neutral element;
 * redux_cl adds its second buffer (STARPU_R) to its first (STARPU_RW|STARPU_COMMUTE).
 * Modes that they leave at 0 are filled in.  Each may be NULL when it is not needed;
 * with init_cl, data that nobody wrote may be read: they are the neutral element.
 *
 * Tasks that contribute run at the same time, each worker on a buffer of its own, which
 * init_cl sets on that worker, outside of any task and with a NULL argument.  Before
 * the next access of another kind, tasks of redux_cl combine the value of the data, if
 * they have one, and the workers' buffers, in a tree.  The operation has to be
 * associative and commutative: which task contributes where is a matter of schedule.
 * A contribution without sequential consistency is an update (RW|COMMUTE).  A third
 * buffer of redux_cl (STARPU_SCRATCH) is of the shape of the data.
 *
 * Any thread; ends the program when a codelet has other buffers.  Both codelets live as
 * long as the data.
 */
void starpu_data_set_reduction_methods(starpu_data_handle_t handle,
				       struct starpu_codelet *redux_cl,
				       struct starpu_codelet *init_cl);

/** The same; the tasks of redux_cl, and those of init_cl that serve a reader, are given
 * these arguments, which live as long as the data. */
void starpu_data_set_reduction_methods_with_args(starpu_data_handle_t handle,
						 struct starpu_codelet *redux_cl,
						 void *redux_cl_arg,
						 struct starpu_codelet *init_cl,
						 void *init_cl_arg);

/**
 * Whether the value may leave main memory for a disk when main memory has a limit and
 * needs the room: 1 (default) or 0.  What is on a disk already comes back when it is
 * used. Any thread.
 */
void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle);

/**
 * Say that no task will use the data soon: once the accesses submitted so far are over,
 * their value is brought home (to main memory without a home) when nothing travels from
 * or to there, and copies in devices are the first that leave when others need the room.
 * A hint.
 */
void starpu_data_wont_use(starpu_data_handle_t handle);

/**
 * Tell the state of the copy on a node.  Hints, since tasks go on meanwhile;
 * each result pointer may be NULL.
 */
void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node,
			       int *is_allocated, int *is_valid, int *is_loading,
			       int *is_requested);

/** The same without is_loading. */
void starpu_data_query_status(starpu_data_handle_t handle, int memory_node,
			      int *is_allocated, int *is_valid, int *is_requested);

/**
 * Let the copy leave a memory now: a device's, for main memory, where a value is brought
 * that is only there; or a main memory with a limit (STARPU_LIMIT_CPU_MEM), for a disk.
 *
 * @return 0: it leaves; -1: it is in use, not there, the application's memory, in a main
 *         memory without a limit, or the value found no place elsewhere
 */
int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node);

/** Whether the copy on a node could leave now, 1 or 0: a hint, since tasks go on. */
int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
			  enum starpu_is_prefetch is_prefetch);

/** Whether the copy on a node is that of another one, mapped there: see
 * starpu_interface_map(). */
unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle,
					    unsigned memory_node);

/** Whether a buffer exists on a node, valid or not. */
unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
					       unsigned memory_node);

/*
 * Arbiters
 */

/** Data whose locks are taken together. */
typedef struct starpu_arbiter *starpu_arbiter_t;

/** A new arbiter, to be destroyed when its data have ended. */
starpu_arbiter_t starpu_arbiter_create(void);

/**
 * Have an arbiter lock the data: those of a task are taken all at once or not at all, so
 * that commuting tasks do not hold some while they wait for others.  Before the data are
 * used, once.  All data here are locked like that, with an arbiter or without.
 */
void starpu_data_assign_arbiter(starpu_data_handle_t handle, starpu_arbiter_t arbiter);

/** End an arbiter that no data has any more. */
void starpu_arbiter_destroy(starpu_arbiter_t arbiter);

/*
 * Properties
 */

/** Whether (1, the default) accesses submitted later wait for earlier ones. */
void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle,
						 unsigned flag);

/** The flag of this handle. */
unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle);

/** The flag that newly registered handles get; any time. */
unsigned starpu_data_get_default_sequential_consistency_flag(void);

/** Set the flag that newly registered handles get, initially 1; any time, for all lives
 * of the library. */
void starpu_data_set_default_sequential_consistency_flag(unsigned flag);

/** Attach a pointer of the application, initially NULL. */
void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data);

/** The pointer of the application. */
void *starpu_data_get_user_data(starpu_data_handle_t handle);

/** Attach a pointer of the scheduler, initially NULL. */
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data);

/** The pointer of the scheduler. */
void *starpu_data_get_sched_data(starpu_data_handle_t handle);

/** The operations of the handle's interface. */
struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DATA_H */
