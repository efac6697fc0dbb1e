/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/lb.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/task/task.h"
#include "core/wait.h"
#include "mpi/assembly.h"
#include "mpi/migrate.h"
#include "mpi/mpi.h"

static const char *const WHAT = "a round of the load balancer";

/* Made once, so that workers may look at it at any time; cleared at each start. */
struct lb {
	struct lb_calls calls;
	int64_t threshold, window; /* iterations */
	double threshold_s;

	/* The inserting thread's. */
	int has_iteration; /* the task that is being inserted */
	int64_t iteration;
	int has_begun;
	int64_t highest; /* iteration so far */
	int64_t begin;   /* first iteration since the last round */
	unsigned long ntagged;
	int nrounds;
	long nmoved;
	int stays[LB_NSTAYS];             /* how often ranks gave nothing, and why */
	double most_apart_s;              /* largest load less the smallest */
	double first_excess, last_excess; /* largest load over the mean */

	/* Workers', too. */
	struct orr_lock lock;
	struct table measured; /* tasks, each with itself */
	struct table costs;    /* by datum that they write: struct lb_cost */
	double busy_s;
	struct plat_gate *gate; /* of the round, until no task is measured any more */
};

/* ---- measuring -------------------------------------------------------- */

/* The lock is held. */
static void add_cost(struct lb *lb, starpu_data_handle_t handle, double busy_s)
{
	uint64_t key = (uint64_t)(uintptr_t)handle;
	struct lb_cost *cost = table_get(&lb->costs, key);

	if (!cost) {
		cost = orr_alloc(sizeof(*cost));
		table_put(&lb->costs, key, cost);
	}
	cost->busy_s += busy_s;
}

static int count_written(const struct job *job)
{
	int n = 0;

	for (int i = 0; i < job->naccesses; i++)
		n += (job->accesses[i].mode & STARPU_W) != 0;
	return n;
}

/* For node->on_executed; any worker. */
static void executed(struct node *node, const struct job *job)
{
	struct lb *lb = node->mpi->lb;
	struct plat_gate *gate = NULL;
	int nwritten;

	orr_lock(&lb->lock);
	if (!table_remove(&lb->measured, (uint64_t)(uintptr_t)job->task)) {
		orr_unlock(&lb->lock);
		return;
	}
	nwritten = count_written(job);
	lb->busy_s += job->duration_s;
	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].mode & STARPU_W)
			add_cost(lb, job->accesses[i].datum, job->duration_s / nwritten);
	if (lb->measured.count == 0) {
		gate = lb->gate;
		lb->gate = NULL;
	}
	orr_unlock(&lb->lock);
	if (gate)
		plat_gate_open(node->plat, gate);
}

void lb_submit(struct mpi *mpi, const struct starpu_task *task)
{
	struct lb *lb = mpi->lb;

	if (!lb->has_iteration || lb->iteration < lb->begin ||
	    lb->iteration >= lb->begin + lb->window)
		return;
	if (!task->cl || task->cl->where == STARPU_NOWHERE ||
	    task->where == STARPU_NOWHERE)
		return;
	orr_lock(&lb->lock);
	table_put(&lb->measured, (uint64_t)(uintptr_t)task, (void *)(uintptr_t)task);
	orr_unlock(&lb->lock);
}

void lb_refused(struct mpi *mpi, const struct starpu_task *task)
{
	struct lb *lb = mpi->lb;

	/* The thread that inserts is the one that waits for the measured tasks. */
	orr_lock(&lb->lock);
	table_remove(&lb->measured, (uint64_t)(uintptr_t)task);
	orr_unlock(&lb->lock);
}

/* Until all that is measured has ended. */
static void wait_measured(struct mpi *mpi)
{
	struct lb *lb = mpi->lb;
	struct plat_gate gate;
	int must_wait;

	plat_gate_init(&gate);
	orr_lock(&lb->lock);
	must_wait = lb->measured.count > 0;
	lb->gate = must_wait ? &gate : NULL;
	orr_unlock(&lb->lock);
	if (must_wait && wait_at(mpi->node, &gate, WAIT_ENDED, NULL) < 0)
		orr_die(mpi->rank, "%s: the tasks of iterations %lld to %lld cannot end",
			WHAT, (long long)lb->begin,
			(long long)(lb->begin + lb->window - 1));
}

static void forget_costs(struct lb *lb)
{
	struct lb_cost *cost;
	size_t cursor = 0;

	while ((cost = table_next(&lb->costs, &cursor)))
		free(cost);
	table_free(&lb->costs);
	memset(&lb->costs, 0, sizeof(lb->costs));
	lb->busy_s = 0;
}

/* ---- a round ----------------------------------------------------------- */

