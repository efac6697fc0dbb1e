/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/standstill.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/ranks.h"
#include "core/wait.h"
#include "core/watchdog.h"
#include "mpi/mpi.h"

enum {
	PATIENCE = 12,    /* with peers that work, in limits of the watchdog */
	SILENCE_S = 2,    /* at least, before a peer counts as silent */
	STOPPED_S = 1,    /* after that, who is stopped ends the run */
	LIST_LIMIT_S = 5, /* for all ranks to say what they wait for */
	TEXT_BYTES = 400
};

/* head->flags of an answer */
enum { STATE_IN_BARRIER = 1, STATE_LEAVING = 2 };

/* What a rank has said last. */
struct peer_state {
	double asked_s; /* 0: nothing is asked */
	uint32_t wave;  /* that it has answered */
	int verdict;    /* enum watchdog_verdict */
	int is_silent;  /* and that has been said */
	int is_in_barrier, is_leaving;
	int call; /* enum plat_mpi_call: its program is in, and it has nothing to do */
	uint32_t nbarriers;
	uint64_t nsent, nreceived, signature;
	uint64_t signature_before; /* of the wave before */
};

/* ---- what the node asks ---------------------------------------------- */

unsigned long standstill_signature(struct node *node)
{
	return engine_signature(node->mpi);
}

int standstill_busy(struct node *node)
{
	struct mpi *mpi = node->mpi;

	/* Who runs a callback may itself wait. */
	return engine_nending(mpi) > wait_survey(node, NULL).nending ||
	       engine_nflying(mpi) > orr_load(&mpi->standstill.nflying);
}

/* ---- questions ------------------------------------------------------- */

static void send_kind(struct mpi *mpi, int peer, enum wire_kind kind)
{
	struct wire_head head = {.kind = (uint8_t)kind, .ordinal = mpi->standstill.wave};

	engine_send_control(mpi, peer, &head, WIRE_STATE_BYTES);
}

static void ask(struct mpi *mpi, int peer, double now_s)
{
	struct peer_state *state = &mpi->standstill.peers[peer];

	if (state->asked_s > 0)
		return; /* It has not answered yet. */
	state->asked_s = now_s;
	orr_add(&mpi->standstill.nawaited, 1);
	send_kind(mpi, peer, WIRE_PROBE);
}

/* What is awaited of it cannot come while it is stopped; a debugger lets it go on. */
static void end_if_stopped(struct mpi *mpi, int peer, double silence_s)
{
	if (plat_is_stopped(mpi->node->plat, peer))
		orr_die(mpi->rank,
			"rank %d is needed and has been stopped for %.3g s (SIGSTOP, "
			"SIGTSTP, Ctrl-Z): the run ends; continue it sooner (SIGCONT), "
			"or allow more time (ORRERY_WATCHDOG)",
			peer, silence_s);
}

/* Its launcher may not know, or may let the others live (srun without
 * --kill-on-bad-exit, mpirun --enable-recovery). */
static void end_if_ended(struct mpi *mpi, int peer)
{
	if (plat_has_ended(mpi->node->plat, peer))
		orr_die(mpi->rank,
			"rank %d is needed, and its process has ended before "
			"starpu_mpi_shutdown(): it was killed (by the system for lack of "
			"memory, perhaps) or has crashed, which its launcher and the "
			"system's log may tell; the run ends",
			peer);
}

static void end_if_cut(struct mpi *mpi, int peer)
{
	double for_s = plat_is_cut_s(mpi->node->plat, peer);

	if (for_s > 0)
		orr_die(mpi->rank,
			"rank %d is needed, and its machine has not answered for %.3g s: "
			"it has failed, or the network to it; the run ends; allow more "
			"time (ORRERY_WATCHDOG, of which this is %d times as much) where "
			"it may come back",
			peer, for_s, PATIENCE);
}

/* What is known of ranks elsewhere comes by others, which may have ended as well by then:
 * not all that has ended is known to have.  Without one rank none can shut down. */
static void end_if_others_have(struct mpi *mpi, int peer)
{
	struct plat *plat = mpi->node->plat;

	if (plat_sees(plat, peer) == PLAT_SEES)
		return;
	for (int rank = 0; rank < mpi->size; rank++)
		if (rank != mpi->rank && plat_sees(plat, rank) != PLAT_SEES &&
		    (plat_has_ended(plat, rank) || plat_is_cut_s(plat, rank) > 0))
			orr_die(mpi->rank,
				"rank %d is needed and does not answer, and the process "
				"of rank %d has ended before starpu_mpi_shutdown(), or "
				"its machine does not answer: what the launcher and the "
				"system's log say of these may tell why; the run ends",
				peer, rank);
}

