/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/signals.h"

#include <string.h>

static const int numbers[SIGNALS_ENDING] = {SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGABRT,
					    SIGSEGV, SIGBUS, SIGFPE,  SIGILL};

void signals_catch(struct signals *signals, void (*handler)(int number))
{
	struct sigaction action;

	if (signals->is_caught)
		return;
	signals->is_caught = 1;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	/* A stack that has overflowed cannot run it. */
	action.sa_flags = SA_ONSTACK;
	for (int i = 0; i < SIGNALS_ENDING; i++) {
		struct sigaction *before = &signals->before[i];

		if (sigaction(numbers[i], NULL, before) == 0 &&
		    before->sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

void signals_release(struct signals *signals)
{
	for (int i = 0; signals->is_caught && i < SIGNALS_ENDING; i++)
		sigaction(numbers[i], &signals->before[i], NULL);
	signals->is_caught = 0;
}

void signals_pass(const struct signals *signals, int number)
{
	for (int i = 0; i < SIGNALS_ENDING; i++)
		if (numbers[i] == number)
			sigaction(number, &signals->before[i], NULL);
	/* It comes again when the handler has returned. */
	raise(number);
}
