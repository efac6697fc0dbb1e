/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/pool.h"
#include "plat/net.h"
#include "plat/plat.h"

/*
 * The "mpi" transport: plain MPI calls, the same for Open MPI and SMPI.
 *
 * Packets of messages travel as frames with one tag.  A ring of receives from any source
 * is posted; MPI matches them in the order of posting, so looking only at the oldest
 * keeps the order of each peer.  Frames are limited in number (net->max_packets), so
 * that a poll costs the same however many messages wait.
 * Bulks have one tag each, so they go straight to their place.
 * The barrier is made of frames too (dissemination: in round r each node hears from
 * the one 2^r before it), because SMPI's MPI_Ibarrier() does not wait for all.
 */

enum {
	TAG_MESSAGE = 1,
	TAG_BULK = 2, /* plus the key */
	KEY_LIMIT = 1 << 20,
	RING_RECEIVES = 16,
	MAX_PACKETS = 64,
	MAX_POLLED = 64, /* events, about */
	MAX_EAGER_BYTES = 1 << 20,
	MAX_PACKET_BYTES = 1 << 20,
	MAX_PIECE_BYTES = 1 << 30, /* MPI counts are int */
	FIRST_REQUESTS = 32,
	MAX_ROUNDS = 31 /* of a barrier */
};

enum frame_flag {
	FRAME_HAS_BODY = 1,
	FRAME_BARRIER = 2,
	FRAME_HAS_MORE = 4 /* another message lies behind this one */
};

/* What goes before each head and its body. */
struct frame_head {
	uint32_t head_bytes;
	uint32_t flags;      /* enum frame_flag */
	uint64_t body_bytes; /* FRAME_BARRIER: the round */
};

_Static_assert(sizeof(struct frame_head) == NET_FRAME_BYTES,
	       "what a message takes of a packet");

enum op_kind { OP_MESSAGE, OP_PUT, OP_GET, OP_ROUND, OP_BARRIER };

/* One thing that MPI works on, or that has ended and waits for its callback. */
struct op {
	enum op_kind kind;
	int status; /* 0 or a negative errno */
	union {
		struct net_message *message;
		struct net_bulk *bulk;
		struct net_barrier *barrier;
	} of;
	void *frame;         /* OP_MESSAGE, OP_ROUND: owned; MPI's until op ends */
	MPI_Datatype type;   /* of the present piece, MPI_DATATYPE_NULL: bytes */
	size_t offset_bytes; /* of the present piece */
	size_t piece_bytes;
	struct op *next;
};

/* Regions of any content, for payloads that do not exist; freed at the end only,
 * since transfers may be using them. */
struct scratch {
	struct scratch *older;
	size_t bytes;
	char data[];
};

struct mpi_net {
	struct net base; /* first */
	MPI_Comm comm;
	int traits; /* enum net_mpi_trait */
	size_t frame_bytes, piece_bytes;
	/* The ring of receives; oldest is the one posted first. */
	char *ring_frames[RING_RECEIVES];
	MPI_Request ring[RING_RECEIVES];
	int oldest;
	/* requests[0] is lent to the oldest receive; ops[i] owns requests[i]. */
	MPI_Request *requests;
	MPI_Status *statuses;
	int *indices;
	struct op **ops;
	int nrequests, capacity;
	struct op *ended, **ended_last; /* to be called back by poll */
	/* The barrier under way, then those started meanwhile, by backend[0]. */
	struct net_barrier *barrier;
	int round, heard[MAX_ROUNDS]; /* frames of each round that came */
	struct pool op_pool, frame_pool;
	struct scratch *scratch;
};

static struct mpi_net *mpi_net_of(struct net *net)
{
	return (struct mpi_net *)net;
}

static int check(struct mpi_net *net, int rc, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int length = 0;

	if (rc == MPI_SUCCESS)
		return 0;
	MPI_Error_string(rc, text, &length);
	orr_complain(net->base.rank, "%s failed: %.*s", call, length, text);
	return -EIO;
}

/* Without a message the engine cannot go on, and nobody could be told. */
static void check_or_die(struct mpi_net *net, int rc, const char *call)
{
	if (check(net, rc, call) < 0)
		orr_die(net->base.rank, "a message between nodes was lost; ending");
}

/* ---- the table of requests ------------------------------------------- */

