/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Tasks and data over several nodes.
 *
 * Ranks are those of the communicator given in the same call.  Functions return
 * 0 on success; a mistake of the caller ends the process with a message unless
 * a comment names a return code.  They may be called by any thread; the ones
 * marked blocking not from a task or a callback.
 *
 * Where a comment says "all ranks", every rank of the communicator makes the
 * same calls in the same order: nodes decide alone, from what they all know.
 */

#ifndef STARPU_MPI_H
#define STARPU_MPI_H

#include <starpu.h>

#ifdef STARPU_USE_MPI

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>

#include <starpu_mpi_ft.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A communication to wait for; NULL once it is over. */
typedef void *starpu_mpi_req;

/** Tag of a piece of data or of a message: 0 to INT64_MAX; -1: unset. */
typedef int64_t starpu_mpi_tag_t;

/** Key of starpu_mpi_comm_get_attr. */
#define STARPU_MPI_TAG_UB MPI_TAG_UB

/** As a rank: each node has its own private value. */
#define STARPU_MPI_PER_NODE -2

/*
 * Start and end
 */

/**
 * Start the library (starpu_init) and the MPI layer; all ranks.  One core is
 * left for communication when conf->ncpus is -1.
 *
 * @param argc, argv      those of main, or NULL
 * @param initialize_mpi  not 0: the library also starts MPI and ends it at
 *                        shutdown, and comm must be MPI_COMM_WORLD; 0: the
 *                        application does both.  In simulation the library
 *                        starts MPI anyway when nobody has
 * @param conf            changed; NULL takes the defaults
 * @return 0; the negative code of starpu_init, MPI being untouched
 */
int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
			 struct starpu_conf *conf);

/** Start the MPI layer over a library that is started already; all ranks; blocking. */
int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm);

/** The same over MPI_COMM_WORLD. */
int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi);

/** The same with MPI started by the application. */
int starpu_mpi_initialize(void) STARPU_DEPRECATED;

/** The same with MPI started by the library; gives the rank and the size. */
int starpu_mpi_initialize_extended(int *rank, int *world_size) STARPU_DEPRECATED;

/**
 * Wait for all tasks and communications, and end the MPI layer; also the library
 * when starpu_mpi_init_conf started it.  All ranks; blocking.
 */
int starpu_mpi_shutdown(void);

/** The same for the communicator given at the start. */
int starpu_mpi_shutdown_comm(MPI_Comm comm);

/*
 * Communicators
 */

/** Remember size and rank of a communicator other than that of the start. */
int starpu_mpi_comm_register(MPI_Comm comm);

/** Give the size of a known communicator. */
int starpu_mpi_comm_size(MPI_Comm comm, int *size);

/** Give the calling node's rank in a known communicator. */
int starpu_mpi_comm_rank(MPI_Comm comm, int *rank);

/** The calling node's rank in MPI_COMM_WORLD; of the last life without one, 0 before all.
 */
int starpu_mpi_world_rank(void);

/** The size of MPI_COMM_WORLD; of the last life without one, 0 before all. */
int starpu_mpi_world_size(void);

/**
 * For the key STARPU_MPI_TAG_UB set *(int64_t **)attribute_val to the address
 * of the largest tag and *flag to 1; for others *flag to 0.  Any time.
 */
int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag);

/** Logical processing unit of the communication thread, -1 when unknown. */
int starpu_mpi_get_thread_cpuid(void);

/**
 * The tag last set, 42 at first.  Orrery's messages travel in a communicator of their
 * own, so none can meet the application's, whatever its tags.
 */
int starpu_mpi_get_communication_tag(void);

/** Set what the function above returns; before or after the initialisation. */
void starpu_mpi_set_communication_tag(int tag);

/*
 * Distributed data: each node has its own handle for the same piece of data,
 * with the same tag and the same owner.
 */

/**
 * Attach a tag and an owner to a handle.  -1 leaves the tag, or the owner with
 * its communicator, as it is.  May be called again, by all ranks, to change the
 * owner for tasks inserted later; the value is not moved.  A tag that another
 * live handle has ends the process.
 */
void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle,
				   starpu_mpi_tag_t data_tag, int rank, MPI_Comm comm);

