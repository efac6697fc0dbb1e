/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/knobs.h"
#include "real/lines.h"

/* Builds without MPI have no transport. */
#pragma weak real_mpi_near

/*
 * peers.c - what the system says of other ranks on this machine.
 *
 * When the net opens they tell each other their process and since when it runs, which
 * nobody has who gets its number later.  Ranks are those of the program's communicator:
 * what the launcher has written into their environment numbers them otherwise.
 */
static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

/* What they tell each other. */
struct peer {
	int rank, pid; /* pid: 0: it is not known here */
	unsigned long long since;
};

struct peers {
	int n;
	struct peer *of;
	double *stopped_s; /* for which each has been seen stopped */
	double looked_s;
};

/* State and start of a process; 0 when it cannot be read. */
static int read_stat(const char *pid, char *state, unsigned long long *since)
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
			       " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			       "%*s %*s %*s %*s %*s %*s %llu",
			       state, since) == 2;
	}
	fclose(file);
	return known;
}

char peers_state(const char *pid)
{
	unsigned long long since;
	char state;

	return read_stat(pid, &state, &since) ? state : 0;
}

/* The state of its process; 0: there is none any more. */
static char state_of(const struct peer *peer)
{
	unsigned long long since;
	char name[16], state;

	snprintf(name, sizeof(name), "%d", peer->pid);
	return read_stat(name, &state, &since) && since == peer->since ? state : 0;
}

int peers_nthreads(const char *pid)
{
	char path[300];
	const struct dirent *entry;
	DIR *directory;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		n += *entry->d_name != '.';
	if (directory)
		closedir(directory);
	return n;
}

/* That of a process is the state of its first thread, which may end before others. */
static int runs(const struct peer *peer)
{
	char name[16], state = state_of(peer);

	snprintf(name, sizeof(name), "%d", peer->pid);
	if (state == 'Z' || state == 'X')
		return peers_nthreads(name) > 1;
	return state != 0;
}

static int count_seen(const struct peers *peers)
{
	int n = 0;

	for (int i = 0; i < peers->n; i++)
		n += peers->of[i].pid != 0;
	return n;
}

void peers_meet(struct plat *plat, const struct net_config *config)
{
	struct peer own = {.rank = config->rank, .pid = getpid()};
	struct peers *peers = orr_alloc(sizeof(*peers));
	void *all;
	char state;
	int place;

	read_stat("self", &state, &own.since);
	peers->n = real_mpi_near(config->comm, &own, sizeof(own), &all, &place);
	peers->of = all;
	/* Others may have namespaces of their own. */
	for (int i = 0; i < peers->n; i++)
		if (!runs(&peers->of[i]))
			peers->of[i].pid = 0;
	peers->stopped_s = orr_alloc((size_t)peers->n * sizeof(*peers->stopped_s));
	lines_meet(plat, config, count_seen(peers) == config->size);
	plat->has_lines = 1;
	__atomic_store_n(&plat->peers, peers, __ATOMIC_RELEASE);
}

void peers_forget(struct plat *plat)
{
	plat->peers = NULL;
	plat->has_lines = 0;
	vigil_end();
}

void peers_free(struct peers *peers)
{
	free(peers->of);
	free(peers->stopped_s);
	free(peers);
}

/* NULL: its process is not known here. */
static const struct peer *find(const struct peers *peers, int rank)
{
	for (int i = 0; peers && i < peers->n; i++)
		if (peers->of[i].rank == rank)
			return peers->of[i].pid ? &peers->of[i] : NULL;
	return NULL;
}

enum plat_sight plat_sees(struct plat *plat, int rank)
{
	const struct peers *peers = __atomic_load_n(&plat->peers, __ATOMIC_ACQUIRE);

	if (find(peers, rank))
		return PLAT_SEES;
	if (plat->has_lines && lines_hold())
		return PLAT_HEARS;
	for (int i = 0; peers && i < peers->n; i++)
		if (peers->of[i].rank == rank)
			return PLAT_IS_BARRED;
	return PLAT_IS_FAR;
}

int plat_has_ended(struct plat *plat, int rank)
{
	const struct peers *peers = __atomic_load_n(&plat->peers, __ATOMIC_ACQUIRE);
	const struct peer *peer = find(peers, rank);

	if (peer)
		return !runs(peer);
	return plat->has_lines && lines_fate(rank) == LINES_ENDED;
}

double plat_is_cut_s(struct plat *plat, int rank)
{
	return plat->has_lines && lines_fate(rank) == LINES_CUT ? lines_patience_s() : 0;
}

int plat_is_stopped(struct plat *plat, int rank)
{
	const struct peer *peer = find(plat->peers, rank);

	return peer && state_of(peer) == 'T';
}

/* Of those that the system does not show. */
static int find_far(struct peers_lost *lost)
{
	enum lines_fate fate;
	int world;

	*lost = (struct peers_lost){.rank = lines_lost(&fate, &world)};
	if (lost->rank >= 0 && fate == LINES_CUT)
		lost->cut_s = lines_patience_s();
	return lost->rank >= 0;
}

int peers_find_lost(struct peers *peers, double now_s, double gap_s, double most_s,
		    struct peers_lost *lost)
{
	double passed_s = now_s - peers->looked_s;

	if (passed_s > gap_s)
		passed_s = gap_s;
	peers->looked_s = now_s;
	for (int i = 0; i < peers->n; i++) {
		const struct peer *peer = &peers->of[i];
		char state = peer->pid ? state_of(peer) : 'S';

		peers->stopped_s[i] = state == 'T' ? peers->stopped_s[i] + passed_s : 0;
		*lost = (struct peers_lost){.rank = peer->rank,
					    .stopped_s = peers->stopped_s[i]};
		if (peers->stopped_s[i] > most_s ||
		    (state != 'T' && peer->pid && !runs(peer)))
			return 1;
	}
	return find_far(lost);
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
