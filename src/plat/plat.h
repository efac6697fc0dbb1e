/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_PLAT_H
#define ORR_PLAT_PLAT_H

/*
 * plat.h - what a backend must implement: the contract below the runtime.
 *
 * Three backends exist: src/real (threads and Open MPI), src/sim (SMPI) and
 * tests/fake (virtual time, one thread).  A program links exactly one.
 *
 * Rules that hold everywhere:
 * - Whatever is started ends with exactly one callback, never from inside the
 *   call that starts it.  The exceptions say so: a worker's execute() and a
 *   memory's copy() may report "already done" instead of calling back.
 * - Only plat_gate_wait() blocks, and plat_worker_drive().
 * - A struct handed over with a buffer belongs to the backend until its callback.
 * - Callbacks run on a runtime thread (real) or in the calendar (sim, fake); they
 *   must not call plat_gate_wait().
 *
 * plat_inline.h, found through the include path, completes this header with what
 * must cost nothing: locks, atomics, the clock, the gate.  It defines
 *   struct orr_lock; orr_lock_init(l), orr_lock(l), orr_trylock(l) (1: taken),
 *     orr_unlock(l)   spin locks held for less than a microsecond;
 *   orr_next(uint64_t *p)       atomic increment, returns the new value, no order;
 *   orr_count(const uint64_t *p)    what orr_next() has counted, no order;
 *   orr_note(uint64_t *p, uint64_t v)   set such a counter, which nobody else changes;
 *   orr_load_short(const uint16_t *p), orr_store_short(p, v)   the same of 16 bits;
 *   orr_add(int *p, int v)      atomic add, returns the new value;
 *   orr_load(const int *p)      the value, after what was written before its store;
 *   orr_store(int *p, int v)    release only: what the thread loads next may be older;
 *   orr_cas(int *p, int old, int new)                   1 when it was swapped;
 *   orr_load_ptr(p), orr_swap_ptr(p, v), orr_cas_ptr(p, old, new)  on void **;
 *   orr_fence()                 full barrier: between orr_store() and a load of what
 *                               another thread stores before it looks at ours;
 *   all but orr_store(), orr_next(), orr_count(), orr_note() and those of 16 bits are
 *   sequentially consistent: a load after orr_add(), orr_cas() or orr_swap_ptr() needs
 *   no fence;
 *   plat_self_at_once()   plat_self(), or NULL where it takes longer to find out;
 *   plat_now_s(plat)      seconds since an origin shared by all nodes;
 *   plat_look_s(plat)     the same, for the application: a thread that does nothing but
 *                         look at the clock sees time pass in sim, too;
 *   plat_here_s(plat)     the same, and what the calling callback has worked and slept so
 *                         far: it ends so late in sim;
 *   plat_charge(plat, s)  the calling user thread worked s seconds in the runtime:
 *                         adds simulated time in sim, nothing elsewhere;
 *   plat_charge_lightly(plat, s)  the same, or 0 if it takes more than a line to do so;
 *   plat_owe(plat, s)     the same, but time passes later: any lock may be held;
 *   plat_effort_s(plat)   seconds that the host has worked for this thread, where its own
 *                         time may be charged: in sim; else 0;
 *   plat_thread()         who calls: differs between threads, where there are several;
 *                         NULL: an event of the simulation, which can wait for nothing;
 *   struct plat_gate      see below; plat_gate_is_open(gate) looks without waiting.
 */
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "base/heap.h"
#include "plat/calls.h"

struct copy_piece;
struct disk;
struct job;
struct device_type;
struct layout;
struct node;
struct plat;
struct plat_gate;
struct worker;
struct world;

/* ---- life ------------------------------------------------------------ */

struct memory_driver;
struct worker_driver;

/* What kernels with a word in their name reach where nobody measured them. */
struct plat_kernel {
	char word[16];
	double efficiency; /* part of the peak, above 0 */
	double root_s;     /* and for the cube root of its operations */
};

enum { PLAT_MAX_KERNELS = 8 };

struct plat_kernels {
	int n;
	struct plat_kernel each[PLAT_MAX_KERNELS];
};

