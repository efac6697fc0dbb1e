/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/hooks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/lasting.h"
#include "core/outside.h"

/* Between calls of a hook that asks for more, in microseconds. */
enum { SHORTEST_NAP_US = 20, LONGEST_NAP_US = 1000 };

struct hook {
	unsigned (*call)(void *arg);
	void *arg;
	int ncalls; /* under way */
};

/* All but what is atomic is under the lock. */
struct hooks {
	struct orr_lock lock;
	struct hook of[HOOK_KINDS][HOOKS_MOST];
	struct plat_timer timer;
	struct node *node;         /* whose timer it is */
	int n;                     /* atomic: hooks there are */
	int is_set;                /* atomic: the timer is */
	int nset;                  /* and has not done its work, so often */
	int nap_us;                /* atomic */
	struct plat_gate *closing; /* who waits until it has */
};

static struct hooks *hooks_get(struct lasting *lasting)
{
	void **at = (void **)&lasting->hooks;
	struct hooks *hooks = orr_load_ptr(at);

	if (hooks)
		return hooks;
	hooks = orr_alloc(sizeof(*hooks));
	hooks->nap_us = SHORTEST_NAP_US;
	orr_lock_init(&hooks->lock);
	if (orr_cas_ptr(at, NULL, hooks))
		return hooks;
	free(hooks);
	return orr_load_ptr(at);
}

/* ---- waking ---------------------------------------------------------- */

static void on_timer(struct plat_timer *timer)
{
	struct hooks *hooks = ORR_CONTAINER(timer, struct hooks, timer);
	struct node *node = hooks->node;
	struct plat_gate *closing;

	/* Who sets it again from here on is woken again; who saw it set is parked. */
	orr_cas(&hooks->is_set, 1, 0);
	workers_rouse(node);
	orr_lock(&hooks->lock);
	closing = --hooks->nset == 0 ? hooks->closing : NULL;
	orr_unlock(&hooks->lock);
	if (closing)
		plat_gate_open(node->plat, closing);
}

static void set_timer(struct hooks *hooks, struct node *node)
{
	int nap_us = orr_load(&hooks->nap_us), is_open;

	if (!orr_cas(&hooks->is_set, 0, 1))
		return;
	orr_lock(&hooks->lock);
	is_open = !hooks->closing;
	hooks->nset += is_open;
	hooks->node = node;
	orr_unlock(&hooks->lock);
	if (!is_open)
		return;
	if (nap_us < LONGEST_NAP_US)
		orr_store(&hooks->nap_us, 2 * nap_us);
	hooks->timer.fire = on_timer;
	plat_after(node->plat, &hooks->timer, nap_us * 1e-6);
}

/* ---- calling --------------------------------------------------------- */

/* Of the hook that the caller is in, so that it may remove itself. */
static unsigned char mark_of(enum hook_kind kind, int id)
{
	return (unsigned char)(1 + (int)kind * HOOKS_MOST + id);
}

static unsigned run_one(const struct hook *hook, struct worker *worker)
{
	OUTSIDE(outside);
	unsigned ret;

	outside_begin(&outside, worker->node, &worker->caller,
		      "a progression or idle hook");
	ret = hook->call(hook->arg);
	outside_end(&outside);
	return ret;
}

/* 1 when one of them wants to be called again soon. */
static int call_all(struct hooks *hooks, struct worker *worker, enum hook_kind kind)
{
	unsigned char outer = worker->caller.hook;
	int wants_more = 0;

	for (int i = 0; i < HOOKS_MOST; i++) {
		struct hook *hook = &hooks->of[kind][i], now;

		orr_lock(&hooks->lock);
		now = *hook;
		hook->ncalls += now.call != NULL;
		orr_unlock(&hooks->lock);
		if (!now.call)
			continue;
		worker->caller.hook = mark_of(kind, i);
		wants_more |= !run_one(&now, worker);
		worker->caller.hook = outer;
		orr_lock(&hooks->lock);
		hook->ncalls--;
		orr_unlock(&hooks->lock);
	}
	return wants_more;
}

void hooks_step(struct worker *worker, int advanced)
{
	struct hooks *hooks = worker->node->lasting->hooks;
	int wants_more;

	if (orr_load(&hooks->n) == 0)
		return;
	wants_more = call_all(hooks, worker, HOOK_PROGRESSION);
	if (!advanced && worker->npipeline == 0)
		wants_more |= call_all(hooks, worker, HOOK_IDLE);
	if (advanced)
		orr_store(&hooks->nap_us, SHORTEST_NAP_US);
	else if (wants_more)
		set_timer(hooks, worker->node);
}

/* ---- which there are ------------------------------------------------- */

int hooks_add(struct lasting *lasting, struct node *node, enum hook_kind kind,
	      unsigned (*call)(void *arg), void *arg)
{
	struct hooks *hooks = hooks_get(lasting);
	int id = 0;

	orr_lock(&hooks->lock);
	while (id < HOOKS_MOST &&
	       (hooks->of[kind][id].call || hooks->of[kind][id].ncalls))
		id++;
	if (id < HOOKS_MOST) {
		hooks->of[kind][id].call = call;
		hooks->of[kind][id].arg = arg;
		orr_store(&hooks->n, hooks->n + 1);
	}
	orr_unlock(&hooks->lock);
	if (id == HOOKS_MOST)
		return -1;
	if (node)
		hooks_open(node);
	return id;
}

static int is_called(struct hooks *hooks, const struct hook *hook, int own)
{
	int ncalls;

	orr_lock(&hooks->lock);
	ncalls = hook->ncalls;
	orr_unlock(&hooks->lock);
	return ncalls > own;
}

int hooks_remove(struct lasting *lasting, struct node *node, enum hook_kind kind, int id)
{
	struct hooks *hooks = hooks_get(lasting);
	struct hook *hook;
	int was_there, own;

	if (id < 0 || id >= HOOKS_MOST)
		return -EINVAL;
	hook = &hooks->of[kind][id];
	orr_lock(&hooks->lock);
	was_there = hook->call != NULL;
	hook->call = NULL;
	orr_store(&hooks->n, hooks->n - was_there);
	orr_unlock(&hooks->lock);
	if (!was_there)
		return -EINVAL;
	if (!node)
		return 0;
	own = plat_caller(node->plat)->hook == mark_of(kind, id);
	while (is_called(hooks, hook, own))
		plat_yield(node->plat);
	return 0;
}

/* ---- life ------------------------------------------------------------ */

void hooks_open(struct node *node)
{
	struct hooks *hooks = orr_load_ptr((void **)&node->lasting->hooks);

	if (hooks && orr_load(&hooks->n) > 0)
		workers_rouse(node);
}

void hooks_close(struct node *node)
{
	struct hooks *hooks = orr_load_ptr((void **)&node->lasting->hooks);
	struct plat_gate gate;
	int nset;

	if (!hooks)
		return;
	plat_gate_init(&gate);
	orr_lock(&hooks->lock);
	hooks->closing = &gate;
	nset = hooks->nset;
	orr_unlock(&hooks->lock);
	if (nset > 0)
		plat_gate_wait(node->plat, &gate);
}

void hooks_closed(struct lasting *lasting)
{
	struct hooks *hooks = orr_load_ptr((void **)&lasting->hooks);

	if (!hooks)
		return;
	hooks->closing = NULL;
	hooks->node = NULL;
	hooks->is_set = 0;
}
