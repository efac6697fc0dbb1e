/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_WATCHDOG_H
#define ORR_CORE_WATCHDOG_H

/*
 * watchdog.h - notices, on a real machine, that a node has come to a standstill.
 *
 * The threads that wait look themselves, now and then, so that it needs no thread and
 * costs nothing while anything happens.  Three findings:
 * - active: something runs, or has happened lately.  Said only of kernels and callbacks
 *   that run for many times ORRERY_WATCHDOG seconds while nothing else happens.
 * - idle: nothing has happened for ORRERY_WATCHDOG seconds and nothing runs, but a
 *   thread or signal handler of the program that is unknown here may change that.
 *   Said, once and then rarely.
 * - stuck: every thread of the program is inside a wait of this library, or asleep in a
 *   lock that only another thread could open, as the kernels of all workers that do not
 *   rest; no timer is set: nothing can happen any more, but for messages of other
 *   ranks.  Without such the run ends with the list of stuck.h; with them, the MPI
 *   layer finds out whether all ranks are stuck (mpi/watch.h).
 */
#include "core/node.h"

enum watchdog_verdict { WATCHDOG_ACTIVE, WATCHDOG_IDLE, WATCHDOG_STUCK };

/* What the backend knows of the process. */
struct watchdog_facts {
	int nawake;   /* workers that do not sleep: they may run a kernel or a callback */
	int ntimers;  /* set, or firing now */
	int nthreads; /* of the program: not the library's, not MPI's; -1: unknown */
	/* Of these workers and threads: those that sleep in a lock, a condition or a
	 * semaphore of the program's, since the look before, and that only a thread of
	 * this process can wake. */
	int nasleep;
	int only_proof;  /* nobody waits here: nothing less is worth a word */
	const char *why; /* why certainty is not to be had; NULL when it is */
	/* Does the thread belong to the library (its worker, for example)? */
	int (*is_ours)(struct plat *plat, const void *thread);
};

/* The seconds between two looks of a waiting thread; 0: never. */
double watchdog_period_s(const struct node *node);
/* Look whether facts are needed: 1 when nothing has happened for long; then nobody else
 * looks until watchdog_look() has returned.  waits: by a thread that waits, and looks
 * each period; others look when they come by. */
int watchdog_is_due(struct node *node, double clock_s, int waits);
/* Judge and act; may end the run. */
void watchdog_look(struct node *node, const struct watchdog_facts *facts);
/* The date of the last look, without the time that the process was stopped (a signal, a
 * debugger, a machine that sleeps): that is no silence. */
double watchdog_now_s(const struct node *node);
/* With STARPU_WATCHDOG_TIMEOUT, on a real machine: look that often whether any task has
 * ended, until the node closes. */
void watchdog_start(struct node *node);
/* Changes whenever anything happens on the node. */
unsigned long watchdog_signature(struct node *node);
/* For a layer that has more to say (node->on_standstill): the verdict of the last look,
 * and what has become of it, with the signature of this moment. */
enum watchdog_verdict watchdog_verdict(const struct node *node);
enum watchdog_verdict watchdog_verdict_now(struct node *node, unsigned long *signature);
/* The silence after which the next report is due. */
double watchdog_report_s(const struct node *node);
void watchdog_set_report_s(struct node *node, double silence_s);
/* Print what is waited for, as the rank's complaint. */
void watchdog_list(struct node *node);

#endif
