/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* p2p.c - messages between two ranks: waited for, tested, detached, in any order. */

enum { LARGE = 2500, MAX_BATCH = 8 };

/* A vector of numbers that start at first. */
struct parcel {
	starpu_data_handle_t handle;
	uint64_t *values;
	unsigned n;
};

static void parcel_open(struct parcel *parcel, unsigned n, uint64_t first)
{
	parcel->n = n;
	parcel->values = malloc(n * sizeof(uint64_t));
	if (!parcel->values)
		abort();
	for (unsigned i = 0; i < n; i++)
		parcel->values[i] = first + i;
	starpu_vector_data_register(&parcel->handle, STARPU_MAIN_RAM,
				    (uintptr_t)parcel->values, n, sizeof(uint64_t));
}

static void parcel_close(struct lane_run *lane, const struct op *op,
			 struct parcel *parcel, uint64_t first)
{
	starpu_data_unregister(parcel->handle);
	for (unsigned i = 0; i < parcel->n; i++)
		if (parcel->values[i] != first + i) {
			run_bad(lane->run, op, "value of a message", parcel->values[i],
				first + i);
			break;
		}
	free(parcel->values);
}

static unsigned length_of(unsigned choice)
{
	return choice % 3 ? 1 + choice % 5 : LARGE;
}

static starpu_mpi_tag_t tag_of(const struct lane_run *lane, const struct op *op)
{
	return ((starpu_mpi_tag_t)(lane->index + 1) << 40) +
	       ((starpu_mpi_tag_t)op->id << 10);
}

static void wait_by_test(starpu_mpi_req *req, MPI_Status *status)
{
	int done = 0;

	while (!done) {
		starpu_mpi_test(req, &done, status);
		if (!done)
			stage_yield();
	}
}

/* ---- one message ----------------------------------------------------- */

static void send_one(const struct lane_run *lane, const struct op *op,
		     struct parcel *parcel, int to)
{
	starpu_mpi_tag_t tag = tag_of(lane, op);
	starpu_data_handle_t handle = parcel->handle;
	starpu_mpi_req req;
	MPI_Status status;

	switch (op->choice[3] % 8) {
	case 0:
		starpu_mpi_send(handle, to, tag, lane->comm);
		break;
	case 1:
		starpu_mpi_isend(handle, &req, to, tag, lane->comm);
		starpu_mpi_wait(&req, &status);
		break;
	case 2:
		starpu_mpi_issend(handle, &req, to, tag, lane->comm);
		wait_by_test(&req, &status);
		break;
	case 3:
		starpu_mpi_isend_detached_unlock_tag(handle, to, tag, lane->comm,
						     (starpu_tag_t)tag);
		starpu_tag_wait((starpu_tag_t)tag);
		break;
	case 4:
		starpu_mpi_isend_prio(handle, &req, to, tag, 5, lane->comm);
		starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
		break;
	default:
		starpu_mpi_isend_detached(handle, to, tag, lane->comm, NULL, NULL);
		break;
	}
}

static void receive_one(struct lane_run *lane, const struct op *op, struct parcel *parcel,
			int from)
{
	starpu_mpi_tag_t tag = tag_of(lane, op);
	starpu_data_handle_t handle = parcel->handle;
	starpu_mpi_req req;
	MPI_Status status = {.MPI_SOURCE = from};

	switch (op->choice[4] % 8) {
	case 0:
	case 5:
		starpu_mpi_recv(handle, from, tag, lane->comm, &status);
		if (status.MPI_SOURCE != from)
			run_bad(lane->run, op, "source", (uint64_t)status.MPI_SOURCE,
				(uint64_t)from);
		break;
	case 1:
		starpu_mpi_irecv(handle, &req, from, tag, lane->comm);
		wait_by_test(&req, &status);
		break;
	case 3:
		starpu_mpi_irecv_detached_unlock_tag(handle, from, tag, lane->comm,
						     (starpu_tag_t)tag);
		starpu_tag_wait((starpu_tag_t)tag);
		break;
	case 4:
		starpu_mpi_irecv_detached(handle, from, tag, lane->comm, NULL, NULL);
		break;
	default:
		starpu_mpi_irecv(handle, &req, from, tag, lane->comm);
		starpu_mpi_wait(&req, &status);
		break;
	}
}

