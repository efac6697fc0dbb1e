/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <starpu_profiling.h>

#include "api/api.h"
#include "api/profiling.h"
#include "base/check.h"
#include "core/data/routes.h"
#include "core/lasting.h"
#include "core/model/bus.h"
#include "core/worker.h"
#include "trace/sinks.h"

/* ---- the counters of a node ------------------------------------------ */

struct question {
	struct profile *profile;
	double now_s;
	int worker; /* or -1: */
	unsigned from, to;
	struct profile_worker time;
	struct profile_link link;
};

static void start(void *arg)
{
	struct question *question = arg;

	profile_start(question->profile, question->now_s);
}

static void stop(void *arg)
{
	struct question *question = arg;

	profile_stop(question->profile, question->now_s);
}

static void ask(void *arg)
{
	struct question *question = arg;

	if (question->worker >= 0)
		question->time = profile_take_worker(question->profile, question->worker,
						     question->now_s);
	else
		question->link = profile_take_link(question->profile, question->from,
						   question->to, question->now_s);
}

/* Call with the node's counters, if it has some, while none changes. */
static void with_counters(struct node *node, void (*call)(void *arg),
			  struct question *question)
{
	struct sinks *sinks = node->sinks;

	if (!sinks)
		return;
	orr_lock(&sinks->lock);
	question->profile = sinks->profile;
	question->now_s = plat_now_s(node->plat);
	if (question->profile)
		events_read(node, call, question);
	orr_unlock(&sinks->lock);
}

/* Tasks count whether anything else does or not; since the last call. */
static int take_executed(struct worker *worker)
{
	uint32_t n;

	orr_lock(&worker->lock);
	n = (uint32_t)orr_count(&worker->executed) - worker->told_executed;
	worker->told_executed += n;
	orr_unlock(&worker->lock);
	return (int)n;
}

static void count_from_now(struct node *node)
{
	struct sinks *sinks = node->sinks;
	struct question question = {0};

	for (int i = 0; i < node->nworkers; i++)
		take_executed(&node->workers[i]);
	if (!sinks)
		return;
	orr_lock(&sinks->lock);
	if (!sinks->profile)
		sinks->profile = profile_open(node->nworkers);
	orr_unlock(&sinks->lock);
	with_counters(node, start, &question);
	orr_lock(&sinks->lock);
	if (!sinks->is_profiling)
		events_listen(node, profile_sink(sinks->profile));
	sinks->is_profiling = 1;
	orr_unlock(&sinks->lock);
}

static void count_no_more(struct node *node)
{
	struct sinks *sinks = node->sinks;
	struct question question = {0};

	if (!sinks)
		return;
	with_counters(node, stop, &question);
	orr_lock(&sinks->lock);
	if (sinks->is_profiling)
		events_unlisten(node, profile_sink(sinks->profile));
	sinks->is_profiling = 0;
	orr_unlock(&sinks->lock);
}

/* ---- status ---------------------------------------------------------- */

int starpu_profiling_status_set(int status)
{
	struct lasting *lasting = lasting_get();
	struct node *node = plat_self();
	int before = orr_load(&lasting->profiling);

	orr_store(&lasting->profiling, status);
	if (node && status)
		count_from_now(node);
	else if (node && before)
		count_no_more(node);
	return before;
}

int starpu_profiling_status_get(void)
{
	return orr_load(&lasting_get()->profiling);
}

void starpu_profiling_init(void)
{
	struct knobs knobs;
	int wanted;

	knobs_read(&knobs);
	wanted = knobs.profiling;
	knobs_free(&knobs);
	starpu_profiling_status_set(wanted ? STARPU_PROFILING_ENABLE
					   : starpu_profiling_status_get());
}

void starpu_profiling_set_id(int new_id)
{
	(void)new_id;
}

/* ---- workers --------------------------------------------------------- */

static void fill_info(struct starpu_profiling_worker_info *info,
		      const struct profile_worker *time, int ntasks)
{
	*info = (struct starpu_profiling_worker_info){
		.start_time = event_timespec(time->since_s),
		.total_time = event_timespec(time->until_s - time->since_s),
		.executing_time = event_timespec(time->only_s[PROFILE_EXECUTING]),
		.callback_time = event_timespec(time->only_s[PROFILE_CALLING]),
		.waiting_time = event_timespec(time->only_s[PROFILE_WAITING]),
		.sleeping_time = event_timespec(time->only_s[PROFILE_SLEEPING]),
		.scheduling_time = event_timespec(time->only_s[PROFILE_SCHEDULING]),
		.all_executing_time = event_timespec(time->all_s[PROFILE_EXECUTING]),
		.all_callback_time = event_timespec(time->all_s[PROFILE_CALLING]),
		.all_waiting_time = event_timespec(time->all_s[PROFILE_WAITING]),
		.all_sleeping_time = event_timespec(time->all_s[PROFILE_SLEEPING]),
		.all_scheduling_time = event_timespec(time->all_s[PROFILE_SCHEDULING]),
		.executed_tasks = ntasks,
		.energy_consumed = time->energy_j,
		.flops = time->flops};
}