static struct op *op_new(struct mpi_net *net, enum op_kind kind)
{
	struct op *op = pool_get(&net->op_pool);

	*op = (struct op){.kind = kind, .type = MPI_DATATYPE_NULL};
	return op;
}

static void op_end(struct mpi_net *net, struct op *op)
{
	op->next = NULL;
	*net->ended_last = op;
	net->ended_last = &op->next;
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
}

/* ---- messages -------------------------------------------------------- */

static size_t body_offset(size_t head_bytes)
{
	return net_aligned(sizeof(struct frame_head) + head_bytes);
}

static void message_fill(char *frame, const struct net_message *message)
{
	struct frame_head head = {.head_bytes = message->head_bytes,
				  .flags = message->body ? FRAME_HAS_BODY : 0,
				  .body_bytes = message->body_bytes};

	if (message->next)
		head.flags |= FRAME_HAS_MORE;
	memcpy(frame, &head, sizeof(head));
	memcpy(frame + sizeof(head), message->head, message->head_bytes);
	if (message->body && message->body_bytes > 0)
		memcpy(frame + body_offset(message->head_bytes), message->body,
		       message->body_bytes);
}

/* Returns the size of the frame. */
static size_t frame_fill(char *frame, const struct net_message *message)
{
	size_t at = 0;

	for (;; message = message->next) {
		message_fill(frame + at, message);
		if (!message->next)
			break;
		at += net_message_bytes(message);
	}
	return at + body_offset(message->head_bytes) + message->body_bytes;
}

/* Nobody waits for a round's to have left. */
static void frame_left(struct mpi_net *net, struct op *op)
{
	pool_put(&net->frame_pool, op->frame);
	if (op->kind == OP_ROUND)
		pool_put(&net->op_pool, op);
	else
		op_end(net, op);
}

/* 1: the frame has left already, which small ones mostly have; 0: it is MPI's until
 * *request ends. */
static int start_frame(struct mpi_net *net, const char *frame, size_t bytes, int peer,
		       MPI_Request *request)
{
	int has_left;

	check_or_die(net,
		     MPI_Isend(frame, (int)bytes, MPI_BYTE, peer, TAG_MESSAGE, net->comm,
			       request),
		     "MPI_Isend of a message");
	check_or_die(net, MPI_Test(request, &has_left, MPI_STATUS_IGNORE), "MPI_Test");
	return has_left;
}

static int mpi_send(struct net *base, struct net_message *message)
{
	struct mpi_net *net = mpi_net_of(base);
	MPI_Request request;
	struct op *op;
	char *frame;
	int has_left;

	ORR_ASSERT(message->head_bytes <= NET_HEAD_BYTES);
	ORR_ASSERT(message->body_bytes <= base->eager_bytes);
	if (message->peer < 0 || message->peer >= base->size)
		return -EINVAL;
	frame = pool_get(&net->frame_pool);
	has_left = start_frame(net, frame, frame_fill(frame, message), message->peer,
			       &request);
	if (has_left && (net->traits & NET_MPI_SENDS_NOW)) {
		pool_put(&net->frame_pool, frame);
		return 1;
	}
	op = op_new(net, OP_MESSAGE);
	op->of.message = message;
	op->frame = frame;
	if (has_left)
		frame_left(net, op);
	else
		watch(net, op, request);
	return 0;
}

/* ---- barrier --------------------------------------------------------- */

static void start_round(struct mpi_net *net)
{
	struct frame_head head = {.flags = FRAME_BARRIER,
				  .body_bytes = (uint64_t)net->round};
	int peer = (int)((net->base.rank + (1LL << net->round)) % net->base.size);
	char *frame = pool_get(&net->frame_pool);
	MPI_Request request;
	struct op *op;

	memcpy(frame, &head, sizeof(head));
	if (start_frame(net, frame, body_offset(0), peer, &request)) {
		pool_put(&net->frame_pool, frame);
		return;
	}
	op = op_new(net, OP_ROUND);
	op->frame = frame;
	watch(net, op, request);
}

static void start_barrier(struct mpi_net *net, struct net_barrier *barrier)
{
	net->barrier = barrier;
	net->round = 0;
	if (net->base.size > 1)
		start_round(net);
}

/* Go as far as the rounds allow.  Frames of one round come from one node and in
 * order, so those of a later barrier, which may be early, are only counted. */