static void send_to_itself(struct lane_run *lane, const struct op *op, unsigned n)
{
	starpu_mpi_tag_t tag = tag_of(lane, op);
	struct parcel out, in;
	MPI_Status status;

	parcel_open(&out, n, op->salt);
	parcel_open(&in, n, 0);
	starpu_mpi_isend_detached(out.handle, lane->rank, tag, lane->comm, NULL, NULL);
	starpu_mpi_recv(in.handle, lane->rank, tag, lane->comm, &status);
	parcel_close(lane, op, &out, op->salt);
	parcel_close(lane, op, &in, op->salt);
}

static void point_to_point(struct lane_run *lane, const struct op *op)
{
	unsigned nranks = (unsigned)lane->lane->nranks, n = length_of(op->choice[2]);
	int from = (int)(op->choice[0] % nranks), to = (int)(op->choice[1] % nranks);
	struct parcel parcel;

	if (from == to && lane->rank == from) {
		send_to_itself(lane, op, n);
		return;
	}
	if (from == to || (lane->rank != from && lane->rank != to))
		return;
	parcel_open(&parcel, n, lane->rank == from ? op->salt : 0);
	if (lane->rank == from)
		send_one(lane, op, &parcel, to);
	else
		receive_one(lane, op, &parcel, from);
	parcel_close(lane, op, &parcel, op->salt);
}

/* ---- many messages --------------------------------------------------- */

/* Each rank sends to one and receives from one; receives come in an order of their
 * own.  Message number i has a tag that some others have as well: these keep theirs. */
struct batch {
	int n, to, from;
	starpu_mpi_tag_t tags[MAX_BATCH];
	int order[MAX_BATCH]; /* of the receives: which message each takes */
	struct parcel out[MAX_BATCH], in[MAX_BATCH];
	starpu_mpi_req sends[MAX_BATCH], receives[MAX_BATCH];
	int is_posted[MAX_BATCH], is_sent[MAX_BATCH];
};

static uint64_t batch_first(const struct op *op, int rank, int i)
{
	return op->salt * 1000 + (uint64_t)rank * 100 + (uint64_t)i;
}

static unsigned batch_length(const struct op *op, int i)
{
	return length_of((op->choice[2] >> i) + (unsigned)i);
}

/* A permutation in which messages of one tag stand in the order they were sent. */
static void batch_order(struct batch *batch, const struct op *op, int any)
{
	struct rng rng = {op->salt};

	for (int i = 0; i < batch->n; i++)
		batch->order[i] = i;
	for (int i = batch->n - 1; any && i > 0; i--) {
		int k = (int)rng_below(&rng, (unsigned)i + 1), other = batch->order[i];

		batch->order[i] = batch->order[k];
		batch->order[k] = other;
	}
	for (int i = 0; i < batch->n; i++)
		for (int k = i + 1; k < batch->n; k++) {
			int first = batch->order[i], second = batch->order[k];

			if (batch->tags[first] != batch->tags[second] || first < second)
				continue;
			batch->order[i] = second;
			batch->order[k] = first;
		}
}

