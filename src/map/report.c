/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const struct map_tree *tree_of(const struct map_job *job,
				      const struct map_place *place)
{
	return job->machine->nodes[place->node].tree;
}

/* Does an object of the level begin at the PU, other than the first one? */
static int begins(const struct map_tree *tree, enum map_level level, int pu)
{
	const int *of_pu = tree->levels[level].of_pu;

	return pu > 0 && of_pu[pu] != of_pu[pu - 1];
}

/* ---- Ranks by node ---- */

/* Ranks by the PU of their place: heads by PU, and the next one by rank. */
struct ranks {
	int *heads, *next;
};

static struct ranks *ranks_by_node(const struct map_job *job)
{
	int nnodes = job->machine->nnodes;
	struct ranks *nodes = orr_alloc((size_t)nnodes * sizeof(*nodes));
	int *next = orr_alloc((size_t)job->nplaces * sizeof(*next) + 1);

	for (int rank = job->nplaces - 1; rank >= 0; rank--) {
		const struct map_place *place = &job->places[rank];
		struct ranks *node = &nodes[place->node];

		if (!node->heads)
			node->heads = orr_alloc((size_t)tree_of(job, place)->npus *
						sizeof(*node->heads));
		next[rank] = node->heads[place->pu];
		node->heads[place->pu] = rank + 1;
	}
	for (int i = 0; i < nnodes; i++)
		nodes[i].next = next;
	return nodes;
}

static void free_ranks(struct ranks *nodes, int nnodes)
{
	free(nodes[0].next);
	for (int i = 0; i < nnodes; i++)
		free(nodes[i].heads);
	free(nodes);
}

static void print_node(const struct map_node *node, const struct ranks *ranks, FILE *out)
{
	const struct map_tree *tree = node->tree;
	int in_core = 0;

	fprintf(out, "%s [", node->name);
	for (int pu = 0; pu < tree->npus; pu++) {
		int head = ranks->heads ? ranks->heads[pu] : 0;

		if (begins(tree, LEVEL_CORE, pu)) {
			fprintf(out, "%s%s", in_core ? "" : ".",
				begins(tree, LEVEL_SOCKET, pu) ? "][" : " ");
			in_core = 0;
		}
		for (; head; head = ranks->next[head - 1])
			fprintf(out, "%s%d", in_core++ ? "," : "", head - 1);
	}
	fprintf(out, "%s]\n", in_core ? "" : ".");
}

void report_ranks(const struct map_job *job, FILE *out)
{
	struct ranks *nodes = ranks_by_node(job);

	for (int i = 0; i < job->machine->nnodes; i++)
		print_node(&job->machine->nodes[i], &nodes[i], out);
	free_ranks(nodes, job->machine->nnodes);
}

/* ---- Bindings ---- */

static void mark(void *arg, int pu)
{
	char *bound = arg;

	bound[pu] = 1;
}

/* By PU: is it bound?  The caller frees it. */
static char *bound_pus(const struct map_job *job, const struct map_place *place)
{
	char *bound = orr_alloc((size_t)tree_of(job, place)->npus);

	place_each_pu(job, place, mark, bound);
	return bound;
}

void report_binding(const struct map_job *job, const struct map_place *place, char *text)
{
	const struct map_tree *tree = tree_of(job, place);
	char *bound = bound_pus(job, place);

	*text++ = '[';
	for (int pu = 0; pu < tree->npus; pu++) {
		if (begins(tree, LEVEL_SOCKET, pu))
			text += sprintf(text, "][");
		else if (begins(tree, LEVEL_CORE, pu))
			*text++ = '/';
		*text++ = bound[pu] ? 'B' : '.';
	}
	strcpy(text, "]");
	free(bound);
}

void report_bindings(const struct map_job *job, FILE *out)
{
	int widest = 0;
	char *text;

	for (int i = 0; i < job->machine->ntrees; i++)
		if (job->machine->trees[i]->npus > widest)
			widest = job->machine->trees[i]->npus;
	text = orr_alloc((size_t)widest * 4 + 8);
	for (int rank = 0; rank < job->nplaces; rank++) {
		const struct map_place *place = &job->places[rank];

		report_binding(job, place, text);
		fprintf(out, "rank %d %s %s\n", rank,
			job->machine->nodes[place->node].name, text);
	}
	free(text);
}

/* ---- Lists of numbers ---- */

/* Collects numbers that ascend as "0-3,8". */
struct list {
	FILE *out;
	int first, last; /* of the present range; -1: none yet */
	int nranges;
};

static void end_range(struct list *list)
{
	if (list->last < 0)
		return;
	fprintf(list->out, list->last > list->first ? "%s%d-%d" : "%s%d",
		list->nranges++ ? "," : "", list->first, list->last);
}

static void add_number(struct list *list, int number)
{
	if (list->last >= 0 && number >= list->last && number <= list->last + 1) {
		list->last = number;
		return;
	}
	end_range(list);
	list->first = list->last = number;
}

/* The numbers of marked PUs, in place of which other numbers may be printed. */
static void print_list(const char *bound, const int *numbers, int npus, FILE *out)
{
	struct list list = {.out = out, .first = -1, .last = -1};

	for (int pu = 0; pu < npus; pu++)
		if (bound[pu])
			add_number(&list, numbers[pu]);
	end_range(&list);
}

/* ---- Tables ---- */

static int place_of_pu(const struct map_tree *tree, enum map_level level, int pu)
{
	return tree->levels[level].of_pu[pu];
}