static void go_on_barrier(struct mpi_net *net)
{
	while (net->barrier) {
		struct op *op;
		int is_last = (1LL << net->round) >= net->base.size;

		if (!is_last && net->heard[net->round] == 0)
			return;
		if (!is_last) {
			net->heard[net->round++]--;
			if ((1LL << net->round) < net->base.size)
				start_round(net);
			continue;
		}
		op = op_new(net, OP_BARRIER);
		op->of.barrier = net->barrier;
		op_end(net, op);
		net->barrier = NULL;
		if (op->of.barrier->backend[0])
			start_barrier(net, op->of.barrier->backend[0]);
	}
}

static void mpi_barrier(struct net *base, struct net_barrier *barrier)
{
	struct mpi_net *net = mpi_net_of(base);
	struct net_barrier *last = net->barrier;

	barrier->backend[0] = NULL;
	if (last) {
		while (last->backend[0])
			last = last->backend[0];
		last->backend[0] = barrier;
		return;
	}
	start_barrier(net, barrier);
	go_on_barrier(net);
}

/* ---- receiving ------------------------------------------------------- */

/* Deliver its messages.  Returns how many. */
static int take_frame(struct mpi_net *net, int peer, const char *frame)
{
	struct frame_head head;
	int count = 0;

	memcpy(&head, frame, sizeof(head));
	if (head.flags & FRAME_BARRIER) {
		ORR_ASSERT(head.body_bytes < MAX_ROUNDS);
		net->heard[head.body_bytes]++;
		go_on_barrier(net);
		return 1;
	}
	do {
		const char *body;

		memcpy(&head, frame, sizeof(head));
		ORR_ASSERT(head.head_bytes <= NET_HEAD_BYTES);
		body = frame + body_offset(head.head_bytes);
		net->base.has_more = (head.flags & FRAME_HAS_MORE) != 0;
		net->base.deliver(&net->base, peer, frame + sizeof(head), head.head_bytes,
				  head.flags & FRAME_HAS_BODY ? body : NULL,
				  (size_t)head.body_bytes);
		frame = body + net_aligned((size_t)head.body_bytes);
		count++;
	} while (head.flags & FRAME_HAS_MORE);
	return count;
}

static void post_receive(struct mpi_net *net, int slot)
{
	check_or_die(net,
		     MPI_Irecv(net->ring_frames[slot], (int)net->frame_bytes, MPI_BYTE,
			       MPI_ANY_SOURCE, TAG_MESSAGE, net->comm, &net->ring[slot]),
		     "MPI_Irecv of messages");
}

/* Hand over the frame in the oldest receive and post it again, as the newest.  Returns
 * how many messages were in it. */
