/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Workers and memory nodes.  Any thread may call these functions.  Those that count and
 * find workers and memory nodes may be called at any time: before the first
 * initialisation there are none, after the end of the library they answer as before it.
 * All others need an initialised library, and end the process without it.   Worker
 * numbers go from 0 to starpu_worker_get_count() - 1, accelerators first, then
 * processors; memory node 0 is the main memory.
 */

#ifndef STARPU_WORKER_H
#define STARPU_WORKER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <starpu_config.h>
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>
#endif
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;
struct starpu_tree;

enum starpu_node_kind {
	STARPU_UNUSED = 0,
	STARPU_CPU_RAM = 1,
	STARPU_CUDA_RAM = 2,
	STARPU_OPENCL_RAM = 3,
	STARPU_MAX_FPGA_RAM = 4,
	STARPU_DISK_RAM = 5,
	STARPU_MPI_MS_RAM = 6,
	STARPU_TCPIP_MS_RAM = 7,
	STARPU_HIP_RAM = 8,
	STARPU_MAX_RAM = 8,
	STARPU_NRAM = 9
};

enum starpu_worker_archtype {
	STARPU_CPU_WORKER = 0,
	STARPU_CUDA_WORKER = 1,
	STARPU_OPENCL_WORKER = 2,
	STARPU_MAX_FPGA_WORKER = 4,
	STARPU_MPI_MS_WORKER = 5,
	STARPU_TCPIP_MS_WORKER = 6,
	STARPU_HIP_WORKER = 7,
	STARPU_NARCH = 8,
	STARPU_ANY_WORKER = 255
};

#define STARPU_UNKNOWN_WORKER ((enum starpu_worker_archtype) - 1)

enum starpu_worker_collection_type { STARPU_WORKER_TREE, STARPU_WORKER_LIST };

/** Position in a collection of workers; private to the collection. */
struct starpu_sched_ctx_iterator {
	int cursor;
	void *value;
	void *possible_value;
	char visited[STARPU_NMAXWORKERS];
	int possibly_parallel;
};

/** A set of workers with its own order. */
struct starpu_worker_collection {
	int *workerids;
	void *collection_private;
	unsigned nworkers;
	void *unblocked_workers;
	unsigned nunblocked_workers;
	void *masters;
	unsigned nmasters;
	char present[STARPU_NMAXWORKERS];
	char is_unblocked[STARPU_NMAXWORKERS];
	char is_master[STARPU_NMAXWORKERS];
	enum starpu_worker_collection_type type;
	unsigned (*has_next)(struct starpu_worker_collection *workers,
			     struct starpu_sched_ctx_iterator *it);
	int (*get_next)(struct starpu_worker_collection *workers,
			struct starpu_sched_ctx_iterator *it);
	int (*add)(struct starpu_worker_collection *workers, int worker);
	int (*remove)(struct starpu_worker_collection *workers, int worker);
	void (*init)(struct starpu_worker_collection *workers);
	void (*deinit)(struct starpu_worker_collection *workers);
	void (*init_iterator)(struct starpu_worker_collection *workers,
			      struct starpu_sched_ctx_iterator *it);
	void (*init_iterator_for_parallel_tasks)(struct starpu_worker_collection *workers,
						 struct starpu_sched_ctx_iterator *it,
						 struct starpu_task *task);
};

/** The collections that contexts have copies of. */
extern struct starpu_worker_collection starpu_worker_list, starpu_worker_tree;

/*
 * Counting
 */

/** Number of workers of all types. */
unsigned starpu_worker_get_count(void);

/** Number of processor workers. */
unsigned starpu_cpu_worker_get_count(void);

/** Number of CUDA workers; in simulation, those of the described GPUs. */
unsigned starpu_cuda_worker_get_count(void);

/** Number of HIP workers: 0. */
unsigned starpu_hip_worker_get_count(void);

