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

/* ---- cores ------------------------------------------------------------ */

struct choice_places choice_places(const struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	const struct starpu_conf *conf = node->conf;
	struct choice_places places = {"STARPU_WORKERS_CPUID", "hardware threads",
				       knobs->workers_cpuid, 0, NULL};

	if (!*knobs->workers_cpuid && *knobs->workers_coreid)
		places = (struct choice_places){"STARPU_WORKERS_COREID", "cores",
						knobs->workers_coreid, 1, NULL};
	if (conf && conf->use_explicit_workers_bindid &&
	    (!*places.text || conf->precedence_over_environment_variables)) {
		places.variable = "conf.workers_bindid";
		places.ids = conf->workers_bindid;
	}
	return places;
}

/* "0 1 4-6 8-": integers and ranges, the last range perhaps open. */
void choice_read_places(const struct node *node, const struct choice_places *places,
			int there, void (*add_place)(void *arg, int id), void *arg)
{
	const char *at = places->text + strspn(places->text, " ,");

	while (*at) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (end != at && *end == '-') {
			at = end + 1;
			last = strtol(at, &end, 10);
			if (end == at)
				last = there - 1;
		} else if (end == at) {
			last = -1;
		}
		if (first < 0 || last < first || last >= there)
			orr_die(node->rank,
				"%s is \"%s\": expected logical %s from 0 to %d, such as "
				"\"0 2 4-6\"",
				places->variable, places->text, places->what, there - 1);
		for (long id = first; id <= last; id++)
			add_place(arg, (int)id);
		at = end + strspn(end, " ,");
	}
}

void choice_cores(const struct node *node, int there, int *told,
		  void (*add_place)(void *arg, int id), void *arg)
{
	struct choice_places places = choice_places(node);
	int wanted = node->conf && node->conf->ncpus >= 0 ? node->conf->ncpus : there;

	if (!places.ids) {
		choice_read_places(node, &places, there, add_place, arg);
		return;
	}
	for (int i = 0; i < wanted && i < STARPU_NMAXWORKERS; i++) {
		int is_there = places.ids[i] < (unsigned)there;

		if (!is_there && (*told)++ == 0)
			orr_complain(node->rank,
				     "conf.workers_bindid[%d] is %u: expected a logical "
				     "core from 0 to %d; that worker is on core %d",
				     i, places.ids[i], there - 1, i % there);
		add_place(arg, is_there ? (int)places.ids[i] : i % there);
	}
}

void choice_tell_shared(const struct node *node)
{
	struct choice_places places = choice_places(node);
	int n = node->nworkers_of[STARPU_CPU_WORKER], first, i, core;

	if (!node->machine->is_first || node_knobs(node)->silent ||
	    world_get()->is_shared_told || (!places.ids && !*places.text))
		return;
	for (i = 1; i < n; i++) {
		core = plat_worker_bindid(node->plat, i);
		for (first = 0; first < i; first++)
			if (core >= 0 && plat_worker_bindid(node->plat, first) == core)
				break;
		if (first < i)
			break;
	}
	if (i >= n)
		return;
	world_get()->is_shared_told = 1;
	orr_complain(node->rank,
		     "%s puts CPU workers %d and %d on core %d: expected a core for each "
		     "of %d; name others, or say how many workers there are to be "
		     "(STARPU_NCPU)%s; not said with STARPU_SILENT=1",
		     places.variable, first, i, core, n,
		     node->machine->predicts
			     ? ". Here each takes the time that it takes alone"
			     : "");
}
