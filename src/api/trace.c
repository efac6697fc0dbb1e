/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "api/profiling.h"
#include "core/counters.h"
#include "core/lasting.h"
#include "core/worker.h"
#include "plat/places.h"
#include "trace/convert.h"
#include "trace/sinks.h"

enum { MANY_TRIES = 1000 };

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
	snprintf(title, bytes, "%.*s", (int)bytes - 1, slash ? slash + 1 : name);
}

/* Simulated dates count from the start of the run, real ones from some time before. */
static double origin_s(double now_s)
{
	return plat_is_simulated() ? 0 : now_s;
}

/* The process ends with the node open.  Who drains just now will not be long; unless it
 * is the thread that the signal has interrupted. */
static void save(struct node *node)
{
	for (int i = 0; i < MANY_TRIES && !events_try_drain(node); i++)
		plat_yield(node->plat);
	if (node->sinks && node->sinks->records)
		records_settle(node->sinks->records);
}

static void watch_end(struct node *node)
{
	plat_at_end(node->plat, save);
	if (orr_load(&node->catch_signals))
		plat_catch_signals(node->plat, 1);
}

void trace_catch_signals(struct node *node, int is_wanted)
{
	orr_store(&node->catch_signals, is_wanted);
	if (!is_wanted || (node->sinks && node->sinks->records))
		plat_catch_signals(node->plat, is_wanted);
}

static void name_after_rank(struct records_name *name, const char *seat)
{
	snprintf(name->before, sizeof(name->before), "%s", seat);
	snprintf(name->stem, sizeof(name->stem), "node-");
	name->is_numbered = 1;
	name->ending = ".events";
}

/* As StarPU names its files. */
static void name_as_starpu(struct records_name *name, const struct knobs *knobs,
			   const char *seat)
{
	if (*knobs->fxt_suffix)
		snprintf(name->stem, sizeof(name->stem), "%s", knobs->fxt_suffix);
	else
		snprintf(name->stem, sizeof(name->stem), "prof_file_%.64s_", knobs->user);
	snprintf(name->before, sizeof(name->before), "%s.%s", name->stem, seat);
	name->is_numbered = !*knobs->fxt_suffix;
	name->is_settled = 1;
	name->ending = "";
}

static void wish_for_records(struct node *node, struct records_wish *wish)
{
	const struct knobs *knobs = node_knobs(node);
	int is_ours = *knobs->events != 0;
	char seat[96];

	wish->directory = knobs->events;
	wish->knob = is_ours ? "ORRERY_EVENTS" : "STARPU_FXT_TRACE";
	wish->told = &node->world->is_refused_told;
	if (!is_ours && knobs->fxt_trace)
		wish->directory = *knobs->fxt_prefix ? knobs->fxt_prefix : "/tmp";
	if (!*wish->directory)
		return;
	wish->life = ++node->lasting->nrecorded;
	/* One process simulates all nodes, and equal runs have files of equal names.  On
	 * real machines hosts may have one name, and processes of several one number:
	 * what the launcher says of the rank tells them apart. */
	if (is_ours && node->machine->takes_turns)
		snprintf(seat, sizeof(seat), "%.60s-%lu", node->machine->hostname,
			 (unsigned long)plat_seat());
	else
		snprintf(seat, sizeof(seat), "%.60s-%ld-%lu", node->machine->hostname,
			 (long)getpid(),
			 plat_is_simulated() ? (unsigned long)plat_seat()
					     : (unsigned long)node->rank);
	if (is_ours)
		name_after_rank(&wish->name, seat);
	else
		name_as_starpu(&wish->name, knobs, seat);
}

static void tell_setting(struct node *node, const char *name, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s=%s", name, value);
	event_tell_text(node, EVENT_SETTING, text);
}

/* Where a run writes what it tells decides nothing, and differs between equal runs. */
static int is_place(const char *name)
{
	static const char *const places[] = {"ORRERY_EVENTS", "ORRERY_TRACE",
					     "ORRERY_SUMMARY", "STARPU_FXT_PREFIX",
					     "STARPU_FXT_SUFFIX"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strcmp(name, places[i]))
			return 1;
	return 0;
}