void report_table(const struct map_job *job, FILE *out)
{
	fprintf(out, "rank,node,socket,core,thread,cpus\n");
	for (int rank = 0; rank < job->nplaces; rank++) {
		const struct map_place *place = &job->places[rank];
		const struct map_tree *tree = tree_of(job, place);
		int *os = orr_alloc((size_t)tree->npus * sizeof(*os));
		char *bound = bound_pus(job, place);

		for (int pu = 0; pu < tree->npus; pu++)
			os[pu] = (int)tree->pus[pu].os;
		fprintf(out, "%d,%s,%d,%d,%d,\"", rank,
			job->machine->nodes[place->node].name,
			place_of_pu(tree, LEVEL_SOCKET, place->pu),
			place_of_pu(tree, LEVEL_CORE, place->pu), place->pu);
		print_list(bound, os, tree->npus, out);
		fprintf(out, "\"\n");
		free(bound);
		free(os);
	}
}

void report_hosts(const struct map_job *job, FILE *out)
{
	for (int rank = 0; rank < job->nplaces; rank++)
		fprintf(out, "%s\n", job->machine->nodes[job->places[rank].node].name);
}

/* The core of each end of a binding, for pictures. */
static void print_bound_cores(const struct map_job *job, const struct map_place *place,
			      FILE *out)
{
	const struct map_tree *tree = tree_of(job, place);
	struct list list = {.out = out, .first = -1, .last = -1};
	struct map_piece piece = {place->first, place->count, place->next};

	for (;;) {
		for (int pu = piece.first; pu < piece.first + piece.count; pu++)
			add_number(&list, place_of_pu(tree, LEVEL_CORE, pu));
		if (piece.next < 0)
			break;
		piece = job->pieces[piece.next];
	}
	end_range(&list);
}

static int tree_index(const struct map_machine *machine, const struct map_tree *tree)
{
	int i = 0;

	while (machine->trees[i] != tree)
		i++;
	return i;
}

void report_picture(const struct map_job *job, FILE *out)
{
	const struct map_machine *machine = job->machine;

	for (int i = 0; i < machine->ntrees; i++) {
		const struct map_tree *tree = machine->trees[i];
		const struct map_objects *cores = &tree->levels[LEVEL_CORE];

		fprintf(out, "kind");
		for (int c = 0; c < cores->count; c++)
			fprintf(out, " %d:%d",
				place_of_pu(tree, LEVEL_SOCKET, cores->first[c]),
				cores->first[c + 1] - cores->first[c]);
		fprintf(out, "\n");
	}
	for (int i = 0; i < machine->nnodes; i++)
		fprintf(out, "node %d %s\n", tree_index(machine, machine->nodes[i].tree),
			machine->nodes[i].name);
	for (int rank = 0; rank < job->nplaces; rank++) {
		const struct map_place *place = &job->places[rank];

		fprintf(out, "rank %d %d ", place->node,
			place_of_pu(tree_of(job, place), LEVEL_CORE, place->pu));
		print_bound_cores(job, place, out);
		fprintf(out, "\n");
	}
}

/* ---- Rankfile ---- */

static int splits_core(const struct map_job *job, const struct map_place *place)
{
	const struct map_tree *tree = tree_of(job, place);
	char *bound = bound_pus(job, place);
	int splits = 0;

	for (int pu = 1; pu < tree->npus && !splits; pu++)
		splits = !begins(tree, LEVEL_CORE, pu) && bound[pu] != bound[pu - 1] &&
			 !tree->pus[pu].is_hidden && !tree->pus[pu - 1].is_hidden;
	free(bound);
	return splits;
}

int report_splits_cores(const struct map_job *job)
{
	for (int rank = 0; rank < job->nplaces; rank++)
		if (splits_core(job, &job->places[rank]))
			return 1;
	return 0;
}

/* By PU: the number of its core, or its own, among those that Open MPI sees. */
static int *visible_numbers(const struct map_tree *tree, int by_thread)
{
	int *numbers = orr_alloc((size_t)tree->npus * sizeof(*numbers));
	int next = -1, last = -1;

	for (int pu = 0; pu < tree->npus; pu++) {
		int core = place_of_pu(tree, LEVEL_CORE, pu);

		if (!tree->pus[pu].is_hidden && (by_thread || core != last)) {
			next++;
			last = core;
		}
		numbers[pu] = next;
	}
	return numbers;
}

void report_rankfile(const struct map_job *job, FILE *out)
{
	const struct map_machine *machine = job->machine;
	int by_thread = report_splits_cores(job);
	int **numbers = orr_alloc((size_t)machine->ntrees * sizeof(*numbers));

	for (int i = 0; i < machine->ntrees; i++)
		numbers[i] = visible_numbers(machine->trees[i], by_thread);
	if (by_thread)
		fprintf(out,
			"# slots are hardware threads: mpirun --use-hwthread-cpus\n");
	for (int rank = 0; rank < job->nplaces; rank++) {
		const struct map_place *place = &job->places[rank];
		const struct map_tree *tree = tree_of(job, place);
		char *bound = bound_pus(job, place);

		fprintf(out, "rank %d=%s slot=", rank, machine->nodes[place->node].name);
		print_list(bound, numbers[tree_index(machine, tree)], tree->npus, out);
		fprintf(out, "\n");
		free(bound);
	}
	for (int i = 0; i < machine->ntrees; i++)
		free(numbers[i]);
	free(numbers);
}
