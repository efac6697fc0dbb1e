/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_SIGNALS_H
#define ORR_BASE_SIGNALS_H

/*
 * signals.h - those that end the process, for who has something to do before.
 *
 * What a signal would have done is done afterwards: a handler of the application or of
 * MPI runs, the process ends by the signal.  Ignored signals stay ignored.
 *
 * The faults among them (a bad address, abort(), ...) come to the thread whose code is
 * wrong.  They are watched while nobody but MPI, SimGrid or Fortran does so, which only
 * report: an application with a handler of its own may go on afterwards.
 */
#include <signal.h>
#include <stddef.h>

enum { SIGNALS_ENDING = 9 };

/* Enough for a handler that prints; SimGrid's own stack for signals is smaller. */
enum { SIGNALS_STACK_BYTES = 64 * 1024 };

typedef void (*signals_handler_t)(int number, siginfo_t *info, void *context);

struct signals {
	int caught, faults; /* bits: of each that is caught; that is a watched fault */
	int is_ending;      /* all of them are wanted */
	struct sigaction before[SIGNALS_ENDING];
};

/* Call handler for each from now on; does nothing the second time. */
void signals_catch(struct signals *signals, signals_handler_t handler);
/* Call it no longer, but for watched faults: as before. */
void signals_release(struct signals *signals);
/* The same for faults alone. */
void signals_watch(struct signals *signals, signals_handler_t handler);
void signals_unwatch(struct signals *signals);
/* In the handler: is it a fault, to be reported?  Not when orr_die() has said why. */
int signals_is_fault(const struct signals *signals, int number, const siginfo_t *info);
/* The last thing in the handler. */
void signals_pass(const struct signals *signals, int number, const siginfo_t *info);

/* check.c: abort(), where it has been said why; the handler of SIGABRT can ask. */
void orr_abort(void) __attribute__((noreturn));
int orr_has_said_why(const siginfo_t *info);

/* Is the caller in a handler, of a signal that has interrupted its thread?  Takes long.
 */
int signals_in_handler(void);
/* A lock of ours that its holder waits for, or one that nobody gives back: the program
 * ends where a handler calls the library, which the signal has interrupted there. */
void signals_refuse_handler(void);

/* Handlers run on a stack of their own where the calling thread's has overflowed.  NULL:
 * it has one that is large enough.  To be dropped by the same thread. */
void *signals_take_stack(void);
void signals_drop_stack(void *stack);

#endif
