/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "program.h"

/* generate_mpi.c - what a lane does whose data lie on several ranks. */

/* By weight; the rest are tasks. */
static const struct {
	unsigned char kind, weight, uses;
	unsigned char in_comm; /* also in a communicator of some ranks */
	enum feature feature;
} distributed_table[] = {
	{OP_FLUSH, 2, 1, 1, NFEATURES},
	{OP_FLUSH_ALL, 2, 0, 0, NFEATURES},
	{OP_CACHE_SET, 1, 0, 0, FEATURE_CACHE_SET},
	{OP_SOURCE, 3, 1, 1, NFEATURES},
	{OP_MIGRATE, 4, 1, 1, FEATURE_MIGRATE},
	{OP_GET, 2, 1, 1, NFEATURES},
	{OP_GET_DETACHED, 2, 1, 1, NFEATURES},
	{OP_GET_ALL, 2, 1, 1, NFEATURES},
	{OP_BARRIER, 2, 0, 1, NFEATURES},
	{OP_MPI_WAIT, 2, 0, 0, NFEATURES},
	{OP_CHECK, 4, 1, 1, NFEATURES},
	{OP_OWNER_WRITES, 2, 1, 1, NFEATURES},
	{OP_RENEW, 1, 1, 1, NFEATURES},
	{OP_PING, 6, 0, 0, FEATURE_PING},
	{OP_P2P, 6, 0, 0, NFEATURES},
	{OP_BATCH, 4, 0, 0, NFEATURES},
	{OP_CLAN, 4, 0, 1, FEATURE_PARTITIONS},
	{OP_UPHEAVAL, 2, 0, 0, FEATURE_UPHEAVAL},
};

enum { NDISTRIBUTED = sizeof(distributed_table) / sizeof(distributed_table[0]) };

static void add_distributed_task(struct program *program, struct rng *rng, int lane)
{
	static const unsigned flags[] = {0,
					 0,
					 0,
					 0,
					 TASK_ON_NODE,
					 TASK_ON_NODE,
					 TASK_ON_DATA,
					 TASK_HALVES,
					 TASK_HALVES | TASK_ON_NODE,
					 TASK_POLICY};
	struct op *op = program_add(program, rng, OP_TASK, lane);

	op->flags = flags[rng_below(rng, sizeof(flags) / sizeof(flags[0]))];
	if (rng_below(rng, 4) == 0)
		op->flags |= TASK_MODEL;
	if (!has_feature(program, FEATURE_POLICY))
		op->flags &= ~(unsigned)TASK_POLICY;
	generate_uses(program, rng, op);
}

/* Threads of a rank that only send and receive. */
static void add_transfer(struct program *program, struct rng *rng, int lane)
{
	program_add(program, rng, rng_below(rng, 3) ? OP_P2P : OP_BATCH, lane);
}

/* What is done by hand; the same datum as for other operations. */
static void add_blend(struct program *program, struct rng *rng, int lane, unsigned datum)
{
	static const unsigned char kinds[] = {
		OP_COPY, OP_COPY, OP_COPY,    OP_SPREAD, OP_SPREAD,  OP_POST,
		OP_POST, OP_TAKE, OP_REPLACE, OP_COOP,   OP_COMBINE, OP_ALL_GATHER};
	struct op *op =
		program_add(program, rng, kinds[rng_below(rng, sizeof(kinds))], lane);

	op->uses = calloc(1, sizeof(*op->uses));
	op->nuses = 1;
	op->uses->datum = (unsigned char)(datum % (unsigned)program->lanes[lane].ndata);
	if (op->kind == OP_REPLACE)
		generate_shape(program, rng, lane, &op->shape);
}

/*
 * Lanes that are threads may not do what concerns the data of all: ranks would not agree
 * on what came before it, and waiting for all waits for other lanes, too, for which
 * those of other ranks may wait in turn.
 */
static int is_for_all(enum op_kind kind)
{
	return kind == OP_CACHE_SET || kind == OP_FLUSH_ALL || kind == OP_MPI_WAIT ||
	       kind == OP_UPHEAVAL || kind == OP_PING; /* Waited for with all. */
}

void generate_distributed(struct program *program, struct rng *rng, int lane)
{
	unsigned at = rng_below(rng, 130), datum = rng_below(rng, 1u << 16);

	if (program->lanes[lane].only_transfers) {
		add_transfer(program, rng, lane);
		return;
	}
	if (has_feature(program, FEATURE_MEDLEY) && rng_below(rng, 2)) {
		program_add(program, rng, OP_MEDLEY, lane);
		return;
	}
	if (has_feature(program, FEATURE_BLEND) && rng_below(rng, 5) == 0) {
		add_blend(program, rng, lane, datum);
		return;
	}
	for (int i = 0; i < NDISTRIBUTED; i++) {
		struct op *op;

		if (at >= distributed_table[i].weight) {
			at -= distributed_table[i].weight;
			continue;
		}
		if (program->lanes[lane].in_comm && !distributed_table[i].in_comm)
			break;
		if (distributed_table[i].feature != NFEATURES &&
		    !has_feature(program, distributed_table[i].feature))
			break;
		if (program->threaded && is_for_all(distributed_table[i].kind))
			break;
		op = program_add(program, rng, distributed_table[i].kind, lane);
		if (distributed_table[i].uses) {
			op->uses = calloc(1, sizeof(*op->uses));
			op->nuses = 1;
			op->uses->datum =
				(unsigned char)(datum %
						(unsigned)program->lanes[lane].ndata);
		}
		if (op->kind == OP_RENEW)
			generate_shape(program, rng, lane, &op->shape);
		return;
	}
	add_distributed_task(program, rng, lane);
}
