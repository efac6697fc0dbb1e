/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Transports "routes" and "flows" (SimGrid's own sharing of links) give the same dates:
 * random patterns of messages between the hosts of a platform, each played by both.
 * Compared are the time of each message and the date of the last arrival.  And of
 * messages that start at one date and end at one, who started first ends first.
 *
 * patterns [FIRST_SEED [SEEDS [--times]]], on one rank
 */
#include <math.h>
#include <mpi.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/node.h"
#include "sim/wire.h"

/* What may differ, relative to the message's time and to the last arrival. */
#define MESSAGE_TOLERANCE  0.01
#define MAKESPAN_TOLERANCE 0.005

enum { MAX_MESSAGES = 1024, NKINDS = 2 };

struct message {
	struct stage *stage;
	int from, to;
	double bytes, start_s; /* after the pattern's begin */
	double end_s[NKINDS];
};

struct stage {
	struct plat *plat;
	struct wire *wires[NKINDS];
	sg_host_t *hosts;
	int nhosts;
	struct plat_gate gate;
	int kind, npending;
	double begin_s;
	double used_s[NKINDS]; /* processor time */
	int nplayed, novertaken[NKINDS];
	unsigned long long state;
	int n;
	struct message messages[MAX_MESSAGES];
	const struct message *came[NKINDS][MAX_MESSAGES]; /* in the order of arrival */
};

/* ---- patterns -------------------------------------------------------- */

static unsigned draw(struct stage *stage, unsigned n)
{
	stage->state = stage->state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(stage->state >> 33) % n;
}

/* From 8 B to 4 MiB, all magnitudes alike. */
static double draw_bytes(struct stage *stage)
{
	unsigned magnitude = 3 + draw(stage, 20);

	return (double)((1u << magnitude) + draw(stage, 1u << magnitude));
}

static void add(struct stage *stage, int from, int to, double bytes, double start_s)
{
	if (from != to && stage->n < MAX_MESSAGES)
		stage->messages[stage->n++] = (struct message){
			.stage = stage,
			.from = from,
			.to = to,
			.bytes = bytes,
			.start_s = start_s,
		};
}

static void incast(struct stage *stage, double bytes)
{
	int to = (int)draw(stage, (unsigned)stage->nhosts);

	for (int i = 0; i < stage->nhosts; i++)
		add(stage, i, to, bytes, 0);
}

static void broadcast(struct stage *stage, double bytes)
{
	int from = (int)draw(stage, (unsigned)stage->nhosts);

	for (int i = 0; i < stage->nhosts; i++)
		add(stage, from, i, bytes, 1e-6 * i);
}

static void all_to_all(struct stage *stage, double bytes)
{
	int n = stage->nhosts < 16 ? stage->nhosts : 16;
	int stride = stage->nhosts / n;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			add(stage, i * stride, j * stride, bytes, 0);
}

static void crossing(struct stage *stage, double bytes)
{
	for (int i = 0; i < stage->nhosts; i++)
		add(stage, i, stage->nhosts - 1 - i, bytes, 0);
}

static void stencil(struct stage *stage, double bytes)
{
	int side = (int)sqrt(stage->nhosts);

	for (int i = 0; i < stage->nhosts; i++)
		for (int k = 0; k < 4; k++) {
			static const int steps[] = {1, -1, 0, 0};
			int to = i + steps[k] + steps[3 - k] * side;

			if (to >= 0 && to < stage->nhosts)
				add(stage, i, to, bytes, 0);
		}
}

static void bursts(struct stage *stage, double bytes)
{
	for (int burst = 0; burst < 20; burst++) {
		double start_s = 1e-6 * draw(stage, 2000);
		int from = (int)draw(stage, (unsigned)stage->nhosts);

		for (int i = 0; i < 10; i++)
			add(stage, from, (int)draw(stage, (unsigned)stage->nhosts), bytes,
			    start_s);
	}
}

static void at_random(struct stage *stage, double bytes)
{
	unsigned n = 20 + draw(stage, 300);

	(void)bytes;
	for (unsigned i = 0; i < n; i++)
		add(stage, (int)draw(stage, (unsigned)stage->nhosts),
		    (int)draw(stage, (unsigned)stage->nhosts), draw_bytes(stage),
		    1e-7 * draw(stage, 10000));
}

/* Short messages among long ones, as those that prepare transfers are. */
static void errands(struct stage *stage, double bytes)
{
	int to = (int)draw(stage, (unsigned)stage->nhosts);

	(void)bytes;
	for (int i = 0; i < stage->nhosts && i < 60; i++)
		add(stage, i, i % 3 ? to : (int)draw(stage, (unsigned)stage->nhosts), 4e6,
		    1e-7 * draw(stage, 100));
	for (int i = 0; i < 300; i++) {
		int other = (int)draw(stage, (unsigned)stage->nhosts);
		int is_back = i % 2;

		add(stage, is_back ? to : other, is_back ? other : to,
		    8 + draw(stage, 120), 1e-6 * draw(stage, 1000));
	}
}

/* Equal short messages that a node sends at one date, among long ones of its own; others
 * come while they are on their way, some of them less than a message's time later. */
static void announcements(struct stage *stage, double bytes)
{
	unsigned n = (unsigned)stage->nhosts;
	int hubs[3] = {(int)draw(stage, n), (int)draw(stage, n), (int)draw(stage, n)};

	(void)bytes;
	for (int i = 0; i < 30; i++)
		add(stage, hubs[draw(stage, 3)], (int)draw(stage, n),
		    (double)(16384u << draw(stage, 9)), 1e-8 * draw(stage, 5000));
	for (int burst = 0; burst < 12; burst++) {
		double start_s = 1e-6 * draw(stage, 50) + 1e-9 * draw(stage, 400);
		double size = 8 + draw(stage, 120);
		int hub = hubs[draw(stage, 3)], others = 2 + (int)draw(stage, 60);

		for (int i = 0; i < others; i++)
			add(stage, hub, (int)draw(stage, n), size, start_s);
	}
	for (int i = 0; i < 100; i++) {
		int hub = hubs[draw(stage, 3)], other = (int)draw(stage, n);

		add(stage, i % 2 ? hub : other, i % 2 ? other : hub, 8 + draw(stage, 120),
		    1e-9 * draw(stage, 50000));
	}
}

static void mixed_sizes(struct stage *stage, double bytes)
{
	int n = stage->nhosts < 16 ? stage->nhosts : 16;
	int stride = stage->nhosts / n;

	(void)bytes;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			add(stage, i * stride, j * stride, draw_bytes(stage), 0);
}

/* Pieces that chains of hosts pass on, one behind the other. */
static void pipelines(struct stage *stage, double bytes)
{
	double gap_s = 1e-6 * (1 + draw(stage, 200));
	int stride = 1 + (int)draw(stage, 5), npieces = 4 + (int)draw(stage, 12);

	for (int i = 0; i + stride < stage->nhosts && i < 60; i++)
		for (int piece = 0; piece < npieces; piece++)
			add(stage, i, i + stride, bytes,
			    gap_s * (piece + i / stride % 8));
}

/* Long messages to few hosts, to which others come later. */
static void latecomers(struct stage *stage, double bytes)
{
	unsigned n = (unsigned)stage->nhosts;
	int hubs[2] = {(int)draw(stage, n), (int)draw(stage, n)};

	(void)bytes;
	for (int i = 0; i < 20; i++)
		add(stage, (int)draw(stage, n), hubs[i % 2], 8e6, 0);
	for (int i = 0; i < 120; i++) {
		int other = (int)draw(stage, n), hub = hubs[draw(stage, 2)];

		add(stage, i % 3 ? other : hub, i % 3 ? hub : other, draw_bytes(stage),
		    1e-6 * draw(stage, 5000));
	}
}

/* To one host, the next two or so when it has room for them. */
static void waves(struct stage *stage, double bytes)
{
	int to = (int)draw(stage, (unsigned)stage->nhosts);
	double gap_s = 1e-7 * (1 + draw(stage, 3000));

	for (int i = 0; i < stage->nhosts && i < 200; i++)
		add(stage, i, to, bytes * (1 + draw(stage, 2)), gap_s * (i / 2));
}

/* Pairs that send to each other, much and little. */
static void both_ways(struct stage *stage, double bytes)
{
	for (int i = 0; i + 1 < stage->nhosts && i < 200; i += 2) {
		int j = stage->nhosts - 1 - (int)draw(stage, (unsigned)stage->nhosts);

		add(stage, i, j, bytes, 1e-6 * draw(stage, 20));
		add(stage, j, i, draw_bytes(stage), 1e-6 * draw(stage, 20));
	}
}

static const struct {
	const char *name;
	void (*make)(struct stage *stage, double bytes);
} patterns[] = {
	{"incast", incast},
	{"broadcast", broadcast},
	{"all to all", all_to_all},
	{"crossing", crossing},
	{"stencil", stencil},
	{"bursts", bursts},
	{"random", at_random},
	{"errands", errands},
	{"announcements", announcements},
	{"mixed sizes", mixed_sizes},
	{"pipelines", pipelines},
	{"latecomers", latecomers},
	{"waves", waves},
	{"both ways", both_ways},
};

/* Seeds below FIRST_OF_ALL know the first patterns only: what patterns.py names by its
 * seed stays what it is. */
enum {
	NPATTERNS = sizeof(patterns) / sizeof(patterns[0]),
	NFIRST = 9,
	FIRST_OF_ALL = 1000000
};

/* ---- playing --------------------------------------------------------- */

static void on_arrival(void *arg)
{
	struct message *message = arg;
	struct stage *stage = message->stage;

	message->end_s[stage->kind] = plat_now_s(stage->plat) - stage->begin_s;
	stage->came[stage->kind][stage->n - stage->npending] = message;
	if (--stage->npending == 0)
		plat_gate_open(stage->plat, &stage->gate);
}

static void play(struct stage *stage, int kind)
{
	clock_t before = clock();

	plat_gate_init(&stage->gate);
	stage->kind = kind;
	stage->npending = stage->n;
	stage->begin_s = plat_now_s(stage->plat);
	for (int i = 0; i < stage->n; i++) {
		struct message *message = &stage->messages[i];

		wire_start(stage->wires[kind],
			   &(struct wire_transfer){
				   .from = stage->hosts[message->from],
				   .to = stage->hosts[message->to],
				   .bytes = message->bytes,
				   .start_s = stage->begin_s + message->start_s,
				   .done = on_arrival,
				   .arg = message,
			   });
	}
	plat_gate_wait(stage->plat, &stage->gate);
	stage->used_s[kind] += (double)(clock() - before) / CLOCKS_PER_SEC;
}

/* The largest difference of a message's time; *last gets that of the last arrival. */
static double compare(const struct stage *stage, double *last)
{
	double worst = 0, ends[NKINDS] = {0, 0};

	for (int i = 0; i < stage->n; i++) {
		const struct message *m = &stage->messages[i];
		double ours = m->end_s[0] - m->start_s, theirs = m->end_s[1] - m->start_s;

		worst = fmax(worst, fabs(ours / theirs - 1));
		for (int kind = 0; kind < NKINDS; kind++)
			ends[kind] = fmax(ends[kind], m->end_s[kind]);
	}
	*last = fabs(ends[0] / ends[1] - 1);
	return worst;
}

/* Of those that came at one date, and started at one, how many came after a later one. */
static int count_overtaken(const struct stage *stage, int kind)
{
	const struct message *const *came = stage->came[kind];
	int n = 0;

	for (int i = 1; i < stage->n; i++)
		n += came[i]->end_s[kind] == came[i - 1]->end_s[kind] &&
		     came[i]->start_s == came[i - 1]->start_s && came[i] < came[i - 1];
	return n;
}

static int play_seed(struct stage *stage, unsigned seed, int shown)
{
	unsigned pattern = seed % (seed < FIRST_OF_ALL ? NFIRST : NPATTERNS);
	double message, last;
	int failed;

	stage->state = seed;
	stage->n = 0;
	patterns[pattern].make(stage, draw_bytes(stage));
	if (stage->n == 0)
		return 0;
	play(stage, 0);
	play(stage, 1);
	message = compare(stage, &last);
	stage->nplayed += stage->n;
	for (int kind = 0; kind < NKINDS; kind++)
		stage->novertaken[kind] += count_overtaken(stage, kind);
	failed = message > MESSAGE_TOLERANCE || last > MAKESPAN_TOLERANCE;
	if (failed || shown)
		printf("%s %s, seed %u, %d hosts, %d messages of %.0f B: "
		       "a message differs by %.3f %%, the last arrival by %.3f %%\n",
		       failed ? "FAIL" : "PASS", patterns[pattern].name, seed,
		       stage->nhosts, stage->n, stage->messages[0].bytes, 100 * message,
		       100 * last);
	return failed;
}

/* Dates that differ in their last bits look alike here, with SimGrid's own, too. */
static int tell_order(const struct stage *stage)
{
	int failed = stage->novertaken[0] > stage->novertaken[1] + stage->nplayed / 25;

	printf("%s messages of one date come in the order of their start: of %d, %d did "
	       "not, with SimGrid's flows %d\n",
	       failed ? "FAIL" : "PASS", stage->nplayed, stage->novertaken[0],
	       stage->novertaken[1]);
	return failed;
}

int main(int argc, char **argv)
{
	static struct node node = {.size = 1};
	static struct stage stage;
	struct settings settings = {0};
	unsigned first, n;
	int shown, nfailed = 0;

	MPI_Init(&argc, &argv);
	first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	n = argc > 2 ? (unsigned)atoi(argv[2]) : 50;
	shown = argc > 3 && strcmp(argv[3], "--times") == 0;
	knobs_read(&settings.knobs);
	node.settings = &settings;
	if (plat_open(&stage.plat, &node) < 0)
		return 1;
	node.plat = stage.plat;
	plat_set_self(&node);
	stage.wires[0] = wire_new(sim_get(), WIRE_ROUTES);
	stage.wires[1] = wire_new(sim_get(), WIRE_FLOWS);
	stage.hosts = sg_host_list();
	stage.nhosts = (int)sg_host_count();
	for (unsigned seed = first; seed < first + n; seed++)
		nfailed += play_seed(&stage, seed, shown);
	printf("%s %u patterns between %d hosts\n", nfailed ? "FAIL" : "PASS", n,
	       stage.nhosts);
	if (shown)
		printf("processor time: routes %.3f s, flows %.3f s\n", stage.used_s[0],
		       stage.used_s[1]);
	nfailed += tell_order(&stage);
	wire_free(stage.wires[0]);
	wire_free(stage.wires[1]);
	plat_close(stage.plat);
	MPI_Finalize();
	return nfailed != 0;
}
