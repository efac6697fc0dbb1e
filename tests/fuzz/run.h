/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_RUN_H
#define ORR_TESTS_FUZZ_RUN_H

/*
 * run.h - a program run by the library, through the public interface.
 *
 * Public headers only, so that the same sources are built for threads and Open MPI,
 * for simulation, and for the fake.
 */
#include <starpu_mpi.h>

#include "program.h"

enum { MAX_CROWDS = 2, NTEAMS = 2, MAX_KEPT = 16, MAX_TAGS = 256, MAX_MANY = 90 };

/* See spill.c. */
struct spill_disk {
	uint64_t nasked;
	unsigned refusals;
};

struct run {
	struct program *program;
	struct lane_run *lanes[MAX_LANES];
	int nbad;          /* atomic */
	int ncpus;         /* workers of processors */
	unsigned nworkers; /* of GPUs, too */
	int policy;        /* that chooses nodes */
	MPI_Comm halves;   /* communicator of some ranks, or MPI_COMM_NULL */
	struct spill_disk disks[SPILL_DISKS];
	size_t taken[SPILL_MAINS];
	/* See crowds.c. */
	struct together *together; /* by number of the operation */
	int teams[NTEAMS];         /* combined workers; -1: none */
};

/* A registered datum of a lane. */
struct live {
	starpu_data_handle_t handle;
	struct shape shape;
	struct view home; /* values NULL: none here */
	int has_scratch_users;
};

struct chain;
struct repeat;
struct ping;
struct medley;

struct lane_run {
	struct run *run;
	const struct lane *lane;
	int index, next_op, rank;
	MPI_Comm comm;
	struct live live[MAX_DATA];
	starpu_data_handle_t scratch; /* of distributed tasks */
	struct starpu_task *kept[MAX_KEPT];
	int nkept;
	starpu_tag_t tags[MAX_TAGS];
	int ntags;
	struct chain *chains;
	struct repeat *repeats;
	struct ping *pings;
	struct acquisition *acquisitions;
	uint64_t many[MAX_MANY];
	starpu_data_handle_t many_handles[MAX_MANY];
	uint64_t many_sum;
	int has_many, cache_is_on, nfetched;
	int ncrowds;
	struct leftover *leftovers;          /* of blend.c */
	struct medley *medley;               /* of medley.c */
	unsigned char generations[MAX_DATA]; /* of its tags, for each datum */
	unsigned crowds[MAX_CROWDS];         /* contexts */
	int is_fixed[MAX_CROWDS];            /* whose workers stay */
};

/* What a kernel is given: its operation, and where to complain. */
struct ticket {
	struct run *run;
	const struct op *op;
	long process, index; /* where these are, and the operation's number */
};

struct ticket ticket_make(struct run *run, const struct op *op);
struct ticket ticket_read(void *arg);
void run_bad(struct run *run, const struct op *op, const char *what, uint64_t seen,
	     uint64_t expected);
/* All of a program; returns how much was wrong. */
int run_program(struct program *program);

/* Registered data: live.c. */
void live_register(struct lane_run *lane, struct live *live, const struct shape *shape);
void live_unregister(struct lane_run *lane, struct live *live);
struct view live_local_view(const struct live *live);
struct view view_of_buffer(void *buffer);
/* The two codelets of reductions. */
struct starpu_codelet *tasks_reduction(int combines);
int live_is_here(const struct lane_run *lane, const struct live *live);
uint64_t live_acquired_hash(struct live *live);

/* Operations: 1 when the kind was theirs. */
int run_task_op(struct lane_run *lane, struct op *op);
int run_local_op(struct lane_run *lane, struct op *op);
int run_chain_op(struct lane_run *lane, struct op *op);
int run_mpi_op(struct lane_run *lane, struct op *op);
int run_p2p_op(struct lane_run *lane, struct op *op);
int run_crowd_op(struct lane_run *lane, struct op *op);
int run_blend_op(struct lane_run *lane, struct op *op);
int run_medley_op(struct lane_run *lane, struct op *op);

/* tasks.c */
void tasks_insert_mpi(struct lane_run *lane, struct op *op);
struct starpu_codelet *tasks_codelet(const struct lane_run *lane, const struct op *op);
int tasks_descriptions(struct lane_run *lane, const struct op *op,
		       struct starpu_data_descr *descr);
void tasks_wait_kept(struct lane_run *lane);
void tasks_keep(struct lane_run *lane, struct starpu_task *task);

/* spill.c: after the library has started, before it stops. */
void spill_start(struct run *run);
void spill_stop(struct run *run);

/* crowds.c: contexts, between the start of a lane and its end; what context the task goes
 * to, 0 the initial one; which combined worker it is bound to, or -1. */
void crowds_open(struct lane_run *lane);
void crowds_close(struct lane_run *lane);
unsigned crowds_context(const struct lane_run *lane, const struct op *op);
int crowds_team(const struct lane_run *lane, const struct op *op);
int crowds_is_parallel(const struct op *op);
/* policies.c: for contexts with these priorities.  Workers of those that make aliases of
 * parallel tasks stay, and are in no two contexts of that kind. */
enum { POLICIES_LEAST = -3, POLICIES_MOST = 3 };
struct starpu_sched_policy *policies_own(unsigned draw);
struct starpu_sched_policy *policies_aliases(unsigned draw);
/* Around a kernel that several call, for the one that computes 1; and when it is over. */
void teams_start(struct run *run);
void teams_stop(struct run *run);
int teams_enter(const struct ticket *ticket);
void teams_leave(const struct ticket *ticket);
void teams_check(struct run *run, const struct op *op);

/* mpi.c */
void mpi_register(struct lane_run *lane, int datum);
/* What others contributed comes to the owner. */
void mpi_reduce(struct lane_run *lane, const struct live *live, unsigned choice);
void mpi_lane_register(struct lane_run *lane);
void mpi_lane_finish(struct lane_run *lane);
int mpi_choose_node(int me, int nnodes, struct starpu_data_descr *descr, int n);

/* medley.c: its data, between the start of a lane and its end. */
void medley_open(struct lane_run *lane);
void medley_close(struct lane_run *lane);

/* At the end of a lane. */
void chains_finish(struct lane_run *lane);
void chains_check_ended(struct lane_run *lane);
void pings_finish(struct lane_run *lane);
void blend_finish(struct lane_run *lane);
void many_finish(struct lane_run *lane);

/* stage.c, stage_fake.c: how ranks and lanes run side by side here. */
void stage_open(int distributed, int *argc, char ***argv);
void stage_close(int distributed);
/* 1 for the one process that prints. */
int stage_is_told(int distributed);
int stage_ranks(uint64_t seed, int distributed);
/* Play the ranks that this process has; returns the sum of what they return. */
int stage_play(uint64_t seed, int distributed, int (*play)(void *arg, int rank),
	       void *arg);
/* A program of one rank whose other ranks are its slaves, at most so many. */
int stage_slaves(uint64_t seed, int most);
int stage_play_slaves(uint64_t seed, int most, int (*play)(void *arg, int rank),
		      void *arg);
/* The run that this process is in, for the kernels that slaves execute. */
void stage_set_run(struct run *run);
struct run *stage_run(void);
void stage_run_lanes(int nlanes, void (*play)(void *lane), void **lanes);
/* Let others go first, where mains take turns. */
void stage_yield(void);
/* 1 when lanes may block each other's thread, so one steps all of them. */
int stage_is_single(uint64_t seed);

#endif
