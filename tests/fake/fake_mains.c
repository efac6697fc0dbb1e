/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/check.h"
#include "fake_impl.h"

/*
 * fake_mains.c - application threads that take turns on one.
 *
 * A main runs until it waits at a gate, yields or ends; then the next one is drawn,
 * or an event of the calendar happens.  An event that opens a main's gate is interrupted
 * by it at times, where it holds no lock.  So a run repeats exactly from its seed.
 */
enum { MAIN_STACK_BYTES = 512 << 10 };

struct fake_main {
	struct fake_main *next;
	ucontext_t context;
	void *stack;
	void *shadow;       /* the sanitizer's, while it does not run */
	void *fiber, *back; /* the thread sanitizer's, and that of who resumed it */
	int node, is_done, is_detached;
	struct worker *worker;        /* it runs a kernel of; or NULL */
	int is_stuck;                 /* nothing can open its gate */
	const struct plat_gate *gate; /* it waits for, or NULL */
	const struct fake_main *joined;
	struct plat_caller caller;
	void (*run)(void *arg);
	void *arg;
};

/* Address sanitizers must be told of stacks. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
static void leave_stack(void **shadow, const void *to, size_t bytes)
{
	__sanitizer_start_switch_fiber(shadow, to, bytes);
}
static void enter_stack(void *shadow, const void **from, size_t *bytes)
{
	__sanitizer_finish_switch_fiber(shadow, from, bytes);
}
#else
static void leave_stack(void **shadow, const void *to, size_t bytes)
{
	(void)shadow;
	(void)to;
	(void)bytes;
}
static void enter_stack(void *shadow, const void **from, size_t *bytes)
{
	(void)shadow;
	(void)from;
	(void)bytes;
}
#endif

/* And thread sanitizers of threads of their own, or calls seem never to return. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
static void *fiber_new(void)
{
	return __tsan_create_fiber(0);
}
static void *fiber_current(void)
{
	return __tsan_get_current_fiber();
}
static void fiber_enter(void *fiber)
{
	__tsan_switch_to_fiber(fiber, 0);
}
static void fiber_free(void *fiber)
{
	__tsan_destroy_fiber(fiber);
}
#else
static void *fiber_new(void)
{
	return NULL;
}
static void *fiber_current(void)
{
	return NULL;
}
static void fiber_enter(void *fiber)
{
	(void)fiber;
}
static void fiber_free(void *fiber)
{
	(void)fiber;
}
#endif

/* ---- drawing --------------------------------------------------------- */

void fake_shuffle(unsigned long seed)
{
	fake_get()->chance = seed * 0x9e3779b97f4a7c15u + 1;
}

unsigned fake_draw(struct fake *fake, unsigned n)
{
	fake->chance = fake->chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((fake->chance >> 33) % n);
}

double fake_jitter_s(struct fake *fake)
{
	if (!fake->chance)
		return 0;
	switch (fake_draw(fake, 8)) {
	case 0:
		return 1e-4 * fake_draw(fake, 1000) / 1000;
	case 1:
	case 2:
		return 0;
	default:
		return 5e-6 * fake_draw(fake, 1000) / 1000;
	}
}

/* ---- mains ----------------------------------------------------------- */

struct plat_caller *fake_main_caller(const struct plat *plat)
{
	struct fake_main *self = fake_get()->running;

	return self && self->node == plat->index ? &self->caller : NULL;
}

static void switch_to_scheduler(struct fake *fake, struct fake_main *self)
{
	int selected = fake->selected;

	fake->running = NULL;
	leave_stack(self->is_done ? NULL : &self->shadow, fake->stack, fake->stack_bytes);
	fiber_enter(self->back);
	swapcontext(&self->context, fake->scheduler);
	enter_stack(self->shadow, &fake->stack, &fake->stack_bytes);
	fake->selected = selected;
}

static void main_starts(void)
{
	struct fake *fake = fake_get();
	struct fake_main *self = fake->running;

	enter_stack(NULL, &fake->stack, &fake->stack_bytes);
	self->run(self->arg);
	self->is_done = 1;
	switch_to_scheduler(fake, self);
}

struct fake_main *fake_spawn(int node, void (*run)(void *arg), void *arg)
{
	struct fake *fake = fake_get();
	struct fake_main *self = orr_alloc(sizeof(*self)), **last = &fake->mains;

