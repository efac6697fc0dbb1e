/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wait.h"
#include "core/watchdog.h"
#include "plat/places.h"
#include "real/cuda.h"
#include "real/lines.h"

/*
 * threads.c - what the watchdog must know of the process: could anything but the
 * waiting threads change what they wait for?
 *
 * The threads of the process are those of the library, those that MPI started for
 * itself (mpi_start.c) and the program's.  A handler of a signal can do anything, too;
 * those of faults, which MPI libraries install to print a stack, only end the process.
 */

/* The first thread is still there when it has ended. */
static int has_ended(int id)
{
	return id == getpid() && peers_state("self") == 'Z';
}

int threads_of_process(int *ids, int max)
{
	DIR *directory = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	if (!directory)
		return -1;
	while ((entry = readdir(directory))) {
		int id = atoi(entry->d_name);

		if (id > 0 && has_ended(id))
			continue;
		if (id > 0 && n < max)
			ids[n] = id;
		n += id > 0;
	}
	closedir(directory);
	return n;
}

void threads_note(struct thread_ids *seen)
{
	int n = threads_of_process(seen->ids, MAX_THREADS);

	seen->n = n <= MAX_THREADS ? n : -1;
}

static int is_called(int id, const char *name)
{
	char path[64], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", id);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, name) == 0;
}

/* Has it a core, or would it take one?  Its state follows its name, which may contain
 * anything but ends with the last parenthesis. */
static int is_running(int id)
{
	char path[64], text[256] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && end[1] == ' ' && strchr("RD", end[2]);
}

int threads_sleep(void)
{
	int ids[MAX_THREADS], n = threads_of_process(ids, MAX_THREADS), nrunning = 0;

	for (int i = 0; i < n && i < MAX_THREADS; i++)
		nrunning += is_running(ids[i]);
	return nrunning == 1;
}

/* Linux counts: nanoseconds on a core, nanoseconds of waiting for one, turns. */
static int read_kept_s(const char *path, double *ran_s, double *kept_s)
{
	FILE *file = fopen(path, "r");
	unsigned long long ran_ns, kept_ns;
	int n;

	if (!file)
		return -ENODEV;
	n = fscanf(file, "%llu %llu", &ran_ns, &kept_ns);
	fclose(file);
	/* A thread that asks has run; zeros say that nothing is counted. */
	if (n != 2 || ran_ns == 0)
		return -ENODEV;
	*ran_s = 1e-9 * (double)ran_ns;
	*kept_s = 1e-9 * (double)kept_ns;
	return 0;
}

/* Workers that share a thread have the name of none. */
int plat_kept_s(struct plat *plat, const struct worker *of, double *ran_s, double *kept_s)
{
	int ids[MAX_THREADS], n = of ? threads_of_process(ids, MAX_THREADS) : 0;
	char name[16], path[64];

	(void)plat;
	if (!of)
		return read_kept_s("/proc/thread-self/schedstat", ran_s, kept_s);
	worker_thread_name(of, name, sizeof(name));
	for (int i = 0; i < n && i < MAX_THREADS; i++) {
		if (!is_called(ids[i], name))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", ids[i]);
		return read_kept_s(path, ran_s, kept_s);
	}
	return -ENODEV;
}

int threads_are_among(int id, const int *ids, int n)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return 1;
	return 0;
}

/* name: only those that are called so, or NULL. */
static void add_new(const struct thread_ids *seen, const char *name)
{
	struct mpi_threads *mpi = &real_get()->mpi;
	struct thread_ids now;

	threads_note(&now);
	for (int i = 0; seen->n >= 0 && i < now.n; i++)
		if (mpi->n < MPI_MAX_THREADS && (!name || is_called(now.ids[i], name)) &&
		    !threads_are_among(now.ids[i], seen->ids, seen->n) &&
		    !threads_are_among(now.ids[i], mpi->ids, mpi->n))
			mpi->ids[mpi->n++] = now.ids[i];
}

void threads_add_new(const struct thread_ids *seen, const char *name)
{
	add_new(seen, name);
}

static int count_of_library(const struct plat *plat)
{
	return vigil_nthreads() + lines_nthreads() + real_get()->starting.has_thread +
	       plat->nworkers + plat->timers.started + plat->progress.started +
	       plat->disks.nthreads + plat->numas.ncopiers + cuda_thread_count(plat);
}

/* Before a node is open, the library has hardly any. */
static int count_of_self(void)
{
	const struct node *node = plat_self();

	return node ? count_of_library(node->plat)
		    : vigil_nthreads() + lines_nthreads() +
			       real_get()->starting.has_thread;
}

