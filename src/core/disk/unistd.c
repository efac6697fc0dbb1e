/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* O_DIRECT is Linux's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/application.h"
#include "base/check.h"
#include "core/disk/files.h"

/*
 * unistd.c - files with read() and write(), and the same past the system's cache.
 *
 * The latter wants addresses, offsets and sizes that are whole blocks.  What is not goes
 * by way of a buffer that is, and what is less than a block through the cache.
 */
enum { BLOCK_BYTES = 4096, BUFFER_BYTES = 4 << 20 };

/* All of it, in as many calls as it takes.  0, or -errno, told. */
static int read_all(const struct files_file *file, int fd, char *to, off_t offset,
		    size_t size)
{
	while (size > 0) {
		ssize_t n = pread(fd, to, size, file->first + offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return files_complain(file, "read", size, offset);
		if (n == 0)
			return files_complain_short(file, size, offset);
		to += n;
		offset += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_all(const struct files_file *file, int fd, const char *from,
		     off_t offset, size_t size)
{
	while (size > 0) {
		ssize_t n = pwrite(fd, from, size, file->first + offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return files_complain(file, "written", size, offset);
		from += n;
		offset += n;
		size -= (size_t)n;
	}
	return 0;
}

/* One of the two. */
static int move_all(const struct files_file *file, int fd, char *bytes, off_t offset,
		    size_t size, int writes)
{
	return writes ? write_all(file, fd, bytes, offset, size)
		      : read_all(file, fd, bytes, offset, size);
}

static int move_cached(const struct files_file *file, char *bytes, off_t offset,
		       size_t size, int writes)
{
	int fd = files_use(file, writes, 0), ret;

	if (fd < 0)
		return files_complain(file, writes ? "written" : "read", size, offset);
	ret = move_all(file, fd, bytes, offset, size, writes);
	if (files_let(file, fd, writes) != 0 && ret == 0)
		ret = files_complain(file, "written", size, offset);
	return ret;
}

/* Whole blocks from an address that may be none. */
static int move_blocks(const struct files_file *file, int fd, char *bytes, off_t offset,
		       size_t size, int writes)
{
	size_t most = size < BUFFER_BYTES ? size : BUFFER_BYTES;
	void *buffer;
	int ret = 0;

	if ((uintptr_t)bytes % BLOCK_BYTES == 0)
		return move_all(file, fd, bytes, offset, size, writes);
	if (posix_memalign(&buffer, BLOCK_BYTES, most) != 0)
		return -ENOMEM;
	for (size_t at = 0, n; at < size && ret == 0; at += n) {
		n = size - at < most ? size - at : most;
		if (writes)
			memcpy(buffer, bytes + at, n);
		ret = move_all(file, fd, buffer, offset + (off_t)at, n, writes);
		if (!writes && ret == 0)
			memcpy(bytes + at, buffer, n);
	}
	free(buffer);
	return ret;
}

static int move_direct(const struct files_file *file, char *bytes, off_t offset,
		       size_t size, int writes)
{
	size_t head = (size_t)(-offset & (BLOCK_BYTES - 1)), middle, tail;
	int fd, ret = 0;

	if (head > size)
		head = size;
	tail = (size - head) % BLOCK_BYTES;
	middle = size - head - tail;
	if (head > 0)
		ret = move_cached(file, bytes, offset, head, writes);
	if (middle > 0 && ret == 0) {
		fd = files_use(file, writes, 1);
		if (fd < 0)
			return files_complain(file,
					      "reached past the system's cache "
					      "(O_DIRECT, which not all file systems "
					      "have; starpu_disk_unistd_ops needs none)",
					      size, offset);
		ret = move_blocks(file, fd, bytes + head, offset + (off_t)head, middle,
				  writes);
		files_let(file, fd, 0);
	}
	if (tail > 0 && ret == 0)
		ret = move_cached(file, bytes + size - tail,
				  offset + (off_t)(size - tail), tail, writes);
	return ret;
}

static void *direct_plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return files_plug_dir(parameter, 1);
}

static int move(struct files_file *file, char *bytes, off_t offset, size_t size,
		int writes)
{
	int ret = files_prepare(file, offset, size, writes);

	if (ret != 0)
		return ret;
	if (file->dir->is_direct)
		return move_direct(file, bytes, offset, size, writes);
	return move_cached(file, bytes, offset, size, writes);
}

int files_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	(void)base;
	return move(obj, buf, offset, size, 0);
}

int files_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	(void)base;
	return move(obj, (char *)buf, offset, size, 1);
}

#define FILES_OPS                                                                        \
	.unplug = files_unplug, .bandwidth = files_bandwidth, .alloc = files_alloc,      \
	.free = files_free, .open = files_open, .close = files_close,                    \
	.read = files_read, .write = files_write, .full_read = files_full_read,          \
	.full_write = files_full_write

APPLICATION_OBJECT struct starpu_disk_ops starpu_disk_unistd_ops = {.plug = files_plug,
								    FILES_OPS};

APPLICATION_OBJECT struct starpu_disk_ops starpu_disk_unistd_o_direct_ops = {
	.plug = direct_plug, FILES_OPS};