static void hear(struct mpi *mpi, const void *own, void *all, size_t bytes)
{
	if (assembly_hear(mpi, own, all, bytes, WHAT) < 0)
		orr_die(mpi->rank,
			"%s: the others do not take part: all ranks must insert the "
			"first task of each iteration",
			WHAT);
}

static void check_states(const struct mpi *mpi, const struct lb_state *states)
{
	int64_t here = states[mpi->rank].iteration;

	for (int rank = 0; rank < mpi->size; rank++) {
		int64_t there = states[rank].iteration;

		if (there == here)
			continue;
		if (here < 0 || there < 0)
			orr_die(mpi->rank,
				"starpu_mpi_lb_shutdown: rank %d stops, but rank %d "
				"balances before iteration %lld; all ranks must insert "
				"the first task of each iteration, and stop after "
				"the same",
				here < 0 ? mpi->rank : rank, here < 0 ? rank : mpi->rank,
				(long long)(here < 0 ? there : here));
		orr_die(mpi->rank,
			"the load balancer: rank %d balances before iteration %lld, "
			"rank %d before iteration %lld; all ranks must insert the first "
			"task of each iteration (STARPU_TAG_ONLY) at the same place",
			mpi->rank, (long long)here, rank, (long long)there);
	}
}

/* The ids are checked; the caller frees them. */
static int *ask_neighbours(struct mpi *mpi, int *n)
{
	const char *func = "get_neighbors() of starpu_mpi_lb_init()";
	int *ids = NULL;
	OUTSIDE(outside);

	*n = 0;
	outside_enter(&outside, mpi->node, func);
	mpi->lb->calls.neighbours(&ids, n);
	outside_end(&outside);
	if (*n < 0 || (*n > 0 && !ids))
		orr_die(mpi->rank,
			"%s: %d neighbours at %p: expected at least 0, in an array from "
			"malloc()",
			func, *n, (void *)ids);
	for (int i = 0; i < *n; i++)
		if (ids[i] < 0 || ids[i] >= mpi->size || ids[i] == mpi->rank)
			orr_die(mpi->rank,
				"%s: neighbour %d of %d is rank %d: expected 0 to %d, "
				"but not this rank",
				func, i, *n, ids[i], mpi->size - 1);
	return ids;
}

static double apart_s(const struct mpi *mpi, const struct lb_state *states)
{
	double least_s = states[0].load_s, most_s = states[0].load_s;

	for (int rank = 1; rank < mpi->size; rank++) {
		if (states[rank].load_s < least_s)
			least_s = states[rank].load_s;
		if (states[rank].load_s > most_s)
			most_s = states[rank].load_s;
	}
	return most_s - least_s;
}

/* The largest load over the mean, less 1. */
static double excess(const struct mpi *mpi, const struct lb_state *states)
{
	double sum_s = 0, most_s = 0;

	for (int rank = 0; rank < mpi->size; rank++) {
		sum_s += states[rank].load_s;
		if (states[rank].load_s > most_s)
			most_s = states[rank].load_s;
	}
	return sum_s > 0 ? most_s * mpi->size / sum_s - 1 : 0;
}

static void move(struct mpi *mpi, const struct lb_move *move, int from)
{
	starpu_data_handle_t handle = registry_find(mpi, move->tag);

	if (handle) {
		migrate_data(mpi, handle, 0, move->to, WHAT);
		return;
	}
	if (move->to == mpi->rank)
		orr_die(mpi->rank,
			"%s: rank %d gives this rank the data with tag %lld, which is "
			"not registered here; call starpu_mpi_data_register() on all "
			"ranks that it may move to",
			WHAT, from, (long long)move->tag);
}

/* All ranks hear all moves, and make them in the order of ranks. */
static void move_all(struct mpi *mpi, const struct lb_moves *moves)
{
	int *counts = orr_alloc((size_t)mpi->size * sizeof(*counts));
	struct lb_move *own, *all;
	int most = 0, count = moves->n > 0 ? moves->n : -(int)moves->stay;

	/* Of who gives nothing, why not. */
	hear(mpi, &count, counts, sizeof(*counts));
	for (int rank = 0; rank < mpi->size; rank++) {
		most = counts[rank] > most ? counts[rank] : most;
		if (counts[rank] > 0)
			mpi->lb->nmoved += counts[rank];
		else
			mpi->lb->stays[-counts[rank]]++;
	}
	if (most > 0) {
		own = orr_alloc((size_t)most * sizeof(*own));
		if (moves->n > 0)
			memcpy(own, moves->list, (size_t)moves->n * sizeof(*own));
		all = orr_alloc((size_t)most * (size_t)mpi->size * sizeof(*all));
		hear(mpi, own, all, (size_t)most * sizeof(*own));
		for (int rank = 0; rank < mpi->size; rank++)
			for (int i = 0; i < counts[rank]; i++)
				move(mpi, &all[rank * most + i], rank);
		free(own);
		free(all);
	}
	free(counts);
}