/** The same over MPI_COMM_WORLD. */
#define starpu_mpi_data_register(data_handle, data_tag, rank)                            \
	starpu_mpi_data_register_comm(data_handle, data_tag, rank, MPI_COMM_WORLD)

/** Attach a tag only. */
void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag);

/** Attach an owner only. */
void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm);

/** The same over MPI_COMM_WORLD. */
#define starpu_mpi_data_set_rank(handle, rank)                                           \
	starpu_mpi_data_set_rank_comm(handle, rank, MPI_COMM_WORLD)

/** The owner, -1 when unset; a handle without tag and owner ends the process. */
int starpu_mpi_data_get_rank(starpu_data_handle_t handle);

/** The tag, -1 when unset; a handle without tag and owner ends the process. */
starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle);

/**
 * Which rank sends the value of the data to rank node when a task there reads it, or
 * starpu_mpi_get_data_on_node() is called: the owner, unless said otherwise.  Ranks are
 * those of the communicator that the data were registered with.
 */
int starpu_mpi_data_get_source(starpu_data_handle_t data, int node);

/**
 * From now on new_source sends it, to which the value comes first if it is not there; all
 * ranks, at the same place among the insertions, with the data registered on the ranks
 * concerned.  Copies elsewhere than on the owner are forgotten, as by
 * starpu_mpi_cache_flush().  new_source keeps account of what node holds, and so has to
 * insert all tasks that access the data, also where programs leave out what concerns
 * other ranks alone.  Sources in a circle end the program.
 */
void starpu_mpi_data_set_source(starpu_data_handle_t data, int node, int new_source);

/** From now on the owner sends it again; all ranks. */
void starpu_mpi_data_reset_source(starpu_data_handle_t data, int node);

#define starpu_data_set_tag  starpu_mpi_data_set_tag
#define starpu_data_set_rank starpu_mpi_data_set_rank
#define starpu_data_get_rank starpu_mpi_data_get_rank
#define starpu_data_get_tag  starpu_mpi_data_get_tag

/** Move the value to new_rank, which becomes the owner; all ranks; asynchronous. */
void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank);

/**
 * Bring a valid copy to rank node; blocking on the owner and on node, nothing
 * elsewhere.  At least those two call it, at the same place of their order.
 */
int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle,
				int node);

/**
 * The same, asynchronous.  callback(arg), which may be NULL, is called on node
 * after the reception, and not at all when node has a valid copy already.
 */
int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle,
					 int node, void (*callback)(void *), void *arg);

/** Bring a valid copy to every rank; all ranks; asynchronous. */
void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm,
					       starpu_data_handle_t data_handle);

/**
 * Copy the value of src to dst, data of the same kind and shape, wherever they are; all
 * ranks.  Both need tags and owners.  dst is written in its turn, as by a task of its
 * owner that reads src and gets it as such a task does; others forget what they hold of
 * dst.
 *
 * @param asynchronous   0: block on the owners of both
 * @param callback_func  may be NULL; called with callback_arg once.  Different owners: on
 *                       the owner of dst, after the copy.  One owner: there after the
 *                       copy, on other ranks from inside the call
 * @return 0; -ENODEV, on the owner of dst: no worker can copy
 *
 * Unlike StarPU, where the owner is the same others do not copy what they hold of src,
 * and where it is not, the message has the tag of src.
 */
int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
			void *callback_arg);

/** The same with a priority of message and copy. */
int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle,
				 starpu_data_handle_t src_handle, MPI_Comm comm,
				 int asynchronous, void (*callback_func)(void *),
				 void *callback_arg, int priority);

/**
 * Send the values that rank root has of count data to their owners; all ranks;
 * asynchronous.  A handle may be NULL where it does not concern the rank; the others need
 * tags and owners.  Owners stay.
 *
 * @param scallback, rcallback  may be NULL; called with sarg or rarg once, when all
 *                              transfers of the calling rank are over, and not at all
 *                              when it has none: scallback on root, rcallback elsewhere
 */
int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
				MPI_Comm comm, void (*scallback)(void *), void *sarg,
				void (*rcallback)(void *), void *rarg);

