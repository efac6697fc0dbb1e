/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "scenes.h"

/* Dates are sums of doubles: what is equal may differ in the last digits. */
#define ROUNDING_S 1e-9

static void expect_one(struct actor *actor)
{
	actor_expect(actor, 1);
}

/* ---- timers ---------------------------------------------------------- */

enum { NTIMERS = 20, STEP_US = 300 };

struct alarm {
	struct plat_timer timer; /* first */
	struct actor *actor;
	int number, has_fired;
	double due_s, latest_s; /* whoever asks may have been held up in between */
};

struct alarms {
	struct alarm alarms[NTIMERS];
};

static void alarm_fires(struct plat_timer *timer)
{
	struct alarm *alarm = (struct alarm *)timer;
	struct actor *actor = alarm->actor;
	struct alarms *all = actor->data;
	double late_s = plat_now_s(actor->plat) - alarm->due_s;

	EXPECT(actor, late_s >= -ROUNDING_S, "timer %d was %g s early", alarm->number,
	       -late_s);
	for (int i = 0; i < alarm->number; i++) {
		double latest_s;

		__atomic_load(&all->alarms[i].latest_s, &latest_s, __ATOMIC_SEQ_CST);
		EXPECT(actor,
		       all->alarms[i].has_fired || latest_s >= alarm->due_s - ROUNDING_S,
		       "timer %d came before timer %d", alarm->number, i);
	}
	alarm->has_fired = 1;
	actor_ended(actor);
}

static void alarms_prepare(struct actor *actor)
{
	struct alarms *all = orr_alloc(sizeof(*all));

	for (int i = 0; i < NTIMERS; i++)
		all->alarms[i].latest_s = INFINITY; /* it has not been asked for */
	actor->data = all;
	actor_expect(actor, NTIMERS);
}

/* Asked for in another order than they are due. */
static void alarms_start(struct actor *actor)
{
	struct alarms *all = actor->data;
	double start_s = plat_now_s(actor->plat);

	for (int i = 0; i < NTIMERS; i++) {
		int number = i * 7 % NTIMERS;
		struct alarm *alarm = &all->alarms[number];
		double delay_s = 1e-6 * STEP_US * (number + 1);

		alarm->timer.fire = alarm_fires;
		alarm->actor = actor;
		alarm->number = number;
		alarm->due_s = start_s + delay_s;
		delay_s -= plat_now_s(actor->plat) - start_s;
		if (delay_s < 0) /* whoever asks was held up: it is due at once */
			delay_s = 0;
		alarm->due_s = plat_now_s(actor->plat) + delay_s;
		plat_after(actor->plat, &alarm->timer, delay_s);
		delay_s += plat_now_s(actor->plat);
		__atomic_store(&alarm->latest_s, &delay_s, __ATOMIC_SEQ_CST);
	}
}

/* ---- a timer sets the next one --------------------------------------- */

static void alarm_again(struct plat_timer *timer)
{
	struct alarm *alarm = (struct alarm *)timer;
	struct actor *actor = alarm->actor;

	if (++alarm->number == NTIMERS) {
		actor_ended(actor);
		return;
	}
	memset(timer, 0, sizeof(*timer));
	timer->fire = alarm_again;
	plat_after(actor->plat, timer, 0);
}

static void again_prepare(struct actor *actor)
{
	actor->data = orr_alloc(sizeof(struct alarm));
	actor_expect(actor, 1);
}

static void again_start(struct actor *actor)
{
	struct alarm *alarm = actor->data;

	alarm->actor = actor;
	alarm->timer.fire = alarm_again;
	plat_after(actor->plat, &alarm->timer, 0);
}

/* ---- gates ----------------------------------------------------------- */

static void open_gate_start(struct actor *actor)
{
	struct plat_gate gate;
	int ret;

	plat_gate_init(&gate);
	plat_gate_open(actor->plat, &gate);
	ret = plat_gate_wait(actor->plat, &gate);
	EXPECT(actor, ret == 0, "the wait returned %d", ret);
	actor_ended(actor);
}