/* What else than that it is stopped, or busy, may keep it from answering. */
static const char *explain_silence(struct mpi *mpi, int peer)
{
	switch (plat_sees(mpi->node->plat, peer)) {
	case PLAT_SEES:
		break;
	case PLAT_HEARS:
		return ", or its machine or the network to it has failed, which ends the "
		       "run when it lasts";
	case PLAT_IS_BARRED:
		return ", or has ended, which the system does not tell: processes of "
		       "this machine may not be looked at (another PID namespace, "
		       "another user, hidepid)";
	case PLAT_IS_FAR:
		return ", or, being on another machine or in another container, has "
		       "ended, or that machine or the network to it has failed";
	}
	return "";
}

static void say_silent(struct mpi *mpi, double now_s)
{
	double limit_s = node_knobs(mpi->node)->watchdog_s / 4;

	if (limit_s < SILENCE_S)
		limit_s = SILENCE_S;
	for (int peer = 0; peer < mpi->size; peer++) {
		struct peer_state *state = &mpi->standstill.peers[peer];

		if (state->asked_s == 0 || now_s - state->asked_s < limit_s)
			continue;
		end_if_ended(mpi, peer);
		end_if_cut(mpi, peer);
		end_if_others_have(mpi, peer);
		if (now_s - state->asked_s > limit_s + STOPPED_S)
			end_if_stopped(mpi, peer, now_s - state->asked_s);
		if (state->is_silent)
			continue;
		state->is_silent = 1;
		orr_complain(
			mpi->rank,
			"rank %d has not answered for %.3g s: it is stopped (SIGSTOP, "
			"a debugger), or busy inside a call of MPI%s%s",
			peer, now_s - state->asked_s, explain_silence(mpi, peer),
			node_knobs(mpi->node)->mpi_explicit
				? ", or its threads compute, or wait for something "
				  "else than messages, which nobody moves then "
				  "(ORRERY_MPI_EXPLICIT)"
				: "");
	}
}

/* Those whose transfers with this rank are pending. */
static void ask_partners(struct mpi *mpi, double now_s)
{
	for (const struct request *request = NULL;
	     (request = engine_next(mpi, request));) {
		if (request->match.source != mpi->rank && !request_has_ended(request))
			ask(mpi, request->match.source, now_s);
	}
}

/* Rank 0 asks all, and who is in a barrier that rank 0 has not come to asks rank 0. */
static void ask_those_concerned(struct mpi *mpi, double now_s)
{
	if (mpi->rank == 0) {
		for (int peer = 1; peer < mpi->size; peer++)
			ask(mpi, peer, now_s);
		return;
	}
	ask_partners(mpi, now_s);
	if (barrier_nentered(mpi) > 0)
		ask(mpi, 0, now_s);
}

/* ---- the agreement, at rank 0 ---------------------------------------- */

/* The call of MPI that this rank has been in for long, and has nothing else to do. */
static enum plat_mpi_call call_waited_in(struct mpi *mpi)
{
	enum plat_mpi_call call;
	double for_s;

	if (node_nsubmitted(mpi->node) > 0 || engine_npending(mpi) > 0)
		return PLAT_NO_CALL;
	call = plat_in_mpi(mpi->node->plat, &for_s);
	return for_s >= node_knobs(mpi->node)->watchdog_s / 2 ? call : PLAT_NO_CALL;
}

/* This rank's own answer. */
static void fill_state(struct mpi *mpi, struct wire_head *head)
{
	const struct standstill *own = &mpi->standstill;
	unsigned long signature;
	int is_in_barrier;

	head->round = (uint8_t)watchdog_verdict_now(mpi->node, &signature);
	head->sender = barrier_nall(mpi, &is_in_barrier);
	head->sender |= (uint64_t)call_waited_in(mpi) << 32;
	head->flags = (uint16_t)((is_in_barrier ? STATE_IN_BARRIER : 0) |
				 (mpi->is_leaving ? STATE_LEAVING : 0));
	head->comm = own->nsent;
	head->tag = (int64_t)own->nreceived;
	head->bytes = signature;
}

