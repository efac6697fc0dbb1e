/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DISK_FILES_H
#define ORR_CORE_DISK_FILES_H

/*
 * files.h - what the predefined tables of starpu_disk.h have in common: a directory, and
 * a file in it for each object.
 *
 * A file is opened for each operation: there may be more objects than a process may have
 * open files.  Who first knows of a failure says it, with the file's name.
 */
#include <starpu.h>

struct files_dir {
	int is_direct; /* past the system's cache */
	char path[];
};

struct files_file {
	const struct files_dir *dir; /* borrowed */
	char path[];
};

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

/* What was to be done to a file failed with errno: says so, returns -errno. */
int files_complain(const struct files_file *file, const char *what, size_t bytes,
		   off_t offset);
/* The same: the file is shorter than what is to be read. */
int files_complain_short(const struct files_file *file, size_t bytes, off_t offset);

#endif