static int receive_oldest(struct mpi_net *net, int peer)
{
	int slot = net->oldest, count;

	net->oldest = (slot + 1) % RING_RECEIVES;
	count = take_frame(net, peer, net->ring_frames[slot]);
	post_receive(net, slot);
	return count;
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

/*
 * The type of bytes [offset, offset + bytes) of a payload.  Pieces are cut by size
 * alone, so that both sides cut alike whatever their layouts.
 */
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

/* Start the piece at op->offset_bytes. */
static int start_piece(struct mpi_net *net, struct op *op, MPI_Request *request)
{
	struct net_bulk *bulk = op->of.bulk;
	const struct layout *layout = &bulk->layout;
	size_t total = layout_bytes(layout);
	int tag = TAG_BULK + (int)bulk->key, count = 1, rc;
	int peer = bulk->peer == NET_ANYBODY ? MPI_ANY_SOURCE : bulk->peer;
	MPI_Datatype type = MPI_BYTE;
	char *base = layout->base;

	op->piece_bytes = smaller(total - op->offset_bytes, net->piece_bytes);
	if (!base || layout_is_flat(layout)) {
		count = (int)op->piece_bytes;
		base = base ? base + op->offset_bytes : scratch_get(net, op->piece_bytes);
	} else {
		rc = piece_type(layout, op->offset_bytes, op->piece_bytes, &op->type);
		if (rc != MPI_SUCCESS)
			return check(net, rc, "making an MPI datatype");
		type = op->type;
	}
	if (op->kind == OP_PUT)
		rc = MPI_Isend(base, count, type, peer, tag, net->comm, request);
	else
		rc = MPI_Irecv(base, count, type, peer, tag, net->comm, request);
	return check(net, rc,
		     op->kind == OP_PUT ? "MPI_Isend of data" : "MPI_Irecv of data");
}

static void free_type(struct op *op)
{
	if (op->type != MPI_DATATYPE_NULL)
		MPI_Type_free(&op->type);
	op->type = MPI_DATATYPE_NULL;
}

static void start_bulk(struct mpi_net *net, struct op *op)
{
	MPI_Request request;

	op->status = start_piece(net, op, &request);
	if (op->status == 0) {
		watch(net, op, request);
		return;
	}
	free_type(op);
	op_end(net, op);
}

static int new_bulk(struct net *base, struct net_bulk *bulk, enum op_kind kind)
{
	struct mpi_net *net = mpi_net_of(base);
	struct op *op;

	ORR_ASSERT(bulk->key < KEY_LIMIT);
	if (!net_bulk_has_peer(base, bulk, kind == OP_PUT))
		return -EINVAL;
	op = op_new(net, kind);
	op->of.bulk = bulk;
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

/* A piece has ended: is all of it there? */
static int bulk_status(struct mpi_net *net, const struct op *op, MPI_Status *status,
		       int rc)
{
	int error_class = MPI_SUCCESS, bytes = 0;

	if (rc != MPI_SUCCESS) {
		MPI_Error_class(rc, &error_class);
		if (error_class == MPI_ERR_TRUNCATE)
			return -EMSGSIZE;
		return check(net, rc, "a transfer of data");
	}
	if (op->kind == OP_PUT)
		return 0;
	op->of.bulk->peer = status->MPI_SOURCE;
	MPI_Get_count(status, MPI_BYTE, &bytes);
	return (size_t)bytes == op->piece_bytes ? 0 : -EMSGSIZE;
}

/* ---- progress -------------------------------------------------------- */

/* The request of op has ended: it goes to the ended ones, or to its next piece. */
static void op_request_ended(struct mpi_net *net, struct op *op, MPI_Status *status,
			     int rc)
{
	if (op->kind == OP_MESSAGE || op->kind == OP_ROUND) {
		check_or_die(net, rc, "sending a message");
		frame_left(net, op);
		return;
	}
	free_type(op);
	op->status = bulk_status(net, op, status, rc);
	op->offset_bytes += op->piece_bytes;
	if (op->status == 0 && op->offset_bytes < layout_bytes(&op->of.bulk->layout))
		start_bulk(net, op);
	else
		op_end(net, op);
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

/* One MPI_Testsome(): sort what has ended.  Returns how many have. */
static int test_requests(struct mpi_net *net, int *peer)
{
	int nended = 0, rc;

	*peer = -1;
	net->requests[0] = net->ring[net->oldest];
	for (int i = 0; i < net->nrequests; i++)
		net->statuses[i].MPI_ERROR = MPI_SUCCESS;
	rc = MPI_Testsome(net->nrequests, net->requests, &nended, net->indices,
			  net->statuses);
	if (nended == MPI_UNDEFINED || nended == 0) {
		check_or_die(net, rc, "MPI_Testsome");
		return 0;
	}
	for (int i = 0; i < nended; i++) {
		int at = net->indices[i];
		MPI_Status status = net->statuses[i];
		int error = error_of(&status, rc);
		struct op *op = at ? net->ops[at] : NULL;

		if (at == 0) {
			check_or_die(net, error, "receiving a message");
			*peer = status.MPI_SOURCE;
			continue;
		}
		net->ops[at] = NULL;
		/* A next piece is watched at the end, beyond what was tested. */
		op_request_ended(net, op, &status, error);
	}
	compact(net);
	return nended;
}

static void call_back(struct mpi_net *net, struct op *op)
{
	struct op ended = *op;

	pool_put(&net->op_pool, op);
	switch (ended.kind) {
	case OP_MESSAGE:
		ended.of.message->sent(ended.of.message);
		break;
	case OP_PUT:
	case OP_GET:
		ended.of.bulk->status = ended.status;
		ended.of.bulk->done(ended.of.bulk);
		break;
	case OP_BARRIER:
		ended.of.barrier->done(ended.of.barrier);
		break;
	case OP_ROUND:
		break; /* nobody's */
	}
}

/* Callbacks may start more, which may end at once: that is for the next turn. */
static int call_back_ended(struct mpi_net *net)
{
	struct op *op = net->ended;
	int ncalled = 0;

	net->ended = NULL;
	net->ended_last = &net->ended;
	while (op) {
		struct op *next = op->next;

		net->base.has_more = next != NULL;
		call_back(net, op);
		op = next;
		ncalled++;
	}
	return ncalled;
}

static int poll_once(struct mpi_net *net)
{
	int peer, advanced = test_requests(net, &peer);

	if (peer >= 0)
		advanced += receive_oldest(net, peer) - 1;
	return advanced + call_back_ended(net);
}

static int mpi_poll(struct net *base)
{
	struct mpi_net *net = mpi_net_of(base);
	int shows_late = (net->traits & NET_MPI_SHOWS_LATE) != 0;
	int total = 0, quiet = 0;

	while (quiet <= shows_late && total < MAX_POLLED) {
		int advanced = poll_once(net);

		quiet = advanced ? 0 : quiet + 1;
		total += advanced;
	}
	return total;
}

/* ---- life ------------------------------------------------------------ */

static void mpi_close(struct net *base)
{
	struct mpi_net *net = mpi_net_of(base);

	for (int i = 0; i < RING_RECEIVES; i++) {
		if (net->ring[i] != MPI_REQUEST_NULL) {
			MPI_Cancel(&net->ring[i]);
			MPI_Wait(&net->ring[i], MPI_STATUS_IGNORE);
		}
		free(net->ring_frames[i]);
	}
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
	pool_free(&net->op_pool);
	pool_free(&net->frame_pool);
	free(net);
}

static const struct net_ops mpi_ops = {
	.name = "mpi",
	.send = mpi_send,
	.put = mpi_put,
	.get = mpi_get,
	.barrier = mpi_barrier,
	.poll = mpi_poll,
	.close = mpi_close,
};

/* Messages, and the largest bulk tag, must have room below MPI's limit. */
static int check_tags(struct mpi_net *net)
{
	int *limit = NULL, found = 0;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
	if (!found || *limit >= TAG_BULK + KEY_LIMIT - 1)
		return 0;
	orr_complain(
		net->base.rank,
		"this MPI has tags up to %d only: the \"mpi\" transport needs %d; use "
		"another MPI library or another of its network layers",
		*limit, TAG_BULK + KEY_LIMIT - 1);
	return -EINVAL;
}

static void open_ring(struct mpi_net *net)
{
	net->frame_bytes = body_offset(NET_HEAD_BYTES) + net->base.eager_bytes;
	if (net->frame_bytes < net->base.packet_bytes)
		net->frame_bytes = net->base.packet_bytes;
	pool_init(&net->frame_pool, net->frame_bytes);
	pool_init(&net->op_pool, sizeof(struct op));
	net->ended_last = &net->ended;
	reserve_requests(net, 1);
	net->nrequests = 1;
	for (int i = 0; i < RING_RECEIVES; i++) {
		net->ring_frames[i] = orr_alloc(net->frame_bytes);
		post_receive(net, i);
	}
}

int transport_mpi_open(const struct net_config *config, int traits, struct net **out)
{
	struct mpi_net *net = orr_alloc(sizeof(*net));
	int ret;

	net->base = (struct net){
		.ops = &mpi_ops,
		.rank = config->rank,
		.size = config->size,
		.max_packets = MAX_PACKETS,
		.packet_bytes = smaller(config->packet_bytes, MAX_PACKET_BYTES),
		.eager_bytes = smaller(config->eager_bytes, MAX_EAGER_BYTES)};
	net->traits = traits;
	net->piece_bytes = config->piece_bytes
				   ? smaller(config->piece_bytes, MAX_PIECE_BYTES)
				   : MAX_PIECE_BYTES;
	ret = check_tags(net);
	if (ret == 0)
		ret = check(net,
			    MPI_Comm_dup(*(const MPI_Comm *)config->comm, &net->comm),
			    "MPI_Comm_dup");
	if (ret < 0) {
		free(net);
		return ret;
	}
	MPI_Comm_set_errhandler(net->comm, MPI_ERRORS_RETURN);
	net->base.place_of = types_mpi_place;
	open_ring(net);
	*out = &net->base;
	return 0;
}

enum { MAX_AGREED = 8 };

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
