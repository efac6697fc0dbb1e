/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/request.h"

#include <stdio.h>

#include "base/check.h"
#include "mpi/mpi.h"

#define TO(state) (1u << (state))

/* Every legal move, in one place.  MATCHED to READY: it goes on at once from there. */
static const unsigned request_legal[REQUEST_NSTATES] = {
	[REQUEST_NEW] = TO(REQUEST_TURN),
	[REQUEST_TURN] = TO(REQUEST_MATCHED) | TO(REQUEST_READY),
	[REQUEST_MATCHED] = TO(REQUEST_READY),
	[REQUEST_READY] = TO(REQUEST_ANNOUNCED) | TO(REQUEST_MOVING) | TO(REQUEST_MOVED),
	[REQUEST_ANNOUNCED] = TO(REQUEST_GRANTED) | TO(REQUEST_MOVED),
	[REQUEST_GRANTED] = TO(REQUEST_MOVING),
	[REQUEST_MOVING] = TO(REQUEST_MOVED),
	[REQUEST_MOVED] = 0,
};

static const unsigned char event_of[REQUEST_NSTATES] = {
	[REQUEST_TURN] = EVENT_REQUEST_POSTED,
	[REQUEST_MATCHED] = EVENT_REQUEST_MATCHED,
	[REQUEST_READY] = EVENT_REQUEST_READY,
	[REQUEST_ANNOUNCED] = EVENT_REQUEST_ANNOUNCED,
	[REQUEST_GRANTED] = EVENT_REQUEST_GRANTED,
	[REQUEST_MOVING] = EVENT_REQUEST_MOVING,
	[REQUEST_MOVED] = EVENT_REQUEST_MOVED,
};

static void tell(const struct request *request, int kind)
{
	struct event event = {.kind = (uint8_t)kind,
			      .flag = request->kind == REQUEST_RECEIVE,
			      .n = (uint32_t)request->match.source,
			      .id = (uintptr_t)request};

	if (kind == EVENT_REQUEST_POSTED)
		event.value = (uint64_t)request->match.tag;
	if (kind == EVENT_REQUEST_MOVED)
		event.value = request->payload.bytes;
	event_tell(request->mpi->node, NULL, event);
}

void request_move(struct request *request, enum request_state state)
{
	ORR_ASSERT(request_legal[request->state] & TO(state));
	request->state = (unsigned char)state;
	if (events_on(&request->mpi->node->events))
		tell(request, event_of[state]);
}

void request_end(struct request *request)
{
	ORR_ASSERT(request->state == REQUEST_MOVED);
	if (events_on(&request->mpi->node->events))
		tell(request, EVENT_REQUEST_DONE);
	event_unname(&request->mpi->node->events, request, EVENT_NAMES_REQUEST);
}

static const char *waiting_for(const struct request *request)
{
	switch ((enum request_state)request->state) {
	case REQUEST_NEW:
	case REQUEST_TURN:
		return request->kind == REQUEST_SEND
			       ? "earlier tasks on the data are not done"
			       : "earlier tasks on the data are not done, no message "
				 "came";
	case REQUEST_MATCHED:
		return "the message came, earlier tasks on the data are not done";
	case REQUEST_READY:
		return request_early(request) ? "the message came, its payload is awaited"
					      : "no message came";
	case REQUEST_ANNOUNCED:
		return "no matching receive is ready, or it has not ended";
	case REQUEST_GRANTED:
		return "other transfers go first";
	case REQUEST_MOVING:
		return "the payload is on its way";
	default:
		return request->kept ? "others are to get it from here" : "complete";
	}
}

const char *request_describe(const struct request *request, char *text, size_t bytes)
{
	char data[128], ordinal[80] = "", comm[48];
	int is_send = request->kind == REQUEST_SEND;

	if (request->ordinal)
		snprintf(ordinal, sizeof(ordinal),
			 " (transfer %u inserted for this pair)", request->ordinal);
	data_describe(request_handle(request), data, sizeof(data));
	snprintf(text, bytes, "%s rank %d tag %lld%s: %s, %zu bytes%s%s%s: %s",
		 is_send ? "send to" : "receive from", request->peer,
		 (long long)request->match.tag,
		 comm_describe(&request->mpi->comms, request->comm, comm, sizeof(comm)),
		 data, data_bytes(request_handle(request)), request->what ? ", " : "",
		 request->what ? request->what : "", ordinal, waiting_for(request));
	return text;
}
