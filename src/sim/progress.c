/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/engine.h>

#include "sim.h"

/*
 * progress.c - a line about a long simulation.  The only place, besides kernels that
 * are measured, that looks at host time; nothing depends on it.
 */
#define TERMINAL_PERIOD_S 0.5
#define FILE_PERIOD_S     10.0

enum { LOOK_EVERY = 1 << 10 };

struct progress {
	unsigned ncalls;
	int on_terminal;
	unsigned long nleft;    /* tasks of nodes that have closed */
	double start_s, last_s; /* host time */
	unsigned long last_executed;
};

static double host_time_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct progress *progress_new(void)
{
	struct progress *progress = orr_alloc(sizeof(*progress));

	progress->on_terminal = isatty(STDERR_FILENO);
	progress->start_s = progress->last_s = host_time_s();
	return progress;
}

void progress_free(struct progress *progress, struct sim *sim)
{
	double host_s;

	if (progress && progress->nleft > 0) {
		host_s = host_time_s() - progress->start_s;
		fprintf(stderr,
			"%s[orrery] t=%.6f s, all %lu tasks have ended, %.0f tasks/s, "
			"%.0f s%s\n",
			progress->on_terminal ? "\r" : "",
			sim->in_kernel ? sim->now_s : simgrid_get_clock(),
			progress->nleft,
			host_s > 0 ? (double)progress->nleft / host_s : 0, host_s,
			progress->on_terminal ? "                    " : "");
		fflush(stderr);
	}
	free(progress);
}

void progress_leave(struct progress *progress, const struct node *node)
{
	progress->nleft += workers_executed(node);
}

static void show(struct progress *progress, struct sim *sim, double host_s)
{
	unsigned long submitted = progress->nleft, executed = progress->nleft;
	double rate, more_s = 0;

	for (struct plat *plat = sim->first; plat; plat = plat->next) {
		submitted += (unsigned long)plat->node->tasks_submitted;
		executed += workers_executed(plat->node);
	}
	rate = executed > progress->last_executed
		       ? (double)(executed - progress->last_executed) /
				 (host_s - progress->last_s)
		       : 0;
	if (rate > 0 && submitted > executed)
		more_s = (double)(submitted - executed) / rate;
	fprintf(stderr,
		"%s[orrery] t=%.6f s, %lu of %lu tasks, %.0f tasks/s, %d ranks, "
		"%.0f s, %.0f s more%s",
		progress->on_terminal ? "\r" : "",
		sim->in_kernel ? sim->now_s : simgrid_get_clock(), executed, submitted,
		rate, sim->nplats, host_s - progress->start_s, more_s,
		progress->on_terminal ? "   " : "\n");
	fflush(stderr);
	progress->last_executed = executed;
	progress->last_s = host_s;
}

void progress_show(struct progress *progress, struct sim *sim)
{
	double host_s;

	if (++progress->ncalls % LOOK_EVERY)
		return;
	host_s = host_time_s();
	if (host_s - progress->last_s >=
	    (progress->on_terminal ? TERMINAL_PERIOD_S : FILE_PERIOD_S))
		show(progress, sim, host_s);
}