/** The other way: owners send to root; scallback is called on them, rcallback on root. */
int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
			       MPI_Comm comm, void (*scallback)(void *), void *sarg,
			       void (*rcallback)(void *), void *rarg);

/*
 * Reductions between nodes
 *
 * A task that accesses data with STARPU_REDUX or STARPU_MPI_REDUX leaves its contribution
 * on the node that executes it, whoever owns the data; in the copy there with
 * STARPU_MPI_REDUX, where such tasks exclude each other, and with STARPU_REDUX in a
 * buffer of each worker.  All ranks insert these tasks, and call
 * starpu_data_set_reduction_methods().  The contributions meet at the owner, beside its
 * own value: when one of the functions below is called, and at the latest before
 * a task reads or writes the data, in starpu_mpi_wait_for_all(), or when the data are
 * unregistered or migrate.
 */

/**
 * Reduce, if there are contributions outside of the owner; all ranks, at the same place
 * of their order; asynchronous.  All contributions are sent to the owner.  The data need
 * tag and owner, otherwise the program ends.  Returns 0.
 */
int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle);

/** The same; prio is the priority of messages and tasks. */
int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio);

/** The same in a tree: groups of arity ranks meet at one of them, these again.  Below
 * 2, or above the number of contributors: all at once. */
int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle,
			       int arity);

/** The same with both. */
int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle,
				    int prio, int arity);

/** By rank: 1 when it has contributed since the last reduction (the owner counts as one);
 * NULL when nobody has.  The library's, until the reduction.  A handle without tag and
 * owner ends the process. */
char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle);

/*
 * Datatypes of the application's interfaces
 *
 * The library knows how values of its own interfaces lie in memory.  Those of other
 * interfaces are packed by their pack_data and unpack_data, unless one of these functions
 * has given a function that describes them as an MPI datatype.  It is called for each
 * transfer, on both sides, by any thread, for a value that nobody else uses meanwhile:
 * it stores a committed datatype of which one element, from the address of the value
 * on (to_pointer of the interface), is the value, and returns 0; or it refuses with
 * another number, and the value is packed.  The other function frees the datatype.  What
 * nested strides describe travels in place, the rest is packed by MPI.
 *
 * One function for each interface; a later one replaces it.  Any time, also before the
 * initialisation; they stay over shutdowns.  All ranks.
 */

typedef int (*starpu_mpi_datatype_allocate_func_t)(starpu_data_handle_t, MPI_Datatype *);
/** node: the memory that the value is sent from or received into. */
typedef int (*starpu_mpi_datatype_node_allocate_func_t)(starpu_data_handle_t,
							unsigned node, MPI_Datatype *);
typedef void (*starpu_mpi_datatype_free_func_t)(MPI_Datatype *);

/** For the interface with a number of starpu_data_interface_get_next_id(); that of a
 * predefined interface ends the program.  Returns 0. */
int starpu_mpi_interface_datatype_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);

/** The same with a function that is told the memory. */
int starpu_mpi_interface_datatype_node_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);

/** For the interface of a handle, and so for all data of that interface; it must have
 * to_pointer or handle_to_pointer. */
int starpu_mpi_datatype_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);

/** The same with a function that is told the memory. */
int starpu_mpi_datatype_node_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);

/** Values are packed again; nothing happens when there was no function. */
int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id);

/** The same for the interface of a handle. */
int starpu_mpi_datatype_unregister(starpu_data_handle_t handle);

/*
 * Messages
 *
 * A message takes its place in the implicit dependencies of its handle: a
 * sender reads it, a receiver writes it.  It matches by communicator, source and
 * tag, which has nothing to do with the tag of the handle; messages with the
 * same three match in the order of the calls.  A node may send to itself.
 *
 * prio: larger leaves first among the messages to one rank that are ready and wait;
 * those with the same communicator and tag keep their order.  0 where not given.
 *
 * Forms with a request return at once; the request must be given to
 * starpu_mpi_wait, or to starpu_mpi_test until it is over.  Detached forms
 * return at once; callback(arg), which may be NULL, is called once when the
 * message is over and the handle released.  It may start tasks and detached
 * messages but must not block.
 */

