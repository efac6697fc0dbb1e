/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/newfile.h"
#include "base/process.h"
#include "core/task/task.h"
#include "sim.h"

/*
 * summary.c - the figures of a whole run: of all ranks, and of all lives of the library
 * from the program's start to its end, for the launcher that asked by ORRERY_SUMMARY.
 */
enum { MOST_UNKNOWN = 32, UNKNOWN_WRITTEN = 3 };

/* How much of its tasks' time nobody knows, of a model on a kind of worker. */
struct unknown {
	char name[64];
	enum starpu_worker_archtype type;
	double seconds;
};

struct summary {
	char *path; /* "": not wanted */
	int nranks; /* most at a time */
	unsigned long ninits, tasks, uncalibrated, messages;
	unsigned long gpus,
		gpu_tasks;      /* workers, of all lives; what they have executed */
	unsigned long inserted; /* most by one rank, and how long it took the slowest: */
	double insertion_s;
	unsigned long long bytes;
	struct model_doubt doubt;
	double energy_j; /* of tasks by their energy models, what programs noted, idleness
			  */
	double noise;    /* of the last node */
	int noise_seed;
	int has_master;  /* of slaves, which are nodes that take its tasks as they come */
	char policy[32]; /* of the last node, or of the master */
	int nunknown;
	struct unknown unknown[MOST_UNKNOWN];
};

/* The library opens on a rank. */
void summary_open(struct sim *sim, const struct knobs *knobs)
{
	struct summary *summary = sim->summary;

	if (!summary) {
		summary = sim->summary = orr_alloc(sizeof(*summary));
		summary->path = orr_strdup("");
	}
	if (strcmp(summary->path, knobs->summary) != 0) {
		free(summary->path);
		summary->path = orr_strdup(knobs->summary);
	}
	summary->noise = knobs->noise;
	summary->noise_seed = knobs->noise_seed;
	summary->ninits++;
	if (sim->nplats > summary->nranks)
		summary->nranks = sim->nplats;
}

/* What its workers, waiting, have used (STARPU_IDLE_POWER). */
static double idle_j(const struct node *node)
{
	double life_s = simgrid_get_clock() - node->start_s, idle_s = 0;

	for (int i = 0; i < node->nworkers; i++)
		idle_s += fmax(0, life_s - node->workers[i].busy_s);
	return idle_s > 0 ? node_knobs(node)->idle_power * idle_s : 0;
}

/* Tasks of its own workers: those of slaves count where they are.  1: it has slaves. */
static int add_tasks(struct summary *summary, const struct node *node)
{
	int is_master = 0;

	for (int i = 0; i < node->nworkers; i++) {
		const struct worker *worker = &node->workers[i];

		if (worker->driver && worker->driver->is_remote) {
			is_master = 1;
			continue;
		}
		summary->tasks += orr_count(&worker->executed);
		if (worker->type != STARPU_CUDA_WORKER)
			continue;
		summary->gpus++;
		summary->gpu_tasks += orr_count(&worker->executed);
	}
	return is_master;
}

static const char *measured_name(const struct starpu_task *task)
{
	const struct starpu_codelet *cl = task->cl;
	const char *symbol = cl && cl->model ? cl->model->symbol : NULL;

	return symbol && *symbol ? symbol : task_name(task);
}

/* Ranks have names of their own: they are compared by what they say.  Those for which
 * there is no place are few, and the last. */
static void add_unknown(struct summary *summary, const struct worker *worker,
			const struct starpu_task *task, double seconds)
{
	const char *name = measured_name(task);
	int i = 0;

	if (!name)
		return;
	while (i < summary->nunknown &&
	       (summary->unknown[i].type != worker->type ||
		strncmp(summary->unknown[i].name, name,
			sizeof(summary->unknown[i].name) - 1) != 0))
		i++;
	if (i == MOST_UNKNOWN)
		return;
	if (i == summary->nunknown) {
		summary->nunknown++;
		summary->unknown[i].type = worker->type;
		snprintf(summary->unknown[i].name, sizeof(summary->unknown[i].name), "%s",
			 name);
	}
	summary->unknown[i].seconds += seconds;
}

void summary_duration(struct sim *sim, const struct worker *worker,
		      const struct starpu_task *task,
		      const struct model_estimate *estimate)
{
	double unknown_s;

	if (!sim->summary || !*sim->summary->path)
		return;
	model_doubt_add(&sim->summary->doubt, estimate);
	unknown_s = model_estimate_unknown_s(estimate);
	if (unknown_s > 0)
		add_unknown(sim->summary, worker, task, unknown_s);
}

