/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/lama.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* ---- Which levels loop, in which order they nest, and how far they go ---- */

static int is_present(const struct map_machine *machine, enum map_level level)
{
	for (int i = 0; i < machine->ntrees; i++)
		if (machine->trees[i]->levels[level].is_present)
			return 1;
	return 0;
}

static int check_present(const struct map_job *job, enum map_level level,
			 const char *what, struct map_says *says)
{
	if (is_present(job->machine, level))
		return 0;
	return map_refuse(says,
			  "%s names %s (%s), and no node of this machine has one; choose "
			  "a level it has, or describe the machine with --topology",
			  what, level_letter(level), level_name(level));
}

static int check_levels(const struct map_job *job, struct map_says *says)
{
	const struct map_rules *rules = job->rules;
	int ret = check_present(job, rules->bind, "bind", says);

	if (ret == 0 && rules->by != NLEVELS)
		ret = check_present(job, rules->by, "--map-by", says);
	for (int i = 0; ret == 0 && i < NLEVELS; i++)
		if (rules->limits[i])
			ret = check_present(job, (enum map_level)i, "mppr", says);
	if (ret == 0 && rules->order == ORDER_BY)
		ret = check_present(job, rules->rank_by, "--rank-by", says);
	for (int i = LEVEL_GPU; ret == 0 && i <= LEVEL_NIC; i++)
		for (int k = 0; ret == 0 && k < rules->nloops; k++)
			if (rules->loops[k] == (enum map_level)i)
				ret = check_present(job, rules->loops[k], "map", says);
	return ret;
}

static long objects_in_all(const struct map_machine *machine, enum map_level level)
{
	long n = 0;

	for (int i = 0; i < machine->ntrees; i++)
		n += machine->trees[i]->levels[level].count;
	return n;
}

/*
 * Does level a, which loops earlier, stand above level b?  Wide levels have fewer objects
 * than those in them.  Of two that are the same on this machine (a core with a cache of
 * its own, a socket that is a NUMA node), the one that loops earlier is the one that
 * moves: the other one counts as one in it, and so does a level that is not there.
 */
static int stands_above(const struct map_machine *machine, enum map_level a,
			enum map_level b)
{
	long na = objects_in_all(machine, a), nb = objects_in_all(machine, b);

	if (a == LEVEL_NODE || b == LEVEL_NODE)
		return a == LEVEL_NODE;
	if (a == LEVEL_THREAD || b == LEVEL_THREAD)
		return b == LEVEL_THREAD;
	if (na != nb)
		return na < nb;
	return is_present(machine, a) || !is_present(machine, b);
}

static void sort_used(struct map_job *job)
{
	for (int i = 0; i < job->rules->nloops; i++) {
		enum map_level level = job->rules->loops[i];
		int k = job->nused++;

		while (k > 0 && !stands_above(job->machine, job->used[k - 1], level)) {
			job->used[k] = job->used[k - 1];
			k--;
		}
		job->used[k] = level;
	}
	ORR_ASSERT(job->used[0] == LEVEL_NODE);
}

/* Does each object of the level below lie in one of the level above? */
static int is_nested(const struct map_objects *above, const struct map_objects *below)
{
	for (int i = 0; i < below->count; i++)
		if (above->of_pu[below->first[i]] !=
		    above->of_pu[below->first[i + 1] - 1])
			return 0;
	return 1;
}

static int check_nesting(const struct map_job *job, struct map_says *says)
{
	for (int t = 0; t < job->machine->ntrees; t++)
		for (int i = 1; i < job->nused; i++) {
			enum map_level above = job->used[i - 1], below = job->used[i];
			const struct map_tree *tree = job->machine->trees[t];

			if (!is_nested(&tree->levels[above], &tree->levels[below]))
				return map_refuse(
					says,
					"map names %s and %s, and on these nodes one %s "
					"does not lie within one %s; leave one of the "
					"two letters out",
					level_letter(above), level_letter(below),
					level_name(below), level_name(above));
		}
	return 0;
}

static int children(const struct map_tree *tree, enum map_level above, int object,
		    enum map_level below, int *first)
{
	const struct map_objects *parents = &tree->levels[above];
	const struct map_objects *objects = &tree->levels[below];

	*first = objects->of_pu[parents->first[object]];
	return objects->of_pu[parents->first[object + 1] - 1] - *first + 1;
}