/** Number of OpenCL workers: 0. */
unsigned starpu_opencl_worker_get_count(void);

/** Number of MPI master-slave workers: 0. */
unsigned starpu_mpi_ms_worker_get_count(void);

/** Number of TCP/IP master-slave workers: 0. */
unsigned starpu_tcpip_ms_worker_get_count(void);

/** Number of workers of a type, STARPU_ANY_WORKER for all; -EINVAL: no such type. */
int starpu_worker_get_count_by_type(enum starpu_worker_archtype type);

/*
 * Finding
 */

/** Number of the calling worker, -1 for any other thread. */
int starpu_worker_get_id(void);

/** The same for a caller that must be a worker; any other thread ends the process. */
unsigned starpu_worker_get_id_check(void);

/** The same, naming the place of the call in the message. */
unsigned _starpu_worker_get_id_check(const char *f, int l);

#define starpu_worker_get_id_check() _starpu_worker_get_id_check(__FILE__, __LINE__)

/**
 * Write the numbers of the workers of a type.
 *
 * @return how many; (unsigned)-ERANGE: there are more than maxsize
 */
unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids,
				       unsigned maxsize);

/** Number of the num-th worker (from 0) of a type, -1 when there are fewer. */
int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num);

/** Number of the first worker of a type on device devid, -1 when there is none. */
int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid);

/** Write the distinct device numbers of a type, at most num; how many there are. */
int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids, int num);

/** Write the numbers of all workers of a type on device devid; return how many. */
int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
				       enum starpu_worker_archtype type);

/*
 * Properties
 */

/** Logical processing unit of a worker of the processors: the one that it is bound to,
 * or, where workers are not bound and in simulation, its own, see below.  -1: a device's.
 */
int starpu_worker_get_bindid(int workerid);

/**
 * Set *workerids to the workers of the processors that are on a processing unit, which
 * may be none, and return how many; the array lasts until starpu_shutdown().  Where
 * workers are not bound each has a unit of its own, from 0 on.  As it was when somebody
 * asked first for this or for the tree below.
 */
int starpu_bindid_get_workerids(int bindid, int **workerids);

/**
 * The machine as a tree (starpu_tree.h) whose leaves are the units that workers of the
 * processors are on; levels at which these do not part are left out.  It lasts until
 * starpu_shutdown(), and is not to be changed or freed.
 */
struct starpu_tree *starpu_workers_get_tree(void);

/**
 * The date, on the clock of task->profiling_info, at which the task that the worker runs
 * is expected to end; 0: it runs none, its codelet has no model that knows, or it started
 * before the first such question.  It may have ended when this returns.
 */
void starpu_worker_get_current_task_exp_end(unsigned workerid, struct timespec *date);

/** Type of worker id. */
enum starpu_worker_archtype starpu_worker_get_type(int id);

/** Write the worker's name for people ("CPU 3"), cut to maxlen bytes with its end; empty
 * without an initialised library. */
void starpu_worker_get_name(int id, char *dst, size_t maxlen);

/** Number of the worker's device within its type. */
int starpu_worker_get_devid(int id);

/** Number of the worker's device within its type, the same for all its workers. */
int starpu_worker_get_devnum(int id);

/** Rank of the worker among the workers of its device. */
int starpu_worker_get_subworkerid(int id);

/** Whether some implementation of the task exists for a type of worker. */
unsigned starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
					     const struct starpu_task *task);

/** "CPU", "CUDA", ...; "unknown" for a number that is no type. */
const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type);

/** "CPU", "CUDA", "OPENCL", ... as in names of variables; "UNKNOWN" for no type. */
const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type);

/** The type that either of the two above names, STARPU_UNKNOWN_WORKER for none. */
enum starpu_worker_archtype starpu_worker_get_type_from_string(const char *type);

/** Whether a number is a type of worker. */
unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type);

/** The type of a mask of one bit, such as STARPU_CPU; any other ends the process. */
enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask);

