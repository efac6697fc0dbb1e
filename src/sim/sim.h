/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_SIM_H
#define ORR_SIM_SIM_H

/*
 * sim.h - the simulated backend, inside.
 *
 * All ranks are actors of one process and one thread.  The user's main is the SMPI
 * actor of its rank; everything else is an event of one calendar, fired in SimGrid's
 * kernel context, where nothing may block and no MPI function may be called.
 * sim->current says on behalf of which node an event runs.
 *
 * An event is a struct plat_timer.  Dates are simulated seconds.
 */
#include <locale.h>

#include <simgrid/forward.h>

#include "base/signals.h"
#include "core/births.h"
#include "core/fault.h"
#include "core/model/model.h"
#include "core/worker.h"
#include "dates.h"
#include "kernel.h"
#include "plat/net.h"
#include "plat/plat.h"
#include "scout.h"

struct arena;
struct wire;

/* What C++ keeps of the exceptions that a thread handles: once for all threads of the
 * simulation, which are one to it. */
struct sim_exceptions {
	void *caught;
	unsigned nuncaught;
};

struct sim_exceptions *__cxa_get_globals(void);

/* locals.c: the thread-local variables of the caller, where it has any apart, make way
 * for those of its rank; come back. */
struct locals *sim_leave_locals(void);
void sim_enter_locals(struct locals *locals);

/* What a thread has while others run. */
struct sim_yield {
	struct sim_exceptions exceptions;
	struct locals *locals;
	locale_t locale;
	int rounding, code; /* that of errno */
	int is_back;
	struct outside_jump *jumps; /* core/outside.h */
};

struct sim_yield sim_yield(void);
void sim_come_back(struct sim_yield *yield);
/* What the system has for each of its threads is for each of ours: uselocale()'s and
 * fesetround()'s; the simulation, kernels and callbacks have the defaults. */
void sim_enter_modes(locale_t locale, int rounding);

/* A call that lets other threads run: none of them sees the exceptions of this one, nor
 * its thread-local variables.  SimGrid ends it by an exception of its own where the
 * thread is still there at the end. */
#define SIM_YIELDS(call)                                                                 \
	do {                                                                             \
		struct sim_yield yield_ __attribute__((cleanup(sim_come_back))) =        \
			sim_yield();                                                     \
                                                                                         \
		call;                                                                    \
		yield_.is_back = 1;                                                      \
	} while (0)

/* How often a thread has looked at the clock since anything else took time. */
struct looks {
	double date_s;
	int n;
	unsigned nsubmitted; /* of tasks, at the last look for the end of some */
};

/* A worker, and the job that it began with. */
struct begun {
	const struct sim_worker *worker;
	const struct job *job;
};

enum { SIM_NBEGUN = 5 };

/* Events of the date that is: they leave in the order in which they came, and nobody is
 * asked for their place among others. */
struct due {
	struct heap_entry **entries; /* NULL: taken out */
	size_t first, end, capacity;
};

/* Since when nothing happens but that threads poll in vain, see quiet.c. */
struct quiet {
	size_t nnaps; /* in the calendar */
	int is_on;
	double since_s;
	unsigned long signature; /* of all nodes, then */
	unsigned nsteps;         /* since then */
	int has_looked;          /* somebody has, at a clock */
	int is_told;
};

