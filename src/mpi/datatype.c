/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/datatype.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/buffers.h"
#include "core/outside.h"
#include "mpi/mpi.h"

void datatypes_init(struct datatypes *datatypes)
{
	orr_lock_init(&datatypes->lock);
}

void datatypes_free(struct datatypes *datatypes)
{
	struct datatype *datatype;
	size_t cursor = 0;

	while ((datatype = table_next(&datatypes->by_id, &cursor)))
		free(datatype);
	table_free(&datatypes->by_id);
}

static uint64_t key_of(int interface_id)
{
	return (uint64_t)interface_id + 1;
}

void datatype_remove(struct datatypes *datatypes, int interface_id)
{
	struct datatype *old;

	orr_lock(&datatypes->lock);
	old = table_get(&datatypes->by_id, key_of(interface_id));
	if (old) {
		table_remove(&datatypes->by_id, key_of(interface_id));
		orr_store(&datatypes->n, datatypes->n - 1);
	}
	orr_unlock(&datatypes->lock);
	free(old);
}

void datatype_put(struct datatypes *datatypes, int interface_id,
		  const struct datatype *datatype)
{
	struct datatype *own = orr_alloc(sizeof(*own));

	*own = *datatype;
	datatype_remove(datatypes, interface_id);
	orr_lock(&datatypes->lock);
	table_put(&datatypes->by_id, key_of(interface_id), own);
	orr_store(&datatypes->n, datatypes->n + 1);
	orr_unlock(&datatypes->lock);
}

/* ---- one value -------------------------------------------------------- */

static int find(struct datatypes *datatypes, int interface_id, struct datatype *found)
{
	struct datatype *datatype;

	if (orr_load(&datatypes->n) == 0)
		return 0;
	orr_lock(&datatypes->lock);
	datatype = table_get(&datatypes->by_id, key_of(interface_id));
	if (datatype)
		*found = *datatype;
	orr_unlock(&datatypes->lock);
	return datatype != NULL;
}

/* Once for each interface. */
static int tells(struct datatypes *datatypes, int interface_id)
{
	struct datatype *datatype;
	int tells = 0;

	orr_lock(&datatypes->lock);
	datatype = table_get(&datatypes->by_id, key_of(interface_id));
	if (datatype) {
		tells = !datatype->is_told;
		datatype->is_told = 1;
	}
	orr_unlock(&datatypes->lock);
	return tells;
}

/* Does the value have one buffer, where its address is?  Then the interface has this one
 * pointer.  Others may have theirs anywhere. */
static int has_one_buffer(const void *interface, size_t bytes, const void *base)
{
	uintptr_t word;
	int npointers = 0, nbases = 0;

	for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (const char *)interface + at, sizeof(word));
		npointers += word > UINT32_MAX;
		nbases += word == (uintptr_t)base;
	}
	return base && nbases == 1 && npointers == 1;
}

/* What a type describes beyond the memory of the datum belongs to something else, but for
 * the interface itself, which may hold a part of the value, such as how much there is. */
static void check_span(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory,
		       const struct place *place)
{
	const struct copy_state *copy = data_find_copy(handle, memory);
	const char *base = datatype_base(handle, memory);
	size_t bytes = data_alloc_bytes(handle);
	struct place_range interface, span = {0, 0};
	char text[128];

	if (!copy)
		return;
	interface.from = (ptrdiff_t)((uintptr_t)copy->interface - (uintptr_t)base);
	interface.to = interface.from + (ptrdiff_t)handle->ops->interface_size;
	place_span(place, 0, &interface, &span);
	if ((span.from >= 0 && span.to <= (ptrdiff_t)bytes) ||
	    !has_one_buffer(copy->interface, handle->ops->interface_size, base) ||
	    !tells(&mpi->lasting->datatypes, (int)handle->ops->interfaceid))
		return;
	orr_complain(
		mpi->rank,
		"%s: the datatype of its interface describes bytes %lld to %lld, but "
		"the data has %zu: a transfer reads or overwrites what lies beside "
		"it; make what is given to starpu_mpi_interface_datatype_register() "
		"describe the data alone, or get_size() of the interface return all "
		"bytes",
		data_describe(handle, text, sizeof(text)), (long long)span.from,
		(long long)span.to, bytes);
}

static struct place *ask(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory)
{
	struct datatype datatype;
	struct place *place = NULL;
	struct net_type type;
	OUTSIDE(outside);

