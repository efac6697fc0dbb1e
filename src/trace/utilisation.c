/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "trace/utilisation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/newfile.h"

#define FIRST_WIDTH_S 1e-6

struct utilisation {
	struct utilisation **slot; /* that points here */
	char *path, *title;
	int nopen;
	int is_elsewhere; /* another rank writes it */
	double width_s;
	struct utilisation_row *first, *last;
};

struct utilisation_row {
	struct event_sink sink;
	struct utilisation *table;
	struct utilisation_row *next;
	double origin_s;
	unsigned char *kinds; /* enum utilisation_kind, by worker */
	int nkinds;
	struct utilisation_bins bins;
};

static const char *const kind_names[] = {"cpu", "gpu", "net"};

/* ---- bins ------------------------------------------------------------ */

static void widen(struct utilisation_bins *bins, double width_s)
{
	for (; bins->width_s < width_s; bins->width_s *= 2)
		for (int kind = 0; kind < UTILISATION_NKINDS; kind++) {
			float *busy_s = bins->busy_s[kind];

			for (int i = 0; i < UTILISATION_BINS / 2; i++)
				busy_s[i] = busy_s[2 * i] + busy_s[2 * i + 1];
			memset(&busy_s[UTILISATION_BINS / 2], 0,
			       UTILISATION_BINS / 2 * sizeof(*busy_s));
		}
}

/* One worker of the kind, or the network, was busy. */
static void add(struct utilisation_row *row, enum utilisation_kind kind, double begin_s,
		double end_s)
{
	struct utilisation *table = row->table;
	struct utilisation_bins *bins = &row->bins;
	int bin;

	begin_s = begin_s > row->origin_s ? begin_s - row->origin_s : 0;
	end_s -= row->origin_s;
	while (end_s >= table->width_s * UTILISATION_BINS)
		table->width_s *= 2;
	widen(bins, table->width_s);
	bin = (int)(begin_s / bins->width_s);
	while (begin_s < end_s) {
		double bin_end_s = (bin + 1) * bins->width_s;
		double until_s = end_s < bin_end_s ? end_s : bin_end_s;

		bins->busy_s[kind][bin] += (float)(until_s - begin_s);
		begin_s = until_s;
		if (++bin == UTILISATION_BINS)
			break; /* Rounding at the very end. */
	}
}

/* ---- records --------------------------------------------------------- */

static void note_worker(struct utilisation_row *row, const struct event *event)
{
	enum utilisation_kind kind = event->id ? UTILISATION_GPU : UTILISATION_CPU;
	int id = event->worker;

	if (id >= row->nkinds) {
		row->kinds = orr_realloc(row->kinds, (size_t)id + 1);
		row->nkinds = id + 1;
	}
	row->kinds[id] = (unsigned char)kind;
	row->bins.ngpus += kind == UTILISATION_GPU;
	row->bins.ncpus += kind == UTILISATION_CPU;
}

static void take_one(struct utilisation_row *row, const struct event *event)
{
	switch (event->kind) {
	case EVENT_OPENED:
		row->origin_s = event_date_s(event->value);
		break;
	case EVENT_WORKER:
		note_worker(row, event);
		break;
	case EVENT_RANK:
		row->bins.rank = (int)event->id;
		row->origin_s = event_date_s(event->value);
		break;
	case EVENT_TASK_ENDED:
	case EVENT_HELP_ENDS:
		add(row, row->kinds[event->worker], event_date_s(event->value),
		    event->date_s);
		break;
	case EVENT_NET_BUSY:
		add(row, UTILISATION_NET, event_date_s(event->value), event->date_s);
		break;
	case EVENT_CLOSED:
		row->bins.end_s = event->date_s - row->origin_s;
		break;
	default:
		break;
	}
}

static void take(struct event_sink *sink, int ring, const struct event *records,
		 unsigned n)
{
	(void)ring;
	for (unsigned i = 0; i < n; i++)
		take_one((struct utilisation_row *)(void *)sink, &records[i]);
}

/* ---- the file -------------------------------------------------------- */

static void write_row(FILE *file, const struct utilisation_bins *bins, double end_s)
{
	for (int kind = 0; kind < UTILISATION_NKINDS; kind++)
		for (int i = 0; i < UTILISATION_BINS && i * bins->width_s < end_s; i++) {
			double bin_end_s = (i + 1) * bins->width_s;

			if (kind == UTILISATION_GPU && bins->ngpus == 0)
				continue;
			/* The first node shows all bins; elsewhere idle ones go without
			 * saying. */
			if (bins->rank > 0 && bins->busy_s[kind][i] <= 0)
				continue;
			fprintf(file, "%d,%s,%.9g,%.9g,%.9g\n", bins->rank,
				kind_names[kind], i * bins->width_s,
				bin_end_s < end_s ? bin_end_s : end_s,
				bins->busy_s[kind][i]);
		}
}

