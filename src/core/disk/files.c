/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* O_DIRECT is Linux's. */
#define _GNU_SOURCE
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

static const char *path_of(const struct files_file *file)
{
	return file->room ? file->dir->shared.path : file->path;
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
		     path_of(file), bytes, (long long)offset, what, strerror(-ret));
	return ret;
}

int files_complain_short(const struct files_file *file, size_t bytes, off_t offset)
{
	orr_complain(rank_of_caller(),
		     "file %s of a disk: it has fewer than the %zu bytes at offset %lld "
		     "that are to be read; expected a file as large as the size given to "
		     "starpu_disk_open(), which nobody else changes",
		     path_of(file), bytes, (long long)offset);
	return -EIO;
}

/* ---- the directory --------------------------------------------------- */

struct files_dir *files_plug_dir(const char *path, int is_direct)
{
	struct files_dir *dir;
	struct stat status;

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
	dir->is_direct = is_direct;
	shared_open(&dir->shared, path, is_direct);
	return dir;
}

void *files_plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return files_plug_dir(parameter, 0);
}

void files_unplug(void *base)
{
	struct files_dir *dir = base;

	shared_close(&dir->shared);
	free(dir);
}

/* ---- files ----------------------------------------------------------- */

static struct files_file *new_file(struct files_dir *dir)
{
	struct files_file *file = orr_alloc(sizeof(*file));

	*file = (struct files_file){.dir = dir};
	return file;
}

static void set_path(struct files_file *file, const char *name)
{
	size_t bytes = strlen(file->dir->path) + 1 + strlen(name) + 1;

	file->path = orr_alloc(bytes);
	snprintf(file->path, bytes, "%s/%s", file->dir->path, name);
}

static void free_file(struct files_file *file)
{
	free(file->path);
	free(file);
}

/* Make the file: its descriptor, or -1. */
static int make_own(struct files_file *file)
{
	set_path(file, "orrery-disk-XXXXXX");
	return mkostemp(file->path, O_CLOEXEC);
}

void *files_alloc(void *base, size_t size)
{
	struct files_file *file = new_file(base);
	int fd;

	file->room = shared_take(&file->dir->shared, size, &file->first);
	if (file->room)
		return file;
	fd = make_own(file);
	if (fd < 0) {
		files_complain(file, "allocated", size, 0);
		free_file(file);
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
	if (file->room)
		shared_give(&file->dir->shared, file->room, file->first);
	else if (unlink(file->path) != 0 && errno != ENOENT)
		files_complain(file, "removed", size, 0);
	free_file(file);
}

void *files_open(void *base, void *pos, size_t size)
{
	struct files_file *file = new_file(base);

	set_path(file, pos);
	if (access(file->path, R_OK | W_OK) == 0)
		return file;
	files_complain(file, "used", size, 0);
	free_file(file);
	return NULL;
}

void files_close(void *base, void *obj, size_t size)
{
	(void)base;
	(void)size;
	free_file(obj);
}

/* ---- descriptors ----------------------------------------------------- */

int files_use(const struct files_file *file, int writes, int is_direct)
{
	int flags = (writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC;

	if (file->room)
		return is_direct ? file->dir->shared.direct_fd : file->dir->shared.fd;
	return open(file->path, is_direct ? flags | O_DIRECT : flags);
}

/* Some file systems find only then that there is no room. */
int files_let(const struct files_file *file, int fd, int writes)
{
	int ret = 0;

	if (!file->room)
		ret = close(fd);
	else if (writes)
		ret = shared_written(&file->dir->shared);
	return writes ? ret : 0;
}

/* ---- places in the shared file --------------------------------------- */

/* All of a place, from one descriptor to another. */
static int move_place(const struct files_file *file, int to)
{
	char bytes[4096];
	off_t at = 0, end = (off_t)file->bytes;
	ssize_t n;

	while (at < end) {
		size_t most = (size_t)(end - at);

		if (most > sizeof(bytes))
			most = sizeof(bytes);
		n = pread(file->dir->shared.fd, bytes, most, file->first + at);
		if (n <= 0 || pwrite(to, bytes, (size_t)n, at) != n)
			return -1;
		at += n;
	}
	return 0;
}

/* It grows beyond its place. */
static int move_out(struct files_file *file, off_t offset, size_t size)
{
	int fd = make_own(file), ret = fd < 0 ? -1 : move_place(file, fd);

	if (fd >= 0 && close(fd) != 0)
		ret = -1;
	if (ret != 0)
		return files_complain(file, "written", size, offset);
	shared_give(&file->dir->shared, file->room, file->first);
	file->room = 0;
	file->first = 0;
	return 0;
}

/* What nobody has written before is zeros, as in a file of its own. */
static int fill_gap(const struct files_file *file, size_t from, size_t to)
{
	static const char zeros[4096];

	while (from < to) {
		size_t most = to - from < sizeof(zeros) ? to - from : sizeof(zeros);
		ssize_t n = pwrite(file->dir->shared.fd, zeros, most,
				   file->first + (off_t)from);

		if (n <= 0)
			return files_complain(file, "written", most, (off_t)from);
		from += (size_t)n;
	}
	return 0;
}

int files_prepare(struct files_file *file, off_t offset, size_t size, int writes)
{
	struct shared_file *shared = &file->dir->shared;
	size_t end = (size_t)offset + size;
	int ret = 0;

	if (!file->room)
		return 0;
	if (!writes)
		return end <= file->bytes ? 0 : files_complain_short(file, size, offset);
	if (end > file->room)
		return move_out(file, offset, size);
	/* Who else writes to the object just now finds its gap filled. */
	orr_lock(&shared->lock);
	if ((size_t)offset > file->bytes)
		ret = fill_gap(file, file->bytes, (size_t)offset);
	if (end > file->bytes && ret == 0)
		file->bytes = end;
	orr_unlock(&shared->lock);
	return ret;
}

/* ---- whole files ----------------------------------------------------- */

/* Bytes of a file; 0, or -1 with errno. */
static int bytes_of(const struct files_file *file, size_t *bytes)
{
	struct stat status;

	if (file->room) {
		*bytes = file->bytes;
		return 0;
	}
	if (stat(file->path, &status) != 0)
		return -1;
	*bytes = (size_t)status.st_size;
	return 0;
}

int files_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	const struct files_file *file = obj;
	int ret;

	if (bytes_of(file, size) != 0)
		return files_complain(file, "read", 0, 0);
	*ptr = interface_buffer_get(dst_node, *size);
	if (!*ptr)
		return -ENOMEM;
	ret = files_read(base, obj, *ptr, 0, *size);
	if (ret != 0)
		interface_buffer_put(dst_node, *ptr, *size);
	return ret;
}

int files_full_write(void *base, void *obj, void *ptr, size_t size)
{
	struct files_file *file = obj;
	int ret = files_write(base, obj, ptr, 0, size);

	if (ret == 0 && file->room)
		file->bytes = size;
	else if (ret == 0 && truncate(file->path, (off_t)size) != 0)
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
	works = files_write(base, file, bytes, 0, PROBE_BYTES) == 0 &&
		files_read(base, file, back, 0, PROBE_BYTES) == 0 &&
		memcmp(bytes, back, PROBE_BYTES) == 0;
	free(bytes);
	files_free(base, file, PROBE_BYTES);
	return works;
}