static void batch_send(struct lane_run *lane, const struct op *op, struct batch *batch,
		       int i)
{
	starpu_data_handle_t handle;
	int blocks = (op->choice[7] >> i) % 2 && batch->to != lane->rank;

	parcel_open(&batch->out[i], batch_length(op, i), batch_first(op, lane->rank, i));
	handle = batch->out[i].handle;
	/* It ends though the receive comes later: there is room for what is early. */
	batch->is_sent[i] = blocks && has_feature(lane->run->program, FEATURE_REORDER) &&
			    !lane->run->program->lacks_room;
	if (batch->is_sent[i])
		starpu_mpi_send(handle, batch->to, batch->tags[i], lane->comm);
	else if ((op->choice[5] >> i) % 2)
		starpu_mpi_issend(handle, &batch->sends[i], batch->to, batch->tags[i],
				  lane->comm);
	else
		starpu_mpi_isend_prio(handle, &batch->sends[i], batch->to, batch->tags[i],
				      (int)((op->choice[4] >> i) % 4), lane->comm);
}

static void batch_receive(struct lane_run *lane, const struct op *op, struct batch *batch,
			  int i)
{
	MPI_Status status;

	parcel_open(&batch->in[i], batch_length(op, i), 0);
	batch->is_posted[i] = (op->choice[6] >> i) % 2;
	if (batch->is_posted[i])
		starpu_mpi_irecv(batch->in[i].handle, &batch->receives[i], batch->from,
				 batch->tags[i], lane->comm);
	else
		starpu_mpi_recv(batch->in[i].handle, batch->from, batch->tags[i],
				lane->comm, &status);
}

static void batch_play(struct lane_run *lane, const struct op *op)
{
	int nranks = lane->lane->nranks, shift = (int)(op->choice[0] % (unsigned)nranks);
	struct batch batch = {.n = 2 + (int)(op->choice[1] % (MAX_BATCH - 1)),
			      .to = (lane->rank + shift) % nranks,
			      .from = (lane->rank - shift + nranks) % nranks};
	MPI_Status status;

	for (int i = 0; i < batch.n; i++)
		batch.tags[i] =
			tag_of(lane, op) + (op->choice[3] >> i) % ((unsigned)i + 1);
	batch_order(&batch, op, has_feature(lane->run->program, FEATURE_REORDER));
	for (int i = 0; i < batch.n; i++)
		batch_send(lane, op, &batch, i);
	for (int i = 0; i < batch.n; i++)
		batch_receive(lane, op, &batch, batch.order[i]);
	for (int i = 0; i < batch.n; i++) {
		if (batch.is_posted[i])
			starpu_mpi_wait(&batch.receives[i], &status);
		if (!batch.is_sent[i])
			starpu_mpi_wait(&batch.sends[i], &status);
	}
	for (int i = 0; i < batch.n; i++) {
		parcel_close(lane, op, &batch.out[i], batch_first(op, lane->rank, i));
		parcel_close(lane, op, &batch.in[i], batch_first(op, batch.from, i));
	}
}

/* ---- ping-pong by callbacks ------------------------------------------ */

struct ping {
	struct ping *next;
	struct lane_run *lane;
	const struct op *op;
	struct parcel parcel;
	int side, peer, round, nrounds, is_finished; /* finished: atomic */
};

static void ping_step(struct ping *ping);

static void ping_kernel(void *buffers[], void *arg)
{
	uint64_t *x = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int round;

	starpu_codelet_unpack_args(arg, &round);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = x[i] * 7 + (uint64_t)round;
}

static void ping_next(void *arg)
{
	struct ping *ping = arg;

	ping->round++;
	ping_step(ping);
}

static void ping_send(struct ping *ping, starpu_mpi_tag_t tag)
{
	static struct starpu_codelet codelet = {.cpu_funcs = {ping_kernel},
						.nbuffers = 1,
						.modes = {STARPU_RW},
						.model = &starpu_perfmodel_nop,
						.name = "ping"};
	starpu_data_handle_t handle = ping->parcel.handle;
	MPI_Comm comm = ping->lane->comm;

	if (starpu_task_insert(&codelet, STARPU_VALUE, &ping->round, sizeof(ping->round),
			       STARPU_RW, handle, 0))
		run_bad(ping->lane->run, ping->op, "insertion from a callback", 1, 0);
	switch (ping->op->choice[3] % 6) {
	case 0:
	case 1:
		starpu_mpi_isend_detached(handle, ping->peer, tag, comm, ping_next, ping);
		break;
	case 2:
	case 3:
		starpu_mpi_issend_detached(handle, ping->peer, tag, comm, ping_next,
					   ping);
		break;
	default:
		starpu_mpi_isend_detached_prio(handle, ping->peer, tag, ping->round, comm,
					       ping_next, ping);
		break;
	}
}

