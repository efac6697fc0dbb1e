/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/watch.h"

#include <stdio.h>

#include "base/check.h"
#include "mpi/mpi.h"

enum { WATCH_MAX_LINES = 20 };

/* ---- lists ----------------------------------------------------------- */

static int is_unmatched(const struct request *request)
{
	if (request->kind == REQUEST_SEND)
		return request->state == REQUEST_ANNOUNCED;
	return !request_early(request) &&
	       (request->state == REQUEST_TURN || request->state == REQUEST_READY);
}

/* Does a task wait for the other half of a transfer that insertion made? */
static int lacks_inserted(struct mpi *mpi)
{
	const struct request *request = NULL;
	const struct early *early;
	struct match_entry *entry = NULL;
	size_t cursor = 0;

	while ((request = engine_next(mpi, request)))
		if (request->ordinal && is_unmatched(request))
			return 1;
	while ((early = early_next(mpi, &cursor, &entry)))
		if (early->head.ordinal)
			return 1;
	return 0;
}

/* The likely mistake, for a run that cannot go on; NULL: there is none. */
static const char *explain(struct mpi *mpi, char *text, size_t bytes)
{
	if (engine_suspicion(mpi, text, bytes))
		return text;
	if (!lacks_inserted(mpi))
		return NULL;
	snprintf(text, bytes,
		 "perhaps the ranks submitted different task graphs: all ranks must "
		 "insert the tasks that concern them, in one order for each datum, with "
		 "the same owners, tags, modes, places of execution and flushes of the "
		 "cache%s",
		 insert_more_words(mpi));
	return text;
}

/* The engine is locked, or nothing else runs. */
static void list_all(struct mpi *mpi, int max_lines,
		     void (*say)(void *arg, const char *line), void *arg)
{
	const struct request *request = NULL;
	const struct early *early;
	struct match_entry *entry = NULL;
	size_t cursor = 0;
	const char *mistake = NULL;
	char text[1000];
	int nlines = 0, nleft = 0;

	if (barrier_nentered(mpi) > 0)
		say(arg,
		    "in starpu_mpi_barrier() or starpu_mpi_shutdown(), where not all "
		    "ranks have come: each must be called by all ranks");
	while ((request = engine_next(mpi, request))) {
		if (request_has_ended(request))
			continue;
		if (nlines++ >= max_lines) {
			nleft++;
			continue;
		}
		say(arg, request_describe(request, text, sizeof(text)));
	}
	while ((early = early_next(mpi, &cursor, &entry))) {
		if (nlines++ >= max_lines) {
			nleft++;
			continue;
		}
		say(arg, early_describe(mpi, early, text, sizeof(text)));
	}
	if (nleft > 0) {
		snprintf(text, sizeof(text), "and %d more", nleft);
		say(arg, text);
	}
	if (early_lack(mpi, text, sizeof(text)))
		say(arg, text);
	if (standstill_is_certain(&mpi->standstill) ||
	    mpi->node->machine->ends_standstills)
		mistake = explain(mpi, text, sizeof(text));
	if (mistake)
		say(arg, mistake);
}

void watch_describe(struct node *node, void (*say)(void *arg, const char *line),
		    void *arg)
{
	struct mpi *mpi = node->mpi;
	int own = !standstill_describes(&mpi->standstill) &&
		  !node->machine->ends_standstills;

	if (own)
		engine_lock(&mpi->engine);
	list_all(mpi, WATCH_MAX_LINES, say, arg);
	if (own)
		engine_unlock(&mpi->engine);
}

static void say_to_user(void *arg, const char *line)
{
	struct mpi *mpi = arg;

	orr_complain(mpi->rank, "  %s", line);
}

/* ---- peers that are gone ----------------------------------------------- */

void watch_gone(struct mpi *mpi, int peer)
{
	const struct request *request = NULL;
	char text[400], reasons[600];
	const char *mistake;

	while ((request = engine_next(mpi, request))) {
		/* Nothing that the peer sent is still on its way: it says so last. */
		if (request->match.source != peer || !is_unmatched(request))
			continue;
		mistake = NULL;
		if (request->ordinal)
			mistake = explain(mpi, reasons, sizeof(reasons));
		orr_die(mpi->rank,
			"a transfer can never be matched: rank %d has shut down; post "
			"the other half there, or remove this one: %s%s%s",
			peer, request_describe(request, text, sizeof(text)),
			mistake ? "; " : "", mistake ? mistake : "");
	}
}

void watch_check_leftovers(struct mpi *mpi)
{
	size_t nunmatched = early_nunmatched(mpi);

	if (nunmatched == 0)
		return;
	standstill_set_certain(&mpi->standstill);
	orr_complain(mpi->rank,
		     "data came that was never received (did you forget to post a "
		     "receive?):");
	list_all(mpi, WATCH_MAX_LINES, say_to_user, mpi);
	orr_die(mpi->rank,
		"starpu_mpi_shutdown: %zu messages without a receive; each send needs a "
		"receive with the same tag and communicator",
		nunmatched);
}

/* Its datum may be gone by now. */
void watch_check_held(struct mpi *mpi)
{
	const struct request *request = NULL, *first = NULL;
	char comm[48];
	int nheld = 0;

	engine_lock(&mpi->engine);
	while ((request = engine_next(mpi, request))) {
		if (!request->is_waited || !request_is_forgotten(request))
			continue;
		first = first ? first : request;
		nheld++;
	}
	if (first)
		orr_complain(
			mpi->rank,
			"starpu_mpi_shutdown: %d requests have ended that the program "
			"has neither waited for nor tested, so nothing has freed them.  "
			"The first: %s rank %d tag %lld%s, %zu bytes, %s.  Call "
			"starpu_mpi_wait() for each, or starpu_mpi_test() until it says "
			"so, or post it by the _detached() form",
			nheld, first->kind == REQUEST_SEND ? "send to" : "receive from",
			first->peer, (long long)first->match.tag,
			comm_describe(&mpi->comms, first->comm, comm, sizeof(comm)),
			(size_t)first->payload.bytes, first->what ? first->what : "");
	engine_unlock(&mpi->engine);
}
