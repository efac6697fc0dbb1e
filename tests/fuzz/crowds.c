/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* crowds.c - scheduling contexts of the lanes, whose workers come and go, and kernels
 * that several workers call together. */

/* ---- contexts -------------------------------------------------------- */

/* Any set of processors but the empty one. */
static int draw_workers(const struct run *run, struct rng *rng, int *ids)
{
	unsigned set = rng_below(rng, 1u << run->ncpus);
	int n = 0;

	for (int i = 0; i < run->ncpus; i++)
		if (set >> i & 1)
			ids[n++] = starpu_worker_get_by_type(STARPU_CPU_WORKER, i);
	if (n == 0)
		ids[n++] = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	return n;
}

static const char *usual_policy(struct rng *rng)
{
	static const char *const policies[] = {"eager",
					       "prio",
					       "random",
					       "lws",
					       "ws",
					       "dmda",
					       "dmdas",
					       "heteroprio",
					       "pheft",
					       "peager",
					       "graph_test",
					       "modular-heft",
					       "modular-ws",
					       "modular-eager-prefetching",
					       "modular-heteroprio",
					       "modular-pheft",
					       NULL};

	return policies[rng_below(rng, sizeof(policies) / sizeof(policies[0]))];
}

/* A worker that waits for the others of an alias looks for no more aliases, so those of a
 * second context might wait for each other. */
static int may_make_aliases(const struct lane_run *lane, int at)
{
	return lane->index == 0 && at == 0 &&
	       has_feature(lane->run->program, FEATURE_TEAMS);
}

