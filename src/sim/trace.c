/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/newfile.h"
#include "sim.h"

/*
 * trace.c - how busy each node was, over about TRACE_BINS intervals of time.
 *
 * Nobody knows beforehand how long a run is: when it leaves the last bin, bins are
 * merged two by two and the width doubles.  Rows merge when they are next written to.
 */
enum { TRACE_BINS = 256 };

#define FIRST_WIDTH_S 1e-6

struct trace_row {
	struct trace_row *next;
	int rank, ncpus, ngpus;
	double width_s; /* of the bins below */
	float busy_s[TRACE_NKINDS][TRACE_BINS];
};

struct trace {
	double width_s;
	struct trace_row *first, *last;
};

struct trace *trace_new(void)
{
	struct trace *trace = orr_alloc(sizeof(*trace));

	trace->width_s = FIRST_WIDTH_S;
	return trace;
}

struct trace_row *trace_row_new(struct trace *trace)
{
	struct trace_row *row = orr_alloc(sizeof(*row));

	row->width_s = trace->width_s;
	*(trace->last ? &trace->last->next : &trace->first) = row;
	trace->last = row;
	return row;
}

void trace_row_close(struct trace_row *row, const struct plat *plat)
{
	row->rank = plat->node->rank;
	row->ncpus = plat->node->nworkers_of[STARPU_CPU_WORKER];
	row->ngpus = plat->node->nworkers - row->ncpus;
}

static void widen(struct trace_row *row, double width_s)
{
	for (; row->width_s < width_s; row->width_s *= 2)
		for (int kind = 0; kind < TRACE_NKINDS; kind++) {
			float *bins = row->busy_s[kind];

			for (int i = 0; i < TRACE_BINS / 2; i++)
				bins[i] = bins[2 * i] + bins[2 * i + 1];
			memset(&bins[TRACE_BINS / 2], 0, TRACE_BINS / 2 * sizeof(*bins));
		}
}

void trace_busy(struct trace *trace, struct trace_row *row, enum trace_kind kind,
		double begin_s, double end_s)
{
	int bin;

	while (end_s >= trace->width_s * TRACE_BINS)
		trace->width_s *= 2;
	widen(row, trace->width_s);
	bin = (int)(begin_s / row->width_s);
	while (begin_s < end_s) {
		double bin_end_s = (bin + 1) * row->width_s;
		double until_s = end_s < bin_end_s ? end_s : bin_end_s;

		row->busy_s[kind][bin] += (float)(until_s - begin_s);
		begin_s = until_s;
		if (++bin == TRACE_BINS)
			break; /* Rounding at the very end. */
	}
}

/* The program, which smpirun gives as first argument to its own. */
static void find_title(char *title, size_t bytes)
{
	char text[1024] = "";
	FILE *file = fopen("/proc/self/cmdline", "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *name = text + strlen(text) + 1, *slash;

	if (file)
		fclose(file);
	if (n == 0 || name >= text + n)
		name = text;
	slash = strrchr(name, '/');
	snprintf(title, bytes, "%s", slash ? slash + 1 : name);
}

static void write_row(FILE *file, const struct trace_row *row, double end_s)
{
	static const char *const names[] = {"cpu", "gpu", "net"};

	for (int kind = 0; kind < TRACE_NKINDS; kind++)
		for (int i = 0; i < TRACE_BINS && i * row->width_s < end_s; i++) {
			double bin_end_s = (i + 1) * row->width_s;

			if (kind == TRACE_GPU && row->ngpus == 0)
				continue;
			/* The first node shows all bins; elsewhere idle ones go without
			 * saying. */
			if (row->rank > 0 && row->busy_s[kind][i] <= 0)
				continue;
			fprintf(file, "%d,%s,%.9g,%.9g,%.9g\n", row->rank, names[kind],
				i * row->width_s, bin_end_s < end_s ? bin_end_s : end_s,
				row->busy_s[kind][i]);
		}
}

static void write_file(struct trace *trace, FILE *file, double end_s)
{
	int nnodes = 0, ncpus = 0, ngpus = 0;
	char title[128];

	find_title(title, sizeof(title));
	for (struct trace_row *row = trace->first; row; row = row->next) {
		nnodes++;
		ncpus = row->ncpus > ncpus ? row->ncpus : ncpus;
		ngpus = row->ngpus > ngpus ? row->ngpus : ngpus;
	}
	fprintf(file,
		"# makespan_s=%.9g nodes=%d cpus_per_node=%d gpus_per_node=%d title=%s\n",
		end_s, nnodes, ncpus, ngpus, title);
	fprintf(file, "node,kind,t0_s,t1_s,busy_s\n");
	for (struct trace_row *row = trace->first; row; row = row->next) {
		widen(row, trace->width_s);
		write_row(file, row, end_s);
	}
}

void trace_close(struct trace *trace, const char *path, double end_s)
{
	struct newfile newfile;
	int ret = newfile_open(&newfile, path);

	if (!ret) {
		write_file(trace, newfile.file, end_s);
		ret = newfile_close(&newfile);
	}
	if (ret)
		orr_complain(ORR_NO_RANK,
			     "ORRERY_TRACE=%s: cannot write it: %s; no trace of this "
			     "run, an older file is kept",
			     path, strerror(-ret));
	while (trace->first) {
		struct trace_row *row = trace->first;

		trace->first = row->next;
		free(row);
	}
	free(trace);
}
