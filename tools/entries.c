/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "entries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "tool.h"

static void add(struct entries *entries, const struct entry *entry)
{
	if (entries->n == entries->room) {
		entries->room = 2 * entries->room + 64;
		entries->rows = realloc(entries->rows,
					(size_t)entries->room * sizeof(*entries->rows));
		if (!entries->rows)
			tool_refuse("no memory for %d measurements", entries->room);
	}
	entries->rows[entries->n++] = *entry;
}

static void add_fit(struct entries *entries, const struct fit *fit)
{
	if (entries->nfits == entries->fits_room) {
		entries->fits_room = 2 * entries->fits_room + 16;
		entries->fits = realloc(entries->fits, (size_t)entries->fits_room *
							       sizeof(*entries->fits));
		if (!entries->fits)
			tool_refuse("no memory for %d regressions", entries->fits_room);
	}
	entries->fits[entries->nfits++] = *fit;
}

/* The number of an attribute; NAN: the line has none of this name. */
static double attribute(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtod(at + strlen(name), NULL) : NAN;
}

static void read_fit(struct entries *entries, const struct entry *entry, const char *line)
{
	struct fit fit = {.combination = entry->combination,
			  .is_nonlinear = strstr(line, "<nl_regression") != NULL};

	if (!fit.is_nonlinear && !strstr(line, "<l_regression"))
		return;
	memcpy(fit.arch, entry->arch, sizeof(fit.arch));
	fit.a = attribute(line, fit.is_nonlinear ? " a=\"" : " alpha=\"");
	fit.b = attribute(line, fit.is_nonlinear ? " b=\"" : " beta=\"");
	fit.c = fit.is_nonlinear ? attribute(line, " c=\"") : 0;
	if (isfinite(fit.a) && isfinite(fit.b) && isfinite(fit.c))
		add_fit(entries, &fit);
}

/* A line of starpu_perfmodel_dump_xml(); entry: what the lines before said. */
static void read_line(struct entries *entries, struct entry *entry, const char *line)
{
	const char *at = strstr(line, "<!-- ");
	struct entry row = *entry;

	sscanf(line, " <implementation id=\"%d\">", &entry->implementation);
	if (at && strstr(at, "_impl") && strstr(at, "(Comb")) {
		sscanf(strstr(at, "(Comb"), "(Comb%d)", &entry->combination);
		snprintf(entry->arch, sizeof(entry->arch), "%.*s",
			 (int)strcspn(at + 5, "-"), at + 5);
		entry->arch[strcspn(entry->arch, ")") + 1] = '\0';
	}
	read_fit(entries, entry, line);
	if (sscanf(line,
		   " <entry footprint=\"%x\" size=\"%lu\" flops=\"%le\" mean=\"%le\" "
		   "deviation=\"%le\" sum=\"%*[^\"]\" sum2=\"%*[^\"]\" nsample=\"%u\"",
		   &row.footprint, &row.size, &row.flops, &row.mean, &row.deviation,
		   &row.nsample) == 6)
		add(entries, &row);
}

int entries_read(struct entries *entries, const char *tool, const char *symbol)
{
	struct starpu_perfmodel model = {.type = STARPU_PERFMODEL_INVALID,
					 .symbol = symbol};
	struct entry entry = {.arch = ""};
	FILE *file = tmpfile();
	char *line = NULL;
	size_t room = 0;

	*entries = (struct entries){0};
	if (!file)
		tool_refuse("no temporary file can be made; is there room in /tmp?");
	if (starpu_perfmodel_load_symbol(symbol, &model)) {
		fprintf(stderr,
			"%s: there is no usable model of %s; \"starpu_perfmodel_display "
			"-l\" lists all, STARPU_HOSTNAME is the machine whose models are "
			"meant\n",
			tool, symbol);
		fclose(file);
		return -1;
	}
	starpu_perfmodel_dump_xml(file, &model);
	rewind(file);
	while (getline(&line, &room, file) > 0)
		read_line(entries, &entry, line);
	free(line);
	fclose(file);
	starpu_perfmodel_unload_model(&model);
	return 0;
}

void entries_free(struct entries *entries)
{
	free(entries->rows);
	free(entries->fits);
	*entries = (struct entries){0};
}

char *field_text(char *line, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	line += n + 1;
	line += strspn(line, " \t");
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}