/* What the machine says of a GPU's kernels, where their names tell them apart. */
struct plat_gpu_kernels {
	struct plat_kernels slow;
	/* Seconds that the driver needs to launch one, and from the end of one to the
	 * begin of the next. */
	double launch_s, gap_s;
	/* For these it needs a part of their own time (efficiency) and seconds (root_s)
	 * more. */
	struct plat_kernels launches;
};

/* How fast a device of one kind is, and its links; 0: unknown, or none. */
struct plat_pace {
	double peak_flops_per_s[2]; /* [0] 4-byte, [1] 8-byte */
	double speedup;             /* kernels take their time divided by it; 0: 1 */
	double link_bytes_per_s, link_latency_s; /* from main memory */
	double peer_bytes_per_s; /* of its links to other devices, each direction */
	struct plat_gpu_kernels *kernels; /* NULL: nothing is said of them */
};

/* One of several devices of a type that are not all alike; where a device has several
 * workers, as a slave has cores, one of these. */
struct plat_device {
	int id;    /* as the system and the application count the devices */
	int index; /* of the worker in the device; the first one's is 0 */
	char model[64], bus[24];
	double total_bytes;  /* it has; 0: unknown, */
	double memory_bytes; /* and gives the node; 0: no limit known */
	/* Of another node of this process: tasks last here as they do there; or NULL. */
	struct worker *like;
	const struct device_type *kind; /* its row of core/device.h; NULL: the type's */
	const struct plat_pace *pace;   /* one for all of its kind; NULL: the type's */
};

/* A machine's devices of one type that may run kernels: cores, GPUs. */
struct plat_devices {
	int count;         /* that may have workers: first rows of each */
	int nothers;       /* rows behind these: those that were not chosen */
	int nworkers_each; /* alike, of one of them; 0 is 1 */
	const struct plat_device *each; /* NULL: numbered from 0, and alike */
	const struct worker_driver *worker;
	const struct memory_driver *memory; /* main memory's, for cores */
	char model[64];
	double memory_bytes;   /* of one with its own memory; 0: no limit known */
	struct plat_pace pace; /* of those of which each has none */
};

/* A memory that no worker works on, such as a disk: beside main memory, or behind it. */
struct plat_memory {
	const struct memory_driver *driver;
	int kind;          /* enum starpu_node_kind */
	const char *name;  /* of the kind, as in StarPU's files: "Disk" */
	double bytes;      /* 0: no limit known */
	struct disk *disk; /* core's, of a disk that the application registers */
};

enum { PLAT_MAX_MEMORIES = 8 };

/*
 * What calls of the library take its callers, where that passes as time (plat_charge()):
 * a task that runs here, each of its data, one that runs elsewhere, a message, a value
 * that an insertion sends or receives.
 */
struct plat_costs {
	double submit_s, datum_s, insert_s, post_s, exchange_s;
};

/* A part of main memory, near to some of the processors; see STARPU_USE_NUMA. */
struct plat_numa {
	int os_index;
	double bytes; /* 0: no limit known */
};

/*
 * What one node's machine offers, and how time and progress are on it; filled by
 * plat_open(), then constant.  Shared code asks for these, never which backend it has.
 */
