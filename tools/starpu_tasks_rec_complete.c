/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Adds to each task of a tasks.rec (orrery trace --tasks) how long it would take on each
 * worker of this machine, in microseconds, by the model and the footprint that it names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "entries.h"
#include "tool.h"

static const char usage[] =
	"Complete a tasks.rec file with additional information, notably estimated\n"
	"termination times.\n\n"
	"Usage: starpu_tasks_rec_complete [input-file [output-file]]\n\n"
	"If input or output file names are not given, stdin and stdout are used.\n";

/* Models by their symbols; few. */
struct known {
	struct known *next;
	int is_there;
	struct starpu_perfmodel model;
	char symbol[];
};

static struct known *know(struct known **first, const char *symbol)
{
	struct known *known = *first;

	while (known && strcmp(known->symbol, symbol) != 0)
		known = known->next;
	if (known)
		return known;
	known = calloc(1, sizeof(*known) + strlen(symbol) + 1);
	if (!known)
		tool_refuse("no memory for a model");
	strcpy(known->symbol, symbol);
	known->model.type = STARPU_PERFMODEL_INVALID;
	known->is_there = starpu_perfmodel_load_symbol(known->symbol, &known->model) == 0;
	if (!known->is_there)
		fprintf(stderr, "[orrery] there is no usable model of %s\n", symbol);
	known->next = *first;
	return *first = known;
}

static void forget(struct known *known)
{
	while (known) {
		struct known *next = known->next;

		if (known->is_there)
			starpu_perfmodel_unload_model(&known->model);
		free(known);
		known = next;
	}
}

/* The end of a record. */
static void complete(FILE *out, struct known *known, uint32_t footprint)
{
	if (!known || !known->is_there)
		return;
	fprintf(out, "EstimatedTime: ");
	starpu_perfmodel_print_estimations(&known->model, footprint, out);
	fprintf(out, "\n");
}

static void copy(FILE *in, FILE *out)
{
	struct known *models = NULL, *known = NULL;
	char *line = NULL, *text;
	size_t room = 0;
	uint32_t footprint = 0;
	int has_footprint = 0;

	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!*line) {
			complete(out, has_footprint ? known : NULL, footprint);
			known = NULL;
			has_footprint = 0;
		}
		fprintf(out, "%s\n", line);
		if ((text = field_text(line, "Model")))
			known = know(&models, text);
		else if ((text = field_text(line, "Footprint")))
			has_footprint = sscanf(text, "%x", &footprint) == 1;
	}
	complete(out, has_footprint ? known : NULL, footprint);
	free(line);
	forget(models);
}

int main(int argc, char **argv)
{
	FILE *in = stdin, *out = stdout;

	if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
		tool_help(usage);
	if (argc > 1 && (strcmp(argv[1], "-v") == 0 || strcmp(argv[1], "--version") == 0))
		tool_version("starpu_tasks_rec_complete");
	if (argc > 3 || (argc > 1 && argv[1][0] == '-'))
		tool_misused(usage);
	if (argc > 1 && !(in = fopen(argv[1], "r")))
		tool_refuse("%s cannot be read", argv[1]);
	if (argc > 2 && !(out = fopen(argv[2], "w")))
		tool_refuse("%s cannot be written", argv[2]);
	tool_init();
	copy(in, out);
	starpu_shutdown();
	if (fclose(out) != 0)
		tool_refuse("the output cannot be written; is the disk full?");
	if (in != stdin)
		fclose(in);
	return EXIT_SUCCESS;
}
