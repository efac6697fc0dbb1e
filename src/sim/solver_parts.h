/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_SOLVER_PARTS_H
#define ORR_SIM_SOLVER_PARTS_H

/* solver_parts.h - flows and links, for those who share out and those who ride. */
#include "base/near.h"
#include "wire.h"

/* Of a flow that no link holds. */
enum { UNHELD = -1 };

/* Behind the last one of a tank. */
#define NO_DRAW (~0u)

struct use {
	struct link *link;
	double weight; /* of all flows, over the penalty */
	unsigned at;   /* its member of the link */
};

/*
 * A stream as its link sees it, with what the walks over a link's streams ask for: these
 * are most of what a settling does, and streams lie all over the memory.
 */
struct member {
	struct stream *stream; /* NULL: it has left, and the rest is 0 */
	double level, weight;  /* weight: the use's, of all its flows */
	short use;             /* of the stream: this link's */
	short is_held;         /* by this link; not asked for in the region */
};

/* What those share that would ride, and by what weight with others. */
struct share {
	double bytes_per_s, weight;
};

/* Of those that would ride on a link, while they are looked at. */
struct hopes {
	double weight;
	double firm_weight; /* of those that no other link slows more */
	double least_work, most_work;
	struct share share;
};

struct link {
	/* What a region asks of each link that it may reach, and who comes: one line of
	 * the cache. */
	double bytes_per_s;
	double load;  /* sum over the members */
	double most;  /* load if all members were as fast as their bounds */
	double level; /* of the flows that it holds; INFINITY: it holds none */
	/* In the order of entering; walks begin with the youngest. */
	struct member *members;
	unsigned stamp; /* of the region that it belongs to */
	unsigned place; /* its tank there */
	int nheld;      /* without those of the region */
	unsigned nmembers;
	int nriding;
	char marked;
	char is_met;     /* by who has come */
	char is_refused; /* who would ride may not */

	/* What riders ask for: another line. */
	double all_weight; /* of all members */
	double riding_load;
	struct hopes hopes;

	unsigned members_capacity, ngaps;
};

/*
 * The flows of one route that are on its links at one time: all are as fast as each
 * other, so they end in the order of what each has to move and what others had moved
 * before it came.  A stream's work is what a flow had moved that was in it all the time.
 */
struct stream {
	struct plat_timer event; /* its first flow ends */
	struct flow *first;
	struct solver *solver;

	/* What a region asks, from the second line of the cache on. */
	_Alignas(ORR_LINE_BYTES) double left_bytes; /* of the first one */
	double updated_s, rate, penalty, bound;     /* rate, bound: of each flow */
	int held_by;    /* which use's link; UNHELD: its bound does */
	unsigned stamp; /* of the region that it belongs to */
	int nuses;
	unsigned nflows;
	uint64_t first_order; /* the first one's: a flow is far away */
	unsigned charged;     /* with what riders took: the last time */
	char has_entered;     /* or one of its flows, since the last settling */

	double first_work;   /* at which the first one ends */
	struct heap *others; /* by the work at which they end; NULL: never any */
	struct flow_route *route;
	struct use uses[];
};

struct flow {
	struct plat_timer event; /* comes to its links; may end later */
	void (*done)(void *arg);
	void *arg;

	struct flow_route *route;
	/* Until it is in a stream. */
	double left_bytes, updated_s, rate, latency_s;
	struct flow *next, *previous; /* that would ride, or rides */
	uint64_t order;               /* in which they have started */
	int slowed_by; /* which of the route's links, if it rides; UNHELD: its bound */
	void (*expect)(void *arg, int step); /* of one that would ride, or NULL */
};

/* ---- a region, in memory of its own that is small and walked in order ---- */

/* One of its streams. */
struct resident {
	struct stream *stream;
	unsigned first_draw, ndraws;
	unsigned rated; /* the filling that has found what follows */
	int held_by;    /* as the stream's */
	double level;
};

/* The level at which a resident's bound stops it. */
struct bounded {
	double level;
	unsigned place;
};

/* One of its links. */
struct tank {
	struct link *link;
	double bytes_per_s, old_level; /* the link's */
	double others_load;            /* of the streams that are not residents */
	int nheld;                     /* the link's */
	unsigned first_draw, nstreams;
	unsigned nleft;            /* draws of those without a rate */
	double left, left_weight;  /* for those, and of those */
	double new_level, highest; /* that it gives; of all its residents */
	double weight;             /* of the residents */
	double joined_above;       /* streams of the link above this level have joined */
};