struct plat_machine {
	int executes; /* kernels really run, so payloads really exist */
	/* Kernels last as models say that were measured elsewhere, under the names of the
	 * devices; 0: they are measured here, under the host's name. */
	int predicts;
	/* The clock moves only while threads wait: who asks in a loop must sleep. */
	int leaps;
	/* Ends a run that can never go on, after stuck_describe() of each node, during
	 * which nothing else runs; calls node->on_stuck first. */
	int ends_standstills;
	/* A thread of the library polls when nobody else does (see plat_set_poll()), */
	int polls_itself;
	int polling_pu; /* the logical hardware thread that the user gave it, or -1 */
	/* All nodes of the run are in this process: one environment for all. */
	int one_environment;
	/* Of the nodes that were started together the first, or the only one: it says
	 * what concerns all. */
	int is_first;
	/* What happens on a node happens on one thread, or on several that take turns and
	 * give them up only where they wait. */
	int takes_turns;
	/* Policies are to steal as StarPU's do where these are known to differ, so that a
	 * run predicts StarPU's. */
	int steals_as_starpu;
	/* Copies between devices take other times from one than from another: a value
	 * comes from where it is nearest, not from the first memory that has it. */
	int ways_differ;
	/* A kernel may wait: it has a thread, or what stands for one. */
	int kernels_wait;
	struct plat_costs costs;
	char hostname[128];
	/* Whose clock plat_now_s() reads: nodes that name the same one may compare dates;
	 * NULL: all nodes of the run do. */
	const char *clock;
	struct plat_devices devices[STARPU_NARCH]; /* by enum starpu_worker_archtype */
	/* Numbered after those of the devices. */
	struct plat_memory memories[PLAT_MAX_MEMORIES];
	int nmemories;
	/* Main memory is so many memories, the first ones, all of them its driver's: at
	 * least one.  What they are is known where there are several. */
	int nnumas;
	struct plat_numa numas[STARPU_MAXNUMANODES];
};

/* May the calling thread open anything?  0, or -ENODEV after a message.  Takes no lock:
 * threads that the backend does not know may come at once. */
int plat_may_open(void);
/*
 * Open the calling rank's view of its machine.  Reads node_knobs(node).  The
 * calling thread becomes the node's user thread.  Returns 0 or -ENODEV.
 */
int plat_open(struct plat **plat, struct node *node);
void plat_close(struct plat *plat);
const struct plat_machine *plat_machine(const struct plat *plat);
/* The node that opened it. */
struct node *plat_node(const struct plat *plat);
/* End the calling rank as exit() does in its main: what comes behind is another's. */
void plat_leave(int code);

/*
 * The node of the calling thread, NULL when none was set.  In sim, inside a
 * callback, it is the node that the callback belongs to.
 */
struct node *plat_self(void);
void plat_set_self(struct node *node);

/* Where the process keeps its one struct world; NULL inside when there is none. */
struct world **plat_world(void);

/*
 * True of the backend, before any node is open: does it simulate, what is the time on
 * the clock of plat_now_s(), and which of the process's ranks is calling?  A seat is the
 * same number whenever that rank calls from its main.
 */
int plat_is_simulated(void);
double plat_clock_s(void);
uint64_t plat_seat(void);

/* From now on, when the process ends by exit() while the node is open, or by a signal if
 * those are caught: call last(node) before it does; on any thread, perhaps in the
 * signal's handler. */
void plat_at_end(struct plat *plat, void (*last)(struct node *node));
/* Those of the process are, or are not. */
void plat_catch_signals(struct plat *plat, int is_wanted);

/* ---- time ------------------------------------------------------------ */

struct plat_timer {
	struct heap_entry entry; /* the backend's */
	struct plat *plat;       /* the backend's */
	void (*fire)(struct plat_timer *timer);
	union {
		/* It changes nothing: who waits must not count on it; real only. */
		int is_idle;
		struct plat_timer *next; /* simulation's, see sim/dates.h */
	};
};

/* Call timer->fire once, delay_s seconds from now (0: as soon as possible).  The
 * timer, zeroed but for fire and is_idle, belongs to the backend until then.  Any thread.
 */
void plat_after(struct plat *plat, struct plat_timer *timer, double delay_s);

/* Block the calling user thread for a time; simulated time in sim.  plat is NULL while
 * the caller has no node. */
void plat_sleep(struct plat *plat, double seconds);
/* Let other threads have the core; no time passes in sim. */
void plat_yield(struct plat *plat);
/* Let 1 us pass between two fruitless polls of a thread, where time stands still while it
 * computes: one that goes on for ever is found in simulation. */
void plat_pause(struct plat *plat);
/* The caller has asked whether something has come, and it has not: a loop of these waits.
 * In sim time passes for who asks often and submits nothing meanwhile; in real messages
 * move where only threads of the program move them. */
