/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

enum { MAX_TRIES = 1000 };

/* A name that nobody else has: other ranks and threads may write the same file. */
static int open_beside(struct newfile *newfile)
{
	size_t bytes = strlen(newfile->path) + 32;
	int fd = -1;

	newfile->beside = orr_alloc(bytes);
	for (int i = 0; fd < 0 && i < MAX_TRIES; i++) {
		snprintf(newfile->beside, bytes, "%s.new-%ld-%d", newfile->path,
			 (long)getpid(), i);
		fd = open(newfile->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static void forget(struct newfile *newfile)
{
	free(newfile->path);
	free(newfile->beside);
	*newfile = (struct newfile){0};
}

int newfile_open(struct newfile *newfile, const char *path)
{
	struct stat status;
	int in_place = !stat(path, &status) && !S_ISREG(status.st_mode), fd, ret;

	*newfile = (struct newfile){.path = orr_strdup(path)};
	fd = in_place ? open(path, O_WRONLY | O_CLOEXEC) : open_beside(newfile);
	newfile->file = fd < 0 ? NULL : fdopen(fd, "w");
	newfile->before = decimal_begin();
	if (newfile->file)
		return 0;
	decimal_end(newfile->before);
	ret = -errno;
	if (fd >= 0) {
		close(fd);
		if (newfile->beside)
			unlink(newfile->beside);
	}
	forget(newfile);
	return ret;
}

int newfile_close(struct newfile *newfile)
{
	int ret = 0;

	decimal_end(newfile->before);
	/* A pipe or a device need not know of fsync(). */
	if (ferror(newfile->file) || fflush(newfile->file) ||
	    (newfile->beside && fsync(fileno(newfile->file))))
		ret = errno ? -errno : -EIO;
	if (fclose(newfile->file) && !ret)
		ret = -errno;
	if (newfile->beside && !ret && rename(newfile->beside, newfile->path))
		ret = -errno;
	if (newfile->beside && ret)
		unlink(newfile->beside);
	forget(newfile);
	return ret;
}