static void hold_round(struct mpi *mpi, int64_t iteration)
{
	struct lb *lb = mpi->lb;
	struct lb_state *states = orr_alloc((size_t)mpi->size * sizeof(*states));
	struct lb_state own = {.iteration = iteration, .nworkers = mpi->node->nworkers};
	struct lb_moves moves = {0};
	int *neighbours = ask_neighbours(mpi, &own.nneighbours);

	wait_measured(mpi);
	own.load_s = lb->busy_s / (own.nworkers > 0 ? own.nworkers : 1);
	hear(mpi, &own, states, sizeof(own));
	check_states(mpi, states);
	lb_heat_choose(mpi,
		       &(struct lb_round){.calls = &lb->calls,
					  .states = states,
					  .neighbours = neighbours,
					  .threshold_s = lb->threshold_s,
					  .costs = &lb->costs},
		       &moves);
	move_all(mpi, &moves);
	if (apart_s(mpi, states) > lb->most_apart_s)
		lb->most_apart_s = apart_s(mpi, states);
	lb->last_excess = excess(mpi, states);
	if (lb->nrounds++ == 0)
		lb->first_excess = lb->last_excess;
	forget_costs(lb);
	free(moves.list);
	free(neighbours);
	free(states);
}

void lb_arrive(struct mpi *mpi, int has_iteration, uint64_t tag)
{
	struct lb *lb = mpi->lb;
	int64_t iteration = (int64_t)(tag & INT64_MAX);

	lb->has_iteration = has_iteration;
	lb->iteration = iteration;
	if (!has_iteration)
		return;
	lb->ntagged++;
	if (!lb->has_begun || iteration > lb->highest)
		lb->highest = iteration;
	if (!lb->has_begun)
		lb->begin = iteration;
	lb->has_begun = 1;
	if (iteration - lb->begin < lb->threshold)
		return;
	hold_round(mpi, iteration);
	lb->begin = iteration;
}

/* ---- start and end ------------------------------------------------------ */

/* What all must have alike. */
struct lb_terms {
	int64_t is_on, threshold, threshold_us;
	double ratio;
};

static void check_terms(struct mpi *mpi, const struct lb_terms *own)
{
	struct lb_terms *all = orr_alloc((size_t)mpi->size * sizeof(*all));

	hear(mpi, own, all, sizeof(*own));
	for (int rank = 0; rank < mpi->size; rank++)
		if (memcmp(&all[rank], own, sizeof(*own)) != 0)
			orr_die(mpi->rank,
				"starpu_mpi_lb_init: rank %d %s with "
				"LB_HEAT_SLEEP_THRESHOLD=%lld LB_HEAT_WAKEUP_RATIO=%g "
				"LB_HEAT_TIME_THRESHOLD=%lld, rank %d %s with %lld, %g "
				"and %lld; give all ranks the same",
				mpi->rank, own->is_on ? "balances" : "does not balance",
				(long long)own->threshold, own->ratio,
				(long long)own->threshold_us, rank,
				all[rank].is_on ? "balances" : "does not balance",
				(long long)all[rank].threshold, all[rank].ratio,
				(long long)all[rank].threshold_us);
	free(all);
}

/* Why nothing is balanced; NULL: it is. */
static const char *refusal(const struct mpi *mpi, const struct lb_wish *wish)
{
	if (mpi->balances)
		return "a load balancer is active; call starpu_mpi_lb_shutdown() first";
	if (!wish->policy || !*wish->policy)
		return "no policy is named";
	if (strcmp(wish->policy, "help") == 0)
		return "the policies are listed";
	if (strcmp(wish->policy, "heat") != 0)
		return "the policy is unknown";
	if (!wish->calls.neighbours || !wish->calls.unit)
		return "get_neighbors and get_data_unit_to_migrate are needed";
	if (mpi->is_fake)
		return "STARPU_MPI_FAKE_SIZE pretends that there are other ranks";
	return NULL;
}

/* Nothing is measured. */
static void begin(struct mpi *mpi, const struct lb_wish *wish)
{
	int64_t lag = (int64_t)((double)wish->threshold * wish->ratio);
	struct lb *lb = mpi->lb;

	if (!lb) {
		lb = mpi->lb = orr_alloc(sizeof(*lb));
		orr_lock_init(&lb->lock);
	}
	lb->calls = wish->calls;
	lb->threshold = wish->threshold;
	lb->window = wish->threshold > lag ? wish->threshold - lag : 1;
	lb->threshold_s = 1e-6 * (double)wish->threshold_us;
	lb->has_begun = 0;
	lb->ntagged = 0;
	lb->nrounds = 0;
	lb->nmoved = 0;
	memset(lb->stays, 0, sizeof(lb->stays));
	lb->most_apart_s = 0;
	mpi->balances = 1;
	mpi->looks_closely = 1;
	if (mpi->node->on_executed != executed) /* A worker may be reading it. */
		mpi->node->on_executed = executed;
	orr_store(&mpi->node->tells_executed, 1);
}