static unsigned new_context(struct lane_run *lane, int at, struct rng *rng)
{
	int ids[STARPU_NMAXWORKERS], n = draw_workers(lane->run, rng, ids);
	const char *policy = usual_policy(rng);
	unsigned own = rng_below(rng, 3), aliases = rng_below(rng, 2),
		 which = rng_below(rng, 64);

	own = own == 0 && has_feature(lane->run->program, FEATURE_OWN);
	lane->is_fixed[at] = own && aliases && may_make_aliases(lane, at);
	if (own)
		return starpu_sched_ctx_create(
			ids, n, "own", STARPU_SCHED_CTX_POLICY_STRUCT,
			lane->is_fixed[at] ? policies_aliases(which)
					   : policies_own(which),
			STARPU_SCHED_CTX_POLICY_MIN_PRIO, POLICIES_LEAST,
			STARPU_SCHED_CTX_POLICY_MAX_PRIO, POLICIES_MOST, 0);
	if (!policy)
		return starpu_sched_ctx_create(ids, n, "masters",
					       STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
	if (at > 0 && which % 2)
		return starpu_sched_ctx_create(
			ids, n, "inner", STARPU_SCHED_CTX_POLICY_NAME, policy,
			STARPU_SCHED_CTX_NESTED, lane->crowds[at - 1], 0);
	return starpu_sched_ctx_create(ids, n, "crowd", STARPU_SCHED_CTX_POLICY_NAME,
				       policy, 0);
}

/* Each lane has its own, so that it may end them when it likes. */
void crowds_open(struct lane_run *lane)
{
	struct rng rng = {lane->run->program->seed * 0x9e3779b97f4a7c15u +
			  (uint64_t)lane->index};

	rng_below(&rng, 2);
	if (!has_feature(lane->run->program, FEATURE_CONTEXTS) || rng_below(&rng, 3) ||
	    lane->run->ncpus == 0)
		return;
	lane->ncrowds = 1 + (lane->index == 0 && rng_below(&rng, 2));
	for (int i = 0; i < lane->ncrowds; i++)
		lane->crowds[i] = new_context(lane, i, &rng);
}

void crowds_close(struct lane_run *lane)
{
	while (lane->ncrowds > 0)
		starpu_sched_ctx_delete(lane->crowds[--lane->ncrowds]);
}

unsigned crowds_context(const struct lane_run *lane, const struct op *op)
{
	unsigned draw = op->choice[1] % 4;

	if (op->flags & (TASK_WORKER | TASK_WORKERS | TASK_PICKY) ||
	    draw >= (unsigned)lane->ncrowds || crowds_team(lane, op) >= 0)
		return 0;
	return lane->crowds[draw];
}

/* Workers leave; unless others come at once, its tasks need one. */
static void let_go(struct lane_run *lane, int at, struct rng *rng)
{
	unsigned ctx = lane->crowds[at];
	int ids[STARPU_NMAXWORKERS], n = draw_workers(lane->run, rng, ids);
	int come[STARPU_NMAXWORKERS], ncome = draw_workers(lane->run, rng, come);
	int all = rng_below(rng, 3) == 0;

	if (all)
		n = lane->run->ncpus;
	for (int i = 0; i < n; i++) {
		int id = all ? starpu_worker_get_by_type(STARPU_CPU_WORKER, i) : ids[i];

		if (starpu_sched_ctx_contains_worker(id, ctx) &&
		    (all || starpu_sched_ctx_get_nworkers(ctx) > 1))
			starpu_sched_ctx_remove_workers(&id, 1, ctx);
	}
	if (!all)
		return;
	for (unsigned i = rng_below(rng, 4); i > 0; i--)
		stage_yield();
	starpu_sched_ctx_add_workers(come, (unsigned)ncome, ctx);
}

/* No more tasks come to it; another one takes its place. */
static void replace(struct lane_run *lane, int at, struct rng *rng)
{
	unsigned ctx = lane->crowds[at], heir = lane->crowds[rng_below(rng, MAX_CROWDS)];

	switch (rng_below(rng, 4)) {
	case 0:
		/* Of those there may be none. */
		if (heir != ctx && heir != 0)
			starpu_sched_ctx_set_inheritor(ctx, heir);
		starpu_sched_ctx_finished_submit(ctx);
		break;
	case 1:
		starpu_sched_ctx_set_inheritor(ctx, 0);
		break;
	case 2:
		starpu_sched_ctx_finished_submit(ctx);
		starpu_task_wait_for_all_in_ctx(ctx);
		break;
	default:
		break;
	}
	for (unsigned i = rng_below(rng, 4); i > 0; i--)
		stage_yield();
	starpu_sched_ctx_delete(ctx);
	lane->crowds[at] = new_context(lane, at, rng);
}

/* The initial context lets one go for a while, which other threads may do, too. */
static void visit(struct lane_run *lane, int at, struct rng *rng)
{
	int id = starpu_worker_get_by_type(
		STARPU_CPU_WORKER, (int)rng_below(rng, (unsigned)lane->run->ncpus));

	(void)at;
	starpu_sched_ctx_remove_workers(&id, 1, 0);
	for (unsigned i = rng_below(rng, 4); i > 0; i--)
		stage_yield();
	starpu_sched_ctx_add_workers(&id, 1, 0);
}

int run_crowd_op(struct lane_run *lane, struct op *op)
{
	struct rng rng = {op->salt};
	int ids[STARPU_NMAXWORKERS], n, at;

	if (op->kind != OP_CROWD)
		return 0;
	if (lane->ncrowds == 0)
		return 1;
	at = (int)(op->choice[1] % (unsigned)lane->ncrowds);
	rng_below(&rng, 2);
	n = draw_workers(lane->run, &rng, ids);
	switch (op->choice[2] % 6) {
	case 0:
		if (!lane->is_fixed[at])
			starpu_sched_ctx_add_workers(ids, (unsigned)n, lane->crowds[at]);
		break;
	case 1:
		if (!lane->is_fixed[at])
			let_go(lane, at, &rng);
		break;
	case 2:
		starpu_sched_ctx_set_priority(ids, n, lane->crowds[at],
					      rng_below(&rng, 3));
		break;
	case 3:
		starpu_task_wait_for_all_in_ctx(lane->crowds[at]);
		break;
	case 4:
		visit(lane, at, &rng);
		break;
	default:
		replace(lane, at, &rng);
		break;
	}
	return 1;
}

/* ---- teams ----------------------------------------------------------- */

/* The calls of a task's kernel. */
struct together {
	/* That were called, a bit each; atomic. */
	uint64_t ranks[STARPU_NMAXWORKERS / 64 + 1];
	int size, inside; /* atomic; how many are there, how many have not returned */
};

void teams_start(struct run *run)
{
	struct rng rng = {run->program->seed};
	int most = 0, ids[STARPU_NMAXWORKERS];

	for (int i = 0; i < run->program->nops; i++)
		if (run->program->ops[i].id >= most)
			most = run->program->ops[i].id + 1;
	run->together = calloc((size_t)most + 1, sizeof(*run->together));
	for (int i = 0; i < NTEAMS; i++) {
		int n = run->ncpus > 1 ? draw_workers(run, &rng, ids) : 0;

		run->teams[i] =
			n > 1 ? starpu_combined_worker_assign_workerid(n, ids) : -1;
	}
}

void teams_stop(struct run *run)
{
	free(run->together);
}

int crowds_is_parallel(const struct op *op)
{
	return op->choice[1] / 4 % 4 == 0;
}

int crowds_team(const struct lane_run *lane, const struct op *op)
{
	if (!has_feature(lane->run->program, FEATURE_TEAMS) || !crowds_is_parallel(op) ||
	    lane->lane->distributed || !(op->flags & TASK_BY_HAND) ||
	    (op->flags & (TASK_WORKER | TASK_WORKERS | TASK_PICKY | TASK_MODEL)))
		return -1;
	return op->choice[1] / 16 % 4 == 0 ? lane->run->teams[op->choice[1] / 64 % NTEAMS]
					   : -1;
}

/* 1: this call is the one that computes. */
int teams_enter(const struct ticket *ticket)
{
	struct together *together = &ticket->run->together[ticket->op->id];
	int rank = starpu_combined_worker_get_rank();
	uint64_t bit = UINT64_C(1) << rank % 64,
		 before = __atomic_fetch_or(&together->ranks[rank / 64], bit,
					    __ATOMIC_SEQ_CST);

	if (before & bit)
		run_bad(ticket->run, ticket->op, "ranks called before this one", before,
			before & ~bit);
	__atomic_store_n(&together->size, starpu_combined_worker_get_size(),
			 __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&together->inside, 1, __ATOMIC_SEQ_CST);
	return rank == 0;
}

void teams_leave(const struct ticket *ticket)
{
	for (unsigned i = 0; i < ticket->op->choice[4] % 5; i++)
		stage_yield();
	__atomic_fetch_sub(&ticket->run->together[ticket->op->id].inside, 1,
			   __ATOMIC_SEQ_CST);
}

/* 0: the kernel was not called; -1: these are not the first ones. */
static int count_ranks(const struct together *together)
{
	int n = 0, is_over = 0;

	for (int i = 0; i < STARPU_NMAXWORKERS; i++) {
		uint64_t word =
			__atomic_load_n(&together->ranks[i / 64], __ATOMIC_SEQ_CST);

		if (!(word >> i % 64 & 1))
			is_over = 1;
		else if (is_over)
			return -1;
		else
			n++;
	}
	return n;
}

void teams_check(struct run *run, const struct op *op)
{
	const struct together *together = &run->together[op->id];
	int inside = __atomic_load_n(&together->inside, __ATOMIC_SEQ_CST),
	    size = __atomic_load_n(&together->size, __ATOMIC_SEQ_CST),
	    nranks = count_ranks(together);

	if (nranks == 0)
		return;
	if (inside)
		run_bad(run, op, "calls that have not returned at the end of the task",
			(uint64_t)inside, 0);
	if (nranks != size)
		run_bad(run, op, "ranks that were called", (uint64_t)nranks,
			(uint64_t)size);
}