	self->node = node;
	self->run = run;
	self->arg = arg;
	self->stack = malloc(MAIN_STACK_BYTES);
	ORR_ASSERT(self->stack);
	self->fiber = fiber_new();
	getcontext(&self->context);
	self->context.uc_stack.ss_sp = self->stack;
	self->context.uc_stack.ss_size = MAIN_STACK_BYTES;
	self->context.uc_link = NULL;
	makecontext(&self->context, main_starts, 0);
	while (*last)
		last = &(*last)->next;
	*last = self;
	return self;
}

void fake_spawn_kernel(struct worker *worker, void (*run)(void *arg), void *arg)
{
	struct fake_main *self = fake_spawn(worker->node->plat->index, run, arg);

	self->worker = worker;
	self->is_detached = 1;
}

static void main_free(struct fake *fake, struct fake_main *self)
{
	struct fake_main **at = &fake->mains;

	while (*at != self)
		at = &(*at)->next;
	*at = self->next;
	fiber_free(self->fiber);
	free(self->stack);
	free(self);
}

static void resume(struct fake *fake, struct fake_main *self)
{
	ucontext_t here;
	void *shadow = NULL;

	fake->scheduler = &here;
	fake->running = self;
	fake->selected = self->node;
	fake->worker = self->worker;
	leave_stack(&shadow, self->stack, MAIN_STACK_BYTES);
	self->back = fiber_current();
	fiber_enter(self->fiber);
	swapcontext(&here, &self->context);
	enter_stack(shadow, NULL, NULL);
	fake->worker = NULL;
	if (self->is_done && self->is_detached)
		main_free(fake, self);
}

static int can_run(const struct fake_main *self)
{
	if (self->is_done)
		return 0;
	if (self->gate)
		return self->gate->is_open;
	return !self->joined || self->joined->is_done;
}

static struct fake_main *draw_main(struct fake *fake)
{
	struct fake_main *drawn = NULL;
	unsigned n = 0;

	for (struct fake_main *self = fake->mains; self; self = self->next)
		if (can_run(self) && fake_draw(fake, ++n) == 0)
			drawn = self;
	return drawn;
}

/* Nothing can happen any more: the waits end with -EDEADLK, one after the other. */
static struct fake_main *stuck_main(struct fake *fake)
{
	for (struct fake_main *self = fake->mains; self; self = self->next)
		if (!self->is_done && self->gate) {
			self->is_stuck = 1;
			return self;
		}
	return NULL;
}

void fake_play(void)
{
	struct fake *fake = fake_get();

	for (;;) {
		struct fake_main *next = draw_main(fake);

		if ((!next || fake_draw(fake, 2)) && fake_step())
			continue;
		if (!next && fake_unstick())
			continue;
		if (!next)
			next = stuck_main(fake);
		if (!next)
			break;
		resume(fake, next);
	}
	while (fake->mains)
		main_free(fake, fake->mains);
}

void fake_yield(void)
{
	struct fake *fake = fake_get();

	ORR_ASSERT(fake->running); /* Only mains have others to yield to. */
	switch_to_scheduler(fake, fake->running);
}

void fake_join(const struct fake_main *other)
{
	struct fake_main *self = fake_get()->running;

	ORR_ASSERT(self);
	self->joined = other;
	switch_to_scheduler(fake_get(), self);
	self->joined = NULL;
}

int fake_main_waits(struct fake *fake, const struct plat_gate *gate)
{
	struct fake_main *self = fake->running;

	while (!gate->is_open) {
		self->gate = gate;
		switch_to_scheduler(fake, self);
		self->gate = NULL;
		if (self->is_stuck && !gate->is_open) {
			self->is_stuck = 0;
			return -EDEADLK;
		}
	}
	return 0;
}

/* The gate may be gone when this returns. */
void fake_gate_opened(struct fake *fake, const struct plat_gate *gate)
{
	struct fake_main *self = fake->mains;
	struct worker *worker = fake->worker;
	int selected = fake->selected;

	if (!fake->chance || fake->running || fake->nlocks > 0)
		return;
	while (self && (self->is_done || self->gate != gate))
		self = self->next;
	if (!self || fake_draw(fake, 4) != 0)
		return;
	resume(fake, self);
	fake->worker = worker;
	fake->selected = selected;
}