static int compare_unknown(const void *a, const void *b)
{
	const struct unknown *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* The largest.  Lines have one '='. */
static void write_unknown(const struct summary *summary, FILE *file)
{
	struct unknown sorted[MOST_UNKNOWN];
	int n = summary->nunknown;

	memcpy(sorted, summary->unknown, sizeof(sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), compare_unknown);
	for (int i = 0; i < n && i < UNKNOWN_WRITTEN; i++) {
		for (char *at = sorted[i].name; *at; at++)
			if (*at == '=' || (unsigned char)*at < ' ' ||
			    (unsigned char)*at >= 127)
				*at = '?';
		fprintf(file, "unknown_%d=%.9g %s %s\n", i + 1, sorted[i].seconds,
			sorted[i].type == STARPU_CPU_WORKER ? "CPU" : "GPU",
			sorted[i].name);
	}
}

void summary_add(struct summary *summary, const struct node *node)
{
	int is_master;

	/* What opens a backend alone has a node without it. */
	if (node->plat) {
		summary->energy_j += node->plat->energy_j + node->energy_j + idle_j(node);
	}
	is_master = add_tasks(summary, node);
	summary->uncalibrated += node->uncalibrated_tasks;
	summary->messages += node->messages_sent;
	summary->bytes += node->bytes_sent;
	if (orr_count(&node->tasks_inserted) > summary->inserted)
		summary->inserted = orr_count(&node->tasks_inserted);
	if (node->inserting_s > summary->insertion_s)
		summary->insertion_s = node->inserting_s;
	/* A node that could not open has none.  A name of the application's may be
	 * anything; lines have one '='. */
	if (!node->policy || summary->has_master)
		return;
	summary->has_master = is_master;
	snprintf(summary->policy, sizeof(summary->policy), "%s",
		 node->policy->policy_name ? node->policy->policy_name : "own");
	summary->policy[strcspn(summary->policy, "=\n\r")] = 0;
}

static int write_file(const struct summary *summary)
{
	struct newfile newfile;
	int ret = newfile_open(&newfile, summary->path);

	if (ret)
		return ret;
	fprintf(newfile.file,
		"date_s=%.9g\nranks=%d\ninits=%lu\ntasks=%lu\nuncalibrated_tasks=%lu\n"
		"messages=%lu\nbytes=%llu\ninserted=%lu\ninsertion_s=%.9g\nwall_s=%.3f\n"
		"peak_bytes=%llu\nscheduler=%s\nwork_s=%.9g\nuncalibrated_s=%.9g\n"
		"extrapolated_s=%.9g\nunsure_s=%.9g\nonce_s=%.9g\nvariance_s2=%.9g\n"
		"mean_error_s=%.9g\n"
		"model_error=%.4g\nenergy_j=%.9g\ngpus=%lu\ngpu_tasks=%lu\n"
		"noise=%.9g\nnoise_seed=%d\n",
		simgrid_get_clock(), summary->nranks, summary->ninits, summary->tasks,
		summary->uncalibrated, summary->messages, summary->bytes,
		summary->inserted, summary->insertion_s, process_wall_s(),
		process_peak_bytes(), summary->policy, summary->doubt.work_s,
		summary->doubt.uncalibrated_s, summary->doubt.extrapolated_s,
		summary->doubt.unsure_s, summary->doubt.once_s,
		summary->doubt.variance_s2, model_doubt_mean_error_s(&summary->doubt),
		model_doubt_error(&summary->doubt), summary->energy_j, summary->gpus,
		summary->gpu_tasks, summary->noise, summary->noise_seed);
	write_unknown(summary, newfile.file);
	return newfile_close(&newfile);
}

void summary_write(struct sim *sim)
{
	/* Of nodes that never close, what they have done so far. */
	struct summary all;
	int ret;

	if (!sim->summary || !*sim->summary->path)
		return;
	all = *sim->summary;
	for (struct plat *plat = sim->first; plat; plat = plat->next)
		summary_add(&all, plat->node);
	ret = write_file(&all);
	if (ret)
		orr_complain(ORR_NO_RANK, "ORRERY_SUMMARY=%s: cannot write it: %s",
			     all.path, strerror(-ret));
}