	if (!mpi->net->place_of ||
	    !find(&mpi->lasting->datatypes, (int)handle->ops->interfaceid, &datatype))
		return NULL;
	if (mpi->mpi_is_serial)
		engine_hold_mpi(mpi);
	outside_enter(&outside, mpi->node, "a function that gives or frees a datatype");
	if (datatype.ask(&datatype, handle, memory, &type) == 0) {
		place = mpi->net->place_of(&type);
		datatype.give_back(&datatype, &type);
	}
	outside_end(&outside);
	if (place)
		check_span(mpi, handle, memory, place);
	if (mpi->mpi_is_serial)
		engine_let_go_mpi(mpi);
	return place;
}

struct place *datatype_ask(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory)
{
	return mpi->net->may_ask ? NULL : ask(mpi, handle, memory);
}

char *datatype_base(starpu_data_handle_t handle, unsigned memory)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	struct copy_state *copy = data_find_copy(handle, memory);

	if (!copy)
		return NULL;
	if (ops->to_pointer)
		return ops->to_pointer(copy->interface, memory);
	return ops->handle_to_pointer ? ops->handle_to_pointer(handle, memory) : NULL;
}

/* ---- asked before ------------------------------------------------------ */

/*
 * Interfaces of several buffers have types whose offsets depend on where these are.  The
 * words of the interface say that, then and later: a block moves as the pointer moves
 * that points to it, or to the nearest byte before it.  What lies in the interface
 * itself, a number of elements for instance, moves as little as that does.
 */
enum { LOWEST_ADDRESS = 4096 }; /* of a pointer: smaller words are numbers */

struct answer {
	struct place *place;
	uintptr_t base;
	uintptr_t interface; /* where it is */
	size_t nwords;
	uintptr_t words[];
};

static struct answer *answer_new(starpu_data_handle_t handle, struct place *place)
{
	const void *interface = data_home_copy(handle)->interface;
	size_t n = handle->ops->interface_size / sizeof(uintptr_t);
	struct answer *answer = orr_alloc(sizeof(*answer) + n * sizeof(uintptr_t));

	answer->place = place;
	answer->base = (uintptr_t)datatype_base(handle, STARPU_MAIN_RAM);
	answer->interface = (uintptr_t)interface;
	answer->nwords = n;
	memcpy(answer->words, interface, n * sizeof(uintptr_t));
	return answer;
}

void answer_free(struct answer *answer)
{
	if (answer)
		place_free(answer->place);
	free(answer);
}

struct answer *datatype_ask_first(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct datatype datatype;
	struct answer *answer = NULL;
	struct copy_state *copy;
	struct place *place;
	void *loan;

	if (!mpi->net->may_ask || !mpi->net->may_ask() ||
	    !find(&mpi->lasting->datatypes, (int)handle->ops->interfaceid, &datatype))
		return NULL;
	orr_lock(&handle->lock);
	copy = data_copy(handle, STARPU_MAIN_RAM);
	loan = buffers_lend(copy);
	orr_unlock(&handle->lock);
	place = ask(mpi, handle, STARPU_MAIN_RAM);
	if (place)
		answer = answer_new(handle, place);
	orr_lock(&handle->lock);
	buffers_end_loan(copy, loan);
	orr_unlock(&handle->lock);
	return answer;
}

struct move {
	const struct answer *answer;
	size_t bytes;           /* of the interface */
	uintptr_t base;         /* where the value is now */
	const uintptr_t *words; /* of the interface now */
};

static ptrdiff_t shift(void *arg, ptrdiff_t at)
{
	const struct move *move = arg;
	const struct answer *answer = move->answer;
	uintptr_t address = answer->base + (uintptr_t)at;
	uintptr_t from = answer->base, to = move->base;

	if (address - answer->interface < move->bytes)
		return (ptrdiff_t)((uintptr_t)move->words - answer->interface -
				   (move->base - answer->base));
	for (size_t i = 0; i < answer->nwords; i++)
		if (answer->words[i] >= LOWEST_ADDRESS && answer->words[i] <= address &&
		    (answer->words[i] > from || from > address)) {
			from = answer->words[i];
			to = move->words[i];
		}
	return (ptrdiff_t)((to - from) - (move->base - answer->base));
}

struct place *answered_place(struct answer *answer, starpu_data_handle_t handle,
			     unsigned memory)
{
	struct move move = {answer, handle->ops->interface_size,
			    (uintptr_t)datatype_base(handle, memory),
			    data_find_copy(handle, memory)->interface};
	size_t bytes = answer->nwords * sizeof(uintptr_t);
	struct place *place = memcmp(move.words, answer->words, bytes) == 0
				      ? place_hold(answer->place)
				      : place_shifted(answer->place, shift, &move);

	answer_free(answer);
	return place;
}
