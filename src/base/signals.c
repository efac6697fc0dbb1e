/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "base/signals.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/check.h"

static const int numbers[SIGNALS_ENDING] = {SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGABRT,
					    SIGSEGV, SIGBUS, SIGFPE,  SIGILL};

enum { FIRST_FAULT = 4 };

static int place_of(int number)
{
	for (int i = 0; i < SIGNALS_ENDING; i++)
		if (numbers[i] == number)
			return i;
	return -1;
}

/* Of a library whose handlers report and let the process end. */
static int only_reports(const struct sigaction *action)
{
	static const char *const libraries[] = {"libopen-pal", "libsimgrid",
						"libgfortran"};
	Dl_info place;

	if (action->sa_handler == SIG_DFL)
		return 1;
	if (!dladdr((const void *)(uintptr_t)action->sa_handler, &place) ||
	    !place.dli_fname)
		return 0;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strstr(place.dli_fname, libraries[i]))
			return 1;
	return 0;
}

static void take(struct signals *signals, int i, signals_handler_t handler, int as_fault)
{
	struct sigaction *before = &signals->before[i];
	struct sigaction action;

	if (signals->caught & 1 << i || sigaction(numbers[i], NULL, before) != 0 ||
	    before->sa_handler == SIG_IGN || (as_fault && !only_reports(before)))
		return;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	/* A stack that has overflowed cannot run it. */
	action.sa_flags = SA_ONSTACK | SA_SIGINFO;
	if (sigaction(numbers[i], &action, NULL) == 0)
		signals->caught |= 1 << i;
	if (as_fault)
		signals->faults |= 1 << i;
}

static void release(struct signals *signals, int i)
{
	if (signals->caught & 1 << i)
		sigaction(numbers[i], &signals->before[i], NULL);
	signals->caught &= ~(1 << i);
	signals->faults &= ~(1 << i);
}

void signals_catch(struct signals *signals, signals_handler_t handler)
{
	signals->is_ending = 1;
	for (int i = 0; i < SIGNALS_ENDING; i++)
		take(signals, i, handler, 0);
}

void signals_release(struct signals *signals)
{
	signals->is_ending = 0;
	for (int i = 0; i < SIGNALS_ENDING; i++)
		if (!(signals->faults & 1 << i))
			release(signals, i);
}

void signals_watch(struct signals *signals, signals_handler_t handler)
{
	for (int i = FIRST_FAULT; i < SIGNALS_ENDING; i++)
		take(signals, i, handler, 1);
}

void signals_unwatch(struct signals *signals)
{
	for (int i = FIRST_FAULT; i < SIGNALS_ENDING; i++)
		if (signals->faults & 1 << i)
			release(signals, i);
}

int signals_is_fault(const struct signals *signals, int number, const siginfo_t *info)
{
	int i = place_of(number);

	if (i < 0 || !(signals->faults & 1 << i))
		return 0;
	return !orr_has_said_why(info);
}

/* By an instruction, which meets it again when the handler has returned: what was there
 * before sees the same address. */
static int comes_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 && number != SIGABRT;
}

void signals_pass(const struct signals *signals, int number, const siginfo_t *info)
{
	int i = place_of(number);

	if (i >= 0)
		sigaction(number, &signals->before[i], NULL);
	/* It comes when the handler has returned. */
	if (!comes_again(number, info))
		raise(number);
}

void *signals_take_stack(void)
{
	stack_t stack = {.ss_size = SIGNALS_STACK_BYTES}, before;

	if (sigaltstack(NULL, &before) != 0 ||
	    (!(before.ss_flags & SS_DISABLE) && before.ss_size >= SIGNALS_STACK_BYTES))
		return NULL;
	stack.ss_sp = malloc(SIGNALS_STACK_BYTES);
	if (stack.ss_sp && sigaltstack(&stack, NULL) == 0)
		return stack.ss_sp;
	free(stack.ss_sp);
	return NULL;
}

void signals_drop_stack(void *memory)
{
	stack_t stack = {.ss_flags = SS_DISABLE, .ss_size = SIGNALS_STACK_BYTES};

	if (memory)
		sigaltstack(&stack, NULL);
	free(memory);
}

/* ---- calls in handlers ------------------------------------------------- */

/* A frame that was interrupted goes on at its instruction, not behind a call. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame,
					 void *is_interrupted)
{
	int before = 0;

	(void)_Unwind_GetIPInfo(frame, &before);
	if (!before)
		return _URC_NO_REASON;
	*(int *)is_interrupted = 1;
	return _URC_END_OF_STACK;
}

int signals_in_handler(void)
{
	int is_interrupted = 0;

	_Unwind_Backtrace(look_at_frame, &is_interrupted);
	return is_interrupted;
}

void signals_refuse_handler(void)
{
	if (signals_in_handler())
		orr_die(ORR_NO_RANK,
			"a handler of a signal calls a function of the library, and the "
			"signal has come while its thread was in another one, which "
			"cannot go on before the handler returns: let the handler set a "
			"variable of type sig_atomic_t or call sem_post(), and the "
			"program call the library when it sees that");
}
