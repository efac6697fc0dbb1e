/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/ucx.h"

/* ---- this rank ------------------------------------------------------- */

static int say_why(struct ucx_net *net, ucs_status_t status, const char *what, char *why,
		   size_t bytes)
{
	if (status == UCS_OK)
		return 0;
	snprintf(why, bytes, "UCX %s %s: %s", net->call.version(), what,
		 net->call.status_text(status));
	return -ENODEV;
}

static int open_context(struct ucx_net *net, int nnear, char *why, size_t bytes)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES |
					     UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
					     UCP_PARAM_FIELD_ESTIMATED_NUM_PPN,
			       .features = UCP_FEATURE_AM | UCP_FEATURE_TAG |
					   UCP_FEATURE_WAKEUP,
			       .estimated_num_eps = (size_t)net->base.base.size,
			       .estimated_num_ppn = (size_t)nnear};

	return say_why(net,
		       net->call.init(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL,
				      &net->context),
		       "does not start", why, bytes);
}

static int open_worker(struct ucx_net *net, char *why, size_t bytes)
{
	ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				      .thread_mode = UCS_THREAD_MODE_SERIALIZED};

	return say_why(net, net->call.worker_create(net->context, &params, &net->worker),
		       "has no worker", why, bytes);
}

static int open_own(struct ucx_net *net, const char *library, int nnear, char *why,
		    size_t bytes)
{
	int ret = ucx_load(library, &net->call, why, bytes);

	if (ret == 0)
		ret = open_context(net, nnear, why, bytes);
	if (ret < 0)
		return ret;
	ret = open_worker(net, why, bytes);
	if (ret < 0) {
		net->call.cleanup(net->context);
		net->context = NULL;
	}
	return ret;
}

/* ---- the others ------------------------------------------------------ */

/* Who is on this machine?  Returns how many. */
static int find_near(struct ucx_net *net)
{
	MPI_Comm near;
	MPI_Group own, all;
	int n, rank;

	MPI_Comm_split_type(net->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	MPI_Comm_size(near, &n);
	MPI_Comm_group(near, &own);
	MPI_Comm_group(net->comm, &all);
	for (int i = 0; i < n; i++) {
		MPI_Group_translate_ranks(own, 1, &i, all, &rank);
		net->peers[rank].is_near = 1;
	}
	MPI_Group_free(&own);
	MPI_Group_free(&all);
	MPI_Comm_free(&near);
	return n;
}

/* The first rank that cannot use it says so. */
static int agree(struct ucx_net *net, const struct net_config *config, int ret,
		 const char *why)
{
	struct net_agreement first = {.own = ret < 0 ? config->rank : INT_MAX};
	int error = transport_mpi_agree(config, &first, 1);

	if (error < 0)
		return error;
	if (first.least == config->rank)
		orr_complain(net->base.base.rank,
			     "ORRERY_TRANSPORT is ucx, which this rank has not: %s; all "
			     "ranks use \"mpi\"",
			     why);
	return first.least == INT_MAX ? 0 : -ENODEV;
}

static int gather_addresses(struct ucx_net *net)
{
	int size = net->base.base.size, *bytes = orr_alloc((size_t)size * sizeof(int));
	int *at = orr_alloc((size_t)size * sizeof(int)), own_bytes, sum = 0, rc;
	ucp_address_t *own;
	size_t length;
	char *all;

	ucx_check(net, net->call.worker_address(net->worker, &own, &length),
		  net->base.base.rank, "its own address");
	own_bytes = (int)length;
	MPI_Allgather(&own_bytes, 1, MPI_INT, bytes, 1, MPI_INT, net->comm);
	for (int i = 0; i < size; i++) {
		at[i] = sum;
		sum += (bytes[i] + 7) & ~7; /* they hold words */
	}
	all = orr_alloc((size_t)sum);
	rc = MPI_Allgatherv(own, own_bytes, MPI_BYTE, all, bytes, at, MPI_BYTE,
			    net->comm);
	net->addresses = orr_alloc((size_t)size * sizeof(char *));
	for (int i = 0; i < size; i++)
		net->addresses[i] = all + at[i];
	net->call.release_address(net->worker, own);
	free(bytes);
	free(at);
	return rc == MPI_SUCCESS ? 0 : -EIO;
}

static void close_own(struct ucx_net *net)
{
	if (net->worker)
		net->call.worker_destroy(net->worker);
	if (net->context)
		net->call.cleanup(net->context);
	MPI_Comm_free(&net->comm);
	if (net->addresses)
		free(net->addresses[0]);
	free(net->addresses);
	free(net->peers);
}

int ucx_meet(struct ucx_net *net, const struct net_config *config, const char *library)
{
	size_t size = (size_t)config->size;
	char why[400] = "";
	int ret;

	if (MPI_Comm_dup(*(const MPI_Comm *)config->comm, &net->comm) != MPI_SUCCESS)
		return -EIO;
	net->peers = orr_alloc(size * sizeof(*net->peers));
	for (size_t i = 0; i < size; i++) {
		net->peers[i].net = net;
		net->peers[i].rank = (int)i;
	}
	ret = open_own(net, library, find_near(net), why, sizeof(why));
	ret = agree(net, config, ret, why);
	if (ret == 0)
		ret = gather_addresses(net);
	if (ret < 0)
		close_own(net);
	return ret;
}

/* ---- the end --------------------------------------------------------- */

/* Others may need this rank to go on. */
static void await_all(struct ucx_net *net)
{
	MPI_Request request;
	int is_done = 0;

	MPI_Ibarrier(net->comm, &request);
	while (!is_done) {
		net->call.progress(net->worker);
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
	}
}

static void close_peer(struct ucx_net *net, struct ucx_peer *peer)
{
	static const ucp_request_param_t flush;
	ucs_status_ptr_t request;

	while (peer->early) {
		struct ucx_frame *next = peer->early->next;

		free(peer->early);
		peer->early = next;
	}
	if (!peer->ep)
		return;
	request = net->call.ep_close(peer->ep, &flush);
	if (!UCS_PTR_IS_PTR(request))
		return;
	while (net->call.request_status(request) == UCS_INPROGRESS)
		net->call.progress(net->worker);
	net->call.request_free(request);
}

void ucx_part(struct ucx_net *net)
{
	net->is_parting = 1;
	await_all(net);
	for (int i = 0; i < net->base.base.size; i++)
		close_peer(net, &net->peers[i]);
	await_all(net);
	close_own(net);
}
