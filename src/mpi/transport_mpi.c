/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/ring_mpi.h"
#include "plat/plat.h"

/*
 * The "mpi" transport: plain MPI calls, the same for Open MPI and SMPI.
 *
 * Packets of messages travel as frames with one tag, for which a ring of receives is
 * posted (ring_mpi.h).  Frames are limited in number (net->max_packets), so that a poll
 * costs the same however many messages wait.  Bulks have one tag each, so they go
 * straight to their place.
 */

enum {
	TAG_BULK = RING_TAG + 1,   /* plus the key */
	MAX_PIECE_BYTES = 1 << 30, /* MPI counts are int */
	FIRST_REQUESTS = 32
};

/* A poll that ends nothing takes a microsecond or less; one that lasts longer has copied
 * parts of payloads. */
#define COPYING_S 4e-6

/* While MPI works on it. */
struct op {
	struct transport_op base; /* first */
	MPI_Datatype type;        /* of the present piece, MPI_DATATYPE_NULL: bytes */
};

/* Regions of any content, for payloads that do not exist; freed at the end only,
 * since transfers may be using them. */
struct scratch {
	struct scratch *older;
	size_t bytes;
	char data[];
};

struct mpi_net {
	struct transport base;    /* first */
	MPI_Comm comm, bulk_comm; /* may be the same */
	struct plat *plat;
	int traits; /* enum net_mpi_trait */
	struct mpi_ring ring;
	/* requests[0] is lent to the oldest receive; ops[i] owns requests[i]. */
	MPI_Request *requests;
	MPI_Status *statuses;
	int *indices;
	struct op **ops;
	int nrequests, capacity;
	int ngets;       /* of these, receives of bulks */
	int is_ring_due; /* the last poll has not looked at it */
	struct scratch *scratch;
};

static struct mpi_net *mpi_net_of(struct net *net)
{
	return (struct mpi_net *)net;
}

static struct op *op_of(struct transport_op *op)
{
	return (struct op *)op;
}

/* ---- the table of requests ------------------------------------------- */

static struct op *op_new(struct mpi_net *net, enum transport_op_kind kind)
{
	struct op *op = op_of(transport_op_new(&net->base, kind));

	op->type = MPI_DATATYPE_NULL;
	return op;
}

static void reserve_requests(struct mpi_net *net, int wanted)
{
	size_t n;

	if (wanted <= net->capacity)
		return;
	net->capacity = net->capacity ? 2 * net->capacity : FIRST_REQUESTS;
	n = (size_t)net->capacity;
	net->requests = orr_realloc(net->requests, n * sizeof(*net->requests));
	net->statuses = orr_realloc(net->statuses, n * sizeof(*net->statuses));
	net->indices = orr_realloc(net->indices, n * sizeof(*net->indices));
	net->ops = orr_realloc(net->ops, n * sizeof(*net->ops));
}

static void watch(struct mpi_net *net, struct op *op, MPI_Request request)
{
	reserve_requests(net, net->nrequests + 1);
	net->requests[net->nrequests] = request;
	net->ops[net->nrequests++] = op;
	net->ngets += op->base.kind == OP_GET;
}

/* ---- messages -------------------------------------------------------- */

/* 1: the frame has left already, which small ones mostly have; 0: it is MPI's until
 * *request ends. */
static int start_frame(struct mpi_net *net, char *frame, size_t bytes, int peer,
		       MPI_Request *request)
{
	int has_left;

	ring_number(&net->ring, frame, peer);
	mpi_check_or_die(&net->base,
			 MPI_Isend(frame, (int)bytes, MPI_BYTE, peer, RING_TAG, net->comm,
				   request),
			 "MPI_Isend of a message");
	mpi_check_or_die(&net->base, MPI_Test(request, &has_left, MPI_STATUS_IGNORE),
			 "MPI_Test");
	return has_left;
}

static int mpi_send(struct net *base, struct net_message *message)
{
	struct mpi_net *net = mpi_net_of(base);
	struct pool *frames = &net->base.frame_pool;
	MPI_Request request;
	struct op *op;
	char *frame;
	int has_left, ret = transport_check_message(base, message);

	if (ret < 0)
		return ret;
	frame = pool_get(frames);
	has_left = start_frame(net, frame, frame_fill(frame, message), message->peer,
			       &request);
	if (has_left && (net->traits & NET_MPI_SENDS_NOW)) {
		pool_put(frames, frame);
		return 1;
	}
	op = op_new(net, OP_MESSAGE);
	op->base.of.message = message;
	op->base.frame = frame;
	if (has_left)
		transport_frame_left(&net->base, &op->base);
	else
		watch(net, op, request);
	return 0;
}