/** Send with a request. */
int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm);

/** The same with a priority. */
int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			  starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);

/** Send with a request that is over only once the receiver has asked for it. */
int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		      starpu_mpi_tag_t data_tag, MPI_Comm comm);

/** The same with a priority. */
int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req,
			   int dest, starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);

/** Receive with a request. */
int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm);

/**
 * Send and wait; blocking.  A task's kernel may call it as well, but not in simulation:
 * its worker executes nothing meanwhile.  Data that the task itself uses are free at its
 * end only.
 */
int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm);

/** The same with a priority. */
int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest,
			 starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);

/** Receive and wait; blocking; status may be MPI_STATUS_IGNORE. */
int starpu_mpi_recv(starpu_data_handle_t data_handle, int source,
		    starpu_mpi_tag_t data_tag, MPI_Comm comm, MPI_Status *status);

/** The same with a priority. */
int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source,
			 starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
			 MPI_Status *status);

/** Send, detached. */
int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm,
			      void (*callback)(void *), void *arg);

/** The same with a priority. */
int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg);

/** Receive, detached. */
int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm,
			      void (*callback)(void *), void *arg);

/** The same with a priority. */
int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg);

/** Receive, detached; 0 as last argument ignores the implicit dependencies. */
int starpu_mpi_irecv_detached_sequential_consistency(
	starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
	MPI_Comm comm, void (*callback)(void *), void *arg, int sequential_consistency);

/** Send, detached, over only once the receiver has asked for it. */
int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
			       starpu_mpi_tag_t data_tag, MPI_Comm comm,
			       void (*callback)(void *), void *arg);

/** The same with a priority. */
int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
				    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				    void (*callback)(void *), void *arg);

/** Send, detached; the end reaches the task tag tag. */
int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag);

/** The same with a priority. */
int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
					      starpu_mpi_tag_t data_tag, int prio,
					      MPI_Comm comm, starpu_tag_t tag);

/** Receive, detached; the end reaches the task tag tag. */
int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag);

/**
 * Send array_size messages, detached; the end of all reaches the task tag tag.
 * The arrays, one element per message, are read during the call only.
 */
int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle,
					       int *dest, starpu_mpi_tag_t *data_tag,
					       MPI_Comm *comm, starpu_tag_t tag);

/** The same with priorities; prio may be NULL. */
int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
						    starpu_data_handle_t *data_handle,
						    int *dest, starpu_mpi_tag_t *data_tag,
						    int *prio, MPI_Comm *comm,
						    starpu_tag_t tag);

/** Receive array_size messages, detached; the end of all reaches the task tag tag. */
int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle,
					       int *source, starpu_mpi_tag_t *data_tag,
					       MPI_Comm *comm, starpu_tag_t tag);

/*
 * Waiting
 */

/** Wait for a request, free it and set *req to NULL; blocking. */
int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status);

/** *flag = 1: the request is over, freed, and *req NULL; *flag = 0: not yet. */
int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status);

/**
 * Wait until all ranks are here; blocking.  Messages and tasks go on meanwhile;
 * they are not waited for.
 */
int starpu_mpi_barrier(MPI_Comm comm);

/** Wait for all tasks and messages of this node; blocking. */
int starpu_mpi_wait_for_all(MPI_Comm comm);

/** Wait for all tasks of a scheduling context and all messages of this node; blocking.
 * Ranks reduce what is still to be reduced, as in starpu_mpi_wait_for_all(). */
int starpu_mpi_wait_for_all_in_ctx(MPI_Comm comm, unsigned sched_ctx);

/*
 * Tasks
 */

/**
 * Insert a task: all ranks call with the same arguments (those of
 * starpu_task_insert), one of them executes it, and the messages that its data
 * need are exchanged.  The executing rank is that of STARPU_EXECUTE_ON_NODE or
 * STARPU_EXECUTE_ON_DATA, else the owner of the data written, else the choice of
 * the selection policy.  A handle may be NULL on a rank that it does not concern.
 *
 * @return 0; -EINVAL: a handle to be written is NULL here and the executing rank
 *         is not known from an argument before it; -ENODEV, on the executing
 *         rank: no worker can execute it
 */
