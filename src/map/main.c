/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * main.c - the program behind "orrery map": options in, a map out.
 *
 * The machine comes as lines: "kind TEXT" (see source.h), and below it one line
 * "node NAME [CPUSET]" for each node of this kind.  Exit status: 0; 2 when something is
 * refused, with one sentence on stderr.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "map/lama.h"
#include "map/rankfile.h"
#include "map/report.h"
#include "map/search.h"
#include "map/source.h"

enum { REFUSED = 2, MAX_LINE = 65536, MAX_RANKS = 1 << 24 };

struct options {
	struct map_texts texts;
	const char *ranks;   /* "8", or "4,2": of applications; NULL: as many as fit */
	const char *machine; /* a file; NULL: stdin */
	const char *rankfile, *print;
	struct search_files search; /* no matrix: none */
	int by_thread;
};

static const struct option words[] = {
	{"map", 1, NULL, 'm'},       {"map-by", 1, NULL, 'M'},
	{"bind", 1, NULL, 'b'},      {"bind-to", 1, NULL, 'B'},
	{"mppr", 1, NULL, 'l'},      {"order", 1, NULL, 'o'},
	{"rank-by", 1, NULL, 'R'},   {"oversubscribe", 0, NULL, 'O'},
	{"ranks", 1, NULL, 'n'},     {"machine", 1, NULL, 'f'},
	{"rankfile", 1, NULL, 'r'},  {"hwthreads", 0, NULL, 'h'},
	{"print", 1, NULL, 'p'},     {"matrix", 1, NULL, 'x'},
	{"distances", 1, NULL, 'd'}, {"first", 1, NULL, 'F'},
	{NULL, 0, NULL, 0}};

static void set_option(struct options *options, int letter, const char *value)
{
	const struct {
		int letter;
		const char **text;
	} texts[] = {{'m', &options->texts.map},
		     {'M', &options->texts.map_by},
		     {'b', &options->texts.bind},
		     {'B', &options->texts.bind_to},
		     {'l', &options->texts.limits},
		     {'o', &options->texts.order},
		     {'R', &options->texts.rank_by},
		     {'n', &options->ranks},
		     {'f', &options->machine},
		     {'r', &options->rankfile},
		     {'p', &options->print},
		     {'x', &options->search.matrix},
		     {'d', &options->search.distances},
		     {'F', &options->search.first}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].letter == letter)
			*texts[i].text = value;
	if (letter == 'O')
		options->texts.oversubscribe = 1;
	if (letter == 'h')
		options->by_thread = 1;
}

/* ---- The machine ---- */

static int read_node(struct map_machine *machine, const char *line, struct map_says *says)
{
	char name[256], cpuset[4096];
	int n = sscanf(line, "node %255s %4095s", name, cpuset);
	struct map_node *node;

	if (n < 1 || machine->ntrees == 0)
		return map_refuse(says,
				  "machine: line \"%s\" is not understood; expected "
				  "\"kind TEXT\", then \"node NAME [CPUSET]\"",
				  line);
	node = machine_add_node(machine, name);
	return n == 2 ? source_allow(node, cpuset, says) : 0;
}

static int read_machine(struct map_machine *machine, FILE *file, struct map_says *says)
{
	char *line = orr_alloc(MAX_LINE);
	struct map_tree *tree;
	int ret = 0;

	while (ret == 0 && fgets(line, MAX_LINE, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "kind ", 5) != 0) {
			ret = read_node(machine, line, says);
			continue;
		}
		ret = source_read(line + 5, &tree, says);
		if (ret == 0)
			machine_add_tree(machine, tree);
	}
	free(line);
	return ret;
}

static int open_machine(struct map_machine *machine, const struct options *options,
			struct map_says *says)
{
	FILE *file = options->machine ? fopen(options->machine, "r") : stdin;
	int ret;

	if (!file)
		return map_refuse(says, "machine file %s cannot be read: %s",
				  options->machine, strerror(errno));
	ret = read_machine(machine, file, says);
	if (file != stdin)
		fclose(file);
	return ret;
}

/* ---- The map ---- */

