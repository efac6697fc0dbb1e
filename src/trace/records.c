/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "trace/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"

struct records {
	struct event_sink sink;
	char *directory;
	const char *path; /* one of: */
	char *before, *sole, *ranked;
	const char *knob;
	struct records_name name;
	int life, rank;
	dev_t device; /* the file, whoever has its name now: */
	ino_t inode;
	int *told;
	int is_refused; /* nothing more is written */
	uint64_t nlost;
};

/* Owned by the caller.  rank -1: none behind the name. */
static char *path_of(const struct records *records, const char *name, int rank)
{
	size_t bytes = strlen(records->directory) + strlen(name) + 64;
	char *path = orr_alloc(bytes), number[16] = "", life[16] = "";

	if (rank >= 0)
		snprintf(number, sizeof(number), "%d", rank);
	if (records->life > 1)
		snprintf(life, sizeof(life), ".%d", records->life);
	snprintf(path, bytes, "%s/%s%s%s%s%s", records->directory, name,
		 rank >= 0 && !records->name.is_numbered ? "_" : "", number, life,
		 records->name.ending);
	return path;
}

static void refuse(struct records *records, const char *path, int error)
{
	records->is_refused = 1;
	if (*records->told)
		return;
	*records->told = 1;
	orr_complain(records->rank,
		     "%s: cannot write %s: %s; the run goes on, records of "
		     "events are lost from here on",
		     records->knob, path,
		     error == EEXIST ? "another run has written a file of that name "
				       "meanwhile (give each run a directory of its own)"
				     : strerror(error));
}

/* The name says the rank once it is known. */
static void rename_for(struct records *records, const struct event *event)
{
	int is_said = records->name.is_numbered || event->n > 1;
	char *path;

	records->rank = (int)event->id;
	path = path_of(records, records->name.stem, is_said ? records->rank : -1);
	if (!records->is_refused && rename(records->path, path) != 0)
		refuse(records, path, errno);
	free(records->ranked);
	records->path = records->ranked = path;
}

void records_settle(struct records *records)
{
	if (records->path != records->before || !records->sole || records->is_refused)
		return;
	if (rename(records->path, records->sole) == 0)
		records->path = records->sole;
}

const char *records_path(const struct records *records)
{
	return records->is_refused ? "" : records->path;
}

/* Both parts or neither; 0 or an errno. */
static int write_whole(int fd, const struct iovec parts[2], off_t before)
{
	ssize_t written = writev(fd, parts, 2);
	int error = 0;

	if (written < 0)
		error = errno;
	else if ((size_t)written < parts[0].iov_len + parts[1].iov_len)
		error = ENOSPC;
	if (error && ftruncate(fd, before) != 0)
		error = errno;
	return error;
}

/* To a file that stays in whole records, and that is ours; 0 or an errno, EEXIST: it is
 * another's. */
static int append(const struct records *records, const struct event *piece,
		  const struct event *events, unsigned n)
{
	struct iovec parts[2] = {{(void *)(uintptr_t)piece, sizeof(*piece)},
				 {(void *)(uintptr_t)events, n * sizeof(*events)}};
	int fd = open(records->path, O_WRONLY | O_APPEND | O_CLOEXEC), error;
	struct stat found;

	if (fd < 0)
		return errno;
	if (fstat(fd, &found) != 0)
		error = errno;
	else if (found.st_dev != records->device || found.st_ino != records->inode)
		error = EEXIST;
	else
		error = write_whole(fd, parts, found.st_size);
	if (close(fd) != 0 && !error)
		error = errno;
	return error;
}

static void take(struct event_sink *sink, int ring, const struct event *events,
		 unsigned n)
{
	struct records *records = (struct records *)(void *)sink;
	struct event piece = {.date_s = events[0].date_s,
			      .kind = EVENT_PIECE,
			      .worker = EVENT_NO_WORKER,
			      .n = n,
			      .id = (uint64_t)ring};
	int error;

	if (!records->is_refused) {
		error = append(records, &piece, events, n);
		if (error)
			refuse(records, records->path, error);
	}
	if (records->is_refused)
		records->nlost += n;
	for (unsigned i = 0; i < n; i++)
		if (events[i].kind == EVENT_RANK)
			rename_for(records, &events[i]);
}

static int create(struct records *records)
{
	int fd, error = 0;
	struct stat made;

	if (mkdir(records->directory, 0777) != 0 && errno != EEXIST)
		return errno;
	fd = open(records->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	if (fstat(fd, &made) == 0) {
		records->device = made.st_dev;
		records->inode = made.st_ino;
	} else {
		error = errno;
	}
	close(fd);
	return error;
}

struct records *records_open(const struct records_wish *wish)
{
	struct records *records = orr_alloc(sizeof(*records));
	int error;

	records->directory = orr_strdup(wish->directory);
	records->name = wish->name;
	records->knob = wish->knob;
	records->life = wish->life;
	records->path = records->before = path_of(records, wish->name.before, -1);
	if (wish->name.is_settled)
		records->sole = path_of(records, wish->name.stem,
					wish->name.is_numbered ? 0 : -1);
	records->rank = ORR_NO_RANK;
	records->told = wish->told;
	/* Of these only the dates matter. */
	records->sink.kinds =
		EVENT_ALL &
		~(EVENT_BIT(EVENT_TASK_TAKEN) | EVENT_BIT(EVENT_TASK_RELEASING) |
		  EVENT_BIT(EVENT_TASK_RELEASED) | EVENT_BIT(EVENT_TASK_CALLING) |
		  EVENT_BIT(EVENT_TASK_FLOPS) | EVENT_BIT(EVENT_TASK_JOULES));
	records->sink.take = take;
	error = create(records);
	if (error)
		refuse(records, records->path, error);
	return records;
}

struct event_sink *records_sink(struct records *records)
{
	return &records->sink;
}

void records_close(struct records *records)
{
	if (records->nlost)
		orr_complain(records->rank, "%s: %llu records of events were lost",
			     records->knob, (unsigned long long)records->nlost);
	records_settle(records);
	free(records->sole);
	free(records->directory);
	free(records->before);
	free(records->ranked);
	free(records);
}