static void note_state(struct peer_state *state, const struct wire_head *head)
{
	state->signature_before = state->signature;
	state->asked_s = 0;
	state->verdict = head->round;
	state->is_in_barrier = (head->flags & STATE_IN_BARRIER) != 0;
	state->is_leaving = (head->flags & STATE_LEAVING) != 0;
	state->nsent = head->comm;
	state->nreceived = (uint64_t)head->tag;
	state->signature = head->bytes;
	state->nbarriers = (uint32_t)head->sender;
	state->call = (int)(head->sender >> 32);
	state->wave = head->ordinal;
}

/* All have answered this wave, are stuck, and nothing is on its way. */
static int all_are_stuck(struct mpi *mpi)
{
	const struct standstill *own = &mpi->standstill;
	const struct peer_state *first = &own->peers[0];
	uint64_t nsent = 0, nreceived = 0;
	int nmeeting = 0;

	for (int rank = 0; rank < mpi->size; rank++) {
		const struct peer_state *state = &own->peers[rank];

		if (state->wave != own->wave || state->verdict != WATCHDOG_STUCK)
			return 0;
		nsent += state->nsent;
		nreceived += state->nreceived;
		nmeeting += state->is_in_barrier && state->nbarriers == first->nbarriers;
	}
	/* All in the same barrier: it is about to open. */
	return nsent == nreceived && nmeeting < mpi->size;
}

static int nothing_changed(struct mpi *mpi)
{
	for (int rank = 0; rank < mpi->size; rank++)
		if (mpi->standstill.peers[rank].signature !=
		    mpi->standstill.peers[rank].signature_before)
			return 0;
	return 1;
}

static void begin_wave(struct mpi *mpi, double now_s)
{
	struct wire_head head = {0};

	head.ordinal = ++mpi->standstill.wave;
	mpi->standstill.asked_s = now_s;
	fill_state(mpi, &head);
	note_state(&mpi->standstill.peers[0], &head);
	ask_those_concerned(mpi, now_s);
}

/* Has it answered, and not come to the barrier or the shutdown that this rank is in? */
static int misses_meeting(const void *arg, int rank)
{
	const struct mpi *mpi = arg;
	const struct peer_state *state = &mpi->standstill.peers[rank];
	int is_in_barrier;
	uint32_t nbarriers = barrier_nall(mpi, &is_in_barrier);

	if (rank == mpi->rank || state->wave == 0)
		return 0;
	if (mpi->is_leaving)
		return !state->is_leaving;
	return is_in_barrier && state->nbarriers < nbarriers;
}

static void list_missing(struct mpi *mpi)
{
	char text[TEXT_BYTES];

	if (mpi->standstill.peers &&
	    ranks_name(text, sizeof(text), mpi->size, misses_meeting, mpi) > 0)
		orr_complain(mpi->rank, "  not in %s: %s",
			     mpi->is_leaving ? "starpu_mpi_shutdown()" : "the barrier",
			     text);
}

static void list(struct mpi *mpi)
{
	mpi->standstill.is_engine_locked = 1;
	orr_complain(mpi->rank, "waits for:");
	watchdog_list(mpi->node);
	list_missing(mpi);
	mpi->standstill.is_engine_locked = 0;
}

/* It is certain: all ranks tell, and when they have, the run ends. */
static void end_all(struct mpi *mpi, double now_s)
{
	struct standstill *own = &mpi->standstill;

	orr_complain(mpi->rank,
		     "nothing can happen any more: all %d ranks wait, and nothing is "
		     "under way between them",
		     mpi->size);
	own->is_certain = 1;
	list(mpi);
	own->is_ending = 1;
	own->nunlisted = mpi->size - 1;
	own->asked_s = now_s;
	orr_add(&own->nawaited, own->nunlisted);
	for (int peer = 1; peer < mpi->size; peer++)
		send_kind(mpi, peer, WIRE_LIST);
}

static void end_when_told(struct mpi *mpi, double now_s)
{
	if (mpi->standstill.nunlisted == 0 ||
	    now_s - mpi->standstill.asked_s > LIST_LIMIT_S)
		orr_die(mpi->rank,
			"the run ends, since it would hang for ever (ORRERY_WATCHDOG=0 "
			"would let it)");
}