/* What the ranks of the process share; one per process, never freed. */
struct sim {
	/* As struct sim_asked has it [plat_inline.h]. */
	int in_kernel;
	pid_t process; /* that simulates: what it forks does not */
	uintptr_t asking_page;
	struct sim_rank *asking_rank;
	struct dates calendar;
	struct scout scout;             /* of its next events */
	struct begun begun[SIM_NBEGUN]; /* a ring; see expect_begun() [workers.c] */
	unsigned nbegun;
	struct due due;      /* only in kernel context */
	void *timer;         /* the armed kernel timer, or NULL */
	double armed_s;      /* its date */
	double now_s;        /* valid in kernel context */
	int is_bound;        /* events must not run ahead of SimGrid's clock */
	int is_ahead;        /* they do: see calendar.c */
	struct sim_put_off { /* until SimGrid's clock has come to the last event */
		void (*run)(void *arg);
		void *arg;
	} * put_off;
	int nput_off, put_off_capacity;
	uintptr_t kernel_thread; /* sim_this_thread() of who is in kernel context */
	uintptr_t kernel_frame;  /* on its stack, above all that runs there */
	uintptr_t aside_low, aside_high; /* another stack of who is; see stack.c */
	double spent_s;        /* in kernel context: what this event has worked so far */
	struct looks looks;    /* of this event, at the clock */
	int nslept;            /* in kernel context: how often this event has slept */
	struct plat *current;  /* in kernel context: whose event runs, or NULL */
	struct worker *worker; /* in kernel context: on whose behalf, or NULL */
	struct sim_thread *asking; /* whose asking_page it is */
	struct kernel *kernel;
	struct plat_timer kick;    /* transport "mpi": for all idle mains */
	int npolling;              /* idle mains */
	double look_s;             /* of the program for messages, in vain */
	int world_size;            /* of MPI_COMM_WORLD, once MPI has been started */
	struct plat_timer unstick; /* of plat_unstick() */
	struct plat_timer waking;  /* of threads that threads have woken, see plat.c */
	sg_sem_t *woken;           /* theirs */
	int nwoken, woken_capacity;
	struct quiet quiet;
	struct world *world;
	struct plat *first, *last; /* open nodes in the order of opening */
	int nplats;
	uintptr_t heap_end; /* so far it is in huge pages, see pages.c; 0: not yet */
	int has_moved_old;  /* so is what the heap and the pools began with */
	struct sim_thread *first_main, *last_main; /* that have not ended */
	struct arena *arena;     /* kept to the end: memory outlives its node */
	int fold;                /* the file of folded blocks, plus 1; 0: none yet */
	struct arena *gpu_arena; /* the addresses that the GPUs of all ranks have */
	struct wire *wire;       /* the network; made by the first transport */
	struct net_group *groups;
	struct progress *progress; /* NULL: not wanted */
	struct summary *summary;   /* NULL before the first node */
	struct links *links;       /* links.h: of all nodes; kept */
	struct signals signals;    /* signals, once a node has something to do then */
	void *signal_stack;        /* for their handlers, or NULL */
	int ends_watched;          /* the same of exit() */
	int has_ended;             /* SimGrid's part of the run */
	int timeless_told;         /* said that some tasks take no time */
	int choice_told;           /* GPUs were chosen, and what could not be was said */
	int cores_told;            /* the same of cores; 0: not yet */
	int has_stack_code;        /* see stack.c; 0: not yet known, -1: no */
	uint64_t nsteps;           /* of SimGrid's, and events fired */
	int nlocals;               /* threads with such variables; see locals.c */
	struct spin *spin;         /* spin.c; NULL: nobody looks */
	struct sim_posix *posix;   /* posix.c; NULL before it is needed */
};

/* What starpu_pthread_setspecific() keeps for one thread; index is the key. */
struct keyed_values {
	unsigned n;
	void *values[];
};

struct specifics {
	struct keyed_values *keyed; /* or NULL */
	struct posix_value *posix;  /* keys.c */
};

/* A rank of the program, which would be a process on a real machine. */
struct sim_rank {
	struct node *node;     /* NULL while the library is closed */
	struct sim_libc *libc; /* NULL before it is needed; see libc.c */
	int nthreads;          /* of the application; the last one frees the rank */
	int place;             /* in MPI_COMM_WORLD, plus 1, once MPI has been started */
	struct specific_keys *keys; /* of starpu_pthread_key_create(), or NULL */
	struct posix_rank *posix;   /* or NULL; see posix.c */
	struct births births;       /* of communicators */
};

/*
 * A thread of the application: the main of a rank, or an actor that
 * starpu_pthread_create() or pthread_create() made.  It is its actor's user data.
 */
struct sim_thread {
	struct sim_rank *rank;
	sg_sem_t sem; /* the thread blocks on it; may be released in vain */
	struct looks looks;
	int is_main;                    /* the SMPI actor of its rank */
	struct sim_thread *prev, *next; /* mains: in sim->first_main..last_main */
	const char *call;               /* the function of MPI that it is in */
	int is_transport;               /* transport "mpi" is calling MPI for it */
	int is_napping;                 /* between two polls in vain */
	struct plat_caller caller;
	struct specifics specifics;
	sg_actor_t actor;   /* of a main; of others before they have started */
	uintptr_t stack_at; /* an address in its stack */
	/* Of those that are not: */
	void *(*routine)(void *arg);
	void *arg, *result;
	int detached, has_ended;
	struct posix_thread *posix; /* see pthreads.h */
};