void plat_looked(struct plat *plat);
/* A user thread has looked in vain for so long that it may wait for what another node
 * holds back: call node->on_stuck of all nodes of the process, some time soon.  On a real
 * machine the watchdog looks, too, as for who waits. */
void plat_unstick(struct plat *plat);

/* ---- waiting --------------------------------------------------------- */

/*
 * A gate is opened once and waited for by one user thread.  It lives on the
 * waiter's stack or in its request: plat_gate_open() does not touch it after it
 * let the waiter go.  While it waits, the thread helps: it calls the poll function.
 * Returns 0, or -EDEADLK where the backend knows that nothing can ever open it
 * (fake); sim then ends the run with stuck_describe() of all ranks.
 */
void plat_gate_init(struct plat_gate *gate);
int plat_gate_wait(struct plat *plat, struct plat_gate *gate);
void plat_gate_open(struct plat *plat, struct plat_gate *gate);

/*
 * Who needs to be polled for progress: one function per node, called by waiting
 * threads, idle workers and the progress thread, one thread at a time or several
 * (it locks itself).  poll returns > 0: something advanced; 0: nothing now, but
 * something may arrive; < 0: nothing can arrive before the next plat_poll_kick().
 */
void plat_set_poll(struct plat *plat, int (*poll)(void *arg), void *arg);
void plat_poll_kick(struct plat *plat);

/* What is known of the process of a rank of the net. */
enum plat_sight {
	PLAT_IS_FAR,    /* nothing: it runs elsewhere */
	PLAT_IS_BARRED, /* nothing, although it is of this machine */
	PLAT_HEARS,     /* that it ends, when it does */
	PLAT_SEES       /* all that the system tells */
};
enum plat_sight plat_sees(struct plat *plat, int rank);
/* Does the system say that a rank of the net was stopped by a signal, and not by a
 * debugger?  0 also when it cannot say, for a rank elsewhere for instance. */
int plat_is_stopped(struct plat *plat, int rank);
/* Is it known that the process of a rank of the net is no more? */
int plat_has_ended(struct plat *plat, int rank);
/* For how long, in seconds, its machine has not answered: it has failed, or the network.
 * 0: that is not so, or too short, or not known. */
double plat_is_cut_s(struct plat *plat, int rank);
/* The call of MPI that a thread of the program's has been in for so long, when the node
 * has nothing else to do; PLAT_NO_CALL: none, or that is not known. */
enum plat_mpi_call plat_in_mpi(struct plat *plat, double *for_s);

/* ---- workers --------------------------------------------------------- */

/*
 * Run the workers: call worker_step() of each until it returns 0, then leave it
 * until plat_worker_wake().  In real, one bound thread each; in sim, an event.
 * Before a worker sleeps it is marked worker->parked and stepped once more, so a
 * wake-up between the two is never lost.
 */
int plat_workers_start(struct plat *plat, struct worker *workers, int nworkers);
/*
 * A worker with worker->driven set is run by nobody but inside this call, on the calling
 * user thread or while that one is blocked; one call at a time.  once: at most one task,
 * to its end; returns at once when there is nothing to do, but in sim and fake not
 * without some time having passed.  Otherwise: until worker_is_dismissed().  It is never
 * parked outside of the latter.  0, or -EDEADLK as plat_gate_wait().
 */
int plat_worker_drive(struct worker *worker, int once);
/* All workers are idle.  Returns when none runs any more. */
void plat_workers_stop(struct plat *plat);
/* Any thread; cheap when the worker is not parked.  1 when it was parked. */
int plat_worker_wake(struct worker *worker);
/* The worker on behalf of which the calling thread runs, or NULL. */
struct worker *plat_current_worker(struct plat *plat);

/*
 * What the calling thread does for the runtime, core's to use; zeroed at first, but for
 * worker and is_runtime.  One for each worker (struct worker has it), one for each other
 * thread; in sim one for what runs without either, in fake one for all but the workers.
 */
