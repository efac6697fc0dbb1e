/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Writes, in the format of GNU recutils, the workers and memories of this machine, and
 * what the models named in a tasks.rec have measured at the footprints named there, in
 * microseconds: all that a program needs to schedule these tasks itself.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "entries.h"
#include "tool.h"

static const char usage[] =
	"Dumps perfmodels to a rec file\n\n"
	"Usage: starpu_perfmodel_recdump [ input-file ] [ -o output-file ]\n\n"
	"If input or output file names are not given, stdin and stdout are used.\n";

/* ---- the machine ----------------------------------------------------- */

/* Of a combination's name, as cpu0_impl0 (Comb0). */
static void arch_of(unsigned worker, char *name, size_t bytes)
{
	starpu_perfmodel_get_arch_name(
		starpu_worker_get_perf_archtype((int)worker, STARPU_NMAX_SCHED_CTXS),
		name, bytes, 0);
	name[strcspn(name, "_")] = '\0';
}

/* Those with the name of the first one. */
static unsigned count_alike(unsigned first)
{
	unsigned n = 0;
	char name[ENTRY_ARCH_BYTES], other[ENTRY_ARCH_BYTES];

	arch_of(first, name, sizeof(name));
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		arch_of(i, other, sizeof(other));
		if (strcmp(name, other) == 0 && i < first)
			return 0;
		n += strcmp(name, other) == 0;
	}
	return n;
}

static void print_workers(FILE *out)
{
	fprintf(out, "%%rec: worker_count\n\n");
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		char name[ENTRY_ARCH_BYTES];
		unsigned n = count_alike(i);

		arch_of(i, name, sizeof(name));
		if (n > 0)
			fprintf(out, "Architecture: %s\nNbWorkers: %u\n\n", name, n);
	}
}

static void print_memories(FILE *out)
{
	fprintf(out, "%%rec: memory_workers\n\n");
	for (unsigned m = 0; m < starpu_memory_nodes_get_count(); m++) {
		char name[64];
		starpu_ssize_t bytes = starpu_memory_get_total(m);

		starpu_memory_node_get_name(m, name, sizeof(name));
		fprintf(out, "MemoryNode: %u\nName: %s\n", m, name);
		if (bytes >= 0)
			fprintf(out, "Size: %lld\n", (long long)bytes);
		fprintf(out, "Workers:");
		for (unsigned i = 0; i < starpu_worker_get_count(); i++)
			if (starpu_worker_get_memory_node(i) == m)
				fprintf(out, " %u", i);
		fprintf(out, "\n\n");
	}
}

/* ---- models ---------------------------------------------------------- */

/* What was asked for so far; few. */
struct asked {
	struct asked *next;
	uint32_t footprint;
	char symbol[];
};

/* 1: it was asked for before. */
static int note(struct asked **first, const char *symbol, uint32_t footprint)
{
	struct asked *asked;

	for (asked = *first; asked; asked = asked->next)
		if (asked->footprint == footprint && strcmp(asked->symbol, symbol) == 0)
			return 1;
	asked = calloc(1, sizeof(*asked) + strlen(symbol) + 1);
	if (!asked)
		tool_refuse("no memory for the name of a model");
	asked->footprint = footprint;
	strcpy(asked->symbol, symbol);
	asked->next = *first;
	*first = asked;
	return 0;
}

static void print_entry(FILE *out, const char *symbol, const struct entry *entry)
{
	fprintf(out, "Model: %s\nArchitecture: %.*s\n", symbol,
		(int)strcspn(entry->arch, "_"), entry->arch);
	if (entry->implementation > 0)
		fprintf(out, "Implementation: %d\n", entry->implementation);
	fprintf(out,
		"Footprint: %08x\nSize: %lu\nFlops: %-15e\nMean: %-15e\nStddev: %-15e\n"
		"Samples: %u\n\n",
		entry->footprint, entry->size, entry->flops, entry->mean,
		entry->deviation, entry->nsample);
}

static void print_model(FILE *out, const char *symbol, uint32_t footprint)
{
	struct entries entries;

	if (entries_read(&entries, "starpu_perfmodel_recdump", symbol) < 0)
		return;
	for (int i = 0; i < entries.n; i++)
		if (entries.rows[i].footprint == footprint)
			print_entry(out, symbol, &entries.rows[i]);
	free(entries.rows);
}

static void print_models(FILE *in, FILE *out)
{
	struct asked *asked = NULL, *next;
	char *line = NULL, *text, symbol[512] = "";
	size_t room = 0;
	unsigned footprint = 0;
	int has_footprint = 0, has_ended = 0;

	fprintf(out, "%%rec: timing\n\n");
	while (!has_ended) {
		has_ended = getline(&line, &room, in) <= 0;
		if (has_ended || line[strspn(line, " \t\r\n")] == '\0') {
			if (*symbol && has_footprint && !note(&asked, symbol, footprint))
				print_model(out, symbol, footprint);
			*symbol = '\0';
			has_footprint = 0;
		} else if ((text = field_text(line, "Model"))) {
			snprintf(symbol, sizeof(symbol), "%s", text);
		} else if ((text = field_text(line, "Footprint"))) {
			has_footprint = sscanf(text, "%x", &footprint) == 1;
		}
	}
	free(line);
	for (; asked; asked = next) {
		next = asked->next;
		free(asked);
	}
}

static const struct option words[] = {
	{"help", 0, NULL, 'h'}, {"version", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};

int main(int argc, char **argv)
{
	const char *to = NULL;
	FILE *in = stdin, *out = stdout;
	int word;

	while ((word = getopt_long(argc, argv, "ho:v", words, NULL)) != -1) {
		switch (word) {
		case 'h':
			tool_help(usage);
		case 'v':
			tool_version("starpu_perfmodel_recdump");
		case 'o':
			to = optarg;
			break;
		default:
			tool_misused(usage);
		}
	}
	if (optind + 1 < argc)
		tool_misused(usage);
	if (optind < argc && !(in = fopen(argv[optind], "r")))
		tool_refuse("%s cannot be read", argv[optind]);
	if (to && !(out = fopen(to, "w")))
		tool_refuse("%s cannot be written", to);
	tool_init();
	print_workers(out);
	print_memories(out);
	print_models(in, out);
	starpu_shutdown();
	if (fclose(out) != 0)
		tool_refuse("the output cannot be written; is the disk full?");
	if (in != stdin)
		fclose(in);
	return EXIT_SUCCESS;
}
