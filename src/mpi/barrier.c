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
	struct barrier_state *state = table_get(&mpi->barriers.among, comm_id);

	if (!state) {
		state = orr_alloc(sizeof(*state));
		table_put(&mpi->barriers.among, comm_id, state);
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

void barriers_free(struct mpi *mpi)
{
	struct barrier_state *state;
	size_t cursor = 0;

	while ((state = table_next(&mpi->barriers.among, &cursor)))
		free(state);
	table_free(&mpi->barriers.among);
}

int barrier_nentered(struct mpi *mpi)
{
	return orr_load(&mpi->barriers.nentered);
}

uint32_t barrier_nall(const struct mpi *mpi, int *is_inside)
{
	*is_inside = mpi->barriers.is_in_all;
	return mpi->barriers.nall;
}

static int wait_step(struct mpi *mpi, const struct mpi_comm *comm, int round)
{
	struct wire_head head = {.kind = WIRE_BARRIER, .round = (uint8_t)round};
	struct barrier_state *state;
	struct plat_gate gate;
	int to = (int)((comm->rank + (1LL << round)) % comm->size), must_wait, ret = 0;

	plat_gate_init(&gate);
	head.comm = comm->id;
	engine_lock(&mpi->engine);
	engine_send_control(mpi, comm_net_rank(comm, to), &head, WIRE_BARRIER_BYTES);
	state = state_of(mpi, comm->id);
	must_wait = state->arrived[round] == 0;
	if (must_wait) {
		state->awaited = round;
		state->gate = &gate;
	}
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	engine_lock(&mpi->engine);
	state->gate = NULL;
	if (ret == 0)
		state->arrived[round]--;
	engine_unlock(&mpi->engine);
	return ret;
}

static void check_members(const struct mpi *mpi, const struct mpi_comm *comm)
{
	for (int rank = 0; rank < comm->size; rank++)
		if (comm_net_rank(comm, rank) < 0)
			orr_die(mpi->rank,
				"starpu_mpi_barrier: rank %d of the communicator is not "
				"in the one given at init, so the library cannot reach "
				"it: expected ranks of that one; or call MPI_Barrier()",
				rank);
}

static int barrier_among(struct mpi *mpi, const struct mpi_comm *comm)
{
	int ret = 0;

	check_members(mpi, comm);

	for (int round = 0; ret == 0 && (1LL << round) < comm->size; round++)
		ret = wait_step(mpi, comm, round);
	return ret;
}

struct world_barrier {
	struct net_barrier barrier; /* first */
	struct outgoing outgoing;
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
	const struct barriers *barriers = &mpi->barriers;
	uint32_t nall = barriers->nall;
	int peer = (mpi->rank + mpi->size - 1) % mpi->size;

	/* It may yet be ahead of a rank that has not come to its last barrier. */
	if (!barriers->peer_leaves || barriers->peer_nall == nall ||
	    (barriers->peer_nall > nall && !mpi->is_leaving))
		return;
	orr_die(mpi->rank,
		"rank %d has come to starpu_mpi_shutdown() after %u calls of "
		"starpu_mpi_barrier() on all ranks, rank %d is in %s after %u: each "
		"barrier must be called by all ranks",
		peer, barriers->peer_nall, mpi->rank,
		mpi->is_leaving ? "shutdown" : "the barrier", nall);
}

void barrier_peer_leaves(struct mpi *mpi, int peer, uint32_t nall)
{
	struct barriers *barriers = &mpi->barriers;
	struct plat_gate *gate = barriers->leave_gate;

	(void)peer;
	barriers->peer_leaves = 1;
	barriers->peer_nall = nall;
	check_peer(mpi);
	barriers->leave_gate = NULL;
	if (gate)
		plat_gate_open(mpi->node->plat, gate);
}

int barrier_leave(struct mpi *mpi)
{
	struct barriers *barriers = &mpi->barriers;
	struct wire_head head = {.kind = WIRE_LEAVING};
	struct plat_gate gate;
	int must_wait, ret = 0;

	if (mpi->size < 2 || mpi->node->machine->ends_standstills)
		return 0;
	plat_gate_init(&gate);
	orr_add(&barriers->nentered, 1);
	engine_lock(&mpi->engine);
	head.ordinal = barriers->nall;
	engine_send_control(mpi, (mpi->rank + 1) % mpi->size, &head, WIRE_LEAVING_BYTES);
	check_peer(mpi);
	must_wait = !barriers->peer_leaves;
	barriers->leave_gate = must_wait ? &gate : NULL;
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	orr_add(&barriers->nentered, -1);
	return ret;
}

static int barrier_of_all(struct mpi *mpi)
{
	struct world_barrier world = {.barrier.done = world_barrier_done,
				      .outgoing.kind = OUTGOING_BARRIER,
				      .outgoing.what.barrier = &world.barrier,
				      .mpi = mpi};
	struct barriers *barriers = &mpi->barriers;
	int ret;

	plat_gate_init(&world.gate);
	engine_lock(&mpi->engine);
	barriers->nall++;
	barriers->is_in_all = 1;
	if (!mpi->is_leaving)
		check_peer(mpi);
	engine_note(mpi, &world.outgoing);
	engine_unlock(&mpi->engine);
	ret = wait_at(mpi->node, &world.gate, WAIT_BARRIER, NULL);
	barriers->is_in_all = 0;
	return ret;
}

void barrier_flush_arrived(struct mpi *mpi, int peer, int is_answer)
{
	struct barriers *barriers = &mpi->barriers;
	struct wire_head head = {.kind = WIRE_FLUSHED};

	if (!is_answer)
		engine_send_control(mpi, peer, &head, WIRE_SHORT_BYTES);
	else if (--barriers->nunflushed == 0)
		plat_gate_open(mpi->node->plat, barriers->flush_gate);
}

int barrier_flush(struct mpi *mpi)
{
	struct barriers *barriers = &mpi->barriers;
	struct wire_head head = {.kind = WIRE_FLUSH};
	struct plat_gate gate;
	int must_wait, ret = 0;

	plat_gate_init(&gate);
	orr_add(&barriers->nentered, 1);
	engine_lock(&mpi->engine);
	barriers->flush_gate = &gate;
	barriers->nunflushed = engine_send_behind(mpi, &head, WIRE_SHORT_BYTES);
	must_wait = barriers->nunflushed > 0;
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
	if (must_wait)
		ret = wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
	orr_add(&barriers->nentered, -1);
	return ret;
}

int mpi_barrier(struct mpi *mpi, int comm)
{
	int ret;

	if (mpi->is_fake)
		return 0;
	orr_add(&mpi->barriers.nentered, 1);
	engine_wake(mpi);
	ret = comm == 0 ? barrier_of_all(mpi)
			: barrier_among(mpi, comm_at(&mpi->comms, comm));
	orr_add(&mpi->barriers.nentered, -1);
	return ret;
}
