/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Codelets and tasks.
 *
 * Unless a comment says otherwise a function may be called by any thread and
 * returns at once.  The functions that wait must not be called from a task or
 * a callback: doing so ends the process.
 *
 * A kernel, a callback and whatever else the library calls must return: longjmp() out of
 * it, an exception of C++ that leaves it or pthread_exit() ends the process, too.
 */

#ifndef STARPU_TASK_H
#define STARPU_TASK_H

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_perfmodel.h>
#include <starpu_task_dep.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;
struct starpu_profiling_task_info;
struct starpu_perf_counter_sample;
struct starpu_perf_counter_sample_cl_values;
struct starpu_transaction;

typedef struct _starpu_task_bundle *starpu_task_bundle_t;
typedef struct _starpu_trs_epoch *starpu_trs_epoch_t;

/*
 * Constants
 */

/** Bits of the field where: on which types of workers. */
#define STARPU_NOWHERE                         ((1ULL) << 0)
#define STARPU_WORKER_TO_MASK(worker_archtype) (1ULL << ((worker_archtype) + 1))

#define STARPU_CPU      STARPU_WORKER_TO_MASK(STARPU_CPU_WORKER)
#define STARPU_CUDA     STARPU_WORKER_TO_MASK(STARPU_CUDA_WORKER)
#define STARPU_HIP      STARPU_WORKER_TO_MASK(STARPU_HIP_WORKER)
#define STARPU_OPENCL   STARPU_WORKER_TO_MASK(STARPU_OPENCL_WORKER)
#define STARPU_MAX_FPGA STARPU_WORKER_TO_MASK(STARPU_MAX_FPGA_WORKER)
#define STARPU_MPI_MS   STARPU_WORKER_TO_MASK(STARPU_MPI_MS_WORKER)
#define STARPU_TCPIP_MS STARPU_WORKER_TO_MASK(STARPU_TCPIP_MS_WORKER)

/** In simulation call the kernel; it takes only the virtual time it asks for. */
#define STARPU_CODELET_SIMGRID_EXECUTE (1 << 0)
/** In simulation call the kernel; it takes the time that was measured. */
#define STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT (1 << 1)
/** Leave planned partitions of the data as they are. */
#define STARPU_CODELET_NOPLANS (1 << 2)

/** The kernel only queues work on its device; one flag per implementation. */
#define STARPU_CUDA_ASYNC   (1 << 0)
#define STARPU_HIP_ASYNC    (1 << 0)
#define STARPU_OPENCL_ASYNC (1 << 0)

/** Number of the main memory's node. */
#define STARPU_MAIN_RAM 0

/** Value of nbuffers when each task says how many it has. */
#define STARPU_VARIABLE_NBUFFERS (-1)

/**
 * Values of nodes[] besides node numbers: the memory of the worker that runs the task
 * (also SLOW and FAST: no worker has two of its own); main memory; the worker's if the
 * value is there, or not read, else main memory; nowhere: no copy is made, the kernel
 * gets NULL, and the value stays as and where it is.
 */
#define STARPU_SPECIFIC_NODE_LOCAL        (-1)
#define STARPU_SPECIFIC_NODE_CPU          (-2)
#define STARPU_SPECIFIC_NODE_SLOW         (-3)
#define STARPU_SPECIFIC_NODE_FAST         (-4)
#define STARPU_SPECIFIC_NODE_LOCAL_OR_CPU (-5)
#define STARPU_SPECIFIC_NODE_NONE         (-6)

/** Values of the deprecated single functions: look at the arrays. */
#define STARPU_MULTIPLE_CPU_IMPLEMENTATIONS    ((starpu_cpu_func_t)-1)
#define STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS   ((starpu_cuda_func_t)-1)
#define STARPU_MULTIPLE_HIP_IMPLEMENTATIONS    ((starpu_hip_func_t)-1)
#define STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS ((starpu_opencl_func_t)-1)

/** Values of the field type of a task. */
#define STARPU_TASK_TYPE_NORMAL       0
#define STARPU_TASK_TYPE_INTERNAL     (1 << 0)
#define STARPU_TASK_TYPE_DATA_ACQUIRE (1 << 1)

/** Parallel tasks: one core, all call the kernel, or the first one only. */
enum starpu_codelet_type { STARPU_SEQ = 0, STARPU_SPMD, STARPU_FORKJOIN };