/** Print the names of all workers, one a line. */
void starpu_worker_display_all(FILE *output);

/** Print the names of the workers of a type, one a line. */
void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type);

/** Print how many workers of a type there are. */
void starpu_worker_display_count(FILE *output, enum starpu_worker_archtype type);

/** Wait until all workers run: they do once the library is initialised. */
void starpu_worker_wait_for_initialisation(void);

/*
 * Memory nodes
 */

/** Memory node of the calling worker, STARPU_MAIN_RAM for any other thread. */
unsigned starpu_worker_get_local_memory_node(void);

/** Memory node that worker workerid computes from. */
unsigned starpu_worker_get_memory_node(unsigned workerid);

/** Number of memory nodes. */
unsigned starpu_memory_nodes_get_count(void);

/** Number of memory nodes that are main memory: 1. */
unsigned starpu_memory_nodes_get_numa_count(void);

/** Number of memory nodes of a kind. */
unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind);

/** Kind of memory node node. */
enum starpu_node_kind starpu_node_get_kind(unsigned node);

/** Number of the memory node's device within its kind. */
int starpu_memory_node_get_devid(unsigned node);

/**
 * Write the numbers of the memory nodes of a kind.
 *
 * @return how many; (unsigned)-ERANGE: there are more than maxsize
 */
unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind,
					    unsigned *memory_nodes_ids, unsigned maxsize);

/** Type of the workers that compute from a kind of memory; STARPU_UNKNOWN_WORKER: none.
 */
enum starpu_worker_archtype
starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind);

/** Kind of the memory that a type of worker computes from; STARPU_UNUSED: no type. */
enum starpu_node_kind
starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type);

/** Memory node of the main memory that the system numbers osid; -1: there is none. */
int starpu_memory_nodes_numa_id_to_devid(int osid);

/** How the system numbers the main memory of memory node id; -1: it is none. */
int starpu_memory_nodes_numa_devid_to_id(unsigned id);

/** Write the node's name ("NUMA 0", "CUDA 1"); return its length as snprintf does. */
int starpu_memory_node_get_name(unsigned node, char *name, size_t size);

#ifdef STARPU_HAVE_HWLOC
/** The processing units that a worker is bound to, all of the machine when it is not
 * bound; to be freed with hwloc_bitmap_free(). */
hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid);

/** The processing unit that a worker is bound to, the machine when it is not bound;
 * belongs to the library and ends with it. */
hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid);
#endif

/*
 * Locks of workers, for policies of the application's: each worker holds its own while
 * pop_task() looks for a task for it, so that who holds it may change what the policy
 * keeps for that worker.  While a worker is relaxed others may take its lock.  In other
 * threads than workers the functions about the caller's own do nothing.
 */

/** Whether the caller is in pop_task(). */
int starpu_worker_sched_op_pending(void);

#ifdef STARPU_WORKER_CALLBACKS
/**
 * The function that each worker calls with its number when it has found nothing to do and
 * goes to sleep until it is woken; NULL: none.  Instead of the one before, and of that in
 * struct starpu_conf.  Workers that poll the network do not sleep.  It must not wait, nor
 * submit tasks.
 */
void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned workerid));

/** The same of a worker that has been woken. */
void starpu_worker_set_waking_up_callback(void (*callback)(unsigned workerid));
#endif

/** Others may take the caller's lock from now on; nests. */
void starpu_worker_relax_on(void);

/** The caller has its lock again. */
void starpu_worker_relax_off(void);

/** Whether the caller is relaxed: 1 or 0; 1 in other threads than workers. */
int starpu_worker_get_relax_state(void);

/** Wait for a worker's lock, relaxed until starpu_worker_unlock(). */
void starpu_worker_lock(int workerid);

/** The same, but without waiting: 0, or EBUSY. */
int starpu_worker_trylock(int workerid);

/** Give the lock back. */
void starpu_worker_unlock(int workerid);