/* What the software of a node takes, see costs.c. */
struct sim_costs {
	double push_s, datum_s;     /* of a task, and each of its data, for its worker */
	int has_datum;              /* the latter is the platform's */
	const char *push_by_policy; /* of the platform, or NULL */
	double wake_s, main_wake_s; /* who has slept begins so much later */
	double look_s, switch_s;    /* until a message is looked for; of a thread */
	double page_s;              /* of a page that nobody has touched */
	double lone_copy;           /* part of the bandwidth: see bulk.c */
	struct wire_pieces *cold;   /* of a task, by the bytes of its data, or NULL */
};

struct plat {
	struct plat_debt debt;           /* first: plat_inline.h relies on it */
	void (*last)(struct node *node); /* at the end of the process, or NULL */
	struct sim *sim;
	struct node *node;
	struct plat *prev, *next; /* in sim->first..last */
	sg_host_t host;
	/* Of the host's properties spare_cores and copies_messages, see sim_lend(). */
	int lends_cores, copies_messages;
	struct sim_costs costs;
	struct look *looks, *last_look; /* messages that nobody has looked at */
	double looked_s;                /* when a worker did last, between its tasks */
	struct sets *sets;              /* what caches hold, or NULL */
	double new_bytes; /* allocated for what messages bring, and not yet touched */
	struct sim_thread *opener; /* that opened it: the main, as a rule; NULL: ended */
	struct plat_gate *gate;    /* that this thread waits for, or NULL */
	struct plat_caller events; /* of what runs without thread or worker */
	int (*poll)(void *arg);
	void *poll_arg;
	/* Transport "mpi": waiting mains must poll. */
	int polls, in_poll;
	struct sim_thread
		*idle;       /* the main, blocked until there may be something to poll */
	int kicked;          /* its semaphore has been released for that */
	int has_looked;      /* in vain, since nothing could make progress */
	unsigned npauses;    /* between polls of the program's threads in vain */
	int next_lender;     /* a worker */
	struct pool workers; /* struct sim_worker */
	struct specifics specifics; /* of callbacks that no worker runs */
	struct gpu_kind *gpu_kinds; /* gpus.c */
	const struct links *links;  /* links.h, or NULL */
	int *cores, ncores;         /* cores.c: that the user has named */
	struct pcie *pcie;
	uint64_t ndraws;                           /* of noise */
	struct sim_disk *disks[PLAT_MAX_MEMORIES]; /* by their devid */
	struct arena *gpu_arena;                   /* of its GPUs, or NULL */
	double energy_j;                           /* of its tasks, by energy models */
	struct plat_machine machine;
};

/* The process's simulation, made when there is none yet. */
struct sim *sim_get(void);
/* Has the program called fork(), and is this the child?  It ends without simulating. */
int sim_is_child(void);
/* From here on, know when nothing can go on and when the simulation ends. */
void sim_watch(void);

/* threads.c: one of the caller's rank, on a host, or where the caller is for NULL; it
 * starts with a stack of about so many bytes, or, 0, as any. */
struct sim_thread *sim_thread_make(const char *name, void *(*routine)(void *), void *arg,
				   sg_host_t host);
void sim_thread_start(struct sim_thread *thread, size_t stack_bytes);
void sim_thread_free(struct sim_thread *thread);
/* plat.c: it goes on when all that can run now have done so. */
void sim_wake_later(struct sim_thread *thread);
/* The calling thread of the application; not in kernel context. */
struct sim_thread *sim_thread_self(void);
/* The actor of a rank's main; NULL: it has ended.  Of a rank that has threads. */
sg_actor_t sim_main_of(const struct sim_rank *rank);
/* The rank of whatever runs; in kernel context, NULL where it belongs to none. */
struct sim_rank *sim_rank_self(void);
/* Is the caller the main of a rank, and has it no open node? */
int sim_is_main(void);
int sim_is_plain_main(void);
/* Which thread of the process the caller is. */
uintptr_t sim_this_thread(void);
/* Neither the simulation nor one of its ranks: a thread of the program's own making. */
int sim_is_stranger(void);
/* End the program with a message when the caller may not call MPI's function name. */
void sim_check_main(const char *name);
/* Only with a callback, a kernel, or a thread that is not simulated. */
void sim_check_thread(const char *name);
/* A main, NULL: one that nobody knows, has looked for messages of its own.  Under
 * transport "mpi" SMPI's looks take no time, since the library looks whenever it polls;
 * the program's do when nothing was found, and messages go on meanwhile. */