static int map_applications(struct map_job *job, const char *ranks, struct map_says *says)
{
	const char *at = ranks;

	if (!ranks)
		return map_fill(job, says);
	for (;;) {
		char *end;
		long np = strtol(at, &end, 10);

		if (end == at || np < 1 || np > MAX_RANKS || (*end && *end != ','))
			return map_refuse(says,
					  "-n is \"%s\"; expected a number of ranks "
					  "from 1 to %d, or several with commas for the "
					  "applications of one job",
					  ranks, MAX_RANKS);
		if (map_application(job, (int)np, says) < 0)
			return -EINVAL;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

static void warn_shared(const struct map_job *job)
{
	fprintf(stderr,
		"[orrery] map: warning: %d of %d processes share cores or threads "
		"with others (first: those mapped as %d and %d); limit them with "
		"--mppr, or use fewer ranks\n",
		job->nshared, job->nplaces, job->shared[0], job->shared[1]);
}

static int make_map(struct map_job *job, const struct options *options,
		    struct map_says *says)
{
	int ret;

	if (options->rankfile)
		return rankfile_read(job, options->rankfile, options->by_thread, says);
	ret = map_applications(job, options->ranks, says);
	if (ret < 0)
		return ret;
	if (job->nshared > 0)
		warn_shared(job);
	map_rank(job);
	return 0;
}

static int optimise(struct map_job *job, const struct search_files *files,
		    struct map_says *says)
{
	struct search_result result;
	int ret = map_search(job, files, &result, says);

	if (ret == 0)
		fprintf(stderr,
			"[orrery] map: weighted distance %.6g before, %.6g after\n",
			result.before, result.after);
	return ret;
}

static void print_arguments(const struct map_job *job, FILE *out)
{
	fprintf(out, "-n %d%s\n", job->nplaces,
		report_splits_cores(job) ? " --use-hwthread-cpus" : "");
}

static int print_map(const struct map_job *job, const char *what, struct map_says *says)
{
	static const struct {
		const char *what;
		void (*print)(const struct map_job *job, FILE *out);
	} prints[] = {{"ranks", report_ranks},       {"bindings", report_bindings},
		      {"table", report_table},       {"hostfile", report_hosts},
		      {"rankfile", report_rankfile}, {"arguments", print_arguments},
		      {"picture", report_picture}};

	for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		if (strcmp(prints[i].what, what) != 0)
			continue;
		prints[i].print(job, stdout);
		if (fflush(stdout) == 0 && !ferror(stdout))
			return 0;
		return map_refuse(says, "the map cannot be written: %s", strerror(errno));
	}
	return map_refuse(says,
			  "--print is \"%s\"; expected ranks, bindings, table, "
			  "hostfile, rankfile or arguments",
			  what);
}

/* Without a number of ranks, one for each core or thread that bindings name. */
static void limit_fill(struct map_rules *rules, const struct options *options)
{
	if (!options->ranks && !options->texts.limits && rules->bind >= LEVEL_CORE)
		rules->limits[rules->bind] = 1;
}

static int run(const struct options *options, struct map_says *says)
{
	struct map_machine machine = {0};
	struct map_rules rules;
	struct map_job job = {0};
	int ret = rules_read(&rules, &options->texts, says);

	limit_fill(&rules, options);
	if (ret == 0)
		ret = open_machine(&machine, options, says);
	if (ret == 0)
		ret = map_open(&job, &machine, &rules, says);
	if (ret == 0)
		ret = make_map(&job, options, says);
	if (ret == 0 && options->search.matrix)
		ret = optimise(&job, &options->search, says);
	if (ret == 0)
		ret = print_map(&job, options->print, says);
	map_close(&job);
	machine_free(&machine);
	return ret;
}

int main(int argc, char **argv)
{
	struct options options = {.print = "ranks"};
	struct map_says says = {""};
	int letter;

	while ((letter = getopt_long(argc, argv, "", words, NULL)) != -1) {
		if (letter == '?')
			return REFUSED;
		set_option(&options, letter, optarg);
	}
	if (optind < argc)
		map_refuse(&says, "\"%s\" is no option", argv[optind]);
	else
		run(&options, &says);
	if (!says.text[0])
		return 0;
	orr_complain(ORR_NO_RANK, "map: %s", says.text);
	return REFUSED;
}
