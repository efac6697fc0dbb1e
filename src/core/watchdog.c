/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/watchdog.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/lasting.h"
#include "core/stuck.h"
#include "core/wait.h"
#include "core/worker.h"

/* So many looks before the silence is long; each further report after so many times
 * the silence of the one before. */
enum { LOOKS_PER_LIMIT = 5, REPORT_GROWTH = 12, LATE_PERIODS = 3 };

/* Kernels may last: they are told after so many limits. */
enum { PATIENCE = 12 };

static const double longest_period_s = 1, shortest_period_s = 0.005;

/* A look that is later than this part of its period says nothing. */
#define MOST_LATE 0.5

double watchdog_period_s(const struct node *node)
{
	double period_s = node_knobs(node)->watchdog_s / LOOKS_PER_LIMIT;

	if (period_s <= 0)
		return 0;
	if (period_s > longest_period_s)
		return longest_period_s;
	return period_s > shortest_period_s ? period_s : shortest_period_s;
}

unsigned long watchdog_signature(struct node *node)
{
	unsigned long sum = orr_count(&node->nwaits) + workers_executed(node);

	sum += orr_count(&node->tasks_submitted);
	sum = table_mix(sum + ((unsigned long)node_nsubmitted(node) << 32));
	sum = table_mix(sum + ((unsigned long)orr_load(&node->nblocked) << 32));
	return sum + (node->on_signature ? node->on_signature(node) : 0);
}

/* Who asks for the verdict meanwhile finds none of before beside the new signature. */
static void begin_anew(struct node *node, uint64_t signature, double now_s)
{
	struct watchdog *watchdog = &node->watchdog;

	orr_store(&watchdog->verdict, WATCHDOG_ACTIVE);
	orr_fence();
	orr_note(&watchdog->signature, signature);
	watchdog->since_s = now_s;
	watchdog->report_s = node_knobs(node)->watchdog_s;
}

/* Who waits looks each period; when that one is late, nobody could look. */
static double count_now(struct node *node, double clock_s, int waits)
{
	struct watchdog *watchdog = &node->watchdog;
	double period_s = watchdog_period_s(node), gap_s = clock_s - watchdog->looked_s;

	if (waits && watchdog->looked_s > 0 && gap_s > LATE_PERIODS * period_s)
		watchdog->lost_s += gap_s - period_s;
	watchdog->looked_s = clock_s;
	return watchdog_now_s(node);
}

double watchdog_now_s(const struct node *node)
{
	return node->watchdog.looked_s - node->watchdog.lost_s;
}

int watchdog_is_due(struct node *node, double clock_s, int waits)
{
	struct watchdog *watchdog = &node->watchdog;
	unsigned long signature;
	double now_s;

	if (!orr_cas(&watchdog->is_looking, 0, 1))
		return 0;
	now_s = count_now(node, clock_s, waits);
	signature = watchdog_signature(node);
	if (signature != watchdog->signature || watchdog->since_s == 0)
		begin_anew(node, signature, now_s);
	else if (now_s - watchdog->since_s >= node_knobs(node)->watchdog_s)
		return 1;
	orr_store(&watchdog->is_looking, 0);
	return 0;
}

/* ---- the verdict ----------------------------------------------------- */

static const char of_kernels[] =
	"a kernel or a callback has not returned, and may only be long; with "
	"STARPU_WATCHDOG_TIMEOUT=MICROSECONDS and STARPU_WATCHDOG_CRASH=1 a run ends in "
	"which no task ends for so long";
static const char of_messages[] =
	"messages or values are on their way between ranks, or a callback of theirs has "
	"not returned, and may only be slow";

/* All that could act beside the library sleeps where none of them can be woken. */
static int all_sleep(const struct watchdog_facts *facts, const struct wait_census *waits)
{
	int noutside = facts->nthreads - waits->nblocked;

	return facts->nthreads >= 0 && facts->nasleep > 0 &&
	       facts->nasleep == facts->nawake + noutside;
}

static enum watchdog_verdict judge(struct node *node, const struct watchdog_facts *facts,
				   const char **why)
{
	struct wait_census waits = wait_survey(node, facts->is_ours);
	int sleep = all_sleep(facts, &waits);

	*why = facts->ntimers > 0 ? NULL : of_kernels;
	if (facts->ntimers > 0 || (facts->nawake > 0 && !sleep) || waits.nactive > 0)
		return WATCHDOG_ACTIVE;
	*why = of_messages;
	if (node->on_busy && node->on_busy(node))
		return WATCHDOG_ACTIVE;
	*why = facts->why;
	if (*why)
		return WATCHDOG_IDLE;
	/* A worker that sleeps is woken by the copies that its pipeline waits for. */
	if (workers_have_taken(node, sleep))
		*why = "data may be on their way";
	else if (facts->nthreads < 0)
		*why = "the system does not say which threads the program has";
	else if (!sleep && facts->nthreads != waits.nblocked)
		*why = "another thread of the program, which does not wait here, may "
		       "change this";
	return *why ? WATCHDOG_IDLE : WATCHDOG_STUCK;
}

enum watchdog_verdict watchdog_verdict(const struct node *node)
{
	return (enum watchdog_verdict)orr_load(&node->watchdog.verdict);
}

enum watchdog_verdict watchdog_verdict_now(struct node *node, unsigned long *signature)
{
	*signature = watchdog_signature(node);
	if (*signature != orr_count(&node->watchdog.signature))
		return WATCHDOG_ACTIVE;
	orr_fence();
	return watchdog_verdict(node);
}

