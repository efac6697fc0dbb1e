/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <linux/futex.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"
#include "core/watchdog.h"
#include "real/real.h"

/*
 * How polling threads share the machine.  At first sched_yield() between polls keeps
 * latency at microseconds and costs little when another thread wants the core.  Then
 * naps, a fraction of the silence so far: they delay what comes by little compared
 * with the time it took, and a wake-up each millisecond costs about 2 % of a core.
 */
#define NAP_PER_SILENCE (1.0 / 16)
#define SHORTEST_NAP_S  20e-6
#define LONGEST_NAP_S   1e-3

/* While an idle worker polls: a fraction of the time that it has done so.  A wake-up
 * takes its core from a task. */
#define HELPED_NAP_S     50e-6
#define NAP_PER_HELP     (1.0 / 8)
#define LONGEST_HELPED_S 1e-3

/* How long a waiting thread polls without a nap: until the shortest one is such a
 * fraction.  A system adds 50 us to a nap. */
#define WAIT_BUSY_S (SHORTEST_NAP_S / NAP_PER_SILENCE)

/*
 * Before it yields for the first time, a waiting thread polls for so long: where others
 * want the core, a yield costs milliseconds.  Where that has not helped several times, as
 * when the peer waits for this very core, it is tried now and then only.
 */
#define WAIT_SPIN_S 20e-6
enum { SPINS_IN_VAIN = 4, SPIN_RETRIES = 32 };

enum {
	LOCK_SPINS = 100, /* before the core is given away */
	LOCK_ROUNDS = 1 << 18,
	GATE_YIELDS = 40 /* before a sleep, where only a gate can wake us */
};

static int looks_free(const struct orr_lock *lock)
{
	for (int i = 0; i < LOCK_SPINS; i++) {
		if (!__atomic_load_n(&lock->taken, __ATOMIC_RELAXED))
			return 1;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	return 0;
}

/* What is held for so long may be held by the caller, who has been interrupted. */
void real_lock_wait(const struct orr_lock *lock)
{
	for (unsigned n = 1; !looks_free(lock); n++) {
		sched_yield();
		if (n % LOCK_ROUNDS == 0)
			signals_refuse_handler();
	}
}

void real_futex_wait(int *word, int value, double timeout_s)
{
	struct timespec timeout = {.tv_sec = (time_t)timeout_s};

	timeout.tv_nsec = (long)((timeout_s - (double)timeout.tv_sec) * 1e9);
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
		timeout_s > 0 ? &timeout : NULL, NULL, 0);
}

void real_futex_wake(int *word, int nthreads)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, nthreads, NULL, NULL, 0);
}

double wait_nap_s(double silence_s, double busy_s)
{
	double nap_s = silence_s * NAP_PER_SILENCE;

	if (silence_s < busy_s)
		return 0;
	if (nap_s < SHORTEST_NAP_S)
		return SHORTEST_NAP_S;
	return nap_s < LONGEST_NAP_S ? nap_s : LONGEST_NAP_S;
}

double wait_helped_nap_s(struct plat *plat, double *since_s)
{
	double now_s = plat_now_s(plat), nap_s;

	if (*since_s <= 0)
		*since_s = now_s;
	nap_s = (now_s - *since_s) * NAP_PER_HELP;
	if (nap_s < HELPED_NAP_S)
		return HELPED_NAP_S;
	return nap_s < LONGEST_HELPED_S ? nap_s : LONGEST_HELPED_S;
}

/* ---- gates ----------------------------------------------------------- */

void plat_gate_init(struct plat_gate *gate)
{
	gate->is_open = 0;
}

int wait_disturb(struct plat *plat, int nthreads)
{
	if (!orr_load(&plat->nsleepers))
		return 0;
	orr_add(&plat->gate_event, 1);
	real_futex_wake(&plat->gate_event, nthreads);
	return 1;
}

void plat_gate_open(struct plat *plat, struct plat_gate *gate)
{
	/* The waiter may be gone, and the gate with it, right after this. */
	orr_store(&gate->is_open, 1);
	orr_fence();
	wait_disturb(plat, INT_MAX);
}

/*
 * Sleep until a gate opens, a kick, or the timeout (0: none).  The fence of the
 * increment orders "I sleep" before the second look at the gate and at the kicks;
 * who opens or kicks does the reverse, so one of the two sees the other.
 */
static void nap(struct plat *plat, const struct plat_gate *gate, int kicks, double nap_s)
{
	int event = orr_load(&plat->gate_event);

	orr_add(&plat->nsleepers, 1);
	if (!orr_load(&gate->is_open) && orr_load(&plat->progress.kicks) == kicks)
		real_futex_wait(&plat->gate_event, event, nap_s);
	orr_add(&plat->nsleepers, -1);
}

