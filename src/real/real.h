/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_REAL_H
#define ORR_REAL_REAL_H

/*
 * real.h - the backend of the real machine: threads, hwloc, futexes.
 *
 * One node per process.  Threads: the workers (workers.c), one for timers once a
 * timer was asked for (timers.c), one for progress while there is a poll function
 * (progress.c) unless a worker does that too (interleaved.c), two for each disk
 * (disks.c), one for each of several main memories (ram.c), two for each GPU
 * (cuda_copies.c), and the application's own, which wait at gates (wait.c).
 */
#include <pthread.h>

#include "base/signals.h"
#include "core/births.h"
#include "core/node.h"
#include "core/worker.h"
#include "plat/net.h"

struct cuda;
struct hwloc_topology;

/* The threads that MPI, or UCX, has started for itself, as far as they are known. */
enum { MPI_MAX_THREADS = 16 };

struct mpi_threads {
	int n;
	int ids[MPI_MAX_THREADS]; /* as in /proc/self/task */
};

/* Functions of MPI that ours hide: those of enum plat_mpi_call, and these. */
enum {
	HIDDEN_MPI_Init = PLAT_NMPI_CALLS,
	HIDDEN_MPI_Init_thread,
	HIDDEN_MPI_Finalize,
	HIDDEN_MPI_Abort,
	NHIDDEN
};

/* The process is a rank of the launcher's, between MPI_Init() and MPI_Finalize(). */
struct joined {
	int rank, size;  /* size: 0 outside of these */
	pid_t process;   /* not its children */
	int is_aborting; /* atomic: MPI_Abort() has been called, and was told */
};

/* Who looks after the ranks of this machine while the program waits in MPI; vigil.c. */
struct vigil {
	struct orr_lock lock;
	struct peers *peers;      /* owned; NULL: there are none, or MPI ends */
	struct plat *plat;        /* of the life in which they met, while that lasts */
	int rank;                 /* this one among them */
	double limit_s, period_s; /* of the watchdog */
	int is_on, has_thread;    /* atomic */
	int nchanges;             /* of is_on; a futex */
};

/* Threads in calls of MPI that wait; mpi_blocking.c. */
struct blocking {
	int nthreads, call; /* atomic; of the first of them */
	uint64_t since_ns;
};

/* Looks while the program is in MPI_Init(); starting.c. */
struct starting {
	int has_thread, is_over; /* is_over: atomic, a futex */
	double limit_s;          /* of the watchdog */
	pthread_t thread;
};

/* What outlives a node: made on first use, reachable from the one global pointer. */
struct real {
	struct world *world;
	struct node *self;
	pthread_key_t caller; /* the struct plat_caller of a thread; owned by it */
	struct mpi_threads mpi;
	struct joined joined;
	struct starting starting;
	struct orr_lock placed_lock;
	struct table placed; /* sizes of blocks with pages of their own, by address */
	int has_placed;      /* atomic: there were some */
	int is_refusal_told; /* atomic: that the system places nothing */
	struct blocking blocking;
	struct vigil vigil;
	struct orr_lock lines_lock;
	struct lines *lines;  /* to ranks that the system does not show, or NULL */
	struct births births; /* of communicators */
	void *mpi_functions[NHIDDEN]; /* atomic; MPI's own, see mpi_blocking.c */
	struct signals signals;       /* signals, once a node has something to do then */
	void *signal_stack; /* for their handlers, of the thread that opened it */
};

/* mpi_start.c: bytes of each rank of the communicator that is on this machine, in their
 * order, for free(); place is the caller's.  Collective; returns how many there are. */
int real_mpi_near(const void *comm, const void *own, size_t bytes, void **all,
		  int *place);
/* mpi_start.c: returns when all ranks of the communicator have called it, the first that
 * they call together; says who has not while that lasts.  0; or -EINVAL, where ranks of
 * other versions of the library are among them, which has been told. */