void lb_open(struct mpi *mpi, const struct lb_wish *wish)
{
	const char *why_not = refusal(mpi, wish);
	struct lb_terms terms = {.is_on = !why_not,
				 .threshold = wish->threshold,
				 .threshold_us = wish->threshold_us,
				 .ratio = wish->ratio};

	if (why_not && mpi->rank == 0)
		orr_complain(mpi->rank,
			     "starpu_mpi_lb_init: nothing is balanced: %s (policy \"%s\" "
			     "of %s; there is: \"heat\", load flows to neighbours as "
			     "heat does)",
			     why_not, wish->policy ? wish->policy : "", wish->given_by);
	if (mpi->balances)
		return;
	if (!mpi->is_fake)
		check_terms(mpi, &terms);
	if (why_not)
		return;
	begin(mpi, wish);
}

/* What kept most from moving: where something should have moved, that. */
static enum lb_stay main_stay(const struct lb *lb)
{
	if (lb->stays[LB_STAY_COARSE] + lb->stays[LB_STAY_UNNAMED] > 0)
		return lb->stays[LB_STAY_COARSE] >= lb->stays[LB_STAY_UNNAMED]
			       ? LB_STAY_COARSE
			       : LB_STAY_UNNAMED;
	return lb->stays[LB_STAY_EVEN] > 0 ? LB_STAY_EVEN : LB_STAY_ALONE;
}

static void report_stay(const struct mpi *mpi)
{
	static const char *const what[LB_NSTAYS] = {
		[LB_STAY_ALONE] = "no rank has neighbours; name some in get_neighbors()",
		[LB_STAY_EVEN] = "no neighbour's load was less by more than "
				 "LB_HEAT_TIME_THRESHOLD; set it to less, or name "
				 "neighbours that are further away",
		[LB_STAY_UNNAMED] = "get_data_unit_to_migrate() named no data for a "
				    "neighbour with less load",
		[LB_STAY_COARSE] =
			"the data that get_data_unit_to_migrate() named cost more than "
			"twice what was to flow; name smaller units, or more neighbours",
	};
	const struct lb *lb = mpi->lb;
	enum lb_stay stay = main_stay(lb);

	orr_complain(
		mpi->rank,
		"load balancer: %d rounds moved nothing; loads were up to %.0f us "
		"apart, the largest in the last %.0f %% above the mean: %s (%d times, "
		"counted for each rank)",
		lb->nrounds, 1e6 * lb->most_apart_s, 100 * lb->last_excess, what[stay],
		lb->stays[stay]);
}

static void report(const struct mpi *mpi)
{
	const struct lb *lb = mpi->lb;

	if (lb->nrounds > 0 && lb->nmoved == 0)
		report_stay(mpi);
	else if (lb->nrounds > 0)
		orr_complain(mpi->rank,
			     "load balancer: %d rounds moved %ld data; the largest load "
			     "was %.0f %% above the mean in the first, %.0f %% in the "
			     "last",
			     lb->nrounds, lb->nmoved, 100 * lb->first_excess,
			     100 * lb->last_excess);
	else if (lb->ntagged == 0)
		orr_complain(mpi->rank, "load balancer: nothing was balanced: no task "
					"had an iteration; insert tasks with "
					"STARPU_TAG_ONLY");
	else
		orr_complain(mpi->rank,
			     "load balancer: nothing was balanced: the iterations went "
			     "from %lld to %lld, and a round is held after %lld of them; "
			     "set LB_HEAT_SLEEP_THRESHOLD to less",
			     (long long)lb->begin, (long long)lb->highest,
			     (long long)lb->threshold);
}

void lb_close(struct mpi *mpi)
{
	struct lb_state *states = orr_alloc((size_t)mpi->size * sizeof(*states));
	struct lb_state own = {.iteration = -1};

	wait_measured(mpi);
	hear(mpi, &own, states, sizeof(own));
	check_states(mpi, states);
	free(states);
	if (mpi->rank == 0 && !node_knobs(mpi->node)->silent)
		report(mpi);
	forget_costs(mpi->lb);
	mpi->balances = 0;
	mpi->looks_closely = mpi->compare != NULL;
}

void lb_free(struct mpi *mpi)
{
	struct lb *lb = mpi->lb;

	if (!lb)
		return;
	forget_costs(lb);
	table_free(&lb->measured);
	free(lb);
}