/* Nothing can arrive: sleep until somebody opens a gate or kicks, or until the next
 * look of the watchdog. */
static void sleep_at_gate(struct plat *plat, const struct plat_gate *gate, int kicks)
{
	for (int i = 0; i < GATE_YIELDS; i++) {
		if (orr_load(&gate->is_open) || orr_load(&plat->progress.kicks) != kicks)
			return;
		sched_yield();
	}
	orr_add(&plat->progress.npollers, -1);
	nap(plat, gate, kicks, watchdog_period_s(plat->node));
	orr_add(&plat->progress.npollers, 1);
}

/* The thread that polls can listen to the transport meanwhile. */
static void nap_away(struct plat *plat, const struct plat_gate *gate, int kicks,
		     double nap_s)
{
	int leaves = plat->progress.bell.fd >= 0;

	orr_add(&plat->progress.npollers, -leaves);
	nap(plat, gate, kicks, bell_nap_s(plat, nap_s));
	orr_add(&plat->progress.npollers, leaves);
}

void spin_start(struct plat *plat, struct spin *spin, double now_s)
{
	int nvain = orr_load(&plat->nvain_spins);
	int spins = nvain < SPINS_IN_VAIN || nvain % SPIN_RETRIES == 0;

	spin->heard_s = now_s;
	spin->limit_s = spins ? WAIT_SPIN_S : 0;
}

void spin_heard(struct plat *plat, struct spin *spin)
{
	if (spin->limit_s > 0)
		orr_store(&plat->nvain_spins, 0);
}

/* A worker that was woken may have been given this very core: once is enough to see. */
static void give_way(struct plat *plat)
{
	if (!orr_load(&plat->is_woken))
		return;
	orr_store(&plat->is_woken, 0);
	sched_yield();
}

int spin_on(struct plat *plat, struct spin *spin, double now_s)
{
	if (now_s - spin->heard_s < spin->limit_s) {
		give_way(plat);
		return 1;
	}
	if (spin->limit_s >= 0)
		orr_add(&plat->nvain_spins, 1);
	spin->limit_s = -1;
	return 0;
}

/* A thread that polls while it waits. */
struct waiting {
	struct spin spin;
	struct helped helped;
	double helped_s; /* since when; 0: not now */
};

/* One round of waiting.  As poll. */
static int wait_round(struct plat *plat, const struct plat_gate *gate, int kicks,
		      struct waiting *waiting)
{
	double now_s, nap_s;
	int advanced;

	if (helper_answers(plat, &waiting->helped)) {
		nap(plat, gate, kicks, wait_helped_nap_s(plat, &waiting->helped_s));
		waiting->spin.heard_s = 0;
		return 0;
	}
	waiting->helped_s = 0;
	advanced = progress_poll(plat);
	now_s = plat_now_s(plat);
	if (advanced > 0)
		spin_heard(plat, &waiting->spin);
	if (advanced != 0 || waiting->spin.heard_s == 0)
		spin_start(plat, &waiting->spin, now_s);
	if (orr_load(&gate->is_open) || advanced > 0)
		return advanced;
	if (advanced < 0) {
		sleep_at_gate(plat, gate, kicks);
		return advanced;
	}
	if (spin_on(plat, &waiting->spin, now_s))
		return advanced;
	nap_s = wait_nap_s(now_s - waiting->spin.heard_s, WAIT_BUSY_S);
	if (nap_s > 0)
		nap_away(plat, gate, kicks, nap_s);
	else
		sched_yield();
	return advanced;
}

static void look_now_and_then(struct plat *plat, double period_s, double *look_s)
{
	double now_s = plat_now_s(plat);

	if (now_s < *look_s)
		return;
	if (*look_s > 0)
		threads_look(plat, now_s, 1);
	*look_s = now_s + period_s;
}

int plat_gate_wait(struct plat *plat, struct plat_gate *gate)
{
	int kicks = orr_load(&plat->progress.kicks), advanced = -1;
	double period_s = watchdog_period_s(plat->node), look_s = 0;
	struct waiting waiting = {0};
	int before;

	if (orr_load(&gate->is_open))
		return 0;
	/* Others know the gate, which is on this thread's stack: pthread_cancel() acts
	 * later. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	helper_waits(plat);
	orr_add(&plat->progress.npollers, 1);
	while (!orr_load(&gate->is_open)) {
		kicks = orr_load(&plat->progress.kicks);
		advanced = wait_round(plat, gate, kicks, &waiting);
		if (period_s > 0 && advanced <= 0)
			look_now_and_then(plat, period_s, &look_s);
	}
	orr_add(&plat->progress.npollers, -1);
	progress_take_over(plat, advanced, orr_load(&plat->progress.kicks) != kicks);
	pthread_setcancelstate(before, NULL);
	return 0;
}
