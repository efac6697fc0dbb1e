/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>

#include "base/application.h"
#include "core/disk/files.h"

/* stdio.c - files with the C library's streams, but for the one that small objects share.
 */

static FILE *open_at(const struct files_file *file, const char *mode, off_t offset)
{
	FILE *stream = fopen(file->path, mode);

	if (stream && fseeko(stream, offset, SEEK_SET) != 0) {
		fclose(stream);
		return NULL;
	}
	return stream;
}

static int stdio_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	const struct files_file *file = obj;
	FILE *stream;
	int ret = 0;

	if (file->room)
		return files_read(base, obj, buf, offset, size);
	errno = 0;
	stream = open_at(file, "rb", offset);
	if (!stream)
		return files_complain(file, "read", size, offset);
	if (fread(buf, 1, size, stream) < size)
		ret = ferror(stream) ? files_complain(file, "read", size, offset)
				     : files_complain_short(file, size, offset);
	fclose(stream);
	return ret;
}

static int stdio_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	const struct files_file *file = obj;
	FILE *stream;
	int ret = 0;

	if (file->room) {
		ret = files_prepare(obj, offset, size, 1);
		if (ret != 0)
			return ret;
	}
	if (file->room)
		return files_write(base, obj, buf, offset, size);
	errno = 0;
	stream = open_at(file, "r+b", offset);
	if (!stream)
		return files_complain(file, "written", size, offset);
	if (fwrite(buf, 1, size, stream) < size)
		ret = files_complain(file, "written", size, offset);
	/* What is still in the stream may find no room. */
	if (fclose(stream) != 0 && ret == 0)
		ret = files_complain(file, "written", size, offset);
	return ret;
}

APPLICATION_OBJECT struct starpu_disk_ops starpu_disk_stdio_ops = {
	.plug = files_plug,
	.unplug = files_unplug,
	.bandwidth = files_bandwidth,
	.alloc = files_alloc,
	.free = files_free,
	.open = files_open,
	.close = files_close,
	.read = stdio_read,
	.write = stdio_write,
	.full_read = files_full_read,
	.full_write = files_full_write,
};
