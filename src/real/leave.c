/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "real/real.h"

/*
 * leave.c - the process ends while its node is open, or divides.
 *
 * A rank that leaves like this keeps the others waiting, and a launcher takes status 0
 * for a good end: say it, and leave with another status.  Programs of one rank may leave
 * as they like.  A child of fork() has none of the library's threads: it starts with a
 * library that was never initialised.
 */
static void do_last(void)
{
	struct node *node = plat_self();

	if (node && node->plat && node->plat->last)
		node->plat->last(node);
}

static void on_signal(int number)
{
	do_last();
	signals_pass(&real_get()->signals, number);
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

static void leaving(int status, void *arg)
{
	const struct node *node = plat_self();

	(void)arg;
	do_last();
	if (!node || !node->mpi || node->size < 2)
		return;
	orr_complain(
		node->rank,
		"the program leaves with status %d, by exit() or at the end of main(), "
		"while the library runs: the other ranks cannot go on.  Call "
		"starpu_mpi_shutdown() and MPI_Finalize() first",
		status);
	if (status != 0)
		return;
	fflush(NULL);
	_exit(EXIT_FAILURE);
}

void leave_watch(void)
{
	on_exit(leaving, NULL);
	pthread_atfork(NULL, NULL, real_forget);
}
