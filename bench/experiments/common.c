/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct setting *find(const struct setting *settings, int n, const char *word)
{
	for (int i = 0; i < n; i++)
		if (!strncmp(word, "--", 2) && !strcmp(word + 2, settings[i].name))
			return &settings[i];
	return NULL;
}

static void list_options(const struct setting *settings, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(stderr, " --%s", settings[i].name);
	fputs("\n", stderr);
}

int settings_read(const struct setting *settings, int n, int argc, char **argv, int say)
{
	for (int i = 1; i < argc; i += 2) {
		const struct setting *option = find(settings, n, argv[i]);
		char *end = NULL;
		double value = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;

		if (option && end && end != argv[i + 1] && !*end && value >= 0) {
			*option->value = value;
			continue;
		}
		if (say) {
			fprintf(stderr,
				"%s: %s %s; options, each with a number:", argv[0],
				argv[i],
				option ? "needs a number of at least 0"
				       : "is not an option");
			list_options(settings, n);
		}
		return -1;
	}
	return 0;
}

int grid_rank(const int extent[3], const int place[3])
{
	for (int d = 0; d < 3; d++)
		if (place[d] < 0 || place[d] >= extent[d])
			return -1;
	return place[0] + extent[0] * (place[1] + extent[1] * place[2]);
}

void grid_place(const int extent[3], int rank, int place[3])
{
	place[0] = rank % extent[0];
	place[1] = rank / extent[0] % extent[1];
	place[2] = rank / extent[0] / extent[1];
}

void compute_s(double seconds)
{
	struct timespec rest = {.tv_sec = (time_t)seconds};

	if (seconds <= 0)
		return;
	rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
	nanosleep(&rest, NULL);
}
