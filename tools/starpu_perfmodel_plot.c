/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Writes a program for gnuplot that draws what a model has measured, with the options of
 * StarPU's tool of this name.  STARPU_HOSTNAME says whose measurements are meant.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <starpu.h>

#include "entries.h"
#include "tool.h"

static const char usage[] =
	"Draw a graph corresponding to the execution time of a given perfmodel\n\n"
	"Usage: starpu_perfmodel_plot [ options ]\n\n"
	"One of -s, -l and -d is needed; -e, -f, -i, -lc and -c go with -s\n"
	"Options:\n"
	"   -d                  display the directories storing performance models\n"
	"   -l                  display all available models\n"
	"   -s <symbol>         specify the symbol\n"
	"   -e                  display perfmodel as energy instead of time\n"
	"   -f                  draw GFlop/s instead of time\n"
	"   -i <tasks.rec>      also draw each task of the model in this file, which\n"
	"                       starpu_fxt_tool makes of a recorded run\n"
	"   -lc                 display all combinations of a given model\n"
	"   -c <combination>    specify the combination, by its number in -lc; may be\n"
	"                       given several times\n"
	"   -h, --help          display this help and exit\n"
	"   -v, --version       output version information and exit\n\n"
	"Writes starpu_SYMBOL.gp and starpu_SYMBOL_avg.data in this directory;\n"
	"\"gnuplot starpu_SYMBOL.gp\" makes starpu_SYMBOL.eps.\n"
	"STARPU_HOSTNAME is the machine whose models are meant.\n";

enum { MAX_CHOSEN = 64 };

struct options {
	int list, directory, list_combinations, energy, gflops;
	char *symbol, *tasks;
	int nchosen, chosen[MAX_CHOSEN];
};

/* Of an architecture and an implementation: a curve. */
struct curve {
	const struct entry *first;
	int column;
};

static const struct option words[] = {
	{"help", 0, NULL, 'h'}, {"version", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};

static void choose(struct options *options, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 0)
		tool_refuse("-c %s: expected the number of a combination, as -lc shows "
			    "them",
			    text);
	if (options->nchosen == MAX_CHOSEN)
		tool_refuse("-c is given more than %d times", MAX_CHOSEN);
	options->chosen[options->nchosen++] = (int)number;
}

static int read_option(struct options *options, int word)
{
	switch (word) {
	case 'l': /* alone, or the first half of -lc */
		if (optarg && strcmp(optarg, "c") != 0)
			return 0;
		*(optarg ? &options->list_combinations : &options->list) = 1;
		return 1;
	case 'd':
		return options->directory = 1;
	case 's':
		options->symbol = optarg;
		return 1;
	case 'e':
		return options->energy = 1;
	case 'f':
		return options->gflops = 1;
	case 'c':
		choose(options, optarg);
		return 1;
	case 'i':
		options->tasks = optarg;
		return 1;
	case 'h':
		tool_help(usage);
	case 'v':
		tool_version("starpu_perfmodel_plot");
	default:
		return 0;
	}
}

static struct options read_options(int argc, char **argv)
{
	struct options options = {0};
	int word;

	while ((word = getopt_long(argc, argv, "dl::s:efc:i:hv", words, NULL)) != -1)
		if (!read_option(&options, word))
			tool_misused(usage);
	if (optind < argc || !(options.list || options.directory || options.symbol))
		tool_misused(usage);
	if (options.tasks && options.energy)
		tool_refuse(
			"-i with -e: a run has no energy of each task; leave out one");
	return options;
}

static int is_chosen(const struct options *options, int combination)
{
	for (int i = 0; i < options->nchosen; i++)
		if (options->chosen[i] == combination)
			return 1;
	return options->nchosen == 0;
}

static int same_curve(const struct entry *a, const struct entry *b)
{
	return a->combination == b->combination && a->implementation == b->implementation;
}

/* Entries come curve by curve. */
static int find_curves(const struct options *options, const struct entries *entries,
		       struct curve *curves)
{
	int n = 0;

	for (int i = 0; i < entries->n; i++) {
		const struct entry *row = &entries->rows[i];

		if (!is_chosen(options, row->combination) ||
		    (n > 0 && same_curve(curves[n - 1].first, row)))
			continue;
		curves[n] = (struct curve){row, 2 * n + 2};
		n++;
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->footprint > y->footprint) - (x->footprint < y->footprint);
}

static void print_cell(FILE *file, const struct options *options, const struct entry *row)
{
	double value, deviation;

	if (!row || (options->gflops && !(row->mean > 0))) {
		fprintf(file, "\t\"\"\t\"\"");
		return;
	}
	value = row->mean / (options->energy ? 1 : 1e3);
	deviation = row->deviation / (options->energy ? 1 : 1e3);
	if (options->gflops) {
		value = row->flops / row->mean / 1e3;
		deviation = value * row->deviation / row->mean;
	}
	fprintf(file, "\t%-15le\t%-15le", value, deviation);
}

