/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
/* The public header declares its functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <smpi/smpi_helpers_internal.h>
#include <starpu_thread.h>

#include "sim/pthreads.h"

/*
 * leave.c - the program leaves before its end: one rank's process on a real machine, all
 * of them here.
 *
 * Ours come first when the program's symbols are looked up, as in clock.c; the library
 * itself leaves by sim_leave().
 */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

void sim_leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static int is_open(const struct sim *sim)
{
	return sim->nplats > 0 && !sim->has_ended && !sim_is_child();
}

/* Whoever it is, the simulation of all ends; not with success where ranks are lost. */
__attribute__((noreturn)) static void end_all(const char *call, int status)
{
	const struct node *node = sim_is_stranger() ? NULL : plat_self();
	struct fault fault = {.rank = ORR_NO_RANK};
	char where[512] = " in a thread that is no rank";

	if (!sim_is_stranger()) {
		fault = report_who();
		fault_describe(&fault, where, sizeof(where));
	}
	orr_complain(
		node ? node->rank : ORR_NO_RANK,
		"%s%s ends the simulation of all ranks: on a real machine the others "
		"could not go on.  Return to main, call starpu_mpi_shutdown() and "
		"MPI_Finalize() there, and return from it",
		call, where);
	report_exit(status == 0 && (!node || node->size > 1) ? EXIT_FAILURE : status);
}

/* SMPI ends the calling actor; a callback is none, and a thread is not the program. */
void smpi_exit(int status)
{
	struct node *node;

	if (sim_is_child()) {
		fflush(NULL); /* what else exit() calls would end the simulation */
		sim_leave(status);
	}
	node = plat_self();
	if (sim_is_main())
		NEXT(smpi_exit)(status);
	orr_complain(
		node ? node->rank : ORR_NO_RANK,
		"exit(%d) in a callback, a kernel or a thread ends the simulation of "
		"all ranks: return to main to end one",
		status);
	/* As on a real machine, where the other ranks cannot go on. */
	report_exit(status == 0 && node && node->size > 1 ? EXIT_FAILURE : status);
}

/* Of a library: programs have a macro of SMPI's, which makes it smpi_exit(). */
void exit(int status)
{
	if (sim_is_stranger() || !sg_actor_self())
		NEXT(exit)(status);
	smpi_exit(status);
}

/* SMPI answers with the number of an actor, and kill() and its kin take it for that of a
 * process of the machine, as 1. */
pid_t smpi_getpid(void); /* SMPI's header has no prototype. */
pid_t smpi_getpid(void)
{
	return getpid();
}

__attribute__((noreturn)) static void leave(const char *name, int status)
{
	char call[32];

	if (!is_open(sim_get()))
		sim_leave(status);
	snprintf(call, sizeof(call), "%s(%d)", name, status);
	end_all(call, status);
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
	if (!is_open(sim_get()))
		NEXT(quick_exit)(status);
	leave("quick_exit", status);
}

/* All ranks are one thread, but a thread of the simulation may end.  What a kernel, a
 * callback or main leaves undone is a failure, of one rank as well. */
void pthread_exit(void *result)
{
	struct sim_thread *thread = pthreads_self();

	if (thread)
		pthreads_leave(thread, result);
	if (sim_is_stranger() || !is_open(sim_get()))
		NEXT(pthread_exit)(result);
	if (!sim_get()->in_kernel && !sim_is_main())
		starpu_pthread_exit(result);
	end_all("pthread_exit()", EXIT_FAILURE);
}