int real_mpi_meet(struct plat *plat, const struct net_config *config);
/* mpi_start.c: bytes of each rank of the communicator, into all.  Collective. */
void real_mpi_gather(const void *comm, const void *own, size_t bytes, void *all);
/* onehost.c: what ranks of this host may copy from each other goes past the transport.
 * Collective. */
void onehost_open(struct plat *plat, const struct net_config *config, struct net *net);
/* mpi_start.c: does MPI take addresses of CUDA's memories? */
int real_mpi_reads_devices(void);

struct real *real_get(void);
/* That of the process; ends the program, naming func, when the library is not open. */
struct node *real_node_for(const char *func);

struct cores {
	struct hwloc_topology *topology;
	int *ids; /* logical PU of each worker, in order, taken round robin */
	int nids;
	int ncores;   /* that may run a worker */
	int *rebound; /* of CPU workers: since then, by plat_bind_worker(), + 1; atomic */
	int main_pu;  /* the one kept for the user thread, or -1 */
	int can_bind; /* the topology is this machine's and binding is wanted */
	void *main_set; /* hwloc_bitmap_t: the user thread's binding before ours */
};

/* Of one package of cores; see energy.c. */
struct meter {
	unsigned long long last_uj;
	double sum_uj;
	int has_looked;
};
enum { MAX_METERS = 16 };

struct timers {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	struct heap calendar;
	int started, stopping;
	int nidle;   /* in the calendar, of those that change nothing */
	int nfiring; /* of the calendar's others, under way: 0 or 1 */
};

/* Whom plat_poll_kick() need not wake, and how the progress thread sleeps. */
enum progress_state {
	PROGRESS_AWAKE,
	PROGRESS_YIELDED, /* somebody else polls: sleeps for a while */
	PROGRESS_NAPPING, /* nothing came: sleeps for a while, or until a kick */
	PROGRESS_ASLEEP   /* nothing can come: until a kick */
};

/* See unpolled.c; of the timer's thread while is_set. */
struct unpolled {
	struct plat_timer timer;
	int is_set; /* atomic */
	int npolled;
	unsigned long signature;
	double looked_s, cpu_s;   /* at the last look */
	struct asleep *asleep;    /* at the last look that found nothing moved */
	double proves_s;          /* of the last look for who waits for no message */
	double since_s, report_s; /* of the silence; when it is said */
};

struct progress {
	int (*poll)(void *arg);
	void *arg;
	pthread_t thread;
	int started, stopping;
	int is_explicit; /* only threads of the program poll, in its calls */
	int has_core;    /* atomic: the thread is bound to a core that the user gave it */
	int state;       /* atomic enum progress_state */
	int kicks;       /* atomic, a futex word: changes at each kick */
	int npollers;    /* atomic: threads that wait at a gate and poll meanwhile */
	int ncalls;      /* atomic: calls of poll under way */
	int npolled;     /* atomic: changes with each call of poll */
	void *helper; /* atomic: the struct worker that polls while it is idle, or NULL */
	int nhelped;  /* atomic: polls of helpers */
	/* The worker whose thread polls in place of one of our own, or NULL. */
	struct worker *worker;
	int npolls, ntasks; /* in turn, that it makes and executes */
	struct net_bell bell;
	int rouse_fd; /* an eventfd, of who listens to the bell; or -1 */
	int listens;  /* atomic: somebody does */
	struct unpolled unpolled;
};

enum { DISKS_MAX_THREADS = 2 * PLAT_MAX_MEMORIES };

struct disks {
	pthread_mutex_t mutex;
	pthread_mutex_t alone; /* held by who makes a copy that must be the only one */
	pthread_cond_t changed;
	struct plat_copy *first, *last;
	struct disk_object *removed; /* from the tree, not from the disk */
	double bytes_per_s[2];       /* mean of what was read, written; 0: unknown */
	int npending, stopping;
	int nthreads;
	pthread_t threads[DISKS_MAX_THREADS];
};

