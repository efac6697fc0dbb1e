/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/knobs.h"
#include "real/real.h"

/*
 * peers.c - what the system says of other ranks that its launcher started here.
 *
 * They have the same parent, and their environment says which rank they are.
 */
enum { ENVIRONMENT_BYTES = 1 << 17 };

static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

/* State and parent of a process; 0 when it cannot be read. */
static int read_stat(const char *pid, char *state, int *parent)
{
	char path[300], line[512];
	const char *end;
	FILE *file;
	int known = 0;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file)) {
		/* The name before it may have anything in it. */
		end = strrchr(line, ')');
		known = end && sscanf(end + 1, " %c %d", state, parent) == 2;
	}
	fclose(file);
	return known;
}

static int is_set(const char *environment, size_t bytes, const char *setting)
{
	size_t length = strlen(setting) + 1;

	for (const char *at = environment; at < environment + bytes; at += strlen(at) + 1)
		if ((size_t)(environment + bytes - at) >= length &&
		    memcmp(at, setting, length) == 0)
			return 1;
	return 0;
}

static int is_rank(const char *pid, int rank)
{
	char path[300], *environment = orr_alloc(ENVIRONMENT_BYTES + 1);
	FILE *file;
	size_t bytes = 0;
	int is_it = 0;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	file = fopen(path, "r");
	if (file) {
		bytes = fread(environment, 1, ENVIRONMENT_BYTES, file);
		fclose(file);
	}
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && !is_it; i++) {
		char setting[64];

		snprintf(setting, sizeof(setting), "%s=%d", variables[i], rank);
		is_it = is_set(environment, bytes, setting);
	}
	free(environment);
	return is_it;
}

int peers_own_rank(void)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = knobs_raw(variables[i]);
		int rank = text ? atoi(text) : -1;

		if (rank >= 0)
			return rank;
	}
	return 0;
}

int plat_is_stopped(struct plat *plat, int rank)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	int parent, stopped = 0;
	char state;

	(void)plat;
	if (!directory)
		return 0;
	while (!stopped && (entry = readdir(directory)))
		stopped = atoi(entry->d_name) > 0 &&
			  read_stat(entry->d_name, &state, &parent) &&
			  parent == getppid() && state == 'T' &&
			  is_rank(entry->d_name, rank);
	closedir(directory);
	return stopped;
}
