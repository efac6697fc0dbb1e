/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/ucx.h"
#include "plat/plat.h"

enum { AM_FRAME = 1, ARM_TRIES = 3 };

#define KEY_MASK 0xffffffffULL

_Static_assert(sizeof(struct ucx_margin) == NET_ALIGN_BYTES, "bodies stay aligned");

static struct ucx_net *ucx_net_of(struct net *net)
{
	return (struct ucx_net *)net;
}

void ucx_check(struct ucx_net *net, ucs_status_t status, int peer, const char *what)
{
	if (status < 0)
		orr_die(net->base.base.rank,
			"UCX: %s, to or from rank %d: %s; that rank or its machine has "
			"ended, or the network between them is down",
			what, peer, net->call.status_text(status));
}

/* ---- the bell -------------------------------------------------------- */

/* The library has work that it was not told of when it was armed: whoever sleeps has to
 * look again. */
static void ring(struct ucx_net *net)
{
	struct net_bell *bell = net->bell;

	if (!bell || !orr_load(&bell->is_armed))
		return;
	orr_store(&bell->is_armed, 0);
	net->call.signal(net->worker);
}

/* Nothing came: 1 when the bell is as wanted.  UCX refuses for what it has to see to
 * first, and as long as something waits for room at the other end. */
static int arm(struct ucx_net *net)
{
	struct net_bell *bell = net->bell;

	if (!bell || !orr_load(&bell->is_wanted) || orr_load(&bell->is_armed))
		return 1;
	if (net->call.arm(net->worker) != UCS_OK)
		return 0;
	orr_store(&bell->is_armed, 1);
	return 1;
}

/* ---- connections ----------------------------------------------------- */

static void broke(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	struct ucx_peer *peer = arg;

	(void)ep;
	if (!peer->net->is_parting)
		ucx_check(peer->net, status, peer->rank, "the connection broke");
}

/* UCX has no shared memory for connections that are watched, and on this machine the
 * launcher notices who dies. */
static ucp_ep_h connection_to(struct ucx_net *net, struct ucx_peer *peer)
{
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
			      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.address = (const ucp_address_t *)net->addresses[peer->rank],
		.err_mode = peer->is_near ? UCP_ERR_HANDLING_MODE_NONE
					  : UCP_ERR_HANDLING_MODE_PEER,
		.err_handler = {.cb = broke, .arg = peer}};

	if (!peer->ep)
		ucx_check(net, net->call.ep_create(net->worker, &params, &peer->ep),
			  peer->rank, "no connection");
	return peer->ep;
}

/* ---- messages -------------------------------------------------------- */

static void frame_sent(void *request, ucs_status_t status, void *arg)
{
	struct transport_op *op = arg;
	struct ucx_net *net = op->backend;

	ucx_check(net, status, op->peer, "a message was lost");
	net->call.request_free(request);
	transport_frame_left(&net->base, op);
}

/* The frame begins with its margin.  1: it has left; 0: it is UCX's, and op will end. */
static int send_frame(struct ucx_net *net, struct transport_op *op, size_t bytes)
{
	struct ucx_peer *peer = &net->peers[op->peer];
	struct ucx_margin margin = {.source = (uint32_t)net->base.base.rank,
				    .number = peer->nsent++};
	ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
						     UCP_OP_ATTR_FIELD_USER_DATA |
						     UCP_OP_ATTR_FIELD_FLAGS,
				     .flags = UCP_AM_SEND_FLAG_EAGER,
				     .cb.send = frame_sent,
				     .user_data = op};
	ucs_status_ptr_t request;

	memcpy(op->frame, &margin, sizeof(margin));
	op->backend = net;
	request = net->call.am_send(connection_to(net, peer), AM_FRAME, NULL, 0,
				    op->frame, bytes, &param);
	if (!request)
		return 1;
	if (UCS_PTR_IS_ERR(request))
		ucx_check(net, UCS_PTR_STATUS(request), op->peer, "a message is lost");
	ring(net);
	return 0;
}

/* Delivered by the next poll. */
static void send_to_self(struct ucx_net *net, struct transport_op *op)
{
	op->next = NULL;
	*net->own_last = op;
	net->own_last = &op->next;
	ring(net);
}

static int ucx_send(struct net *base, struct net_message *message)
{
	struct ucx_net *net = ucx_net_of(base);
	struct pool *frames = &net->base.frame_pool;
	int ret = transport_check_message(base, message);
	struct transport_op *op;
	size_t bytes;

	if (ret < 0)
		return ret;
	op = transport_op_new(&net->base, OP_MESSAGE);
	op->of.message = message;
	op->peer = message->peer;
	op->frame = pool_get(frames);
	bytes = frame_fill((char *)op->frame + sizeof(struct ucx_margin), message);
	if (message->peer == base->rank) {
		send_to_self(net, op);
		return 0;
	}
	if (!send_frame(net, op, sizeof(struct ucx_margin) + bytes))
		return 0;
	pool_put(frames, op->frame);
	pool_put(&net->base.op_pool, op);
	return 1;
}

