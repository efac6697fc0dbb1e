/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/wait.h"
#include "mpi/mpi.h"
#include "mpi/plan.h"

enum { NAME_BYTES = 2 * sizeof(uint64_t), WHO_BYTES = 32, FIRST_CALLS = 1024 };

/* One call; the sum is of all up to it. */
struct call {
	uint64_t sum;
	int executor;
	char name[NAME_BYTES]; /* its beginning, for messages */
};

struct compare {
	struct orr_lock lock;
	struct call *calls;
	size_t n, capacity;
	int is_partial; /* some calls did not say who executes */
	/* Rank 0's answer: of this call, and how many it has made. */
	struct plat_gate *gate; /* until it has come; the engine's lock */
	struct call theirs;
	size_t ntheirs;
	int theirs_is_partial;
};

/* In flags of both kinds of messages. */
enum { PARTIAL = 1 };

void compare_open(struct mpi *mpi)
{
	mpi->compare = orr_alloc(sizeof(*mpi->compare));
	mpi->looks_closely = 1;
}

void compare_free(struct mpi *mpi)
{
	if (mpi->compare)
		free(mpi->compare->calls);
	free(mpi->compare);
}

static uint64_t mix_name(const char *name)
{
	uint64_t sum = 1;

	for (; *name; name++)
		sum = table_mix(sum + (unsigned char)*name);
	return sum;
}

void compare_note(struct mpi *mpi, const char *name, int executor)
{
	struct compare *compare = mpi->compare;
	struct call *call;

	orr_lock(&compare->lock);
	if (compare->n == compare->capacity) {
		compare->capacity =
			compare->capacity ? 2 * compare->capacity : FIRST_CALLS;
		compare->calls =
			orr_realloc(compare->calls, compare->capacity * sizeof(*call));
	}
	call = &compare->calls[compare->n];
	memset(call, 0, sizeof(*call));
	call->executor = executor;
	memcpy(call->name, name, strnlen(name, NAME_BYTES));
	call->sum = table_mix((compare->n > 0 ? call[-1].sum : 0) + mix_name(name) +
			      (uint64_t)(uint32_t)executor);
	compare->n++;
	compare->is_partial |= executor == OWNER_UNSET;
	orr_unlock(&compare->lock);
}

/* ---- questions and answers --------------------------------------------- */

static void answer(struct mpi *mpi, int peer, uint64_t index)
{
	const struct compare *compare = mpi->compare;
	struct wire_head head = {.kind = WIRE_COMPARED,
				 .flags = compare->is_partial ? PARTIAL : 0,
				 .comm = compare->n};

	if (index < compare->n) {
		const struct call *call = &compare->calls[index];

		head.bytes = call->sum;
		head.ordinal = (uint32_t)call->executor;
		memcpy(&head.sender, call->name, sizeof(head.sender));
		memcpy(&head.key, call->name + sizeof(head.sender), sizeof(head.key));
	}
	engine_send_control(mpi, peer, &head, sizeof(head));
}

static void note_answer(struct mpi *mpi, const struct wire_head *head)
{
	struct compare *compare = mpi->compare;
	struct plat_gate *gate = compare->gate;

	compare->ntheirs = head->comm;
	compare->theirs_is_partial = head->flags & PARTIAL;
	compare->theirs.sum = head->bytes;
	compare->theirs.executor = (int)head->ordinal;
	memcpy(compare->theirs.name, &head->sender, sizeof(head->sender));
	memcpy(compare->theirs.name + sizeof(head->sender), &head->key,
	       sizeof(head->key));
	compare->gate = NULL;
	plat_gate_open(mpi->node->plat, gate);
}

void compare_heard(struct mpi *mpi, int peer, const struct wire_head *head)
{
	ORR_ASSERT(mpi->compare);
	if (head->kind == WIRE_COMPARE)
		answer(mpi, peer, (uint64_t)head->tag);
	else
		note_answer(mpi, head);
}

/* What rank 0 has for a call, then in compare->theirs. */
static void ask(struct mpi *mpi, size_t index)
{
	struct wire_head head = {.kind = WIRE_COMPARE, .tag = (int64_t)index};
	struct plat_gate gate;

	plat_gate_init(&gate);
	engine_lock(&mpi->engine);
	mpi->compare->gate = &gate;
	engine_send_control(mpi, 0, &head, sizeof(head));
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
	wait_at(mpi->node, &gate, WAIT_BARRIER, NULL);
}

/* ---- the first that differs ---------------------------------------------- */

static const char *who(int executor, char *text)
{
	if (executor == PLAN_EVERYWHERE)
		snprintf(text, WHO_BYTES, "all ranks");
	else
		snprintf(text, WHO_BYTES, "rank %d", executor);
	return text;
}

static void complain(const struct mpi *mpi, size_t index)
{
	const struct compare *compare = mpi->compare;
	const struct call *ours = &compare->calls[index], *theirs = &compare->theirs;
	char here[WHO_BYTES], there[WHO_BYTES];

	orr_complain(
		mpi->rank,
		"starpu_mpi_shutdown: the ranks have inserted different tasks "
		"(ORRERY_MPI_COMPARE): the first is call %zu of "
		"starpu_mpi_task_insert(), here task \"%.*s\", which %s executes, on "
		"rank 0 task \"%.*s\", which %s executes; insert the same tasks on "
		"all ranks, in one order, and give STARPU_EXECUTE_ON_NODE, "
		"starpu_mpi_data_register() and starpu_mpi_data_set_rank() the same "
		"ranks",
		index + 1, NAME_BYTES, ours->name, who(ours->executor, here), NAME_BYTES,
		theirs->name, who(theirs->executor, there));
}

/* All calls that both have made are the same. */
static void complain_of_number(const struct mpi *mpi)
{
	const struct compare *compare = mpi->compare;

	orr_complain(mpi->rank,
		     "starpu_mpi_shutdown: this rank has inserted %zu tasks, rank 0 %zu "
		     "(ORRERY_MPI_COMPARE), and they agree until one has no more; insert "
		     "the same tasks on all ranks",
		     compare->n, compare->ntheirs);
}

/* Of n calls, which are not all the same. */
static void find_first(struct mpi *mpi, size_t n)
{
	const struct compare *compare = mpi->compare;
	size_t low = 0, high = n - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		ask(mpi, middle);
		if (compare->theirs.sum == compare->calls[middle].sum)
			low = middle + 1;
		else
			high = middle;
	}
	ask(mpi, low);
	complain(mpi, low);
}

static void compare_with_first(struct mpi *mpi)
{
	const struct compare *compare = mpi->compare;
	size_t n;

	ask(mpi, 0);
	n = compare->n < compare->ntheirs ? compare->n : compare->ntheirs;
	if (compare->is_partial || compare->theirs_is_partial) {
		orr_complain(mpi->rank,
			     "ORRERY_MPI_COMPARE: not compared with rank 0, since tasks "
			     "with NULL for handles do not say who executes them");
		return;
	}
	if (n > 0)
		ask(mpi, n - 1);
	if (n > 0 && compare->theirs.sum != compare->calls[n - 1].sum)
		find_first(mpi, n);
	else if (compare->n != compare->ntheirs)
		complain_of_number(mpi);
}

void compare_check(struct mpi *mpi)
{
	if (!mpi->compare)
		return;
	if (mpi->rank > 0)
		compare_with_first(mpi);
	/* Rank 0 answers meanwhile. */
	mpi_barrier(mpi, 0);
}
