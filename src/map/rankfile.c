/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/rankfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { MAX_LINE = 8192, MAX_RANKS = 1 << 24 };

struct reader {
	struct map_job *job;
	const char *path;
	int line, by_thread;
	struct map_says *says;
	struct map_place place; /* of the present line */
	int last_piece;
	char *is_given; /* by rank */
	int ngiven, room;
};

#define REFUSE(reader, format, ...)                                                      \
	map_refuse((reader)->says, "%s:%d: " format, (reader)->path, (reader)->line,     \
		   ##__VA_ARGS__)

/* Adds the objects first to last of a level, within the PUs from `from` to `to` - 1. */
static int add_objects(struct reader *reader, enum map_level level, const int range[2],
		       const int within[2])
{
	const struct map_node *node = &reader->job->machine->nodes[reader->place.node];
	const struct map_objects *objects = &node->tree->levels[level];
	int base = objects->of_pu[within[0]], end = objects->of_pu[within[1] - 1];
	int last = range[1] < 0 ? end - base : range[1], pu, count;
	struct map_piece *piece;

	if (range[0] > last || base + last > end)
		return REFUSE(reader,
			      "node %s has %d of the level %s there, slot %d does "
			      "not exist; expected 0 to %d",
			      node->name, end - base + 1, level_letter(level),
			      range[0] > last ? range[0] : last, end - base);
	pu = objects->first[base + range[0]];
	count = objects->first[base + last + 1] - pu;
	if (reader->place.count == 0) {
		reader->place.pu = reader->place.first = pu;
		reader->place.count = count;
		return 0;
	}
	reader->job->pieces =
		orr_realloc(reader->job->pieces, (size_t)(reader->job->npieces + 1) *
							 sizeof(*reader->job->pieces));
	piece = &reader->job->pieces[reader->job->npieces];
	*piece = (struct map_piece){pu, count, -1};
	if (reader->last_piece < 0)
		reader->place.next = reader->job->npieces;
	else
		reader->job->pieces[reader->last_piece].next = reader->job->npieces;
	reader->last_piece = reader->job->npieces++;
	return 0;
}

/* "3", "0-2" or "*"; the last is -1 for "*". */
static int read_range(const char **at, int range[2])
{
	char *end;

	if (**at == '*') {
		(*at)++;
		range[0] = 0;
		range[1] = -1;
		return 0;
	}
	range[0] = range[1] = (int)strtol(*at, &end, 10);
	if (end == *at || range[0] < 0)
		return -EINVAL;
	*at = end;
	if (**at != '-')
		return 0;
	range[1] = (int)strtol(*at + 1, &end, 10);
	if (end == *at + 1 || range[1] < range[0])
		return -EINVAL;
	*at = end;
	return 0;
}

/* The PUs of the sockets first to last. */
static int socket_pus(struct reader *reader, const int range[2], int within[2])
{
	const struct map_node *node = &reader->job->machine->nodes[reader->place.node];
	const struct map_objects *sockets = &node->tree->levels[LEVEL_SOCKET];
	int last = range[1] < 0 ? sockets->count - 1 : range[1];

	if (last >= sockets->count)
		return REFUSE(reader, "node %s has no socket %d; expected 0 to %d",
			      node->name, last, sockets->count - 1);
	within[0] = sockets->first[range[0]];
	within[1] = sockets->first[last + 1];
	return 0;
}

static int read_slots(struct reader *reader, const char *text)
{
	const struct map_node *node = &reader->job->machine->nodes[reader->place.node];
	enum map_level level = reader->by_thread ? LEVEL_THREAD : LEVEL_CORE;
	int within[2] = {0, node->tree->npus}, range[2];
	const char *at = text;

	for (;;) {
		if (read_range(&at, range) < 0)
			break;
		if (*at == ':') {
			at++;
			level = LEVEL_CORE;
			if (socket_pus(reader, range, within) < 0)
				return -EINVAL;
			continue;
		}
		if (add_objects(reader, level, range, within) < 0)
			return -EINVAL;
		if (!*at)
			return 0;
		if (*at != ',' && *at != ';')
			break;
		if (*at == ';') { /* sockets anew */
			within[0] = 0;
			within[1] = node->tree->npus;
		}
		at++;
	}
	return REFUSE(reader,
		      "slot=%s is not understood at \"%s\"; expected cores such as "
		      "0-2,5 or a socket and its cores such as 1:0-2",
		      text, at);
}

static int find_node(struct reader *reader, const char *name)
{
	const struct map_machine *machine = reader->job->machine;
	char *end;
	long index;

	if (strncmp(name, "+n", 2) == 0) {
		index = strtol(name + 2, &end, 10);
		if (end != name + 2 && !*end && index >= 0 && index < machine->nnodes)
			return (int)index;
	}
	/* Ranks of one node usually stand together. */
	if (strcmp(machine->nodes[reader->place.node].name, name) == 0)
		return reader->place.node;
	for (int i = 0; i < machine->nnodes; i++)
		if (strcmp(machine->nodes[i].name, name) == 0)
			return i;
	return REFUSE(reader,
		      "the machine has no node \"%s\" (its first is %s); expected "
		      "one of its %d nodes, or +n0 to +n%d",
		      name, machine->nodes[0].name, machine->nnodes, machine->nnodes - 1);
}

static void make_room(struct reader *reader, int rank)
{
	int room = reader->room ? reader->room : 16;

	if (rank < reader->room)
		return;
	while (room <= rank)
		room *= 2;
	reader->job->places = orr_realloc(reader->job->places,
					  (size_t)room * sizeof(*reader->job->places));
	reader->is_given = orr_realloc(reader->is_given, (size_t)room);
	memset(reader->is_given + reader->room, 0, (size_t)(room - reader->room));
	reader->room = room;
}

static int read_line(struct reader *reader, const char *line)
{
	static const char form[] = "expected \"rank N=HOST slot=LIST\"";
	char host[256], slots[MAX_LINE];
	int rank, node, length = 0;

	if (sscanf(line, " rank %d = %255s slot = %8191s %n", &rank, host, slots,
		   &length) < 3 ||
	    line[length])
		return REFUSE(reader, "the line is not understood; %s", form);
	if (rank < 0 || rank >= MAX_RANKS)
		return REFUSE(reader, "rank %d is out of range; expected 0 to %d", rank,
			      MAX_RANKS - 1);
	node = find_node(reader, host);
	if (node < 0)
		return -EINVAL;
	reader->place = (struct map_place){.node = node, .next = -1};
	reader->last_piece = -1;
	if (read_slots(reader, slots) < 0)
		return -EINVAL;
	make_room(reader, rank);
	if (reader->is_given[rank])
		return REFUSE(reader, "rank %d stands a second time; give each once",
			      rank);
	reader->is_given[rank] = 1;
	reader->job->places[rank] = reader->place;
	if (rank >= reader->job->nplaces)
		reader->job->nplaces = rank + 1;
	reader->ngiven++;
	return 0;
}

static int read_lines(struct reader *reader, FILE *file)
{
	char line[MAX_LINE];
	int ret = 0;

	while (ret == 0 && fgets(line, sizeof(line), file)) {
		reader->line++;
		line[strcspn(line, "#\r\n")] = '\0';
		if (line[strspn(line, " \t")])
			ret = read_line(reader, line);
	}
	return ret;
}

int rankfile_read(struct map_job *job, const char *path, int by_thread,
		  struct map_says *says)
{
	struct reader reader = {
		.job = job, .path = path, .by_thread = by_thread, .says = says};
	FILE *file = fopen(path, "r");
	int ret;

	if (!file)
		return map_refuse(says, "rankfile %s cannot be read: %s", path,
				  strerror(errno));
	ORR_ASSERT(job->nplaces == 0);
	ret = read_lines(&reader, file);
	fclose(file);
	if (ret == 0 && reader.ngiven == 0)
		ret = map_refuse(says,
				 "rankfile %s has no ranks; expected lines such as "
				 "\"rank 0=node0 slot=0-3\"",
				 path);
	for (int i = 0; ret == 0 && i < job->nplaces; i++)
		if (!reader.is_given[i])
			ret = map_refuse(says,
					 "rankfile %s lacks rank %d of 0 to %d; give "
					 "each rank a line",
					 path, i, job->nplaces - 1);
	free(reader.is_given);
	return ret;
}
