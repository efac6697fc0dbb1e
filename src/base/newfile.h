/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_NEWFILE_H
#define ORR_BASE_NEWFILE_H

/*
 * newfile.h - a file that is replaced as a whole, or stays what it was.
 *
 * The new content is written beside it and takes its name when all of it is on the
 * disk: a full disk, or the end of the process, never costs the old content, readers
 * never see half of it, and of several writers one wins.  What is no regular file (a
 * device, a pipe) is written in place.
 */
#include <stdio.h>

#include "base/decimal.h"

struct newfile {
	FILE *file;
	locale_t before; /* until it is closed, this thread writes numbers with a point */
	char *path, *beside; /* beside: NULL when it is written in place */
};

/* 0 or a negative errno. */
int newfile_open(struct newfile *newfile, const char *path);
/* Put the new content in place.  0, or a negative errno: the old file is untouched. */
int newfile_close(struct newfile *newfile);

#endif
