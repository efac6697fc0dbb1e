/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_LB_HEAT_H
#define ORR_MPI_LB_HEAT_H

/*
 * lb_heat.h - how much load flows to a neighbour, and which data carry it.
 *
 * First order diffusion: 1/(1 + the larger number of neighbours of the two) of the
 * difference, in each round.
 */
#include <starpu.h>

#include "base/table.h"

struct mpi;

/* What the application knows: see starpu_mpi_lb.h. */
struct lb_calls {
	void (*neighbours)(int **ids, int *n);
	void (*unit)(starpu_data_handle_t **handles, int *n, int to);
};

/* What a rank tells the others in a round. */
struct lb_state {
	int64_t iteration; /* the round is before it; -1: it stops balancing */
	double load_s;     /* time that tasks ran, over workers */
	int nworkers, nneighbours;
};

/* What a rank has to say to all others. */
struct lb_move {
	int64_t tag;
	int to;
};

/* Why a rank gives nothing away in a round; of several neighbours, the last that is true
 * of any. */
enum lb_stay {
	LB_STAY_ALONE,   /* it has no neighbours */
	LB_STAY_EVEN,    /* none has less load by more than the threshold */
	LB_STAY_UNNAMED, /* the application named no data */
	LB_STAY_COARSE,  /* they cost more than twice what was to move */
	LB_NSTAYS
};

struct lb_moves {
	struct lb_move *list; /* owned */
	int n, room;
	enum lb_stay stay; /* when n is 0 */
};

/* Seconds of load that flow from one neighbour to the other; 0: none. */
double lb_heat_flow_s(const struct lb_state *from, const struct lb_state *to,
		      double threshold_s);

struct lb_round {
	const struct lb_calls *calls;
	const struct lb_state *states; /* by rank */
	const int *neighbours;         /* of this rank, as many as its state says */
	double threshold_s;
	const struct table *costs; /* by datum: struct lb_cost of who wrote it */
};

struct lb_cost {
	double busy_s;
};

/* What this rank gives away; owners are as before on return. */
void lb_heat_choose(struct mpi *mpi, const struct lb_round *round,
		    struct lb_moves *moves);

#endif