void sim_looked(struct sim_thread *thread, int found);
/* The same, and remember where the thread is; one that is no main is its main to SMPI
 * until it leaves.  NULL, or who leaves. */
struct sim_thread *sim_enter_mpi(const char *name);
void sim_leave_mpi(struct sim_thread *thread);
/* How many threads of a rank are in the function of MPI whose name is the next behind
 * last. */
int sim_count_in_mpi(const struct sim_rank *rank, const char *last, const char **name);
/* mpi_calls.c: a call with this result has made communicators of the one that is parent,
 * 0 where its members are not all who call, and has given the rank what is at made; the
 * one at comm is about to be freed. */
void sim_made_comm(int ret, long parent, long made);
void sim_frees_comm(long comm);
/* Block the calling thread until *flag is set by somebody who then releases its
 * semaphore, or, when until_s is not negative, until this date.  plat may be NULL. */
void sim_block(struct plat *plat, const int *flag, double until_s);
/* Until all threads that can run now have done so. */
void sim_let_run(void);

/* Transport "mpi": there may be something for an idle main to poll. */
void sim_kick(struct plat *plat);

/* The kernel context begins at most so far below who uses it, and comes as far down. */
enum { STACK_ROOM_BYTES = 1 << 16, KERNEL_STACK_BYTES = 8 << 20 };

/* The calling thread begins: it may run code on its stack where the program does. */
void stack_begin(struct sim *sim, struct sim_thread *thread);
/* Nobody has called the caller who is far from the stack of the kernel context. */
void stack_look(struct sim *sim);

/* Who calls in kernel context is on the stack of that, or a jump has left it. */
static inline void stack_check(struct sim *sim)
{
	if (sim->in_kernel && sim->kernel_frame - (uintptr_t)__builtin_frame_address(0) >
				      KERNEL_STACK_BYTES)
		stack_look(sim);
}

/* Once in a while: what malloc()'s heap has grown by is to be in huge pages. */
void pages_look(struct sim *sim);
/* Zeroed memory, in huge pages where many nodes are simulated; what is not touched costs
 * nothing there, or where they are few.  mapped is for pages_put(). */
void *pages_get(const struct sim *sim, size_t bytes, void **mapped);
void pages_put(void *mapped, size_t bytes);

/* ---- calendar.c ------------------------------------------------------ */

/* Fire an event at a date (not before now), once.  It must not be in the calendar. */
void calendar_add(struct sim *sim, struct plat_timer *event, double date_s);
/* The same for a thread; among those of one date the lowest order is first, a number from
 * calendar_order(). */
void calendar_add_ordered(struct sim *sim, struct plat_timer *event, double date_s,
			  uint64_t order);
/* The same as removing it, where it is in the calendar, and adding it. */
void calendar_move(struct sim *sim, struct plat_timer *event, double date_s);
/* The same; of events of one date the lower order comes first.  Orders are of
 * calendar_order(). */
void calendar_move_ordered(struct sim *sim, struct plat_timer *event, double date_s,
			   uint64_t order);
static inline uint64_t calendar_order(struct sim *sim)
{
	return sim->calendar.heap.next_order++;
}
/* Does nothing when the event is not in the calendar. */
void calendar_remove(struct sim *sim, struct plat_timer *event);
/* No event is left: disarm the kernel timer, which would prolong the simulation. */
void calendar_close(struct sim *sim);
/* From now on events run at the date of SimGrid's clock: they start things of its own. */
void calendar_bind(struct sim *sim);
/* SimGrid is about to step by others_s to its next event, or, when that is negative, has
 * none: fire those before.  By how much it is to step at most; negative: as it likes. */
double calendar_go_ahead(struct sim *sim, double others_s);
/* Call run(arg), which may wake or start threads, when SimGrid's clock shows the date of
 * what runs: now, or when it has come there. */
void calendar_reach(struct sim *sim, void (*run)(void *arg), void *arg);
/* Brackets around what runs in kernel context without being an event. */
void calendar_enter(struct sim *sim);
void calendar_leave(struct sim *sim);