struct opener {
	struct plat_timer timer; /* first */
	struct plat_gate *gate;
};

static void opener_fires(struct plat_timer *timer)
{
	plat_gate_open(timer->plat, ((struct opener *)timer)->gate);
}

static void timer_gate_start(struct actor *actor)
{
	static const double delays_s[] = {0, 1e-5, 3e-3};

	for (size_t i = 0; i < sizeof(delays_s) / sizeof(delays_s[0]); i++) {
		struct plat_gate gate;
		struct opener opener = {.timer = {.fire = opener_fires}, .gate = &gate};
		double start_s = plat_now_s(actor->plat), took_s;
		int ret;

		plat_gate_init(&gate);
		plat_after(actor->plat, &opener.timer, delays_s[i]);
		ret = plat_gate_wait(actor->plat, &gate);
		took_s = plat_now_s(actor->plat) - start_s;
		EXPECT(actor, ret == 0, "the wait returned %d", ret);
		EXPECT(actor, took_s >= delays_s[i] - ROUNDING_S,
		       "the gate opened after %g s instead of %g", took_s, delays_s[i]);
	}
	actor_ended(actor);
}

/* ---- the rest -------------------------------------------------------- */

static void sleep_start(struct actor *actor)
{
	double start_s = plat_now_s(actor->plat), took_s;

	plat_sleep(actor->plat, 2e-3);
	took_s = plat_now_s(actor->plat) - start_s;
	EXPECT(actor, took_s >= 2e-3 - ROUNDING_S, "2 ms of sleep took %g s", took_s);
	actor_ended(actor);
}

static void memory_start(struct actor *actor)
{
	enum { NBLOCKS = 8 };
	static const size_t block_bytes[] = {1, 64, 4096, 1000000};
	unsigned char *blocks[NBLOCKS];

	for (int i = 0; i < NBLOCKS; i++) {
		size_t bytes = block_bytes[i % 4];

		blocks[i] = plat_main_memory()->allocate(actor->plat, 0, bytes);
		EXPECT(actor, blocks[i], "%zu bytes of main memory were refused", bytes);
		EXPECT(actor, (uintptr_t)blocks[i] % 16 == 0, "memory at %p is unaligned",
		       (void *)blocks[i]);
		if (blocks[i])
			memset(blocks[i], i, bytes);
	}
	for (int i = 0; i < NBLOCKS; i++) {
		size_t bytes = block_bytes[i % 4];

		if (!blocks[i])
			continue;
		EXPECT(actor, blocks[i][0] == i && blocks[i][bytes - 1] == i,
		       "two blocks of memory overlap");
		plat_main_memory()->release(actor->plat, 0, blocks[i], bytes);
	}
	actor_ended(actor);
}

static void self_start(struct actor *actor)
{
	const struct plat_machine *machine = plat_machine(actor->plat);

	EXPECT(actor, plat_self() == &actor->node,
	       "the node of this thread is %p, not %p", (void *)plat_self(),
	       (void *)&actor->node);
	EXPECT(actor, plat_world() != NULL, "there is no place for the world");
	EXPECT(actor, plat_current_worker(actor->plat) == NULL,
	       "the user thread has a worker");
	EXPECT(actor, machine->devices[STARPU_CPU_WORKER].count > 0,
	       "the machine has %d cores", machine->devices[STARPU_CPU_WORKER].count);
	actor_ended(actor);
}

const struct scene plat_scenes[] = {
	{"timers fire in order and not early", 1, alarms_prepare, alarms_start, NULL,
	 NULL},
	{"a timer can set a timer", 1, again_prepare, again_start, NULL, NULL},
	{"a gate opened before the wait does not block", 1, expect_one, open_gate_start,
	 NULL, NULL},
	{"a timer can open a gate", 1, expect_one, timer_gate_start, NULL, NULL},
	{"a sleep is not too short", 1, expect_one, sleep_start, NULL, NULL},
	{"memory is distinct and aligned", 1, expect_one, memory_start, NULL, NULL},
	{"a thread knows its node", 1, expect_one, self_start, NULL, NULL},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
