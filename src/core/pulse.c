/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/pulse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "core/worker.h"

static const double terminal_period_s = 0.5, file_period_s = 10;

/* The fields belong to the timer while it is set. */
struct pulse {
	struct node *node;
	struct plat_timer timer;
	double start_s, last_s, period_s;
	uint64_t ended; /* at last_s */
	int is_drawn;   /* each line over the one before */
	int nlines;
};

static uint64_t count_submitted(const struct node *node)
{
	return orr_count(&node->tasks_submitted);
}

static uint64_t count_ended(const struct node *node)
{
	return count_submitted(node) - (uint64_t)node_nsubmitted(node);
}

/* Several ranks, and a file, get lines of their own. */
static void print_line(const struct pulse *pulse, const char *text)
{
	const struct node *node = pulse->node;

	if (node->size > 1)
		fprintf(stderr, "[orrery][rank %d] %s\n", node->rank, text);
	else if (pulse->is_drawn)
		fprintf(stderr, "\r[orrery] %-70s", text);
	else
		fprintf(stderr, "[orrery] %s\n", text);
	fflush(stderr);
}

static void say(struct pulse *pulse)
{
	struct node *node = pulse->node;
	double now_s = plat_clock_s(), rate;
	uint64_t submitted = count_submitted(node), ended = count_ended(node);
	char text[200];
	int used;

	/* Both grow while they are read. */
	if (submitted < ended)
		submitted = ended;
	rate = now_s > pulse->last_s && ended > pulse->ended
		       ? (double)(ended - pulse->ended) / (now_s - pulse->last_s)
		       : 0;
	used = snprintf(text, sizeof(text), "%.1f s: %llu of %llu tasks, %.0f tasks/s",
			now_s - pulse->start_s, (unsigned long long)ended,
			(unsigned long long)submitted, rate);
	if (rate > 0)
		snprintf(text + used, sizeof(text) - (size_t)used, ", %.0f s more",
			 (double)(submitted - ended) / rate);
	print_line(pulse, text);
	pulse->ended = ended;
	pulse->last_s = now_s;
	pulse->nlines++;
}

static void beat(struct plat_timer *timer)
{
	struct pulse *pulse = ORR_CONTAINER(timer, struct pulse, timer);

	if (count_submitted(pulse->node) > 0)
		say(pulse);
	plat_after(pulse->node->plat, timer, pulse->period_s);
}

void pulse_start(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	struct pulse *pulse;

	if (!knobs->progress || node->machine->ends_standstills)
		return;
	pulse = orr_alloc(sizeof(*pulse));
	pulse->node = node;
	pulse->start_s = pulse->last_s = plat_clock_s();
	pulse->is_drawn = isatty(STDERR_FILENO);
	pulse->period_s = knobs->progress_period_s;
	if (pulse->period_s == 0)
		pulse->period_s = pulse->is_drawn ? terminal_period_s : file_period_s;
	pulse->timer.fire = beat;
	pulse->timer.is_idle = 1;
	node->pulse = pulse;
	plat_after(node->plat, &pulse->timer, pulse->period_s);
}

void pulse_end(struct node *node)
{
	struct pulse *pulse = node->pulse;
	double all_s;
	char text[200];

	if (pulse && (pulse->nlines > 0 || count_ended(node) > 0)) {
		all_s = plat_clock_s() - pulse->start_s;
		snprintf(text, sizeof(text),
			 "%.1f s: all %llu tasks have ended, %.0f tasks/s", all_s,
			 (unsigned long long)count_ended(node),
			 all_s > 0 ? (double)count_ended(node) / all_s : 0);
		print_line(pulse, text);
		if (pulse->is_drawn && node->size == 1)
			fprintf(stderr, "\n");
	}
	free(pulse);
	node->pulse = NULL;
}