int starpu_profiling_worker_get_info(int workerid,
				     struct starpu_profiling_worker_info *worker_info)
{
	struct node *node = api_node(__func__);
	struct question question = {.worker = workerid};
	int ntasks;

	if (workerid < 0 || workerid >= node->nworkers)
		return -EINVAL;
	with_counters(node, ask, &question);
	ntasks = take_executed(&node->workers[workerid]);
	if (worker_info)
		fill_info(worker_info, &question.time, ntasks);
	return 0;
}

/* ---- links ----------------------------------------------------------- */

struct link {
	int from, to;
};

static int is_link(const struct node *node, int from, int to)
{
	return from != to && route(node, (unsigned)from, (unsigned)to)->next == to;
}

/* The one with this number, or between these memories: what is negative is not asked for.
 * Returns its number, or their count when there is none. */
static int find_link(const struct node *node, int id, struct link *link)
{
	int n = 0;

	/* Memories that come later have later numbers. */
	for (int last = 1; last < node_nmemories(node); last++)
		for (int i = 0; i < 2 * last; i++) {
			int from = i % 2 ? last : i / 2, to = i % 2 ? i / 2 : last;

			if (!is_link(node, from, to))
				continue;
			if (n == id || (id < 0 && from == link->from && to == link->to)) {
				*link = (struct link){from, to};
				return n;
			}
			n++;
		}
	return n;
}

static int count_links(const struct node *node)
{
	struct link none = {-1, -1};

	return find_link(node, -1, &none);
}

int starpu_bus_get_count(void)
{
	return count_links(api_node(__func__));
}

int starpu_bus_get_id(int src, int dst)
{
	const struct node *node = api_node(__func__);
	struct link link = {src, dst};
	int id = find_link(node, -1, &link);

	return id < count_links(node) ? id : -1;
}

/* 1: it is there. */
static int link_at(const struct node *node, int busid, struct link *link)
{
	*link = (struct link){-1, -1};
	if (busid >= 0)
		find_link(node, busid, link);
	return link->from >= 0;
}

int starpu_bus_get_src(int busid)
{
	struct link link;

	return link_at(api_node(__func__), busid, &link) ? link.from : -EINVAL;
}

int starpu_bus_get_dst(int busid)
{
	struct link link;

	return link_at(api_node(__func__), busid, &link) ? link.to : -EINVAL;
}

static void complain_of_bus(const char *func, const struct node *node, int busid)
{
	int n = count_links(node);

	if (n)
		orr_complain(node->rank, "%s: there is no bus %d; expected 0 to %d", func,
			     busid, n - 1);
	else
		orr_complain(node->rank,
			     "%s: there is no bus %d, nor any other: a bus leads to a "
			     "memory beside the main one; ask starpu_bus_get_count() "
			     "before",
			     func, busid);
}

/* What is said of it; NULL: there is no such link.  Made when there is something to say.
 */
static struct sinks_link *words_of(const char *func, int busid, struct link *link)
{
	struct node *node = api_node(func);
	struct sinks *sinks = node->sinks;

	if (!link_at(node, busid, link)) {
		complain_of_bus(func, node, busid);
		return NULL;
	}
	orr_lock(&sinks->lock);
	if (!sinks->links)
		sinks->links = orr_alloc(STARPU_MAXNODES * sizeof(*sinks->links));
	orr_unlock(&sinks->lock);
	return &sinks->links[link->from][link->to];
}

void starpu_bus_set_direct(int busid, int direct)
{
	struct link link;
	struct sinks_link *words = words_of(__func__, busid, &link);

	if (words)
		words->direct = direct ? 2 : 1;
}

int starpu_bus_get_direct(int busid)
{
	const struct node *node = api_node(__func__);
	struct link link;
	struct sinks_link *words = words_of(__func__, busid, &link);

	if (!words)
		return -EINVAL;
	if (words->direct)
		return words->direct - 1;
	return !memory_is_main(node, (unsigned)link.from) &&
	       !memory_is_main(node, (unsigned)link.to);
}

void starpu_bus_set_ngpus(int busid, int ngpus)
{
	struct link link;
	struct sinks_link *words = words_of(__func__, busid, &link);

	if (words && ngpus >= 0 && ngpus < STARPU_NMAXWORKERS)
		words->ngpus = (unsigned char)(ngpus + 1);
}

int starpu_bus_get_ngpus(int busid)
{
	const struct node *node = api_node(__func__);
	struct link link;
	struct sinks_link *words = words_of(__func__, busid, &link);
	int n = 0;

	if (!words)
		return -EINVAL;
	if (words->ngpus)
		return words->ngpus - 1;
	for (int i = 0; i < node->nworkers; i++)
		n += device_has_memory(node->workers[i].kind);
	return n;
}