static void write_file(struct utilisation *table, FILE *file)
{
	int nnodes = 0, ncpus = 0, ngpus = 0;
	double end_s = 0;

	for (struct utilisation_row *row = table->first; row; row = row->next) {
		const struct utilisation_bins *bins = &row->bins;

		nnodes++;
		ncpus = bins->ncpus > ncpus ? bins->ncpus : ncpus;
		ngpus = bins->ngpus > ngpus ? bins->ngpus : ngpus;
		end_s = bins->end_s > end_s ? bins->end_s : end_s;
	}
	fprintf(file,
		"# makespan_s=%.9g nodes=%d cpus_per_node=%d gpus_per_node=%d title=%s\n",
		end_s, nnodes, ncpus, ngpus, table->title);
	fprintf(file, "node,kind,t0_s,t1_s,busy_s\n");
	for (struct utilisation_row *row = table->first; row; row = row->next) {
		widen(&row->bins, table->width_s);
		write_row(file, &row->bins, end_s);
	}
}

static void write_table(struct utilisation *table)
{
	struct newfile newfile;
	int ret = newfile_open(&newfile, table->path);

	if (!ret) {
		write_file(table, newfile.file);
		ret = newfile_close(&newfile);
	}
	if (ret)
		orr_complain(ORR_NO_RANK,
			     "ORRERY_TRACE=%s: cannot write it: %s; no trace of this "
			     "run, an older file is kept",
			     table->path, strerror(-ret));
}

/* ---- life ------------------------------------------------------------ */

static struct utilisation *new_table(struct utilisation **slot, const char *path,
				     const char *title)
{
	struct utilisation *table = orr_alloc(sizeof(*table));

	table->slot = slot;
	table->path = orr_strdup(path);
	table->title = orr_strdup(title);
	table->width_s = FIRST_WIDTH_S;
	return *slot = table;
}

static struct utilisation_row *new_row(struct utilisation *table)
{
	struct utilisation_row *row = orr_alloc(sizeof(*row));

	row->table = table;
	row->bins.width_s = table->width_s;
	*(table->last ? &table->last->next : &table->first) = row;
	table->last = row;
	return row;
}

struct utilisation_row *utilisation_open(struct utilisation **shared, const char *path,
					 const char *title)
{
	struct utilisation *table = *shared ? *shared : new_table(shared, path, title);
	struct utilisation_row *row = new_row(table);

	table->nopen++;
	row->sink.is_prompt = 1;
	row->sink.kinds = EVENT_BIT(EVENT_OPENED) | EVENT_BIT(EVENT_WORKER) |
			  EVENT_BIT(EVENT_RANK) | EVENT_BIT(EVENT_TASK_STARTED) |
			  EVENT_BIT(EVENT_TASK_ENDED) | EVENT_BIT(EVENT_NET_BUSY) |
			  EVENT_BIT(EVENT_HELP_ENDS) | EVENT_BIT(EVENT_CLOSED);
	row->sink.take = take;
	return row;
}

struct event_sink *utilisation_sink(struct utilisation_row *row)
{
	return &row->sink;
}

void utilisation_close(struct utilisation_row *last)
{
	struct utilisation *table = last->table;

	if (--table->nopen > 0)
		return;
	if (!table->is_elsewhere)
		write_table(table);
	*table->slot = NULL;
	while (table->first) {
		struct utilisation_row *row = table->first;

		table->first = row->next;
		free(row->kinds);
		free(row);
	}
	free(table->path);
	free(table->title);
	free(table);
}

/* ---- several processes ----------------------------------------------- */

const struct utilisation_bins *utilisation_bins_at(struct utilisation_row *row,
						   double now_s)
{
	row->bins.end_s = now_s - row->origin_s;
	return &row->bins;
}

void utilisation_add(struct utilisation_row *row, const struct utilisation_bins *bins)
{
	struct utilisation *table = row->table;

	new_row(table)->bins = *bins;
	if (bins->width_s > table->width_s)
		table->width_s = bins->width_s;
}

void utilisation_give_away(struct utilisation_row *row)
{
	row->table->is_elsewhere = 1;
}
