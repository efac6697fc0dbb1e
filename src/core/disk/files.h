/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DISK_FILES_H
#define ORR_CORE_DISK_FILES_H

/*
 * files.h - what the predefined tables of starpu_disk.h have in common: a directory, and
 * a file in it for each object, or one that small objects share (shared.h).
 *
 * A file of its own is opened for each operation: there may be more objects than a
 * process may have open files.  Who first knows of a failure says it, with the file's
 * name.
 */
#include <starpu.h>

#include "core/disk/shared.h"

struct files_dir {
	int is_direct; /* past the system's cache */
	struct shared_file shared;
	char path[];
};

struct files_file {
	struct files_dir *dir; /* borrowed */
	size_t room;           /* its place in the shared file; 0: a file of its own */
	off_t first;           /* where that begins */
	size_t bytes;          /* in a place: that are the object's, from the first on */
	char *path;            /* of its own file */
};

struct files_dir *files_plug_dir(const char *path, int is_direct);

/* Operations of the tables. */
void *files_plug(void *parameter, starpu_ssize_t size);
void files_unplug(void *base);
int files_bandwidth(unsigned node, void *base);
void *files_alloc(void *base, size_t size);
void files_free(void *base, void *obj, size_t size);
void *files_open(void *base, void *pos, size_t size);
void files_close(void *base, void *obj, size_t size);
int files_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node);
int files_full_write(void *base, void *obj, void *ptr, size_t size);

/* unistd.c: with a descriptor. */
int files_read(void *base, void *obj, void *buf, off_t offset, size_t size);
int files_write(void *base, void *obj, const void *buf, off_t offset, size_t size);
/* A descriptor to read or to write with, at file->first and behind; or -1. */
int files_use(const struct files_file *file, int writes, int is_direct);
/* The end of that: 0, or -1 when what was written may be lost. */
int files_let(const struct files_file *file, int fd, int writes);
/* size bytes at offset are going to be written or read: there is a place for them, or
 * there are so many.  0, or -errno, told. */
int files_prepare(struct files_file *file, off_t offset, size_t size, int writes);

/* What was to be done to a file failed with errno: says so, returns -errno. */
int files_complain(const struct files_file *file, const char *what, size_t bytes,
		   off_t offset);
/* The same: the file is shorter than what is to be read. */
int files_complain_short(const struct files_file *file, size_t bytes, off_t offset);

#endif
