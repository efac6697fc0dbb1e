/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Prints what a performance model has measured, with the options of StarPU's tool of this
 * name.  STARPU_HOSTNAME says whose measurements are meant (this machine's).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "tool.h"

static const char usage[] =
	"Display a given perfmodel\n\n"
	"Usage: starpu_perfmodel_display [ options ]\n\n"
	"One of -l, -d, -s and -i is needed; -x, -p, -a and -f go with -s or -i\n"
	"Options:\n"
	"   -l                  display all available models\n"
	"   -s <symbol>         specify the symbol\n"
	"   -i <file>           specify a file of a model\n"
	"   -x                  display output in XML format\n"
	"   -p <parameter>      specify the parameter (a, b, c, alpha, beta, mean,\n"
	"                       stddev)\n"
	"   -a <arch>           specify the architecture (e.g. cpu, cpu:k, cuda, cuda1,\n"
	"                       cuda1_impl0)\n"
	"   -f <footprint>      display the history-based model for the specified "
	"footprint\n"
	"   -d                  display the directories storing performance models\n"
	"   -h, --help          display this help and exit\n"
	"   -v, --version       output version information and exit\n\n"
	"STARPU_HOSTNAME is the machine whose models are meant.\n";

static const char *const parameters[] = {"a",    "b",    "c",      "alpha",
					 "beta", "mean", "stddev", NULL};

struct options {
	int list, directory, xml;
	char *symbol, *file, *parameter, *arch;
	int has_footprint;
	uint32_t footprint;
};

static const struct option words[] = {
	{"help", 0, NULL, 'h'}, {"version", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};

static void read_footprint(struct options *options, const char *text)
{
	char *end;

	options->footprint = (uint32_t)strtoul(text, &end, 16);
	options->has_footprint = 1;
	if (end == text || *end)
		tool_refuse("-f %s: expected a footprint in hexadecimal digits, such as "
			    "24c84a50",
			    text);
}

static void read_parameter(struct options *options, char *text)
{
	options->parameter = text;
	for (int i = 0; parameters[i]; i++)
		if (strcmp(parameters[i], text) == 0)
			return;
	tool_refuse("-p %s: there is no such parameter; expected a, b, c, alpha, beta, "
		    "mean or stddev",
		    text);
}

static struct options read_options(int argc, char **argv)
{
	struct options options = {0};
	int word;

	while ((word = getopt_long(argc, argv, "ls:i:xp:a:f:dhv", words, NULL)) != -1) {
		switch (word) {
		case 'l':
			options.list = 1;
			break;
		case 'd':
			options.directory = 1;
			break;
		case 'x':
			options.xml = 1;
			break;
		case 's':
			options.symbol = optarg;
			break;
		case 'i':
			options.file = optarg;
			break;
		case 'a':
			options.arch = optarg;
			break;
		case 'p':
			read_parameter(&options, optarg);
			break;
		case 'f':
			read_footprint(&options, optarg);
			break;
		case 'h':
			tool_help(usage);
		case 'v':
			tool_version("starpu_perfmodel_display");
		default:
			tool_misused(usage);
		}
	}
	if (optind < argc ||
	    !(options.list || options.directory || options.symbol || options.file))
		tool_misused(usage);
	return options;
}

static int show_model(struct options *options)
{
	struct starpu_perfmodel model = {.type = STARPU_PERFMODEL_INVALID,
					 .symbol = options->symbol};
	uint32_t *size = options->has_footprint ? &options->footprint : NULL;
	int ret = options->file ? starpu_perfmodel_load_file(options->file, &model)
				: starpu_perfmodel_load_symbol(options->symbol, &model);

	if (ret) {
		fprintf(stderr,
			"starpu_perfmodel_display: there is no usable model of %s; "
			"\"-l\" lists all, STARPU_HOSTNAME is the machine whose "
			"models are meant\n",
			options->file ? options->file : options->symbol);
		return EXIT_FAILURE;
	}
	if (options->xml)
		starpu_perfmodel_dump_xml(stdout, &model);
	else
		ret = starpu_perfmodel_print_all(&model, options->arch,
						 options->parameter, size, stdout);
	starpu_perfmodel_unload_model(&model);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
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
	if (options.symbol || options.file)
		ret = show_model(&options);
	starpu_shutdown();
	return ret;
}
