/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/raise.h"

#include "mpi/mpi.h"

/* Two keys may be the same: who finds a request looks whose it is. */
static uint64_t key_of(enum request_kind kind, const void *handle, int net_peer)
{
	uint64_t key = (uintptr_t)handle;

	return kind == REQUEST_SEND ? key ^ ((uint64_t)(net_peer + 1) << 48) : key;
}

static uint64_t key_of_request(const struct request *request)
{
	return key_of(request->kind, request_handle(request), request->match.source);
}

/* Of small ones, sends whose message may wait behind others.  Where nobody has given a
 * priority so far nobody need look.  The engine is locked: applications' interfaces are
 * not asked. */
static int is_noted(const struct mpi *mpi, const struct request *request)
{
	starpu_data_handle_t handle = request_handle(request);

	if (!mpi->has_priorities)
		return 0;
	if ((int)handle->ops->interfaceid >= STARPU_MAX_INTERFACE_ID ||
	    data_alloc_bytes(handle) > mpi->net->eager_bytes)
		return 1;
	return request->kind == REQUEST_SEND && orr_load(&mpi->engine.raising.is_used);
}

/* Of several with one key it is the last. */
static void put(struct raising *raising, struct request *request)
{
	struct request *older =
		table_put(&raising->requests, key_of_request(request), request);

	if (!older)
		return;
	older->is_noted = 0;
	orr_store(&raising->nnoted, raising->nnoted - 1);
}

void raise_note(struct mpi *mpi, struct request *request)
{
	struct raising *raising = &mpi->engine.raising;

	if (request->priority != 0)
		orr_store(&raising->is_used, 1);
	if (!is_noted(mpi, request))
		return;
	if (request->priority < raising->least || raising->nnoted == 0)
		orr_store(&raising->least, request->priority);
	request->is_noted = 1;
	orr_store(&raising->nnoted, raising->nnoted + 1);
	if (raising->is_indexed)
		put(raising, request);
}

/* Somebody looks for one: from now on they are found by what they are. */
static void make_index(struct mpi *mpi)
{
	struct request *request = NULL;

	mpi->engine.raising.is_indexed = 1;
	while ((request = engine_next(mpi, request)))
		if (request->is_noted)
			put(&mpi->engine.raising, request);
}

void raise_forget(struct mpi *mpi, struct request *request)
{
	struct raising *raising = &mpi->engine.raising;

	if (!request->is_noted)
		return;
	request->is_noted = 0;
	orr_store(&raising->nnoted, raising->nnoted - 1);
	if (raising->is_indexed)
		table_remove(&raising->requests, key_of_request(request));
}

void raise_transfer(struct mpi *mpi, enum request_kind kind, starpu_data_handle_t handle,
		    int net_peer, int priority)
{
	struct raising *raising = &mpi->engine.raising;
	struct request *request;

	if (priority != 0 && !orr_load(&raising->is_used))
		orr_store(&raising->is_used, 1);
	/* Where all have one priority nobody has to look. */
	if (orr_load(&raising->nnoted) == 0 || priority <= orr_load(&raising->least))
		return;
	engine_lock(&mpi->engine);
	if (!raising->is_indexed)
		make_index(mpi);
	request = table_get(&raising->requests, key_of(kind, handle, net_peer));
	if (request && request->kind == kind && request_handle(request) == handle &&
	    (kind == REQUEST_RECEIVE || request->match.source == net_peer) &&
	    request->priority < priority) {
		request->priority = priority;
		large_raise(mpi, request);
		coop_raise(request);
		if (kind == REQUEST_SEND && request->message)
			outbox_raise(&mpi->engine.outbox, request->message, priority);
	}
	engine_unlock(&mpi->engine);
}
