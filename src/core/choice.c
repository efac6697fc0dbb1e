/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* While it is made. */
struct making {
	const struct node *node;
	struct choice *choice;
	int there, quiet;
};

static void add(struct choice *choice, int id)
{
	for (int i = 0; i < choice->n; i++)
		if (choice->ids[i] == id)
			return; /* A device has one worker. */
	if (choice->n < STARPU_MAXCUDADEVS)
		choice->ids[choice->n++] = id;
}

static void complain_id(const struct making *making, const char *text)
{
	if (!making->quiet)
		orr_complain(
			making->node->rank,
			"%s is not the number of a CUDA device: expected 0 to %d, or a "
			"range (STARPU_WORKERS_CUDAID, conf.workers_cuda_gpuid); it is "
			"left out",
			text, making->there - 1);
}

/* "3", "0-2" or "1-": 1 and what it says, as far as there are devices; else 0. */
static int read_range(const char *word, int there, long *first, long *last)
{
	char *end;

	*first = *last = strtol(word, &end, 10);
	if (end == word || *first < 0 || *first >= there)
		return 0;
	if (*end != '-')
		return *end == '\0';
	word = end + 1;
	*last = there - 1;
	if (*word)
		*last = strtol(word, &end, 10);
	else
		end++;
	return *end == '\0' && *last >= *first && *last < there;
}

static void add_listed(const struct making *making, const char *text)
{
	const char *at = text + strspn(text, " ,");

	while (*at) {
		long first, last;
		char word[32];
		size_t n = strcspn(at, " ,");

		snprintf(word, sizeof(word), "%.*s", (int)(n < 30 ? n : 30), at);
		if (!read_range(word, making->there, &first, &last))
			complain_id(making, word);
		else
			for (long id = first; id <= last; id++)
				add(making->choice, (int)id);
		at += n;
		at += strspn(at, " ,");
	}
}

/* As many as are wanted (negative: as there are). */
static void add_numbers(const struct making *making, const unsigned *ids, int wanted)
{
	int n = wanted < 0 ? making->there : wanted;
	char word[32];

	for (int i = 0; i < n && i < STARPU_NMAXWORKERS; i++) {
		snprintf(word, sizeof(word), "%u", ids[i]);
		if (ids[i] < (unsigned)making->there)
			add(making->choice, (int)ids[i]);
		else
			complain_id(making, word);
	}
}

static void limit(const struct making *making, int wanted)
{
	struct choice *choice = making->choice;

	if (wanted < 0)
		return;
	if (wanted <= choice->n)
		choice->n = wanted;
	else if (!making->quiet)
		orr_complain(making->node->rank,
			     "%d CUDA workers asked for (STARPU_NCUDA, conf.ncuda): %d "
			     "device%s; going on with %d",
			     wanted, choice->n, choice->n == 1 ? "" : "s", choice->n);
}

int choice_is_made(const struct node *node)
{
	return (node->conf && node->conf->use_explicit_workers_cuda_gpuid) ||
	       *node_knobs(node)->workers_cudaid;
}

static int is_listed_by_application(const struct starpu_conf *conf, const char *text)
{
	return conf && conf->use_explicit_workers_cuda_gpuid &&
	       (!*text || conf->precedence_over_environment_variables);
}

void choice_make(const struct node *node, int there, int quiet, struct choice *choice)
{
	const struct making making = {node, choice, there, quiet};
	const struct starpu_conf *conf = node->conf;
	const char *text = node_knobs(node)->workers_cudaid;
	int wanted = conf ? conf->ncuda : -1;

	choice->n = 0;
	if (is_listed_by_application(conf, text))
		add_numbers(&making, conf->workers_cuda_gpuid, wanted);
	else if (*text)
		add_listed(&making, text);
	else
		for (int i = 0; i < there; i++)
			add(choice, i);
	limit(&making, wanted);
}
