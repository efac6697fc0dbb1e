/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* O_DIRECT is Linux's. */
#define _GNU_SOURCE
#include "core/disk/shared.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/check.h"

/* Some file systems have no larger files. */
static const off_t most_bytes = ((off_t)1 << 32) - (1 << SHARED_MOST_BITS);

/* What the process may write into one file. */
static off_t limit_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)most_bytes)
		return (off_t)limit.rlim_cur;
	return most_bytes;
}

/* On a machine's own disk a write finds at once whether there is room. */
static int tells_late(int fd)
{
	struct statfs status;

	if (fstatfs(fd, &status) != 0)
		return 1;
	switch ((unsigned long)status.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return 0;
	default:
		return 1;
	}
}

/* ---- life ------------------------------------------------------------ */

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void shared_open(struct shared_file *shared, const char *directory, int is_direct)
{
	static const char name[] = "/orrery-disk-XXXXXX";
	size_t bytes = strlen(directory) + sizeof(name);

	*shared = (struct shared_file){.fd = -1, .direct_fd = -1};
	orr_lock_init(&shared->lock);
	shared->path = orr_alloc(bytes);
	snprintf(shared->path, bytes, "%s%s", directory, name);
	shared->fd = mkostemp(shared->path, O_CLOEXEC);
	if (shared->fd < 0)
		return;
	if (is_direct)
		shared->direct_fd = open(shared->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	unlink(shared->path);
	shared->tells_late = tells_late(shared->fd);
	shared->most = limit_bytes();
	if (is_direct && shared->direct_fd < 0)
		close_one(&shared->fd);
}

void shared_close(struct shared_file *shared)
{
	close_one(&shared->fd);
	close_one(&shared->direct_fd);
	for (int i = 0; i < SHARED_SIZES; i++)
		free(shared->free[i].first);
	free(shared->path);
}

/* ---- places ---------------------------------------------------------- */

static int size_index(size_t bytes)
{
	int i = 0;

	while (bytes > (size_t)1 << (SHARED_LEAST_BITS + i))
		i++;
	return i;
}

static void keep(struct shared_places *places, off_t first)
{
	if (places->n == places->capacity) {
		places->capacity = places->capacity ? 2 * places->capacity : 64;
		places->first = orr_realloc(places->first,
					    places->capacity * sizeof(*places->first));
	}
	places->first[places->n++] = first;
}

/* One that was given back, the smallest that is large enough; or -1. */
static off_t take_again(struct shared_file *shared, int *index)
{
	for (int i = *index; i < SHARED_SIZES; i++) {
		struct shared_places *places = &shared->free[i];

		if (places->n == 0)
			continue;
		*index = i;
		return places->first[--places->n];
	}
	return -1;
}

/* At a multiple of its size, so that none of a block or more shares one with others; what
 * lies between are places, too. */
static off_t take_new(struct shared_file *shared, int index)
{
	off_t size = (off_t)1 << (SHARED_LEAST_BITS + index);
	off_t first = (shared->end + size - 1) & ~(size - 1);

	if (first > shared->most - size)
		return -1;
	while (shared->end < first) {
		off_t between = shared->end & -shared->end;

		keep(&shared->free[size_index((size_t)between)], shared->end);
		shared->end += between;
	}
	shared->end = first + size;
	return first;
}

size_t shared_take(struct shared_file *shared, size_t bytes, off_t *first)
{
	int index;

	if (shared->fd < 0 || bytes > (size_t)1 << SHARED_MOST_BITS)
		return 0;
	index = size_index(bytes);
	orr_lock(&shared->lock);
	*first = take_again(shared, &index);
	if (*first < 0)
		*first = take_new(shared, index);
	orr_unlock(&shared->lock);
	return *first < 0 ? 0 : (size_t)1 << (SHARED_LEAST_BITS + index);
}

void shared_give(struct shared_file *shared, size_t size, off_t first)
{
	orr_lock(&shared->lock);
	keep(&shared->free[size_index(size)], first);
	orr_unlock(&shared->lock);
}

/* Each descriptor of a file tells when it is closed, also a second one. */
int shared_written(const struct shared_file *shared)
{
	int second;

	if (!shared->tells_late)
		return 0;
	second = fcntl(shared->fd, F_DUPFD_CLOEXEC, 0);
	return second < 0 ? fdatasync(shared->fd) : close(second);
}