static void ping_receive(struct ping *ping, starpu_mpi_tag_t tag)
{
	starpu_data_handle_t handle = ping->parcel.handle;

	if (ping->op->choice[3] % 6 == 4)
		starpu_mpi_irecv_detached_sequential_consistency(
			handle, ping->peer, tag, ping->lane->comm, ping_next, ping, 1);
	else
		starpu_mpi_irecv_detached(handle, ping->peer, tag, ping->lane->comm,
					  ping_next, ping);
}

static void ping_step(struct ping *ping)
{
	starpu_mpi_tag_t tag = tag_of(ping->lane, ping->op);

	if (ping->op->choice[3] % 2)
		tag += ping->round;
	if (ping->round == ping->nrounds)
		__atomic_store_n(&ping->is_finished, 1, __ATOMIC_RELEASE);
	else if (ping->round % 2 == ping->side)
		ping_send(ping, tag);
	else
		ping_receive(ping, tag);
}

static void ping_start(struct lane_run *lane, const struct op *op)
{
	unsigned nranks = (unsigned)lane->lane->nranks;
	int a = (int)(op->choice[0] % nranks), b = (int)(op->choice[1] % nranks);
	struct ping *ping;

	if (a == b || (lane->rank != a && lane->rank != b))
		return;
	ping = calloc(1, sizeof(*ping));
	ping->lane = lane;
	ping->op = op;
	ping->side = lane->rank == a ? 0 : 1;
	ping->peer = lane->rank == a ? b : a;
	ping->nrounds = 1 + (int)(op->choice[4] % 8);
	ping->next = lane->pings;
	lane->pings = ping;
	parcel_open(&ping->parcel, length_of(op->choice[2]),
		    lane->rank == a ? op->salt : 99);
	ping_step(ping);
}

/* Both hold the value after the last round. */
static void ping_check(struct lane_run *lane, const struct ping *ping)
{
	for (unsigned i = 0; i < ping->parcel.n; i++) {
		uint64_t expected = ping->op->salt + i;

		for (int round = 0; round < ping->nrounds; round++)
			expected = expected * 7 + (uint64_t)round;
		if (ping->parcel.values[i] == expected)
			continue;
		run_bad(lane->run, ping->op, "value after a ping-pong",
			ping->parcel.values[i], expected);
		return;
	}
}

void pings_finish(struct lane_run *lane)
{
	/* By all ranks or none: it reduces what waits for that. */
	if (lane->pings || !lane->run->program->threaded)
		starpu_mpi_wait_for_all(lane->comm);
	while (lane->pings) {
		struct ping *ping = lane->pings;

		lane->pings = ping->next;
		starpu_data_unregister(ping->parcel.handle);
		if (!__atomic_load_n(&ping->is_finished, __ATOMIC_ACQUIRE))
			run_bad(lane->run, ping->op, "rounds of a ping-pong",
				(uint64_t)ping->round, (uint64_t)ping->nrounds);
		ping_check(lane, ping);
		free(ping->parcel.values);
		free(ping);
	}
}

int run_p2p_op(struct lane_run *lane, struct op *op)
{
	if (op->kind == OP_P2P)
		point_to_point(lane, op);
	else if (op->kind == OP_BATCH)
		batch_play(lane, op);
	else if (op->kind == OP_PING)
		ping_start(lane, op);
	else
		return 0;
	return 1;
}