/* Waves begin at a look; answers are judged at the next one. */
static void go_on_asking(struct mpi *mpi, double now_s)
{
	struct standstill *own = &mpi->standstill;
	int is_second = own->wave > 0 && own->wave % 2 == 0;

	if (watchdog_verdict(mpi->node) != WATCHDOG_STUCK) {
		own->wave += own->wave % 2; /* Begin anew. */
		if (now_s - own->asked_s >= node_knobs(mpi->node)->watchdog_s) {
			/* What is on its way comes from nobody who is gone.  A number
			 * of its own: no answer counts as one to a wave. */
			own->asked_s = now_s;
			own->wave += 2;
			ask_partners(mpi, now_s);
		}
		return;
	}
	if (own->wave > 0 && orr_load(&own->nawaited) > 0)
		return;
	if (own->wave > 0 && !all_are_stuck(mpi) &&
	    now_s - own->asked_s < node_knobs(mpi->node)->watchdog_s)
		return;
	if (is_second && all_are_stuck(mpi) && nothing_changed(mpi)) {
		end_all(mpi, now_s);
		return;
	}
	if (own->wave % 2 == 1 && !all_are_stuck(mpi))
		own->wave++; /* No use for a second one. */
	begin_wave(mpi, now_s);
}

/* ---- reports --------------------------------------------------------- */

static int somebody_works(const struct mpi *mpi)
{
	for (int rank = 0; rank < mpi->size; rank++)
		if (rank != mpi->rank && mpi->standstill.peers[rank].wave > 0 &&
		    mpi->standstill.peers[rank].verdict == WATCHDOG_ACTIVE)
			return 1;
	return 0;
}

/* A rank that is in a call of MPI, and that transfers are pending with, or that this
 * rank waits for in a barrier or in shutdown; or -1. */
static int peer_in_mpi(struct mpi *mpi)
{
	const struct request *request = NULL;

	while ((request = engine_next(mpi, request)))
		if (request->state != REQUEST_MOVED &&
		    mpi->standstill.peers[request->match.source].call != PLAT_NO_CALL)
			return request->match.source;
	for (int rank = 0; rank < mpi->size; rank++)
		if (misses_meeting(mpi, rank) &&
		    mpi->standstill.peers[rank].call != PLAT_NO_CALL)
			return rank;
	return -1;
}

static const char *explain_call(struct mpi *mpi, int peer, char *text)
{
	static const char *const names[] = {[PLAT_NO_CALL] = "MPI",
#define CALL_NAME(name) [PLAT_MPI_##name] = "MPI_" #name "()",
					    PLAT_MPI_CALLS(CALL_NAME)
#undef CALL_NAME
	};
	int call = mpi->standstill.peers[peer].call;

	snprintf(text, TEXT_BYTES,
		 "rank %d has nothing to do and waits in %s, which its program has "
		 "called: what this rank waits for must be %s there before that",
		 peer, names[call < PLAT_NMPI_CALLS ? call : PLAT_NO_CALL],
		 engine_npending(mpi) > 0 ? "posted" : "called");
	return text;
}

/* Who is stuck waits a little longer: rank 0 may end the run with more to say. */
static void report(struct mpi *mpi, double silence_s, const char *why)
{
	enum watchdog_verdict verdict = watchdog_verdict(mpi->node);
	double limit_s = watchdog_report_s(mpi->node);
	int is_first = limit_s <= node_knobs(mpi->node)->watchdog_s;
	char text[2 * TEXT_BYTES], call[TEXT_BYTES];
	int in_mpi = peer_in_mpi(mpi), is_awaited;

	/* In a barrier there is more patience: what it is in may have to last. */
	is_awaited = in_mpi >= 0 && engine_npending(mpi) > 0;
	if (in_mpi >= 0)
		why = explain_call(mpi, in_mpi, call);
	if (is_first)
		mpi->standstill.is_call_told = 0;
	if (is_first && orr_load(&mpi->standstill.nawaited) > 0)
		limit_s *= 2; /* Their answers say more. */
	if (is_first && !is_awaited && (somebody_works(mpi) || engine_npending(mpi) == 0))
		limit_s *= PATIENCE;
	else if (is_first && !is_awaited && verdict == WATCHDOG_STUCK)
		limit_s *= 3;
	/* An answer that came late says why, at last. */
	if (is_awaited && !mpi->standstill.is_call_told)
		limit_s = node_knobs(mpi->node)->watchdog_s;
	if (silence_s < limit_s || verdict == WATCHDOG_ACTIVE)
		return;
	mpi->standstill.is_call_told |= is_awaited;
	watchdog_set_report_s(mpi->node, silence_s * PATIENCE);
	snprintf(
		text, sizeof(text),
		"nothing has happened on this rank for %.3g s (ORRERY_WATCHDOG); the run "
		"goes on: %s",
		silence_s, why ? why : "another rank may change this");
	orr_complain(mpi->rank, "%s", text);
	list(mpi);
}