/* What decides besides the program: the policy, the machine, the environment. */
static void tell_settings(struct node *node)
{
	const char *name, *value;
	char cores[16];

	if (!events_want(&node->events, EVENT_SETTING))
		return;
	if (node->policy && node->policy->policy_name)
		tell_setting(node, "scheduler", node->policy->policy_name);
	if (node->machine->clock)
		tell_setting(node, "clock", node->machine->clock);
	snprintf(cores, sizeof(cores), "%d",
		 node->machine->devices[STARPU_CPU_WORKER].count);
	tell_setting(node, "cores", cores);
	for (int i = 0; (name = knobs_name(i)); i++) {
		int is_ours =
			!strncmp(name, "STARPU_", 7) || !strncmp(name, "ORRERY_", 7);

		if (is_ours && !is_place(name) && (value = knobs_raw(name)))
			tell_setting(node, name, value);
	}
}

void trace_begin(struct node *node)
{
	struct sinks_wish wish = {.utilisation = node_knobs(node)->trace};
	char title[128] = "";

	wish.shared = (struct utilisation **)(void *)&node->world->utilisation;
	if (*wish.utilisation)
		find_title(title, sizeof(title));
	wish.title = title;
	wish_for_records(node, &wish.records);
	node->sinks = sinks_open(&wish, &node->events);
	events_begin(node, origin_s(node->start_s));
	tell_settings(node);
	if (node->sinks->records)
		watch_end(node);
	profiling_begin(node);
	if (node->conf->start_perf_counter_collection == 1)
		counters_start(node);
	if (orr_load(&node->lasting->starts_paused))
		events_pause(node, 1);
}

/* What other threads, such as those of other programs, have taken of the cores. */
static void tell_kept(struct node *node)
{
	char name[32], text[64];
	double ran_s, kept_s;

	if (!events_want(&node->events, EVENT_SETTING))
		return;
	for (int i = -1; i < node->nworkers; i++) {
		const struct worker *worker = i < 0 ? NULL : &node->workers[i];

		if (plat_kept_s(node->plat, worker, &ran_s, &kept_s) != 0)
			continue;
		snprintf(name, sizeof(name), i < 0 ? "kept" : "kept.%d", i);
		snprintf(text, sizeof(text), "%.9f,%.9f", kept_s, ran_s);
		tell_setting(node, name, text);
	}
}

void trace_end(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	char *path = NULL;

	tell_kept(node);
	events_end(node);
	if (knobs->generate_trace && node->sinks->records) {
		records_settle(node->sinks->records);
		path = orr_strdup(records_path(node->sinks->records));
	}
	sinks_close(node->sinks);
	node->sinks = NULL;
	if (path && *path && !*knobs->events)
		convert_trace(path, knobs->generate_trace_options, node->rank,
			      node->size);
	free(path);
}

void trace_meet(struct node *node)
{
	events_tell_rank(node, origin_s(plat_now_s(node->plat)));
}

void trace_part(struct node *node)
{
	char date[32];

	if (!node->machine->clock || !events_want(&node->events, EVENT_SETTING))
		return;
	snprintf(date, sizeof(date), "%.9f", plat_now_s(node->plat));
	tell_setting(node, "parted", date);
}

/* ---- starpu_fxt.h ---------------------------------------------------- */

void starpu_fxt_autostart_profiling(int autostart)
{
	orr_store(&lasting_get()->starts_paused, !autostart);
}

static void pause_events(int is_paused)
{
	struct node *node = plat_self();

	if (node)
		events_pause(node, is_paused);
}

void starpu_fxt_start_profiling(void)
{
	pause_events(0);
}

void starpu_fxt_stop_profiling(void)
{
	pause_events(1);
}

int starpu_fxt_is_enabled(void)
{
	const struct node *node = plat_self();

	return node && node->sinks && node->sinks->records;
}

void starpu_fxt_trace_user_event(unsigned long code)
{
	struct node *node = plat_self();

	if (node)
		event_tell(node, NULL, (struct event){.kind = EVENT_USER, .id = code});
}

static void tell_text(enum event_kind kind, const char *text)
{
	struct node *node = plat_self();

	if (node && text)
		event_tell_text(node, kind, text);
}

void starpu_fxt_trace_user_event_string(const char *s)
{
	tell_text(EVENT_USER_TEXT, s);
}

void starpu_fxt_trace_user_meta_string(const char *s)
{
	tell_text(EVENT_USER_META, s);
}