int starpu_bus_get_profiling_info(int busid, struct starpu_profiling_bus_info *bus_info)
{
	struct node *node = api_node(__func__);
	struct question question = {.worker = -1};
	struct link link;

	if (!link_at(node, busid, &link))
		return -EINVAL;
	question.from = (unsigned)link.from;
	question.to = (unsigned)link.to;
	with_counters(node, ask, &question);
	if (bus_info)
		*bus_info = (struct starpu_profiling_bus_info){
			.start_time = event_timespec(question.link.since_s),
			.total_time = event_timespec(question.link.until_s -
						     question.link.since_s),
			.transferred_bytes = (long long)question.link.bytes,
			.transfer_count = question.link.ncopies};
	return 0;
}

/* ---- summaries ------------------------------------------------------- */

static FILE *open_summary(const struct node *node, const char *variable, const char *path)
{
	FILE *file = *path ? fopen(path, "a") : stderr;

	if (!file) {
		orr_complain(node->rank, "%s=%s: cannot write it: %s; using stderr",
			     variable, path, strerror(errno));
		file = stderr;
	}
	fprintf(file, "\n#---------------------\n");
	return file;
}

static void close_summary(FILE *file)
{
	fprintf(file, "#---------------------\n");
	if (file != stderr)
		fclose(file);
}

static void print_worker(FILE *file, int id)
{
	struct starpu_profiling_worker_info info;
	double total_us, executing_us, sleeping_us;
	char name[64];

	starpu_worker_get_name(id, name, sizeof(name));
	starpu_profiling_worker_get_info(id, &info);
	total_us = starpu_timing_timespec_to_us(&info.total_time);
	executing_us = starpu_timing_timespec_to_us(&info.executing_time);
	sleeping_us = starpu_timing_timespec_to_us(&info.sleeping_time);
	fprintf(file, "%-32s\n\t%d task(s)\n", name, info.executed_tasks);
	fprintf(file,
		"\ttotal: %.2f ms executing: %.2f ms sleeping: %.2f ms overhead %.2f "
		"ms\n",
		total_us / 1e3, executing_us / 1e3, sleeping_us / 1e3,
		(total_us - executing_us - sleeping_us) / 1e3);
	if (info.flops > 0 && total_us > 0)
		fprintf(file, "\t%f GFlop/s\n", info.flops / total_us / 1e3);
	if (info.energy_consumed > 0)
		fprintf(file, "\t%f J consumed\n", info.energy_consumed);
}

void starpu_profiling_worker_helper_display_summary(void)
{
	struct node *node = api_node(__func__);
	const struct knobs *knobs = node_knobs(node);
	FILE *file;

	if (!knobs->worker_stats)
		return;
	file = open_summary(node, "STARPU_WORKER_STATS_FILE", knobs->worker_stats_file);
	fprintf(file, "Worker stats:\n");
	for (int i = 0; i < node->nworkers; i++)
		print_worker(file, i);
	close_summary(file);
}

/* Returns the gigabytes. */
static double print_link(FILE *file, int id)
{
	struct starpu_profiling_bus_info info;
	char from[64], to[64];
	double bytes, seconds;

	starpu_bus_get_profiling_info(id, &info);
	bytes = (double)info.transferred_bytes;
	seconds = 1e-6 * starpu_timing_timespec_to_us(&info.total_time);
	if (info.transfer_count == 0)
		return 0;
	starpu_memory_node_get_name((unsigned)starpu_bus_get_src(id), from, sizeof(from));
	starpu_memory_node_get_name((unsigned)starpu_bus_get_dst(id), to, sizeof(to));
	fprintf(file, "\t%s -> %s\t%.4f GB\t%.4f MB/s\t(transfers : %d - avg %.4f MB)\n",
		from, to, bytes / (1 << 30),
		seconds > 0 ? bytes / seconds / (1 << 20) : 0, info.transfer_count,
		bytes / info.transfer_count / (1 << 20));
	return bytes / (1 << 30);
}

void starpu_profiling_bus_helper_display_summary(void)
{
	struct node *node = api_node(__func__);
	const struct knobs *knobs = node_knobs(node);
	int n = count_links(node);
	double sum = 0;
	FILE *file;

	if (!knobs->bus_stats)
		return;
	file = open_summary(node, "STARPU_BUS_STATS_FILE", knobs->bus_stats_file);
	fprintf(file, "Data transfer stats:\n");
	for (int i = 0; i < n; i++)
		sum += print_link(file, i);
	fprintf(file, "Total transfers: %.4f GB\n", sum);
	close_summary(file);
}

void starpu_display_stats(void)
{
	api_node(__func__);
	starpu_profiling_bus_helper_display_summary();
	starpu_profiling_worker_helper_display_summary();
}

void profiling_begin(struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	FILE *file;

	if (orr_load(&node->lasting->profiling) || knobs->worker_stats ||
	    knobs->bus_stats)
		count_from_now(node);
	if (!knobs->bus_stats)
		return;
	file = open_summary(node, "STARPU_BUS_STATS_FILE", knobs->bus_stats_file);
	fprintf(file, "Data transfer speed:\n");
	bus_print_links(node, file);
	close_summary(file);
}

void profiling_end(struct node *node)
{
	(void)node;
	starpu_display_stats();
}
