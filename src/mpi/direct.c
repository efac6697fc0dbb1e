/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/direct.h"

#include "core/data/coherency.h"
#include "core/interface/interface.h"
#include "mpi/mpi.h"

/*
 * A small value travels in the message itself, and what stays on this node is copied by
 * processors: both are wanted in main memory.
 */
static int is_bulk(const struct request *request)
{
	const struct net *net = request->mpi->net;
	struct layout layout;

	if (request->match.source == net->rank || request->payload.place)
		return 0;
	return interface_layout(request_handle(request), STARPU_MAIN_RAM, &layout) &&
	       layout_bytes(&layout) > net->eager_bytes;
}

void direct_choose(struct acquire *acquire)
{
	struct request *request = (struct request *)(void *)acquire;
	int memory;

	if (!request->mpi->net->memories || !is_bulk(request))
		return;
	memory = coherency_device_memory(request_handle(request),
					 request->mpi->net->memories,
					 request->kind == REQUEST_RECEIVE);
	if (memory >= 0)
		acquire->memory = memory;
}
