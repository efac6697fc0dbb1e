/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_SIGNALS_H
#define ORR_BASE_SIGNALS_H

/*
 * signals.h - those that end the process, for who has something to do before.
 *
 * What a signal would have done is done afterwards: a handler of the application or of
 * MPI runs, the process ends by the signal.  Ignored signals stay ignored.
 */
#include <signal.h>

enum { SIGNALS_ENDING = 9 };

struct signals {
	int is_caught;
	struct sigaction before[SIGNALS_ENDING];
};

/* Call handler for each from now on; does nothing the second time. */
void signals_catch(struct signals *signals, void (*handler)(int number));
/* Call it no longer: as before. */
void signals_release(struct signals *signals);
/* The last thing in the handler. */
void signals_pass(const struct signals *signals, int number);

#endif
