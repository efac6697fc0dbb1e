/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "core/watchdog.h"
#include "real/lines.h"

/* Builds without MPI have nobody to meet. */
#pragma weak real_mpi_world

/*
 * siblings.c - has a rank ended before the ranks have told each other who they are?
 *
 * A launcher writes into the environment of what it starts which job that is of, and
 * which rank; children inherit it, and the system shows it.  So a rank of this machine
 * lives as long as any process has its number.  What has none is seen from here only if
 * the launcher is: an ancestor of this process that is not of the job.  Where the ranks
 * are in namespaces of their own, or are others' processes, nothing is known; nor where
 * what the launcher has started does not show which rank it is: some programs write over
 * their environment, and some may not be looked at.
 *
 * The thread that looks is not waited for: it would have to get a core first, which those
 * that poll for this rank may have.  What it uses of the node it does under its lock.
 *
 * Two looks must find the same rank missing: a process that begins another program has
 * no environment for a moment.  Who is stopped must stay so while this process looks.
 */
enum { LIMITS_PER_LOOK = 2 }; /* who waits for long looks more rarely */

struct mark {
	char job[80]; /* empty: it is of none */
	int rank, nhere;
};

enum mark_seen { MARK_REFUSED, MARK_HIDDEN, MARK_ENDED, MARK_NONE, MARK_FOUND };

/* What a line "NAME: NUMBER" of a process's status says; -1: it cannot be read. */
static long status_of(const char *pid, const char *name)
{
	char path[300], line[256];
	size_t length = strlen(name);
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ':') {
			value = strtol(line + length + 1, NULL, 10);
			break;
		}
	if (file)
		fclose(file);
	return value;
}

static enum mark_seen read_mark(const char *pid, struct mark *mark)
{
	char path[300], *entry = NULL;
	size_t room = 0;
	int nentries = 0;
	FILE *file;

	*mark = (struct mark){.rank = -1};
	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	file = fopen(path, "r");
	if (!file)
		return MARK_REFUSED;
	for (; getdelim(&entry, &room, '\0', file) > 0; nentries++) {
		sscanf(entry, "PMIX_NAMESPACE=%79s", mark->job);
		sscanf(entry, "PMIX_RANK=%d", &mark->rank);
		sscanf(entry, "OMPI_COMM_WORLD_LOCAL_SIZE=%d", &mark->nhere);
	}
	free(entry);
	fclose(file);
	/* The first thread has ended, and the others cannot be asked so. */
	if (nentries == 0)
		return peers_nthreads(pid) > 1 ? MARK_HIDDEN : MARK_ENDED;
	return *mark->job && mark->rank >= 0 ? MARK_FOUND : MARK_NONE;
}

/* The launcher, or 0: it is not seen.  The first process may be a container's. */
static long find_launcher(const struct mark *own)
{
	char name[24];
	struct mark mark;

	for (long pid = getppid(); pid > 1; pid = status_of(name, "PPid")) {
		snprintf(name, sizeof(name), "%ld", pid);
		if (read_mark(name, &mark) < MARK_ENDED)
			return 0;
		if (strcmp(mark.job, own->job) != 0)
			return pid;
	}
	return 0;
}

static int descends(const char *pid, long launcher)
{
	char name[24];
	long at = status_of(pid, "PPid");

	for (; at > 1 && at != launcher; at = status_of(name, "PPid"))
		snprintf(name, sizeof(name), "%ld", at);
	return at == launcher;
}

/* May a process that has shown no mark be a rank? */
static int may_be_one(const char *pid, enum mark_seen seen, long launcher)
{
	if (seen == MARK_REFUSED)
		return descends(pid, launcher);
	return seen == MARK_HIDDEN ||
	       (seen == MARK_NONE && status_of(pid, "PPid") == launcher);
}

/* What is seen of a rank. */
struct life {
	long stopped; /* a process of its that a signal has stopped */
	int nothers;  /* of its processes, not stopped */
};

/* A shell that has started it waits for it: are all others such? */
static int is_held(const struct life *life, const struct mark *own, int rank)
{
	char name[24];
	struct mark mark;
	int nabove = 0;

	for (long pid = life->stopped; pid > 1; nabove++) {
		snprintf(name, sizeof(name), "%ld", pid);
		pid = status_of(name, "PPid");
		snprintf(name, sizeof(name), "%ld", pid);
		if (pid <= 1 || read_mark(name, &mark) != MARK_FOUND ||
		    mark.rank != rank || strcmp(mark.job, own->job) != 0)
			break;
	}
	return life->stopped > 0 && nabove == life->nothers;
}

static void note(struct life *life, const char *pid)
{
	if (peers_state(pid) == 'T')
		life->stopped = atol(pid);
	else
		life->nothers++;
}

