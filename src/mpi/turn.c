/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/insert_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

enum { GUESS_BYTES = 512 };

/* Events of the simulation are one thread, too. */
static void *self_of(struct insertion *insertion)
{
	void *self = (void *)(uintptr_t)plat_thread();

	return self ? self : insertion;
}

static void note_thread(struct insertion *insertion, void *self)
{
	if (insertion->first == self || insertion->several)
		return;
	if (insertion->first)
		orr_store(&insertion->several, 1);
	else
		insertion->first = self;
}

/* 0: nothing that the caller could wait for would ever happen. */
static int wait_for_turn(struct mpi *mpi)
{
	struct orr_lock *turn = &mpi->insertion.turn;

	if (!mpi->node->machine->takes_turns) {
		orr_lock(turn);
		return 1;
	}
	while (!orr_trylock(turn)) {
		if (!plat_thread())
			return 0;
		plat_pause(mpi->node->plat);
	}
	return 1;
}

void insert_take_turn(struct insert *insert)
{
	struct insertion *insertion = &insert->mpi->insertion;
	void *self = self_of(insertion);

	if (insert->has_turn || orr_load_ptr(&insertion->mover) == self ||
	    !wait_for_turn(insert->mpi))
		return;
	orr_swap_ptr(&insertion->mover, self);
	insert->has_turn = 1;
	note_thread(insertion, self);
}

void insert_begin_reading(struct insert *insert)
{
	if (!insert->will_read || !insert->has_turn || insert->mpi->cache.is_on)
		return;
	insert->is_reading = 1;
	insert->mpi->insertion.nreading++;
}

int insert_end_reading(struct insert *insert)
{
	struct insertion *insertion = &insert->mpi->insertion;

	insertion->nreading -= insert->is_reading;
	insert->is_reading = 0;
	return insertion->nreading == 0 && !insert_has_halves(insert->mpi);
}

void insert_count_halves(struct mpi *mpi, int ndata)
{
	orr_add(&mpi->insertion.nhalves, ndata);
}

int insert_has_halves(struct mpi *mpi)
{
	return orr_load(&mpi->insertion.nhalves) > 0;
}

void insert_end_turn(struct insert *insert)
{
	struct insertion *insertion = &insert->mpi->insertion;

	if (!insert->has_turn)
		return;
	insert->has_turn = 0;
	orr_swap_ptr(&insertion->mover, NULL);
	orr_unlock(&insertion->turn);
}

/* ---- what may have made ranks differ ----------------------------------- */

void insert_note_sizes(struct mpi *mpi, const struct exchange *task)
{
	struct insertion *insertion = &mpi->insertion;
	starpu_data_handle_t own = NULL;
	char text[128], *guess;

	for (int i = 0; !own && i < task->ndata; i++)
		if (task->data[i].handle && data_agreed_bytes(task->data[i].handle) < 0)
			own = task->data[i].handle;
	if (!own || orr_load_ptr((void **)&insertion->guess))
		return;
	guess = orr_alloc(GUESS_BYTES);
	snprintf(guess, GUESS_BYTES,
		 "; task %s is executed where most bytes of its data are, and of %s "
		 "get_size() of its interface tells them, perhaps not the same on all "
		 "ranks: define get_max_size() in it, or add STARPU_EXECUTE_ON_NODE",
		 task->name, data_describe(own, text, sizeof(text)));
	if (!orr_cas_ptr((void **)&insertion->guess, NULL, guess))
		free(guess);
}

const char *insert_more_words(struct mpi *mpi)
{
	const char *guess = orr_load_ptr((void **)&mpi->insertion.guess);

	if (guess)
		return guess;
	return orr_load(&mpi->insertion.several)
		       ? "; several threads insert here: where one writes what another "
			 "reads, make them wait for each other, so that the order is the "
			 "same on all ranks"
		       : "";
}
