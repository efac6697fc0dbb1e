/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/tally.h"

#include "base/check.h"
#include "core/wait.h"
#include "mpi/mpi.h"

/* What nodes of one process share, where they are: net->shared. */
enum { SHARED_EXECUTED, SHARED_MOST, SHARED_RANK, NSHARED };

_Static_assert((int)NSHARED <= (int)NET_SHARED_WORDS, "all of it has room");

void tally_open(struct mpi *mpi)
{
	mpi->tally.inserted_before = orr_count(&mpi->node->tasks_inserted);
	mpi->tally.submitted_before = orr_count(&mpi->node->tasks_submitted);
}

/* A few less where threads insert at the same time, never more. */
static uint64_t count_inserted(const struct mpi *mpi)
{
	uint64_t all = orr_count(&mpi->node->tasks_inserted) - mpi->tally.inserted_before;
	uint64_t nleft_out = orr_count(&mpi->tally.nleft_out);

	return all > nleft_out ? all - nleft_out : 0;
}

/* Those that it has submitted in another way may be what others insert. */
static uint64_t count_executed(const struct mpi *mpi)
{
	uint64_t inserted = orr_count(&mpi->tally.nexecuted);
	uint64_t submitted =
		orr_count(&mpi->node->tasks_submitted) - mpi->tally.submitted_before;

	return inserted > submitted ? inserted : submitted;
}

static void add(struct tally *tally, int rank, uint64_t inserted, uint64_t executed)
{
	tally->ntold++;
	tally->executed += executed;
	if (inserted > tally->most_inserted) {
		tally->most_inserted = inserted;
		tally->rank_of_most = rank;
	}
}

/* They take turns, so that nobody else looks. */
static void tell_shared(struct mpi *mpi, uint64_t *shared)
{
	shared[SHARED_EXECUTED] += count_executed(mpi);
	if (count_inserted(mpi) > shared[SHARED_MOST]) {
		shared[SHARED_MOST] = count_inserted(mpi);
		shared[SHARED_RANK] = (uint64_t)mpi->rank;
	}
}

static void take_shared(struct mpi *mpi, uint64_t *shared)
{
	mpi->tally.executed = shared[SHARED_EXECUTED];
	mpi->tally.most_inserted = shared[SHARED_MOST];
	mpi->tally.rank_of_most = (int)shared[SHARED_RANK];
	mpi->tally.ntold = mpi->size;
}

void tally_tell(struct mpi *mpi)
{
	struct wire_head head = {.kind = WIRE_TALLY};

	if (mpi->net->shared) {
		tell_shared(mpi, mpi->net->shared);
		return;
	}
	if (mpi->node->machine->one_environment)
		return; /* A message would take simulated time. */
	head.comm = count_inserted(mpi);
	head.bytes = count_executed(mpi);
	engine_lock(&mpi->engine);
	if (mpi->rank == 0)
		add(&mpi->tally, 0, head.comm, head.bytes);
	else
		engine_send_control(mpi, 0, &head, WIRE_STATE_BYTES);
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
}

void tally_came(struct mpi *mpi, int peer, const struct wire_head *head)
{
	struct tally *tally = &mpi->tally;
	struct plat_gate *gate = tally->gate;

	add(tally, peer, head->comm, head->bytes);
	if (!gate || tally->ntold < mpi->size)
		return;
	tally->gate = NULL;
	plat_gate_open(mpi->node->plat, gate);
}

/* All have told before they came to the barrier. */
static void await_all(struct mpi *mpi)
{
	struct plat_gate gate;
	int must_wait;

	plat_gate_init(&gate);
	engine_lock(&mpi->engine);
	must_wait = mpi->tally.ntold < mpi->size;
	mpi->tally.gate = must_wait ? &gate : NULL;
	engine_unlock(&mpi->engine);
	if (must_wait)
		wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
}

void tally_check(struct mpi *mpi)
{
	const struct tally *tally = &mpi->tally;

	if (mpi->rank > 0)
		return;
	if (mpi->net->shared)
		take_shared(mpi, mpi->net->shared);
	else if (!mpi->node->machine->one_environment)
		await_all(mpi);
	if (tally->executed >= tally->most_inserted)
		return;
	orr_complain(
		mpi->rank,
		"starpu_mpi_shutdown: rank %d has inserted %llu tasks, and all ranks "
		"together have executed %llu of those that they inserted: each of the "
		"others was left to a rank that left it to another one, or did not "
		"insert it; all ranks must insert the tasks that they execute "
		"themselves, and give starpu_mpi_data_register(), "
		"starpu_mpi_data_set_rank() and STARPU_EXECUTE_ON_NODE the same ranks "
		"(compare what starpu_mpi_data_get_rank() says on each of them)",
		tally->rank_of_most, (unsigned long long)tally->most_inserted,
		(unsigned long long)tally->executed);
}