static inline int calendar_has(const struct plat_timer *event)
{
	return event->entry.place != 0;
}

/* What those of workers.c, solver.c and packet.c will look at. */
extern const struct scout_kind scout_task_end, scout_worker_step, scout_flow_enters,
	scout_flow_ends, scout_packet_received, scout_packet_sent;

/* ---- quiet.c --------------------------------------------------------- */

/* Is there nothing in the calendar but naps? */
int quiet_is_all(const struct sim *sim);
/* SimGrid is about to step by others_s, or, when that is negative, has nothing to do. */
void quiet_look(struct sim *sim, double others_s);

/* ---- leave.c --------------------------------------------------------- */

/* SMPI's: the calling rank ends. */
void smpi_exit(int status);
/* The process ends at once, without a word. */
void sim_leave(int status) __attribute__((noreturn));

/* ---- clock.c --------------------------------------------------------- */

/* The date for the application, whoever asks: a loop over it sees time pass. */
double clock_look_s(void);
/* Who tries again and again in vain lets others run; the caller is no stranger. */
void sim_tried(void);

/* ---- threads.c ------------------------------------------------------- */

/* The values die with their thread, worker or node. */
void specifics_clear(const struct sim_rank *rank, struct specifics *specifics);
/* The caller's; NULL: it is in kernel context for no node. */
struct specifics *specifics_self(void);
/* workers.c: a worker's. */
struct specifics *sim_worker_specifics(struct worker *worker);

/* ---- machine.c ------------------------------------------------------- */

/* Of a kind's name; and figures up to which numbers are taken. */
enum { MACHINE_KIND_BYTES = 64 };
#define MACHINE_MOST_BYTES 1e18
#define MACHINE_MOST       1e30

/* Fill plat->machine from the host's properties.  0 or -ENODEV, with a message. */
int machine_read(struct plat *plat);
/* A property of the host that is a number; absent without one. */
double machine_property(struct plat *plat, const char *name, double absent);

/*
 * A thread that is no worker works for so long from now on, or has just done so.  Where
 * CPU workers have all cores of the node one lends its own: who runs a task ends it
 * later, in turns; where one is idle, its next task begins later, unless that is past.
 */
void sim_lend(struct plat *plat, double seconds, int is_past);

/* A property of the host that is a text, or NULL. */
const char *machine_text(struct plat *plat, const char *name);
/* The same, of GPUs of a kind; "": of all. */
const char *machine_text_of(struct plat *plat, const char *gpu, const char *name);
/* A number up to a limit, left as it is where none is said.  0, or -ENODEV with a
 * message. */
int machine_number(struct plat *plat, const char *gpu, const char *name, double limit,
		   double *value);
/* Of "cpu:0-99;gpu:100-149" the kind with a number in it, or "". */
void machine_kind_in(const char *kinds, long number, char kind[MACHINE_KIND_BYTES]);
int machine_kinds_are_valid(const char *kinds);

/* ---- gpus.c ---------------------------------------------------------- */

/* Fill machine.devices with what the host says of so many GPUs.  0, or -ENODEV with a
 * message. */
int gpus_read(struct plat *plat, int count);
void gpus_close(struct plat *plat);

/* ---- cores.c --------------------------------------------------------- */

/* Those that the user names for the CPU workers, once it is known how many there are. */
void sim_cores_read(struct plat *plat);
void sim_cores_close(struct plat *plat);

/* ---- costs.c --------------------------------------------------------- */

/* Read them; the knobs that the user has set go before the platform's figures.  0, or
 * -ENODEV after a message. */
int costs_read(struct plat *plat);
void costs_close(struct plat *plat);
/* How long a task is on its worker whose kernel takes so long. */
double costs_of_task_s(struct plat *plat, double kernel_s, int ndata);
/* How much longer on a core whose caches its kernel uses. */
double costs_cold_s(const struct plat *plat, struct starpu_task *task);
/* How much later begins who has waited since then. */
double costs_wake_s(double wake_s, double since_s, double now_s);
/* The same of a thread of the application, which looks for messages first. */
double costs_main_wake_s(const struct plat *plat, double since_s, double now_s);
/* By how many times the bytes of a value come slower than those that lie in a cache:
 * where it has 1 MiB, and where it has 64 KiB, or 0 where that is not known. */
