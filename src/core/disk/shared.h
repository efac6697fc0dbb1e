/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DISK_SHARED_H
#define ORR_CORE_DISK_SHARED_H

/*
 * shared.h - a file that the small objects of a directory share.
 *
 * For a value of 1 KiB, to make a file, to open it for each transfer and to remove it
 * takes many times what its bytes take.  So one file stays open, which has no name any
 * more: whatever becomes of the process, nothing stays behind.  Places in it have sizes
 * that are powers of two, and those given back are taken again, so that it is never
 * larger than all objects were together, rounded up.
 */
#include <sys/types.h>

#include "plat/plat.h"

enum {
	SHARED_LEAST_BITS = 6,
	SHARED_MOST_BITS = 16, /* larger objects have files of their own */
	SHARED_SIZES = SHARED_MOST_BITS - SHARED_LEAST_BITS + 1
};

struct shared_places {
	off_t *first;
	size_t n, capacity;
};

struct shared_file {
	struct orr_lock lock;
	int fd, direct_fd; /* -1: none; past the system's cache */
	/* Errors of writes may be told where a descriptor is closed, and there only. */
	int tells_late;
	off_t end, most;
	struct shared_places free[SHARED_SIZES]; /* by the logarithm of their size */
	char *path;                              /* that it had, for messages */
};

/* Without a file, when it cannot be made: shared_take() refuses all. */
void shared_open(struct shared_file *shared, const char *directory, int is_direct);
void shared_close(struct shared_file *shared);

/* A place for bytes: its size, at *first; or 0. */
size_t shared_take(struct shared_file *shared, size_t bytes, off_t *first);
void shared_give(struct shared_file *shared, size_t size, off_t first);
/* Something was written: 0, or -1 with errno, as of close(). */
int shared_written(const struct shared_file *shared);

#endif
