/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "run.h"

/* run.c - a program from its first registration to its last check. */

void run_bad(struct run *run, const struct op *op, const char *what, uint64_t seen,
	     uint64_t expected)
{
	const struct program *program = run->program;

	if (__atomic_add_fetch(&run->nbad, 1, __ATOMIC_SEQ_CST) > 10)
		return;
	printf("BAD seed %llu rank %d/%d operation %d: %s is %llx, expected %llx\n",
	       (unsigned long long)program->seed, program->rank, program->nranks,
	       op ? op->id : -1, what, (unsigned long long)seen,
	       (unsigned long long)expected);
	fflush(stdout);
}

static struct lane_run *lane_open(struct run *run, int index)
{
	struct lane_run *lane = calloc(1, sizeof(*lane));

	lane->run = run;
	lane->index = index;
	lane->lane = &run->program->lanes[index];
	lane->comm = lane->lane->in_comm ? run->halves : MPI_COMM_WORLD;
	if (lane->lane->distributed)
		starpu_mpi_comm_rank(lane->comm, &lane->rank);
	return lane;
}

static void lane_register(struct lane_run *lane)
{
	crowds_open(lane);
	medley_open(lane);
	if (lane->lane->distributed) {
		mpi_lane_register(lane);
		return;
	}
	for (int i = 0; i < lane->lane->ndata; i++)
		live_register(lane, &lane->live[i], &lane->lane->shapes[i]);
}

/* The next operation of the lane: 1, or 0 after the last. */
static int lane_step(struct lane_run *lane)
{
	struct program *program = lane->run->program;
	struct op *op;

	while (lane->next_op < program->nops &&
	       (program->ops[lane->next_op].lane != lane->index ||
		program->ops[lane->next_op].skip))
		lane->next_op++;
	if (lane->next_op == program->nops)
		return 0;
	op = &program->ops[lane->next_op++];
	if (!run_mpi_op(lane, op) && !run_blend_op(lane, op) && !run_p2p_op(lane, op) &&
	    !run_task_op(lane, op) && !run_local_op(lane, op) &&
	    !run_chain_op(lane, op) && !run_crowd_op(lane, op) &&
	    !run_medley_op(lane, op))
		abort();
	return 1;
}

static void check_final(struct lane_run *lane, int i)
{
	const struct program *program = lane->run->program;
	struct live *live = &lane->live[i];
	uint64_t expected = program->final[lane->index][i], seen;

	if (!program->has_value[lane->index][i]) {
		live_unregister(lane, live);
		return;
	}
	if (!live->home.values) {
		seen = live_acquired_hash(live);
		live_unregister(lane, live);
	} else {
		live_unregister(lane, live);
		seen = view_hash(&live->home);
	}
	if (seen != expected)
		run_bad(lane->run, NULL, "value at the end", seen, expected);
}

static void lane_finish(struct lane_run *lane)
{
	medley_close(lane);
	if (lane->lane->distributed) {
		mpi_lane_finish(lane);
		crowds_close(lane);
		return;
	}
	tasks_wait_kept(lane);
	starpu_task_wait_for_all();
	for (int i = 0; i < lane->lane->ndata; i++) {
		check_final(lane, i);
		free(lane->live[i].home.values);
	}
	chains_finish(lane);
	crowds_close(lane);
}

static void lane_play(void *arg)
{
	struct lane_run *lane = arg;

	lane_register(lane);
	while (lane_step(lane))
		stage_yield();
	lane_finish(lane);
}

/* One thread plays them all: operations in the program's order. */
static void play_in_turn(struct run *run)
{
	struct program *program = run->program;

	for (int l = 0; l < program->nlanes; l++)
		lane_register(run->lanes[l]);
	for (int i = 0; i < program->nops; i++) {
		struct lane_run *lane = run->lanes[program->ops[i].lane];

		if (program->ops[i].skip)
			continue;
		lane->next_op = i;
		lane_step(lane);
	}
	for (int l = 0; l < program->nlanes; l++)
		lane_finish(run->lanes[l]);
}

static void open_halves(struct run *run)
{
	const struct program *program = run->program;

	run->halves = MPI_COMM_NULL;
	for (int l = 0; l < program->nlanes; l++) {
		if (!program->lanes[l].in_comm)
			continue;
		MPI_Comm_split(MPI_COMM_WORLD, program->lanes[l].color, program->rank,
			       &run->halves);
		starpu_mpi_comm_register(run->halves);
	}
}

static int start(struct run *run)
{
	struct starpu_conf conf;
	int ret;

	starpu_conf_init(&conf);
	if (run->program->distributed)
		ret = starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf);
	else
		ret = starpu_init(&conf);
	/* On the fake a slave comes back, when it has served. */
	if (run->program->slaves && run->program->rank > 0)
		return 0;
	if (ret) {
		run_bad(run, NULL, "initialisation", (uint64_t)ret, 0);
		return 0;
	}
	run->ncpus = (int)starpu_cpu_worker_get_count();
	run->nworkers = starpu_worker_get_count();
	teams_start(run);
	spill_start(run);
	if (run->program->distributed) {
		run->policy = starpu_mpi_node_selection_register_policy(mpi_choose_node);
		open_halves(run);
	}
	return 1;
}

static void stop(struct run *run)
{
	spill_stop(run);
	if (!run->program->distributed) {
		starpu_shutdown();
		return;
	}
	starpu_mpi_shutdown();
	if (run->halves != MPI_COMM_NULL)
		MPI_Comm_free(&run->halves);
}

/* Threads take turns where there is one, or where it was asked for. */
static int is_played_in_turn(const struct program *program)
{
	return stage_is_single(program->seed) ||
	       (program->distributed && !program->threaded);
}

int run_program(struct program *program)
{
	struct run run = {.program = program};

	stage_set_run(&run);
	if (!start(&run))
		return run.nbad;
	for (int l = 0; l < program->nlanes; l++)
		run.lanes[l] = lane_open(&run, l);
	if (is_played_in_turn(program))
		play_in_turn(&run);
	else
		stage_run_lanes(program->nlanes, lane_play, (void **)run.lanes);
	for (int i = 0; i < program->nops; i++)
		teams_check(&run, &program->ops[i]);
	teams_stop(&run);
	for (int l = 0; l < program->nlanes; l++)
		free(run.lanes[l]);
	stop(&run);
	return run.nbad;
}