double watchdog_report_s(const struct node *node)
{
	return node->watchdog.report_s;
}

void watchdog_set_report_s(struct node *node, double silence_s)
{
	node->watchdog.report_s = silence_s;
}

/* ---- what follows ---------------------------------------------------- */

static void say(void *arg, const char *line)
{
	orr_complain(((struct node *)arg)->rank, "  %s", line);
}

void watchdog_list(struct node *node)
{
	stuck_describe(node, say, node);
}

static void end_run(struct node *node, const struct watchdog_facts *facts)
{
	if (facts->nthreads == 0)
		orr_die(node->rank,
			"nothing can happen any more: all threads of the program have "
			"ended (pthread_exit(), pthread_cancel()) before "
			"starpu_shutdown(), no task can run, nothing else is due: the "
			"run ends, since it would hang for ever (ORRERY_WATCHDOG=0 would "
			"let it)");
	orr_complain(node->rank,
		     "nothing can happen any more: all threads of the program wait, no "
		     "task can run, nothing else is due.  What is waited for:");
	watchdog_list(node);
	orr_die(node->rank, "the run ends, since it would hang for ever "
			    "(ORRERY_WATCHDOG=0 would let it)");
}

static void report(struct node *node, double silence_s, const char *why)
{
	struct watchdog *watchdog = &node->watchdog;

	if (silence_s < watchdog->report_s)
		return;
	watchdog->report_s = silence_s * REPORT_GROWTH;
	orr_complain(node->rank,
		     "nothing has happened for %.3g s (ORRERY_WATCHDOG).  What is waited "
		     "for:",
		     silence_s);
	watchdog_list(node);
	orr_complain(node->rank, "the run goes on: %s", why);
}

/* Where nobody waits here, that the program computes is no silence. */
static void act(struct node *node, const struct watchdog_facts *facts,
		enum watchdog_verdict verdict, const char *why)
{
	struct watchdog *watchdog = &node->watchdog;
	double silence_s = watchdog_now_s(node) - watchdog->since_s;
	enum watchdog_verdict before = watchdog_verdict(node);

	if (facts->only_proof && verdict != WATCHDOG_STUCK)
		verdict = WATCHDOG_ACTIVE;
	orr_store(&watchdog->verdict, (int)verdict);
	if (facts->only_proof && verdict == WATCHDOG_ACTIVE)
		return;
	if (verdict == WATCHDOG_ACTIVE && why &&
	    silence_s >= PATIENCE * node_knobs(node)->watchdog_s)
		report(node, silence_s, why);
	if (node->on_standstill && node->on_standstill(node, silence_s, why))
		return; /* It has acted. */
	if (verdict == WATCHDOG_STUCK && before == WATCHDOG_STUCK)
		end_run(node, facts);
	else if (verdict == WATCHDOG_IDLE)
		report(node, silence_s, why);
}

void watchdog_look(struct node *node, const struct watchdog_facts *facts)
{
	struct watchdog *watchdog = &node->watchdog;
	enum watchdog_verdict verdict;
	const char *why;

	verdict = judge(node, facts, &why);
	watchdog->nasleep = verdict == WATCHDOG_STUCK ? facts->nasleep : 0;
	/* What was seen one after the other held at one moment if nothing happened. */
	if (watchdog_signature(node) != watchdog->signature) {
		verdict = WATCHDOG_ACTIVE;
		why = NULL;
	}
	act(node, facts, verdict, why);
	orr_store(&watchdog->is_looking, 0);
}

/* ---- STARPU_WATCHDOG_TIMEOUT ----------------------------------------- */

static uint64_t count_ended(struct node *node)
{
	return orr_count(&node->tasks_submitted) + workers_executed(node) -
	       (uint64_t)node_nsubmitted(node);
}

static void bark(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	const struct lasting *lasting = node->lasting;

	if (lasting->watchdog_hook) {
		lasting->watchdog_hook(lasting->watchdog_arg);
	} else {
		orr_complain(node->rank,
			     "no task has ended for %g s (STARPU_WATCHDOG_TIMEOUT).  "
			     "What is waited for:",
			     knobs->task_watchdog_us * 1e-6);
		watchdog_list(node);
	}
	if (knobs->task_watchdog_crash)
		orr_die(node->rank, "the run ends, as STARPU_WATCHDOG_CRASH asks");
}

static void look_after(struct node *node, double delay_s)
{
	struct watchdog *watchdog = &node->watchdog;

	watchdog->due_s = plat_now_s(node->plat) + delay_s;
	plat_after(node->plat, &watchdog->timer, delay_s);
}

static void look(struct plat_timer *timer)
{
	struct watchdog *watchdog = ORR_CONTAINER(timer, struct watchdog, timer);
	struct node *node = watchdog->node;
	double period_s = node_knobs(node)->task_watchdog_us * 1e-6;
	uint64_t ended = count_ended(node);
	double late_s = plat_now_s(node->plat) - watchdog->due_s;

	/* While the process was stopped, none could end. */
	if (ended == watchdog->ended && node_nsubmitted(node) > 0 &&
	    late_s < MOST_LATE * period_s)
		bark(node);
	watchdog->ended = ended;
	look_after(node, period_s);
}

void watchdog_start(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	struct watchdog *watchdog = &node->watchdog;

	if (knobs->task_watchdog_us <= 0 || node->machine->ends_standstills)
		return;
	watchdog->node = node;
	watchdog->timer.fire = look;
	watchdog->timer.is_idle = 1;
	look_after(node,
		   (knobs->task_watchdog_delay_us + knobs->task_watchdog_us) * 1e-6);
}
