/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/disk/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "core/interface/interface.h"

static int rank_of_caller(void)
{
	const struct node *node = plat_self();

	return node ? node->rank : ORR_NO_RANK;
}

/* ---- messages -------------------------------------------------------- */

int files_complain(const struct files_file *file, const char *what, size_t bytes,
		   off_t offset)
{
	int ret = errno ? -errno : -EIO;

	orr_complain(rank_of_caller(),
		     "file %s of a disk: %zu bytes at offset %lld cannot be %s: %s; "
		     "expected room in its directory, and that nobody else changes or "
		     "removes files there",
		     file->path, bytes, (long long)offset, what, strerror(-ret));
	return ret;
}

int files_complain_short(const struct files_file *file, size_t bytes, off_t offset)
{
	orr_complain(rank_of_caller(),
		     "file %s of a disk: it has fewer than the %zu bytes at offset %lld "
		     "that are to be read; expected a file as large as the size given to "
		     "starpu_disk_open(), which nobody else changes",
		     file->path, bytes, (long long)offset);
	return -EIO;
}

/* ---- the directory --------------------------------------------------- */

void *files_plug(void *parameter, starpu_ssize_t size)
{
	const char *path = parameter;
	struct files_dir *dir;
	struct stat status;

	(void)size;
	if (!path || !*path) {
		orr_complain(rank_of_caller(),
			     "starpu_disk_register: no directory is given for a disk of "
			     "files; expected its path as parameter");
		return NULL;
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		orr_complain(rank_of_caller(),
			     "directory %s of a disk cannot be made: %s; expected a "
			     "path in a directory that may be written",
			     path, strerror(errno));
		return NULL;
	}
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode) ||
	    access(path, R_OK | W_OK | X_OK) != 0) {
		orr_complain(rank_of_caller(),
			     "directory %s of a disk cannot be used: %s; expected a "
			     "directory that may be read and written",
			     path,
			     S_ISDIR(status.st_mode) ? strerror(errno) : "it is none");
		return NULL;
	}
	dir = orr_alloc(sizeof(*dir) + strlen(path) + 1);
	memcpy(dir->path, path, strlen(path) + 1);
	return dir;
}

void files_unplug(void *base)
{
	free(base);
}

/* ---- files ----------------------------------------------------------- */

static struct files_file *new_file(const struct files_dir *dir, const char *name)
{
	size_t bytes = strlen(dir->path) + 1 + strlen(name) + 1;
	struct files_file *file = orr_alloc(sizeof(*file) + bytes);

	file->dir = dir;
	snprintf(file->path, bytes, "%s/%s", dir->path, name);
	return file;
}

void *files_alloc(void *base, size_t size)
{
	struct files_file *file = new_file(base, "orrery-disk-XXXXXX");
	int fd = mkstemp(file->path);

	if (fd < 0) {
		files_complain(file, "allocated", size, 0);
		free(file);
		return NULL;
	}
	close(fd);
	return file;
}

/* A file that somebody has removed is removed. */
void files_free(void *base, void *obj, size_t size)
{
	struct files_file *file = obj;

	(void)base;
	if (unlink(file->path) != 0 && errno != ENOENT)
		files_complain(file, "removed", size, 0);
	free(file);
}

void *files_open(void *base, void *pos, size_t size)
{
	struct files_file *file = new_file(base, pos);

	if (access(file->path, R_OK | W_OK) == 0)
		return file;
	files_complain(file, "used", size, 0);
	free(file);
	return NULL;
}

void files_close(void *base, void *obj, size_t size)
{
	(void)base;
	(void)size;
	free(obj);
}

/* ---- whole files ----------------------------------------------------- */

/* By the table whose base this is, which differs in how only. */
static const struct starpu_disk_ops *ops_of(const struct files_dir *dir)
{
	return dir->is_direct ? &starpu_disk_unistd_o_direct_ops
			      : &starpu_disk_unistd_ops;
}

int files_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	const struct files_file *file = obj;
	struct stat status;
	int ret;

	if (stat(file->path, &status) != 0)
		return files_complain(file, "read", 0, 0);
	*size = (size_t)status.st_size;
	*ptr = interface_buffer_get(dst_node, *size);
	if (!*ptr)
		return -ENOMEM;
	ret = ops_of(base)->read(base, obj, *ptr, 0, *size);
	if (ret != 0)
		interface_buffer_put(dst_node, *ptr, *size);
	return ret;
}

int files_full_write(void *base, void *obj, void *ptr, size_t size)
{
	const struct files_file *file = obj;
	int ret = ops_of(base)->write(base, obj, ptr, 0, size);

	if (ret == 0 && truncate(file->path, (off_t)size) != 0)
		return files_complain(file, "written", size, 0);
	return ret;
}

/* ---- does it work? --------------------------------------------------- */

int files_bandwidth(unsigned node, void *base)
{
	enum { PROBE_BYTES = 8192 };
	char *bytes, *back;
	void *file = files_alloc(base, PROBE_BYTES);
	int works;

	(void)node;
	if (!file)
		return 0;
	bytes = orr_alloc(2 * PROBE_BYTES);
	back = bytes + PROBE_BYTES;
	memset(bytes, 0x5a, PROBE_BYTES);
	works = ops_of(base)->write(base, file, bytes, 0, PROBE_BYTES) == 0 &&
		ops_of(base)->read(base, file, back, 0, PROBE_BYTES) == 0 &&
		memcmp(bytes, back, PROBE_BYTES) == 0;
	free(bytes);
	files_free(base, file, PROBE_BYTES);
	return works;
}
