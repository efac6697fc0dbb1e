/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_UCX_H
#define ORR_MPI_UCX_H

/*
 * ucx.h - what the parts of transport "ucx" share: transport_ucx.c, which sends,
 * ucx_library.c, which finds the library, and ucx_meet.c, where ranks meet and part.
 *
 * One worker carries everything; one thread at a time uses it (net.h).  Frames are
 * active messages that UCX may not turn into a rendezvous, so that they leave at once;
 * UCX promises no order among them, so they are numbered.  Bulks are tagged messages:
 * the key is the tag, and UCX lets the receiver fetch large ones from where they lie.
 * Messages to oneself do not reach UCX, which would deliver them inside send().
 */
#include <mpi.h>
#include <ucp/api/ucp.h>

#include "mpi/transport.h"

/* Loaded when the transport is asked for: programs start where there is no UCX, and pay
 * nothing for it where they do not use it. */
#define UCX_CALLS(CALL)                                                                  \
	CALL(init, ucp_init_version)                                                     \
	CALL(cleanup, ucp_cleanup)                                                       \
	CALL(version, ucp_get_version_string)                                            \
	CALL(status_text, ucs_status_string)                                             \
	CALL(worker_create, ucp_worker_create)                                           \
	CALL(worker_destroy, ucp_worker_destroy)                                         \
	CALL(worker_address, ucp_worker_get_address)                                     \
	CALL(release_address, ucp_worker_release_address)                                \
	CALL(set_handler, ucp_worker_set_am_recv_handler)                                \
	CALL(progress, ucp_worker_progress)                                              \
	CALL(descriptor, ucp_worker_get_efd)                                             \
	CALL(arm, ucp_worker_arm)                                                        \
	CALL(signal, ucp_worker_signal)                                                  \
	CALL(ep_create, ucp_ep_create)                                                   \
	CALL(ep_close, ucp_ep_close_nbx)                                                 \
	CALL(make_type, ucp_dt_create_generic)                                           \
	CALL(free_type, ucp_dt_destroy)                                                  \
	CALL(am_send, ucp_am_send_nbx)                                                   \
	CALL(tag_send, ucp_tag_send_nbx)                                                 \
	CALL(tag_send_sync, ucp_tag_send_sync_nbx)                                       \
	CALL(tag_receive, ucp_tag_recv_nbx)                                              \
	CALL(request_status, ucp_request_check_status)                                   \
	CALL(request_free, ucp_request_free)

#define UCX_FIELD(field, symbol) __typeof__(symbol) *field;
struct ucx_calls {
	UCX_CALLS(UCX_FIELD)
};

/* Before each frame. */
struct ucx_margin {
	uint32_t source, number; /* of the frame, from the source to this peer */
	uint64_t reserved;       /* what is behind keeps its alignment */
};

/* The copy of a frame that is for later. */
struct ucx_frame {
	struct ucx_frame *next;
	struct ucx_peer *peer;
	uint32_t number;
	size_t bytes;
	_Alignas(NET_ALIGN_BYTES) char frame[];
};

struct ucx_peer {
	struct ucx_net *net;
	int rank;
	int is_near;             /* on this machine */
	ucp_ep_h ep;             /* NULL: nothing was sent there */
	uint32_t nsent, ntaken;  /* frames */
	struct ucx_frame *early; /* came before those that are due */
};

struct ucx_net {
	struct transport base; /* first */
	struct ucx_calls call;
	MPI_Comm comm;
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_datatype_t layouts; /* an op's piece, as the layout of its bulk says */
	struct ucx_peer *peers;
	char **addresses;                     /* by rank, in one block */
	struct transport_op *own, **own_last; /* to this rank, until it polls */
	struct ucx_frame *late, **late_last;  /* beyond what one poll may deliver */
	struct transport_op *further, **further_last; /* have another piece to start */
	struct net_bell *bell;
	int ntaken;     /* messages, since the poll began */
	int is_parting; /* connections end as they should */
};

/* ucx_library.c: 0, or -ENODEV with a sentence in why. */
int ucx_load(const char *file, struct ucx_calls *call, char *why, size_t bytes);

/*
 * ucx_meet.c.  Collective: 0 when all ranks have a worker and know the addresses of the
 * others; -ENODEV on all of them, with a message, when one has none, or another code.
 */
int ucx_meet(struct ucx_net *net, const struct net_config *config, const char *library);
/* Collective; nothing is in flight. */
void ucx_part(struct ucx_net *net);

/* Ends the program when status is an error of something nobody can go on without. */
void ucx_check(struct ucx_net *net, ucs_status_t status, int peer, const char *what);

#endif