static void find_bounds(struct map_job *job)
{
	const struct map_machine *machine = job->machine;

	for (int i = 0; i < NLEVELS; i++)
		job->bounds[i] = job->steps[i] = 1;
	job->bounds[LEVEL_NODE] = machine->nnodes;
	job->steps[job->rules->bind] = job->rules->nbind;
	for (int t = 0; t < machine->ntrees; t++)
		for (int i = 1; i < job->nused; i++) {
			enum map_level above = job->used[i - 1], below = job->used[i];
			const struct map_tree *tree = machine->trees[t];

			for (int k = 0; k < tree->levels[above].count; k++) {
				int first, n = children(tree, above, k, below, &first);

				if (n > job->bounds[below])
					job->bounds[below] = n;
			}
		}
}

static int has_limits(const struct map_rules *rules)
{
	for (int i = 0; i < NLEVELS; i++)
		if (rules->limits[i])
			return 1;
	return 0;
}

/* Sharing a core or a thread is worth a word; sharing a whole socket is meant. */
static int notices_sharing(const struct map_rules *rules)
{
	return rules->bind >= LEVEL_CORE || rules->nbind > 1;
}

int map_open(struct map_job *job, const struct map_machine *machine,
	     const struct map_rules *rules, struct map_says *says)
{
	size_t nnodes = (size_t)machine->nnodes;
	int ret;

	*job = (struct map_job){.machine = machine, .rules = rules};
	if (machine->nnodes == 0)
		return map_refuse(says, "the machine has no nodes; give at least one");
	ret = check_levels(job, says);
	if (ret < 0)
		return ret;
	sort_used(job);
	ret = check_nesting(job, says);
	if (ret < 0)
		return ret;
	find_bounds(job);
	job->is_limited = has_limits(rules);
	job->counts = orr_alloc(nnodes * sizeof(*job->counts));
	job->users = orr_alloc(nnodes * sizeof(*job->users));
	return 0;
}

void map_close(struct map_job *job)
{
	for (int i = 0; i < (job->counts ? job->machine->nnodes : 0); i++) {
		free(job->counts[i]);
		free(job->users[i]);
	}
	free(job->counts);
	free(job->users);
	free(job->places);
	free(job->pieces);
	*job = (struct map_job){0};
}

/* ---- One coordinate ---- */

/* The PU that the coordinate leads to on its node; -1: there is none to use. */
static int resolve(const struct map_job *job)
{
	const struct map_node *node = &job->machine->nodes[job->at[LEVEL_NODE]];
	const struct map_tree *tree = node->tree;
	int object = 0;

	for (int i = 1; i < job->nused; i++) {
		enum map_level level = job->used[i];
		int first, n = children(tree, job->used[i - 1], object, level, &first);

		if (job->at[level] >= n)
			return -1;
		object = first + job->at[level];
		if (!tree->levels[level].is_real[object] &&
		    (level == LEVEL_GPU || level == LEVEL_NIC))
			return -1;
	}
	return node_allows(node, object) ? object
					 : -1; /* the last level is that of PUs */
}

/* The objects of a level that a row of PUs touches: first and behind the last. */
static void touched(const struct map_objects *objects, int first, int count, int range[2])
{
	range[0] = objects->of_pu[first];
	range[1] = objects->of_pu[first + count - 1] + 1;
}

/* Is there room under all limits?  Then, with `take`, counts. */
static int within_limits(struct map_job *job, const struct map_place *place, int take)
{
	const struct map_tree *tree = job->machine->nodes[place->node].tree;
	int **counts = &job->counts[place->node];
	int offset = 0;

	if (!*counts)
		*counts = orr_alloc((size_t)tree->npus * NLEVELS * sizeof(**counts));
	for (int level = 0; level < NLEVELS; level++, offset += tree->npus) {
		int limit = job->rules->limits[level], range[2];

		if (!limit)
			continue;
		touched(&tree->levels[level], place->first, place->count, range);
		for (int i = range[0]; i < range[1]; i++) {
			if (take)
				(*counts)[offset + i]++;
			else if ((*counts)[offset + i] >= limit)
				return 0;
		}
	}
	return 1;
}