/* Notes the ranks of the job that processes have; 0: there may be others. */
static int find_all(const struct mark *own, long launcher, struct life *lives, int n)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	struct mark mark;
	enum mark_seen seen;
	int is_known = directory != NULL;

	while (directory && (entry = readdir(directory))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		seen = read_mark(entry->d_name, &mark);
		if (may_be_one(entry->d_name, seen, launcher))
			is_known = 0;
		if (seen == MARK_FOUND && mark.rank < n &&
		    strcmp(mark.job, own->job) == 0)
			note(&lives[mark.rank], entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_known;
}

struct guard {
	struct plat *plat;
	int rank, size;           /* of the communicator */
	int *world;               /* its ranks, as MPI_COMM_WORLD numbers them */
	int nworld;               /* how many that has */
	struct orr_lock lock;     /* held for a look */
	double limit_s, period_s; /* of the watchdog */
	int is_over;              /* atomic, a futex */
	int nowners;              /* atomic: who frees it is the last */
};

/* Ranks of the communicator; -1: none is known to be so. */
struct found {
	int lost;   /* the first that has no process */
	int held;   /* the first that is stopped */
	int is_cut; /* who is lost has no machine */
};

static void find_known(const struct guard *guard, struct found *found)
{
	for (int i = 0; i < guard->size; i++) {
		if (found->lost < 0 && plat_has_ended(guard->plat, i))
			found->lost = i;
		if (found->held < 0 && plat_is_stopped(guard->plat, i))
			found->held = i;
	}
}

/* The ranks that met before may be other ones. */
static void find_far(const struct guard *guard, struct found *found)
{
	enum lines_fate fate;
	int world;

	if (lines_lost(&fate, &world) < 0 || world < 0)
		return;
	for (int i = 0; i < guard->size; i++)
		if (guard->world[i] == world) {
			found->lost = i;
			found->is_cut = fate == LINES_CUT;
		}
}

static void find_marked(const struct guard *guard, struct found *found)
{
	struct mark own;
	struct life *lives;
	long launcher;

	if (read_mark("self", &own) != MARK_FOUND || own.nhere != guard->nworld ||
	    own.rank != guard->world[guard->rank])
		return;
	launcher = find_launcher(&own);
	if (!launcher)
		return;
	lives = orr_alloc((size_t)guard->nworld * sizeof(*lives));
	if (find_all(&own, launcher, lives, guard->nworld) && lives[own.rank].nothers > 0)
		for (int i = 0; i < guard->size; i++) {
			int rank = guard->world[i];

			if (rank < 0)
				continue;
			if (found->lost < 0 && !lives[rank].stopped &&
			    !lives[rank].nothers)
				found->lost = i;
			if (found->held < 0 && is_held(&lives[rank], &own, rank))
				found->held = i;
		}
	free(lives);
}

static void guard_leave(struct guard *guard)
{
	if (orr_add(&guard->nowners, -1) > 0)
		return;
	free(guard->world);
	free(guard);
}

__attribute__((noreturn)) static void end_run(int rank, const struct found *found)
{
	if (found->is_cut)
		orr_die(rank,
			"starpu_mpi_init: rank %d is needed, and its machine has not "
			"answered for %.3g s: it has failed, or the network to it; the "
			"run ends; allow more time (ORRERY_WATCHDOG) where it may come "
			"back",
			found->lost, lines_patience_s());
	orr_die(rank,
		"starpu_mpi_init: rank %d is needed, and its process has ended before "
		"all ranks had met: it was killed (by the system for lack of memory, "
		"perhaps) or has crashed, which its launcher and the system's log may "
		"tell; the run ends",
		found->lost);
}

__attribute__((noreturn)) static void end_held(int rank, int held, double for_s)
{
	orr_die(rank,
		"starpu_mpi_init: rank %d is needed and has been stopped for %.3g s "
		"(SIGSTOP, SIGTSTP, Ctrl-Z): the run ends; continue it sooner (SIGCONT), "
		"or allow more time (ORRERY_WATCHDOG)",
		held, for_s);
}

/* A look, while the node is there for certain. */
static struct found guard_look(struct guard *guard)
{
	struct found found = {-1, -1, 0};

	orr_lock(&guard->lock);
	if (!orr_load(&guard->is_over)) {
		find_known(guard, &found);
		if (found.lost < 0 && found.held < 0)
			find_far(guard, &found);
		if (found.lost < 0 && found.held < 0)
			find_marked(guard, &found);
	}
	orr_unlock(&guard->lock);
	return found;
}

static void *guard_main(void *arg)
{
	struct guard *guard = arg;
	double wait_s = guard->limit_s, waited_s = 0, held_s = 0;
	double most_s = guard->limit_s + PEERS_SILENCE_S + PEERS_STOPPED_S;
	struct found found = {-1, -1, 0}, before;

	for (; !orr_load(&guard->is_over); waited_s += wait_s) {
		if (found.lost >= 0 || found.held >= 0)
			wait_s = guard->period_s;
		else if (waited_s > LIMITS_PER_LOOK * guard->limit_s)
			wait_s = waited_s / LIMITS_PER_LOOK;
		real_futex_wait(&guard->is_over, 0, wait_s);
		before = found;
		found = guard_look(guard);
		if (found.lost >= 0 && found.lost == before.lost)
			end_run(guard->rank, &found);
		/* This process may have been stopped, too: looks count, not time. */
		held_s = found.held >= 0 && found.held == before.held ? held_s + wait_s
								      : 0;
		if (held_s > most_s)
			end_held(guard->rank, found.held, held_s);
	}
	guard_leave(guard);
	return NULL;
}

struct guard *guard_start(struct plat *plat, const struct net_config *config)
{
	struct guard *guard;
	pthread_t thread;

	if (!real_mpi_world || config->size < 2 || watchdog_period_s(plat->node) <= 0)
		return NULL;
	guard = orr_alloc(sizeof(*guard));
	guard->plat = plat;
	guard->rank = config->rank;
	guard->size = config->size;
	guard->world = real_mpi_world(config, &guard->nworld);
	guard->limit_s = node_knobs(plat->node)->watchdog_s;
	guard->period_s = watchdog_period_s(plat->node);
	guard->nowners = 2;
	if (pthread_create(&thread, NULL, guard_main, guard) == 0)
		pthread_detach(thread);
	else
		guard_leave(guard);
	return guard;
}

void guard_end(struct guard *guard)
{
	if (!guard)
		return;
	orr_lock(&guard->lock);
	orr_store(&guard->is_over, 1);
	orr_unlock(&guard->lock);
	real_futex_wake(&guard->is_over, 1);
	guard_leave(guard);
}