static void send_round(struct transport *base, char *frame, size_t bytes, int peer)
{
	struct transport_op *op = transport_op_new(base, OP_ROUND);

	op->frame = frame;
	op->peer = peer;
	if (send_frame(ucx_net_of(&base->base), op, bytes))
		transport_frame_left(base, op);
}

/* ---- receiving ------------------------------------------------------- */

static struct ucx_frame *keep(struct ucx_peer *peer, uint32_t number, const char *frame,
			      size_t bytes)
{
	struct ucx_frame *kept = orr_alloc(sizeof(*kept) + bytes);

	kept->peer = peer;
	kept->number = number;
	kept->bytes = bytes;
	memcpy(kept->frame, frame, bytes);
	return kept;
}

static void take_frame(struct ucx_peer *peer, const char *frame)
{
	struct transport *base = &peer->net->base;

	peer->net->ntaken += transport_take_frame(base, peer->rank, frame, 0);
	peer->ntaken++;
}

/* Those whose turn it is now.  They are few, and mostly none. */
static void take_early(struct ucx_peer *peer)
{
	struct ucx_frame **link = &peer->early, *early;

	while ((early = *link)) {
		if (early->number != peer->ntaken) {
			link = &early->next;
			continue;
		}
		*link = early->next;
		take_frame(peer, early->frame);
		free(early);
		link = &peer->early;
	}
}

/* bytes: without the margin. */
static void accept_frame(struct ucx_peer *peer, uint32_t number, const char *frame,
			 size_t bytes)
{
	struct ucx_frame *early;

	if (number == peer->ntaken) {
		take_frame(peer, frame);
		take_early(peer);
		return;
	}
	early = keep(peer, number, frame, bytes);
	early->next = peer->early;
	peer->early = early;
}

static int may_take(const struct ucx_net *net)
{
	return net->ntaken < TRANSPORT_MAX_POLLED;
}