int threads_note_alone(struct thread_ids *seen)
{
	const struct node *node = plat_self();
	int nours = count_of_self();

	threads_note(seen);
	return seen->n == nours + 1 && (!node || node_nsubmitted(node) == 0) ? nours : -1;
}

void threads_add_of_mpi(const struct thread_ids *seen, int nours)
{
	if (nours >= 0 && count_of_self() == nours)
		add_new(seen, NULL);
}

int threads_of_program(struct plat *plat)
{
	const struct mpi_threads *mpi = &real_get()->mpi;
	int ids[MAX_THREADS];
	int n = threads_of_process(ids, MAX_THREADS), others;

	if (n < 0 || n > MAX_THREADS)
		return -1;
	others = n - count_of_library(plat);
	for (int i = 0; i < n; i++)
		others -= threads_are_among(ids[i], mpi->ids, mpi->n);
	return others;
}

static int is_of_faults(int signal)
{
	static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS,
				     SIGFPE, SIGSEGV, SIGSYS};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (signal == faults[i])
			return 1;
	return signal > 31 && signal < SIGRTMIN; /* the C library's own */
}

/* Fortran's runtime prints a stack for more signals, and ends the process, too. */
static int is_of_fortran(int signal)
{
	struct sigaction action;
	Dl_info place;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
	       action.sa_handler != SIG_IGN &&
	       dladdr((const void *)(uintptr_t)action.sa_handler, &place) &&
	       place.dli_fname && strstr(place.dli_fname, "libgfortran");
}

/* Does the program handle a signal?  1 when that cannot be read. */
static int handles_signals(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long caught = ~0ULL;
	char text[256];

	if (!file)
		return 1;
	while (fgets(text, sizeof(text), file))
		if (sscanf(text, "SigCgt: %llx", &caught) == 1)
			break;
	fclose(file);
	for (int signal = 1; signal <= 64; signal++)
		if ((caught >> (signal - 1)) & 1 && !is_of_faults(signal) &&
		    !is_of_fortran(signal))
			return 1;
	return 0;
}

static int is_ours(struct plat *plat, const void *thread)
{
	pthread_t id = (pthread_t)thread;

	for (int i = 0; i < plat->nworkers; i++)
		if (pthread_equal(plat->threads[i], id))
			return 1;
	for (int i = 0; i < plat->numas.ncopiers; i++)
		if (pthread_equal(plat->numas.copiers[i].thread, id))
			return 1;
	for (int i = 0; i < plat->disks.nthreads; i++)
		if (pthread_equal(plat->disks.threads[i], id))
			return 1;
	if (cuda_is_thread(plat, id))
		return 1;
	return (plat->timers.started && pthread_equal(plat->timers.thread, id)) ||
	       (plat->progress.started && pthread_equal(plat->progress.thread, id));
}

static int count_timers(struct plat *plat)
{
	return timers_count(plat) + disks_count(plat) + numas_count(plat) +
	       cuda_count(plat);
}

int threads_are_busy(struct plat *plat)
{
	/* With nothing to execute, the worker that polls between tasks only polls: it may
	 * be the one that asks. */
	return workers_awake(plat, plat->progress.worker) > 0 || count_timers(plat) > 0;
}

static void look(struct plat *plat, double now_s, int waits, int only_proof)
{
	struct watchdog_facts facts = {.is_ours = is_ours, .only_proof = only_proof};

	if (!watchdog_is_due(plat->node, now_s, waits))
		return;
	facts.nawake = workers_awake(plat, NULL);
	facts.ntimers = count_timers(plat);
	facts.nthreads = threads_of_program(plat);
	facts.nasleep = asleep_count(plat, &plat->asleep);
	if (handles_signals())
		facts.why = "a signal that the program handles may change this";
	watchdog_look(plat->node, &facts);
}

int threads_sleep_for_ever(struct plat *plat, int nasleep)
{
	int nthreads = threads_of_program(plat);

	return nasleep > 0 && nthreads >= 0 && count_timers(plat) == 0 &&
	       nthreads + workers_awake(plat, NULL) == nasleep && !handles_signals();
}

void threads_look(struct plat *plat, double now_s, int waits)
{
	look(plat, now_s, waits, 0);
}

void threads_look_for_all(struct plat *plat, double *look_s)
{
	double period_s = watchdog_period_s(plat->node), now_s = plat_now_s(plat);

	if (period_s <= 0 || now_s < *look_s || wait_is_any(plat->node))
		return;
	*look_s = now_s + period_s;
	vigil_look();
	look(plat, now_s, 0, 1);
}
