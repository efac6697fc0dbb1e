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
	char *directory, *path;
	int life, rank;
	int *told;
	int is_refused; /* nothing more is written */
	uint64_t nlost;
};

/* Owned by the caller. */
static char *path_of(const char *directory, const char *name, int life)
{
	size_t bytes = strlen(directory) + strlen(name) + 32;
	char *path = orr_alloc(bytes);

	if (life > 1)
		snprintf(path, bytes, "%s/%s.%d.events", directory, name, life);
	else
		snprintf(path, bytes, "%s/%s.events", directory, name);
	return path;
}

static void refuse(struct records *records, const char *path, int error)
{
	records->is_refused = 1;
	if (*records->told)
		return;
	*records->told = 1;
	orr_complain(records->rank,
		     "ORRERY_EVENTS: cannot write %s: %s; the run goes on, records of "
		     "events are lost from here on",
		     path, strerror(error));
}

/* The name says the rank once it is known. */
static void rename_for(struct records *records, const struct event *event)
{
	char name[32], *path;

	records->rank = (int)event->id;
	snprintf(name, sizeof(name), "node-%d", records->rank);
	path = path_of(records->directory, name, records->life);
	if (!records->is_refused && rename(records->path, path) != 0)
		refuse(records, path, errno);
	free(records->path);
	records->path = path;
}

/* Bytes that are not there, of a file that stays in whole records; 0 or an errno. */
static int append(const char *path, const struct event *piece,
		  const struct event *records, unsigned n)
{
	struct iovec parts[2] = {{(void *)(uintptr_t)piece, sizeof(*piece)},
				 {(void *)(uintptr_t)records, n * sizeof(*records)}};
	size_t bytes = parts[0].iov_len + parts[1].iov_len;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), error = 0;
	struct stat before;
	ssize_t written;

	if (fd < 0)
		return errno;
	if (fstat(fd, &before) != 0)
		before.st_size = -1;
	written = writev(fd, parts, 2);
	if (written < 0)
		error = errno;
	else if ((size_t)written < bytes)
		error = ENOSPC;
	if (error && before.st_size >= 0 && ftruncate(fd, before.st_size) != 0)
		error = errno;
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
		error = append(records->path, &piece, events, n);
		if (error)
			refuse(records, records->path, error);
	}
	if (records->is_refused)
		records->nlost += n;
	for (unsigned i = 0; i < n; i++)
		if (events[i].kind == EVENT_RANK)
			rename_for(records, &events[i]);
}

static int create(const struct records *records)
{
	int fd;

	if (mkdir(records->directory, 0777) != 0 && errno != EEXIST)
		return errno;
	fd = open(records->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

struct records *records_open(const struct records_wish *wish)
{
	struct records *records = orr_alloc(sizeof(*records));
	int error;

	records->directory = orr_strdup(wish->directory);
	records->path = path_of(wish->directory, wish->name, wish->life);
	records->life = wish->life;
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
		orr_complain(records->rank,
			     "ORRERY_EVENTS: %llu records of events were lost",
			     (unsigned long long)records->nlost);
	free(records->directory);
	free(records->path);
	free(records);
}