/** The caller's own lock. */
void starpu_worker_lock_self(void);
void starpu_worker_unlock_self(void);

/*
 * Parallel tasks.  A combined worker is a set of CPU workers, with a number behind those
 * of all workers.  The schedulers peager and pheft make some, and give them tasks whose
 * codelet has type STARPU_SPMD or STARPU_FORKJOIN and max_parallelism above 1; any
 * scheduler gives one a task with its number in workerid and
 * execute_on_a_specific_worker.  Its workers meet, and take no other task meanwhile.  A
 * kernel of STARPU_FORKJOIN is called once, by the first of them, and may use the cores
 * of all; one of STARPU_SPMD is called by each.  (In simulation, where kernels run at
 * all, the first makes these calls one after the other: they cannot wait for each other.)
 * Models know a combined worker as an architecture with several cores.
 *
 * Without an initialised library there are none, and nothing is known of workers.
 */

/** Combined workers that there are. */
unsigned starpu_combined_worker_get_count(void);

/** Is this the number of one?  1 or 0. */
unsigned starpu_worker_is_combined_worker(int id);

/** In a parallel task: the number of the combined worker; elsewhere -1. */
int starpu_combined_worker_get_id(void);

/** In a parallel task: how many workers run it; in one of STARPU_FORKJOIN in a context
 * without a policy, those of the context; elsewhere 1. */
int starpu_combined_worker_get_size(void);

/** In a kernel of STARPU_SPMD: which of the calls this is, from 0 on; elsewhere 0. */
int starpu_combined_worker_get_rank(void);

/** The number of the combined worker with these CPU workers, made if it is new (StarPU
 * 1.3.10 makes another one of the same workers); -EINVAL
 * when they are none, -ERANGE when there are as many as there may be
 * (STARPU_NMAX_COMBINEDWORKERS).  Any thread. */
int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[]);

/** Its size and its workers, of the library's; each may be NULL.  0, or -EINVAL. */
int starpu_combined_worker_get_description(int workerid, int *worker_size,
					   int **combined_workerid);

/**
 * In push_task() or pop_task() of a policy of the application's (struct
 * starpu_sched_policy): the workers of a combined worker (or, with the number of a
 * worker, that one), or as many CPU workers as said, whichever, are to run this task,
 * which the policy was given, together.
 *
 * From then on starpu_task_dup() of the task returns aliases of it, as many as wanted.
 * The policy may change their fields and link them, and hands one to each worker: its
 * pop_task() returns it, or starpu_push_local_task().  (The task itself may take the
 * place of one.)  A worker that has popped one pops no other task; the kernel starts
 * when all have one, called as above, and the task ends as one.  Each worker calls the
 * policy's pre_exec_hook and post_exec_hook with its alias; where it does not call the
 * kernel it calls both when the kernel starts.  Then aliases with destroy 1 are freed;
 * others are the policy's, for starpu_task_destroy().  A task that did not get exclusion
 * of its data comes to push_task() again, and the policy begins anew.
 */
void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid);
void starpu_parallel_task_barrier_init_n(struct starpu_task *task, int worker_size);

/** Can all its workers, or the worker with that number, run the task? */
int starpu_combined_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
					    unsigned nimpl);

/** Does the worker take no tasks since it belongs to a parallel one, which another worker
 * leads?  1 or 0; both the same here: it waits whenever it does not call the kernel. */
unsigned starpu_worker_is_blocked_in_parallel(int workerid);
unsigned starpu_worker_is_slave_somewhere(int workerid);

/** Set *sched_ctx to the numbers of the contexts that the worker belongs to, in their
 * order, to be freed with free(); returns how many there are. */
unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx);

/** Make those that the schedulers would make in context 0: all CPU workers, and parts of
 * them by memory and in the order of their cores, see
 * STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER. */
void starpu_sched_find_all_worker_combinations(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_WORKER_H */
