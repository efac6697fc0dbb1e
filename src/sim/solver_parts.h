/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_SOLVER_PARTS_H
#define ORR_SIM_SOLVER_PARTS_H

/* solver_parts.h - flows and links, for those who share out and those who ride. */
#include "wire.h"

/* Flows with fewer uses are kept for later ones with as many. */
enum { SPARE_USES = 64 };

/* Of a flow that no link holds. */
enum { UNHELD = -1 };

struct use {
	struct link *link;
	double weight; /* over the flow's penalty */
	unsigned at;   /* its member of the link */
};

/*
 * A flow as its link sees it, with what the walks over a link's flows ask for: these are
 * most of what a settling does, and flows lie all over the memory.
 */
struct member {
	struct flow *flow; /* NULL: it has left */
	double level;
	unsigned stamp; /* of the region that it belongs to */
	short use;      /* of the flow: this link's */
	short is_held;  /* by this link; not asked for in the region */
};

struct link {
	double bytes_per_s;
	double load; /* sum over the members */
	/* In the order of entering; walks begin with the youngest. */
	struct member *members;
	unsigned nmembers, members_capacity, ngaps;
	double level;          /* of the flows that it holds; INFINITY: it holds none */
	double most;           /* load if all members were as fast as their bounds */
	int nheld;             /* without those of the region */
	double held_weight;    /* of these */
	double all_weight;     /* of all members */
	double ridden_until_s; /* by the last one that rode */
	double hoping_weight;  /* of those that would ride, while they are looked at */
	int is_refused;        /* to one of these */
	int marked;
	/* While a region is rated: */
	unsigned stamp;             /* of the region that it belongs to */
	double others_load, weight; /* of the flows that are not of the region, and are */
	int nflows;                 /* uses of the region's flows */
	double left, left_weight;   /* of those without a rate */
	int nleft;
	double new_level, highest; /* that it gives; of all its flows of the region */
};

struct flow {
	struct plat_timer event; /* enters its links, then ends */
	struct solver *solver;
	double left_bytes, rate, updated_s;
	double penalty, bound;
	void (*done)(void *arg);
	void *arg;
	double latency_s;
	struct flow *next; /* that would ride as well, or is spare */
	int held_by;       /* which use's link; UNHELD: its bound does */
	unsigned stamp;    /* of the region that it belongs to */
	unsigned rated;    /* the filling that has found new_level */
	double new_level;
	int nuses;
	struct use uses[];
};

/* A flow of the region, its place there, and the level at which its bound stops it. */
struct bounded {
	double level;
	size_t place;
	struct flow *flow;
};

/* A link that may be the next one to be full; it is so at this level or above. */
struct candidate {
	double level;
	struct link *link;
};

struct solver {
	struct sim *sim;
	struct table
		links; /* by the address of SimGrid's link; never walked but to free */
	struct plat_timer settle;
	struct flow *spare[SPARE_USES]; /* by nuses */
	unsigned stamp, filling; /* how many regions and fillings there have been */
	/* Since the last settling: links that flows have left, flows that have entered.
	 */
	struct link **marked;
	struct flow **entered;
	size_t nmarked, marked_capacity, nentered, entered_capacity;
	struct flow *hoping, *last_hoping; /* would ride */
	/* The region that is rated together. */
	struct flow **flows;
	struct bounded *by_bound, *joined; /* the first nsorted in order; scratch */
	struct link **region;
	struct candidate *candidates; /* a heap */
	size_t nflows, flows_capacity, nsorted, nregion, region_capacity, ncandidates;
};

/* A flow that has come to its links, and one that has ended and left them. */
void solver_enter(struct flow *flow);
void solver_end(struct flow *flow);
/* Settle once all events of this date have been. */
void solver_settle_soon(struct solver *solver);

/* ---- riders.c -------------------------------------------------------- */

/* Returns whether the flow, which has come to its links, may ride: then it waits for
 * riders_start(), after all that entered at this date have their rates. */
int riders_take(struct flow *flow);
void riders_start(struct solver *solver);

#endif
