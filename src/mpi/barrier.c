/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/barrier.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/wait.h"
#include "mpi/mpi.h"

enum { BARRIER_ROUNDS = 31 };

struct barrier_state {
	unsigned arrived[BARRIER_ROUNDS];
	int awaited; /* round that gate waits for */
	struct plat_gate *gate;
};

/* The engine is locked. */
static struct barrier_state *state_of(struct mpi *mpi, uint64_t comm_id)
{
	struct barrier_state *state = table_get(&mpi->engine.barriers, comm_id);

	if (!state) {
		state = orr_alloc(sizeof(*state));
		table_put(&mpi->engine.barriers, comm_id, state);
	}
	return state;
}

void barrier_step_arrived(struct mpi *mpi, uint64_t comm_id, int round)
{
	struct barrier_state *state = state_of(mpi, comm_id);
	struct plat_gate *gate = state->gate;

	ORR_ASSERT(round < BARRIER_ROUNDS);
	state->arrived[round]++;
	if (gate && state->awaited == round) {
		state->gate = NULL;
		plat_gate_open(mpi->node->plat, gate);
	}
}

void barrier_free_all(struct mpi *mpi)
{
	struct barrier_state *state;
	size_t cursor = 0;

	while ((state = table_next(&mpi->engine.barriers, &cursor)))
		free(state);
	table_free(&mpi->engine.barriers);
}

static int wait_step(struct mpi *mpi, const struct mpi_comm *comm, int round)
{
	struct engine *engine = &mpi->engine;
	struct wire_head head = {.kind = WIRE_BARRIER, .round = (uint8_t)round};
	struct barrier_state *state;
	struct plat_gate gate;
	int to = (int)((comm->rank + (1LL << round)) % comm->size), must_wait, ret = 0;

	plat_gate_init(&gate);
	head.comm = comm->id;
	engine_lock(engine);
	engine_send_control(mpi, comm_net_rank(comm, to), &head, WIRE_BARRIER_BYTES);
	state = state_of(mpi, comm->id);
	must_wait = state->arrived[round] == 0;
	if (must_wait) {
		state->awaited = round;
		state->gate = &gate;
	}
	orr_unlock(&engine->lock);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	engine_lock(engine);
	state->gate = NULL;
	if (ret == 0)
		state->arrived[round]--;
	orr_unlock(&engine->lock);
	return ret;
}

static int barrier_among(struct mpi *mpi, const struct mpi_comm *comm)
{
	int ret = 0;

	for (int round = 0; ret == 0 && (1LL << round) < comm->size; round++)
		ret = wait_step(mpi, comm, round);
	return ret;
}

struct world_barrier {
	struct net_barrier barrier; /* first */
	struct mpi *mpi;
	struct plat_gate gate;
};

static void world_barrier_done(struct net_barrier *barrier)
{
	struct world_barrier *world = (struct world_barrier *)(void *)barrier;

	plat_gate_open(world->mpi->node->plat, &world->gate);
}

/* The rank before this one is in shutdown; the engine is locked. */
static void check_peer(const struct mpi *mpi)
{
	const struct engine *engine = &mpi->engine;
	uint32_t nbarriers = mpi->standstill.nbarriers;
	int peer = (mpi->rank + mpi->size - 1) % mpi->size;

	/* It may yet be ahead of a rank that has not come to its last barrier. */
	if (!engine->peer_leaves || engine->peer_nbarriers == nbarriers ||
	    (engine->peer_nbarriers > nbarriers && !engine->is_leaving))
		return;
	orr_die(mpi->rank,
		"rank %d has come to starpu_mpi_shutdown() after %u calls of "
		"starpu_mpi_barrier() on all ranks, rank %d is in %s after %u: each "
		"barrier must be called by all ranks",
		peer, engine->peer_nbarriers, mpi->rank,
		engine->is_leaving ? "shutdown" : "the barrier", nbarriers);
}

void barrier_peer_leaves(struct mpi *mpi, int peer, uint32_t nbarriers)
{
	struct engine *engine = &mpi->engine;
	struct plat_gate *gate = engine->leave_gate;

	(void)peer;
	engine->peer_leaves = 1;
	engine->peer_nbarriers = nbarriers;
	check_peer(mpi);
	engine->leave_gate = NULL;
	if (gate)
		plat_gate_open(mpi->node->plat, gate);
}

int barrier_leave(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	struct wire_head head = {.kind = WIRE_LEAVING};
	struct plat_gate gate;
	int must_wait, ret = 0;

	/* A simulation that cannot go on says so by itself. */
	if (mpi->size < 2 || mpi->node->machine->simulated)
		return 0;
	plat_gate_init(&gate);
	orr_add(&engine->nbarriers, 1);
	engine_lock(engine);
	head.ordinal = mpi->standstill.nbarriers;
	engine_send_control(mpi, (mpi->rank + 1) % mpi->size, &head, WIRE_LEAVING_BYTES);
	check_peer(mpi);
	must_wait = !engine->peer_leaves;
	engine->leave_gate = must_wait ? &gate : NULL;
	orr_unlock(&engine->lock);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	orr_add(&engine->nbarriers, -1);
	return ret;
}

static int barrier_of_all(struct mpi *mpi)
{
	struct world_barrier world = {.barrier.done = world_barrier_done, .mpi = mpi};
	struct engine *engine = &mpi->engine;
	int ret;

	plat_gate_init(&world.gate);
	engine_lock(engine);
	mpi->standstill.nbarriers++;
	mpi->standstill.is_in_barrier = 1;
	if (!engine->is_leaving)
		check_peer(mpi);
	mpi->net->ops->barrier(mpi->net, &world.barrier);
	orr_unlock(&engine->lock);
	ret = wait_at(mpi->node, &world.gate, WAIT_BARRIER, NULL);
	mpi->standstill.is_in_barrier = 0;
	return ret;
}

void barrier_flush_arrived(struct mpi *mpi, int peer, int is_answer)
{
	struct engine *engine = &mpi->engine;
	struct wire_head head = {.kind = WIRE_FLUSHED};

	if (!is_answer)
		engine_send_control(mpi, peer, &head, WIRE_SHORT_BYTES);
	else if (--engine->nunflushed == 0)
		plat_gate_open(mpi->node->plat, engine->flush_gate);
}

int barrier_flush(struct mpi *mpi)
{
	struct engine *engine = &mpi->engine;
	struct wire_head head = {.kind = WIRE_FLUSH};
	struct plat_gate gate;
	size_t cursor = 0;
	void *peer;
	int must_wait, ret = 0;

	plat_gate_init(&gate);
	orr_add(&engine->nbarriers, 1);
	engine_lock(engine);
	engine->flush_gate = &gate;
	engine->nunflushed = (int)engine->sent_to.count;
	must_wait = engine->nunflushed > 0;
	while ((peer = table_next(&engine->sent_to, &cursor)))
		engine_send_control(mpi, (int)(uintptr_t)peer - 1, &head,
				    WIRE_SHORT_BYTES);
	orr_unlock(&engine->lock);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	orr_add(&engine->nbarriers, -1);
	return ret;
}

int mpi_barrier(struct mpi *mpi, int comm)
{
	int ret;

	if (mpi->is_fake)
		return 0;
	orr_add(&mpi->engine.nbarriers, 1);
	engine_wake(mpi);
	ret = comm == 0 ? barrier_of_all(mpi)
			: barrier_among(mpi, comm_at(&mpi->comms, comm));
	orr_add(&mpi->engine.nbarriers, -1);
	return ret;
}
