/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "sim/waiters.h"

#include <errno.h>

#include "core/wait.h"
#include "sim.h"

static void append(struct waiters *waiters, struct waiter *waiter)
{
	waiter->next = NULL;
	*(waiters->last ? &waiters->last->next : &waiters->first) = waiter;
	waiters->last = waiter;
}

static void take_out(struct waiters *waiters, struct waiter *waiter)
{
	struct waiter *before = NULL;

	for (struct waiter *w = waiters->first; w != waiter; w = w->next)
		before = w;
	*(before ? &before->next : &waiters->first) = waiter->next;
	if (waiters->last == waiter)
		waiters->last = before;
}

/* The waiter is on its thread's stack: it may be gone when this has been called. */
int waiters_wake(struct waiters *waiters, struct waiter *waiter)
{
	if (!waiter)
		return 0;
	take_out(waiters, waiter);
	plat_gate_open(NULL, &waiter->gate);
	return 1;
}

int waiters_wake_first(struct waiters *waiters)
{
	return waiters_wake(waiters, waiters->first);
}

/* Each release lets other threads run, which may come back to wait: not those. */
int waiters_wake_all(struct waiters *waiters)
{
	int n = 0;

	for (struct waiter *waiter = waiters->first; waiter; waiter = waiter->next)
		n++;
	for (int i = 0; i < n; i++)
		waiters_wake_first(waiters);
	return n;
}

int waiters_wake_first_of(struct waiters *waiters, const void *object)
{
	struct waiter *waiter = waiters->first;

	while (waiter && waiter->object != object)
		waiter = waiter->next;
	return waiters_wake(waiters, waiter);
}

int waiters_wake_all_of(struct waiters *waiters, const void *object)
{
	int n = 0;

	for (struct waiter *waiter = waiters->first; waiter; waiter = waiter->next)
		n += waiter->object == object;
	for (int i = 0; i < n; i++)
		waiters_wake_first_of(waiters, object);
	return n;
}

int waiters_have_writer(const struct waiters *waiters, const void *object)
{
	const struct waiter *waiter = waiters->first;

	while (waiter && !(waiter->writes && waiter->object == object))
		waiter = waiter->next;
	return waiter != NULL;
}

static void refuse(const struct node *node, const char *who)
{
	struct fault fault = report_who();
	char where[512];

	fault_describe(&fault, where, sizeof(where));
	orr_die(node ? node->rank : ORR_NO_RANK,
		"%s: a callback or kernel would block for ever,%s: in simulation they "
		"run one at a time, each to its end; they may signal, and take what is "
		"free, but not wait.  Let main or a thread wait, or make a task depend "
		"on the other",
		who, where);
}

void waiters_join(struct waiters *waiters, struct waiter *waiter, const char *who)
{
	if (sim_get()->in_kernel)
		refuse(plat_self(), who);
	waiter->gate.waiter = sim_thread_self();
	append(waiters, waiter);
}

int waiters_await(struct waiters *waiters, struct waiter *waiter, double until_s,
		  const char *who)
{
	struct node *node = plat_self();

	if (node && until_s < 0)
		wait_at(node, &waiter->gate, WAIT_THREAD, who);
	else
		sim_block(node ? node->plat : NULL, &waiter->gate.open, until_s);
	if (waiter->gate.open)
		return 0;
	take_out(waiters, waiter);
	sim_tried(); /* The date may be past, and who waits may come again. */
	return ETIMEDOUT;
}

void waiters_leave(struct waiters *waiters, struct waiter *waiter)
{
	if (!waiter->gate.open)
		take_out(waiters, waiter);
}

int waiters_block(struct waiters *waiters, struct waiter *waiter, double until_s,
		  const char *who)
{
	waiters_join(waiters, waiter, who);
	return waiters_await(waiters, waiter, until_s, who);
}