int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...);

/**
 * Insert a task that p ranks execute, those in nodes, each once, and all with the same
 * result: what it writes is then current on all of them, and nothing travels after it
 * unless the owner of written data is not among them.  All ranks call with the same
 * arguments; STARPU_EXECUTE_ON_NODE and STARPU_EXECUTE_ON_DATA have no effect, data of
 * reductions are refused.
 *
 * STARPU_MPI_SAME beside STARPU_W or STARPU_RW says it of one access of a task of the
 * other functions: each rank that holds the value, the owner as well, executes a task
 * that writes it alike, one STARPU_EXECUTE_ON_NODE for each.  Nothing travels after them,
 * and the ranks go on holding it.  What they read has to be there before the first of
 * them, by starpu_mpi_get_data_on_node_detached() for instance, and the cache in use.
 *
 * @return 0; -ENODEV, on an executing rank: no worker can execute it
 */
int starpu_mpi_tasks_insert(MPI_Comm comm, struct starpu_codelet *codelet, int p,
			    int *nodes, ...);

/** The same under its older name. */
int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...);

/**
 * First half of starpu_mpi_task_insert: post the messages needed before the
 * task.  Returns the task, to be submitted by the caller, on the executing rank
 * and NULL elsewhere.  An argument of its codelet or callbacks that the caller sets in it
 * is freed with it, unless the caller sets cl_arg_free, callback_arg_free and so on to 0.
 */
struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet,
					  ...);

/** The same with an argument list. */
struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
					    va_list varg_list);

/**
 * Second half, on all ranks, after the submission: post the messages needed
 * after the task.  Only keys that concern data, rank and priority matter.
 */
int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...);

/** The same with an argument list. */
int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
				 va_list varg_list);

/** What was decided about a task. */
struct starpu_mpi_task_exchange_params {
	int do_execute; /* 1 on the executing rank */
	int xrank;      /* the executing rank */
	int priority;
	int me;              /* the calling rank */
	int exchange_needed; /* 1: the second half has something to do */
};

/**
 * First half for a task filled by hand on all ranks: fill *params and descrs
 * (one element per buffer) and post the messages needed before the task.  Then
 * the executing rank submits its task and the others destroy theirs.
 *
 * @return 0; -EINVAL: as for starpu_mpi_task_insert
 */
int starpu_mpi_task_exchange_data_before_execution(
	MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
	struct starpu_mpi_task_exchange_params *params);

/** Second half: post the messages needed after the task. */
int starpu_mpi_task_exchange_data_after_execution(
	MPI_Comm comm, struct starpu_data_descr *descrs, unsigned nb_data,
	struct starpu_mpi_task_exchange_params params);

/** First half of starpu_mpi_task_insert for a task filled by hand that rank xrank
 * executes, whoever owns its data. */
int starpu_mpi_task_exchange_data_before_execution_on_node(
	MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
	struct starpu_mpi_task_exchange_params *params, int xrank);

/**
 * First half for one piece of data of a task: params->xrank, on all ranks, is the rank
 * that executes it, params->priority that of the message; the rest is filled.
 * @return 0; -EINVAL: xrank is -1 and the data, to be written, is NULL here
 */
int starpu_mpi_exchange_data_before_execution(
	MPI_Comm comm, starpu_data_handle_t data, enum starpu_data_access_mode mode,
	struct starpu_mpi_task_exchange_params *params);

/** Second half for one piece of data. */
int starpu_mpi_exchange_data_after_execution(
	MPI_Comm comm, starpu_data_handle_t data, enum starpu_data_access_mode mode,
	struct starpu_mpi_task_exchange_params params);

/** Call f on the executing rank before each submission of an inserted task; any time, and
 * in all lives of the library.  One function: another one replaces it, with a message. */
int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *));

/** Call it no more. */
int starpu_mpi_pre_submit_hook_unregister(void);

/*
 * Policies that choose the executing rank
 */

#define STARPU_MPI_NODE_SELECTION_CURRENT_POLICY -1
/** The rank that holds most bytes of the data; the lowest of equals.  Of an interface of
 * the application that is get_max_size(), the same on all ranks; without it get_size(),
 * which then must be. */
