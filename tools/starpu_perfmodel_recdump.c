/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Writes, in the format of GNU recutils, the workers and memories of this machine, and
 * what the models named in a tasks.rec have measured at the footprints named there, in
 * microseconds: all that a program needs to schedule these tasks itself.  Without a
 * tasks.rec it is what all models of this machine have measured.
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
	"Without an input file all models of this machine are written; the input\n"
	"file \"-\" is stdin.  Without an output file stdout is used.\n"
	"STARPU_HOSTNAME is the machine whose models are meant.\n";

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

/* A footprint of a model that was asked for; few. */
struct asked {
	struct asked *next;
	uint32_t footprint;
};

/* A model that was asked for; few. */
struct model {
	struct model *next;
	struct asked *asked;
	char symbol[];
};

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		tool_refuse("no memory for the name of a model");
	return memory;
}

/* StarPU's tool writes models in the order of the file, and their footprints with the
 * last one first. */
static void note(struct model **first, const char *symbol, uint32_t footprint)
{
	struct model **at = first;
	struct asked *asked;

	while (*at && strcmp((*at)->symbol, symbol) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = allocate(sizeof(**at) + strlen(symbol) + 1);
		strcpy((*at)->symbol, symbol);
	}
	for (asked = (*at)->asked; asked; asked = asked->next)
		if (asked->footprint == footprint)
			return;
	asked = allocate(sizeof(*asked));
	asked->footprint = footprint;
	asked->next = (*at)->asked;
	(*at)->asked = asked;
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

/* asked: NULL for all that it has measured. */
static void print_model(FILE *out, const char *symbol, const struct asked *asked)
{
	struct entries entries;

	if (entries_read(&entries, "starpu_perfmodel_recdump", symbol) < 0)
		return;
	for (int i = 0; !asked && i < entries.n; i++)
		print_entry(out, symbol, &entries.rows[i]);
	for (; asked; asked = asked->next)
		for (int i = 0; i < entries.n; i++)
			if (entries.rows[i].footprint == asked->footprint)
				print_entry(out, symbol, &entries.rows[i]);
	entries_free(&entries);
}

static struct model *read_models(FILE *in)
{
	struct model *models = NULL;
	char *line = NULL, *text, symbol[512] = "";
	size_t room = 0;
	unsigned footprint = 0;
	int has_footprint = 0, has_ended = 0;

	while (!has_ended) {
		has_ended = getline(&line, &room, in) <= 0;
		if (has_ended || line[strspn(line, " \t\r\n")] == '\0') {
			if (*symbol && has_footprint)
				note(&models, symbol, footprint);
			*symbol = '\0';
			has_footprint = 0;
		} else if ((text = field_text(line, "Model"))) {
			snprintf(symbol, sizeof(symbol), "%s", text);
		} else if ((text = field_text(line, "Footprint"))) {
			has_footprint = sscanf(text, "%x", &footprint) == 1;
		}
	}
	free(line);
	return models;
}

static void print_models(FILE *in, FILE *out)
{
	struct model *models = read_models(in), *next;

	fprintf(out, "%%rec: timing\n\n");
	for (; models; models = next) {
		print_model(out, models->symbol, models->asked);
		while (models->asked) {
			struct asked *rest = models->asked->next;

			free(models->asked);
			models->asked = rest;
		}
		next = models->next;
		free(models);
	}
}

/* Files are SYMBOL.HOST.  1: this one is of this machine, and is cut to its symbol. */
static int is_here(char *file)
{
	char path[1024];

	for (char *dot = strchr(file, '.'); dot; dot = strchr(dot + 1, '.')) {
		const char *name;

		*dot = '\0';
		starpu_perfmodel_get_model_path(file, path, sizeof(path));
		name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		if (strncmp(name, file, strlen(file)) == 0 && name[dot - file] == '.' &&
		    strcmp(name + (dot - file) + 1, dot + 1) == 0)
			return 1;
		*dot = '.';
	}
	return 0;
}

static void print_all_models(FILE *out)
{
	char *line = NULL, *file;
	FILE *list = tmpfile();
	size_t room = 0;

	if (!list)
		tool_refuse("no temporary file can be made; is there room in /tmp?");
	starpu_perfmodel_list(list);
	rewind(list);
	fprintf(out, "%%rec: timing\n\n");
	while (getline(&line, &room, list) > 0) {
		file = line + strcspn(line, "<");
		file += *file != '\0';
		file[strcspn(file, ">\n")] = '\0';
		if (is_here(file))
			print_model(out, file, NULL);
	}
	free(line);
	fclose(list);
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
	if (optind < argc && strcmp(argv[optind], "-") != 0 &&
	    !(in = fopen(argv[optind], "r")))
		tool_refuse("%s cannot be read", argv[optind]);
	if (to && !(out = fopen(to, "w")))
		tool_refuse("%s cannot be written", to);
	tool_init();
	if (optind < argc) {
		print_workers(out);
		print_memories(out);
		print_models(in, out);
	} else {
		print_all_models(out);
	}
	starpu_shutdown();
	if (fclose(out) != 0)
		tool_refuse("the output cannot be written; is the disk full?");
	if (in != stdin)
		fclose(in);
	return EXIT_SUCCESS;
}