enum starpu_task_status {
	STARPU_TASK_INIT, /* not submitted */
	STARPU_TASK_BLOCKED,
	STARPU_TASK_READY,
	STARPU_TASK_RUNNING,
	STARPU_TASK_FINISHED,
	STARPU_TASK_BLOCKED_ON_TAG,
	STARPU_TASK_BLOCKED_ON_TASK,
	STARPU_TASK_BLOCKED_ON_DATA,
	STARPU_TASK_STOPPED
};

/* Programs look for these names with #ifdef; the value is that of the enum. */
#define STARPU_TASK_INIT    STARPU_TASK_INIT
#define STARPU_TASK_INVALID STARPU_TASK_INIT

/*
 * Codelets
 */

/** Kernels: buffers[i] points to the interface of the i-th handle. */
typedef void (*starpu_cpu_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_cuda_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_hip_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_opencl_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_max_fpga_func_t)(void **buffers, void *cl_arg);
typedef int (*starpu_bubble_func_t)(struct starpu_task *t, void *arg);
typedef void (*starpu_bubble_gen_dag_func_t)(struct starpu_task *t, void *arg);

/**
 * What tasks of one sort have in common.  All zero is the default of every
 * field.  It may lie in read-only memory, when it declares its modes.  It must
 * outlive its tasks; one codelet may serve several threads.
 * The pragmas keep compilers quiet about implicit copies of the deprecated
 * fields; a program that names one is still told.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct starpu_codelet {
	uint32_t where; /* STARPU_CPU | ...; 0: those with an implementation */
	int (*can_execute)(unsigned workerid, struct starpu_task *task, unsigned nimpl);
	/* How several CPU workers run a task: see starpu_combined_worker_get_size(). */
	enum starpu_codelet_type type;
	int max_parallelism; /* most of them; 0 means 1 */
	starpu_cpu_func_t cpu_func STARPU_DEPRECATED;
	starpu_cuda_func_t cuda_func STARPU_DEPRECATED;
	starpu_opencl_func_t opencl_func STARPU_DEPRECATED;
	starpu_cpu_func_t cpu_funcs[STARPU_MAXIMPLEMENTATIONS];
	starpu_cuda_func_t cuda_funcs[STARPU_MAXIMPLEMENTATIONS];
	char cuda_flags[STARPU_MAXIMPLEMENTATIONS];
	starpu_hip_func_t hip_funcs[STARPU_MAXIMPLEMENTATIONS];
	char hip_flags[STARPU_MAXIMPLEMENTATIONS];
	starpu_opencl_func_t opencl_funcs[STARPU_MAXIMPLEMENTATIONS];
	char opencl_flags[STARPU_MAXIMPLEMENTATIONS];
	starpu_max_fpga_func_t max_fpga_funcs[STARPU_MAXIMPLEMENTATIONS];
	const char *cpu_funcs_name[STARPU_MAXIMPLEMENTATIONS];
	starpu_bubble_func_t bubble_func; /* no effect, as the next */
	starpu_bubble_gen_dag_func_t bubble_gen_dag_func;
	int nbuffers; /* or STARPU_VARIABLE_NBUFFERS */
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
	enum starpu_data_access_mode *dyn_modes; /* instead of modes when not NULL */
	/* 1: each buffer lies in the memory that nodes (dyn_nodes, when not NULL) says: a
	 * memory node that is no disk, or STARPU_SPECIFIC_NODE_*. */
	unsigned specific_nodes;
	int nodes[STARPU_NMAXBUFS];
	int *dyn_nodes;
	struct starpu_perfmodel *model;        /* microseconds; NULL: unknown */
	struct starpu_perfmodel *energy_model; /* joules */
	/* Executed tasks, by worker, unless STARPU_CODELET_PROFILING is 0 or the codelet
	 * is a constant: see starpu_codelet_display_stats(). */
	unsigned long per_worker_stats[STARPU_NMAXWORKERS];
	const char *name;
	unsigned color;                /* 0xRRGGBB; 0: unset; for traces, no effect */
	void (*callback_func)(void *); /* for tasks without one */
	int flags;                     /* STARPU_CODELET_... */
	/* The library's own. */
	struct starpu_perf_counter_sample *perf_counter_sample;
	struct starpu_perf_counter_sample_cl_values *perf_counter_values;
	int checked;
};
#pragma GCC diagnostic pop

/**
 * A codelet without data whose kernels do nothing and take no time: its field model is
 * starpu_perfmodel_nop.  A program may change it, its nbuffers and modes for instance.
 */
extern struct starpu_codelet starpu_codelet_nop;