static void send_round(struct transport *base, char *frame, size_t bytes, int peer)
{
	struct mpi_net *net = mpi_net_of(&base->base);
	MPI_Request request;
	struct op *op;

	if (start_frame(net, frame, bytes, peer, &request)) {
		pool_put(&base->frame_pool, frame);
		return;
	}
	op = op_new(net, OP_ROUND);
	op->base.frame = frame;
	watch(net, op, request);
}

/* ---- bulks ----------------------------------------------------------- */

static char *scratch_get(struct mpi_net *net, size_t bytes)
{
	struct scratch *scratch = net->scratch;

	if (scratch && scratch->bytes >= bytes)
		return scratch->data;
	if (scratch && bytes < 2 * scratch->bytes)
		bytes = 2 * scratch->bytes;
	scratch = orr_alloc(sizeof(*scratch) + bytes);
	scratch->older = net->scratch;
	scratch->bytes = bytes;
	net->scratch = scratch;
	return scratch->data;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A type for a layout, relative to its base; of at most MAX_PIECE_BYTES. */
static int layout_type(const struct layout *layout, MPI_Datatype *type)
{
	int rc = MPI_Type_contiguous((int)layout->block_bytes, MPI_BYTE, type);

	for (int i = 0; rc == MPI_SUCCESS && i < layout->ndims; i++) {
		MPI_Datatype inner = *type;

		rc = MPI_Type_create_hvector((int)layout->dims[i].count, 1,
					     (MPI_Aint)layout->dims[i].stride_bytes,
					     inner, type);
		MPI_Type_free(&inner);
	}
	return rc;
}

/* The type of bytes [offset, offset + bytes) of a payload. */
static int piece_type(const struct layout *layout, size_t offset, size_t bytes,
		      MPI_Datatype *type)
{
	struct layout parts[LAYOUT_MAX_PARTS];
	MPI_Datatype types[LAYOUT_MAX_PARTS];
	MPI_Aint at[LAYOUT_MAX_PARTS];
	int lengths[LAYOUT_MAX_PARTS], rc = MPI_SUCCESS, ntypes = 0;
	int nparts = layout_cut(layout, offset, bytes, parts);

	for (int i = 0; rc == MPI_SUCCESS && i < nparts; i++) {
		lengths[i] = 1;
		at[i] = (MPI_Aint)(parts[i].base - layout->base);
		rc = layout_type(&parts[i], &types[i]);
		ntypes += rc == MPI_SUCCESS;
	}
	if (rc == MPI_SUCCESS)
		rc = MPI_Type_create_struct(nparts, lengths, at, types, type);
	while (ntypes > 0)
		MPI_Type_free(&types[--ntypes]);
	return rc == MPI_SUCCESS ? MPI_Type_commit(type) : rc;
}

/* Start the piece at op->base.offset_bytes. */
static int start_piece(struct mpi_net *net, struct op *op, MPI_Request *request)
{
	struct net_bulk *bulk = op->base.of.bulk;
	const struct layout *layout = &bulk->layout;
	int tag = TAG_BULK + (int)bulk->key, count = 1, rc;
	int peer = bulk->peer == NET_ANYBODY ? MPI_ANY_SOURCE : bulk->peer;
	MPI_Datatype type = MPI_BYTE;
	char *base = layout->base;

	transport_cut(&net->base, &op->base);
	if (!base || layout_is_flat(layout)) {
		count = (int)op->base.piece_bytes;
		base = base ? base + op->base.offset_bytes
			    : scratch_get(net, op->base.piece_bytes);
	} else {
		rc = piece_type(layout, op->base.offset_bytes, op->base.piece_bytes,
				&op->type);
		if (rc != MPI_SUCCESS)
			return mpi_check(&net->base, rc, "making an MPI datatype");
		type = op->type;
	}
	if (op->base.kind == OP_PUT)
		rc = (transport_awaits(&net->base, &op->base) ? MPI_Issend : MPI_Isend)(
			base, count, type, peer, tag, net->bulk_comm, request);
	else
		rc = MPI_Irecv(base, count, type, peer, tag, net->bulk_comm, request);
	return mpi_check(&net->base, rc,
			 op->base.kind == OP_PUT ? "MPI_Isend of data"
						 : "MPI_Irecv of data");
}

static void free_type(struct op *op)
{
	if (op->type != MPI_DATATYPE_NULL)
		MPI_Type_free(&op->type);
	op->type = MPI_DATATYPE_NULL;
}

/* A piece has ended: is all of it there? */
static int bulk_status(struct mpi_net *net, const struct op *op, MPI_Status *status,
		       int rc)
{
	int error_class = MPI_SUCCESS, bytes = 0;

	if (rc != MPI_SUCCESS) {
		MPI_Error_class(rc, &error_class);
		if (error_class == MPI_ERR_TRUNCATE)
			return -EMSGSIZE;
		return mpi_check(&net->base, rc, "a transfer of data");
	}
	if (op->base.kind == OP_PUT)
		return 0;
	op->base.of.bulk->peer = status->MPI_SOURCE;
	MPI_Get_count(status, MPI_BYTE, &bytes);
	return (size_t)bytes == op->base.piece_bytes ? 0 : -EMSGSIZE;
}

/* The present piece has ended.  1: op is at its next one, to be started. */
static int piece_ended(struct mpi_net *net, struct op *op, MPI_Status *status, int rc)
{
	free_type(op);
	op->base.status = bulk_status(net, op, status, rc);
	return transport_piece_ended(&net->base, &op->base);
}

/* What is pushed has mostly come before it is received, and is copied by the call that
 * starts the receive: 1, so that it need not wait until all requests are tested. */
static int is_there(const struct op *op, MPI_Request *request, MPI_Status *status,
		    int *rc)
{
	int has_come = 0;

	*rc = MPI_SUCCESS;
	if (op->base.kind == OP_PUT || !op->base.of.bulk->is_pushed)
		return 0;
	status->MPI_ERROR = MPI_SUCCESS;
	*rc = MPI_Test(request, &has_come, status);
	return has_come || *rc != MPI_SUCCESS;
}

static void start_bulk(struct mpi_net *net, struct op *op)
{
	MPI_Request request;
	MPI_Status status;
	int rc;

	do {
		op->base.status = start_piece(net, op, &request);
		if (op->base.status < 0) {
			free_type(op);
			transport_op_end(&net->base, &op->base);
			return;
		}
		if (!is_there(op, &request, &status, &rc)) {
			watch(net, op, request);
			return;
		}
	} while (piece_ended(net, op, &status, rc));
}

static int new_bulk(struct net *base, struct net_bulk *bulk, enum transport_op_kind kind)
{
	struct mpi_net *net = mpi_net_of(base);
	struct op *op;
	int ret = transport_check_bulk(base, bulk, kind == OP_PUT);

	if (ret < 0)
		return ret;
	op = op_new(net, kind);
	op->base.of.bulk = bulk;
	start_bulk(net, op);
	return 0;
}

static int mpi_put(struct net *base, struct net_bulk *bulk)
{
	return new_bulk(base, bulk, OP_PUT);
}

static int mpi_get(struct net *base, struct net_bulk *bulk)
{
	return new_bulk(base, bulk, OP_GET);
}

/* ---- progress -------------------------------------------------------- */

/* The request of op has ended: it goes to the ended ones, or to its next piece. */
static void op_request_ended(struct mpi_net *net, struct op *op, MPI_Status *status,
			     int rc)
{
	if (op->base.kind == OP_MESSAGE || op->base.kind == OP_ROUND) {
		mpi_check_or_die(&net->base, rc, "sending a message");
		transport_frame_left(&net->base, &op->base);
		return;
	}
	if (piece_ended(net, op, status, rc))
		start_bulk(net, op);
}

/* Close the gaps that ended requests left; requests[0] stays. */
static void compact(struct mpi_net *net)
{
	int kept = 1;

	for (int i = 1; i < net->nrequests; i++) {
		if (!net->ops[i])
			continue;
		net->requests[kept] = net->requests[i];
		net->ops[kept++] = net->ops[i];
	}
	net->nrequests = kept;
}

/* SMPI tells of a truncated message in the status alone. */
static int error_of(const MPI_Status *status, int rc)
{
	if (rc == MPI_SUCCESS && status->MPI_ERROR != MPI_ERR_TRUNCATE)
		return MPI_SUCCESS;
	return status->MPI_ERROR;
}

/* One MPI_Testsome(), from requests[first] on: sort what has ended.  Returns how many
 * have; *peer: whose message came, or -1. */
static int test_requests(struct mpi_net *net, int first, int *peer)
{
	int nended = 0, n = net->nrequests - first, rc;

	*peer = -1;
	for (int i = 0; i < n; i++)
		net->statuses[i].MPI_ERROR = MPI_SUCCESS;
	rc = MPI_Testsome(n, net->requests + first, &nended, net->indices, net->statuses);
	if (nended == MPI_UNDEFINED || nended == 0) {
		mpi_check_or_die(&net->base, rc, "MPI_Testsome");
		return 0;
	}
	for (int i = 0; i < nended; i++) {
		int at = net->indices[i] + first;
		MPI_Status status = net->statuses[i];
		int error = error_of(&status, rc);
		struct op *op = at ? net->ops[at] : NULL;

		if (at == 0) {
			mpi_check_or_die(&net->base, error, "receiving a message");
			*peer = status.MPI_SOURCE;
			continue;
		}
		net->ops[at] = NULL;
		net->ngets -= op->base.kind == OP_GET;
		/* A next piece is watched at the end, beyond what was tested. */
		op_request_ended(net, op, &status, error);
	}
	compact(net);
	return nended;
}

static int poll_once(struct mpi_net *net)
{
	int peer, advanced;

	if (net->ring.overtaking) {
		advanced = ring_receive_overtaking(&net->ring);
		advanced += test_requests(net, 1, &peer);
		return advanced + transport_call_back(&net->base);
	}
	net->requests[0] = ring_oldest(&net->ring);
	advanced = test_requests(net, 0, &peer);
	if (peer >= 0)
		advanced += ring_receive(&net->ring, ring_take(&net->ring), peer, 0) - 1;
	return advanced + transport_call_back(&net->base);
}

static int may_go_on(const struct mpi_net *net, int count)
{
	return count < TRANSPORT_MAX_POLLED && !net->base.ended;
}

/*
 * The messages that are there, until one has brought something to its end.  What they
 * have us say leaves behind the last of them, in few packets.  Not so when payloads are
 * to come: the look for another message may copy those that are there, and grants that
 * wait meanwhile leave the way empty afterwards.
 */
static int receive_all(struct mpi_net *net)
{
	int count = 0, peer, has_come = ring_has_come(&net->ring, &peer);

	while (has_come) {
		int from = peer, slot = ring_take(&net->ring), is_ahead = net->ngets == 0;

		has_come = is_ahead && may_go_on(net, count) &&
			   ring_has_come(&net->ring, &peer);
		count += ring_receive(&net->ring, slot, from, has_come);
		if (!is_ahead && may_go_on(net, count))
			has_come = ring_has_come(&net->ring, &peer);
	}
	return count;
}

/*
 * Where a look shows what an earlier one has found.  Received payloads of which that was
 * the case are told at once, and what came behind them is taken in by the next poll: who
 * waits for them mostly posts more, and what comes then finds its receive.
 */
static int poll_late(struct mpi_net *net)
{
	int total = 0, none;

	if (net->ngets > 0 && !net->is_ring_due) {
		total = test_requests(net, 1, &none);
		net->is_ring_due = net->base.ended != NULL;
		if (net->is_ring_due)
			return total + transport_call_back(&net->base);
	}
	net->is_ring_due = 0;
	total += receive_all(net);
	if (net->nrequests > 1)
		total += test_requests(net, 1, &none);
	return net->base.ended ? total + transport_call_back(&net->base) : total;
}

/* What MPI copies step by step has advanced, though nothing has ended: who waits for it
 * would take that for silence, and nap between the steps. */
static int poll_watching(struct mpi_net *net)
{
	double start_s;
	int total;

	if (net->nrequests == 1)
		return poll_late(net);
	start_s = plat_now_s(net->plat);
	total = poll_late(net);
	return total > 0 ? total : plat_now_s(net->plat) - start_s >= COPYING_S;
}

static int mpi_poll(struct net *base)
{
	struct mpi_net *net = mpi_net_of(base);
	int total = 0, advanced;

	if (net->traits & NET_MPI_SHOWS_LATE)
		return poll_watching(net);
	do {
		advanced = poll_once(net);
		total += advanced;
	} while (advanced && total < TRANSPORT_MAX_POLLED);
	return total;
}

/* ---- life ------------------------------------------------------------ */

static void mpi_close(struct net *base)
{
	struct mpi_net *net = mpi_net_of(base);

	ring_close(&net->ring);
	if (net->bulk_comm != net->comm)
		MPI_Comm_free(&net->bulk_comm);
	MPI_Comm_free(&net->comm);
	while (net->scratch) {
		struct scratch *older = net->scratch->older;

		free(net->scratch);
		net->scratch = older;
	}
	free(net->requests);
	free(net->statuses);
	free(net->indices);
	free(net->ops);
	transport_free(&net->base);
	free(net);
}

static const struct net_ops mpi_ops = {
	.name = "mpi",
	.send = mpi_send,
	.put = mpi_put,
	.get = mpi_get,
	.barrier = transport_barrier,
	.poll = mpi_poll,
	.close = mpi_close,
};

/* Messages, and the largest bulk tag, must have room below MPI's limit. */
static int check_tags(struct mpi_net *net)
{
	int *limit = NULL, found = 0;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
	if (!found || *limit >= TAG_BULK + NET_KEYS - 1)
		return 0;
	orr_complain(
		net->base.base.rank,
		"this MPI has tags up to %d only: the \"mpi\" transport needs %d; use "
		"another MPI library or another of its network layers",
		*limit, TAG_BULK + NET_KEYS - 1);
	return -EINVAL;
}

/* What comes is compared with all receives of its communicator: payloads not with those
 * of the ring. */
static int open_comms(struct mpi_net *net, MPI_Comm comm)
{
	int ret = mpi_check(&net->base, MPI_Comm_dup(comm, &net->comm), "MPI_Comm_dup");

	net->bulk_comm = net->comm;
	if (ret == 0 && (net->traits & NET_MPI_COMPARES))
		ret = mpi_check(&net->base, MPI_Comm_dup(comm, &net->bulk_comm),
				"MPI_Comm_dup");
	if (ret < 0)
		return ret;
	MPI_Comm_set_errhandler(net->comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(net->bulk_comm, MPI_ERRORS_RETURN);
	return 0;
}

int transport_mpi_open(struct plat *plat, const struct net_config *config, int traits,
		       struct net **out)
{
	struct mpi_net *net = orr_alloc(sizeof(*net));
	int ret;

	net->base.base.ops = &mpi_ops;
	net->base.base.place_of = types_mpi_place;
	net->base.send_round = send_round;
	transport_init(&net->base, config, sizeof(struct op), 0);
	net->base.base.may_push = (traits & NET_MPI_PUSHES) != 0;
	net->base.base.may_copy = (traits & NET_MPI_SENDS_NOW) != 0;
	net->plat = plat;
	net->traits = traits;
	net->base.piece_bytes =
		smaller(net->base.piece_bytes, traits & NET_MPI_SHOWS_LATE
						       ? TRANSPORT_MAX_PIECE_BYTES
						       : MAX_PIECE_BYTES);
	ret = check_tags(net);
	if (ret == 0)
		ret = open_comms(net, *(const MPI_Comm *)config->comm);
	if (ret < 0) {
		transport_free(&net->base);
		free(net);
		return ret;
	}
	reserve_requests(net, 1);
	net->nrequests = 1;
	ring_open(&net->ring, &net->base, net->comm, (traits & NET_MPI_MEETS_FIRST) != 0);
	*out = &net->base.base;
	return 0;
}

enum { MAX_AGREED = 12 };

int transport_mpi_agree(const struct net_config *config, struct net_agreement *items,
			int n)
{
	/* The most is the least of the opposites. */
	long long own[2 * MAX_AGREED] = {0}, least[2 * MAX_AGREED];

	ORR_ASSERT(n <= MAX_AGREED);
	for (int i = 0; i < n; i++) {
		own[2 * i] = items[i].own;
		own[2 * i + 1] = -items[i].own;
	}
	if (MPI_Allreduce(own, least, 2 * n, MPI_LONG_LONG, MPI_MIN,
			  *(const MPI_Comm *)config->comm) != MPI_SUCCESS)
		return -EIO;
	for (int i = 0; i < n; i++) {
		items[i].least = least[2 * i];
		items[i].most = -least[2 * i + 1];
	}
	return 0;
}
