/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/lb_heat.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"
#include "mpi/mpi.h"

double lb_heat_flow_s(const struct lb_state *from, const struct lb_state *to,
		      double threshold_s)
{
	int degree =
		from->nneighbours > to->nneighbours ? from->nneighbours : to->nneighbours;
	double difference_s = from->load_s - to->load_s;

	return difference_s > threshold_s ? difference_s / (1 + degree) : 0;
}

/* ---- one unit: data that move together -------------------------------- */

struct unit {
	starpu_data_handle_t *handles; /* owned */
	int n;
};

static const char unit_func[] = "get_data_unit_to_migrate() of starpu_mpi_lb_init()";

static void check_unit(const struct mpi *mpi, const struct unit *unit, int to)
{
	const char *func = unit_func;
	char text[128];

	if (unit->n < 0 || (unit->n > 0 && !unit->handles))
		orr_die(mpi->rank,
			"%s: %d handles at %p: expected at least 0, in an array "
			"from malloc()",
			func, unit->n, (void *)unit->handles);
	for (int i = 0; i < unit->n; i++) {
		starpu_data_handle_t handle = unit->handles[i];

		if (!data_is_registered(mpi->node, handle))
			orr_die(mpi->rank,
				"%s: handle %d of %d for rank %d is %s; name data that "
				"this rank owns",
				func, i, unit->n, to, handle ? "unregistered" : "NULL");
		if (handle->tag < 0 || handle->owner != mpi->rank || handle->comm != 0)
			orr_die(mpi->rank,
				"%s: %s, to move to rank %d, has tag %lld and belongs to "
				"rank %d of communicator %d: expected a tag, and this "
				"rank in the communicator given at init",
				func, data_describe(handle, text, sizeof(text)), to,
				(long long)handle->tag, handle->owner, handle->comm);
	}
}

static double cost_s(const struct unit *unit, const struct table *costs)
{
	double sum_s = 0;

	for (int i = 0; i < unit->n; i++) {
		const struct lb_cost *cost =
			table_get(costs, (uint64_t)(uintptr_t)unit->handles[i]);

		sum_s += cost ? cost->busy_s : 0;
	}
	return sum_s;
}

static void add_move(struct lb_moves *moves, starpu_data_handle_t handle, int to)
{
	if (moves->n == moves->room) {
		moves->room = moves->room ? 2 * moves->room : 16;
		moves->list = orr_realloc(moves->list,
					  (size_t)moves->room * sizeof(*moves->list));
	}
	moves->list[moves->n++] = (struct lb_move){.tag = handle->tag, .to = to};
}

/* ---- what flows to one neighbour --------------------------------------- */

static void stay(struct lb_moves *moves, enum lb_stay why)
{
	if (moves->stay < why)
		moves->stay = why;
}

/* Flows are met to the nearest unit.  One of no known cost is taken for all of it: the
 * next round will tell. */
static void give(struct mpi *mpi, const struct lb_round *round, int to, double wanted_s,
		 struct lb_moves *moves)
{
	double given_s = 0;

	while (given_s < wanted_s) {
		struct unit unit = {0};
		double unit_s;
		OUTSIDE(outside);

		outside_enter(&outside, mpi->node, unit_func);
		round->calls->unit(&unit.handles, &unit.n, to);
		outside_end(&outside);
		check_unit(mpi, &unit, to);
		unit_s = cost_s(&unit, round->costs);
		if (unit.n == 0 || given_s + unit_s / 2 > wanted_s) {
			stay(moves, unit.n == 0 ? LB_STAY_UNNAMED : LB_STAY_COARSE);
			free(unit.handles);
			return;
		}
		for (int i = 0; i < unit.n; i++) {
			add_move(moves, unit.handles[i], to);
			/* For the next question. */
			data_set_owner(unit.handles[i], to);
		}
		given_s += unit_s > 0 ? unit_s : wanted_s;
		free(unit.handles);
	}
}

void lb_heat_choose(struct mpi *mpi, const struct lb_round *round, struct lb_moves *moves)
{
	const struct lb_state *mine = &round->states[mpi->rank];

	for (int i = 0; i < mine->nneighbours; i++) {
		int to = round->neighbours[i];
		double flow_s =
			lb_heat_flow_s(mine, &round->states[to], round->threshold_s);

		stay(moves, LB_STAY_EVEN);
		give(mpi, round, to, flow_s * mine->nworkers, moves);
	}
	for (int i = 0; i < moves->n; i++)
		data_set_owner(registry_find(mpi, moves->list[i].tag), mpi->rank);
}