/* A line for each size and footprint, two columns for each curve; the axis is
 * logarithmic, so no data at all is no place on it. */
static void print_data(FILE *file, const struct options *options,
		       const struct entries *entries, const struct curve *curves, int n)
{
	const struct entry **sorted = malloc(((size_t)entries->n + 1) * sizeof(*sorted));
	int nsorted = 0;

	if (!sorted)
		tool_refuse("no memory for %d measurements", entries->n);
	for (int i = 0; i < entries->n; i++)
		if (is_chosen(options, entries->rows[i].combination) &&
		    entries->rows[i].size > 0)
			sorted[nsorted++] = &entries->rows[i];
	qsort(sorted, (size_t)nsorted, sizeof(*sorted), by_size);
	for (int i = 0, next; i < nsorted; i = next) {
		fprintf(file, "%-15lu ", sorted[i]->size);
		for (next = i + 1;
		     next < nsorted && by_size(&sorted[i], &sorted[next]) == 0;)
			next++;
		for (int c = 0; c < n; c++) {
			const struct entry *row = NULL;

			for (int j = i; j < next && !row; j++)
				if (same_curve(sorted[j], curves[c].first))
					row = sorted[j];
			print_cell(file, options, row);
		}
		fprintf(file, "\n");
	}
	free(sorted);
}

/* gnuplot's enhanced text takes what follows an underscore for an index. */
static void print_plain(FILE *file, const char *text)
{
	for (; *text; text++)
		fputc(*text == '_' ? '-' : *text, file);
}

/* Fits are of times or energies, so a plot of GFlop/s has none.  How many there are. */
static int print_fits(FILE *file, const struct options *options,
		      const struct entries *entries)
{
	const char *scale = options->energy ? "" : "0.001 * ";
	int n = 0;

	for (int i = 0; i < entries->nfits && !options->gflops; i++) {
		const struct fit *fit = &entries->fits[i];

		if (!is_chosen(options, fit->combination))
			continue;
		fprintf(file, "%s\t%s%g * x ** %g", n++ ? ",\\\n" : "", scale, fit->a,
			fit->b);
		if (fit->is_nonlinear)
			fprintf(file, " + %s%g", scale, fit->c);
		fprintf(file, " title \"%s Regression ",
			fit->is_nonlinear ? "Non-Linear" : "Linear");
		print_plain(file, fit->arch);
		fprintf(file, "\"");
	}
	return n;
}

static void print_program(FILE *file, const struct options *options, const char *data,
			  const struct entries *entries, const struct curve *curves,
			  int n)
{
	int nfits;
	char path[1024] = "";
	size_t n_symbol = strlen(options->symbol);
	const char *file_name;

	/* .../SYMBOL.HOST */
	starpu_perfmodel_get_model_path(options->symbol, path, sizeof(path));
	file_name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	fprintf(file,
		"#!/usr/bin/gnuplot -persist\n\nset term postscript eps enhanced color\n"
		"set output \"starpu_%s.eps\"\nset title \"Model for codelet ",
		options->symbol);
	print_plain(file, options->symbol);
	if (strlen(file_name) > n_symbol + 1) {
		fprintf(file, " on ");
		print_plain(file, file_name + n_symbol + 1);
	}
	fprintf(file,
		"\"\nset xlabel \"Total data size\"\nset ylabel \"%s\"\n\n"
		"set key top left\nset logscale x\nset logscale y\n\n"
		"set xrange [1 < * < 10**5 : 10**6 < * < 10**9]\n"
		"set datafile missing '\"\"'\n\nplot",
		options->gflops   ? "GFlop/s"
		: options->energy ? "Energy (J)"
				  : "Time (ms)");
	nfits = print_fits(file, options, entries);
	for (int i = 0; i < n; i++) {
		fprintf(file, "%s\t\"%s\" using 1:%d:%d with errorlines title \"Average ",
			i || nfits ? ",\\\n" : "", data, curves[i].column,
			curves[i].column + 1);
		print_plain(file, curves[i].first->arch);
		fprintf(file, "\"");
	}
	if (options->tasks)
		fprintf(file, ",\\\n\t\"starpu_%s_prof.data\" title \"Profiling\"",
			options->symbol);
	fprintf(file, "\n");
}

/* ---- tasks of a run ----------------------------------------------------- */

/* What a record of a tasks.rec says; dates are milliseconds. */
struct task {
	int is_of_model;
	unsigned footprint;
	unsigned long size;
	double start, end;
};

