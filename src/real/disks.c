/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/check.h"
#include "core/disk/disk.h"
#include "core/wait.h"
#include "real/real.h"

/*
 * disks.c - copies to and from disks, made by threads that do nothing else.
 *
 * Copies start in the order in which they are asked for, on two threads for each disk, so
 * that something is written while something is read.  Files that are no longer needed are
 * removed when nothing is to be copied, and at the end.
 */
enum { THREADS_PER_DISK = 2 };

/* Until something has been measured: what is usual for a solid state disk. */
static const double assumed_bytes_per_s = 500e6, assumed_latency_s = 1e-4;
/* Of the new figure in the mean. */
static const double newest_part = 0.25;

static struct plat_copy **next_of(struct plat_copy *copy)
{
	return (struct plat_copy **)&copy->backend[0];
}

static int is_write(struct plat *plat, const struct plat_copy *copy)
{
	return disk_at(plat->node, copy->to) != NULL;
}

/* ---- the threads ----------------------------------------------------- */

static void note_speed(struct plat *plat, int writes, size_t bytes, double seconds)
{
	double *mean = &plat->disks.bytes_per_s[writes];
	double rate = (double)bytes / (seconds > 1e-9 ? seconds : 1e-9);

	pthread_mutex_lock(&plat->disks.mutex);
	*mean = *mean > 0 ? (1 - newest_part) * *mean + newest_part * rate : rate;
	pthread_mutex_unlock(&plat->disks.mutex);
}

static void make_copy(struct plat *plat, struct plat_copy *copy)
{
	double start_s = plat_now_s(plat);
	size_t bytes = copy->bytes;
	int writes = is_write(plat, copy);

	if (!disk_copy(plat->node, copy)) {
		pthread_mutex_lock(&plat->disks.alone);
		disk_copy_alone(plat->node, copy);
		pthread_mutex_unlock(&plat->disks.alone);
	}
	if (bytes > 0)
		note_speed(plat, writes, bytes, plat_now_s(plat) - start_s);
	copy->done(copy);
}

/* Do the next thing; the threads' mutex is locked, and is again.  0: there is none. */
static int work(struct plat *plat)
{
	struct disks *disks = &plat->disks;
	struct plat_copy *copy = disks->first;
	struct disk_object *removed = disks->removed;

	if (copy)
		disks->first = *next_of(copy);
	else if (removed)
		disks->removed = removed->next;
	else
		return 0;
	pthread_mutex_unlock(&disks->mutex);
	if (copy)
		make_copy(plat, copy);
	else
		disk_remove(removed->disk, removed);
	pthread_mutex_lock(&disks->mutex);
	disks->npending -= copy != NULL;
	return 1;
}

static void *disks_main(void *arg)
{
	struct plat *plat = arg;
	struct disks *disks = &plat->disks;

	prctl(PR_SET_NAME, "orr-disk", 0, 0, 0);
	plat_caller(plat)->is_runtime = 1;
	pthread_mutex_lock(&disks->mutex);
	while (work(plat) || !disks->stopping)
		if (!disks->first && !disks->removed && !disks->stopping)
			pthread_cond_wait(&disks->changed, &disks->mutex);
	pthread_mutex_unlock(&disks->mutex);
	return NULL;
}

/* Without the copies whose end waits for something, or all if no thread is left. */
int disks_count(struct plat *plat)
{
	struct disks *disks = &plat->disks;
	int n, nblocked = 0;

	for (int i = 0; i < disks->nthreads; i++)
		nblocked += wait_blocks(plat->node, (const void *)disks->threads[i]);
	if (nblocked == disks->nthreads)
		return 0;
	pthread_mutex_lock(&disks->mutex);
	n = disks->npending - nblocked;
	pthread_mutex_unlock(&disks->mutex);
	return n;
}

void disks_init(struct plat *plat)
{
	pthread_mutex_init(&plat->disks.mutex, NULL);
	pthread_mutex_init(&plat->disks.alone, NULL);
	pthread_cond_init(&plat->disks.changed, NULL);
}

void disks_close(struct plat *plat)
{
	struct disks *disks = &plat->disks;

	pthread_mutex_lock(&disks->mutex);
	disks->stopping = 1;
	pthread_cond_broadcast(&disks->changed);
	pthread_mutex_unlock(&disks->mutex);
	for (int i = 0; i < disks->nthreads; i++)
		pthread_join(disks->threads[i], NULL);
	pthread_cond_destroy(&disks->changed);
	pthread_mutex_destroy(&disks->alone);
	pthread_mutex_destroy(&disks->mutex);
}

/* ---- the driver ------------------------------------------------------ */

static void *disk_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	return disk_allocate(plat->node, memory, bytes);
}

static void disk_release(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct disks *disks = &plat->disks;
	struct disk_object *object = disk_forget(plat->node, memory, ptr);

	(void)bytes;
	if (!object)
		return;
	pthread_mutex_lock(&disks->mutex);
	object->next = disks->removed;
	disks->removed = object;
	pthread_cond_signal(&disks->changed);
	pthread_mutex_unlock(&disks->mutex);
}

/* Between two disks by way of main memory. */
static int disk_reaches(struct plat *plat, unsigned from, unsigned to)
{
	const struct memory *memories = plat->node->memories;

	return from == to || memories[from].kind == STARPU_CPU_RAM ||
	       memories[to].kind == STARPU_CPU_RAM;
}

static int disk_start(struct plat *plat, struct plat_copy *copy)
{
	struct disks *disks = &plat->disks;

	*next_of(copy) = NULL;
	pthread_mutex_lock(&disks->mutex);
	if (disks->first)
		*next_of(disks->last) = copy;
	else
		disks->first = copy;
	disks->last = copy;
	disks->npending++;
	pthread_cond_signal(&disks->changed);
	pthread_mutex_unlock(&disks->mutex);
	return 0;
}

static double disk_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	struct disks *disks = &plat->disks;
	int writes = disk_at(plat->node, to) != NULL;
	double rate;

	if (from == to)
		return 0;
	pthread_mutex_lock(&disks->mutex);
	rate = disks->bytes_per_s[writes];
	pthread_mutex_unlock(&disks->mutex);
	return assumed_latency_s +
	       (double)bytes / (rate > 0 ? rate : assumed_bytes_per_s);
}

static const struct memory_driver disk_driver = {.allocate = disk_alloc,
						 .release = disk_release,
						 .reaches = disk_reaches,
						 .copy = disk_start,
						 .expected_s = disk_expected_s};

int plat_find_disk(struct plat *plat, int number, struct plat_memory *memory)
{
	struct disks *disks = &plat->disks;

	(void)number;
	memory->driver = &disk_driver;
	for (int i = 0; i < THREADS_PER_DISK && disks->nthreads < DISKS_MAX_THREADS;
	     i++) {
		if (pthread_create(&disks->threads[disks->nthreads], NULL, disks_main,
				   plat) != 0) {
			orr_complain(plat->node->rank,
				     "no thread for a disk: the system refuses more "
				     "threads (ulimit -u or -v, cgroup pids.max)");
			return -ENOENT;
		}
		disks->nthreads++;
	}
	return 0;
}
