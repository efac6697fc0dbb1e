/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/trace.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "trace/sinks.h"

/* The program: the first word of the command, or in simulation the second, which
 * smpirun gives to its own. */
static void find_title(char *title, size_t bytes)
{
	char text[1024] = "";
	FILE *file = fopen("/proc/self/cmdline", "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *name = text, *slash;

	if (file)
		fclose(file);
	if (plat_is_simulated())
		name += strlen(text) + 1;
	if (n == 0 || name >= text + n)
		name = text;
	slash = strrchr(name, '/');
	snprintf(title, bytes, "%s", slash ? slash + 1 : name);
}

/* Simulated dates count from the start of the run, real ones from some time before. */
static double origin_s(double now_s)
{
	return plat_is_simulated() ? 0 : now_s;
}

void trace_begin(struct node *node)
{
	struct sinks_wish wish = {.utilisation = node_knobs(node)->trace};
	char title[128] = "";

	wish.shared = (struct utilisation **)(void *)&node->world->utilisation;
	if (*wish.utilisation)
		find_title(title, sizeof(title));
	wish.title = title;
	node->sinks = sinks_open(&wish, &node->events);
	events_begin(node, origin_s(node->start_s));
}

void trace_end(struct node *node)
{
	events_end(node);
	sinks_close(node->sinks);
	node->sinks = NULL;
}

void trace_meet(struct node *node)
{
	events_tell_rank(node, origin_s(plat_now_s(node->plat)));
}