/* Makes copies to one of several main memories. */
struct copier {
	struct plat *plat;
	unsigned memory;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct plat_copy *first, *last;
	int ncopies; /* atomic: that wait or are under way */
	int stopping;
	pthread_t thread;
};

/* Main memories, where there are several; see numa.c. */
struct numas {
	unsigned logical[STARPU_MAXNUMANODES]; /* hwloc's numbers */
	/* Measured when the node opens. */
	double bytes_per_s[STARPU_MAXNUMANODES][STARPU_MAXNUMANODES];
	int ncopiers;
	struct copier copiers[STARPU_MAXNUMANODES];
};

/* Of each worker that shares a thread with others its crew; NULL: none does. */
struct crews {
	struct crew **of;
	int n; /* workers */
};

/* Freed blocks of main memory, see spares.c: of one line of the cache, two, ... each, and
 * large ones from the oldest on. */
enum {
	SPARE_LINES = 8,
	SPARE_ALIGN_BYTES = 64,
	SPARE_PAGE_BYTES = 4096,
	SPARE_LARGE_BYTES = 1 << 16,
	SPARES_LARGE = 64
};

struct spares {
	struct orr_lock lock;
	void *first[SPARE_LINES];
	int n[SPARE_LINES];
	int nlarge;
	size_t large_bytes;
	struct large_spare {
		void *ptr;
		size_t bytes;
	} large[SPARES_LARGE];
};

struct plat {
	struct node *node;
	pid_t process;                   /* that opened it */
	void (*last)(struct node *node); /* at the end of the process, or NULL */
	struct plat_machine machine;
	char clock[128]; /* of the machine */
	struct cores cores;
	struct timers timers;
	struct progress progress;
	struct disks disks;
	struct numas numas;
	struct spares spares;
	struct cuda *cuda;               /* NULL: no devices */
	struct meter meters[MAX_METERS]; /* by one thread at a time */
	struct worker *workers;
	pthread_t *threads; /* of the workers */
	struct crews crews;
	int nworkers, workers_stopping;
	int gate_event;  /* atomic, a futex word: changes when a sleeper must look */
	int nsleepers;   /* atomic: threads asleep at a gate, or about to be */
	int nvain_spins; /* atomic: of waiting threads, since one helped; see wait.c */
	int is_woken; /* atomic: a worker that rested has a task, and may not run yet */
	struct asleep *asleep; /* at the watchdog's last look; NULL: it has not looked */
	struct peers *peers;   /* ranks of this machine; NULL: not known */
	int has_lines;         /* those of lines.h are of this life's ranks */
};

/* cores.c */
int cores_open(struct plat *plat);
void cores_close(struct plat *plat);
/* Bind the calling thread to a logical PU; does nothing for -1 or without binding. */
void cores_bind(struct plat *plat, int pu);
/* The first logical PU of a physical core, or -1. */
int cores_pu_of_core(struct plat *plat, int core);

/* timers.c */
void timers_init(struct plat *plat);
void timers_close(struct plat *plat);

/* Timers set or under way. */
int timers_count(struct plat *plat);

/* numa.c */
void numas_open(struct plat *plat);
/* Copies between them that wait or are under way. */
int numas_count(struct plat *plat);
double numas_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes);
/* Prefer a node, or with PLAT_INTERLEAVED all of them, for pages not touched yet. */
void numas_place(struct plat *plat, unsigned memory, void *ptr, size_t bytes);
/* The calling thread stays near to a main memory. */
void numas_bind_thread(struct plat *plat, unsigned memory);

/* ram.c */
void copiers_open(struct plat *plat);
void copiers_close(struct plat *plat);

/* spares.c */
/* A block of so many bytes that was freed, or NULL. */
void *spares_take(struct spares *spares, size_t bytes);
/* 1: it is kept; 0: the caller frees it. */
int spares_keep(struct spares *spares, void *ptr, size_t bytes);
void spares_free(struct spares *spares);

