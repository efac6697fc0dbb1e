/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "real/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/table.h"
#include "core/watchdog.h"
#include "real/lines_tcp.h"

/* Builds without MPI have nobody to meet. */
#pragma weak real_mpi_gather
#pragma weak real_mpi_world
#pragma weak transport_mpi_agree

enum {
	PATIENCE =
		12,  /* with a machine that does not answer, in limits of the watchdog */
	NEDGES = 3,  /* to the parent, and to two children */
	NGUESTS = 8, /* that have called and not yet said who they are */
	TRY_S = 5,   /* until another address is tried */
	GREET_S = 60 /* until one who was reached counts as somebody else */
};

/* What ranks tell each other when they meet. */
struct call_card {
	uint64_t key; /* that of rank 0 is that of all */
	struct lines_place place;
};

/* What is said first, in both directions. */
struct hello {
	uint64_t key;
	int32_t from, to;
};

enum word_kind { WORD_LEAVE, WORD_LOST };

/* And what may be said later. */
struct word {
	int32_t kind, rank, fate;
};

enum line_state { LINE_NONE, LINE_CALLING, LINE_GREETING, LINE_OPEN };

struct line {
	enum line_state state;
	int fd, rank; /* rank: of the other end; -1: of a guest */
	int address;  /* of its place, that is tried */
	int has_taken_leave;
	double until_s; /* while it is not open; 0: for ever */
	size_t nread;   /* of what comes next */
	char next[sizeof(struct hello)];
};

struct lines {
	int rank, size;
	int *world;              /* numbers of the ranks in MPI_COMM_WORLD */
	uint64_t key, *machines; /* of each rank, by its addresses */
	struct lines_place parent;
	struct line line[NEDGES + NGUESTS];
	int listener, bell, nchildren; /* bell: an eventfd, when all is over */
	int patience_ms;
	char *fates;  /* of each rank; atomic: read by any thread */
	int lost;     /* the first; -1: none; atomic */
	int nunknown; /* edges that are not open yet, or never will be; atomic */
	int has_thread;
	pthread_t thread;
};

/* ---- what is known --------------------------------------------------- */

/* They stay while the lock is held. */
static struct lines *hold(void)
{
	struct real *real = real_get();

	orr_lock(&real->lines_lock);
	return real->lines;
}

static void let_go(void)
{
	orr_unlock(&real_get()->lines_lock);
}

static enum lines_fate fate_of(const struct lines *lines, int rank)
{
	return (enum lines_fate)__atomic_load_n(&lines->fates[rank], __ATOMIC_ACQUIRE);
}

enum lines_fate lines_fate(int rank)
{
	const struct lines *lines = hold();
	enum lines_fate fate = LINES_NOTHING;

	if (lines && rank >= 0 && rank < lines->size)
		fate = fate_of(lines, rank);
	let_go();
	return fate;
}

int lines_lost(enum lines_fate *fate, int *world)
{
	const struct lines *lines = hold();
	int rank = lines ? orr_load(&lines->lost) : -1;

	if (rank >= 0) {
		*fate = fate_of(lines, rank);
		*world = lines->world[rank];
	}
	let_go();
	return rank;
}

int lines_hold(void)
{
	const struct lines *lines = hold();
	int all = lines && orr_load(&lines->nunknown) == 0;

	let_go();
	return all;
}

double lines_patience_s(void)
{
	const struct lines *lines = hold();
	double patience_s = lines ? 1e-3 * lines->patience_ms : 0;

	let_go();
	return patience_s;
}

int lines_nthreads(void)
{
	const struct lines *lines = hold();
	int n = lines && lines->has_thread;

	let_go();
	return n;
}

static void mark(struct lines *lines, int rank, enum lines_fate fate)
{
	__atomic_store_n(&lines->fates[rank], (char)fate, __ATOMIC_RELEASE);
	if (orr_load(&lines->lost) < 0)
		orr_store(&lines->lost, rank);
}

/* ---- words ----------------------------------------------------------- */

