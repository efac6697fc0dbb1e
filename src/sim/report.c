/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "core/fault.h"
#include "core/stuck.h"
#include "sim.h"
#include "sim/posix.h"

enum { REPORT_RANKS = 20, EXIT_DEADLOCK = 3 };

void report_last(void)
{
	if (sim_is_child())
		return; /* all of it is the parent's */
	for (struct plat *plat = sim_get()->first; plat; plat = plat->next)
		if (plat->last)
			plat->last(plat->node);
}

/* SimGrid's handler of Ctrl-C ends the process by exit(), on the stack of whoever runs;
 * while it runs, its signal is blocked. */
static int is_interrupted(void)
{
	sigset_t blocked;

	return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
	       sigismember(&blocked, SIGINT) == 1;
}

static void say_early_end(int status)
{
	orr_complain(
		ORR_NO_RANK,
		"the process ends at t=%.9g s, before the simulation has ended: a "
		"kernel, a callback or main has called pthread_exit() or the like, or "
		"a function of a library that calls exit(%d), as err() does, and all "
		"ranks are one process; let them return",
		simgrid_get_clock(), status);
}

static void on_exit_of_process(int status, void *arg)
{
	(void)arg;
	report_last();
	if (sim_get()->has_ended || sim_is_child() || (status != 0 && !sg_actor_self()))
		return;
	if (!is_interrupted())
		say_early_end(status);
	fflush(NULL);
	sim_leave(status ? status : EXIT_FAILURE);
}

void report_watch_end(struct sim *sim)
{
	if (!sim->ends_watched)
		on_exit(on_exit_of_process, NULL);
	sim->ends_watched = 1;
}

void report_left_open(const struct sim *sim)
{
	const struct plat *first = NULL;
	int count = 0;

	for (const struct plat *plat = sim->first; plat; plat = plat->next) {
		if (!plat->node->mpi || plat->node->size < 2)
			continue;
		first = first ? first : plat;
		count++;
	}
	if (first)
		orr_complain(first->node->rank,
			     "the program ends without starpu_mpi_shutdown() on %d of %d "
			     "ranks: on a real machine it would fail, since ranks wait "
			     "for each other there; call it, then MPI_Finalize()",
			     count, first->node->size);
}

/* What runs when it is no event of a node's. */
static void add_main(struct fault *fault)
{
	struct sim *sim = sim_get();
	struct sim_thread *thread = sg_actor_self() ? sg_actor_self_get_data() : NULL;

	if (!thread || !thread->rank)
		return;
	fault->caller = &thread->caller;
	fault->place = thread->call      ? thread->call
		       : thread->is_main ? "the main"
					 : "a thread";
	if (thread->rank->place > 0) {
		fault->rank = thread->rank->place - 1;
		fault->nranks = sim->world_size;
	}
	if (thread->rank->node) {
		fault->rank = thread->rank->node->rank;
		fault->nranks = thread->rank->node->size;
	}
}

static void add_event(struct fault *fault)
{
	const struct sim *sim = sim_get();

	fault->date_s = sim->now_s;
	if (!sim->current)
		return;
	fault->place = "an event";
	fault->rank = sim->current->node->rank;
	fault->nranks = sim->current->node->size;
	fault->caller = sim->worker ? &sim->worker->caller : &sim->current->events;
}

struct fault report_who(void)
{
	struct fault fault = {.date_s = simgrid_get_clock(), .place = "no rank"};

	if (sim_get()->in_kernel)
		add_event(&fault);
	else
		add_main(&fault);
	return fault;
}

/* Whose code was it? */
static void tell_fault(int number, const siginfo_t *info)
{
	struct fault fault = report_who();

	fault.number = number;
	fault.info = info;
	fault_tell(&fault);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct sim *sim = sim_get();

	(void)context;
	if (signals_is_fault(&sim->signals, number, info) && !sim_is_child())
		tell_fault(number, info);
	if (sim->signals.is_ending)
		report_last();
	signals_pass(&sim->signals, number, info);
}

void report_faults(struct sim *sim, int is_wanted)
{
	if (!is_wanted) {
		signals_unwatch(&sim->signals);
		return;
	}
	if (!sim->signal_stack)
		sim->signal_stack = signals_take_stack();
	signals_watch(&sim->signals, on_signal);
}

void plat_at_end(struct plat *plat, void (*last)(struct node *node))
{
	plat->last = last;
}

