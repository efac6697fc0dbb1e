/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "real/cuda.h"
#include "real/real.h"

struct sleeper {
	int id;
	uintptr_t word;      /* of the futex */
	unsigned long times; /* that it has gone to sleep */
};

struct asleep {
	int n;
	struct sleeper of[MAX_THREADS];
};

/*
 * asleep.c - threads that a lock, a condition or a semaphore of the program's own holds,
 * as the system says.
 *
 * Who sleeps in a private futex without a limit of time is woken by a thread of this
 * process, or by nobody.  So is who waits for the end of a thread: that futex is none of
 * the private ones, but its word lies in memory of this process alone.  Between two looks
 * it has slept all the time when it is in a futex at both and has gone to sleep no more
 * often by the second, which is counted: so where all threads have slept so, there was a
 * moment at which all slept, and none of them can wake.  The count is read after the
 * futex, at both looks.
 */
static FILE *open_file(int id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", id, name);
	return fopen(path, "r");
}

/* The library's own words say more than that somebody sleeps there. */
static int is_ours(const struct plat *plat, uintptr_t word)
{
	const struct worker *end = plat->workers + plat->nworkers;

	return (word >= (uintptr_t)plat && word < (uintptr_t)(plat + 1)) ||
	       (word >= (uintptr_t)plat->workers && word < (uintptr_t)end);
}

/* May no other process map that memory as well? */
static int is_of_process(uintptr_t word)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512], rights[8];
	int found = 0, is_private = 0;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3)
			continue;
		found = word >= start && word < end;
		is_private = found && rights[3] == 'p';
	}
	fclose(file);
	return is_private;
}

/* The word in whose futex the thread sleeps for ever, unless it is woken; or 0. */
static uintptr_t word_of(int id)
{
	FILE *file = open_file(id, "syscall");
	unsigned long word, operation, value, timeout;
	long number;
	int n;

	if (!file)
		return 0;
	n = fscanf(file, "%ld %lx %lx %lx %lx", &number, &word, &operation, &value,
		   &timeout);
	fclose(file);
	if (n != 5 || number != SYS_futex || timeout != 0 ||
	    !(operation & FUTEX_PRIVATE_FLAG || is_of_process(word)))
		return 0;
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
			       operation == FUTEX_LOCK_PI
		       ? word
		       : 0;
}

static int read_times(int id, unsigned long *times)
{
	FILE *file = open_file(id, "status");
	char line[256];
	int found = 0;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "voluntary_ctxt_switches: %lu", times) == 1;
	fclose(file);
	return found;
}

static int slept_before(const struct asleep *before, const struct sleeper *now)
{
	for (int i = 0; i < before->n; i++)
		if (memcmp(&before->of[i], now, sizeof(*now)) == 0)
			return 1;
	return 0;
}

/* Devices and MPI wake threads by ways that are not known here. */
static int can_tell(struct plat *plat)
{
	return !plat->crews.of && cuda_thread_count(plat) == 0 &&
	       orr_load(&real_get()->blocking.nthreads) <= 0;
}

/* 0: it may go on by itself. */
static int look_at(const struct plat *plat, int id, struct sleeper *sleeper)
{
	memset(sleeper, 0, sizeof(*sleeper));
	sleeper->id = id;
	sleeper->word = word_of(id);
	return sleeper->word != 0 && !is_ours(plat, sleeper->word) &&
	       read_times(id, &sleeper->times);
}

int asleep_count(struct plat *plat, struct asleep **before)
{
	const struct mpi_threads *mpi = &real_get()->mpi;
	int ids[MAX_THREADS], n = threads_of_process(ids, MAX_THREADS), nslept = 0;
	struct asleep *now = orr_alloc(sizeof(*now));

	if (n > MAX_THREADS || !can_tell(plat))
		n = 0;
	for (int i = 0; i < n; i++) {
		if (threads_are_among(ids[i], mpi->ids, mpi->n) ||
		    !look_at(plat, ids[i], &now->of[now->n]))
			continue;
		nslept += *before && slept_before(*before, &now->of[now->n]);
		now->n++;
	}
	free(*before);
	*before = now;
	return nslept;
}