int standstill_look(struct node *node, double silence_s, const char *why)
{
	struct mpi *mpi = node->mpi;
	struct standstill *own = &mpi->standstill;
	double now_s = watchdog_now_s(node);

	/* No message can change anything for who has asked for none. */
	if (engine_npending(mpi) == 0 && barrier_nentered(mpi) == 0)
		return 0;
	engine_lock(&mpi->engine);
	if (own->is_ending) {
		end_when_told(mpi, now_s);
		engine_unlock(&mpi->engine);
		return 1;
	}
	if (!own->peers)
		own->peers = orr_alloc((size_t)mpi->size * sizeof(*own->peers));
	if (mpi->rank == 0 && mpi->size > 1)
		go_on_asking(mpi, now_s);
	else if (now_s - own->asked_s >= node_knobs(node)->watchdog_s) {
		own->asked_s = now_s;
		own->wave++;
		ask_those_concerned(mpi, now_s);
	}
	say_silent(mpi, now_s);
	if (!own->is_ending)
		report(mpi, silence_s, why);
	engine_unlock(&mpi->engine);
	engine_wake(mpi);
	return 1;
}

int standstill_unpolled(struct node *node, double silence_s, int for_ever)
{
	struct mpi *mpi = node->mpi;

	if (engine_npending(mpi) == 0 && barrier_nentered(mpi) == 0)
		return 0;
	engine_lock(&mpi->engine);
	orr_complain(
		mpi->rank,
		"nobody has moved messages for %.3g s, and the threads of the program "
		"wait: with ORRERY_MPI_EXPLICIT messages move only while a thread is "
		"in a function of the library that waits for them or tests them; call "
		"orrery_mpi_progress() until what is waited for has come, or unset "
		"ORRERY_MPI_EXPLICIT",
		silence_s);
	list(mpi);
	engine_unlock(&mpi->engine);
	if (for_ever)
		orr_die(mpi->rank,
			"all threads and kernels of the program sleep in locks, "
			"conditions or semaphores of its own (sem_wait(), "
			"pthread_cond_wait() or the like) or join one another, and no "
			"thread is left that could open one: the run ends, since it "
			"would hang for ever (ORRERY_WATCHDOG=0 would let it)");
	return 1;
}

/* ---- answers --------------------------------------------------------- */

static void on_probe(struct mpi *mpi, int peer, const struct wire_head *question)
{
	struct wire_head head = {.kind = WIRE_STATE, .ordinal = question->ordinal};

	/* First that it is gone, when it is: that ends the one who asks. */
	if (mpi->is_leaving)
		send_kind(mpi, peer, WIRE_GONE);
	fill_state(mpi, &head);
	engine_send_control(mpi, peer, &head, WIRE_STATE_BYTES);
}

static void on_state(struct mpi *mpi, int peer, const struct wire_head *head)
{
	struct peer_state *state = &mpi->standstill.peers[peer];

	if (state->is_silent)
		orr_complain(mpi->rank, "rank %d answers again", peer);
	state->is_silent = 0;
	note_state(state, head);
	orr_add(&mpi->standstill.nawaited, -1);
}

void standstill_heard(struct mpi *mpi, int peer, const struct wire_head *head)
{
	switch ((enum wire_kind)head->kind) {
	case WIRE_PROBE:
		on_probe(mpi, peer, head);
		break;
	case WIRE_STATE:
		on_state(mpi, peer, head);
		break;
	case WIRE_GONE:
		watch_gone(mpi, peer);
		break;
	case WIRE_LIST:
		mpi->standstill.is_certain = 1;
		list(mpi);
		send_kind(mpi, peer, WIRE_LISTED);
		break;
	case WIRE_LISTED:
		mpi->standstill.nunlisted--;
		orr_add(&mpi->standstill.nawaited, -1);
		break;
	case WIRE_TALLY:
		tally_came(mpi, peer, head);
		break;
	default:
		ORR_ASSERT(!"a message of the watchdog");
	}
}

void standstill_free(struct mpi *mpi)
{
	free(mpi->standstill.peers);
}