struct plat_caller {
	struct worker *worker;    /* as plat_current_worker() */
	struct starpu_task *task; /* in whose kernel or callback the thread is */
	int depth;                /* callbacks that it is in */
	int nending;              /* ends of requests that it is in, for mpi/finish.h */
	struct wait *wait;        /* core/wait.h: the innermost, or NULL */
	unsigned char is_runtime; /* no thread of the application */
	unsigned char is_late;    /* it runs the jobs that were put off */
	unsigned char has_room;   /* what it allocates has been counted */
	unsigned char hook;       /* that it is in; see core/hooks.c */
	unsigned char nruns;      /* of jobs, in one another; core/task/callback.h */
	/* One more than the context that its tasks go to; 0: as these say. */
	unsigned char context;
	unsigned char has_asked; /* policies to decide, for the wait that follows */
	struct job *later, *later_last;  /* put off until depth is 0 */
	struct outside *outside;         /* core/outside.h: the innermost, or NULL */
	const struct telling_view *view; /* core/sched/telling.h: the innermost */
};

struct plat_caller *plat_caller(struct plat *plat);

/* What a kind of worker can do; constant, the backend's. */
struct worker_driver {
	/* On the worker's thread, before its first step; NULL: nothing. */
	void (*begin)(struct worker *worker);
	/*
	 * Run job: call its kernel (real; sim with executes), or let its expected
	 * duration pass (sim).  Returns 1 when it is done already, with job->duration_s
	 * set; 0 when worker_executed(worker, job) will be called.
	 */
	int (*execute)(struct worker *worker, struct job *job);
	/* An execute() has returned 0: may the next one be called before that has ended?
	 * NULL: no. */
	int (*may_queue)(const struct worker *worker);
	/* The worker has tasks: may it take one more?  NULL: up to its depth. */
	int (*may_take)(const struct worker *worker);
	/* Look for ends: > 0: worker_executed() was called; 0: something still runs; < 0:
	 * nothing does.  Real's own; NULL: nothing ever does. */
	int (*poll)(struct worker *worker);
	/* It is not the backend's: plat_worker_ended() says that a job has ended. */
	int is_remote;
};

/* A job that a remote driver executes has ended: worker_executed() is called soon, where
 * the worker's steps are.  Any thread. */
void plat_worker_ended(struct worker *worker, struct job *job);

/* ---- memory and copies ----------------------------------------------- */

/* A copy of one datum between two memories of a node. */
struct plat_copy {
	unsigned from, to;
	size_t bytes;
	void *from_interface, *to_interface;
	const struct starpu_data_copy_methods *methods;
	void (*done)(struct plat_copy *copy);
	void *owner;
	/* A disk that cannot take the bytes sets error (-errno) before done(), instead of
	 * ending the program: nothing is there then. */
	int may_fail, error;
	struct copy_piece *pieces; /* core's: see methods_start() */
	/* CUDA's, for methods that start copies themselves; set before methods_start().
	 */
	void *stream;
	void *backend[6]; /* the backend's, while it owns the copy */
};

/* What a kind of memory can do; constant, the backend's. */
struct memory_driver {
	/*
	 * Memory number memory of the node.  Returns NULL when there is no room.  In sim
	 * without executes the address is valid and distinct, but costs nothing until it
	 * is touched.  Memory may be freed after its node is closed (plat NULL); a main
	 * memory's release() takes malloc()'s and other main memories' as well.  bytes 0:
	 * unknown.
	 */
	void *(*allocate)(struct plat *plat, unsigned memory, size_t bytes);
	void (*release)(struct plat *plat, unsigned memory, void *ptr, size_t bytes);
	/* Main memory's: what was just allocated is a datum's, so that who fills it meets
	 * pages that nobody has touched.  NULL: the system sees to it. */
	void (*is_new)(struct plat *plat, size_t bytes);
	/* Main memory's: the content of an allocated block means nothing from now on (1):
	 * its pages may be the same ones; or is about to be released (0).  NULL: a block
	 * is memory, whatever it means. */
	void (*fold)(struct plat *plat, void *ptr, size_t bytes, int folded);
	/* Can it copy between these two, without a stop?  The first main memory and one
	 * of its own: always. */
	int (*reaches)(struct plat *plat, unsigned from, unsigned to);
	/* Returns 1 when it is done already (done is not called), 0 when done will be. */
	int (*copy)(struct plat *plat, struct plat_copy *copy);
	/* Expected seconds for bytes, alone on the link. */
	double (*expected_s)(struct plat *plat, unsigned from, unsigned to, size_t bytes);
	/* It answers always the same: its answers may be kept.  Drivers that learn from
	 * what copies take, as of slaves, must not say so. */
	int is_steady;
	/* Copy bytes between two memories, one of them at least this driver's, before
	 * this returns.  NULL: processors see these memories' bytes at their addresses.
	 */
	void (*move)(struct plat *plat, unsigned from, unsigned to,
		     const struct layout *source, const struct layout *target);
	/* What moves bytes cannot be waited for: copies always end later, whatever the
	 * application asks for, and move() ends the program of who does not let them. */
	int is_far;
	/* Others take of the memory, too: allocate() may have none within the limit. */
	int may_refuse;
	/* So many copies are to be on their way to values that tasks need soon, as the
	 * next one begins late where none waits behind the last; 0: one. */
	int nahead;
};

