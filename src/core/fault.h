/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_FAULT_H
#define ORR_CORE_FAULT_H

/*
 * fault.h - a signal such as SIGSEGV ends the program: in whose code was it?
 *
 * Called by the backends' handlers of signals: it allocates nothing and takes no lock,
 * since anything may have been interrupted.
 */
#include <signal.h>

struct plat_caller;

enum { FAULT_NO_DATE = -1 };

struct fault {
	int number; /* of the signal */
	const siginfo_t *info;
	int rank, nranks;                 /* nranks 0: not known */
	const struct plat_caller *caller; /* who was interrupted, or NULL */
	const char *place;                /* where that says neither task nor worker */
	double date_s;                    /* of the simulation, or FAULT_NO_DATE */
};

/* Tell it on stderr. */
void fault_tell(const struct fault *fault);
/* " in the kernel of task ..., after ... of simulated time": the same for who only stays
 * where it is.  Its number and info are not looked at. */
void fault_describe(const struct fault *fault, char *bytes, size_t capacity);

#endif
