/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <time.h>

#include "core/watchdog.h"
#include "real/real.h"

/*
 * unpolled.c - with ORRERY_MPI_EXPLICIT messages move only while a thread of the program
 * is in a call of the library.  Who waits there looks after the watchdog, too; when none
 * is there, nobody would say that messages stand still, and why.
 *
 * So a timer looks.  Programs may compute for long in between: that is known from the
 * time that the process has had on cores, and from threads that want one.  Where all
 * threads of the program, and its kernels, sleep so that only one of them could wake
 * another (asleep.c), no message of another rank can change it, since nobody takes it in:
 * the run ends.
 */
enum { REPORT_GROWTH = 12, LATE_PERIODS = 3 };

#define BUSY_SHARE 0.05

static double cpu_s(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

static void begin_anew(struct unpolled *unpolled, double now_s, double limit_s)
{
	unpolled->since_s = now_s;
	unpolled->report_s = limit_s;
}

/* 1: something has happened since the last look, or may have in a longer time than that
 * between two looks: then the process was stopped. */
static int has_moved(struct plat *plat, double now_s, double period_s)
{
	struct unpolled *unpolled = &plat->progress.unpolled;
	int npolled = orr_load(&plat->progress.npolled);
	unsigned long signature = watchdog_signature(plat->node);
	double spent_s = cpu_s(), gap_s = now_s - unpolled->looked_s;
	int moved = npolled != unpolled->npolled || signature != unpolled->signature ||
		    spent_s - unpolled->cpu_s > BUSY_SHARE * gap_s ||
		    gap_s > LATE_PERIODS * period_s;

	unpolled->npolled = npolled;
	unpolled->signature = signature;
	unpolled->cpu_s = spent_s;
	unpolled->looked_s = now_s;
	return moved;
}

/* What waits for messages is told, or ends; what waits for none is the watchdog's. */
static void tell(struct plat *plat, double silence_s, int for_ever)
{
	struct unpolled *unpolled = &plat->progress.unpolled;
	struct node *node = plat->node;

	if (node->on_unpolled && node->on_unpolled(node, silence_s, for_ever))
		unpolled->report_s = silence_s * REPORT_GROWTH;
	else if (for_ever)
		threads_look_for_all(plat, &unpolled->proves_s);
}

static void look_now(struct plat *plat, double period_s)
{
	struct unpolled *unpolled = &plat->progress.unpolled;
	double now_s = plat_now_s(plat), limit_s = node_knobs(plat->node)->watchdog_s;
	int for_ever;

	if (has_moved(plat, now_s, period_s)) {
		begin_anew(unpolled, now_s, limit_s);
		return;
	}
	/* A kernel that has not returned may be long: only a proof says anything. */
	for_ever = threads_sleep_for_ever(plat, asleep_count(plat, &unpolled->asleep));
	if (!for_ever && threads_are_busy(plat)) {
		begin_anew(unpolled, now_s, limit_s);
		return;
	}
	if (now_s - unpolled->since_s < unpolled->report_s)
		return;
	if (!threads_sleep()) {
		begin_anew(unpolled, now_s, limit_s);
		return;
	}
	tell(plat, now_s - unpolled->since_s, for_ever);
}

static void look(struct plat_timer *timer)
{
	struct unpolled *unpolled = ORR_CONTAINER(timer, struct unpolled, timer);
	struct progress *progress = ORR_CONTAINER(unpolled, struct progress, unpolled);
	struct plat *plat = timer->plat;
	double period_s = watchdog_period_s(plat->node);
	int is_open;

	/* As progress_poll() does: what is polled stays for the time of the look. */
	orr_add(&progress->ncalls, 1);
	is_open = __atomic_load_n(&progress->poll, __ATOMIC_SEQ_CST) != NULL;
	if (is_open)
		look_now(plat, period_s);
	else
		orr_store(&unpolled->is_set, 0);
	orr_add(&progress->ncalls, -1);
	if (is_open)
		plat_after(plat, timer, period_s);
}

void unpolled_start(struct plat *plat)
{
	struct unpolled *unpolled = &plat->progress.unpolled;
	double period_s = watchdog_period_s(plat->node);

	if (period_s <= 0 || !orr_cas(&unpolled->is_set, 0, 1))
		return;
	unpolled->timer.fire = look;
	unpolled->timer.is_idle = 1;
	plat_after(plat, &unpolled->timer, period_s);
}