/* disks.c */
void disks_init(struct plat *plat);
void disks_close(struct plat *plat);
/* Copies waiting or under way. */
int disks_count(struct plat *plat);

/* leave.c */
/* From now on notice that the process ends or divides; once in its life. */
void leave_watch(void);
/* From now on say in whose code the program is ended by a fault, or do so no longer. */
void leave_watch_faults(int is_wanted);
/* The rank that its launcher gave it; 0 when it was started without one. */
int peers_own_rank(void);

/* See clock of struct plat_machine. */
void real_clock_name(char *name, size_t bytes);
/* Ranks of this machine tell each other who they are.  Collective. */
void peers_meet(struct plat *plat, const struct net_config *config);
void peers_forget(struct plat *plat);
void peers_free(struct peers *peers);
/* Of a process, by its number; 0: it cannot be read. */
int peers_nthreads(const char *pid);
/* Of its first thread; 0: it cannot be read. */
char peers_state(const char *pid);

/* Seconds until a rank that does not answer is called silent, and from then on until one
 * that is stopped ends the run. */
enum { PEERS_SILENCE_S = 2, PEERS_STOPPED_S = 1 };
struct peers_lost {
	int rank;
	double stopped_s; /* 0: its process has ended */
	double cut_s;     /* > 0: its machine has not answered for so long */
};
/* A rank whose process has ended, or stopped for most_s, or that is cut off.  Of the time
 * between two looks gap_s at most counts: this process may have been stopped, too. */
int peers_find_lost(struct peers *peers, double now_s, double gap_s, double most_s,
		    struct peers_lost *lost);

/* vigil.c */
/* The ranks have met; they are kept until the next ones meet, or MPI ends. */
void vigil_begin(struct plat *plat, int rank, struct peers *peers);
/* The life in which they met is over. */
void vigil_leave(const struct plat *plat);
void vigil_end(void);
/* The program enters a call of MPI that waits; node: the open one, or NULL. */
void vigil_call(const struct node *node);
/* End the run where the program waits in MPI and a rank of this machine has ended, or
 * stays stopped, since nobody else may notice. */
void vigil_look(void);
int vigil_nthreads(void);

/* starting.c: before and after MPI_Init(). */
void starting_begin(void);
void starting_end(void);

/* While the ranks meet, in calls of MPI that would wait for ever for one that has ended:
 * siblings.c looks for such, on a thread of its own, and ends the run. */
struct guard;
struct guard *guard_start(struct plat *plat, const struct net_config *config);
void guard_end(struct guard *guard);
/* mpi_start.c: the numbers in MPI_COMM_WORLD of a communicator's ranks, for free(), -1
 * for those that are none of it; nworld is its size. */
int *real_mpi_world(const struct net_config *config, int *nworld);
/* plat.c: in a child of fork(). */
void real_forget(void);
/* NULL: nothing has been asked of the library. */
struct real *real_known(void);

/*
 * worker->parked: 0 while it steps, PARKED_AWAKE when it said that it will sleep but
 * can still see the word change, PARKED_ASLEEP in the futex, where waking it takes a
 * system call, PARKED_POLLING as well where a kick wakes it, PARKED_IN_CREW where its
 * crew is called.
 */
enum { PARKED_AWAKE = 1, PARKED_ASLEEP = 2, PARKED_POLLING = 3, PARKED_IN_CREW = 4 };

/* workers.c */
/* How long kernels are looked at without a nap. */
#define KERNEL_BUSY_S 50e-6
/* Before the sleep: a chain of small tasks needs no futex. */
enum { REST_YIELDS = 30 };
/* Workers that are not asleep, or are about to wake; except may be NULL. */
int workers_awake(struct plat *plat, const struct worker *except);