/* Notes who else uses the PUs; the same object wider than a core may be shared. */
static void note_users(struct map_job *job, const struct map_place *place)
{
	const struct map_node *node = &job->machine->nodes[place->node];
	int **users = &job->users[place->node], self = job->nplaces, is_counted = 0;

	if (!*users)
		*users = orr_alloc((size_t)node->tree->npus * sizeof(**users));
	for (int pu = place->first; pu < place->first + place->count; pu++) {
		int other = (*users)[pu] - 1;

		(*users)[pu] = self + 1;
		if (other < 0 || is_counted || !node_allows(node, pu))
			continue;
		is_counted = 1;
		if (job->nshared++ == 0) {
			job->shared[0] = other;
			job->shared[1] = self;
		}
	}
}

static void add_place(struct map_job *job, const struct map_place *place)
{
	int n = job->nplaces;

	if (notices_sharing(job->rules))
		note_users(job, place);
	if ((n & (n - 1)) == 0) /* doubles */
		job->places = orr_realloc(job->places,
					  (size_t)(n ? 2 * n : 1) * sizeof(*job->places));
	job->places[n] = *place;
	job->nplaces++;
}

/* Maps one process at the coordinate.  0: not here. */
static int map_here(struct map_job *job)
{
	const struct map_rules *rules = job->rules;
	struct map_place place = {.node = job->at[LEVEL_NODE], .next = -1};
	const struct map_objects *objects;
	int object, limited = job->is_limited && job->nsweeps == 0;

	place.pu = resolve(job);
	if (place.pu < 0)
		return 0;
	objects = &job->machine->nodes[place.node].tree->levels[rules->bind];
	object = objects->of_pu[place.pu];
	if (object + rules->nbind > objects->count)
		return 0;
	for (int i = 0; i < rules->nbind; i++)
		if (!objects->is_real[object + i])
			return 0;
	place.first = objects->first[object];
	place.count = objects->first[object + rules->nbind] - place.first;
	if (limited && !within_limits(job, &place, 0))
		return 0;
	if (limited)
		within_limits(job, &place, 1);
	add_place(job, &place);
	return 1;
}

/* ---- The loops ---- */

static void step(struct map_job *job)
{
	for (int i = 0; i < job->rules->nloops; i++) {
		enum map_level level = job->rules->loops[i];

		job->at[level] += job->steps[level];
		if (job->at[level] < job->bounds[level])
			return;
		job->at[level] = 0;
	}
	job->is_swept = 1;
}

/* Goes on with the sweep, until np are mapped or it ends.  How many were mapped. */
static int sweep(struct map_job *job, int np)
{
	int mapped = 0;

	while (mapped < np && !job->is_swept) {
		mapped += map_here(job);
		step(job);
	}
	return mapped;
}

static int refuse_rest(const struct map_job *job, int mapped, int np,
		       struct map_says *says)
{
	if (job->nplaces == 0 && job->rules->nbind > 1)
		return map_refuse(says,
				  "mapped 0 of %d: no node has %d consecutive objects of "
				  "the level %s that may be used; bind to fewer",
				  np, job->rules->nbind, level_letter(job->rules->bind));
	if (job->nplaces == 0)
		return map_refuse(says,
				  "mapped 0 of %d: no hardware thread that may be used "
				  "is reached; widen the cpuset",
				  np);
	return map_refuse(says,
			  "mapped %d of %d: the machine has no more places under these "
			  "rules; use fewer ranks, more nodes, higher limits, or "
			  "--oversubscribe",
			  mapped, np);
}

/* Once anything was mapped, each sweep from the start maps something, so this ends. */
int map_application(struct map_job *job, int np, struct map_says *says)
{
	int mapped = sweep(job, np);

	while (mapped < np) {
		if (!job->rules->oversubscribe || job->nplaces == 0)
			return refuse_rest(job, mapped, np, says);
		job->nsweeps++;
		job->is_swept = 0;
		mapped += sweep(job, np - mapped);
	}
	return 0;
}

int map_fill(struct map_job *job, struct map_says *says)
{
	sweep(job, INT_MAX);
	return job->nplaces ? 0 : refuse_rest(job, 0, 1, says);
}

void place_each_pu(const struct map_job *job, const struct map_place *place,
		   void (*call)(void *arg, int pu), void *arg)
{
	const struct map_node *node = &job->machine->nodes[place->node];
	struct map_piece piece = {place->first, place->count, place->next};

	for (;;) {
		for (int pu = piece.first; pu < piece.first + piece.count; pu++)
			if (node_allows(node, pu))
				call(arg, pu);
		if (piece.next < 0)
			return;
		piece = job->pieces[piece.next];
	}
}
