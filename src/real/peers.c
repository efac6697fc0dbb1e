/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/knobs.h"
#include "real/real.h"

/* Builds without MPI have no transport. */
#pragma weak real_mpi_near

/*
 * peers.c - what the system says of other ranks that its launcher started here.
 *
 * They have the same parent, and their environment says which rank they are.  When the
 * net opens they tell each other their process and since when it runs, which nobody has
 * who gets its number later.
 */
enum { ENVIRONMENT_BYTES = 1 << 17 };

static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

/* What they tell each other. */
struct peer {
	int rank, pid; /* pid: 0: it is not known here */
	unsigned long long since;
};

struct peers {
	int n;
	struct peer *of;
};

/* State, parent and start of a process; 0 when it cannot be read. */
static int read_stat(const char *pid, char *state, int *parent, unsigned long long *since)
{
	char path[300], line[1024];
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
		known = end &&
			sscanf(end + 1,
			       " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			       "%*s %*s %*s %*s %*s %*s %llu",
			       state, parent, since) == 3;
	}
	fclose(file);
	return known;
}

static int runs(const struct peer *peer)
{
	unsigned long long since;
	char name[16], state;
	int parent;

	snprintf(name, sizeof(name), "%d", peer->pid);
	return read_stat(name, &state, &parent, &since) && since == peer->since &&
	       state != 'Z' && state != 'X';
}

void peers_meet(struct plat *plat, const struct net_config *config)
{
	struct peer own = {.rank = config->rank, .pid = getpid()};
	struct peers *peers = orr_alloc(sizeof(*peers));
	void *all;
	char state;
	int parent, place;

	read_stat("self", &state, &parent, &own.since);
	peers->n = real_mpi_near(config->comm, &own, sizeof(own), &all, &place);
	peers->of = all;
	/* Others may have namespaces of their own. */
	for (int i = 0; i < peers->n; i++)
		if (!runs(&peers->of[i]))
			peers->of[i].pid = 0;
	peers_free(plat->peers);
	plat->peers = peers;
}

void peers_free(struct peers *peers)
{
	if (peers)
		free(peers->of);
	free(peers);
}

int plat_has_ended(struct plat *plat, int rank)
{
	const struct peers *peers = plat->peers;

	for (int i = 0; peers && i < peers->n; i++)
		if (peers->of[i].rank == rank)
			return peers->of[i].pid && !runs(&peers->of[i]);
	return 0;
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
	unsigned long long since;
	int parent, stopped = 0;
	char state;

	(void)plat;
	if (!directory)
		return 0;
	while (!stopped && (entry = readdir(directory)))
		stopped = atoi(entry->d_name) > 0 &&
			  read_stat(entry->d_name, &state, &parent, &since) &&
			  parent == getppid() && state == 'T' &&
			  is_rank(entry->d_name, rank);
	closedir(directory);
	return stopped;
}