/* crew.c: workers of GPUs that share a thread. */
/* Before the workers start, who share one; of so many workers at plat->workers. */
void crews_choose(struct plat *plat, int nworkers);
/* Their threads have ended. */
void crews_close(struct plat *plat);
/* Is the worker the one that has its crew's thread?  0 for who is in no crew. */
int crew_leads(const struct plat *plat, const struct worker *worker);
/* The leader's entry of plat->threads; NULL: the worker is in no crew. */
pthread_t *crew_thread(struct plat *plat, const struct worker *worker);
/* The thread of that leader. */
void *crew_main(void *leader);
/* The worker was parked in its crew, and has been unmarked. */
void crew_wake(struct worker *worker);

/* interleaved.c */
/* Before the workers start: does one of them poll?  It is progress.worker. */
void interleaved_choose(struct plat *plat, struct worker *workers, int nworkers);
/* The life of that worker. */
void interleaved_run(struct plat *plat, struct worker *worker);

/* helper.c: an idle worker polls. */
/* What a worker remembers: when it last polled or woke, what it had executed and which
 * kicks it had seen by then, and how often its tasks were long lately. */
struct helping {
	double since_s;
	uint64_t executed;
	int kicks, nslow;
	/* Of one that is not the helper: the count of polls that it saw, since when it
	 * stands still, or 0, and how many steps are left before the next look. */
	int npolled, nshort;
	double still_s;
};

/* What one who leaves polling to the helper has seen of it. */
struct helped {
	int npolls, kicks;
};

/* worker_step(), and a look at what its driver started.  1: something was done. */
int worker_turn(struct worker *worker);
/* Of the worker's own thread. */
void worker_thread_name(const struct worker *worker, char *name, size_t bytes);
/* There is nothing to do: poll for a while, where no other worker does, until there is.
 * 1 when the worker has stepped. */
int helper_rest(struct plat *plat, struct worker *worker, struct helping *helping);
/* Poll at once, as the helper.  0: another one may have the post.  advanced: what the
 * poll returned. */
int helper_poll(struct plat *plat, struct worker *worker, struct helping *helping,
		int *advanced);
/* It has stepped: poll if it is time to, or if all others do not. */
void helper_look(struct plat *plat, struct worker *worker, struct helping *helping);
/* It has slept. */
void helper_woke(struct plat *plat, const struct worker *worker, struct helping *helping);
/* It steps no more. */
void helper_quit(struct plat *plat, struct worker *worker, struct helping *helping);
/* The calling thread is going to wait, perhaps in a worker's kernel: it has no post then.
 */
void helper_waits(struct plat *plat);
/* Did a helper poll since *seen, and will it answer kicks?  Else nobody has the post
 * afterwards, and the caller has to poll.  Changes *seen. */
int helper_answers(struct plat *plat, struct helped *seen);

/* threads.c */
enum { MAX_THREADS = 256 };

/* n: -1: too many. */
struct thread_ids {
	int n, ids[MAX_THREADS];
};

void threads_note(struct thread_ids *seen);
/* The same, before MPI starts: how many of them are the library's, or -1 when others than
 * these and the caller could start some.  Those which are there after it are MPI's. */
int threads_note_alone(struct thread_ids *seen);
void threads_add_of_mpi(const struct thread_ids *seen, int nours);
/* Those of that name which are there since then are a message library's. */
void threads_add_new(const struct thread_ids *seen, const char *name);
/* Fill ids with the process's threads, at most max; how many there are, or -1. */
int threads_of_process(int *ids, int max);
/* Threads that neither the library nor MPI has started; -1: unknown. */
int threads_of_program(struct plat *plat);
/* Is id among n of them? */
int threads_are_among(int id, const int *ids, int n);
/* Look whether the node has come to a standstill; waits as for watchdog_is_due(). */
void threads_look(struct plat *plat, double now_s, int waits);
/* The same each period, where no thread of the program waits in the library, and so none
 * looks: then only a proof is told.  *look_s: when it is next. */