/** The kernel of starpu_codelet_nop. */
void starpu_codelet_nop_func(void *descr[], void *arg);

/** Set every field to its default; a codelet in zeroed memory needs no call. */
void starpu_codelet_init(struct starpu_codelet *cl);

/** Print on standard error how many tasks each worker executed. */
void starpu_codelet_display_stats(struct starpu_codelet *cl);

/*
 * Tasks
 */

/**
 * One execution of a codelet.  The application fills it before submission and
 * does not touch it until its end, except through functions.
 */
struct starpu_task {
	const char *name; /* NULL: that of the codelet, or of its model */
	const char *file; /* kept as they are */
	int line;
	struct starpu_codelet *cl;         /* NULL: only dependencies and callbacks */
	int32_t where;                     /* as in the codelet; -1: ask the codelet */
	int nbuffers;                      /* for STARPU_VARIABLE_NBUFFERS */
	starpu_data_handle_t *dyn_handles; /* instead of handles when not NULL */
	void **dyn_interfaces;
	enum starpu_data_access_mode *dyn_modes;
	starpu_data_handle_t handles[STARPU_NMAXBUFS];
	void *interfaces[STARPU_NMAXBUFS];
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
	/* As in the codelet, in whose place they are where specific_nodes is 1.  Chars,
	 * as all tasks that wait have them. */
	signed char nodes[STARPU_NMAXBUFS];
	int *dyn_nodes; /* freed with the task */
	/* One per buffer, overrides the handle's flag; must last until submitted. */
	unsigned char *handles_sequential_consistency;
	void *cl_arg;
	size_t cl_arg_size;
	void *cl_ret;
	size_t cl_ret_size;
	/* After the kernel, before the dependents are released. */
	void (*epilogue_callback_func)(void *);
	void *epilogue_callback_arg;
	/* After the dependents are released. */
	void (*callback_func)(void *);
	void *callback_arg;
	/* When the task becomes ready. */
	void (*prologue_callback_func)(void *);
	void *prologue_callback_arg;
	/* On the worker, before the data are fetched. */
	void (*prologue_callback_pop_func)(void *);
	void *prologue_callback_pop_arg;
	struct starpu_transaction *transaction; /* see starpu_transaction_open() */
	starpu_trs_epoch_t trs_epoch;           /* the library's own */
	starpu_tag_t tag_id;                    /* when use_tag is 1 */
	/* Whether free() is called on the argument when the task is destroyed. */
	unsigned cl_arg_free : 1;
	unsigned cl_ret_free : 1;
	unsigned callback_arg_free : 1;
	unsigned epilogue_callback_arg_free : 1;
	unsigned prologue_callback_arg_free : 1;
	unsigned prologue_callback_pop_arg_free : 1;
	unsigned use_tag : 1;
	unsigned sequential_consistency : 1; /* 0: no implicit dependencies */
	unsigned synchronous : 1;            /* submission waits for the end */
	unsigned execute_on_a_specific_worker : 1;
	unsigned specific_nodes : 1;
	unsigned detach : 1;         /* nobody will wait for it */
	unsigned destroy : 1;        /* freed by the library after its end */
	unsigned regenerate : 1;     /* submitted again at its end */
	unsigned no_submitorder : 1; /* no effect: nothing depends on that number */
	unsigned char mf_skip;       /* no effect */
	unsigned char failed;        /* by starpu_task_ft_failed() */
	unsigned char scheduled;     /* a policy of the application's was given it */
	unsigned char prefetched;    /* no effect */
	unsigned workerid;           /* for execute_on_a_specific_worker */
	/* 0: none; from 1: with a fixed worker, the place in the order of the worker's
	 * tasks that have one: each starts after all before it. */
	unsigned workerorder;
	uint32_t *workerids; /* bit set of allowed workers, 32 in a word */
	unsigned workerids_len;
	int priority;                   /* larger first */
	enum starpu_task_status status; /* the library's to set */
	int magic;                      /* 42 */
	unsigned type;                  /* STARPU_TASK_TYPE_*; no effect */
	unsigned color;                 /* for traces, no effect */
	unsigned sched_ctx;             /* STARPU_NMAX_SCHED_CTXS: the thread's own */
	int hypervisor_tag;             /* for starpu_sched_ctx_hypervisor.h */
	unsigned possibly_parallel;     /* no effect */
	starpu_task_bundle_t bundle;    /* see starpu_task_bundle_insert() */
	/* When profiling is on; freed with the task. */
	struct starpu_profiling_task_info *profiling_info;
	double flops; /* for rates, and what contexts have ready */
	/* Microseconds: by the policies dm*, how long kernel and transfers are expected
	 * to take where they put it; else, as the third, kept as they are. */
	double predicted;
	double predicted_transfer;
	double predicted_start;
	/* Of a list, for policies while they have the task. */
	struct starpu_task *prev;
	struct starpu_task *next;
	void *starpu_private; /* the library's own */
	/* Without effect, as what hierarchical tasks need below. */
	void *omp_task;
	unsigned long bubble_parent;
	starpu_bubble_func_t bubble_func;
	void *bubble_func_arg;
	starpu_bubble_gen_dag_func_t bubble_gen_dag_func;
	void *bubble_gen_dag_func_arg;
	unsigned nb_termination_call_required;
	void *sched_data; /* the policy's */
};

