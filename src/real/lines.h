/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_LINES_H
#define ORR_REAL_LINES_H

/*
 * lines.h - where the system does not show all ranks to each other, as on several hosts,
 * it tells by connections that a rank has ended.
 *
 * The ranks that meet form a tree, with a TCP connection along each of its edges, which
 * carries nothing while all goes well.  When a process ends, the system of its machine
 * closes its connections, whatever it was doing; when the machine or the network fails,
 * that of this machine notices by probes of its own.  Who sees this tells the ranks that
 * it can reach, and these others.  A rank that takes leave has said so before.  Nothing
 * is known of what cannot be reached from the beginning.
 *
 * A thread of the process serves them, which sleeps all the time.  They stay until the
 * next ranks have met, or MPI ends, so that they are there between two lives.
 */
#include "real/real.h"

enum lines_fate {
	LINES_NOTHING, /* is known of it */
	LINES_ENDED,   /* its process, without leave */
	LINES_CUT      /* its machine does not answer, nor does one with its addresses */
};

/* The ranks of the communicator tell each other where they are.  Collective; they do
 * nothing where all see each other, or one does not want to be watched. */
void lines_meet(struct plat *plat, const struct net_config *config, int sees_all);
/* Takes leave. */
void lines_end(void);
/* In a child of fork(): they are its parent's. */
void lines_forget(struct lines *lines);
/* Their threads. */
int lines_nthreads(void);
/* Of a rank of those who met last. */
enum lines_fate lines_fate(int rank);
/* The first that was lost, with its fate, and its number in MPI_COMM_WORLD or -1; or -1:
 * none is known to be. */
int lines_lost(enum lines_fate *fate, int *world);
/* Would the end of any rank be told?  As far as this one can know. */
int lines_hold(void);
/* A machine that has not answered for so long counts as lost. */
double lines_patience_s(void);

#endif