static ucs_status_t frame_came(void *arg, const void *header, size_t header_bytes,
			       void *data, size_t bytes, const ucp_am_recv_param_t *param)
{
	struct ucx_net *net = arg;
	const char *frame = (const char *)data + sizeof(struct ucx_margin);
	struct ucx_margin margin;
	struct ucx_peer *peer;

	(void)header;
	(void)header_bytes;
	ORR_ASSERT(bytes > sizeof(margin));
	ORR_ASSERT(!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
	memcpy(&margin, data, sizeof(margin));
	ORR_ASSERT(margin.source < (uint32_t)net->base.base.size);
	bytes -= sizeof(margin);
	peer = &net->peers[margin.source];
	if (!net->late && may_take(net)) {
		accept_frame(peer, margin.number, frame, bytes);
		return UCS_OK;
	}
	*net->late_last = keep(peer, margin.number, frame, bytes);
	net->late_last = &(*net->late_last)->next;
	return UCS_OK;
}

static void take_late(struct ucx_net *net)
{
	struct ucx_frame *late;

	while ((late = net->late) && may_take(net)) {
		net->late = late->next;
		if (!net->late)
			net->late_last = &net->late;
		accept_frame(late->peer, late->number, late->frame, late->bytes);
		free(late);
	}
}

static void take_own(struct ucx_net *net)
{
	struct transport_op *op;

	while ((op = net->own) && may_take(net)) {
		net->own = op->next;
		if (!net->own)
			net->own_last = &net->own;
		net->ntaken += transport_take_frame(
			&net->base, net->base.base.rank,
			(char *)op->frame + sizeof(struct ucx_margin), 0);
		transport_frame_left(&net->base, op);
	}
}

/* ---- bulks ----------------------------------------------------------- */

/* A layout for UCX; the state is the op, and of it the present piece.  Without a base
 * there are no bytes. */
static void *start_pack(void *context, const void *buffer, size_t count)
{
	(void)context;
	(void)count;
	return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
	return start_pack(context, buffer, count);
}

static size_t packed_size(void *state)
{
	const struct transport_op *op = state;

	return op->piece_bytes;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t pack(void *state, size_t offset, void *to, size_t most)
{
	const struct transport_op *op = state;
	const struct layout *layout = &op->of.bulk->layout;
	struct layout parts[LAYOUT_MAX_PARTS];
	size_t bytes = smaller(most, op->piece_bytes - offset);
	int nparts = 0;
	char *at = to;

	if (layout->base)
		nparts = layout_cut(layout, op->offset_bytes + offset, bytes, parts);
	for (int i = 0; i < nparts; i++) {
		layout_gather(at, &parts[i]);
		at += layout_bytes(&parts[i]);
	}
	return bytes;
}

static ucs_status_t unpack(void *state, size_t offset, const void *from, size_t bytes)
{
	const struct transport_op *op = state;
	const struct layout *layout = &op->of.bulk->layout;
	struct layout parts[LAYOUT_MAX_PARTS];
	const char *at = from;
	int nparts = 0;

	if (bytes > op->piece_bytes - smaller(offset, op->piece_bytes))
		return UCS_ERR_MESSAGE_TRUNCATED;
	if (layout->base)
		nparts = layout_cut(layout, op->offset_bytes + offset, bytes, parts);
	for (int i = 0; i < nparts; i++) {
		layout_scatter(&parts[i], at);
		at += layout_bytes(&parts[i]);
	}
	return UCS_OK;
}

static void finish(void *state)
{
	(void)state;
}

static const ucp_generic_dt_ops_t layout_ops = {.start_pack = start_pack,
						.start_unpack = start_unpack,
						.packed_size = packed_size,
						.pack = pack,
						.unpack = unpack,
						.finish = finish};

/* Another piece is started by the next poll, since UCX may tell of an end inside the call
 * that starts something. */
static void piece_ended(struct ucx_net *net, struct transport_op *op, ucs_status_t status,
			size_t bytes)
{
	if (status == UCS_ERR_MESSAGE_TRUNCATED) {
		op->status = -EMSGSIZE;
	} else if (status < 0) {
		orr_complain(net->base.base.rank, "UCX: data to or from rank %d: %s",
			     op->of.bulk->peer, net->call.status_text(status));
		op->status = -EIO;
	} else if (bytes != op->piece_bytes) {
		op->status = -EMSGSIZE;
	}
	if (!transport_piece_ended(&net->base, op))
		return;
	op->next = NULL;
	*net->further_last = op;
	net->further_last = &op->next;
}

static void put_ended(void *request, ucs_status_t status, void *arg)
{
	struct transport_op *op = arg;
	struct ucx_net *net = op->backend;

	net->call.request_free(request);
	piece_ended(net, op, status, op->piece_bytes);
}

static void get_ended(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
		      void *arg)
{
	struct transport_op *op = arg;
	struct ucx_net *net = op->backend;

	if (status == UCS_OK)
		op->of.bulk->peer = (int)(info->sender_tag >> 32);
	net->call.request_free(request);
	piece_ended(net, op, status, info->length);
}

/* What UCX is given of a piece. */
struct transfer {
	void *buffer;
	size_t count;
	ucp_request_param_t param; /* but for the callback */
};

/* The piece at op->offset_bytes. */
static struct transfer transfer_of(struct ucx_net *net, struct transport_op *op)
{
	const struct layout *layout = &op->of.bulk->layout;
	int is_plain = layout->base && layout_is_flat(layout);

	transport_cut(&net->base, op);
	return (struct transfer){
		.buffer = is_plain ? layout->base + op->offset_bytes : (void *)op,
		.count = is_plain ? op->piece_bytes : 1,
		.param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
					  UCP_OP_ATTR_FIELD_USER_DATA |
					  UCP_OP_ATTR_FIELD_DATATYPE,
			  .datatype = is_plain ? ucp_dt_make_contig(1) : net->layouts,
			  .user_data = op}};
}

static void put_piece(struct ucx_net *net, struct transport_op *op)
{
	const struct net_bulk *bulk = op->of.bulk;
	ucp_tag_t tag = (uint64_t)net->base.base.rank << 32 | bulk->key;
	struct transfer transfer = transfer_of(net, op);
	__typeof__(net->call.tag_send) send = transport_awaits(&net->base, op)
						      ? net->call.tag_send_sync
						      : net->call.tag_send;
	ucs_status_ptr_t request;

	transfer.param.cb.send = put_ended;
	request = send(connection_to(net, &net->peers[bulk->peer]), transfer.buffer,
		       transfer.count, tag, &transfer.param);
	if (!UCS_PTR_IS_PTR(request))
		piece_ended(net, op, UCS_PTR_STATUS(request), op->piece_bytes);
}

/* The key is enough, whoever sends.  What has come already is told of by the callback
 * alone. */
static void get_piece(struct ucx_net *net, struct transport_op *op)
{
	struct transfer transfer = transfer_of(net, op);
	ucs_status_ptr_t request;

	transfer.param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
	transfer.param.cb.recv = get_ended;
	request = net->call.tag_receive(net->worker, transfer.buffer, transfer.count,
					op->of.bulk->key, KEY_MASK, &transfer.param);
	if (UCS_PTR_IS_ERR(request))
		piece_ended(net, op, UCS_PTR_STATUS(request), 0);
}

static void start_piece(struct ucx_net *net, struct transport_op *op)
{
	if (op->kind == OP_PUT)
		put_piece(net, op);
	else
		get_piece(net, op);
}

static int start_bulk(struct net *base, struct net_bulk *bulk,
		      enum transport_op_kind kind)
{
	struct ucx_net *net = ucx_net_of(base);
	int ret = transport_check_bulk(base, bulk, kind == OP_PUT);
	struct transport_op *op;

	if (ret < 0)
		return ret;
	op = transport_op_new(&net->base, kind);
	op->of.bulk = bulk;
	op->backend = net;
	start_piece(net, op);
	ring(net);
	return 0;
}

static int ucx_put(struct net *base, struct net_bulk *bulk)
{
	return start_bulk(base, bulk, OP_PUT);
}

static int ucx_get(struct net *base, struct net_bulk *bulk)
{
	return start_bulk(base, bulk, OP_GET);
}

/* Returns how many pieces have been started.  Those that end at once are few: see
 * transport_awaits(). */
static int start_further(struct ucx_net *net)
{
	struct transport_op *op;
	int nstarted = 0;

	while ((op = net->further)) {
		net->further = op->next;
		if (!net->further)
			net->further_last = &net->further;
		start_piece(net, op);
		nstarted++;
	}
	return nstarted;
}

/* ---- progress -------------------------------------------------------- */

static int poll_once(struct ucx_net *net)
{
	int advanced = 0, ntaken = net->ntaken;

	take_late(net);
	if (!net->late)
		advanced = (int)net->call.progress(net->worker);
	advanced += start_further(net);
	take_own(net);
	return advanced + net->ntaken - ntaken + transport_call_back(&net->base);
}

static int ucx_poll(struct net *base)
{
	struct ucx_net *net = ucx_net_of(base);
	int total = 0, advanced;

	net->ntaken = 0;
	do {
		advanced = poll_once(net);
		total += advanced;
	} while (advanced > 0 && total < TRANSPORT_MAX_POLLED);
	for (int tries = 0; total == 0 && !arm(net) && tries < ARM_TRIES; tries++)
		total += poll_once(net);
	if (total > 0)
		ring(net);
	return total;
}

/* ---- life ------------------------------------------------------------ */

static void ucx_close(struct net *base)
{
	struct ucx_net *net = ucx_net_of(base);

	if (net->bell)
		orr_store(&net->bell->fd, -1);
	net->call.free_type(net->layouts);
	ucx_part(net);
	transport_free(&net->base);
	free(net);
}

static const struct net_ops ucx_ops = {
	.name = "ucx",
	.send = ucx_send,
	.put = ucx_put,
	.get = ucx_get,
	.barrier = transport_barrier,
	.poll = ucx_poll,
	.close = ucx_close,
};

static void begin(struct ucx_net *net)
{
	ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
							UCP_AM_HANDLER_PARAM_FIELD_CB |
							UCP_AM_HANDLER_PARAM_FIELD_ARG,
					  .id = AM_FRAME,
					  .cb = frame_came,
					  .arg = net};
	ucs_status_t status = net->call.set_handler(net->worker, &handler);
	int fd;

	if (status == UCS_OK)
		status = net->call.make_type(&layout_ops, net, &net->layouts);
	ucx_check(net, status, net->base.base.rank, "its own worker");
	if (net->bell && net->call.descriptor(net->worker, &fd) != UCS_OK)
		fd = -1; /* It is polled. */
	if (net->bell)
		orr_store(&net->bell->fd, fd);
}

int transport_ucx_open(const struct net_config *config, const char *library,
		       struct net_bell *bell, struct net **out)
{
	struct ucx_net *net = orr_alloc(sizeof(*net));
	int ret;

	net->base.base.ops = &ucx_ops;
	net->base.base.place_of = types_mpi_place;
	net->base.base.may_push = 1;
	net->base.base.may_copy = 1;
	net->base.send_round = send_round;
	net->bell = bell;
	net->own_last = &net->own;
	net->late_last = &net->late;
	net->further_last = &net->further;
	transport_init(&net->base, config, sizeof(struct transport_op),
		       sizeof(struct ucx_margin));
	net->base.piece_bytes = smaller(net->base.piece_bytes, TRANSPORT_MAX_PIECE_BYTES);
	ret = ucx_meet(net, config, library);
	if (ret < 0) {
		transport_free(&net->base);
		free(net);
		return ret;
	}
	begin(net);
	*out = &net->base.base;
	return 0;
}