/** Initialiser of a task that is not made by starpu_task_create. */
#define STARPU_TASK_INITIALIZER                                                          \
	{                                                                                \
		.where = -1, .sequential_consistency = 1, .detach = 1, .priority = 0,    \
		.status = STARPU_TASK_INIT, .magic = 42,                                 \
		.sched_ctx = STARPU_NMAX_SCHED_CTXS, .predicted = NAN,                   \
		.predicted_transfer = NAN, .predicted_start = NAN,                       \
	}

/** Number of buffers of a task with a codelet. */
#define STARPU_TASK_GET_NBUFFERS(task)                                                   \
	((unsigned)((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS                     \
			    ? (task)->nbuffers                                           \
			    : (task)->cl->nbuffers))

#define STARPU_TASK_GET_HANDLES(task)                                                    \
	((task)->dyn_handles ? (task)->dyn_handles : (task)->handles)
#define STARPU_TASK_GET_HANDLE(task, i) (STARPU_TASK_GET_HANDLES(task)[i])
#define STARPU_TASK_SET_HANDLE(task, handle, i)                                          \
	do {                                                                             \
		STARPU_TASK_GET_HANDLES(task)[i] = (handle);                             \
	} while (0)

/* Element i of the array dyn, or of the array of STARPU_NMAXBUFS if dyn is NULL. */
#define STARPU_ELEMENT_(dyn, array, i)                                                   \
	(*((dyn) ? &(dyn)[i] : (assert((i) < STARPU_NMAXBUFS), &(array)[i])))

#define STARPU_CODELET_GET_MODE(codelet, i)                                              \
	(STARPU_ELEMENT_((codelet)->dyn_modes, (codelet)->modes, i))
#define STARPU_CODELET_SET_MODE(codelet, mode, i)                                        \
	do {                                                                             \
		STARPU_ELEMENT_((codelet)->dyn_modes, (codelet)->modes, i) = (mode);     \
	} while (0)
#define STARPU_CODELET_GET_NODE(codelet, i)                                              \
	(STARPU_ELEMENT_((codelet)->dyn_nodes, (codelet)->nodes, i))
#define STARPU_CODELET_SET_NODE(codelet, node, i)                                        \
	do {                                                                             \
		STARPU_ELEMENT_((codelet)->dyn_nodes, (codelet)->nodes, i) = (node);     \
	} while (0)

/** Memory of buffer i: what the task says when it has specific_nodes, else the codelet.
 */
#define STARPU_TASK_GET_NODE(task, i)                                                    \
	((task)->specific_nodes                                                          \
		 ? ((task)->dyn_nodes                                                    \
			    ? (task)->dyn_nodes[i]                                       \
			    : STARPU_ELEMENT_((signed char *)0, (task)->nodes, i))       \
		 : STARPU_CODELET_GET_NODE((task)->cl, i))
/** Set it in the task, which heeds it when its specific_nodes is 1. */
#define STARPU_TASK_SET_NODE(task, node, i)                                              \
	do {                                                                             \
		if ((task)->dyn_nodes)                                                   \
			(task)->dyn_nodes[i] = (node);                                   \
		else                                                                     \
			STARPU_ELEMENT_((signed char *)0, (task)->nodes, i) =            \
				(signed char)(node);                                     \
	} while (0)

/** Mode of buffer i: the task's when it has its own, else the codelet's. */
#define STARPU_TASK_GET_MODE(task, i)                                                    \
	((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS || (task)->dyn_modes           \
		 ? STARPU_ELEMENT_((task)->dyn_modes, (task)->modes, i)                  \
		 : STARPU_CODELET_GET_MODE((task)->cl, i))
/** Set it in the task when it has its own, else check that the codelet agrees. */
#define STARPU_TASK_SET_MODE(task, mode, i)                                              \
	do {                                                                             \
		if ((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ||                  \
		    (task)->cl->nbuffers > STARPU_NMAXBUFS)                              \
			STARPU_ELEMENT_((task)->dyn_modes, (task)->modes, i) = (mode);   \
		else                                                                     \
			STARPU_ASSERT(STARPU_CODELET_GET_MODE((task)->cl, i) == (mode)); \
	} while (0)

/**
 * Set every field to its default, as STARPU_TASK_INITIALIZER does, destroy to 0, too.
 * A task of starpu_task_create() stays one; it must have ended if it was submitted.
 */
void starpu_task_init(struct starpu_task *task);

/** Free what the library attached to a task, for a new submission or its end. */
void starpu_task_clean(struct starpu_task *task);

/** A new task with the default fields, destroyed by the library after its end.  Any
 * time, but for the life of the library that is or comes next. */
struct starpu_task *starpu_task_create(void);

/** A new task without codelet that accesses handle in mode; not submitted. */
struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
					    enum starpu_data_access_mode mode);

/**
 * Free a task made by starpu_task_create and the arguments it owns.  It must
 * have ended or never have been submitted, and not be destroyed by the library.  In
 * the task's own callback it is freed when that has returned.
 */
void starpu_task_destroy(struct starpu_task *task);

/**
 * Set the field destroy of a submitted task, until its end, in its own callback too;
 * one that has ended is freed now.
 */
void starpu_task_set_destroy(struct starpu_task *task);

/** A new task with the same public fields and a life of its own; of a parallel task in a
 * policy of the application's an alias, see starpu_parallel_task_barrier_init().  Of an
 * argument that is freed with the task (cl_arg_free) whose cl_arg_size is set it has a
 * copy; others, as those of callbacks, remain the first task's, and must outlive it. */
struct starpu_task *starpu_task_dup(struct starpu_task *task);

/**
 * Hand the task to the library, which starts it when its dependencies allow.
 * Returns at once, unless the task is synchronous or a limit on the number of
 * submitted tasks is reached.  A mistake in the task ends the process.
 *
 * @return 0; -ENODEV: no worker can execute it, and it still belongs to the caller
 */
int starpu_task_submit(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;

/**
 * Submit a task that neither waits for its data's other users nor holds them back, on
 * behalf of one that holds them, from that one's prologue for instance.
 *
 * @return as starpu_task_submit
 */
int starpu_task_submit_nodeps(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;

/** Whether a task with detach 0 has ended; 0 for one that was not submitted.  A detached
 * one ends the program with a message: it may be gone. */
int starpu_task_finished(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;

/**
 * Wait for the end of a task with detach 0, at most once per submission; one
 * with the field destroy is freed.  Blocking.
 *
 * @return 0; -EINVAL: the task is detached or synchronous
 */
int starpu_task_wait(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;

/** The same for nb_tasks tasks; the first result that is not 0, else 0. */
int starpu_task_wait_array(struct starpu_task **tasks,
			   unsigned nb_tasks) STARPU_WARN_UNUSED_RESULT;

/** Wait for the end, callbacks included, of all submitted tasks; of a thread that called
 * starpu_sched_ctx_set_context(), all of that context.  Blocking; returns 0.  It and the
 * two below return at once without an initialised library. */
int starpu_task_wait_for_all(void);

/** The same of one context, or until at most n of its tasks have not ended. */
int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id);
int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n);

/** Submit the task to a context: see starpu_sched_ctx_create(). */
int starpu_task_submit_to_ctx(struct starpu_task *task,
			      unsigned sched_ctx_id) STARPU_WARN_UNUSED_RESULT;

/** Wait until at most n submitted tasks have not ended; blocking; returns 0. */
int starpu_task_wait_for_n_submitted(unsigned n);

/** Wait until no task is ready or running; blocking; returns 0. */
int starpu_task_wait_for_no_ready(void);

/** Number of tasks that are ready or running; any time. */
int starpu_task_nready(void);

/** Number of submitted tasks that have not ended; any time. */
int starpu_task_nsubmitted(void);

/** Let a submission that reached the upper limit go on when limit_min tasks are left. */
void starpu_set_limit_min_submitted_tasks(int limit_min);

/** Let submissions wait while this many tasks have not ended; 0: no limit. */
void starpu_set_limit_max_submitted_tasks(int limit_min);

/** Attach a number to the tasks submitted from now on, for traces; without effect until
 * there are traces. */
void starpu_iteration_push(unsigned long iteration);

/** Undo the last starpu_iteration_push. */
void starpu_iteration_pop(void);

/** Ask the schedulers to decide now about the tasks that they hold back; of ours none
 * does, a policy of the application's has its do_schedule() called. */
void starpu_do_schedule(void);

/**
 * Tasks that are tried until they succeed.  Give starpu_task_ft_prologue as
 * prologue_callback_func: when its turn has come the task itself, the meta task, runs
 * nowhere but keeps its data, and a copy of it is the first try.  A kernel that finds
 * that it failed says so with starpu_task_ft_failed().  At the end of each try check_ft
 * is called as its callback, starpu_task_get_current() being the try: it calls
 * starpu_task_ft_success(), or submits one more try with starpu_task_submit_nodeps().
 * prologue_callback_arg is that function; NULL: it tries again until no try has failed.
 * Only for data in mode STARPU_R, STARPU_W or STARPU_SCRATCH, used in the order of
 * submission; the rest ends the program with a message.
 */
void starpu_task_ft_prologue(void *check_ft);

/** A copy of template_task, the meta task or a try, that calls check_ft(meta_task) at its
 * end; NULL: as above.  It is freed at its end. */
struct starpu_task *starpu_task_ft_create_retry(const struct starpu_task *meta_task,
						const struct starpu_task *template_task,
						void (*check_ft)(void *));

/** The task has failed: sets failed.  From its kernel. */
void starpu_task_ft_failed(struct starpu_task *task);

/** The meta task ends, and its data and successors go on. */
void starpu_task_ft_success(struct starpu_task *meta_task);

/**
 * Transactions: tasks in epochs.  At the beginning of each, when the tasks of the epoch
 * before have ended, a CPU worker calls do_start_func(buffer, do_start_arg), where buffer
 * is the empty list of buffers of the task that calls it.  0: the kernels of the epoch's
 * tasks do not run, which leaves their data as they are; all else that tasks do and cause
 * happens, in no time in simulation.  STARPU_TRANSACTION of starpu_task_insert() and
 * starpu_task_build() gives a task to the present epoch.
 *
 * These are called for a transaction by one thread at a time, and do not wait.  Open
 * begins the first epoch, and returns NULL when no CPU worker exists; next_epoch begins
 * the next one; close frees the transaction, whose tasks go on.  A closed one that is
 * used ends the program, with a message as long as it is among the last 16 closed.
 */
struct starpu_transaction *starpu_transaction_open(int (*do_start_func)(void *buffer,
									void *arg),
						   void *do_start_arg);
void starpu_transaction_next_epoch(struct starpu_transaction *p_trs, void *do_start_arg);
void starpu_transaction_close(struct starpu_transaction *p_trs);

/** The task that the calling thread executes, NULL outside. */
struct starpu_task *starpu_task_get_current(void);

/** Memory node of buffer i of that task, -1 outside. */
int starpu_task_get_current_data_node(unsigned i);

/** Symbol of the task's model, else its codelet's name, else NULL. */
const char *starpu_task_get_model_name(struct starpu_task *task);

/** The task's name, else its codelet's, else its model's symbol, else "unknown". */
const char *starpu_task_get_name(struct starpu_task *task);

/** Number of the task in traces, from 1, never used twice. */
unsigned long starpu_task_get_job_id(struct starpu_task *task);

/** The chosen implementation. */
unsigned starpu_task_get_implementation(struct starpu_task *task);

/** Of a scheduling policy: the implementation that the worker is to run. */
void starpu_task_set_implementation(struct starpu_task *task, unsigned impl);

/** Submit a task that only calls callback(callback_arg). */
void starpu_create_callback_task(void (*callback)(void *), void *callback_arg);

/**
 * Submit an empty task that carries sync_tag and waits for the ndeps tags of deps;
 * callback, which may be NULL, runs when they are all reached.
 */
void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps,
			     void (*callback)(void *), void *callback_arg);

/** Let hook(hook_arg) be called, in a thread of the library, instead of the message of
 * STARPU_WATCHDOG_TIMEOUT; NULL: the message.  Any time, for all lives of the library. */
void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg);

/** The name of the constant, "STARPU_TASK_READY" for instance. */
char *starpu_task_status_get_as_string(enum starpu_task_status status);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_TASK_H */