void plat_catch_signals(struct plat *plat, int is_wanted)
{
	if (is_wanted)
		signals_catch(&plat->sim->signals, on_signal);
	else
		signals_release(&plat->sim->signals);
}

void report_exit(int code)
{
	report_last();
	fflush(NULL);
	sim_leave(code);
}

static void say(void *arg, const char *line)
{
	struct plat *plat = arg;

	fprintf(stderr, "[orrery][rank %d]   %s\n", plat->node->rank, line);
}

static void describe_main(const struct sim_thread *thread, int rank)
{
	fprintf(stderr, "[orrery][rank %d] its main waits in %s\n", rank,
		thread->call ? thread->call : "a function outside the library");
}

/* Its other threads, by the functions of MPI that they are in. */
static void describe_threads(const struct sim_rank *rank, int place)
{
	const char *last = "", *next;
	int n;

	for (next = last; (n = sim_count_in_mpi(rank, last, &next)) > 0; last = next)
		fprintf(stderr, "[orrery][rank %d] %d of its threads %s in %s\n", place,
			n, n == 1 ? "waits" : "wait", next);
}

/* A rank on which the library runs. */
static void describe(struct plat *plat)
{
	int rank = plat->node->rank;

	if (plat->opener && plat->opener->is_napping)
		fprintf(stderr,
			"[orrery][rank %d] its main calls starpu_mpi_test(), "
			"sched_yield() or the like again and again, and waits for:\n",
			rank);
	else if (plat->gate)
		fprintf(stderr, "[orrery][rank %d] waits for:\n", rank);
	else if (!plat->opener)
		fprintf(stderr,
			"[orrery][rank %d] its main has ended without "
			"starpu_mpi_shutdown(): the other ranks cannot go on\n",
			rank);
	else
		describe_main(plat->opener, rank);
	if (plat->polls && plat->opener && plat->opener->call)
		fprintf(stderr,
			"[orrery][rank %d] under --transport mpi its messages move only "
			"while its main is in a function of the library, elsewhere also "
			"in MPI's: let it wait there first (starpu_mpi_wait_for_all(), "
			"starpu_mpi_barrier()), or use --transport routes\n",
			rank);
	if (plat->opener)
		describe_threads(plat->opener->rank, rank);
	stuck_describe(plat->node, say, plat);
}

/* Is it a main that has not opened the library, or has closed it again? */
static int is_outside(const struct sim_thread *thread)
{
	return !thread->rank->node;
}

static void describe_outside(const struct sim_thread *thread, int rank)
{
	describe_main(thread, rank);
	describe_threads(thread->rank, rank);
}

static int count_ranks(const struct sim *sim)
{
	int n = sim->nplats;

	for (struct sim_thread *thread = sim->first_main; thread; thread = thread->next)
		n += is_outside(thread);
	return n;
}

static void describe_all(const struct sim *sim)
{
	int n = 0;

	for (struct plat *plat = sim->first; plat; plat = plat->next)
		if (n++ < REPORT_RANKS)
			describe(plat);
	for (struct sim_thread *thread = sim->first_main; thread; thread = thread->next)
		if (is_outside(thread) && n++ < REPORT_RANKS)
			describe_outside(thread,
					 thread->rank->place - (thread->rank->place > 0));
}

static void list(const char *what, const char *why)
{
	struct sim *sim = sim_get();
	int nranks = count_ranks(sim), first, nending = statics_are_ending(&first);

	fflush(stdout);
	fprintf(stderr, "[orrery] simulation %s at t=%.9g s: %s; %d ranks wait:\n", what,
		simgrid_get_clock(), why, nranks);
	describe_all(sim);
	if (nending > 0)
		fprintf(stderr,
			"[orrery][rank %d] main has ended, on %d ranks in all, and a "
			"destructor of a static object of the program waits for a "
			"thread, a lock or the like; on a real machine the process "
			"would not end\n",
			first, nending);
	if (nranks > REPORT_RANKS)
		fprintf(stderr, "[orrery] and %d more\n", nranks - REPORT_RANKS);
}

void report_waits(const char *why)
{
	list("goes on", why);
}

void report_end(const char *why)
{
	list("stopped", why);
	report_exit(EXIT_DEADLOCK);
}

void report_deadlock(void)
{
	report_end("nothing can make progress");
}
