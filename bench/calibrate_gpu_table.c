/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate_gpu.h"

void check_status(int status, const char *call, const char *file, int line)
{
	if (!status)
		return;
	fprintf(stderr, "%s:%d: %s returned %d: %s\n", file, line, call, status,
		strncmp(call, "cuda", 4) ? "see its library's documentation"
					 : cudaGetErrorString((cudaError_t)status));
	exit(1);
}

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void refuse(const struct table *table, const char *why)
{
	fprintf(stderr, "%s: %s\n", table->path, why);
	exit(2);
}

/* Whole lines: what a run that was ended has left of the last one is cut off. */
static void read_known(struct table *table)
{
	long bytes;
	char *end;

	fseek(table->f, 0, SEEK_END);
	bytes = ftell(table->f);
	rewind(table->f);
	/* A line feed before the first line, so that all keys follow one. */
	table->known = calloc(1, (size_t)bytes + 2);
	if (!table->known)
		refuse(table, "no memory");
	table->known[0] = '\n';
	if (fread(table->known + 1, 1, (size_t)bytes, table->f) != (size_t)bytes)
		refuse(table, strerror(errno));
	end = strrchr(table->known, '\n');
	end[1] = '\0';
	fseek(table->f, end - table->known, SEEK_SET);
}

void table_open(struct table *table, const char *header)
{
	size_t n = strlen(header);

	table->f = fopen(table->path, "r+");
	if (!table->f)
		table->f = fopen(table->path, "w+");
	if (!table->f)
		refuse(table, strerror(errno));
	read_known(table);
	if (!table->known[1])
		fprintf(table->f, "%s\n", header);
	else if (strncmp(table->known + 1, header, n) || table->known[n + 1] != '\n')
		refuse(table, "its first line is another one: of another program, or of "
			      "another release; name another file");
	fflush(table->f);
}

int table_wants(struct table *table, const char *key)
{
	char line[256];

	snprintf(line, sizeof line, "\n%s", key);
	if (strstr(table->known, line))
		return 0;
	if (table->limits.end_s <= 0 || now_s() < table->limits.end_s)
		return 1;
	table->nleft++;
	return 0;
}

void table_add(struct table *table, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vfprintf(table->f, format, values);
	va_end(values);
	fprintf(table->f, "\n");
	if (fflush(table->f))
		refuse(table, strerror(errno));
}

int table_close(struct table *table)
{
	if (fclose(table->f))
		refuse(table, strerror(errno));
	free(table->known);
	return table->nleft;
}