/* A resident takes from a tank. */
struct draw {
	unsigned resident, tank;
	unsigned next; /* of the tank, or NO_DRAW */
	int use;       /* of the stream */
	double weight; /* of all its flows */
};

/* The levels of so many tanks are compared at once; capacities are multiples of it. */
enum { REGION_BLOCK = 16 };

struct region {
	struct resident *residents;
	struct bounded *by_bound, *joined; /* the first nsorted in order; scratch */
	double least_bound, most_bound;
	struct tank *tanks;
	/* Of each tank: its residents without a rate fill it at this level; INFINITY:
	 * they meet their bounds before. */
	double *full_levels;
	double *least_levels; /* of each block of tanks: the least of them, or less */
	double *group_levels; /* of each block of blocks: the least of these */
	struct draw *draws;
	unsigned nresidents, residents_capacity, nsorted;
	unsigned ntanks, tanks_capacity;
	unsigned ndraws, draws_capacity;
};

struct solver {
	struct sim *sim;
	struct table
		links; /* by the address of SimGrid's link; never walked but to free */
	struct plat_timer settle;
	struct near near;        /* where links, their members, streams and flows are */
	unsigned stamp, filling; /* how many regions and fillings there have been */
	/* Since the last settling: links that flows have left, streams that flows have
	 * entered. */
	struct link **marked;
	struct stream **entered;
	size_t nmarked, marked_capacity, nentered, entered_capacity;
	struct flow *hoping, *last_hoping; /* would ride */
	struct flow *riding;
	unsigned ncharges;
	struct region region; /* that is rated together */
};

/* A flow that has come to its links, and is not slow: it waits for its rate. */
void solver_enter(struct flow *flow);
/* One that has ended and left them. */
void solver_end(struct flow *flow);
/* Settle once all events of this date have been. */
void solver_settle_soon(struct solver *solver);

/* Of those that end at one date the one that started first does first, as SimGrid has it.
 */
static inline void flow_end_at(struct flow *flow, double date_s)
{
	calendar_move_ordered(flow->route->solver->sim, &flow->event, date_s,
			      flow->order);
}

/* Its first flow does. */
static inline void stream_end_at(struct stream *stream, double date_s)
{
	calendar_move_ordered(stream->solver->sim, &stream->event, date_s,
			      stream->first_order);
}

/* ---- streams.c ------------------------------------------------------- */

/* What its first flow has left is known as of now. */
static inline void stream_catch_up(struct stream *stream, double now_s)
{
	stream->left_bytes -= stream->rate * (now_s - stream->updated_s);
	if (stream->left_bytes < 0)
		stream->left_bytes = 0;
	stream->updated_s = now_s;
}

/* A flow comes, of which nothing has moved; the stream is caught up.  Returns whether it
 * ends first. */
int stream_put(struct stream *stream, struct flow *flow);
/* The first flow ends.  Take out one that ends with it, or NULL. */
struct flow *stream_pop_companion(struct stream *stream);
/* It has ended, and there are others: one of them is first. */
void stream_next(struct stream *stream, double now_s);
void stream_close(struct stream *stream);

/* ---- riders.c -------------------------------------------------------- */

/* Returns whether the flow, which has come to its links, may ride: then it waits for
 * riders_start(), after all that entered at this date have their rates. */
int riders_take(struct flow *flow);
void riders_start(struct solver *solver);
/* A flow comes to its links: who rides there is looked at again. */
void riders_meet(const struct flow *flow);

/* ---- region.c -------------------------------------------------------- */

/* What is smaller, relative to a link's capacity or a level, is nobody's concern: it
 * ends the chains of ever smaller changes. */
#define TOLERANCE 3e-4

/* No region has begun: one does, without residents. */
void region_begin(struct solver *solver);
void region_add(struct solver *solver, struct stream *stream);
/* Those that the link holds join. */
void region_add_held(struct solver *solver, struct link *link);
/* Find the fair rates of its residents, and of whom they disturb.  region.residents says
 * them; the flows' own are as they were. */
void region_rate(struct solver *solver);
void region_free(struct region *region);

#endif