static void say(const struct line *line, const struct word *word)
{
	/* So few bytes always find room; and who is gone need not hear them. */
	if (line->state == LINE_OPEN)
		(void)!send(line->fd, word, sizeof(*word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A rank is lost: who hears it the first time tells the others, and only then lets this
 * process know, which may end at once. */
static void learn(struct lines *lines, int rank, enum lines_fate fate)
{
	struct word word = {.kind = WORD_LOST, .rank = rank, .fate = (int32_t)fate};

	if (rank < 0 || rank >= lines->size || rank == lines->rank ||
	    fate_of(lines, rank) != LINES_NOTHING)
		return;
	for (int i = 0; i < NEDGES; i++)
		say(&lines->line[i], &word);
	mark(lines, rank, fate);
	/* Others of a machine that is cut off are as well. */
	for (int i = 0; fate == LINES_CUT && i < lines->size; i++)
		if (i != lines->rank && lines->machines[i] == lines->machines[rank] &&
		    lines->machines[i] != lines->machines[lines->rank] &&
		    fate_of(lines, i) == LINES_NOTHING)
			mark(lines, i, fate);
}

static void hear(struct lines *lines, struct line *line)
{
	struct word word;

	memcpy(&word, line->next, sizeof(word));
	line->nread = 0;
	if (word.kind == WORD_LEAVE)
		line->has_taken_leave = 1;
	else if (word.kind == WORD_LOST)
		learn(lines, word.rank, (enum lines_fate)word.fate);
}

/* ---- beginning and end of a line ------------------------------------- */

static void hang_up(struct line *line)
{
	if (line->state != LINE_NONE)
		close(line->fd);
	line->state = LINE_NONE;
	line->fd = -1;
	line->nread = 0;
}

/* The next address of the parent, until one can be called. */
static void call(struct lines *lines, struct line *line, double now_s)
{
	hang_up(line);
	for (; line->address < lines->parent.naddresses; line->address++) {
		line->fd = lines_tcp_call(&lines->parent, line->address);
		if (line->fd < 0)
			continue;
		line->state = LINE_CALLING;
		line->until_s = now_s + TRY_S;
		return;
	}
}

static void call_next(struct lines *lines, struct line *line, double now_s)
{
	line->address++;
	call(lines, line, now_s);
}

static int greet(const struct lines *lines, const struct line *line, int to)
{
	struct hello hello = {lines->key, lines->rank, to};

	return send(line->fd, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       sizeof(hello);
}

static void open_line(struct lines *lines, struct line *line)
{
	lines_tcp_watch(line->fd, lines->patience_ms);
	line->state = LINE_OPEN;
	line->until_s = 0;
	line->nread = 0;
	orr_add(&lines->nunknown, -1);
	/* What it could not be told before. */
	for (int rank = 0; rank < lines->size; rank++) {
		struct word word = {WORD_LOST, rank, (int32_t)fate_of(lines, rank)};

		if (word.fate != LINES_NOTHING)
			say(line, &word);
	}
}

/* A guest has said who it is: the child whose line this is. */
static void seat(struct lines *lines, struct line *guest, const struct hello *hello)
{
	for (int i = 1; i <= lines->nchildren; i++) {
		struct line *line = &lines->line[i];

		if (line->rank != hello->from || line->state != LINE_NONE)
			continue;
		line->fd = guest->fd;
		guest->state = LINE_NONE;
		guest->fd = -1;
		if (greet(lines, line, line->rank)) {
			open_line(lines, line);
		} else {
			close(line->fd);
			line->fd = -1;
		}
		return;
	}
	hang_up(guest);
}

static void meet(struct lines *lines, struct line *line, double now_s)
{
	struct hello hello;

	memcpy(&hello, line->next, sizeof(hello));
	line->nread = 0;
	if (hello.key != lines->key || hello.to != lines->rank ||
	    (line->rank >= 0 && hello.from != line->rank)) {
		if (line->rank >= 0)
			call_next(lines, line, now_s);
		else
			hang_up(line);
	} else if (line->rank < 0) {
		seat(lines, line, &hello);
	} else {
		open_line(lines, line);
	}
}

static void lose(struct lines *lines, struct line *line, int error, double now_s)
{
	enum lines_fate fate = error == 0 || error == ECONNRESET || error == EPIPE
				       ? LINES_ENDED
				       : LINES_CUT;
	int was_open = line->state == LINE_OPEN;

	if (!was_open && line->rank >= 0 && line->rank < lines->rank) {
		call_next(lines, line, now_s);
		return;
	}
	hang_up(line);
	if (!was_open)
		return;
	orr_add(&lines->nunknown, 1);
	if (!line->has_taken_leave)
		learn(lines, line->rank, fate);
}

static void read_line(struct lines *lines, struct line *line, double now_s)
{
	for (;;) {
		size_t wanted = line->state == LINE_OPEN ? sizeof(struct word)
							 : sizeof(struct hello);
		ssize_t n = recv(line->fd, line->next + line->nread, wanted - line->nread,
				 MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			lose(lines, line, n < 0 ? errno : 0, now_s);
			return;
		}
		line->nread += (size_t)n;
		if (line->nread < wanted)
			continue;
		if (line->state == LINE_OPEN) {
			hear(lines, line);
			continue;
		}
		/* Whoever says more than who it is, does so on an open line. */
		meet(lines, line, now_s);
		return;
	}
}

/* ---- the thread ------------------------------------------------------ */

static void on_called(struct lines *lines, struct line *line, double now_s)
{
	if (lines_tcp_error(line->fd) != 0 || !greet(lines, line, line->rank)) {
		call_next(lines, line, now_s);
		return;
	}
	line->state = LINE_GREETING;
	line->until_s = now_s + GREET_S;
}

static void welcome(struct lines *lines, double now_s)
{
	int fd = accept4(lines->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct line *seat_of = &lines->line[NEDGES];

	if (fd < 0)
		return;
	/* Where all have one, the one that has waited longest goes. */
	for (int i = NEDGES; i < NEDGES + NGUESTS; i++) {
		if (lines->line[i].state == LINE_NONE) {
			seat_of = &lines->line[i];
			break;
		}
		if (lines->line[i].until_s < seat_of->until_s)
			seat_of = &lines->line[i];
	}
	hang_up(seat_of);
	*seat_of = (struct line){
		.state = LINE_GREETING, .fd = fd, .rank = -1, .until_s = now_s + GREET_S};
}

/* Nobody else is to come. */
static void close_door(struct lines *lines)
{
	for (int i = 1; i <= lines->nchildren; i++)
		if (lines->line[i].state == LINE_NONE)
			return;
	for (int i = NEDGES; i < NEDGES + NGUESTS; i++)
		hang_up(&lines->line[i]);
	close(lines->listener);
	lines->listener = -1;
}

static int wait_ms(const struct lines *lines, double now_s)
{
	double least_s = -1;

	for (int i = 0; i < NEDGES + NGUESTS; i++) {
		const struct line *line = &lines->line[i];
		double left_s = line->until_s - now_s;

		if (line->state == LINE_NONE || line->until_s <= 0)
			continue;
		left_s = left_s > 0 ? left_s : 0;
		least_s = least_s < 0 || left_s < least_s ? left_s : least_s;
	}
	return least_s < 0 ? -1 : (int)(1e3 * least_s) + 1;
}

static void serve(struct lines *lines, struct line *line, int events, double now_s)
{
	if (line->state == LINE_NONE)
		return;
	if (events && line->state == LINE_CALLING)
		on_called(lines, line, now_s);
	else if (events)
		read_line(lines, line, now_s);
	else if (line->until_s > 0 && now_s > line->until_s)
		lose(lines, line, ETIMEDOUT, now_s);
}

static void *lines_main(void *arg)
{
	struct lines *lines = arg;
	struct pollfd fds[2 + NEDGES + NGUESTS];
	double now_s = plat_now_s(NULL);

	if (lines->rank > 0)
		call(lines, &lines->line[0], now_s);
	for (;;) {
		fds[0] = (struct pollfd){.fd = lines->bell, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = lines->listener, .events = POLLIN};
		for (int i = 0; i < NEDGES + NGUESTS; i++) {
			const struct line *line = &lines->line[i];

			fds[2 + i].fd = line->state != LINE_NONE ? line->fd : -1;
			fds[2 + i].events =
				line->state == LINE_CALLING ? POLLOUT : POLLIN;
			fds[2 + i].revents = 0;
		}
		poll(fds, 2 + NEDGES + NGUESTS, wait_ms(lines, now_s));
		if (fds[0].revents)
			return NULL;
		now_s = plat_now_s(NULL);
		for (int i = 0; i < NEDGES + NGUESTS; i++)
			serve(lines, &lines->line[i], fds[2 + i].revents, now_s);
		if (lines->listener >= 0 && fds[1].revents)
			welcome(lines, now_s);
		if (lines->listener >= 0)
			close_door(lines);
	}
}

/* ---- life ------------------------------------------------------------ */

static void take_leave(struct line *line)
{
	const struct word leave = {.kind = WORD_LEAVE};

	say(line, &leave);
	/* What is unread here would make the system say that this was no leave. */
	while (line->state == LINE_OPEN &&
	       recv(line->fd, line->next, sizeof(line->next), MSG_DONTWAIT) > 0)
		continue;
	hang_up(line);
}

static void lines_free(struct lines *lines)
{
	const uint64_t one = 1;

	if (!lines)
		return;
	if (lines->has_thread) {
		(void)!write(lines->bell, &one, sizeof(one));
		pthread_join(lines->thread, NULL);
	}
	for (int i = 0; i < NEDGES + NGUESTS; i++)
		take_leave(&lines->line[i]);
	if (lines->listener >= 0)
		close(lines->listener);
	if (lines->bell >= 0)
		close(lines->bell);
	free(lines->world);
	free(lines->machines);
	free(lines->fates);
	free(lines);
}

static void replace(struct lines *lines)
{
	struct lines *before = hold();

	real_get()->lines = lines;
	let_go();
	lines_free(before);
}

void lines_end(void)
{
	replace(NULL);
}

void lines_forget(struct lines *lines)
{
	for (int i = 0; lines && i < NEDGES + NGUESTS; i++)
		if (lines->line[i].state != LINE_NONE)
			close(lines->line[i].fd);
	if (lines && lines->listener >= 0)
		close(lines->listener);
}

static uint64_t mix_place(const struct lines_place *place)
{
	uint64_t sum = place->naddresses;
	const unsigned char *bytes = (const unsigned char *)place->addresses;

	for (size_t i = 0; i < place->naddresses * sizeof(place->addresses[0]); i++)
		sum = table_mix(sum + bytes[i]);
	return sum;
}

/* NULL: the system does not let them be. */
static struct lines *prepare(const struct net_config *config, double limit_s)
{
	struct lines *lines = orr_alloc(sizeof(*lines));
	int nworld;

	lines->rank = config->rank;
	lines->size = config->size;
	lines->lost = -1;
	lines->patience_ms = (int)(1e3 * PATIENCE * limit_s);
	lines->world = real_mpi_world(config, &nworld);
	lines->machines = orr_alloc((size_t)config->size * sizeof(uint64_t));
	lines->fates = orr_alloc((size_t)config->size);
	for (int i = 0; i < NEDGES + NGUESTS; i++)
		lines->line[i] = (struct line){.fd = -1, .rank = -1};
	lines->line[0].rank = (config->rank - 1) / 2;
	for (int i = 1; i < NEDGES; i++) {
		lines->line[i].rank = 2 * config->rank + i;
		lines->nchildren += lines->line[i].rank < config->size;
	}
	lines->nunknown = lines->nchildren + (config->rank > 0);
	lines->bell = eventfd(0, EFD_CLOEXEC);
	return lines;
}

void lines_meet(struct plat *plat, const struct net_config *config, int sees_all)
{
	double limit_s = node_knobs(plat->node)->watchdog_s;
	struct net_agreement wants = {.own = !sees_all},
			     watches = {.own = watchdog_period_s(plat->node) > 0};
	struct net_agreement items[] = {wants, watches};
	struct call_card *cards, own = {0};
	struct lines *lines;

	if (config->size < 2 || !real_mpi_gather ||
	    transport_mpi_agree(config, items, 2) < 0 || items[0].most == 0 ||
	    items[1].least == 0) {
		lines_end();
		return;
	}
	lines = prepare(config, limit_s);
	(void)!getrandom(&own.key, sizeof(own.key), GRND_NONBLOCK);
	lines->listener = lines_tcp_listen(&own.place);
	cards = orr_alloc((size_t)config->size * sizeof(*cards));
	real_mpi_gather(config->comm, &own, sizeof(own), cards);
	lines->key = cards[0].key;
	for (int i = 0; i < config->size; i++)
		lines->machines[i] = mix_place(&cards[i].place);
	if (config->rank > 0)
		lines->parent = cards[lines->line[0].rank].place;
	free(cards);
	lines->has_thread = lines->bell >= 0;
	replace(lines);
	if (lines->has_thread &&
	    pthread_create(&lines->thread, NULL, lines_main, lines) != 0)
		lines->has_thread = 0;
}