static void read_field(struct task *task, char *line, const char *symbol)
{
	char *text;

	if ((text = field_text(line, "Model"))) {
		task->is_of_model = strcmp(text, symbol) == 0;
	} else if ((text = field_text(line, "Footprint"))) {
		task->footprint = (unsigned)strtoul(text, NULL, 16);
	} else if ((text = field_text(line, "StartTime"))) {
		task->start = strtod(text, NULL);
	} else if ((text = field_text(line, "EndTime"))) {
		task->end = strtod(text, NULL);
	} else if ((text = field_text(line, "Sizes"))) {
		for (char *next; *text; text = next) {
			task->size += strtoul(text, &next, 10);
			next += next == text;
		}
	}
}

/* The size of the model's entry, which may be another than that of the data.  1: it is
 * in the picture. */
static int print_task(FILE *file, const struct options *options,
		      const struct entries *entries, const struct task *task)
{
	double ms = task->end - task->start, flops = 0;
	unsigned long size = task->size;

	if (!task->is_of_model || !(ms > 0))
		return 0;
	for (int i = 0; i < entries->n; i++)
		if (entries->rows[i].footprint == task->footprint) {
			size = entries->rows[i].size;
			flops = entries->rows[i].flops;
		}
	if (!size || (options->gflops && !(flops > 0)))
		return 0;
	fprintf(file, "%lu\t%e\n", size, options->gflops ? flops / ms / 1e6 : ms);
	return 1;
}

/* A point for each task of the model that the run had. */
static void print_tasks(FILE *file, const struct options *options,
			const struct entries *entries)
{
	FILE *in = fopen(options->tasks, "r");
	struct task task = {0};
	char *line = NULL;
	size_t room = 0;
	int n = 0, nfields = 0;

	if (!in)
		tool_refuse("-i %s: it cannot be read", options->tasks);
	while (getline(&line, &room, in) > 0) {
		nfields += strncmp(line, "Name: ", 6) == 0;
		read_field(&task, line, options->symbol);
		if (*line != '\n')
			continue;
		n += print_task(file, options, entries, &task);
		task = (struct task){0};
	}
	n += print_task(file, options, entries, &task);
	free(line);
	fclose(in);
	if (nfields == 0)
		tool_refuse(
			"-i %s: it is no tasks.rec; \"starpu_fxt_tool -i FILE\" makes "
			"one of what a run has recorded",
			options->tasks);
	if (n == 0)
		tool_refuse("-i %s: it has no task of the model %s%s", options->tasks,
			    options->symbol,
			    options->gflops ? " with flops and a size" : "");
}

/* ---- files -------------------------------------------------------------- */

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		tool_refuse("%s cannot be written; run the command in a directory of "
			    "yours",
			    path);
	return file;
}

static int plot(const struct options *options)
{
	struct entries entries;
	struct curve *curves;
	char data[512], program[512];
	mode_t mask = umask(0);
	FILE *file;
	int n;

	umask(mask);
	if (entries_read(&entries, "starpu_perfmodel_plot", options->symbol) < 0)
		return EXIT_FAILURE;
	curves = malloc(((size_t)entries.n + 1) * sizeof(*curves));
	n = curves ? find_curves(options, &entries, curves) : 0;
	if (n == 0)
		tool_refuse("%s has no measurements%s", options->symbol,
			    options->nchosen ? " of these combinations; -lc shows them"
					     : "");
	snprintf(data, sizeof(data), "starpu_%s_avg.data", options->symbol);
	snprintf(program, sizeof(program), "starpu_%s.gp", options->symbol);
	file = open_file(data);
	print_data(file, options, &entries, curves, n);
	fclose(file);
	if (options->tasks) {
		char tasks[512];

		snprintf(tasks, sizeof(tasks), "starpu_%s_prof.data", options->symbol);
		file = open_file(tasks);
		print_tasks(file, options, &entries);
		fclose(file);
	}
	file = open_file(program);
	print_program(file, options, data, &entries, curves, n);
	/* Its first line names gnuplot, so it can be started itself. */
	fchmod(fileno(file), 0777 & ~mask);
	fclose(file);
	fprintf(stderr, "[orrery] Gnuplot file <%s> generated\n", program);
	free(curves);
	entries_free(&entries);
	return EXIT_SUCCESS;
}

static int list_combinations(const char *symbol)
{
	struct starpu_perfmodel model = {.type = STARPU_PERFMODEL_INVALID,
					 .symbol = symbol};

	if (starpu_perfmodel_load_symbol(symbol, &model))
		tool_refuse("there is no usable model of %s; -l lists all", symbol);
	starpu_perfmodel_list_combs(stdout, &model);
	starpu_perfmodel_unload_model(&model);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = read_options(argc, argv);
	int ret = EXIT_SUCCESS;

	tool_init();
	if (options.list && starpu_perfmodel_list(stdout))
		ret = EXIT_FAILURE;
	if (options.directory)
		starpu_perfmodel_directory(stdout);
	if (options.symbol)
		ret = options.list_combinations ? list_combinations(options.symbol)
						: plot(&options);
	starpu_shutdown();
	return ret;
}