/*
 * The machine's disk of a number, from 0: set memory->driver.  0, or -ENOENT when it has
 * no such disk, with a message.
 */
int plat_find_disk(struct plat *plat, int number, struct plat_memory *memory);

/* Instead of a main memory's number, for allocate(): on all of them in equal parts. */
#define PLAT_INTERLEAVED (~0u)

/* The driver of main memory, also before any node is open. */
const struct memory_driver *plat_main_memory(void);

/*
 * Let devices copy from and to bytes of main memory at full speed, and without stopping
 * who asks for the copy; and no longer.  0, also where nothing needs that, or a negative
 * errno with a message.  What is released needs no unpinning.
 */
int plat_pin(struct plat *plat, void *ptr, size_t bytes);
int plat_unpin(struct plat *plat, void *ptr);

/* Libraries whose handles belong to a device. */
enum plat_library {
	PLAT_CUBLAS,
	PLAT_CUBLASLT,
	PLAT_CUSPARSE,
	PLAT_CUSOLVER_DN,
	PLAT_CUSOLVER_SP,
	PLAT_CUSOLVER_RF,
	PLAT_LIBRARIES
};

/*
 * Have a handle for each worker with such a device, until as many calls of the other
 * function; where there is no such worker nothing happens.  Any thread of the
 * application's.  Ends the program when the library refuses.
 */
void plat_library_open(struct plat *plat, enum plat_library library);
void plat_library_close(struct plat *plat, enum plat_library library);
/* Let cuBLAS's functions without a handle use the stream of the worker that calls. */
void plat_cublas_stream(struct plat *plat);

/* ---- topology -------------------------------------------------------- */

/* Bind the calling thread to a logical core, or to the one kept for the user thread, if
 * there is one; 0, or -1 when there is no such core.  Has no effect where threads are not
 * the machine's. */
enum { PLAT_MAIN_CORE = -1 };
int plat_bind_thread(struct plat *plat, int core);
/* How the system numbers a logical core; -1: there is no such core. */
int plat_core_os_index(struct plat *plat, int core);
/* Logical core of CPU worker i as bound, or -1 when workers are not bound. */
int plat_worker_bindid(struct plat *plat, int cpu_worker);
/* Joules that the device of a worker, or for NULL the packages of cores, have used since
 * some time, or -ENODEV.  One thread at a time. */
int plat_energy_j(struct plat *plat, const struct worker *of, double *joules);
/* Bind a CPU worker to another one from now on: 0, or -1 when there is no such core, or
 * workers are not bound. */
int plat_bind_worker(struct worker *worker, int core);
/* The main memory near to CPU worker i, where there are several. */
unsigned plat_worker_memory(struct plat *plat, int cpu_worker);
/* NUMA nodes that the bytes lie on, a bit each in hwloc's logical order; -1: unknown. */
long plat_memory_location(struct plat *plat, const void *ptr, size_t bytes);
#include "plat_inline.h"

#endif
