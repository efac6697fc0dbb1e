/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver_parts.h"

#include "base/check.h"

/*
 * region.c - the streams and links whose rates are found together.
 *
 * Streams, links and their members lie all over the memory, and a region is filled
 * several times until nobody is left whom it disturbs.  So what a filling needs is copied
 * once, when a stream or a link joins, into arrays of the region's own.
 */

enum {
	FEW_BOUNDS = 48,    /* so many are sorted by insertion */
	LEVELS_AT_ONCE = 4, /* are compared; a divisor of REGION_BLOCK */
	FEW_TANKS = 64,     /* all are looked at to find the one that is full first */
	/* Members of a link that join: so far ahead their streams are expected, and
	 * these's links; and so many are looked for before the first of them joins. */
	STREAMS_AHEAD = 4,
	LINKS_AHEAD = 2,
	FOUND_AT_ONCE = 64,
	STREAM_LINES = 5 /* of a stream, but the first: most have no more */
};

/* Those join whom the link holds, whatever their level. */
#define HELD (-1.0)

static void *enlarge(void *array, unsigned *capacity, size_t bytes)
{
	*capacity = *capacity ? 2 * *capacity : REGION_BLOCK;
	return orr_realloc(array, *capacity * bytes);
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Written in any case: whether it rises nobody could foretell. */
static void raise_to(double *level, double to)
{
	*level = *level < to ? to : *level;
}

/* ---- joining --------------------------------------------------------- */

void region_begin(struct solver *solver)
{
	struct region *region = &solver->region;

	solver->stamp++;
	region->nresidents = region->nsorted = region->ntanks = region->ndraws = 0;
	region->least_bound = INFINITY;
	region->most_bound = 0;
}

/* Its flows cannot fill it, as seen from when the region began: it is left out.  Most
 * that only carry what flows take of the way back are. */
static int is_slack(const struct link *link)
{
	return link->level == INFINITY &&
	       link->most < link->bytes_per_s * (1 - TOLERANCE);
}

static void add_link(struct region *region, struct link *link)
{
	struct tank *tank = &region->tanks[region->ntanks];

	link->place = region->ntanks++;
	tank->link = link;
	tank->bytes_per_s = link->bytes_per_s;
	tank->old_level = link->level;
	tank->nheld = link->nheld;
	tank->first_draw = NO_DRAW;
	tank->others_load = link->load;
	tank->weight = 0;
	tank->nstreams = 0;
	tank->joined_above = INFINITY;
}

/* It stays no longer what it was held by. */
static void release(struct solver *solver, struct stream *stream)
{
	struct link *link = stream->uses[stream->held_by].link;

	link->nheld--;
	if (link->stamp == solver->stamp)
		solver->region.tanks[link->place].nheld = link->nheld;
}

static void make_room(struct region *region, unsigned nuses)
{
	while (region->ndraws + nuses > region->draws_capacity)
		region->draws = enlarge(region->draws, &region->draws_capacity,
					sizeof(*region->draws));
	while (region->ntanks + nuses > region->tanks_capacity) {
		region->tanks = enlarge(region->tanks, &region->tanks_capacity,
					sizeof(*region->tanks));
		region->full_levels = orr_realloc(region->full_levels,
						  region->tanks_capacity *
							  sizeof(*region->full_levels));
		region->least_levels = orr_realloc(
			region->least_levels,
			(region->tanks_capacity / REGION_BLOCK + LEVELS_AT_ONCE) *
				sizeof(*region->least_levels));
		region->group_levels = orr_realloc(
			region->group_levels,
			(region->tanks_capacity / REGION_BLOCK / REGION_BLOCK + 1 +
			 LEVELS_AT_ONCE) *
				sizeof(*region->group_levels));
	}
}

/* Its draws and their tanks will find room. */
static void reserve(struct region *region, unsigned nuses)
{
	if (region->ndraws + nuses > region->draws_capacity ||
	    region->ntanks + nuses > region->tanks_capacity)
		make_room(region, nuses);
}

/* The next resident, of this level so far, draws from all links that may be full. */
static void add_draws(struct solver *solver, struct stream *stream, double level)
{
	struct region *region = &solver->region;
	unsigned stamp = solver->stamp, resident = region->nresidents,
		 at = region->ndraws;

	for (int i = 0; i < stream->nuses; i++) {
		const struct use *use = &stream->uses[i];
		struct link *link = use->link;
		struct draw *draw = &region->draws[at];
		struct tank *tank;

		if (link->stamp != stamp) {
			if (is_slack(link))
				continue;
			link->stamp = stamp;
			add_link(region, link);
		}
		tank = &region->tanks[link->place];
		*draw = (struct draw){resident, link->place, tank->first_draw, i,
				      use->weight};
		tank->first_draw = at++;
		tank->others_load -= level * use->weight;
		tank->weight += use->weight;
		tank->nstreams++;
	}
	region->ndraws = at;
}

static struct resident *add_resident(struct region *region, struct stream *stream)
{
	double bound = stream->bound * stream->penalty;
	struct resident *resident;

	if (region->nresidents == region->residents_capacity) {
		region->residents =
			enlarge(region->residents, &region->residents_capacity,
				sizeof(*region->residents));
		region->by_bound =
			orr_realloc(region->by_bound, region->residents_capacity *
							      sizeof(*region->by_bound));
		region->joined =
			orr_realloc(region->joined,
				    region->residents_capacity * sizeof(*region->joined));
	}
	region->by_bound[region->nresidents] =
		(struct bounded){bound, region->nresidents};
	region->least_bound = lesser(bound, region->least_bound);
	raise_to(&region->most_bound, bound);
	resident = &region->residents[region->nresidents];
	*resident = (struct resident){.stream = stream, .first_draw = region->ndraws};
	return resident;
}

void region_add(struct solver *solver, struct stream *stream)
{
	struct region *region = &solver->region;
	struct resident *resident;

	if (stream->stamp == solver->stamp)
		return;
	stream->stamp = solver->stamp;
	reserve(region, (unsigned)stream->nuses);
	resident = add_resident(region, stream);
	if (stream->held_by != UNHELD)
		release(solver, stream);
	add_draws(solver, stream, stream->rate * stream->penalty);
	resident->ndraws = region->ndraws - resident->first_draw;
	region->nresidents++;
}

static void expect_stream(const struct stream *stream)
{
	const char *rest = (const char *)stream + ORR_LINE_BYTES;

	for (int line = 0; line < STREAM_LINES; line++)
		orr_bring(rest + line * ORR_LINE_BYTES);
}

static void expect_links(const struct stream *stream)
{
	for (int use = 0; use < stream->nuses; use++)
		orr_bring(stream->uses[use].link);
}

/* Members of a link join, while it holds any or with a level.  What region_add() will ask
 * for is brought near, of those whose turn comes: a stream first, its links when it is
 * there.  So they are looked for first: most members of a link stay where they are. */
static void add_found(struct solver *solver, const struct link *link, double level,
		      struct stream *const *found, unsigned n)
{
	for (unsigned i = 0; i < n && i < STREAMS_AHEAD; i++)
		expect_stream(found[i]);
	for (unsigned i = 0; i < n && i < LINKS_AHEAD; i++)
		expect_links(found[i]);
	for (unsigned i = 0; i < n && (level != HELD || link->nheld > 0); i++) {
		if (i + STREAMS_AHEAD < n)
			expect_stream(found[i + STREAMS_AHEAD]);
		if (i + LINKS_AHEAD < n)
			expect_links(found[i + LINKS_AHEAD]);
		region_add(solver, found[i]);
	}
}

/* From the last one to the first.  Whether a member is of those nobody could foretell, so
 * each is noted, and stays noted if it is. */
static void add_members(struct solver *solver, struct link *link, double level)
{
	const struct member *members = link->members;

	for (unsigned left = link->nmembers; left > 0;) {
		struct stream *found[FOUND_AT_ONCE];
		unsigned end = left > FOUND_AT_ONCE ? left - FOUND_AT_ONCE : 0, n = 0;

		if (level == HELD)
			for (; left > end; n += members[left].is_held != 0)
				found[n] = members[--left].stream;
		else
			for (; left > end; n += members[left].level > level)
				found[n] = members[--left].stream;
		add_found(solver, link, level, found, n);
	}
}

void region_add_held(struct solver *solver, struct link *link)
{
	if (link->nheld > 0)
		add_members(solver, link, HELD);
}

/* Those on the link that are above a level join, unless all have: no level changes before
 * the region ends. */
static void add_above(struct solver *solver, struct tank *tank, double level)
{
	struct link *link = tank->link;

	if (level >= tank->joined_above || tank->nstreams == link->nmembers - link->ngaps)
		return;
	tank->joined_above = level;
	add_members(solver, link, level);
}

/* ---- in the order of bounds ------------------------------------------ */

static int is_bounded_first(const struct bounded *a, const struct bounded *b)
{
	return a->level < b->level || (a->level == b->level && a->place < b->place);
}

static int compare_bounds(const void *a, const void *b)
{
	return is_bounded_first(a, b) ? -1 : is_bounded_first(b, a);
}

/* Mostly a few have joined, and their bounds are alike. */
static void sort_joined(struct bounded *joined, size_t n)
{
	if (n > FEW_BOUNDS) {
		qsort(joined, n, sizeof(*joined), compare_bounds);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct bounded moved = joined[i];
		size_t at = i;

		for (; at > 0 && is_bounded_first(&moved, &joined[at - 1]); at--)
			joined[at] = joined[at - 1];
		joined[at] = moved;
	}
}

/* Put those that have joined since the last filling among the others. */
static void sort_bounds(struct region *region)
{
	struct bounded *all = region->by_bound, *joined = region->joined;
	size_t nold = region->nsorted, njoined = region->nresidents - nold;

	region->nsorted = region->nresidents;
	memcpy(joined, all + nold, njoined * sizeof(*joined));
	sort_joined(joined, njoined);
	for (size_t at = region->nresidents; njoined > 0; at--)
		if (nold > 0 && is_bounded_first(&joined[njoined - 1], &all[nold - 1]))
			all[at - 1] = all[--nold];
		else
			all[at - 1] = joined[--njoined];
}

/* ---- filling --------------------------------------------------------- */

/* Where others stay held, the region may take a little more than what is left. */
static double capacity_of(const struct tank *tank)
{
	return tank->bytes_per_s * (tank->nheld > 0 ? 1 + TOLERANCE / 2 : 1);
}

/* The level at which a tank will be full if its residents are held by nothing else. */
static double full_level(const struct tank *tank)
{
	double least = 1e-9 * tank->bytes_per_s;

	return (tank->left > least ? tank->left : least) / tank->left_weight;
}

/* Of n, rounded up.  Four at a time, as each comparison waits for the one before. */
static inline double least_among(const double *levels, unsigned n)
{
	double a = levels[0], b = levels[1], c = levels[2], d = levels[3];

	for (unsigned i = LEVELS_AT_ONCE; i < n; i += LEVELS_AT_ONCE) {
		a = lesser(a, levels[i]);
		b = lesser(b, levels[i + 1]);
		c = lesser(c, levels[i + 2]);
		d = lesser(d, levels[i + 3]);
	}
	return lesser(lesser(a, b), lesser(c, d));
}

/* Of a block of them. */
static double least_of(const struct region *region, unsigned block)
{
	unsigned n = region->ntanks - block * REGION_BLOCK;

	return least_among(region->full_levels + block * REGION_BLOCK,
			   n < REGION_BLOCK ? n : REGION_BLOCK);
}

static unsigned blocks_of(unsigned n)
{
	return (n + REGION_BLOCK - 1) / REGION_BLOCK;
}

/* Of a group of blocks. */
static double least_in(const struct region *region, unsigned group)
{
	unsigned n = blocks_of(region->ntanks) - group * REGION_BLOCK;

	return least_among(region->least_levels + group * REGION_BLOCK,
			   n < REGION_BLOCK ? n : REGION_BLOCK);
}

static void prepare_blocks(struct region *region)
{
	unsigned end = blocks_of(region->ntanks), ngroups = blocks_of(end);

	for (unsigned b = 0; b < end; b++)
		region->least_levels[b] = least_of(region, b);
	for (; end % LEVELS_AT_ONCE != 0; end++)
		region->least_levels[end] = INFINITY;
	for (unsigned g = 0; g < ngroups; g++)
		region->group_levels[g] = least_in(region, g);
	for (; ngroups % LEVELS_AT_ONCE != 0; ngroups++)
		region->group_levels[ngroups] = INFINITY;
}

/* Those that cannot be full before all residents have met their bounds never are. */
static void prepare(struct region *region)
{
	double most = region->most_bound;
	unsigned end = region->ntanks;

	for (unsigned i = 0; i < region->ntanks; i++) {
		struct tank *tank = &region->tanks[i];
		double level;

		tank->left = capacity_of(tank) - tank->others_load;
		tank->left_weight = tank->weight;
		tank->nleft = tank->nstreams;
		tank->new_level = INFINITY;
		tank->highest = 0;
		level = full_level(tank);
		region->full_levels[i] = level < most ? level : INFINITY;
	}
	for (; end % LEVELS_AT_ONCE != 0; end++)
		region->full_levels[end] = INFINITY;
	if (region->ntanks > FEW_TANKS)
		prepare_blocks(region);
}

/* There is one. */
static unsigned first_from(const double *levels, unsigned first, double level)
{
	while (levels[first] > level)
		first++;
	return first;
}

/* Levels rise while others are rated, so what is known of a block is never too much. */
static unsigned first_of_many(struct region *region, double *level)
{
	unsigned ngroups = blocks_of(blocks_of(region->ntanks));

	for (;;) {
		double least = least_among(region->group_levels, ngroups);
		unsigned group = first_from(region->group_levels, 0, least);
		unsigned block =
			first_from(region->least_levels, group * REGION_BLOCK, least);

		*level = least_of(region, block);
		if (*level <= region->least_levels[block])
			return first_from(region->full_levels, block * REGION_BLOCK,
					  *level);
		region->least_levels[block] = *level;
		region->group_levels[group] = least_in(region, group);
	}
}

/* The tank that is full first. */
static unsigned first_full(struct region *region, double *level)
{
	if (region->ntanks > FEW_TANKS)
		return first_of_many(region, level);
	*level = region->ntanks > 0 ? least_among(region->full_levels, region->ntanks)
				    : INFINITY;
	return *level < INFINITY ? first_from(region->full_levels, 0, *level) : 0;
}

static void rate_resident(struct region *region, struct resident *resident, double level,
			  int held_by)
{
	const struct draw *draw = &region->draws[resident->first_draw];

	resident->level = level;
	resident->held_by = held_by;
	for (const struct draw *end = draw + resident->ndraws; draw < end; draw++) {
		struct tank *tank = &region->tanks[draw->tank];

		tank->left -= level * draw->weight;
		tank->left_weight -= draw->weight;
		raise_to(&tank->highest, level);
		/* Never lower, as it may come out where rounding has left next to no
		 * weight. */
		if (--tank->nleft == 0)
			region->full_levels[draw->tank] = INFINITY;
		else if (region->full_levels[draw->tank] < INFINITY)
			raise_to(&region->full_levels[draw->tank], full_level(tank));
	}
}

/* All that still rise in it stay at its level.  Returns how many. */
static unsigned fill_up(struct region *region, struct tank *tank, double level,
			unsigned filling)
{
	unsigned nrated = 0;

	tank->new_level = level;
	region->full_levels[tank - region->tanks] = INFINITY;
	for (unsigned at = tank->first_draw; at != NO_DRAW && tank->nleft > 0;) {
		const struct draw *draw = &region->draws[at];
		struct resident *resident = &region->residents[draw->resident];

		if (resident->rated != filling) {
			resident->rated = filling;
			rate_resident(region, resident, level, draw->use);
			nrated++;
		}
		at = draw->next;
	}
	return nrated;
}

/* Some meet their bounds before a tank is full. */
static void fill_bounded(struct region *region, double level, unsigned filling)
{
	unsigned full = 0;

	sort_bounds(region);
	for (unsigned i = 0; i < region->nresidents;) {
		const struct bounded *bounded = &region->by_bound[i];
		struct resident *resident = &region->residents[bounded->place];

		if (resident->rated == filling) {
			i++;
			continue;
		}
		if (bounded->level > level)
			full = first_full(region, &level);
		if (bounded->level <= level) {
			resident->rated = filling;
			rate_resident(region, resident, bounded->level, UNHELD);
		} else {
			fill_up(region, &region->tanks[full], level, filling);
		}
	}
}

/* Raise the levels of the region together; who meets a bound or a full tank stays.  No
 * tank is full below level, and the levels of tanks only rise: as long as it is below
 * all bounds, their order is of no account. */
static void fill(struct region *region, unsigned filling)
{
	unsigned nleft = region->nresidents;

	prepare(region);
	while (nleft > 0) {
		double level;
		unsigned full = first_full(region, &level);

		if (region->least_bound <= level) {
			fill_bounded(region, level, filling);
			return;
		}
		nleft -= fill_up(region, &region->tanks[full], level, filling);
	}
}

/* Whoever breaks the rule on this link by keeping its rate joins the region.  Nobody does
 * where the link holds none, neither of the region nor others. */
static void extend(struct solver *solver, struct tank *tank)
{
	struct link *link = tank->link;
	double load = capacity_of(tank) - tank->left;

	if (tank->new_level < tank->old_level * (1 - TOLERANCE)) {
		if (tank->nheld > 0)
			region_add_held(solver, link);
		else
			add_above(solver, tank, tank->new_level * (1 + TOLERANCE));
	} else if (tank->nheld > 0 &&
		   (tank->highest > tank->old_level * (1 + TOLERANCE) ||
		    (tank->new_level == INFINITY &&
		     load < tank->bytes_per_s * (1 - TOLERANCE)))) {
		region_add_held(solver, link);
	}
}

void region_rate(struct solver *solver)
{
	struct region *region = &solver->region;
	unsigned nresidents;

	do {
		nresidents = region->nresidents;
		fill(region, ++solver->filling);
		for (unsigned i = 0, n = region->ntanks; i < n; i++)
			if (region->tanks[i].new_level < INFINITY ||
			    region->tanks[i].nheld > 0)
				extend(solver, &region->tanks[i]);
	} while (region->nresidents > nresidents);
}

void region_free(struct region *region)
{
	free(region->residents);
	free(region->by_bound);
	free(region->joined);
	free(region->tanks);
	free(region->full_levels);
	free(region->least_levels);
	free(region->group_levels);
	free(region->draws);
}