struct cost_stretch {
	double large, small;
};
struct cost_stretch costs_stretch(struct plat *plat, const void *datum, double bytes);
/* A task brings its data into caches. */
void costs_touch(struct plat *plat, struct starpu_task *task);
/* A datum has got memory; what its first touch costs, when a message brings so many
 * bytes. */
void costs_new_memory(struct plat *plat, size_t bytes);
double costs_pages_s(struct plat *plat, double bytes);

/* What has come to a node whose workers have all cores, while they run tasks. */
struct look {
	struct plat_timer timer;
	struct look *prev, *next;
	struct plat *plat; /* whose it is in the list of; NULL: it is in none */
	void (*run)(struct look *look);
	int is_late; /* nobody looked when it came */
};

/* 1: run(look) comes when a thread looks for it; 0: that is now. */
int look_later(struct plat *plat, struct look *look, void (*run)(struct look *look));
/* A worker has nothing to run, or looks between short tasks. */
void look_now(struct plat *plat);
/* workers.c: there are CPU workers, and none is idle and polls. */
int sim_all_run(struct plat *plat);
/* Or any? */
int sim_any_runs(struct plat *plat);

/* ---- memory.c, pcie.c, progress.c, summary.c, report.c ---------------- */

void memory_close(struct plat *plat);
struct pcie *pcie_new(struct plat *plat);
void pcie_free(struct pcie *pcie);
/* disks.c */
void disks_close(struct plat *plat);
int pcie_reaches(struct plat *plat, unsigned from, unsigned to);
int pcie_copy(struct plat *plat, struct plat_copy *copy);
/* The driver of a GPU works for a time, after what it does already: copies and kernels
 * that are started later wait for it.  Nothing where the memory is not a GPU's. */
void pcie_work(struct plat *plat, unsigned memory, double seconds);
/* Bytes of a GPU's memory are taken, or, negative, given back. */
void pcie_book(struct plat *plat, unsigned memory, double bytes);
/* When it has done what it was told to; a date that may have passed. */
double pcie_free_s(struct plat *plat, unsigned memory);
double pcie_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes);

extern const struct memory_driver main_memory_driver, gpu_memory_driver;
/* workers.c: cores and GPUs. */
extern const struct worker_driver sim_worker_driver;

/* launch.c: of a GPU's worker, where the machine says what launches take; *at is made
 * when it is first wanted. */
struct launches;
/* Of a worker that ends; or NULL. */
void launches_free(struct launches *launches);
/* The job is the next to run, the one before ended at ended_s: when it begins. */
double launch_begin_s(struct launches **at, struct worker *worker, const struct job *job,
		      double ended_s);
/* Launch those that may be on the stream behind the one that runs. */
void launch_ahead(struct launches **at, struct worker *worker, const struct job *running);

struct progress *progress_new(void);
void progress_free(struct progress *progress, struct sim *sim);
/* The node closes. */
void progress_leave(struct progress *progress, const struct node *node);
/* Called very often, by the calendar and by mains that submit. */
void progress_show(struct progress *progress, struct sim *sim);

/* A node has been opened. */
void summary_open(struct sim *sim, const struct knobs *knobs);
/* A node closes: count what it has done. */
void summary_add(struct summary *summary, const struct node *node);
/* A task takes what an estimate says, of which something may not be known. */
void summary_duration(struct sim *sim, const struct worker *worker,
		      const struct starpu_task *task,
		      const struct model_estimate *estimate);
/* The simulation ends: write the file, when one is wanted. */
void summary_write(struct sim *sim);

/* Say what everybody waits for and end the process with exit code 3. */
void report_deadlock(void);
/* The same; why: instead of "nothing can make progress".  And without the end. */
void report_end(const char *why);
void report_waits(const char *why);
/* What the nodes do when the process ends; once more is no harm. */
void report_last(void);
/* Whose code runs, also when a signal has interrupted it. */
struct fault report_who(void);
/* From now on say in whose code the program is ended by a fault, or do so no longer. */
void report_faults(struct sim *sim, int is_wanted);
/* From here on, say so and fail when the process ends before the simulation. */
void report_watch_end(struct sim *sim);
/* The simulation has ended: say on which ranks the library has not. */
void report_left_open(const struct sim *sim);
/* End the process from anywhere, also from kernel context. */
void report_exit(int code) __attribute__((noreturn));

/* ---- net.c ----------------------------------------------------------- */

void net_close_all(struct sim *sim);

#endif
