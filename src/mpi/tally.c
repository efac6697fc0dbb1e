/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/tally.h"

#include <string.h>

#include "base/check.h"
#include "core/wait.h"
#include "mpi/mpi.h"

/* Nodes of one process share it: net->shared. */
_Static_assert(sizeof(struct tally_sum) <= NET_SHARED_WORDS * sizeof(uint64_t),
	       "all of it has room");

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

static struct tally_told told(const struct mpi *mpi)
{
	const struct registry *registry = &mpi->registry;
	struct tally_told told = {.inserted = count_inserted(mpi),
				  .listed = orr_count(&mpi->tally.nexecuted),
				  .known = registry->known,
				  .owned = registry->owned};

	/* Those that it has submitted in another way may be what others insert. */
	told.executed =
		orr_count(&mpi->node->tasks_submitted) - mpi->tally.submitted_before;
	told.does_else = told.executed > told.listed || registry->owners_moved ||
			 orr_load(&mpi->tally.posts);
	if (told.executed < told.listed)
		told.executed = told.listed;
	return told;
}

static void add(struct tally_sum *sum, int rank, const struct tally_told *told)
{
	if (sum->nranks > 0 &&
	    (told->known != sum->known || told->inserted != sum->most_inserted))
		sum->differ = 1;
	sum->nranks++;
	sum->executed += told->executed;
	sum->listed += told->listed;
	sum->known = told->known;
	sum->owned += told->owned;
	sum->does_else |= told->does_else;
	if (told->inserted > sum->most_inserted) {
		sum->most_inserted = told->inserted;
		sum->rank_of_most = rank;
	}
}

/* They take turns, so that nobody else looks. */
static void tell_shared(const struct mpi *mpi, const struct tally_told *told,
			uint64_t *shared)
{
	struct tally_sum sum;

	memcpy(&sum, shared, sizeof(sum));
	add(&sum, mpi->rank, told);
	memcpy(shared, &sum, sizeof(sum));
}

void tally_tell(struct mpi *mpi)
{
	const struct tally_told own = told(mpi);
	struct wire_head head = {.kind = WIRE_TALLY,
				 .flags = (uint16_t)own.does_else,
				 .comm = own.inserted,
				 .tag = (int64_t)own.known,
				 .bytes = own.executed,
				 .sender = own.owned,
				 .key = own.listed};

	if (mpi->net->shared) {
		tell_shared(mpi, &own, mpi->net->shared);
		return;
	}
	engine_lock(&mpi->engine);
	if (mpi->rank == 0)
		add(&mpi->tally.sum, 0, &own);
	else
		engine_send_control(mpi, 0, &head, sizeof(head));
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
}

void tally_came(struct mpi *mpi, int peer, const struct wire_head *head)
{
	struct tally *tally = &mpi->tally;
	struct plat_gate *gate = tally->gate;
	const struct tally_told told = {.inserted = head->comm,
					.listed = head->key,
					.executed = head->bytes,
					.known = (uint64_t)head->tag,
					.owned = head->sender,
					.does_else = head->flags};

	add(&tally->sum, peer, &told);
	if (!gate || tally->sum.nranks < mpi->size)
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
	must_wait = mpi->tally.sum.nranks < mpi->size;
	mpi->tally.gate = must_wait ? &gate : NULL;
	engine_unlock(&mpi->engine);
	if (must_wait)
		wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
}

/* ---- the judgement --------------------------------------------------- */

static void complain_lost(struct mpi *mpi, const struct tally_sum *sum)
{
	orr_complain(
		mpi->rank,
		"starpu_mpi_shutdown: rank %d has inserted %llu tasks, and all ranks "
		"together have executed %llu of those that they inserted: each of the "
		"others was left to a rank that left it to another one, or did not "
		"insert it; all ranks must insert the tasks that they execute "
		"themselves, and give starpu_mpi_data_register(), "
		"starpu_mpi_data_set_rank() and STARPU_EXECUTE_ON_NODE the same ranks "
		"(compare what starpu_mpi_data_get_rank() says on each of them)%s",
		sum->rank_of_most, (unsigned long long)sum->most_inserted,
		(unsigned long long)sum->executed, insert_more_words(mpi));
}

/*
 * Ranks that insert only what concerns them know other data than others, or insert other
 * numbers of tasks.  That ranks differ about owners is still no proof where as many tasks
 * were executed as there are: some may be for data that tasks do not write.
 */
static int owners_differ(const struct tally_sum *sum)
{
	return !sum->differ && sum->owned != sum->known && sum->most_inserted > 0 &&
	       (sum->listed > sum->most_inserted ||
		(sum->listed == sum->most_inserted && !sum->does_else));
}

static void complain_disputed(int rank, const struct tally_sum *sum)
{
	orr_complain(
		rank,
		"starpu_mpi_shutdown: the ranks differ about who owns data: all %d have "
		"registered the same tags and inserted %llu tasks each, and together "
		"they have executed %llu%s; give starpu_mpi_data_register() and "
		"starpu_mpi_data_set_rank() the same rank on all of them (compare what "
		"starpu_mpi_data_get_rank() says on each), and data that each rank has "
		"for itself a tag that no other rank uses, or STARPU_MPI_PER_NODE",
		sum->nranks, (unsigned long long)sum->most_inserted,
		(unsigned long long)sum->listed,
		sum->listed > sum->most_inserted
			? ": several ranks have each executed the same ones"
			: ", some of them on several ranks and as many on none");
}

void tally_check(struct mpi *mpi)
{
	struct tally_sum *sum = &mpi->tally.sum;

	if (mpi->rank > 0)
		return;
	if (mpi->net->shared)
		memcpy(sum, mpi->net->shared, sizeof(*sum));
	else
		await_all(mpi);
	if (sum->executed < sum->most_inserted)
		complain_lost(mpi, sum);
	else if (owners_differ(sum))
		complain_disputed(mpi->rank, sum);
}
