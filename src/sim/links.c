/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "links.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>

#include "base/decimal.h"

/* "switch," before the GPUs of a group. */
static const char switch_word[] = "switch,";

/* One of the groups. */
struct group {
	int gpus[STARPU_MAXCUDADEVS], n, is_switch;
	double bytes_per_s, latency_s, ncrossings;
};

/* A table while its text is read; wrong says what is. */
struct reading {
	struct links *links;
	char wrong[192];
};

static int fail(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->wrong, sizeof(reading->wrong), format, args);
	va_end(args);
	return -EINVAL;
}

static int read_gpu(struct reading *reading, struct group *group, const char **at)
{
	char *end;
	long number = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;

	if (number < 0 || (*end != ',' && *end != ':'))
		return fail(reading, "a group is no list of GPUs");
	if (number >= reading->links->ngpus)
		return fail(reading, "there is no GPU %ld, they are 0 to %d", number,
			    reading->links->ngpus - 1);
	for (int i = 0; i < group->n; i++)
		if (group->gpus[i] == number)
			return fail(reading, "GPU %ld is twice in a group", number);
	group->gpus[group->n++] = (int)number;
	*at = end + (*end == ',');
	return 0;
}

/* Behind a ":", from least to most. */
static int read_figure(struct reading *reading, const char **at, double least,
		       double most, double *value)
{
	static const char expected[] = "bytes per second, a latency in seconds or the "
				       "crossings of the host's side, 0 to 2";
	char *end;

	*value = decimal_read(*at + 1, &end);
	if (end == *at + 1 || !strchr(":;", *end) || !(*value >= least && *value <= most))
		return fail(reading, "\"%.*s\" is not %s, without a unit",
			    (int)strcspn(*at + 1, ":;"), *at + 1, expected);
	*at = end;
	return 0;
}

static int read_group(struct reading *reading, struct group *group, const char **at)
{
	size_t length = sizeof(switch_word) - 1;

	*group = (struct group){.latency_s = -1, .ncrossings = -1};
	group->is_switch = strncmp(*at, switch_word, length) == 0;
	*at += group->is_switch ? length : 0;
	do
		if (read_gpu(reading, group, at) < 0)
			return -EINVAL;
	while (**at != ':');
	if (group->n < 2)
		return fail(reading, "GPU %d is alone in a group", group->gpus[0]);
	if (read_figure(reading, at, 1, MACHINE_MOST, &group->bytes_per_s) < 0)
		return -EINVAL;
	if (strncmp(*at, "::", 2) == 0)
		(*at)++; /* The latency is that of all. */
	else if (**at == ':' &&
		 read_figure(reading, at, 0, MACHINE_MOST, &group->latency_s) < 0)
		return -EINVAL;
	if (**at == ':' && read_figure(reading, at, 0, 2, &group->ncrossings) < 0)
		return -EINVAL;
	if (**at == ':')
		return fail(reading, "a group has a fourth figure");
	*at += **at == ';';
	return 0;
}

static short add_links(struct links *links, int n, double bytes_per_s)
{
	int first = links->n;

	links->n += n;
	links->bytes_per_s = orr_realloc(links->bytes_per_s,
					 (size_t)links->n * sizeof(*links->bytes_per_s));
	for (int i = first; i < links->n; i++)
		links->bytes_per_s[i] = bytes_per_s;
	return (short)first;
}

/* Links of a switch: out of each GPU of the group, then into each. */
static int add_group(struct reading *reading, const struct group *group)
{
	struct links *links = reading->links;
	int n = group->n;
	short first = group->is_switch ? add_links(links, 2 * n, group->bytes_per_s) : 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			int from = group->gpus[i], to = group->gpus[k];
			struct links_way *way = &links->ways[from * links->ngpus + to];

			if (i == k)
				continue;
			if (way->out >= 0)
				return fail(reading,
					    "GPUs %d and %d are together twice: say once "
					    "what all links between them reach",
					    from, to);
			way->out = way->in =
				group->is_switch
					? (short)(first + i)
					: add_links(links, 1, group->bytes_per_s);
			if (group->is_switch)
				way->in = (short)(first + n + k);
			way->latency_s = group->latency_s;
			way->ncrossings = (short)group->ncrossings;
		}
	return 0;
}

static void links_free(struct links *links)
{
	free(links->bytes_per_s);
	free(links->text);
	free(links);
}

/* A new table; NULL after a message. */
static struct links *read_text(struct plat *plat, const char *text, int ngpus)
{
	size_t nways = (size_t)ngpus * (size_t)ngpus;
	struct reading reading = {.wrong = ""};
	struct links *links = orr_alloc(sizeof(*links) + nways * sizeof(links->ways[0]));
	const char *at = text;
	struct group group;

	reading.links = links;
	links->ngpus = ngpus;
	links->text = orr_strdup(text);
	for (size_t i = 0; i < nways; i++)
		links->ways[i].out = links->ways[i].in = -1;
	do
		if (read_group(&reading, &group, &at) < 0 ||
		    add_group(&reading, &group) < 0)
			break;
	while (*at);
	if (!reading.wrong[0])
		return links;
	orr_complain(plat->node->rank,
		     "platform file: property \"gpu_links\" of host %s is \"%s\": %s; "
		     "expected groups of GPUs with bytes per second each way, and ; "
		     "between: \"0,1:50e9;2,3:25e9:2e-6\", or \"switch,0,1,2,3:450e9\"",
		     sg_host_get_name(plat->host), text, reading.wrong);
	links_free(links);
	return NULL;
}

int links_read(struct plat *plat, int ngpus)
{
	const char *text = machine_text(plat, "gpu_links");
	struct links *links = plat->sim->links;

	if (!text || ngpus == 0)
		return 0;
	while (links && (links->ngpus != ngpus || strcmp(links->text, text) != 0))
		links = links->next;
	if (!links) {
		links = read_text(plat, text, ngpus);
		if (!links)
			return -ENODEV;
		links->next = plat->sim->links;
		plat->sim->links = links;
	}
	plat->links = links;
	return 0;
}

const struct links_way *links_way(const struct links *links, int from, int to)
{
	const struct links_way *way =
		links ? &links->ways[from * links->ngpus + to] : NULL;

	return way && way->out >= 0 ? way : NULL;
}