#define STARPU_MPI_NODE_SELECTION_MOST_R_DATA 0

/** A rank from the nb_data pieces of data of a task; the same on all ranks. */
typedef int (*starpu_mpi_select_node_policy_func_t)(int me, int nb_nodes,
						    struct starpu_data_descr *descr,
						    int nb_data);

/*
 * Policies are the program's: they may be added, removed and set at any time, and hold
 * in all lives of the library.
 */

/** Add a policy; returns its number, from 1; too many end the process.  All ranks. */
int starpu_mpi_node_selection_register_policy(
	starpu_mpi_select_node_policy_func_t policy_func);

/** Remove a policy that was added. */
int starpu_mpi_node_selection_unregister_policy(int policy);

/** The number of the policy for tasks that name none. */
int starpu_mpi_node_selection_get_current_policy(void);

/** Set it; all ranks. */
int starpu_mpi_node_selection_set_current_policy(int policy);

/*
 * Cache: what a rank has received and still holds is not sent to it again.
 * Both sides keep the account from the tasks inserted, without messages.
 */

/** 1 when the cache is in use; without the layer, as in its last life, 1 before all. */
int starpu_mpi_cache_is_enabled(void);

/** Use the cache (1), or empty it and do without (0); all ranks.  Each initialisation
 * reads STARPU_MPI_CACHE again. */
int starpu_mpi_cache_set(int enabled);

/** Forget who received this data; all ranks that have the handle. */
void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle);

/** The same for all data; all ranks; nothing without the layer. */
void starpu_mpi_cache_flush_all_data(MPI_Comm comm);

/** Whether this node counts as having received the data. */
int starpu_mpi_cached_receive(starpu_data_handle_t data_handle);

/** Let it count as received; returns what was the case before. */
int starpu_mpi_cached_receive_set(starpu_data_handle_t data);

/** The same for a checkpoint. */
int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle);

/** Let it count as not received, and invalidate the copy if it did. */
void starpu_mpi_cached_receive_clear(starpu_data_handle_t data);

/** Whether the data counts as sent to rank dest. */
int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest);

/** Let it count as sent to rank dest; returns what was the case before. */
int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest);

/** The same two of StarPU's later versions: dest is a rank in comm. */
int starpu_mpi_cached_send_comm(starpu_data_handle_t data_handle, int dest,
				MPI_Comm comm);
int starpu_mpi_cached_send_set_comm(starpu_data_handle_t data, int dest, MPI_Comm comm);

/** Let it count as sent to nobody. */
void starpu_mpi_cached_send_clear(starpu_data_handle_t data);

/*
 * Cooperative sends: nodes that received a piece of data may pass it on.
 */

/** Allow (1) or forbid (0) them; ignored with a message for less than 3 ranks and
 * without the layer. */
void starpu_mpi_coop_sends_set_use(int use_coop_sends);

/** 1 when allowed; any time. */
int starpu_mpi_coop_sends_get_use(void);

/** Announce that exactly nb_sends detached sends of the data follow. */
void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle,
						int nb_sends);

/*
 * Statistics and tags
 */

/** Count the bytes sent from now on. */
void starpu_mpi_comm_stats_enable(void);

/** Count no longer; the counts stay; any time. */
void starpu_mpi_comm_stats_disable(void);

/** Write the payload bytes sent to each rank; as many elements as ranks; nothing when
 * they were never counted. */
void starpu_mpi_comm_stats_retrieve(size_t *comm_stats);
#define starpu_mpi_comm_amounts_retrieve starpu_mpi_comm_stats_retrieve /* of 1.3 */

/**
 * Reserve nbtags consecutive tags and return the first, -1 for none; the same on
 * all ranks that make the same calls.  Any time; they stay reserved over shutdowns.
 */
int64_t starpu_mpi_tags_allocate(int64_t nbtags);

/** The tag after all that are reserved, 0 when none is; of StarPU's later versions. */
int64_t starpu_mpi_tags_get_next_value(void);

/** Give back the tags whose first is mintag. */
void starpu_mpi_tags_free(int64_t mintag);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_USE_MPI */

#endif /* STARPU_MPI_H */