void threads_look_for_all(struct plat *plat, double *look_s);
/* No task is left: does anything go on here beside the threads of the program? */
int threads_are_busy(struct plat *plat);
/* Does no thread of the process but the caller run, or want to? */
int threads_sleep(void);
/* Of these threads, as asleep_count() counts, nobody is left who could wake one: they are
 * those of the program and the workers that do not rest. */
int threads_sleep_for_ever(struct plat *plat, int nasleep);

/* asleep.c */
/* Threads that nothing of the library's holds, and that have slept since *before, which
 * becomes what is so now, in locks, conditions or semaphores which only a thread of this
 * process can open. */
int asleep_count(struct plat *plat, struct asleep **before);

/* mpi_blocking.c: the one of this name, whose number among the hidden ones is index. */
void *real_mpi_hidden(int index, const char *name);

/* wait.c */
/* Sleep while *word is value, for timeout_s at most; 0: without limit. */
void real_futex_wait(int *word, int value, double timeout_s);
void real_futex_wake(int *word, int nthreads);
/* How long to nap between polls after so much silence; 0: not yet, yield. */
double wait_nap_s(double silence_s, double busy_s);
/* How long to sleep while a worker polls; since_s: since when it does, 0 when it has not
 * done so before. */
double wait_helped_nap_s(struct plat *plat, double *since_s);
/* A thread that polls, since the network was last heard of. */
struct spin {
	double heard_s, limit_s; /* how long it does not yield from then on; -1: it has */
};

void spin_start(struct plat *plat, struct spin *spin, double now_s);
/* Before that: it was heard while this thread polled. */
void spin_heard(struct plat *plat, struct spin *spin);
/* Nothing came yet: 1 when it is too early to give the core away. */
int spin_on(struct plat *plat, struct spin *spin, double now_s);
/* Let a thread that waits at a gate look again.  1 when there was one. */
int wait_disturb(struct plat *plat, int nthreads);

/* bell.c */
void bell_open(struct plat *plat);
void bell_close(struct plat *plat);
/* Sleep until the transport, or a kick that came after kicks was read, wakes who calls.
 * 0: the transport cannot, and nobody has slept. */
int bell_sleep(struct plat *plat, int state, int kicks);
/* Wake the thread that polls, after a kick. */
void bell_rouse(struct progress *progress);
/* How long another thread may nap that would have napped for nap_s. */
double bell_nap_s(const struct plat *plat, double nap_s);

/* progress.c */
static inline int progress_has_poll(const struct progress *progress)
{
	return __atomic_load_n(&progress->poll, __ATOMIC_SEQ_CST) != NULL;
}

/* Sleep for so long, or until a kick that came after kicks was read; where the transport
 * wakes the sleeper, until it does. */
void progress_sleep(struct plat *plat, int state, int kicks, double nap_s);
/* How to sleep after a poll that advanced so much (as its result), when the network, or
 * a kick, was last heard of at heard_s. */
enum progress_state progress_rest(struct plat *plat, int advanced, double heard_s,
				  double *nap_s);
/* Wake the thread that polls: of our own, or the worker's. */
void progress_wake(struct plat *plat);
/* Wake one who can poll: a waiter rather than the thread. */
void progress_call(struct plat *plat);
/* Have a timer look whether anybody polls, from now on as long as there is a poll. */
void unpolled_start(struct plat *plat);
/* Poll once; as the poll function's result, < 0 when there is none. */
int progress_poll(struct plat *plat);
/* A poller leaves.  advanced: what its last poll said; missed_kick: there was a kick
 * since.  The progress thread must not sleep over what was left to the poller. */
void progress_take_over(struct plat *plat, int advanced, int missed_kick);

/* workers.c: cores. */
extern const struct worker_driver cpu_driver;

/* summary.c: when the node is about to close. */
void real_summary_write(const struct node *node);

#endif
