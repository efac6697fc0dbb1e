/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "core/fault.h"
#include "core/outside.h"
#include "real/real.h"

/*
 * leave.c - the process ends while its node is open, or divides.
 *
 * A rank that leaves like this keeps the others waiting, and a launcher takes status 0
 * for a good end: say it, and leave with another status.  Programs of one rank may leave
 * as they like.  A child of fork() has none of the library's threads: it starts with a
 * library that was never initialised.
 *
 * Launchers end a run, too, in which a rank leaves after MPI_Init() and without
 * MPI_Finalize(), and say little of it: who does that is told while no node is open.
 */
static void do_last(void)
{
	struct node *node = plat_self();

	if (node && node->plat && node->plat->last)
		node->plat->last(node);
}

/* Whose code was it? */
static void tell_fault(int number, const siginfo_t *info)
{
	struct node *node = plat_self();
	struct fault fault = {.number = number,
			      .info = info,
			      .date_s = FAULT_NO_DATE,
			      .caller = pthread_getspecific(real_get()->caller),
			      .place = syscall(SYS_gettid) == getpid()
					       ? "the main thread"
					       : "a thread that is no worker"};

	if (!node)
		return;
	fault.rank = node->rank;
	fault.nranks = node->size;
	fault_tell(&fault);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct real *real = real_get();

	(void)context;
	if (signals_is_fault(&real->signals, number, info))
		tell_fault(number, info);
	if (real->signals.is_ending)
		do_last();
	signals_pass(&real->signals, number, info);
}

void leave_watch_faults(int is_wanted)
{
	struct real *real = real_get();

	if (!is_wanted) {
		signals_unwatch(&real->signals);
		return;
	}
	if (!real->signal_stack)
		real->signal_stack = signals_take_stack();
	signals_watch(&real->signals, on_signal);
}

void plat_at_end(struct plat *plat, void (*last)(struct node *node))
{
	plat->last = last;
}

void plat_catch_signals(struct plat *plat, int is_wanted)
{
	(void)plat;
	if (is_wanted)
		signals_catch(&real_get()->signals, on_signal);
	else
		signals_release(&real_get()->signals);
}

/* The rank of the process that leaves and has not called MPI_Finalize(), or ORR_NO_RANK
 * where nobody misses that. */
static int rank_unfinished(void)
{
	const struct real *real = real_known();

	return real && real->joined.size > 1 && real->joined.process == getpid()
		       ? real->joined.rank
		       : ORR_NO_RANK;
}

static int is_aborting(void)
{
	struct real *real = real_known();

	return real && orr_load(&real->joined.is_aborting);
}

static void tell_unfinished(const char *how, int status)
{
	int rank = rank_unfinished();

	if (rank != ORR_NO_RANK)
		orr_complain(
			rank,
			"the program leaves with status %d, %s, after MPI_Init() and "
			"without MPI_Finalize(): the launcher ends the other ranks.  "
			"Call MPI_Finalize() first",
			status, how);
}

/* Ranks that wait for this one: a pretended size has none. */
static int has_others(const struct node *node)
{
	return node && node->mpi && node->size > 1 &&
	       node_knobs(node)->mpi_fake_size <= 0;
}

static void leaving(int status, void *arg)
{
	const struct node *node = plat_self();

	(void)arg;
	do_last();
	if (!has_others(node)) {
		tell_unfinished("by exit() or at the end of main()", status);
		return;
	}
	orr_complain(
		node->rank,
		"the program leaves with status %d, by exit() or at the end of main(), "
		"while the library runs: the other ranks cannot go on.  Call "
		"starpu_mpi_shutdown() and MPI_Finalize() first",
		status);
	if (status != 0)
		return;
	fflush(NULL);
	syscall(SYS_exit_group, EXIT_FAILURE);
}

/* ---- without what exit() calls ----------------------------------------- */

/* The C library's own; a thread may leave before the table is found. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* The rank of the process that leaves, or ORR_NO_RANK where nobody waits for it: it has
 * no other ranks, or is a child, also one that shares the memory of this process. */
static int rank_that_leaves(void)
{
	const struct node *node = plat_self();

	return has_others(node) && node->plat->process == getpid() ? node->rank
								   : ORR_NO_RANK;
}

__attribute__((noreturn)) static void leave(const char *name, int status)
{
	int rank = rank_that_leaves();

	if (is_aborting()) {
		/* It has been said. */
	} else if (rank != ORR_NO_RANK) {
		orr_complain(
			rank,
			"the program leaves by %s(%d) while the library runs: the other "
			"ranks cannot go on.  Return to main, call "
			"starpu_mpi_shutdown() and MPI_Finalize() first",
			name, status);
		status = status == 0 ? EXIT_FAILURE : status;
	} else {
		tell_unfinished("at once", status);
	}
	for (;;)
		syscall(SYS_exit_group, status);
}

void _exit(int status)
{
	leave("_exit", status);
}

void _Exit(int status)
{
	leave("_Exit", status);
}

void quick_exit(int status)
{
	if (rank_that_leaves() == ORR_NO_RANK) {
		tell_unfinished("by quick_exit()", status);
		NEXT(quick_exit)(status);
	}
	leave("quick_exit", status);
}

/* The system lists a thread for a moment after it has been joined. */
static int is_the_last_thread(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	int n = threads_of_program(plat_self()->plat);

	for (int i = 0; i < 10 && n > 1; i++) {
		nanosleep(&moment, NULL);
		n = threads_of_program(plat_self()->plat);
	}
	return n == 1;
}

/* Another thread of the program may go on and end it well; without one, nobody can. */
void pthread_exit(void *result)
{
	int rank = syscall(SYS_gettid) == getpid() ? rank_that_leaves() : ORR_NO_RANK;

	if (real_known())
		outside_refuse(pthread_getspecific(real_known()->caller),
			       "pthread_exit()");
	if (rank != ORR_NO_RANK && is_the_last_thread())
		orr_die(rank,
			"main ends by pthread_exit() while the library runs, and the "
			"program has no other thread: nobody can call "
			"starpu_mpi_shutdown(), and the other ranks cannot go on.  "
			"Call it, and MPI_Finalize(), before");
	NEXT(pthread_exit)(result);
	abort(); /* It does not return. */
}

void leave_watch(void)
{
	on_exit(leaving, NULL);
	pthread_atfork(NULL, NULL, real_forget);
}
